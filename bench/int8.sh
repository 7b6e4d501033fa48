#!/usr/bin/env bash
# --dtype int8 beside bf16, and beside llama.cpp with Q8_0: prefill, decode and memory of the 500M shape (random weights), the
# same number of threads, CPU. Runs alternate; medians of tokens/s, lowest and highest are printed, and int8 over each of the
# others. Then how far the scores of the three data types agree, on the bundled model.
#
#   bench/int8.sh
#   LLAMA_PYTHON=V/bin/python bench/int8.sh     # with llama-cpp-python and gguf, as bench/peers.sh says
#
# From the environment: BUILD (default build, with carbon and make_checkpoint), LLAMA_PYTHON (python3), RUNS (5), PROMPT (1366
# tokens), NEW (32 tokens), BATCHES (1,4,16), THREADS (default: all), LAYERS (28). With FASTA and VCF, the
# agreement is that of its first ALLELES (1000) records in windows of WINDOW (1200) bp. Needs 3 GB in TMPDIR and 4 GB of memory.
set -euo pipefail
cd "$(dirname "$0")/.."

build=$(realpath "${BUILD:-build}")
llama_python=${LLAMA_PYTHON:-python3}
runs=${RUNS:-5} prompt=${PROMPT:-1366} new=${NEW:-32} batches=${BATCHES:-1,4,16} threads=${THREADS:-$(nproc)}
layers=${LAYERS:-28}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# shellcheck source=bench/lib.sh
. bench/lib.sh
checkpoint "$layers" "$work/model"
sequences 1 $((6 * prompt)) > "$work/prompt.fa"

programs=(bf16 int8)
if "$llama_python" -c 'import gguf, llama_cpp' 2> /dev/null; then
  "$llama_python" bench/peers/to_gguf.py --q8_0 "$work/model" "$work/model.gguf" > /dev/null
  programs+=(llama.cpp)
else
  echo "no llama_cpp and gguf in $llama_python: without llama.cpp" >&2
fi

# run PROGRAM: a line of JSON as bench/peers/workload.py has it; for carbon also shares of the limits.
run() {
  if [[ $1 == llama.cpp ]]; then
    "$llama_python" bench/peers/llama_cpp_run.py "$work/model.gguf" "$work/prompt.fa" "$new" "$batches" "$threads"
    return
  fi
  "$build/carbon" bench -q -m "$work/model" -@ "$threads" --dtype "$1" -p "$prompt" -n "$new" -b "$batches" \
    --tests prefill,decode --rounds 1 --json
}

machine
for ((i = 0; i < runs; ++i)); do
  for program in "${programs[@]}"; do run "$program" | tr -d '\n' >> "$work/$program.json" && echo >> "$work/$program.json"; done
done
/usr/bin/env python3 bench/peers/compare_int8.py "$work" "${programs[@]}"

echo
echo "peak memory of one short score, resident (MB)"
for dtype in bf16 int8; do
  "$build/carbon" score -q -m "$work/model" -@ "$threads" --dtype "$dtype" "$work/prompt.fa" > /dev/null & pid=$!
  peak=0
  while now=$(awk '/^VmHWM/ { print $2 }' "/proc/$pid/status" 2> /dev/null) && [[ -n $now ]]; do peak=$now; sleep 0.02; done
  wait "$pid"
  echo "$dtype $((peak / 1000))"
done

[[ -n ${FASTA:-} && -n ${VCF:-} ]] || exit 0
echo
echo "agreement of scores, bundled model, first ${ALLELES:-1000} records of $(basename "$VCF")"
zcat -f "$VCF" | awk -v most="${ALLELES:-1000}" '/^#/ || ++n <= most' > "$work/some.vcf"
for dtype in f32 bf16 int8; do
  "$build/carbon" vep -q -@ "$threads" --dtype "$dtype" -w "${WINDOW:-1200}" -f "$FASTA" -o "$work/$dtype.vcf" "$work/some.vcf"
done
for dtype in bf16 int8; do
  echo "f32 and $dtype"
  "$build/carbon" +concord "$work/f32.vcf" "$work/$dtype.vcf" -- --bootstrap 0
done
