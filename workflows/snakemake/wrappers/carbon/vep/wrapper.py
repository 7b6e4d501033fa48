"""Snakemake wrapper for carbon vep: adds variant-effect scores to a VCF or BCF."""

__author__ = "The carbon developers"
__copyright__ = "Copyright 2026, the carbon developers"
__license__ = "Apache-2.0"

import shlex

from snakemake.shell import shell

log = snakemake.log_fmt_shell(stdout=False, stderr=True)
extra = snakemake.params.get("extra", "")

# A model is a directory among the inputs or, for one that carbon finds by itself, a name among the params.
words = []
model = snakemake.input.get("model") or snakemake.params.get("model")
if model:
    words.append(f"-m {shlex.quote(str(model))}")
if device := snakemake.params.get("device"):
    words.append(f"--device {shlex.quote(str(device))}")
options = " ".join(words)

# A job that was killed leaves OUTPUT.partial, and --resume lets the next attempt continue from there.
shell(
    "carbon vep {options} -@ {snakemake.threads} -f {snakemake.input.fasta:q} --resume {extra}"
    " -o {snakemake.output[0]:q} {snakemake.input.variants:q} {log}"
)
