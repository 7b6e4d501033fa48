#!/usr/bin/env bash
# What the CUDA backend does on a GPU, in calls of at most ten minutes each, one after the other or days apart:
#   bench/gpu/first.sh faults [PART]...     what the machine is, and these parts, the most telling first:
#       small           every check of the backend in small sizes
#       commands        the commands on the GPU and on the CPU (commands.py)
#       memory          the checks that look at the free memory of the GPU
#       bench-500M      the speed of the 500M
#       kernels-500M    the time of its kernels
#       stream rows linear attention heads draw letters decoder     the other checks in full, side by side with
#       memcheck racecheck                                  small checks under these tools of compute-sanitizer
#     A check that fails runs again with each switch of the backend off.
#   bench/gpu/first.sh figures [PART]...    what the machine is, and
#       bench kernels   the speed of the published shapes, and the time of their kernels
#       peer parity     PyTorch beside that, and how far bf16 and f16 are from f32
#       CARBON_CUDA_OVERLAP=0 CARBON_CUDA_GRAPHS=0 CARBON_CUDA_LIBRARY=0     the speed of the 500M with each switch off
#   bench/gpu/first.sh choices [PART]...    what the machine is, and what is to be known before kernels are changed:
#       bits            how wgmma, mma.sync and cuBLASLt add (bench_gpu --bits)
#       whole           commands from beginning to end, how busy the GPU is meanwhile, and the steps of a draft (end_to_end.py)
#       windows         prefill of windows as long as those of scan, and the time of its kernels
#       hints           generation with L2 hints for weights of none, 128 and 256 bytes, and again of none
#       f16             the speed of f16
#       error           how far bf16 and f16 are from f32 (parity.py)
#       peer            PyTorch beside the windows and the generation
#       ncu             three kernels under NVIDIA's profiler
#       decoder attention linear sm_75      these checks, and small ones with code for sm_75 alone, side by side
#     At the end the tables of all parts are printed again.
# With names of parts after that word only these run. Needs check_gpu, bench_gpu, make_checkpoint and this folder; for the commands
# carbon with carbon-cuda.so beside it; for hints and sm_75 the programs of those names; and cuBLASLt, which is also looked for
# among the packages of Python. No compiler. `make gpu-kit` packs all of it.
# What is timed runs alone. A part that takes longer than its time limit is ended, and the next one begins. Of each part the
# end of the output is printed, and all of it is kept in the folder OUT, as PART.log.
# From the environment: BUILD (default: the kit's programs, or build), OUT (default a new folder in TMPDIR; if its name ends in .tar.gz,
# the folder is packed there as one file), COMMIT (a name that goes into the tables), SECONDS_LEFT (default 560: no part begins or
# goes on after that).
# Exit status 1 if a part failed or was ended, 77 if there is no GPU.
set -uo pipefail

here=$(dirname "$(realpath "$0")")
root=$(realpath "$here/../..")
if [[ -d $root/programs ]]; then kit=$root/programs; else kit=$root/build; fi
build=$(realpath "${BUILD:-$kit}")
export CARBON_MAKE_CHECKPOINT=$build/make_checkpoint
commit=(--commit "${COMMIT:-$(cat "$root/commit" 2> /dev/null || echo unknown)}")
deadline=$((SECONDS + ${SECONDS_LEFT:-560}))
switches=(CARBON_CUDA_OVERLAP CARBON_CUDA_GRAPHS CARBON_CUDA_LIBRARY)

# Lines of outputs that are printed again at the end: rows of tables, what was concluded, and what failed.
telling='^\||^bench_gpu:|^wgmma|^the library|FAILED|not so:|^peer|SKIPPED|Duration|Throughput|Achieved Occupancy| passed, '

side_by_side=(stream rows linear attention heads draw letters)
call=${1:-} only=("${@:2}")
case $call in
  faults) parts="small commands memory bench-500M kernels-500M ${side_by_side[*]} decoder memcheck racecheck" ;;
  figures) parts="bench kernels peer parity ${switches[*]/%/=0}" ;;
  choices) parts="bits whole windows hints f16 error peer ncu decoder attention linear sm_75" ;;
  *) echo "first.sh: say faults, figures or choices, not \"$call\"" >&2; exit 1 ;;
esac
for name in "${only[@]}"; do
  [[ " $parts " == *" $name "* ]] || { echo "first.sh $call: no part \"$name\"; the parts are $parts" >&2; exit 1; }
done
for program in check_gpu bench_gpu make_checkpoint; do
  [[ -x $build/$program ]] || { echo "first.sh: no program $build/$program; see BUILD in $0" >&2; exit 1; }
done
archive='' out=${OUT:-}
if [[ $out == *.tar.gz ]]; then archive=$out out=''; fi
[[ $out ]] || out=$(mktemp -d -t carbon-gpu.XXXXXX) || exit 1
mkdir -p "$out/libraries" || exit 1
if [[ $archive ]]; then trap 'tar -C "$out" --exclude=./libraries -czf "$archive" . && rm -r "$out"' EXIT; fi

# The libraries of the kit that the machine lacks, and cuBLASLt, which a package of Python may have.
find_libraries() {
  local library name found
  for library in "$root"/libraries/*; do
    name=${library##*/}
    [[ -e $library ]] && ! ldconfig -p 2> /dev/null | grep -q "^[[:space:]]*$name " && ln -sf "$library" "$out/libraries/$name"
  done
  export LD_LIBRARY_PATH=$out/libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  # check_gpu opens it by its name.
  name=$(grep -aom 1 'libcublasLt\.so\.[0-9]*' "$build/check_gpu" | head -n 1) || return 0
  CARBON_CUDA_LIBRARY=1 "$build/carbon" --version 2> /dev/null | grep -q 'cannot load cuBLASLt' || return 0
  found=$(find /usr/local /opt /usr/lib "$HOME" -name "$name" 2> /dev/null | head -n 1)
  if [[ -n $found ]]; then LD_LIBRARY_PATH+=:$(dirname "$found"); else echo "first.sh: $name is nowhere on this machine" >&2; fi
}

# part LINES NAME SECONDS COMMAND...: runs the command with a time limit, keeps its output and prints the last LINES of it.
part() {
  local lines=$1 name=$2 limit=$3 code=0 started=$SECONDS
  local log=$out/$name.log
  shift 3
  ((limit < deadline - SECONDS)) || limit=$((deadline - SECONDS))
  if ((limit <= 0)); then echo "== $name: not begun, the time is over"; return 124; fi
  timeout --kill-after=5 "$limit" "$@" > "$log" 2>&1 || code=$?
  {
    echo "== $name"
    tail -n "$lines" "$log"
    case $code in
      0) echo "== $name: good, $((SECONDS - started)) s" ;;
      77) echo "== $name: skipped" ;;
      124 | 137) echo "== $name: ended after its limit of $limit s" ;;
      *) echo "== $name: exit status $code, $((SECONDS - started)) s" ;;
    esac
  } > "$log.end"
  cat "$log.end"
  return "$code"
}

wanted() { ((${#only[@]} == 0)) || [[ " ${only[*]} " == *" $1 "* ]]; }

# once LINES NAME SECONDS COMMAND...: a part, if it is wanted; fails if that was not good and not skipped.
once() {
  local code=0
  wanted "$2" || return 0
  part "$@" || code=$?
  ((code == 0 || code == 77))
}

# checks NAME SECONDS ARGUMENT...: a part of check_gpu; where it fails, and is not merely slow, again with each switch off.
checks() {
  local name=$1 limit=$2 code=0 switch
  shift 2
  wanted "$name" || return 0
  part 12 "$name" "$limit" "$build/check_gpu" "$@" || code=$?
  ((code == 0 || code == 77)) && return 0
  ((code == 124 || code == 137)) && return 1
  for switch in "${switches[@]}"; do part 3 "$name-$switch=0" "$limit" env "$switch=0" "$build/check_gpu" "$@" & done
  wait
  return 1
}

# shellcheck disable=SC2317 # timeout runs it, in a bash of its own
environment() {
  uname -srm
  nproc
  cat /proc/driver/nvidia/version 2> /dev/null || echo "no kernel module of NVIDIA's driver"
  if command -v nvidia-smi > /dev/null; then
    nvidia-smi --format=csv \
      --query-gpu=name,driver_version,memory.total,memory.free,clocks.max.sm,clocks.max.memory,power.limit,ecc.mode.current
  else
    echo "no nvidia-smi"
  fi
  ldd "$build/check_gpu" "$build/carbon" | grep -E 'not found|cublas'
  sha256sum "$build/check_gpu" "$build/bench_gpu"
  env | grep -E '^(CARBON_CUDA_|CUDA_VISIBLE_DEVICES=)' | sort
  "$build/carbon" --version
}

# sanitize TOOL: small checks under a tool of compute-sanitizer.
# shellcheck disable=SC2317
sanitize() {
  local sanitizer
  sanitizer=$(command -v compute-sanitizer || command -v /usr/local/cuda/bin/compute-sanitizer) ||
    { echo "no compute-sanitizer; it comes with the CUDA toolkit"; exit 77; }
  exec "$sanitizer" --tool "$1" --error-exitcode 99 "$build/check_gpu" --small stream rows linear attention heads draw
}

# prefill SHAPE TOKENS...: windows of so many tokens, of each shape.
# shellcheck disable=SC2317
prefill() {
  local code=0
  while (($#)); do
    "$build/bench_gpu" --model "$1" --window "$2" && "$build/bench_gpu" --kernels --model "$1" --window "$2" || code=$?
    shift 2
  done
  return "$code"
}

# hints SHAPE...: milliseconds of generation with each program, twice without a hint: what differs between these two is nothing.
# shellcheck disable=SC2317
hints() {
  local shape program column code=0
  for shape; do
    column=0
    for program in bench_gpu bench_gpu-128B bench_gpu-256B bench_gpu; do
      echo "column $((++column))"
      "$build/$program" --decode --model "$shape" || code=$?
    done
  done > "$out/hints.rows"
  printf '%s\n' '| model | work | no hint, ms | 128 B | 256 B | no hint again |' '|---|---|---|---|---|---|'
  awk -F ' *[|] *' '/^column / { split($0, words, " "); column = words[2] }
    $3 == "own" {
      row = $2 " | " $4
      if (!(row in known)) known[rows[++count] = row]
      ms[row, column] = $8
    }
    END {
      for (i = 1; i <= count; ++i) {
        line = "| " rows[i]
        for (c = 1; c <= 4; ++c) line = line " | " ms[rows[i], c]
        print line " |"
      }
    }' "$out/hints.rows"
  return "$code"
}

# profile SHAPE: a launch of each of three kernels, far from the first.
# shellcheck disable=SC2317
profile() {
  local ncu kernel code=0
  set -o pipefail
  ncu=$(command -v ncu || command -v /usr/local/cuda/bin/ncu) ||
    { echo "no ncu; it comes with the CUDA toolkit"; exit 77; }
  # attention_mma.cu and attention_decode.cu have a kernel of the same name.
  for kernel in attention_mma_file attention_decode_file stream_kernel; do
    "$ncu" --clock-control none --kernel-name-base mangled --kernel-name "regex:$kernel" --launch-skip 200 --launch-count 1 \
      --section SpeedOfLight --section WarpStateStats --section Occupancy "$build/bench_gpu" --kernels --model "$1" | grep -v '^|' ||
      code=$?
  done
  return "$code"
}

# PyTorch at the rows of speed of the parts before.
# shellcheck disable=SC2317
peers() {
  cat "$out/windows.log" "$out/hints.rows" | grep -E '^[|] (model [|] products|[^|]+ [|] (library|own) )' |
    awk -F '|' '!seen[$2, $3, $4]++' | python3 "$1/peer_transformers.py"
}
export -f environment sanitize prefill hints profile peers
export build out

find_libraries
part 30 environment 20 bash -c environment
status=0 code=0 small=()
part 4 plan 20 "$build/check_gpu" plan || code=$?
((code != 77)) || { echo "first.sh: no GPU; the outputs are in ${archive:-$out}"; exit 77; }
((code == 0)) || status=1
if grep -q '^device kind .*emulated' "$out/plan.log"; then small=(--small); fi
if [[ $call == faults ]]; then
  # Measured on an H200 with 16 cores: small 7 s, commands 24, memory 3, bench 21, kernels 8, racecheck 89 beside the checks.
  # The limits are at least twice that, and together they leave half a minute of SECONDS_LEFT.
  checks small 60 --small || status=1
  once 15 commands 75 python3 "$here/commands.py" "${small[@]}" "$build" || status=1
  checks memory 20 memory || status=1
  once 40 bench-500M 60 "$build/bench_gpu" --model 500M "${commit[@]}" || status=1
  once 60 kernels-500M 30 "$build/bench_gpu" --kernels --model 500M "${commit[@]}" || status=1
  pids=()
  for name in "${side_by_side[@]}"; do checks "$name" 200 "$name" & pids+=($!); done
  checks decoder 240 decoder & pids+=($!)
  for tool in memcheck racecheck; do once 6 "$tool" 200 bash -c "sanitize $tool" & pids+=($!); done
  for pid in "${pids[@]}"; do wait "$pid" || status=1; done
elif [[ $call == figures ]]; then
  once 40 bench 240 "$build/bench_gpu" "${commit[@]}" || status=1
  once 60 kernels 90 "$build/bench_gpu" --kernels "${commit[@]}" || status=1
  once 40 peer 120 bash -c 'python3 "$0/peer_transformers.py" < "$out/bench.log"' "$here" || status=1
  once 20 parity 90 python3 "$here/parity.py" "$build/bench_gpu" "$CARBON_MAKE_CHECKPOINT" || status=1
  for switch in "${switches[@]/%/=0}"; do
    once 12 "$switch" 45 env "$switch" "$build/bench_gpu" --model 500M "${commit[@]}" || status=1
  done
else
  # By arithmetic, since none has been measured: bits 15 s, whole 85, windows 45, hints 75, f16 12, error 30, peer 60, ncu 45, and
  # 130 for the checks, which get what is left. In emulation a small model.
  all=() models=(--model 500M --model 3B) first=500M windows=(500M 8191 3B 12000) hinted=(3B 500M)
  errors=(--shape 500M:4 --shape 3B:4 --shape 500M:28)
  if ((${#small[@]})); then
    all=(--model tiny) models=(--model tiny --model tiny) first=tiny windows=(tiny 30) hinted=(tiny)
    errors=(--shape tiny:1)
  fi
  once 40 bits 60 "$build/bench_gpu" --bits "${all[@]}" "${commit[@]}" || status=1
  once 20 whole 130 python3 "$here/end_to_end.py" "${models[@]}" "$build" || status=1
  once 40 windows 60 bash -c 'prefill "$@"' - "${windows[@]}" || status=1
  once 60 hints 90 bash -c 'hints "$@"' - "${hinted[@]}" || status=1
  once 20 f16 40 "$build/bench_gpu" --dtype f16 --model "$first" "${commit[@]}" || status=1
  once 20 error 60 python3 "$here/parity.py" "${errors[@]}" "$build/bench_gpu" "$CARBON_MAKE_CHECKPOINT" || status=1
  once 40 peer 60 bash -c 'peers "$0"' "$here" || status=1
  once 80 ncu 60 bash -c 'profile "$@"' - "$first" || status=1
  pids=()
  for name in decoder attention linear; do checks "$name" 150 "$name" & pids+=($!); done
  once 12 sm_75 150 "$build/check_gpu-sm_75" --small & pids+=($!)
  for pid in "${pids[@]}"; do wait "$pid" || status=1; done
  for name in $parts; do
    wanted "$name" && found=$(grep -E "$telling" "$out/$name.log" 2> /dev/null) && echo "== once more: $name" && echo "$found"
  done
fi
# Algorithms of cuBLASLt that were not used, and why: last, where they are not overlooked.
if grep -qs 'refused [0-9]' "$out"/*.log; then
  echo "== refused algorithms"
  grep -hs 'refused [0-9]' "$out"/*.log | sort -u | tail -n 20
fi
echo "first.sh $call: the outputs are in ${archive:-$out}"
exit "$status"
