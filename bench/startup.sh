#!/usr/bin/env bash
# How long carbon takes to its first score, and its peak memory, on a checkpoint of the 500M shape (random weights, bf16), CPU:
#   1. seconds of `carbon score` of one sequence of 60 bp, a whole command: medians, lowest and highest of RUNS, behind a run
#      that reads the weights from the disk and does not count. Under 3 s is wanted.
#   2. peak resident memory of score, vep, generate and embed with enough work to fill their batches, as they are and with
#      --batch-tokens 256, beside the size of the file of weights. At most 1.25 times that and 600 MB is wanted, so the
#      ratio (peak - 600 MB) / weights is to be at most 1.25. MB are 10^6 bytes; pages of the mapped file count while they are in.
# Both in bf16 and with --dtype f32.
# From the environment: BUILD (default build, with carbon and make_checkpoint), RUNS (5), SEQUENCES (8 of 8,190 bp, with
# one of 49,140 bp behind them, for score and embed), RECORDS (4 for vep), PROMPTS (192 of 1,080 bp for generate), THREADS
# (default: all), LAYERS (28). Needs GNU time or python3, 1.5 GB in TMPDIR and 6 GB of memory.
set -euo pipefail
cd "$(dirname "$0")/.."

build=$(realpath "${BUILD:-build}")
runs=${RUNS:-5} threads=${THREADS:-$(nproc)} layers=${LAYERS:-28} records=${RECORDS:-4} window=8192
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache  # where the digest of the weights is remembered
# shellcheck source=bench/lib.sh
. bench/lib.sh

checkpoint "$layers" "$work/model"
sequences 1 60 > "$work/short.fa"
sequences "${SEQUENCES:-8}" 8190 > "$work/sequences.fa"
sequences 1 49140 | sed 's/^>s1$/>long/' >> "$work/sequences.fa"
sequences "${PROMPTS:-192}" 1080 > "$work/prompts.fa"
sequences 1 $(((records + 1) * window)) > "$work/ref.fa"
variants "$records" "$window" "$work/ref.fa" > "$work/in.vcf"

# score DTYPE
score() { "$build/carbon" score -q -m "$work/model" -@ "$threads" --dtype "$1" "$work/short.fa"; }

# peak COMMAND [OPTION...]: kilobytes at most in use. What starts carbon must be small, as its memory counts too.
peak() {
  local command=("$build/carbon" "$1" -v 0 -m "$work/model" -@ "$threads" -o "$work/out" "${@:2}")
  if [[ -x /usr/bin/time ]]; then
    /usr/bin/time -o "$work/kilobytes" -f %M "${command[@]}"
    cat "$work/kilobytes"
  else
    python3 -ISc 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "${command[@]}"
  fi
}

machine
for dtype in bf16 f32; do score "$dtype" > /dev/null; done
for ((i = 0; i < runs; ++i)); do
  for dtype in bf16 f32; do
    timed score "$dtype"
    echo "${dtype#*f} $micros" >> "$work/times"  # 16 or 32: the keys of medians are numbers
  done
done
printf '\n%-6s %24s %19s %10s\n' dtype 'seconds to a first score' 'lowest..highest' 'under 3 s'
medians "$work/times" | awk '{ printf "%-6s %24.3f %19s %10s\n", $1 == 16 ? "bf16" : "f32", $2,
  sprintf("%.3f..%.3f", $3, $4), $2 < 3 ? "yes" : "no" }'

weights=$(stat -L -c %s "$work"/model/*.safetensors | awk '{ sum += $1 } END { print sum }')
printf '\n%-10s %-6s %13s %10s %12s %22s %10s\n' \
  command dtype --batch-tokens 'peak MB' 'weights MB' '(peak - 600) / weights' 'to 1.25'
for dtype in bf16 f32; do
  for batch in default 256; do
    options=(--dtype "$dtype")
    [[ $batch == default ]] || options+=(--batch-tokens "$batch")
    for command in score vep generate embed; do
      case $command in
        score | embed) input=("$work/sequences.fa") ;;
        vep) input=(-w "$window" -f "$work/ref.fa" "$work/in.vcf") ;;
        generate) input=(-l 60 "$work/prompts.fa") ;;
      esac
      kilobytes=$(peak "$command" "${options[@]}" "${input[@]}")
      awk -v c="$command" -v d="$dtype" -v b="$batch" -v kb="$kilobytes" -v w="$weights" 'BEGIN {
        mb = kb * 1024 / 1e6; w /= 1e6; ratio = (mb - 600) / w
        printf "%-10s %-6s %13s %10.1f %12.1f %22.2f %10s\n", c, d, b, mb, w, ratio, ratio <= 1.25 ? "yes" : "no" }'
    done
  done
done
