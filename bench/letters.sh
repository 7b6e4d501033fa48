#!/usr/bin/env bash
# carbon vep on the shape of MarinDNA m5.1 (random weights, bf16), beside transformers on the same weights and variants, and beside
# recipe centered of the 500M shape of Carbon, the same number of threads, CPU. Runs of the three alternate; medians of variants/s,
# lowest and highest are printed, and carbon's median over each of the others. First it is shown that carbon and transformers compute
# the same score. The last lines are the shares of the limit from carbon bench. The time that carbon takes to start is not counted.
#
#   PYTHON=python-with-torch-and-transformers bench/letters.sh
#
# From the environment: BUILD (default build, with carbon and make_checkpoint), PYTHON (python3; one without torch and transformers is
# left out with a message), RUNS (3), VARIANTS (64 for carbon), PEER_VARIANTS (16), KMER_VARIANTS (4 for Carbon), BATCH (16 windows
# at a time for transformers), THREADS (default: all), LAYERS (19) and KMER_LAYERS (28). Needs 4 GB in TMPDIR, or MODELS, a folder
# that keeps both checkpoints for the next time, and 6 GB of memory.
set -euo pipefail
cd "$(dirname "$0")/.."

build=$(realpath "${BUILD:-build}")
python=${PYTHON:-python3}
runs=${RUNS:-3} threads=${THREADS:-$(nproc)} layers=${LAYERS:-19} kmer_layers=${KMER_LAYERS:-28}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
models=${MODELS:-$work}

# shellcheck source=bench/lib.sh
. bench/lib.sh
[[ -e $models/letters-$layers ]] ||
  "$build/make_checkpoint" --preset marin --hidden 1920 --layers "$layers" --heads 15 --kv-heads 15 --head-dim 128 \
    --intermediate 7680 --dtype bf16 "$models/letters-$layers"
[[ -e $models/kmers-$kmer_layers ]] || checkpoint "$kmer_layers" "$models/kmers-$kmer_layers"

# inputs NAME COUNT WINDOW: NAME.fa and NAME.vcf with so many SNVs whose windows share nothing, and NAME.none.vcf without a record.
inputs() {
  sequences 1 $((($2 + 2) * $3)) > "$work/$1.fa"
  variants "$2" "$3" "$work/$1.fa" > "$work/$1.vcf"
  grep '^#' "$work/$1.vcf" > "$work/$1.none.vcf"
}
inputs letters "${VARIANTS:-64}" 600
inputs peer "${PEER_VARIANTS:-16}" 600
inputs kmers "${KMER_VARIANTS:-4}" 9000

programs=(letters kmers)
if "$python" -c 'import torch, transformers' 2> /dev/null; then
  programs+=(peer)
else
  echo "no torch and transformers in $python: without transformers" >&2
fi

vep() { # MODEL NAME VCF
  "$build/carbon" vep -q -m "$1" -@ "$threads" --no-version -f "$work/$2.fa" "$3"
}

# run PROGRAM: a line of JSON with its variants/s.
run() {
  local model=$models/letters-$layers
  [[ $1 != kmers ]] || model=$models/kmers-$kmer_layers
  if [[ $1 == peer ]]; then
    "$python" bench/peers/transformers_vep.py "$model" "$work/peer.fa" "$work/peer.vcf" "${BATCH:-16}" "$threads"
    return
  fi
  timed vep "$model" "$1" "$work/$1.none.vcf"
  # shellcheck disable=SC2154 # timed sets micros
  local idle=$micros
  timed vep "$model" "$1" "$work/$1.vcf"
  awk -v n="$(grep -vc '^#' "$work/$1.vcf")" -v micros=$((micros - idle)) 'BEGIN { printf "{\"variants_per_s\": %.9g}\n", n * 1e6 / micros }'
}

machine
if [[ " ${programs[*]} " == *" peer "* ]]; then
  "$python" -c 'import torch, transformers; print("transformers", transformers.__version__, "torch", torch.__version__)'
  vep "$models/letters-$layers" peer "$work/peer.vcf" > "$work/scores.vcf"
fi
for ((i = 0; i < runs; ++i)); do
  for program in "${programs[@]}"; do run "$program" >> "$work/$program.json"; done
done
/usr/bin/env python3 bench/peers/compare_letters.py "$work" "${programs[@]}"
"$build/carbon" bench -q -m "$models/letters-$layers" -@ "$threads" --tests prefill,score,scan,vep --rounds "$runs"
