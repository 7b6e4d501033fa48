"""workflows/snakemake/wrappers: the wrapper under Snakemake, by the Snakefile of its test, writes what carbon writes."""
# Left out while unchanged: parts

import os
import re

from harness import Skip, case, decompress, expect, expect_equal, fresh, main, ok, read, write
from workflow_support import RULES, VEP, checkpoint, each_snakemake, environment, expect_same_file, study

WRAPPER = os.path.join(RULES, "wrappers", "carbon", "vep")
SNAKEFILE = os.path.join(WRAPPER, "test", "Snakefile")


def place():
    directory = fresh()
    study(directory, count=30)
    os.rename(os.path.join(directory, "ref.fa"), os.path.join(directory, "genome.fa"))
    os.symlink(checkpoint(), os.path.join(directory, "a model"))
    return directory


def wanted(directory, *args, model=None):
    return ok("vep", "-q", "-m", model or checkpoint(), "-f", os.path.join(directory, "genome.fa"), *VEP, *args,
              os.path.join(directory, "cohort.vcf")).out


def settings(*more):
    return ["--config", "extra=" + " ".join(VEP), *more]


@each_snakemake
def a_file_with_its_index(snakemake):
    """The model is an input with a blank in its name."""
    d = place()
    snakemake(d, "-s", SNAKEFILE, "annotated/cohort.bcf", *settings("model=a model"), env=environment(CARBON_MODEL="/nowhere"))
    expect_same_file(os.path.join(d, "annotated", "cohort.bcf"), wanted(d, model=os.path.join(d, "a model")).decode(), "records")
    expect(os.path.exists(os.path.join(d, "annotated", "cohort.bcf.csi")), "no index")
    expect_equal(os.listdir(os.path.join(d, "logs", "carbon_vep")), ["cohort.log"], "logs")


@each_snakemake
def a_table(snakemake):
    """The model is a parameter, or none is given; then carbon's own rules choose it."""
    for given, env in (("model=" + checkpoint(), environment(CARBON_MODEL="/nowhere")), (None, environment())):
        d = place()
        snakemake(d, "-s", SNAKEFILE, "annotated/cohort.tsv.gz", *settings(*[given] if given else []), env=env)
        expect_equal(decompress(read(os.path.join(d, "annotated", "cohort.tsv.gz"))), wanted(d, "-O", "t"), "the table")


@each_snakemake
def an_error_fails_the_job(snakemake):
    """Its message is in the log, and no output is left."""
    d = place()
    write(d, "genome.fa", ">other\nACGT\n")
    snakemake(d, "-s", SNAKEFILE, "annotated/cohort.tsv.gz", *settings(), rc=1)
    expect(b"[E::" in read(os.path.join(d, "logs", "carbon_vep_table", "cohort.log")), "no message in the log")
    expect(not os.path.exists(os.path.join(d, "annotated", "cohort.tsv.gz")), "an output after a failure")


@each_snakemake
def a_job_that_was_killed_continues(snakemake):
    d = fresh()
    study(d)
    os.rename(os.path.join(d, "ref.fa"), os.path.join(d, "genome.fa"))
    once = environment(ONCE=os.path.join(d, "stopped"), SIGNAL="KILL")
    run = ["-s", SNAKEFILE, "annotated/cohort.tsv.gz", *settings()]
    snakemake(d, *run, env=once, rc=1)
    expect(os.path.exists(os.path.join(d, "annotated", "cohort.tsv.gz.partial")), "no scores were left behind")
    snakemake(d, *run, env=once)
    expect(b"continuing: " in read(os.path.join(d, "logs", "carbon_vep_table", "cohort.log")), "did not continue")
    expect_equal(decompress(read(os.path.join(d, "annotated", "cohort.tsv.gz"))), wanted(d, "-O", "t"), "the table")


@each_snakemake
def its_snakefile_passes_the_linter(snakemake):
    """As the repository of wrappers asks."""
    snakemake(place(), "-s", SNAKEFILE, "--lint")


@case
def the_description_is_complete():
    """The fields that the repository of wrappers documents, and every input and parameter that wrapper.py reads."""
    try:
        import yaml
    except ImportError:
        raise Skip("no python3-yaml") from None
    described = yaml.safe_load(read(os.path.join(WRAPPER, "meta.yaml")).decode())
    expect_equal(sorted(described), sorted(["name", "description", "url", "authors", "input", "output", "params", "notes"]), "fields")
    text = read(os.path.join(WRAPPER, "wrapper.py")).decode()
    for kind in ("input", "params"):
        used = set(re.findall(r"snakemake\.%s\.(?:get\(\")?(\w+)" % kind, text)) - {"get"}
        expect_equal(sorted(described[kind]), sorted(used), "names in meta.yaml, " + kind)
    needs = yaml.safe_load(read(os.path.join(WRAPPER, "environment.yaml")).decode())
    expect_equal(needs["channels"], ["conda-forge", "bioconda", "nodefaults"], "channels")
    version = read(os.path.join(os.path.dirname(os.path.dirname(RULES)), "VERSION")).decode().strip()
    expect_equal(needs["dependencies"], ["carbon =" + version], "dependencies")


if __name__ == "__main__":
    main()
