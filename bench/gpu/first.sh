#!/usr/bin/env bash
# The first look at the CUDA backend on a GPU, in two calls of at most about six minutes each:
#   bench/gpu/first.sh A [MODEL]   what the machine is; the checks of streams, products, attention and heads; the speed of
#                                  MODEL (default 500M)
#   bench/gpu/first.sh B [MODEL]   memcheck and racecheck on small sizes; the times of kernels and the speed of MODEL
#                                  (default 3B); the checks of the decoder
# Needs check_gpu, bench_gpu and make_checkpoint, this folder, libcrypto and cuBLASLt (LD_LIBRARY_PATH may say where), no
# compiler. A part that takes longer than its time limit is ended, and the next one begins. Of each part the end of the output
# is printed, and all of it is kept in the folder OUT.
# From the environment: BUILD (default build; the folder of the programs), CHECK_GPU, BENCH_GPU and CARBON_MAKE_CHECKPOINT
# (each one program, if it is elsewhere), OUT (default a new folder in TMPDIR), COMMIT (a name that goes into the tables).
# The switches CARBON_CUDA_OVERLAP, CARBON_CUDA_GRAPHS and CARBON_CUDA_LIBRARY, as in carbon(1), turn parts of the backend off.
# Exit status 1 if a part failed or was ended, 77 if there is no GPU.
set -uo pipefail

build=${BUILD:-build}
check=$(realpath -m "${CHECK_GPU:-$build/check_gpu}")
bench=$(realpath -m "${BENCH_GPU:-$build/bench_gpu}")
CARBON_MAKE_CHECKPOINT=$(realpath -m "${CARBON_MAKE_CHECKPOINT:-$build/make_checkpoint}")
export CARBON_MAKE_CHECKPOINT
commit=(--commit "${COMMIT:-unknown}")
tail_lines=40

case ${1:-} in
  A) model=${2:-500M} ;;
  B) model=${2:-3B} ;;
  *) echo "first.sh: say A or B, not \"${1:-}\"" >&2; exit 1 ;;
esac
for program in "$check" "$bench" "$CARBON_MAKE_CHECKPOINT"; do
  [[ -x $program ]] || { echo "first.sh: no program $program; see BUILD in $0" >&2; exit 1; }
done
if [[ -n ${OUT:-} ]]; then out=$OUT; else out=$(mktemp -d -t carbon-gpu.XXXXXX) || exit 1; fi
mkdir -p "$out" || exit 1

status=0
# part NAME SECONDS COMMAND...: runs the command with a time limit, keeps its output and prints the end of it.
part() {
  local name=$1 limit=$2 log=$out/${1// /-}.log code=0 started=$SECONDS
  shift 2
  timeout --kill-after=5 "$limit" "$@" > "$log" 2>&1 || code=$?
  echo "== $name"
  tail -n "$tail_lines" "$log"
  case $code in
    0) echo "== $name: good, $((SECONDS - started)) s" ;;
    77) echo "== $name: skipped" ;;
    124 | 137) status=1; echo "== $name: ended after its limit of $limit s" ;;
    *) status=1; echo "== $name: exit status $code, $((SECONDS - started)) s" ;;
  esac
  return "$code"
}

# shellcheck disable=SC2317 # timeout runs it, in a bash of its own
environment() {
  uname -srm
  local nvcc
  nvcc=$(command -v nvcc || command -v /usr/local/cuda/bin/nvcc)
  if [[ -n $nvcc ]]; then "$nvcc" --version | tail -n 2; else echo "no nvcc"; fi
  cat /proc/driver/nvidia/version 2> /dev/null || echo "no kernel module of NVIDIA's driver"
  if command -v nvidia-smi > /dev/null; then smi; else echo "no nvidia-smi"; fi
  ldd "$check"
  sha256sum "$check" "$bench"
  env | grep -E '^(CARBON_CUDA_|CUDA_VISIBLE_DEVICES=)' | sort
  :
}
# shellcheck disable=SC2317
smi() {
  nvidia-smi
  nvidia-smi --format=csv \
    --query-gpu=name,driver_version,memory.total,clocks.max.sm,clocks.max.memory,power.limit,ecc.mode.current
}

# sanitize TOOL: small checks under a tool of compute-sanitizer.
# shellcheck disable=SC2317
sanitize() {
  local sanitizer
  sanitizer=$(command -v compute-sanitizer || command -v /usr/local/cuda/bin/compute-sanitizer) ||
    { echo "no compute-sanitizer; it comes with the CUDA toolkit"; exit 77; }
  exec "$sanitizer" --tool "$1" --error-exitcode 99 "$check" --small stream rows linear attention heads draw
}
export -f environment smi sanitize
export check bench

part environment 15 bash -c environment
if [[ $1 == A ]]; then first=(plan stream rows) limit=45; else first=(stream) limit=15; fi
part "${first[*]}" "$limit" "$check" "${first[@]}"
(($? != 77)) || { echo "first.sh: no GPU; the outputs are in $out"; exit 77; }
if [[ $1 == A ]]; then
  part linear 120 "$check" linear
  part "attention heads draw" 90 "$check" attention heads draw
  part bench 90 "$bench" --model "$model" "${commit[@]}"
else
  part memcheck 60 bash -c "sanitize memcheck"
  part racecheck 60 bash -c "sanitize racecheck"
  part kernels 60 "$bench" --kernels --model "$model" "${commit[@]}"
  part bench 90 "$bench" --model "$model" "${commit[@]}"
  part decoder 60 "$check" decoder
fi
echo "first.sh $1: the outputs are in $out"
exit "$status"
