#!/usr/bin/env bash
# Packs what bench/gpu/first.sh needs on a machine that has a GPU but no compiler:
#   bench/gpu/make_kit.sh BUILD ARCHIVE.tar.xz
# The programs of the folder BUILD, the libraries of this machine that they need and another may lack, the bundled model, and
# bench/gpu. There: tar -xf ARCHIVE.tar.xz && carbon-gpu-kit/bench/gpu/first.sh faults. The libraries of the C and C++ compilers
# and of CUDA are not in it: the machine's own are used (cuBLASLt alone has half a gigabyte).
set -euo pipefail
build=$(realpath "$1")
archive=$(realpath -m "$2")
root=$(realpath "$(dirname "$0")/../..")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
kit=$scratch/carbon-gpu-kit
mkdir -p "$kit/programs/models" "$kit/libraries" "$kit/bench"

programs=(carbon carbon-cuda.so check_gpu bench_gpu make_checkpoint)
for program in "${programs[@]}"; do cp -L "$build/$program" "$kit/programs/"; done
strip --strip-unneeded "${programs[@]/#/$kit/programs/}"
for program in "${programs[@]}"; do ldd "$build/$program"; done |
  awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
  grep -Ev '/(libc|libm|libdl|librt|libpthread|libresolv|libstdc\+\+|libgcc_s|libcublasLt|libcuda)\.so' |
  xargs -I{} cp -L {} "$kit/libraries/"
cp -R "$root/bench/gpu" "$kit/bench/"
rm -rf "$kit/bench/gpu/__pycache__"
cp -R "$root/models/carbon-tiny" "$kit/programs/models/"
git -C "$root" describe --always --dirty > "$kit/commit" 2> /dev/null || cat "$root/VERSION" > "$kit/commit"

tar -C "$scratch" --owner=0 --group=0 -cJf "$archive.tmp" carbon-gpu-kit
mv -f "$archive.tmp" "$archive"
du -h "$archive" | cut -f1
