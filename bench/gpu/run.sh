#!/usr/bin/env bash
# The CUDA backend on this machine's GPU beside what the GPU can do and beside PyTorch with transformers, in one run:
#   bench/gpu/run.sh [OPTION OF bench_gpu]...        e.g. --model 3B --device 0
# prints the table of bench_gpu with the peer's columns, then how far bf16 and f16 are from the CPU in f32 (parity.py). One
# after the other, since two programs on a GPU slow each other down: rows that have been measured appear on stderr meanwhile.
# From the environment: BUILD (default build; bench_gpu and make_checkpoint, which may have been built elsewhere: they need
# neither htslib nor CUDA beyond the driver and cuBLASLt), CARBON_MAKE_CHECKPOINT (default $BUILD/make_checkpoint),
# PYTHON (default python3; one with torch and transformers, else what is theirs says SKIPPED). Exit status 77 without a GPU.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
build=$(realpath "${BUILD:-build}")
export CARBON_MAKE_CHECKPOINT=${CARBON_MAKE_CHECKPOINT:-$build/make_checkpoint}
python=${PYTHON:-python3}

device=0 shapes=()
options=("$@")
for ((i = 0; i + 1 < ${#options[@]}; i += 2)); do
  case ${options[i]} in
    --device) device=${options[i + 1]} ;;
    --model) shapes+=(--shape "${options[i + 1]}:4") ;;
  esac
done

if ! command -v "$python" > /dev/null; then
  "$build/bench_gpu" "$@"
  echo "transformers: SKIPPED: no $python"
  exit
fi
table=$(mktemp)
trap 'rm -f "$table"' EXIT
"$build/bench_gpu" "$@" | tee >(cat >&2) > "$table"
"$python" "$here/peer_transformers.py" --device "cuda:$device" < "$table"
echo
"$python" "$here/parity.py" "$build/bench_gpu" "$CARBON_MAKE_CHECKPOINT" --device "cuda:$device" "${shapes[@]}"
