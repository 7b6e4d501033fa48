#!/usr/bin/env bash
# What l2 and jsd of carbon vep --measure cost: SNVs whose windows share nothing, on a checkpoint of the 500M shape (random weights,
# bf16), CPU. Runs with each of the three lists of measures alternate, and the time that carbon takes to start is not counted. The
# last columns are the time divided by that of llr in the same round.
#
# From the environment: BUILD (default build, with carbon and make_checkpoint), RUNS (5), VARIANTS (4), THREADS (default: all),
# LAYERS (28). Needs 2 GB in TMPDIR, or MODELS, a folder that keeps the checkpoint for the next time.
set -euo pipefail
cd "$(dirname "$0")/.."

build=$(realpath "${BUILD:-build}")
runs=${RUNS:-5} count=${VARIANTS:-4} threads=${THREADS:-$(nproc)} layers=${LAYERS:-28}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
models=${MODELS:-$work}

# shellcheck source=bench/lib.sh
. bench/lib.sh
[[ -e $models/kmers-$layers ]] || checkpoint "$layers" "$models/kmers-$layers"
sequences 1 $(((count + 2) * 9000)) > "$work/ref.fa"
variants "$count" 9000 "$work/ref.fa" > "$work/in.vcf"
grep '^#' "$work/in.vcf" > "$work/none.vcf"

vep() { # MEASURES VCF
  "$build/carbon" vep -v 0 -m "$models/kmers-$layers" -@ "$threads" --no-version -f "$work/ref.fa" --measure "$1" "$work/$2.vcf"
}

machine
vep llr none > /dev/null  # the checkpoint is in memory from now on
for ((i = 0; i < runs; ++i)); do
  for measures in llr llr,l2 llr,l2,jsd; do
    timed vep "$measures" none
    # shellcheck disable=SC2154 # timed sets micros
    idle=$micros
    timed vep "$measures" in
    echo "$i $measures $((micros - idle))"
  done
done > "$work/times"
awk -v count="$count" '
  # Values of a column by rank: the first, the median and the last of n.
  function spread(values, n,    i, j, kept) {
    for (i = 2; i <= n; ++i) {
      kept = values[i]
      for (j = i - 1; j > 0 && values[j] > kept; --j) values[j + 1] = values[j]
      values[j + 1] = kept
    }
    return (values[int((n + 1) / 2)] + values[int(n / 2) + 1]) / 2
  }
  $2 == "llr" { llr = $3 }
  { if (!n[$2]++) order[++lists] = $2
    rate[$2, n[$2]] = count * 1e6 / $3
    ratio[$2, n[$2]] = $3 / llr }
  END {
    printf "%-14s %10s %18s %10s %18s\n", "measures", "variants/s", "lowest..highest", "time", "lowest..highest"
    for (i = 1; i <= lists; ++i) {
      list = order[i]
      for (j = 1; j <= n[list]; ++j) { a[j] = rate[list, j]; b[j] = ratio[list, j] }
      rates = spread(a, n[list]); ratios = spread(b, n[list])
      printf "%-14s %10.3f %18s %10.3f %18s\n", list, rates, sprintf("%.3f..%.3f", a[1], a[n[list]]), ratios,
        sprintf("%.3f..%.3f", b[1], b[n[list]])
    }
  }' "$work/times"
