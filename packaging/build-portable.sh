#!/usr/bin/env bash
# build-portable.sh [-o DIR] [TARBALL]: makes carbon-VERSION-linux-x86_64.tar.gz, which is unpacked and runs on every x86-64 Linux, and
# the wheel carbon_dna-VERSION-py3-none-manylinux_2_28_x86_64.whl, from the archive of `make dist`, which it makes of the last commit
# if none is given.
#
#   -o DIR    where everything is built, with the toolchain (default: build-portable); the toolchain there is used again
#
# What it needs: ./install-deps.sh --packaging, and a network for what the toolchain lacks (portable/toolchain.sh).
set -euo pipefail

fail() { echo "build-portable.sh: $*" >&2; exit 1; }
usage() { sed -n '2,8s/^# \{0,1\}//p' "$0"; }

top=$(cd "$(dirname "$0")/.." && pwd)
out=build-portable tarball=''
while [[ $# -gt 0 ]]; do
  case $1 in
    -o) [[ $# -gt 1 ]] || fail "-o needs a folder"; out=$2; shift ;;
    -h | --help) usage; exit 0 ;;
    -*) usage >&2; exit 1 ;;
    *) [[ -z $tarball ]] || fail "one archive is expected, not also $1"; tarball=$(realpath -e "$1") ;;
  esac
  shift
done
mkdir -p "$out"
out=$(cd "$out" && pwd)
"$top/packaging/portable/toolchain.sh" "$out/toolchain"
tools=$out/toolchain

[[ $tarball ]] || { tarball=$out/carbon.tar.gz; make -s -C "$top" dist DIST="$tarball"; }
source=$out/source
rm -rf "$source"
mkdir "$source"
tar -xzf "$tarball" -C "$source" --strip-components=1
version=$(< "$source/VERSION")

# portable_make GOAL...: the libraries that htslib needs follow it.
portable_make() {
  make -s -C "$source" -j"$(nproc)" "$@" CXX="$tools/bin/c++" AR="$tools/bin/ar" WITH_CUDA=no WITH_SERVER=yes \
    CPPFLAGS="-isystem $tools/include -DCARBON_PORTABLE=1" LDFLAGS="-L$tools/lib -s -Wl,--gc-sections" \
    LIBS="-llzma -lbz2 -ldeflate -lz -lpthread" prefix=
}
name=carbon-$version-linux-x86_64
root=$out/$name wheel=$out/wheel-files
rm -rf "$root" "$wheel"

# The wheel of the Python package first, whose program lies in bin; that of the archive is started by what lies there.
portable_make all library
portable_make install install-library DESTDIR="$wheel"
cp -R "$tools/share/licenses" "$wheel/licences"
cp "$tools/share/libraries" "$wheel/licences/"
CARBON_WHEEL_FILES=$wheel CARBON_WHEEL_TAG=manylinux_2_28_x86_64 python3 "$source/python/build_wheel.py" "$out"

portable_make all bindir=/libexec/carbon
portable_make install bindir=/libexec/carbon DESTDIR="$root"
mkdir "$root/bin"
"$tools/bin/static-cc" -O2 -s -Wall -Wextra -Werror -o "$root/bin/carbon" "$source/packaging/portable/launcher.c"
cp -R "$tools/glibc" "$root/libexec/carbon/glibc"
cp -R "$source"/{README.md,NEWS.md,LICENSE,docs} "$root/"
cp -R "$tools/share/licenses" "$tools/share/libraries" "$root/share/"
CARBON_LOADER=host "$source/packaging/smoke.sh" "$root/bin/carbon"
CARBON_LOADER=own "$source/packaging/smoke.sh" "$root/bin/carbon"

# The same bytes from the same commit.
tar --sort=name --mtime="@$(stat -c %Y "$source/VERSION")" --owner=0 --group=0 --numeric-owner --mode='u+rw,go+r-w,a+X' -C "$out" -cf - "$name" | gzip -9n > "$out/$name.tar.gz"
ls -l "$out/$name.tar.gz" "$out"/carbon_dna-"$version"-*.whl
