#!/usr/bin/env bash
# smoke.sh [PROGRAM]: a few seconds of tests that a built or installed carbon (default: the one on PATH) is whole: it starts, finds
# its model and its plugins, computes, and gives the same bytes whatever the threads. Needs nothing but the program. Run
# when a package is built, and on the machine where it was installed.
set -euo pipefail

carbon=${1:-carbon}
fail() { echo "smoke.sh: $*" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Neither the user's models nor the user's plugins.
export CARBON_MODEL='' CARBON_MODEL_PATH='' CARBON_PLUGINS='' XDG_CACHE_HOME=$work/cache XDG_DATA_HOME=$work/data

version=$("$carbon" --version | head -n 1)
[[ $version =~ ^carbon\ [0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "$carbon --version begins with: $version"
if [[ -f $(dirname "$0")/../VERSION ]]; then
  [[ $version == "carbon $(< "$(dirname "$0")/../VERSION")" ]] || fail "$version is not that of the sources"
fi

bases=ACGTTGCAGGATCCATTGACCAGTAACGGTCATTGCAGCCATGGATCGATTACAGGCATTCGAACTGTCAGGTACCATGCAAGT
printf '>c1\n%s\n' "$bases" > "$work/ref.fa"
printf '##fileformat=VCFv4.2\n##contig=<ID=c1,length=84>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n' > "$work/in.vcf"
printf 'c1\t40\t.\t%s\tT\t.\t.\t.\nc1\t50\t.\t%s\t%sA\t.\t.\t.\n' "${bases:39:1}" "${bases:49:1}" "${bases:49:1}" >> "$work/in.vcf"

for threads in 1 2; do
  "$carbon" score -q -@ $threads --no-version "$work/ref.fa" > "$work/score.$threads" || fail "carbon score fails"
  "$carbon" vep -q -@ $threads -w 48 --no-version -f "$work/ref.fa" -o "$work/out.$threads.vcf" "$work/in.vcf" \
    2> "$work/log" || fail "carbon vep fails: $(< "$work/log")"
done
if ! { cmp "$work/score.1" "$work/score.2" && cmp "$work/out.1.vcf" "$work/out.2.vcf"; }; then
  fail "a score depends on the number of threads"
fi
grep -qE $'^c1\t0\t84\t' "$work/score.1" || fail "carbon score wrote: $(tail -n 1 "$work/score.1")"
[[ $(grep -cE 'CARBON_LLR=-?[0-9]+(\.[0-9]+)?(e-?[0-9]+)?' "$work/out.1.vcf") -eq 2 ]] || fail "carbon vep wrote no scores"

# What cannot be read is an error without output.
if "$carbon" vep -q -f "$work/ref.fa" -o "$work/none.vcf" "$work/absent.vcf" 2> "$work/error"; then
  fail "carbon vep succeeds without its input"
fi
[[ ! -e $work/none.vcf && $(wc -l < "$work/error") -eq 1 ]] || fail "an error left an output, or more than a line: $(< "$work/error")"

"$carbon" plugin -l > "$work/plugins"
sed -nE 's/^    (\+[^ ]+) .*/\1/p' "$work/plugins" | while read -r plugin; do
  "$carbon" "$plugin" -- --help > "$work/help" < /dev/null || fail "carbon $plugin does not run"
done
grep -q '^    +auroc ' "$work/plugins" || fail "carbon plugin -l lists: $(< "$work/plugins")"
"$carbon" completion bash > "$work/completion"
bash -n "$work/completion" || fail "the completion is not a script"
echo "$version works: score, vep, $(grep -c '^    +' "$work/plugins") plugins"
