# Rules for the commands of carbon, to be taken into a workflow:
#
#   module carbon:
#       snakefile: "carbon.smk"
#       config: config
#
#   use rule vep from carbon as annotate with:
#       input: variants="calls/{sample}.bcf", fasta="GRCh38.fa"
#       output: "annotated/{sample}.bcf"
#
# From the configuration, all optional: model (a directory or name), device, threads, gpu (cards a job asks for, for the
# executor to see; carbon is told by `device`). Further options of a command are params.extra; a rule that replaces
# params gives that, too. The format of an output follows from its name, as on the command line.

import shlex


# Part of the shell commands, not of params: a rule that replaces params keeps it.
def machine():
    words = [f"{flag} {shlex.quote(str(config[key]))}" for flag, key in (("-m", "model"), ("--device", "device")) if key in config]
    return " ".join(words).replace("{", "{{").replace("}", "}}")


# A job that was killed leaves OUTPUT.partial, which Snakemake does not know and so does not remove: the next attempt
# goes on from there. It is refused if the options have changed since; remove it then.
rule vep:
    input:
        variants="{name}.vcf.gz",
        fasta="reference.fa",
    output:
        "{name}.carbon.vcf.gz",
    params:
        extra="",
    log:
        "logs/carbon_vep/{name}.log",
    threads: config.get("threads", 1)
    resources:
        gpu=config.get("gpu", 0),
    shell:
        "carbon vep " + machine() + " -@ {threads} -f {input.fasta:q} --resume {params.extra}"
        " -o {output:q} {input.variants:q} 2> {log:q}"


# A share of a scan: params.extra="--shard 3/20". Further outputs are those that params.extra names.
rule scan:
    input:
        "{name}.fa",
    output:
        "{name}.scan.tsv.gz",
    params:
        extra="",
    log:
        "logs/carbon_scan/{name}.log",
    threads: config.get("threads", 1)
    resources:
        gpu=config.get("gpu", 0),
    shell:
        "carbon scan " + machine() + " -@ {threads} -f {input:q} --resume {params.extra} -o {output[0]:q} 2> {log:q}"


# The parts in the order of their shares. They have the same format as the output.
rule join_scan:
    input:
        expand("{{name}}.scan.parts/{part}.tsv.gz", part=range(1, int(config.get("shards", 10)) + 1)),
    output:
        "{name}.scan.tsv.gz",
    params:
        script=workflow.source_path("../join-scan.sh"),
    log:
        "logs/carbon_join_scan/{name}.log",
    shell:
        "bash {params.script:q} {output:q} {input:q} 2> {log:q}"


rule score:
    input:
        "{name}.fa",
    output:
        "{name}.scores.tsv",
    params:
        extra="",
    log:
        "logs/carbon_score/{name}.log",
    threads: config.get("threads", 1)
    resources:
        gpu=config.get("gpu", 0),
    shell:
        "carbon score " + machine() + " -@ {threads} {params.extra} -o {output:q} {input:q} 2> {log:q}"


# params.length: how many new bases.
rule generate:
    input:
        "{name}.fa",
    output:
        "{name}.generated.fa",
    params:
        length=600,
        extra="",
    log:
        "logs/carbon_generate/{name}.log",
    threads: config.get("threads", 1)
    resources:
        gpu=config.get("gpu", 0),
    shell:
        "carbon generate " + machine() + " -@ {threads} -l {params.length} {params.extra}"
        " -o {output:q} {input:q} 2> {log:q}"


# The second output is named by carbon: that of the matrix with .names.tsv for .npy or .safetensors. Beside .npy, and beside the
# FASTA of generate, there is also a .json, which says what made it.
rule embed:
    input:
        "{name}.fa",
    output:
        matrix="{name}.npy",
        names="{name}.names.tsv",
    params:
        extra="",
    log:
        "logs/carbon_embed/{name}.log",
    threads: config.get("threads", 1)
    resources:
        gpu=config.get("gpu", 0),
    shell:
        "carbon embed " + machine() + " -@ {threads} {params.extra} -o {output.matrix:q} {input:q} 2> {log:q}"
