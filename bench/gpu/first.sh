#!/usr/bin/env bash
# What the CUDA backend does on a GPU, in calls of at most ten minutes each, one after the other or days apart:
#   bench/gpu/first.sh faults [PART]...     what the machine is, and these parts, the most telling first:
#       small           every check of the backend in small sizes
#       commands        the commands on the GPU and on the CPU (commands.py)
#       memory          the checks that look at the free memory of the GPU
#       decoder stream rows linear attention heads draw letters     the other checks in full, side by side with
#       sm_75                                               small checks with code for sm_75 alone
#       memcheck racecheck                                  small checks under these tools of compute-sanitizer
#     A check that fails runs again with each switch of the backend off.
#   bench/gpu/first.sh choices [PART]...    what the machine is, and what is to be known before kernels are changed:
#       bits            how wgmma, mma.sync and cuBLASLt add, and the time of a barrier of a grid (bench_gpu --bits)
#       whole           what commands do in a second, how busy the GPU is meanwhile, and the steps of a draft (end_to_end.py)
#       windows         prefill of windows as long as those of scan, and the time of its kernels and of those of generation
#       hints           generation with L2 hints for the copies of products of none, 128 and 256 bytes, and again of none
#       CARBON_CUDA_OVERLAP=0 CARBON_CUDA_GRAPHS=0     generation with each of these switches off
#       error           how far bf16 and f16 are from f32 (parity.py)
#       ncu             three kernels under NVIDIA's profiler
#       f16             the speed of f16
#     At the end the tables of all parts are printed again, the most telling last.
#   bench/gpu/first.sh figures [PART]...    what the machine is, and
#       kernels bench   the time of the kernels of the 8B, and its speed
#       peer            PyTorch beside that
# With names of parts after that word only these run. Needs check_gpu, bench_gpu, make_checkpoint and this folder; for the commands
# carbon with carbon-cuda.so beside it; for hints and sm_75 the programs of those names; and cuBLASLt, which is also looked for
# among the packages of Python. No compiler. `make gpu-kit` packs all of it.
# What is timed runs alone. A part that takes longer than its time limit is ended, and the next one begins; the limits of a call
# are 560 s in all, where those side by side count once. Of each part the end of the output is printed, with the clocks, temperature
# and power of the GPU after it; all of it is kept in the folder OUT, as PART.log, with those before and after it as PART.log.clocks.
# From the environment: BUILD (default: the kit's programs, or build), OUT (default a new folder in TMPDIR; if its name ends in .tar.gz,
# the folder is packed there as one file after each part, and in a folder that is there already as first-CALL.tar.gz), COMMIT (a name
# that goes into the tables), SECONDS_LEFT (default 560: no part begins or goes on after that; 40 less than what ends the call).
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

# Lines of outputs that are printed again at the end: rows of tables, what was concluded, and what failed. Of bits not all rows.
telling='^bench_gpu:|^wgmma|^the library|^a barrier|FAILED|SKIPPED|Duration|Throughput|Achieved Occupancy'
telling_bits="^\\| (by|mma.sync|wgmma|the library)|$telling" telling="^\\||$telling"

side_by_side=(stream rows linear attention heads draw letters) off=(CARBON_CUDA_OVERLAP=0 CARBON_CUDA_GRAPHS=0)
call=${1:-} only=("${@:2}")
case $call in
  faults) parts="small commands memory decoder ${side_by_side[*]} sm_75 memcheck racecheck" ;;
  choices) parts="bits whole windows hints ${off[*]} error ncu f16" ;;
  figures) parts="kernels bench peer" ;;
  *) echo "first.sh: say faults, choices or figures, not \"$call\"" >&2; exit 1 ;;
esac
for name in "${only[@]}"; do
  [[ " $parts " == *" $name "* ]] || { echo "first.sh $call: no part \"$name\"; the parts are $parts" >&2; exit 1; }
done
for program in check_gpu bench_gpu make_checkpoint; do
  [[ -x $build/$program ]] || { echo "first.sh: no program $build/$program; see BUILD in $0" >&2; exit 1; }
done
archive='' out=${OUT:-}
if [[ $out == *.tar.gz ]]; then archive=$out; elif [[ -d $out ]]; then archive=$out/first-$call.tar.gz; fi
[[ $out && ! $archive ]] || out=$(mktemp -d -t carbon-gpu.XXXXXX) || exit 1
mkdir -p "$out/libraries" || exit 1

# Whatever ends this script, the parts before are in the archive. tar says 1 of a log that is being written.
pack() {
  local code=0
  tar -C "$out" --exclude=./libraries -czf "$archive.$BASHPID" . 2> /dev/null || code=$?
  ((code < 2)) && mv -f "$archive.$BASHPID" "$archive"
}
if [[ $archive ]]; then trap 'pack && rm -r "$out"' EXIT; fi

# The libraries of the kit that the machine lacks, and cuBLASLt, which a package of Python may have.
find_libraries() {
  local library name found known
  known=$(ldconfig -p 2> /dev/null)
  for library in "$root"/libraries/*; do
    name=${library##*/}
    [[ -e $library ]] && ! grep -q "^[[:space:]]*$name " <<< "$known" && ln -sf "$library" "$out/libraries/$name"
  done
  export LD_LIBRARY_PATH=$out/libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  # check_gpu opens it by its name.
  name=$(grep -aom 1 'libcublasLt\.so\.[0-9]*' "$build/check_gpu") || return 0
  name=${name%%$'\n'*}
  known=$(CARBON_CUDA_LIBRARY=1 "$build/carbon" --version 2> /dev/null)
  [[ $known == *'cannot load cuBLASLt'* ]] || return 0
  found=$(find /usr/local /opt /usr/lib "$HOME" -name "$name" 2> /dev/null | head -n 1)
  if [[ -n $found ]]; then LD_LIBRARY_PATH+=:$(dirname "$found"); else echo "first.sh: $name is nowhere on this machine" >&2; fi
}

clocks() {
  timeout 5 nvidia-smi --id=0 --format=csv,noheader \
    --query-gpu=clocks.sm,clocks.mem,temperature.gpu,power.draw,clocks_event_reasons.active 2> /dev/null
}

# part LINES NAME SECONDS COMMAND...: runs the command with a time limit, keeps its output and prints the last LINES of it.
part() {
  local lines=$1 name=$2 limit=$3 code=0 log=$out/$2.log started after now
  shift 3
  ((limit < deadline - SECONDS)) || limit=$((deadline - SECONDS))
  if ((limit <= 0)); then echo "== $name: not begun, the time is over"; return 124; fi
  clocks > "$log.clocks"
  started=$SECONDS
  timeout --kill-after=5 "$limit" "$@" > "$log" 2>&1 || code=$?
  after="$((SECONDS - started)) s" now=$(clocks | tee -a "$log.clocks")
  after+=${now:+; $now}
  {
    echo "== $name"
    tail -n "$lines" "$log"
    case $code in
      0) echo "== $name: good, $after" ;;
      77) echo "== $name: skipped" ;;
      124 | 137) echo "== $name: ended after its limit of $limit s" ;;
      *) echo "== $name: exit status $code, $after" ;;
    esac
  } > "$log.end"
  cat "$log.end"
  [[ ! $archive ]] || pack
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

# benches WORDS...: bench_gpu with each of these lists of words.
# shellcheck disable=SC2086,SC2317
benches() {
  local words code=0
  for words; do "$build/bench_gpu" $words || code=$?; done
  return "$code"
}

# hints_table ROWS: milliseconds of generation with each program, of what has been measured.
# shellcheck disable=SC2317
hints_table() {
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
    }' "$1"
}

# hints WORDS SHAPE...: generation with each program, twice without a hint: what differs between these two is nothing.
# shellcheck disable=SC2086,SC2317
hints() {
  local words=$1 shape program rows column code=0
  shift
  trap 'hints_table "$rows"; exit 124' TERM
  for shape; do
    rows=$out/hints-$shape.rows column=0
    for program in bench_gpu bench_gpu-128B bench_gpu-256B bench_gpu; do
      echo "column $((++column))" >> "$rows"
      "$build/$program" --decode $words --model "$shape" >> "$rows" || code=$?
    done
    hints_table "$rows"
  done
  return "$code"
}

# profile WORDS WORDS: a launch of each of three kernels, far from the first, of prefill and of generation with these words.
# shellcheck disable=SC2086,SC2317
profile() {
  local ncu kernel words said code=0
  ncu=$(command -v ncu || command -v /usr/local/cuda/bin/ncu || compgen -G '/opt/nvidia/nsight-compute/*/ncu' | tail -n 1)
  [[ $ncu ]] || { echo "no ncu; it comes with the CUDA toolkit"; exit 77; }
  # attention_mma.cu and attention_decode.cu have a kernel of the same name.
  for kernel in attention_mma_file attention_decode_file stream_kernel; do
    [[ $kernel == attention_mma_file ]] && words=$1 || words=$2
    said=$("$ncu" --clock-control none --kernel-name-base mangled --kernel-name "regex:$kernel" --launch-skip 200 --launch-count 1 \
      --kill yes --section SpeedOfLight --section WarpStateStats --section Occupancy "$build/bench_gpu" --kernels $words 2>&1)
    grep -v '^|' <<< "$said"
    grep -q Duration <<< "$said" || code=1
  done
  return "$code"
}
export -f environment sanitize benches hints_table hints profile
export build out

find_libraries
part 30 environment 20 bash -c environment
status=0 code=0 small=()
part 4 plan 20 "$build/check_gpu" plan || code=$?
((code != 77)) || { echo "first.sh: no GPU; the outputs are in ${archive:-$out}"; exit 77; }
((code == 0)) || status=1
if grep -q '^device kind .*emulated' "$out/plan.log"; then small=(--small); fi
if [[ $call == faults ]]; then
  # Measured on an H200 with 16 cores: small 7 s, commands 24, memory 3, racecheck 89 beside the checks; decoder more than 180.
  checks small 30 --small || status=1
  once 15 commands 60 python3 "$here/commands.py" "${small[@]}" "$build" || status=1
  checks memory 10 memory || status=1
  checks decoder 420 decoder & pids=($!)
  for name in "${side_by_side[@]}"; do checks "$name" 200 "$name" & pids+=($!); done
  once 12 sm_75 300 "$build/check_gpu-sm_75" --small & pids+=($!)
  for tool in memcheck racecheck; do once 6 "$tool" 200 bash -c "sanitize $tool" & pids+=($!); done
  for pid in "${pids[@]}"; do wait "$pid" || status=1; done
elif [[ $call == choices ]]; then
  # None has been measured; by arithmetic the parts take about two thirds of their limits. In emulation a small model.
  all=() models=(--model 500M --model 3B) first=500M tokens=1366 steps="--batch 1 --batch 16 --batch 64" hinted=(3B 500M)
  windows=("--window 8191 --model 500M" "--kernels --window 8191 --model 500M" "--window 12000 --model 3B"
    "--kernels --window 12000 --model 3B" "--kernels --batch 64 --batch 256 --model 3B")
  errors=(--shape 500M:4 --shape 3B:4 --shape 500M:28 --shape 8B:4) profiled=("--window 8191 --model 500M" "--batch 64 --model 500M")
  if ((${#small[@]})); then
    all=(--model tiny) models=(--model tiny --model tiny) first=tiny steps="--batch 1 --batch 3" hinted=(tiny)
    tokens=30 windows=("--window 30 --model tiny" "--kernels --window 30 --model tiny" "--kernels --batch 3 --model tiny")
    errors=(--shape tiny:1)
  fi
  once 40 bits 45 "$build/bench_gpu" --bits "${all[@]}" "${commit[@]}" || status=1
  once 20 whole 115 python3 "$here/end_to_end.py" "${models[@]}" "$build" || status=1
  once 70 windows 85 bash -c 'benches "$@"' - "${windows[@]}" || status=1
  once 20 hints 90 bash -c 'hints "$@"' - "$steps" "${hinted[@]}" || status=1
  for switch in "${off[@]}"; do
    # shellcheck disable=SC2086
    once 12 "$switch" 20 env "$switch" "$build/bench_gpu" --decode $steps --model "$first" "${commit[@]}" || status=1
  done
  once 20 error 70 python3 "$here/parity.py" "${errors[@]}" "$build/bench_gpu" "$CARBON_MAKE_CHECKPOINT" || status=1
  once 220 ncu 60 bash -c 'profile "$@"' - "${profiled[@]}" || status=1
  once 12 f16 15 "$build/bench_gpu" --dtype f16 --window "$tokens" --model "$first" "${commit[@]}" || status=1
else
  model=8B
  if ((${#small[@]})); then model=tiny; fi
  once 60 kernels 90 "$build/bench_gpu" --kernels --model "$model" "${commit[@]}" || status=1
  once 40 bench 250 "$build/bench_gpu" --model "$model" "${commit[@]}" || status=1
  once 40 peer 160 bash -c 'python3 "$0/peer_transformers.py" < "$out/bench.log"' "$here" || status=1
fi
# Algorithms of cuBLASLt that were not used, and why: late, where they are not overlooked.
if grep -qs 'refused [0-9]' "$out"/*.log; then
  echo "== refused algorithms"
  grep -hs 'refused [0-9]' "$out"/*.log | sort -u | tail -n 20
fi
# Where only the end of this output comes back it is to be the most telling: no kernels with less than a fiftieth of the time.
if [[ $call == choices ]]; then
  for name in windows ncu f16 error "${off[@]}" whole hints bits; do
    [[ -e $out/$name.log.end ]] || continue
    [[ $name != bits ]] || telling=$telling_bits
    echo "== once more, $(tail -n 1 "$out/$name.log.end" | cut -c 4-)"
    grep -E "$telling" "$out/$name.log" | grep -Ev '[|] 0[.]0[01][0-9] [|]$'
  done
fi
echo "first.sh $call: the outputs are in ${archive:-$out}"
exit "$status"
