#!/usr/bin/env bash
# Runs fuzz targets for some seconds each, and prints a line for each: executions, the places of the program that were
# reached, and findings. Usage: test/fuzz/run.sh SECONDS TARGET...
# From the environment: BUILD (folder of the programs, build/fuzz), JOBS (how many run at a time), RUNS (at most so many
# executions, from a fixed seed and without the corpus of earlier runs, so that they are the same every time).
# Inputs that found something new stay in $BUILD/corpus and are where the next run goes on; findings are in
# $BUILD/findings, and the log of each target in $BUILD/logs. The exit status is 1 if there is a finding.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

build=${BUILD:-build/fuzz}
seconds=$1
shift
mkdir -p "$build/corpus" "$build/findings" "$build/logs" || exit 1
"${PYTHON:-/usr/bin/python3}" test/fuzz/seeds.py "$build/seeds" || exit 1

export UBSAN_OPTIONS=print_stacktrace=1
# htslib keeps some memory when it refuses a file.
export LSAN_OPTIONS=suppressions=test/fuzz/leaks.txt:print_suppressions=0
# Slower, or larger, is a finding. For a record of BCF htslib asks for as much memory as the record says, up to twice 4 GB, but
# uses only what the file fills.
limits=(-timeout=20 -rss_limit_mb=2048 -malloc_limit_mb=9000)

# run_target NAME: fuzzes it and prints its line.
run_target() {
  local name=$1 log=$build/logs/$1.log dictionary=test/fuzz/dictionaries/$1.dict options=() status=0 runs edges
  local largest found corpus
  [[ $name != vcf_jump ]] || dictionary=test/fuzz/dictionaries/vcf.dict  # it reads the same files
  [[ ! -f $dictionary ]] || options+=("-dict=$dictionary")
  # An input may be twice as long as the largest seed.
  largest=$(find "$build/seeds/$name" -type f -printf '%s\n' | sort -n | tail -n 1)
  corpus=("$build/corpus/$name" "$build/seeds/$name")
  if [[ -n ${RUNS:-} ]]; then
    options+=("-runs=$RUNS" -seed=1)
    corpus=("$build/seeds/$name")
  fi
  mkdir -p "$build/corpus/$name"
  "$build/$name" "-max_total_time=$seconds" "-max_len=$((2 * largest > 4096 ? 2 * largest : 4096))" "${limits[@]}" \
    "${options[@]}" "-artifact_prefix=$build/findings/$name-" -print_final_stats=1 -reload=0 \
    "${corpus[@]}" > "$log" 2>&1 || status=$?
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -n 1)
  edges=$(grep -aoE ' cov: [0-9]+' "$log" | tail -n 1 | grep -oE '[0-9]+')
  found=$((status != 0))
  printf '%-14s %9s executions, %6s edges, %d findings\n' "$name" "${runs:-?}" "${edges:-?}" "$found"
  if ((found)); then
    grep -aE -A 14 'ERROR: |SUMMARY: |runtime error|broken: |terminate called' "$log" | head -n 40 | sed 's/^/    /'
    echo "    the whole output is in $log"
  fi
  return "$found"
}
failed=0
running=0
for name in "$@"; do
  if ((running >= ${JOBS:-1})); then
    wait -n || failed=1
    ((--running))
  fi
  run_target "$name" &
  ((++running))
done
while ((running-- > 0)); do wait -n || failed=1; done
exit "$failed"
