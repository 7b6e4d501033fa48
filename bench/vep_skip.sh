#!/usr/bin/env bash
# Speed and memory of `carbon vep` where nothing is computed: a VCF of which 1 % lies on a contig of the FASTA, at
# 100,000 and 1,000,000 records. Prints the best of RUNS (default 3) for each; the skipped records' share of the time is
# what a file of the other 1 % alone does not take. Memory must not grow with the number of records.
# From the environment: BUILD (default build, with carbon and make_checkpoint), RUNS. Arguments are options of carbon
# vep, e.g. -O t. Needs GNU time.
set -euo pipefail
cd "$(dirname "$0")/.."

build=$(realpath "${BUILD:-build}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$build/make_checkpoint" --vocab 4224 --dna-start 0 --hidden 16 --layers 1 --heads 1 --kv-heads 1 --head-dim 16 \
  --intermediate 32 --max-positions 64 --dtype bf16 "$work/model"
awk 'BEGIN { srand(1); print ">c1"; for (i = 0; i < 1000; ++i) { line = ""; for (j = 0; j < 60; ++j)
  line = line substr("ACGT", 1 + int(4 * rand()), 1); print line } }' > "$work/ref.fa"

# vcf RECORDS SKIPPED: the first RECORDS - SKIPPED are SNVs of c1, the others lie on a contig that the FASTA lacks.
vcf() {
  awk -v records="$1" -v skipped="$2" 'NR > 1 { bases = bases $0 } END {
    print "##fileformat=VCFv4.2\n##contig=<ID=c1>\n##contig=<ID=absent>\n##INFO=<ID=DP,Number=1,Type=Integer,Description=\"Depth\">"
    print "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO"
    for (i = 1; i <= records - skipped; ++i) {
      ref = substr(bases, i, 1)
      print "c1\t" i "\trs" i "\t" ref "\t" (ref == "A" ? "C" : "A") "\t30\tPASS\tDP=" i % 90
    }
    for (i = 1; i <= skipped; ++i) print "absent\t" i "\trs" i "\tG\tT\t30\tPASS\tDP=" i % 90
  }' "$work/ref.fa" > "$work/in.vcf"
}

# run [OPTION...]: sets seconds (the least) and kilobytes (the most) of RUNS runs on $work/in.vcf.
run() {
  local i
  : > "$work/times"
  for ((i = 0; i < ${RUNS:-3}; ++i)); do
    /usr/bin/time -a -o "$work/times" -f '%e %M' "$build/carbon" vep -m "$work/model" -f "$work/ref.fa" -w 12 -v 0 \
      -@ 1 "$@" -o "$work/out.vcf" "$work/in.vcf"
  done
  read -r seconds kilobytes < <(awk 'NR == 1 || $1 < s { s = $1 } $2 > k { k = $2 } END { print s, k }' "$work/times")
}

for records in 100000 1000000; do
  skipped=$((records / 100 * 99))
  vcf $((records - skipped)) 0
  run "$@"
  alone=$seconds
  vcf "$records" "$skipped"
  run "$@"
  awk -v n="$records" -v k="$skipped" -v s="$seconds" -v a="$alone" -v kb="$kilobytes" 'BEGIN {
    printf "%d records: %.2f s, %.2f s without the %d skipped: %.0f skipped records/s; peak memory %.1f MiB\n",
      n, s, a, k, k / (s > a ? s - a : 0.01), kb / 1024 }'
done
