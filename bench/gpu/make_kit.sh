#!/usr/bin/env bash
# Packs what bench/gpu/first.sh needs on a machine that has a GPU but no compiler (`make gpu-kit` builds the programs first):
#   bench/gpu/make_kit.sh BUILD ARCHIVE.tar.xz [MIB]
# The programs of the folder BUILD, the libraries of this machine that they need and another may lack, the bundled model, and
# bench/gpu. There: tar -xf ARCHIVE.tar.xz && carbon-gpu-kit/bench/gpu/first.sh faults. The libraries of the C and C++ compilers
# and of CUDA are not in it: the machine's own are used (cuBLASLt alone has half a gigabyte). An archive of more than MIB MiB
# (default 64) is an error: it has to be uploaded quickly to a machine that may be rented by the minute.
set -euo pipefail
build=$(realpath "$1")
archive=$(realpath -m "$2")
most=${3:-64}
root=$(realpath "$(dirname "$0")/../..")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
kit=$scratch/carbon-gpu-kit
mkdir -p "$kit/programs/models" "$kit/libraries" "$kit/bench"

programs=(carbon carbon-cuda.so check_gpu check_gpu-sm_75 bench_gpu bench_gpu-128B bench_gpu-256B make_checkpoint)
for program in "${programs[@]}"; do cp -L "$build/$program" "$kit/programs/"; done
strip --strip-unneeded "${programs[@]/#/$kit/programs/}"
for program in "${programs[@]}"; do ldd "$build/$program"; done |
  awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
  { grep -Ev '/(libc|libm|libdl|librt|libpthread|libresolv|libstdc\+\+|libgcc_s|libcublasLt|libcuda)\.so' || true; } |
  xargs -I{} cp -L {} "$kit/libraries/"
cp -R "$root/bench/gpu" "$kit/bench/"
rm -rf "$kit/bench/gpu/__pycache__"
cp -R "$root/models/carbon-tiny" "$kit/programs/models/"
git -C "$root" describe --always --dirty > "$kit/commit" 2> /dev/null || cat "$root/VERSION" > "$kit/commit"

tar -C "$scratch" --owner=0 --group=0 -cJf "$archive.tmp" carbon-gpu-kit
bytes=$(stat -c %s "$archive.tmp")
if ((bytes > most << 20)); then
  rm "$archive.tmp"
  echo "make_kit.sh: the kit has $(((bytes >> 20) + 1)) MiB, more than the $most MiB that it may have" >&2
  exit 1
fi
mv -f "$archive.tmp" "$archive"
echo "$archive: $(((bytes >> 20) + 1)) MiB"
