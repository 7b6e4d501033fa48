"""`carbon vep` against the makers' evaluation of variants with transformers (vep_eval.json, made by make_vep_eval_goldens.py).

CARBON_LLR divided by the bases of the window, and CARBON_LLR_TOKEN divided by its whole 6-mers, are the makers' delta, forward and on
both strands. f32: the sum over a window within 2e-3 nats of double precision. bf16: at most twice the error of the makers' bfloat16.
Environment: CARBON, CARBON_MAKE_CHECKPOINT. Prints the errors seen and `N passed, N failed, N skipped`.
"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(__file__))
import cases  # noqa: E402
import vep_eval_cases  # noqa: E402

CARBON = os.environ.get("CARBON", "build/carbon")
MAKE_CHECKPOINT = os.environ.get("CARBON_MAKE_CHECKPOINT", "build/make_checkpoint")
F32_WINDOW = 2e-3
BF16_FACTOR = 2
# The columns of vep_eval.json: strand, tag and what the sum is divided by.
COLUMNS = [("+", "CARBON_LLR_TOKEN", vep_eval_cases.WINDOW // 6), ("+", "CARBON_LLR", vep_eval_cases.WINDOW),
           ("both", "CARBON_LLR_TOKEN", vep_eval_cases.WINDOW // 6), ("both", "CARBON_LLR", vep_eval_cases.WINDOW)]


def scores(model, fasta, vcf, dtype, strand):
    """[{tag: value}]. The cache saves the run of both strands the forward one."""
    out = subprocess.run([CARBON, "vep", "-q", "-@", "1", "-m", model, "--dtype", dtype, "-f", fasta, "--level", "bp,token", "--strand", strand,
                          "-w", str(vep_eval_cases.WINDOW), "--cache", vcf + ".cache", vcf], check=True, stdout=subprocess.PIPE).stdout.decode()
    return [{k: float(v) for k, _, v in (field.partition("=") for field in line.split("\t")[7].split(";"))}
            for line in out.splitlines() if not line.startswith("#")]


def main():
    with open(os.path.join(os.path.dirname(__file__), "vep_eval.json")) as text:
        deltas = json.load(text)["deltas"]
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        model, fasta, vcf = (os.path.join(folder, name) for name in ("model", "contig.fa", "in.vcf"))
        subprocess.run([MAKE_CHECKPOINT, *cases.checkpoint_args(vep_eval_cases.CHECKPOINT), model], check=True)
        with open(fasta, "w") as out:
            out.write(">c\n%s\n" % vep_eval_cases.contig())
        with open(vcf, "w") as out:
            out.write("##fileformat=VCFv4.3\n##contig=<ID=c>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n")
            for p, ref, alt in vep_eval_cases.variants():
                out.write("c\t%d\t.\t%s\t%s\t.\t.\t.\n" % (p + 1, ref, alt))
        for dtype in ("f32", "bf16"):
            found = {strand: scores(model, fasta, vcf, dtype, strand) for strand in ("+", "both")}
            for column, (strand, tag, count) in enumerate(COLUMNS):
                rows = found[strand]
                assert len(rows) == len(deltas["f64"]) == vep_eval_cases.COUNT, "%d records" % len(rows)
                error = max(abs(row[tag] / count - want[column]) for row, want in zip(rows, deltas["f64"]))
                theirs = max(abs(got[column] - want[column]) for got, want in zip(deltas["bf16"], deltas["f64"]))
                limit = F32_WINDOW / count if dtype == "f32" else BF16_FACTOR * theirs
                good = error <= limit
                passed, failed = passed + good, failed + (not good)
                print("%s %s %s %s: error %.2e, limit %.2e" % ("ok    " if good else "FAILED", tag, strand, dtype, error, limit))
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
