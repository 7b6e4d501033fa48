#!/usr/bin/env bash
# How the time of carbon grows, on a checkpoint of the 500M shape (random weights, bf16), CPU:
#   1. with the length of a window: `carbon score` of one sequence. seconds = a * tokens + b * tokens^2 is fitted by least
#      squares; printed are both parts, and the quadratic one's share beside the share that attention has of the operations
#      (docs/performance.md).
#   2. with the number of records: `carbon vep` of SNVs whose windows do not overlap, and `carbon score` of sequences as long
#      as these windows. Seconds a record should stay the same.
#   3. with threads: the window of 1. that is nearest to 1,366 tokens, beside one thread.
# Each time is that of a whole command, less the time of the same command with nothing to compute (a sequence of one 6-mer, a
# VCF without records) just before it. Runs alternate; medians, lowest and highest are printed, behind a run that does not count.
# From the environment: BUILD (default build, with carbon and make_checkpoint), RUNS (3), TOKENS ("171 342 683 1366 2732 4000"),
# RECORDS ("4 8 16 32"), WINDOW (2048 bp, of 2.), THREADS (default: all), LAYERS (28). Needs 1.5 GB in TMPDIR and 3 GB of memory.
set -euo pipefail
cd "$(dirname "$0")/.."

build=$(realpath "${BUILD:-build}")
runs=${RUNS:-3} lengths=${TOKENS:-171 342 683 1366 2732 4000} counts=${RECORDS:-4 8 16 32} window=${WINDOW:-2048}
threads=${THREADS:-$(nproc)} layers=${LAYERS:-28}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache  # where the digest of the weights is remembered
# shellcheck source=bench/lib.sh
. bench/lib.sh

checkpoint "$layers" "$work/model"
sequences 1 6 > "$work/nothing.fa"
for tokens in $lengths; do sequences 1 $((6 * tokens)) > "$work/window.$tokens.fa"; done
most=$(tr ' ' '\n' <<< "$counts" | sort -n | tail -n 1)
sequences 1 $(((most + 1) * window)) > "$work/ref.fa"
variants 0 "$window" "$work/ref.fa" > "$work/nothing.vcf"
for count in $counts; do
  variants "$count" "$window" "$work/ref.fa" > "$work/$count.vcf"
  sequences "$count" "$window" > "$work/$count.fa"
done

# score THREADS FASTA, vep THREADS VCF
score() { "$build/carbon" score -q -m "$work/model" -@ "$1" "$2"; }
vep() { "$build/carbon" vep -v 0 -m "$work/model" -@ "$1" -w "$window" -f "$work/ref.fa" "$2"; }

# net FILE KEY COMMAND THREADS INPUT NOTHING: adds "KEY MICROSECONDS" to FILE, the time of INPUT less that of NOTHING.
net() {
  local idle
  timed "$3" "$4" "$6"
  idle=$micros
  timed "$3" "$4" "$5"
  echo "$2 $((micros - idle))" >> "$work/$1"
}

# Reads the weights from the disk, builds the index of the reference and remembers the digest.
score "$threads" "$work/nothing.fa" > /dev/null
vep "$threads" "$work/nothing.vcf" > /dev/null

nearest=$(tr ' ' '\n' <<< "$lengths" | awk '{ d = ($1 - 1366) ^ 2 } NR == 1 || d < least { least = d; n = $1 } END { print n }')
for ((i = 0; i < runs; ++i)); do
  for tokens in $lengths; do net windows "$tokens" score "$threads" "$work/window.$tokens.fa" "$work/nothing.fa"; done
  for count in $counts; do
    net vep "$count" vep "$threads" "$work/$count.vcf" "$work/nothing.vcf"
    net score "$count" score "$threads" "$work/$count.fa" "$work/nothing.fa"
  done
  for ((n = 1; n <= threads; ++n)); do net threads "$n" score "$n" "$work/window.$nearest.fa" "$work/nothing.fa"; done
done

machine
# P, parameters that a token is multiplied with, and operations of attention a token and token looked back on, as in
# docs/performance.md; a window looks back on half its square.
medians "$work/windows" | awk -v layers="$layers" '
  { t[NR] = $1; s[NR] = $2; low[NR] = $3; high[NR] = $4
    t2 += $1 ^ 2; t3 += $1 ^ 3; t4 += $1 ^ 4; ts += $1 * $2; t2s += $1 ^ 2 * $2 }
  END {
    q = 1024; k = 512; f = 3072; hidden = 1024
    p = layers * hidden * (2 * q + 2 * k + 3 * f) + 4096 * hidden
    printf "\n%8s %10s %19s %10s ", "tokens", "seconds", "lowest..highest", "tokens/s"
    printf "%10s %12s %14s\n", "fitted", "quadratic", "by operations"
    determinant = t2 * t4 - t3 * t3
    if (NR > 1) { a = (ts * t4 - t2s * t3) / determinant; b = (t2 * t2s - t3 * ts) / determinant }
    for (i = 1; i <= NR; ++i) {
      fitted = a * t[i] + b * t[i] ^ 2
      attention = 4 * q * layers * t[i] ^ 2 / 2
      printf "%8d %10.3f %19s %10.1f ", t[i], s[i], sprintf("%.3f..%.3f", low[i], high[i]), t[i] / s[i]
      if (NR > 1) printf "%10.3f %11.1f%% ", fitted, 100 * b * t[i] ^ 2 / fitted
      else printf "%10s %12s ", "-", "-"
      printf "%13.1f%%\n", 100 * attention / (2 * p * t[i] + attention)
    }
    if (NR > 1) printf "seconds = %.4g * tokens + %.4g * tokens^2: %.1f tokens/s without the quadratic part\n", a, b, 1 / a
  }'
for command in vep score; do
  printf '\n%-8s %10s %19s %16s\n' "$command" seconds 'lowest..highest' 'seconds a record'
  medians "$work/$command" | awk '{ printf "%-8d %10.3f %19s %16.4f\n", $1, $2, sprintf("%.3f..%.3f", $3, $4), $2 / $1 }'
done
printf '\n%-8s %10s %19s %10s %9s\n' threads seconds 'lowest..highest' tokens/s speed-up
medians "$work/threads" | awk -v tokens="$nearest" 'NR == 1 { one = $2 }
  { printf "%-8d %10.3f %19s %10.1f %8.2fx\n", $1, $2, sprintf("%.3f..%.3f", $3, $4), tokens / $2, one / $2 }'
