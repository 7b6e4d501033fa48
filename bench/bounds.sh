#!/usr/bin/env bash
# What bounds cost carbon generate: the same prompt with and without them, in alternating runs; the median time of each, lowest
# and highest, and the speed with bounds as a share of that without. The model is the 500M shape with random weights.
#
#   bench/bounds.sh
#
# From the environment: BUILD (default build, with carbon and make_checkpoint), RUNS (5), SAMPLES ("1 16"), BASES (600),
# THREADS (default: all), LAYERS (28; 0: the bundled model). Needs 1 GB in TMPDIR.
# shellcheck disable=SC2154 # timed sets micros
set -euo pipefail
cd "$(dirname "$0")/.."

build=$(realpath "${BUILD:-build}")
runs=${RUNS:-5} samples=${SAMPLES:-1 16} bases=${BASES:-600} threads=${THREADS:-$(nproc)} layers=${LAYERS:-28}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# shellcheck source=bench/lib.sh
. bench/lib.sh
model=models/carbon-tiny
if ((layers > 0)); then
  model=$work/model
  checkpoint "$layers" "$model"
fi
sequences 1 121 > "$work/prompt.fa"
# shellcheck disable=SC2054 # the commas are those of --avoid
bounds=(--gc 40-60 --gc-window 100 --avoid GGTCTC,GAAGAC,CCWGG --no-stop prompt --max-homopolymer 6)

machine
echo "$bases new bases; bounds: ${bounds[*]}"
for n in $samples; do
  : > "$work/times"
  command=("$build/carbon" generate -q -m "$model" --threads "$threads" -l "$bases" -n "$n" "$work/prompt.fa")
  for ((i = 0; i < runs; ++i)); do
    timed "${command[@]}"
    echo "1 $micros" >> "$work/times"
    timed "${command[@]}" "${bounds[@]}"
    echo "2 $micros" >> "$work/times"
  done
  medians "$work/times" | awk -v n="$n" '{ m[$1] = $2; low[$1] = $3; high[$1] = $4 } END {
    printf "%s samples: without %.2f s (%.2f to %.2f), with %.2f s (%.2f to %.2f), speed %.1f %%\n",
      n, m[1], low[1], high[1], m[2], low[2], high[2], 100 * m[1] / m[2] }'
done
