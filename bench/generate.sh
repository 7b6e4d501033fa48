#!/usr/bin/env bash
# Speed of `carbon generate` on a checkpoint of the 500M shape (random weights), CPU:
#   1. 6-mers/s and bp/s behind prompts of 1,080 bp at batch 1, 16 and 64, beside `transformers` on the same machine;
#      runs of the two alternate, medians are printed. Reading the prompts is timed apart: in a run of one 6-mer a sample, which
#      is drawn when the prompt has been read. 6-mers/s are those of the others, over the time that they add to it.
#   2. speculative against plain at batch 1: drafting with the target itself, with the first 7 of its 28 layers, and with
#      carbon-tiny. Speed-up measured, and by the formula E(k) / (1 + k c), E(k) = (1 - a^(k+1)) / (1 - a), from the
#      measured acceptance a and cost ratio c = draft step / plain step.
#   3. peak memory with many prompts, on a model so small that it does not matter, in f32: it must not grow with their
#      number.
# From the environment: BUILD (default build, with carbon and make_checkpoint), PYTHON (one with torch and transformers; the
# comparison is left out without it), RUNS (3), TOKENS (new 6-mers a sample, 32; four times as many in 2.), BATCHES
# ("1 16 64"), DRAFT_TOKENS (4), THREADS (default: all), PROMPTS ("20000 200000"), LAYERS (28). Needs GNU time, 2.5 GB in
# TMPDIR and 4 GB of memory.
set -euo pipefail
cd "$(dirname "$0")/.."

build=$(realpath "${BUILD:-build}")
python=${PYTHON:-python3} runs=${RUNS:-3} tokens=${TOKENS:-32} k=${DRAFT_TOKENS:-4}
threads=${THREADS:-$(nproc)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Weights are hashes of their names, so a model with fewer layers is the beginning of one with more.
# shellcheck source=bench/lib.sh
. bench/lib.sh
checkpoint "${LAYERS:-28}" "$work/target"
awk 'BEGIN { srand(1); for (i = 1; i <= 64; ++i) { print ">p" i; s = ""; for (j = 0; j < 1080; ++j)
  s = s substr("ACGT", 1 + int(4 * rand()), 1); print s } }' > "$work/prompts.fa"

# passes BATCH 6-MERS [OPTION...]: "seconds of all passes, 6-mers drawn" of one run, messages in $work/err.
passes() {
  local batch=$1 kmers=$2
  shift 2
  head -n $((2 * batch)) "$work/prompts.fa" |
    "$build/carbon" generate -v 4 -m "$work/target" -@ "$threads" -l $((6 * kmers)) "$@" > "$work/out.fa" 2> "$work/err"
  local seconds='s/.* passes of prompts[a-z ]* in ([0-9.]+) s; [0-9]+ passes [a-z]+ samples in ([0-9.]+) s'
  sed -nE "$seconds; ([0-9]+) 6-mers drawn.*/\\1 \\2 \\3/p" "$work/err" | awk '{ print $1 + $2, $3 }'
}

# drafts: "ms of a draft step, 6-mers drafted, tested, accepted" of the last run; nothing if it had no draft.
drafts() {
  sed -nE 's/.*draft: ([0-9]+) 6-mers drafted, ([0-9]+) tested, ([0-9]+) accepted .*; ([0-9.]+) ms per draft step.*/\4 \1 \2 \3/p' \
    "$work/err"
}

# carbon_run BATCH [OPTION...]: "6-mers/s, seconds of reading the prompts, ms a 6-mer of each sample" of one run. A pass does not
# count what drafting for it takes; at batch 1 a draft step drafts one 6-mer.
carbon_run() {
  local reading
  read -r reading _ < <(passes "$1" 1)
  echo "$(passes "$1" "$tokens" "${@:2}") $(drafts)" | awk -v batch="$1" -v reading="$reading" '{
    seconds = $1 + $3 * $4 / 1000 - reading
    kmers = $2 - batch
    print kmers / seconds, reading, 1000 * seconds * batch / kmers }'
}

# median COLUMN FILE
median() {
  awk -v c="$1" '{ print $c }' "$2" | sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

peer=yes
"$python" -c 'import torch, transformers' 2> /dev/null || { peer=no; echo "no torch or transformers in $python: carbon alone"; }
printf '%-6s %14s %14s %12s | %14s %14s %12s %8s\n' batch carbon:6-mers/s bp/s prompts:s peer:6-mers/s bp/s prompts:s ratio
for batch in ${BATCHES:-1 16 64}; do
  : > "$work/ours"
  : > "$work/theirs"
  for ((i = 0; i < runs; ++i)); do
    carbon_run "$batch" >> "$work/ours"
    if [[ $peer == yes ]]; then
      "$python" bench/generate_peer.py "$work/target" "$work/prompts.fa" "$batch" "$tokens" "$threads" >> "$work/theirs"
    fi
  done
  ours=$(median 1 "$work/ours") theirs=$(median 1 "$work/theirs")
  awk -v b="$batch" -v o="$ours" -v op="$(median 2 "$work/ours")" -v t="${theirs:-0}" -v tp="$(median 2 "$work/theirs")" 'BEGIN {
    printf "%-6d %14.2f %14.1f %12.2f | %14.2f %14.1f %12.2f %8s\n", b, o, 6 * o, op, t, 6 * t, tp,
      (t > 0) ? sprintf("%.2fx", o / t) : "-" }'
done

checkpoint $(((${LAYERS:-28} + 3) / 4)) "$work/shallow"
tokens=$((4 * tokens))  # rounds enough to outweigh the first ones, which prepare products of new shapes
printf '\n%-10s %12s %12s %12s %12s %12s\n' draft acceptance 'cost ratio' 'speed-up' formula '6-mers/s'
for draft in target shallow tiny; do
  path=$work/$draft
  [[ $draft == tiny ]] && path=models/carbon-tiny
  : > "$work/plain"
  : > "$work/drafted"
  for ((i = 0; i < runs; ++i)); do
    carbon_run 1 >> "$work/plain"
    cp "$work/out.fa" "$work/plain.fa"
    carbon_run 1 --draft "$path" --draft-tokens "$k" > "$work/line"
    cmp "$work/out.fa" "$work/plain.fa"
    echo "$(< "$work/line") $(drafts)" >> "$work/drafted"
  done
  awk -v d="$draft" -v k="$k" -v plain="$(median 1 "$work/plain")" -v ms="$(median 3 "$work/plain")" \
    -v fast="$(median 1 "$work/drafted")" -v step="$(median 4 "$work/drafted")" '
    { tested += $6; accepted += $7 }
    END { a = tested ? accepted / tested : 0; c = step / ms; e = 1; p = 1; for (i = 1; i <= k; ++i) { p *= a; e += p }
      printf "%-10s %11.1f%% %12.3f %11.2fx %11.2fx %12.2f\n", d, 100 * a, c, fast / plain, e / (1 + k * c), fast }' "$work/drafted"
done

"$build/make_checkpoint" --vocab 4224 --dna-start 0 --hidden 16 --layers 1 --heads 1 --kv-heads 1 --head-dim 16 \
  --intermediate 32 --max-positions 64 --dtype bf16 "$work/small"
printf '\n%-10s %12s %12s\n' prompts 'prompts/s' 'peak MiB'
for prompts in ${PROMPTS:-20000 200000}; do
  awk -v n="$prompts" 'BEGIN { srand(1); for (i = 0; i < 4000; ++i) bases = bases substr("ACGT", 1 + int(4 * rand()), 1)
    for (i = 1; i <= n; ++i) print ">p" i "\n" substr(bases, 1 + i % 3900, 40 + i % 41) }' > "$work/many.fa"
  /usr/bin/time -o "$work/times" -f '%e %M' "$build/carbon" generate -q -m "$work/small" --dtype f32 -@ "$threads" -l 12 \
    -o "$work/out.fa" "$work/many.fa"
  (($(grep -c '>' "$work/out.fa") == prompts))
  awk -v n="$prompts" '{ printf "%-10d %12.0f %12.1f\n", n, n / $1, $2 / 1024 }' "$work/times"
done
