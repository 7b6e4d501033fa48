# Scans a genome in many jobs and puts the parts together: the lines or records of one run of carbon scan. scan.yaml lists
# the settings.
#
#   snakemake -s workflows/snakemake/scan.Snakefile --configfile my.yaml --cores 8
#
# After jobs were killed the same command goes on from what they had written (see carbon-scan(1), "Interrupted runs").

import re
import shlex

# A misspelt setting would be a default that nobody notices.
SETTINGS = {"fasta", "outputs", "model", "shards", "threads", "device", "gpu", "extra", "index", "histogram"}
if unknown := sorted(set(config) - SETTINGS):
    raise WorkflowError(f"the configuration has {unknown[0]!r}, which is no setting; workflows/snakemake/scan.yaml shows all")

# Defaults are put into the configuration before the rules read it.
for key, value in {"threads": 1, "gpu": 0, "extra": "", "shards": 10}.items():
    config.setdefault(key, value)
for key in ("fasta", "outputs"):
    if key not in config:
        raise WorkflowError(f"the configuration lacks '{key}'; workflows/snakemake/scan.yaml shows what it holds")


module carbon:
    snakefile:
        "carbon.smk"
    config:
        config


# By the end of a name: what carbon is told beside it, and what makes the index.
FORMATS = {
    "tsv.gz": ("", "tabix -f -C -s 1 -b 2 -e 2"),
    "bcf": ("", "bcftools index -f"),
    "vcf.gz": ("", "bcftools index -f"),
    "bedgraph.gz": ("-O bedgraph", None),
}
OUTPUTS = [config["outputs"]] if isinstance(config["outputs"], str) else config["outputs"]
SHARDS = int(config["shards"])


def suffix(output):
    found = next((suffix for suffix in FORMATS if output.endswith("." + suffix)), None)
    if found is None:
        raise WorkflowError(f"outputs: {output}: expected a name that ends in " + ", ".join("." + name for name in FORMATS))
    return found


def indexes():
    return [output + ".csi" for output in OUTPUTS if FORMATS[suffix(output)][1]]


def parts(ending):
    """Of all shares of the output that a job puts together."""
    return lambda wildcards: [f"{wildcards.output}.parts/{part}.{suffix(wildcards.output)}{ending}" for part in range(1, SHARDS + 1)]


def options(wildcards, output):
    return f"--shard {wildcards.part}/{SHARDS} --histogram {shlex.quote(output[1])} {FORMATS[wildcards.suffix][0]} {config['extra']}"


# What the names of files consist of. Each rule repeats it: what holds for a whole workflow is not applied by Snakemake 7.32 and
# newer to rules that are taken from a module, and would by older ones be applied to the rules of a workflow that takes these.
CONSTRAINTS = {
    "output": "|".join(map(re.escape, OUTPUTS)),
    "suffix": "|".join(map(re.escape, FORMATS)),
    "part": "[0-9]+",
}


rule all:
    input:
        OUTPUTS,
        indexes() if config.get("index") else [],
        [output + ".hist" for output in OUTPUTS] if config.get("histogram") else [],
    default_target: True


use rule scan from carbon as scan_part with:
    input:
        config["fasta"],
    output:
        temp("{output}.parts/{part}.{suffix}"),
        temp("{output}.parts/{part}.{suffix}.hist"),
    wildcard_constraints:
        **CONSTRAINTS,
    params:
        extra=options,
    log:
        "{output}.parts/{part}.{suffix}.log",


use rule join_scan from carbon as join with:
    input:
        parts(""),
    output:
        "{output}",
    wildcard_constraints:
        **CONSTRAINTS,
    log:
        "{output}.parts/join.log",


rule histogram:
    input:
        parts(".hist"),
    output:
        "{output}.hist",
    wildcard_constraints:
        **CONSTRAINTS,
    shell:
        "cat {input:q} > {output:q}"


rule index:
    input:
        "{output}",
    output:
        "{output}.csi",
    wildcard_constraints:
        **CONSTRAINTS,
    params:
        program=lambda wildcards: FORMATS[suffix(wildcards.output)][1],
    shell:
        "{params.program} {input:q}"
