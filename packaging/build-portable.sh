#!/usr/bin/env bash
# build-portable.sh [-o DIR] [--cuda auto|no|HOME] [--machine x86_64|aarch64] [TARBALL]: makes carbon-VERSION-linux-x86_64.tar.gz, which
# is unpacked and runs on every x86-64 Linux, and the wheel carbon_dna-VERSION-py3-none-manylinux_2_28_x86_64.whl, from the archive of
# `make dist`, which it makes of the last commit if none is given.
#
#   -o DIR         where everything is built, with the toolchain (default: build-portable); the toolchain there is used again
#   --cuda HOME    the folder of a CUDA toolkit, of which nvcc and cudart become a part of the program; no: without GPUs; auto (the
#                  default): CUDA 12.4 of Debian 13, which portable/toolchain.sh fetches: its driver, 550, is the oldest that users of GPUs
#                  still have. CUDA_ARCH in the environment: the kinds of GPU (default: 75 80 90, and PTX of the last)
#   --machine M    the same for M. For aarch64 there is no CUDA, and qemu-aarch64 runs what has to run
#
# What it needs: ./install-deps.sh --packaging, and a network for what the toolchain lacks (portable/toolchain.sh).
set -euo pipefail

fail() { echo "build-portable.sh: $*" >&2; exit 1; }
usage() { sed -n '2,14s/^# \{0,1\}//p' "$0"; }

top=$(cd "$(dirname "$0")/.." && pwd)
out=build-portable tarball='' cuda=auto machine=x86_64
while [[ $# -gt 0 ]]; do
  case $1 in
    -o) [[ $# -gt 1 ]] || fail "-o needs a folder"; out=$2; shift ;;
    --cuda) [[ $# -gt 1 ]] || fail "--cuda needs auto, no or the folder of a CUDA toolkit"; cuda=$2; shift ;;
    --machine) [[ $# -gt 1 ]] || fail "--machine needs x86_64 or aarch64"; machine=$2; shift ;;
    -h | --help) usage; exit 0 ;;
    -*) usage >&2; exit 1 ;;
    *) [[ -z $tarball ]] || fail "one archive is expected, not also $1"; tarball=$(realpath -e "$1") ;;
  esac
  shift
done
mkdir -p "$out"
out=$(cd "$out" && pwd)
tools=$out/toolchain emulator=''
if [[ $machine != x86_64 ]]; then
  tools=$out/toolchain-$machine
  emulator=$(command -v "qemu-$machine") || fail "no qemu-$machine, which runs what was built; the Debian package qemu-user has it"
  [[ $cuda == auto || $cuda == no ]] || fail "CUDA is a part of the archive for x86_64 alone"
  cuda=no
fi
fetch=''
[[ $cuda != auto ]] || fetch=cuda
"$top/packaging/portable/toolchain.sh" "$tools" "$machine" $fetch

[[ $tarball ]] || { tarball=$out/carbon.tar.gz; make -s -C "$top" dist DIST="$tarball"; }
source=$out/source
rm -rf "$source"
mkdir "$source"
tar -xzf "$tarball" -C "$source" --strip-components=1
version=$(< "$source/VERSION")

[[ ! $fetch ]] || cuda=$tools/cuda
[[ $cuda == no || -x $cuda/bin/nvcc ]] || fail "--cuda $cuda: no bin/nvcc there"

# The words that start a program of the machine, where this is another.
emulated() { [[ ! $emulator ]] || echo "$emulator $tools/glibc/$(basename "$tools"/glibc/ld-linux-*) --library-path $tools/glibc"; }
# portable_make GOAL...: the libraries that htslib needs follow it. The backend of GPUs is linked in: its exceptions could not leave a
# library with a C++ library of its own.
portable_make() {
  make -s -C "$source" -j"$(nproc)" "$@" CXX="$tools/bin/c++" AR="$tools/bin/ar" WITH_SERVER=yes \
    WITH_CUDA="$cuda" LINK_CUDA=yes CUDA_RPATH= CUDA_ARCH="${CUDA_ARCH:-75 80 90}" EMULATOR="$(emulated)" \
    CPPFLAGS="-isystem $tools/include -DCARBON_PORTABLE=1" LDFLAGS="-L$tools/lib -s -Wl,--gc-sections" \
    LIBS="-llzma -lbz2 -ldeflate -lz -lpthread" prefix=
}
# What is linked in, with the texts of the licences.
share=$out/share
rm -rf "$share"
cp -R "$tools/share" "$share"
if [[ $cuda != no ]]; then
  printf 'cudart (NVIDIA CUDA)\t%s\tLicenseRef-NVIDIA-CUDA-EULA\n' \
    "$("$cuda/bin/nvcc" --version | sed -n 's/.*release .*, V\(.*\)/\1/p')" >> "$share/libraries"
  cp "$cuda/EULA.txt" "$share/licenses/cudart" 2> /dev/null ||
    echo 'NVIDIA distributes the run-time library of CUDA under the licence at https://docs.nvidia.com/cuda/eula/' > "$share/licenses/cudart"
fi
while IFS=$'\t ' read -r library _; do
  [[ -s $share/licenses/$library ]] || fail "share/libraries has $library, of which share/licenses has no text"
done < "$share/libraries"
name=carbon-$version-linux-$machine
root=$out/$name wheel=$out/wheel-files
rm -rf "$root" "$wheel"

# The wheel of the Python package first, whose program lies in bin; that of the archive is started by what lies there.
portable_make all library
portable_make install install-library DESTDIR="$wheel"
cp -R "$share/licenses" "$wheel/licences"
cp "$share/libraries" "$wheel/licences/"
CARBON_WHEEL_FILES=$wheel CARBON_WHEEL_TAG=manylinux_2_28_$machine python3 "$source/python/build_wheel.py" "$out"

portable_make all bindir=/libexec/carbon
portable_make install bindir=/libexec/carbon DESTDIR="$root"
mkdir "$root/bin"
"$tools/bin/static-cc" -O2 -s -Wall -Wextra -Werror -o "$root/bin/carbon" "$source/packaging/portable/launcher.c"
cp -R "$tools/glibc" "$root/libexec/carbon/glibc"
cp -R "$source"/{packaging/portable/README.md,NEWS.md,LICENSE,docs} "$root/"
mkdir -p "$root/bench/results"
cp "$source"/bench/results/*.md "$root/bench/results/"
cp -R "$share/licenses" "$share/libraries" "$root/share/"
python3 "$source/packaging/links.py" "$root" || fail "links of the archive lead nowhere"
if [[ $emulator ]]; then
  # The emulator does not follow the launcher into another program.
  printf '#!/bin/sh\nCARBON_INTERNAL_PROGRAM=%s exec %s %s "$@"\n' "$root/libexec/carbon/carbon" "$(emulated)" "$root/libexec/carbon/carbon" > "$out/emulated-carbon"
  chmod +x "$out/emulated-carbon"
  "$source/packaging/smoke.sh" "$out/emulated-carbon"
else
  CARBON_LOADER=host "$source/packaging/smoke.sh" "$root/bin/carbon"
  CARBON_LOADER=own "$source/packaging/smoke.sh" "$root/bin/carbon"
fi

# The same bytes from the same commit.
tar --sort=name --mtime="@$(stat -c %Y "$source/VERSION")" --owner=0 --group=0 --numeric-owner --mode='u+rw,go+r-w,a+X' -C "$out" -cf - "$name" | gzip -9n > "$out/$name.tar.gz"
ls -l "$out/$name.tar.gz" "$out"/carbon_dna-"$version"-*"_$machine.whl"
