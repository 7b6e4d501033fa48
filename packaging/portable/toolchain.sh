#!/usr/bin/env bash
# toolchain.sh [DIR [MACHINE [cuda]]]: makes a compiler for glibc 2.28 and the libraries of carbon for it, in DIR (default:
# build-portable/toolchain). MACHINE is x86_64, the default, or aarch64. With the word cuda it also unpacks CUDA 12.4, from the packages of
# Debian 13 (non-free): the newest CUDA that the drivers of 2024 can run. Its nvcc wants g++ 13 or older.
#
# The compiler is clang in the package ziglang of PyPI, which has the symbols of every glibc. The libraries are built from Debian's
# source packages, static and with hidden symbols (the table `sources` beside this file). Afterwards:
#
#   DIR/bin/{cc,c++,ar,ranlib,objcopy}   the compiler
#   DIR/{include,lib}                    headers and libraries
#   DIR/glibc                            glibc of Debian 12 with its loader, as it is
#   DIR/cuda                             bin/nvcc, headers and libcudart_static.a of CUDA 12.4
#   DIR/share/libraries                  the libraries with versions and licences; DIR/share/licenses has the texts
#
# A library that is there in the version and by the recipe of this script is not built again. Needs x86-64, ./install-deps.sh
# --packaging and a network, and compiles for long. Sources can be laid into DIR/sources beforehand.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
[[ ${1-} != -h && ${1-} != --help ]] || { sed -n '2,18s/^# \{0,1\}//p' "$0"; exit 0; }
mkdir -p "${1:-build-portable/toolchain}"
dir=$(cd "${1:-build-portable/toolchain}" && pwd)
jobs=$(nproc)
machine=${2:-x86_64}
triplet=$machine-linux-gnu
# The newest glibc symbol that the archive may need. test/cli/portable_test.py looks at what was built.
glibc=2.28
zig=0.17.1

fail() { echo "toolchain.sh: $*" >&2; exit 1; }
for tool in python3 apt-get dpkg-deb tclsh autoconf make perl; do
  command -v "$tool" > /dev/null || fail "$tool is not installed; ./install-deps.sh --packaging installs it"
done
case $machine in
  x86_64) debian=amd64 loader=ld-linux-x86-64.so.2 ;;
  aarch64) debian=arm64 loader=ld-linux-aarch64.so.1 ;;
  *) fail "the machine may be x86_64 or aarch64, and not $machine" ;;
esac
mkdir -p "$dir"/{bin,include,lib,share/licenses,sources,build}

# The compiler: a package of PyPI that needs no installation.
compiler() {
  [[ -e $dir/zig/$zig ]] || {
    rm -rf "$dir/zig"
    python3 -m pip download --quiet --no-deps --only-binary :all: --dest "$dir/build" "ziglang==$zig"
    python3 -m zipfile -e "$dir"/build/ziglang-"$zig"-*.whl "$dir/zig"
    rm "$dir"/build/ziglang-*.whl
    chmod +x "$dir/zig/ziglang/zig"
    : > "$dir/zig/$zig"
  }
  # zig compiles with the sanitizer of undefined behaviour unless it is told otherwise.
  # Headers that name themselves (__FILE__) do so in the same way in every folder.
  local flags="-target $triplet.$glibc -fno-sanitize=all -g0 -ffile-prefix-map=$dir=toolchain"
  wrapper cc "cc $flags"
  # The C++ library has no std::result_of, for which Boost 1.74 asks unless it is told of its successor.
  wrapper c++ "c++ $flags -DBOOST_ASIO_HAS_STD_INVOKE_RESULT=1"
  wrapper static-cc "cc -target $machine-linux-musl -static -fno-sanitize=all -g0"
  wrapper ar ar
  wrapper ranlib ranlib
  # What is compiled brings the C++ library of LLVM, and the static program that starts carbon the C library musl.
  for part in zig:ziglang/LICENSE libcxx:ziglang/lib/libcxx/LICENSE.TXT libunwind:ziglang/lib/libunwind/LICENSE.TXT \
    musl:ziglang/lib/libc/musl/COPYRIGHT; do
    cp "$dir/zig/${part#*:}" "$dir/share/licenses/${part%%:*}"
  done
}
# wrapper NAME COMMAND: zig keeps what it compiles of its own (the C++ library) beside itself. It cannot say for which machine it
# compiles when the version of glibc is part of the name, and it has other words for the extensions of AArch64.
wrapper() {
  cat > "$dir/bin/$1" << END
#!/bin/sh
[ "\$1" != -dumpmachine ] || { echo $triplet; exit; }
for word; do
  shift
  case \$word in -march=armv8.2-a*) word=-mcpu=generic+v8_2a\${word#-march=armv8.2-a} ;; esac
  set -- "\$@" "\$word"
done
here=\$(dirname "\$(readlink -f "\$0")")
ZIG_GLOBAL_CACHE_DIR=\${ZIG_GLOBAL_CACHE_DIR:-\$here/../zig/cache} ZIG_LOCAL_CACHE_DIR=\${ZIG_LOCAL_CACHE_DIR:-\$here/../zig/cache} \\
  exec "\$here/../zig/ziglang/zig" $2 "\$@"
END
  chmod +x "$dir/bin/$1"
}

# apt RELEASE COMMAND...: apt-get with the packages of that release of Debian, whichever this machine has.
apt() {
  local release=$1 at=$dir/build/apt-$1
  shift
  local options=(-qq -o "Dir::Etc::SourceList=$at/sources.list" -o Dir::Etc::SourceParts=/dev/null -o "Dir::State::Lists=$at/lists"
    -o "Dir::Cache=$at/cache" -o APT::Sandbox::User=root -o Acquire::Languages=none
    -o "APT::Architecture=$debian" -o "APT::Architectures=$debian")
  if [[ ! -e $at/updated ]]; then
    local mirror type keys='[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]'
    # shellcheck disable=SC2016 # the name is apt's
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' | grep -v security | head -n 1)
    [[ $mirror ]] || fail "apt has no mirror of Debian"
    mirror=${mirror%/}
    mkdir -p "$at"/{lists,cache/archives}/partial
    for type in deb deb-src; do
      printf "$type %s %s %s main non-free\n" "$keys" "$mirror" "$release" "$keys" "$mirror-security" "$release-security"
    done > "$at/sources.list"
    apt-get "${options[@]}" update
    : > "$at/updated"
  fi
  apt-get "${options[@]}" "$@"
}

# The C library that the archive has for systems with none that suffices, as Debian built it.
c_library() {
  local package version unpacked=$dir/build/libc6
  [[ $(source_file "libc6_*_$debian.deb") ]] || (cd "$dir/sources" && apt bookworm download "libc6:$debian")
  package=$(source_file "libc6_*_$debian.deb")
  rm -rf "$unpacked" "$dir/glibc"
  dpkg-deb -x "$package" "$unpacked"
  mkdir "$dir/glibc"
  cp -L "$unpacked/lib/$triplet"/{libc.so.6,libm.so.6,libpthread.so.0,libdl.so.2,librt.so.1,"$loader"} "$dir/glibc/"
  version=$(dpkg-deb -f "$package" Version)
  # Its licence asks that the licence itself goes with the library, and that its sources can be had.
  {
    echo "The sources are those of Debian's package glibc $version: https://snapshot.debian.org/package/glibc/$version/"
    echo
    cat "$unpacked/usr/share/doc/libc6/copyright"
    echo
    cat /usr/share/common-licenses/LGPL-2.1
  } > "$dir/share/licenses/glibc"
  rm -rf "$unpacked"
  printf 'glibc (used where the system has none that suffices)\t%s\tLGPL-2.1-or-later\n' "$version" >> "$dir/share/libraries.new"
}

# unpack_cuda PACKAGE PATTERN...: what a package of Debian 13 has under these patterns of tar.
unpack_cuda() {
  local package=$1 file
  shift
  file=$(source_file "${package}_*.deb")
  if [[ ! $file ]]; then
    (cd "$dir/sources" && apt trixie download "$package")
    file=$(source_file "${package}_*.deb")
  fi
  [[ $file ]] || fail "$package cannot be had from Debian 13; put ${package}_VERSION.deb into $dir/sources"
  echo "== $(basename "$file")"
  dpkg-deb --fsys-tarfile "$file" | tar -x -C "$dir/build/cuda" --wildcards "$@"
}
# NVIDIA's layout of a toolkit, which nvcc finds beside itself; Debian has the parts in the folders of the system.
cuda_toolkit() {
  local home=$dir/cuda unpacked=$dir/build/cuda
  [[ ! -e $home/bin/nvcc ]] || return 0
  rm -rf "$home" "$unpacked"
  mkdir -p "$home"/{bin,lib64,nvvm/bin} "$unpacked"
  unpack_cuda nvidia-cuda-toolkit './usr/bin/*' './usr/lib/nvidia-cuda-toolkit/bin/*' './usr/lib/nvidia-cuda-toolkit/libdevice/*'
  unpack_cuda nvidia-cuda-dev './usr/include/*' '*/libcudart_static.a' '*/copyright' # and not its gigabyte of libraries
  unpack_cuda libcu++-dev './usr/include/*'
  local debians=$unpacked/usr/lib/nvidia-cuda-toolkit
  mv "$unpacked"/usr/bin/{cudafe++,fatbinary,nvlink,ptxas,bin2c,cuobjdump,nvdisasm} "$debians/bin/crt" "$home/bin/"
  mv "$debians/bin/cicc" "$home/nvvm/bin/"
  mv "$debians/libdevice" "$home/nvvm/"
  mv "$unpacked/usr/include" "$home/"
  mv "$unpacked/usr/lib/x86_64-linux-gnu/libcudart_static.a" "$home/lib64/"
  mv "$unpacked/usr/share/doc/nvidia-cuda-dev/copyright" "$home/EULA.txt"
  # shellcheck disable=SC2016 # the names are nvcc's
  printf '%s\n' 'TOP = $(_HERE_)/..' 'NVVMIR_LIBRARY_DIR = $(TOP)/nvvm/libdevice' 'PATH += $(TOP)/nvvm/bin:$(_HERE_):' \
    'INCLUDES += "-I$(TOP)/include" $(_SPACE_)' 'LIBRARIES =+ $(_SPACE_) "-L$(TOP)/lib64"' > "$home/bin/nvcc.profile"
  mv "$debians/bin/nvcc" "$home/bin/" # the last, because its presence says that the toolkit is complete
  rm -rf "$unpacked"
}

# What DIR/sources has under a pattern, or nothing.
source_file() { find "$dir/sources" -name "$1" ! -name '*.asc' | sort | head -n 1; }
# The archive of a source package, which is fetched if it is not there.
archive_of() {
  local found
  found=$(source_file "$1_*.orig.tar.*")
  if [[ ! $found ]]; then
    (cd "$dir/sources" && apt bookworm source --download-only --tar-only "$1") >&2
    found=$(source_file "$1_*.orig.tar.*")
  fi
  [[ $found ]] || fail "the source of $1 cannot be had from Debian 12; put $1_VERSION.orig.tar.* into $dir/sources"
  echo "$found"
}

export CC="$dir/bin/cc" CXX="$dir/bin/c++" AR="$dir/bin/ar" RANLIB="$dir/bin/ranlib"
export CFLAGS="-O2 -fPIC -fvisibility=hidden" CXXFLAGS="-O2 -fPIC -fvisibility=hidden"
export CPPFLAGS="-I$dir/include" LDFLAGS="-L$dir/lib"

# put_in FILE...: headers and libraries into their places.
put_in() {
  local file
  for file in "$@"; do
    case $file in
      *.a) cp "$file" "$dir/lib/" ;;
      *) cp "$file" "$dir/include/" ;;
    esac
  done
}

# Each is called in the unpacked source.
build_zlib() {
  ./configure --static > /dev/null
  make -s -j"$jobs" libz.a
  put_in zlib.h zconf.h libz.a
}
build_bzip2() {
  make -s -j"$jobs" libbz2.a CC="$CC" AR="$AR" RANLIB="$RANLIB" CFLAGS="$CFLAGS -D_FILE_OFFSET_BITS=64"
  put_in bzlib.h libbz2.a
}
build_xz-utils() {
  ./configure --host="$triplet" --disable-shared --disable-nls --disable-doc --disable-scripts --disable-xz --disable-xzdec \
    --disable-lzmadec --disable-lzmainfo --disable-lzma-links > /dev/null
  make -s -j"$jobs"
  cp -R src/liblzma/api/lzma.h src/liblzma/api/lzma "$dir/include/"
  put_in src/liblzma/.libs/liblzma.a
}
build_libdeflate() {
  make -s -j"$jobs" libdeflate.a
  put_in libdeflate.h libdeflate.a
}
build_htscodecs() { # htslib compiles it
  rm -rf "$dir/build/codecs"
  cp -R . "$dir/build/codecs"
}
build_htslib() {
  # Without libcurl: carbon names URLs itself and says what to do instead.
  rm -rf htscodecs
  cp -R "$dir/build/codecs" htscodecs
  printf '#define HTSCODECS_VERSION_TEXT "%s"\n' "$(sed -n 's/^AC_INIT(htscodecs, *\(.*\))/\1/p' htscodecs/configure.ac)" \
    > htscodecs/htscodecs/version.h
  cp htscodecs/config.{guess,sub} .
  autoheader
  autoconf
  ./configure --host="$triplet" --disable-libcurl --disable-gcs --disable-s3 --disable-plugins --with-libdeflate > /dev/null
  # clang wants to be told of each extension that a file uses.
  local extensions=()
  [[ $machine != x86_64 ]] || extensions=(HTS_CFLAGS_AVX2="-mavx2 -mpopcnt" HTS_CFLAGS_AVX512="-mavx512f -mpopcnt")
  # htslib can say how it was compiled: in words that do not depend on the folder.
  make -s config_vars.h
  sed -i "s,$dir,toolchain,g" config_vars.h
  make -s -j"$jobs" lib-static "${extensions[@]}"
  mkdir -p "$dir/include/htslib"
  cp htslib/*.h "$dir/include/htslib/"
  put_in libhts.a
}
build_utf8proc() {
  make -s -j"$jobs" libutf8proc.a UTF8PROC_DEFINES=-DUTF8PROC_STATIC
  put_in utf8proc.h libutf8proc.a
}
build_sqlite3() {
  ./configure --host="$triplet" --disable-shared --disable-tcl --disable-load-extension > /dev/null
  make -s sqlite3.c > /dev/null
  # The locks of a journal as Debian has them; extensions and what else carbon does not use are left out.
  "$CC" $CFLAGS -DSQLITE_THREADSAFE=1 -DSQLITE_OMIT_LOAD_EXTENSION -c sqlite3.c -o sqlite3.o
  rm -f libsqlite3.a
  "$AR" rcs libsqlite3.a sqlite3.o
  put_in sqlite3.h libsqlite3.a
}
build_openssl() {
  # Only what SHA-256 needs, as far as there are options for it.
  local without=(shared module engine dso tests legacy ui-console sock async aria bf blake2 camellia cast chacha cmac cmp cms ct des dh
    dsa ec idea md4 mdc2 ocb ocsp poly1305 rc2 rc4 rmd160 scrypt seed siphash siv sm2 sm3 sm4 srp srtp ts whirlpool)
  ./Configure "linux-$machine" "${without[@]/#/no-}" > /dev/null
  make -s -j"$jobs" build_generated
  make -s -j"$jobs" libcrypto.a
  cp -R include/openssl "$dir/include/"
  put_in libcrypto.a
}
# The licence that packaging/libraries has for a source package.
licence_of() { awk -v source="$1" '$1 == source { $1 = $2 = $3 = $4 = $5 = $6 = ""; sub(/^ +/, ""); print }' "$here/../libraries"; }
# build SOURCE TEXT LICENCE: builds one of the table and writes its line of DIR/share/libraries.
build() {
  local source=$1 licence=$3 archive version made stamp
  [[ $licence != - ]] || licence=$(licence_of "$source")
  [[ $licence ]] || fail "neither sources nor packaging/libraries has the licence of $source"
  archive=$(archive_of "$source")
  version=$(basename "$archive")
  version=${version#"$source"_}
  version=${version%.orig.tar.*}
  made=$dir/share/licenses/$source
  stamp="$version $(sha256sum < "$archive") $(declare -f "build_$source") $CFLAGS $zig $glibc"
  if [[ $(cat "$dir/build/$source.stamp" 2> /dev/null) != "$stamp" ]]; then
    echo "== $source $version"
    rm -rf "$dir/build/$source"
    mkdir -p "$dir/build/$source"
    tar -x -C "$dir/build/$source" --strip-components=1 -f "$archive"
    # Not before "||" or in a condition, where bash would go on after a command that fails.
    local status=0
    set +e
    (set -e; cd "$dir/build/$source"; "build_$source") > "$dir/build/$source.log" 2>&1
    status=$?
    set -e
    ((status == 0)) || {
      tail -n 30 "$dir/build/$source.log" >&2
      fail "$source $version does not build; the whole log is $dir/build/$source.log"
    }
    # The dedication of SQLite stands at the top of its source, and the licence of zlib at the end of its README.
    case $source in
      sqlite3) sed -n '/May you do good/,/than you give/p' "$dir/build/$source/src/main.c" > "$made" ;;
      *) cp "$dir/build/$source/$2" "$made" ;;
    esac
    rm -rf "$dir/build/$source"
    echo "$stamp" > "$dir/build/$source.stamp"
  fi
  printf '%s\t%s\t%s\n' "$source" "$version" "$licence" >> "$dir/share/libraries.new"
}

compiler
: > "$dir/share/libraries.new"
printf '%s\t%s\t%s\n' "zig (libc++, libc++abi, libunwind; musl in the program that starts carbon)" "$zig" \
  "MIT AND Apache-2.0 WITH LLVM-exception" >> "$dir/share/libraries.new"
while read -r source text licence; do
  build "$source" "$text" "$licence"
done < <(grep -v '^#' "$here/sources")
c_library
[[ ${3-} != cuda ]] || cuda_toolkit
# Headers are the same for every machine. Those of libraries that have nothing else are compiled in, which needs their notices too.
while read -r header; do
  [[ -d /usr/include/$header ]] || fail "/usr/include/$header is missing; ./install-deps.sh installs it"
  ln -sfn "/usr/include/$header" "$dir/include/$header"
done < <(awk '/^[^#]/ && $3 == "-" && $7 != "-" { sub("/$", "", $6); print $6 }' "$here/../libraries")
"$here/../sbom.py" --notices "$dir/share/licenses" >> "$dir/share/libraries.new"
mv "$dir/share/libraries.new" "$dir/share/libraries"
echo "== the toolchain is in $dir"
