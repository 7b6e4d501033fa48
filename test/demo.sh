#!/usr/bin/env bash
# demo.sh [REPORT]: from reads to scored variants. Calls variants on the example reads that come with samtools (two pieces of
# the human genome, one person), pipes them through carbon vep with the bundled model, prints the scores and writes them as an
# HTML report into the file REPORT (`make demo`: build/demo.html; by default a new file in the folder of temporary files). That
# is the only file that it leaves.
# In a source tree it runs the program that was built there; a copy of it elsewhere runs the installed one.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
examples=/usr/share/doc/samtools/examples
fail() { echo "demo: $*" >&2; exit 1; }

if [[ -f $top/Makefile ]]; then
  carbon=$top/carbon
  model=$top/models/carbon-tiny
  [[ -x $carbon ]] || fail "no $carbon; run make first"
else
  carbon=$(command -v carbon) || fail "carbon is not installed"
  model="carbon-tiny"
fi
for program in samtools bcftools; do
  command -v $program > /dev/null || fail "$program is not installed (Debian package $program)"
done
for file in ex1.fa ex1.sam.gz; do
  [[ -r $examples/$file ]] && continue
  fail "no $examples/$file. If samtools is installed, this system keeps no files in /usr/share/doc (container
images often do not: see 'path-exclude' in /etc/dpkg/dpkg.cfg.d). Remove that line and run
apt-get install --reinstall samtools"
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp $examples/ex1.fa "$work"
samtools faidx "$work/ex1.fa"

echo "Calling variants on $examples/ex1.sam.gz and scoring them:"
# The model is the bundled one, whatever CARBON_MODEL says.
samtools view -u -t "$work/ex1.fa.fai" $examples/ex1.sam.gz |
  samtools addreplacerg -u -r 'ID:NA18507\tSM:NA18507' - |
  bcftools mpileup -Ou -f "$work/ex1.fa" - 2> "$work/mpileup.log" |
  bcftools call -mv -Ou --ploidy 2 |
  "$carbon" vep -q -m "$model" -f "$work/ex1.fa" -o "$work/scored.vcf.gz" - ||
  { cat "$work/mpileup.log" >&2; fail "a step of the pipeline failed"; }

report=${1:-$(mktemp --tmpdir carbon-demo-XXXXXX.html)}
"$carbon" report -q --title "Variants of samtools' example reads" -o "$report" "$work/scored.vcf.gz" ||
  fail "carbon report failed"

records=$(bcftools view -H "$work/scored.vcf.gz" | wc -l)
[[ $records -gt 0 ]] || fail "no variants were called"
echo
{
  printf 'CHROM\tPOS\tREF\tALT\tQUAL\tGT\tCARBON_LLR\n'
  bcftools query -f '%CHROM\t%POS\t%REF\t%ALT\t%QUAL[\t%GT]\t%CARBON_LLR\n' "$work/scored.vcf.gz" | sed -n 1,10p
} | awk -F '\t' '{ printf "%-6s %6s  %-8s %-12s %9s  %-4s %s\n", $1, $2, $3, $4, $5, $6, $7 }'
echo
echo "$records records. CARBON_LLR: log-likelihood of the sequence around the variant, alternative minus reference, in"
echo "nats; negative = the model finds the alternative less likely. The bundled model is a demonstration, trained"
echo "on a few genomes and too small to judge variants. carbon(1), MODELS, says how to use a released one."
echo
echo "The scores as an HTML report, for a browser: $report"
