#!/usr/bin/env bash
# `make check`: every part of the tests, two at a time, a line for each as it ends, the sums on the last line.
# `make quick` (test/run.sh quick): the unit tests and a run of each command and plugin.
# From the environment: BUILD (folder of the built programs), CARBON_SHARED (folder of larger fixtures; tests that need
# it skip without it), PYTHON (one that has numpy), CARBON_FORCE_ISA (instruction set that all of it runs on, test/run_isa.sh),
# JOBS (how many parts run at a time), ALL=1 (make check-all: also the parts that take long and seldom fail, which are otherwise
# left out while nothing that they test has changed since they last passed), RECORD=1 (.ci/run: notes which parts have passed).
# test/unchanged.py decides and notes.
# A part's whole output is kept in $BUILD/check, $BUILD/quick or $BUILD/check-ISA, and shown if it fails. The file `times` beside
# them has the seconds of each.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

build=$(realpath -m "${BUILD:-build}")
python=${PYTHON:-/usr/bin/python3}
quick=${1:+quick}
logs=$build/${quick:-check}${CARBON_FORCE_ISA:+-$CARBON_FORCE_ISA}
export CARBON=$build/carbon
export CARBON_MAKE_CHECKPOINT=$build/make_checkpoint
CARBON_SHARED=$(realpath -m "${CARBON_SHARED:-../shared}")
export CARBON_SHARED
left_out=()
# wanted NAME UNCHANGED...: runs the part, unless nothing has changed of what test/unchanged.py takes these words for.
wanted() {
  local name=$1
  shift
  if [[ ! ${ALL:-} ]] && "$python" test/unchanged.py "$@"; then
    left_out+=("$name")
    return 1
  fi
}

tested_with_tiles=(build kernels src test/reference test/unit)

# The parts: the CUDA backend on the emulated GPU, kernels with the tiles of AMX in memory, and test files, those that take minutes
# first, so that no core waits for one of them at the end.
emulated='' tiles=''
files=()
if [[ $quick ]]; then
  files=(test/cli/smoke_test.py test/cli/manual_options_test.py)
else
  ! wanted "CUDA backend, emulated GPU" emulated_gpu cuda || emulated=1
  [[ ! -e $build/unit_tiles || ${CARBON_FORCE_ISA:-} ]] || ! wanted "kernels, tiles in memory" unit_tiles "${tested_with_tiles[@]}" || tiles=1
  declare -A seen=()
  for file in test/cli/{vep_reference,cuda,newcomer,workflow_slurm,workflow_benchmark,vep_variants,cuda_devices}_test.py \
    test/cli/{python_document,workflow_snakemake}_test.py \
    test/golden/check_*.py test/cli/*_test.py; do
    [[ -z ${seen[$file]-} ]] || continue
    seen[$file]=1
    ! wanted "$file" --of "$file" || files+=("$file")
  done
  if [[ $emulated || " ${files[*]}" =~ \ test/cli/(cuda|gpu_kit) ]]; then
    "${MAKE:-make}" --no-print-directory -s BUILD="${BUILD:-build}" emulated-programs || exit 1
  fi
fi
for program in carbon unit make_checkpoint; do
  [[ -x $build/$program ]] || { echo "test/run.sh: no $build/$program; run it by make ${quick:-check}" >&2; exit 1; }
done
rm -rf "$logs" && mkdir -p "$logs" || exit 1

jobs=${JOBS:-2}
[[ $jobs =~ ^[1-9][0-9]*$ ]] || { echo "test/run.sh: JOBS is $jobs; give a number of parts, 1 or more" >&2; exit 1; }
running=0 parts=0
trap 'kill $(jobs -p) 2> /dev/null || :' EXIT

# start PART [ARGUMENT]...: runs it in the background, as soon as fewer than $jobs others do.
start() {
  if ((running == jobs)); then
    wait -n
    ((--running))
  fi
  (trap - EXIT; started=$SECONDS; "$@") &
  ((++running, ++parts))
}

# report NAME LOG STATUS PASSED FAILED SKIPPED [UNCHANGED...]: one line; a part that stopped without its counts is one failure. What
# has passed is noted for test/unchanged.py, in its words.
report() {
  local name=$1 log=$2 status=$3 passed=$4 failed=$5 skipped=$6
  shift 6
  if [[ ! $passed$failed$skipped =~ ^[0-9]+$ ]]; then
    passed=0 failed=1 skipped=0
    echo "no counts at its end, exit status $status" >> "$log"
  elif ((status != 0 && failed == 0)); then
    failed=1
    echo "exit status $status" >> "$log"
  fi
  ((failed == 0)) || echo "the whole output is in $logs" >> "$log"
  {
    flock 9  # the lines of two parts that end together stay apart
    echo "$passed $failed $skipped" >&9
    printf '%5d s  %s\n' $((SECONDS - started)) "$name" >> "$logs/times"
    if [[ ${RECORD:-} && ! ${CARBON_FORCE_ISA:-} ]] && ((failed == 0 && passed > 0 && $# > 0)); then
      "$python" test/unchanged.py --record "$@"
    fi
    grep -a 'SKIPPED' "$log" | sed 's/^/    /'
    ((failed == 0)) || tail -n 80 "$log" | sed 's/^/    /'
    printf '%-36s %4d passed, %d failed, %d skipped (%d s)\n' "$name" "$passed" "$failed" "$skipped" \
      $((SECONDS - started))
  } 9>> "$logs/counts"
}

# unit_tests NAME PROGRAM ISA [UNCHANGED...]: test cases of doctest, on this instruction set ("": all that the CPU has); one that
# reports SKIPPED counts as skipped, not as passed.
unit_tests() {
  local name=$1 program=$2 isa=${3:-${CARBON_FORCE_ISA:-}} log=$logs/$2.log status counts skipped
  shift 3
  # What the tested code says on stderr is often what a test provokes; it is kept apart.
  CARBON_FORCE_ISA=$isa "$build/$program" --no-colors=true > "$log" 2> "$logs/$program.stderr"
  status=$?
  skipped=$(awk '/^TEST CASE:/ { name = $0 } /MESSAGE: SKIPPED/ && !seen[name]++ { n++ } END { print n + 0 }' "$log")
  counts=$(sed -nE 's/^\[doctest\] test cases: +[0-9]+ \| +([0-9]+) passed \| +([0-9]+) failed.*/\1 \2/p' "$log")
  local passed=${counts% *} failed=${counts#* }
  report "$name" "$log" "$status" "${passed:+$((passed - skipped))}" "$failed" "$skipped" "$@"
}

# What tiles are part of, on any CPU that has the other instructions of those kernels (test/unit/tiles_in_memory.hpp).
tiles_in_memory() {
  if ! grep -qw avx512_bf16 /proc/cpuinfo; then
    echo "SKIPPED: this CPU has no AVX512_BF16" > "$logs/unit_tiles.log"
    report "kernels, tiles in memory" "$logs/unit_tiles.log" 0 0 0 1
    return
  fi
  unit_tests "kernels, tiles in memory" unit_tiles avx512_amx unit_tiles "${tested_with_tiles[@]}"
}

# A program that says no more than "N passed, N failed" on its last line: the CUDA backend's sources on the emulated GPU.
emulated_gpu() {
  local log=$logs/emulated-gpu.log status last
  "$build/check_emulated" > "$log" 2>&1
  status=$?
  last=$(tail -n 1 "$log")
  if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
    report "CUDA backend, emulated GPU" "$log" "$status" "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" 0 emulated_gpu cuda
  else
    report "CUDA backend, emulated GPU" "$log" "$status" "" "" ""
  fi
}

# A Python program whose last line is "N passed, N failed[, N skipped]".
script() {
  local name=${1##*/} log status last
  log=$logs/${name%.py}.log
  "$python" "$1" > "$log" 2>&1
  status=$?
  last=$(tail -n 1 "$log")
  if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed(,\ ([0-9]+)\ skipped)?$ ]]; then
    report "$1" "$log" "$status" "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" "${BASH_REMATCH[4]:-0}" --of "$1"
  else
    report "$1" "$log" "$status" "" "" ""
  fi
}

# The C++ and the Python writer of test checkpoints agree to the byte.
checkpoints() {
  local log=$logs/checkpoints.log passed=0 failed=0 shape work
  : > "$log"
  work=$(mktemp -d)
  for shape in "--preset demo" "--layers 2 --dtype f32 --tied 0 --dna-start 0 --shards 3" \
    "--layers 1 --heads 6 --kv-heads 3 --hidden 96 --dtype f16 --yarn 4 --seed 7 --dna-start 5 --vocab 4200" \
    "--preset generator --layers 1 --tied 0 --dtype f32 --shards 2" "--preset generator --layers 1 --head-dim 16" \
    "--preset marin --layers 2 --dtype f32 --tied 0" "--preset marin --eos 1 --llama3 0 --kv-heads 4 --max-positions 64 --shards 2"; do
    # shellcheck disable=SC2086 # the words of a shape are separate arguments
    if "$build/make_checkpoint" $shape "$work/cpp" && "$python" test/tools/hash_checkpoint.py $shape "$work/py" &&
      diff -r "$work/cpp" "$work/py"; then
      ((++passed))
    else
      ((++failed))
      echo "make_checkpoint and hash_checkpoint.py differ: $shape"
    fi >> "$log" 2>&1
    rm -rf "$work/cpp" "$work/py"
  done
  rm -rf "$work"
  report "checkpoint writers" "$log" 0 "$passed" "$failed" 0
}

# Includes go downwards only, nothing depends on the locale, and HACKING.md has what the rooms say of themselves. It counts as one case, however many files there are.
includes() {
  local log=$logs/includes.log status
  { "$python" test/check_includes.py && "$python" test/check_locale.py && "$python" test/check_rooms.py; } > "$log" 2>&1
  status=$?
  report "rules of the sources" "$log" "$status" "$((status == 0))" "$((status != 0))" 0
}

manual_syntax() {
  local log=$logs/mandoc.log passed=0 failed=0 page
  : > "$log"
  if ! command -v mandoc > /dev/null; then
    echo "SKIPPED: mandoc is not installed" > "$log"
    report "manual pages, syntax" "$log" 0 0 0 1
    return
  fi
  for page in man/*.[15]; do
    if mandoc -Tlint -W warning "$page" >> "$log" 2>&1; then ((++passed)); else ((++failed)); fi
  done
  report "manual pages, syntax" "$log" 0 "$passed" "$failed" 0
}

no_numpy() {
  echo "SKIPPED: $python has no numpy (Debian package python3-numpy); no command-line or golden tests" > "$logs/python.log"
  report "command-line and golden tests" "$logs/python.log" 0 0 0 1
}

[[ ! $emulated ]] || start emulated_gpu
start unit_tests "unit tests" unit ""
[[ ! $tiles ]] || start tiles_in_memory
if [[ $quick ]] || "$python" -c 'import numpy' 2> /dev/null; then
  for file in "${files[@]}"; do start script "$file"; done
  [[ $quick ]] || start checkpoints
else
  start no_numpy
fi
start includes
[[ $quick ]] || start manual_syntax
wait

if ((${#left_out[@]})); then
  echo "Left out, because nothing that they test has changed since they last passed (make check-all runs them):"
  printf '    %s\n' "${left_out[@]}"
fi

# A part that was killed has left no counts.
awk -v parts="$parts" '
  { passed += $1; failed += $2; skipped += $3 }
  END {
    failed += parts - NR
    printf "%d passed, %d failed%s\n", passed, failed, skipped ? ", " skipped " skipped" : ""
    exit failed > 0
  }' "$logs/counts"
