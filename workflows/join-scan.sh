#!/bin/bash
# Puts the parts of a scan together, in the order of their shares:
#
#   workflows/join-scan.sh scan.tsv.gz scan.tsv.gz.parts/{1..20}.tsv.gz
#
# For .tsv.gz, .bedgraph.gz, .bcf and .vcf.gz. Compressed blocks are copied as they are. The header is that of the first part.
# Slurm can run it as a job: sbatch --dependency=afterok:JOB workflows/join-scan.sh ...
#SBATCH --job-name=carbon-join
set -euo pipefail

fail() { echo "join-scan.sh: $1" >&2; exit 1; }

(($# >= 2)) || { echo "usage: join-scan.sh OUTPUT PART..." >&2; exit 1; }
output=$1
shift
whole=$output.joining
trap 'rm -f "$whole"' EXIT

# The empty block at the end of a BGZF file has 28 bytes and shows that the file is complete.
for part; do
  [[ -r $part ]] && cmp -s <(tail -c 28 "$part") <(bgzip -c < /dev/null) || fail "$part is absent or not a complete BGZF file"
done

blocks() { head -c -28 "$1"; }

# Without header lines. They are in the first block, which is written anew; its bytes 16 and 17 have its size less one.
lines() {
  local first
  first=$(od -An -tu2 -j16 -N2 "$1")
  ((first += 1))
  local end='#CHROM.*' # the last line of the header
  [[ $output != *.bedgraph.gz ]] || end='##carbon_scanModel=.*'
  head -c "$first" "$1" | gzip -dc | grep -x "$end" > /dev/null ||
    fail "$1: the header is longer than a block; scan with --no-version"
  head -c "$first" "$1" | gzip -dc | sed '/^#/d' | bgzip -c | head -c -28
  blocks "$1" | tail -c +$((first + 1))
}

case $output in
  *.bcf | *.vcf.gz) bcftools concat --naive -o "$whole" "$@" ;;
  *.tsv.gz | *.bedgraph.gz)
    {
      blocks "$1"
      for part in "${@:2}"; do
        lines "$part"
      done
      bgzip -c < /dev/null
    } > "$whole"
    ;;
  *) fail "$output: expected a name that ends in .tsv.gz, .bedgraph.gz, .bcf or .vcf.gz" ;;
esac
mv -f "$whole" "$output"
