"""workflows/snakemake under Snakemake: parts put together are one run's records, also when jobs were killed on the way."""
# Left out while unchanged: parts

import os

from harness import Skip, case, command, decompress, expect, expect_equal, fresh, main, ok, read, records, tool, write
from workflow_support import (RULES, SCAN, VEP, another_snakemake, each_snakemake, environment, expect_same_file, genome_to_scan,
                              one_run, one_scan, printed, study)

case(another_snakemake)


def counts(path):
    """What a histogram says, whose lines may come several times."""
    found = {}
    for line in records(read(path).decode()):
        key, count = line.rsplit("\t", 1)
        found[key] = found.get(key, 0) + int(count)
    expect(found, path + " is empty")
    return found


@each_snakemake
def misspelt_settings_are_refused(snakemake):
    d = fresh()
    study(d)
    for rules, given, wrong in (("Snakefile", ("variants=cohort.bcf", "fasta=ref.fa", "output=out.bcf"), "shard=2"),
                                ("scan.Snakefile", ("fasta=ref.fa", "outputs=x.bcf"), "histograms=true")):
        result = snakemake(d, "-n", "-s", os.path.join(RULES, rules), "--config", *given, wrong, rc=1)
        expect("'%s', which is no setting" % wrong.split("=")[0] in result.err + result.text, "no word of it", result)


@each_snakemake
def jobs_that_are_killed_and_started_again(snakemake):
    d = fresh()
    study(d)
    wanted = one_run(d)
    for number in ("KILL", "TERM"):
        env = environment(ONCE=os.path.join(d, "stopped-" + number), SIGNAL=number)
        snakemake.annotate(d, "shards=2", "index=true", env=env, rc=1)
        expect(not os.path.exists(os.path.join(d, "out.bcf")), "an output after a failure")
    left = [name for name in os.listdir(os.path.join(d, "out.bcf.parts")) if name.endswith(".partial") and name[0] != "."]
    expect(left, "no scores were left behind")
    snakemake.annotate(d, "shards=2", "index=true", env=env)
    logs = "".join(read(os.path.join(d, "out.bcf.parts", name.split(".")[0] + ".log")).decode() for name in left)
    expect_equal(logs.count("continuing: "), len(left), "jobs that went on from saved scores")
    expect_same_file(os.path.join(d, "out.bcf"), wanted, "parts of a file in two shares")
    expect(os.path.exists(os.path.join(d, "out.bcf.csi")), "no index")
    expect_equal(sorted(n for n in os.listdir(os.path.join(d, "out.bcf.parts")) if not n.endswith(".log")), [],
                 "parts left behind")


@each_snakemake
def regions_and_more_shares_than_records(snakemake):
    d = fresh()
    study(d, count=30)
    # A deletion that begins before 101 reaches into the second region and comes once.
    bases = read(os.path.join(d, "ref.fa")).decode().split("\n")[1]
    across = "c1\t99\t.\t%s\t%s\t.\t.\t.\n" % (bases[98:103], bases[98])
    lines = read(os.path.join(d, "cohort.vcf")).decode().splitlines(True)
    at = next(i for i, line in enumerate(lines) if line[0] != "#" and int(line.split("\t")[1]) > 99)
    path = write(d, "cohort.vcf", "".join(lines[:at] + [across] + lines[at:]))
    for args in (["bcftools", "view", "-Ob", "-o", "cohort.bcf", path], ["bcftools", "index", "-f", "cohort.bcf"]):
        expect_equal(command(args, cwd=d).rc, 0, " ".join(args))
    write(d, "regions.txt", "c1:1-100\nc1:101-\n\nc2\n")
    snakemake.annotate(d, "regions=regions.txt")
    expect_same_file(os.path.join(d, "out.bcf"), one_run(d), "a region a job")
    os.remove(os.path.join(d, "out.bcf"))
    snakemake.annotate(d, "shards=40", "output=out.vcf.gz")
    expect_same_file(os.path.join(d, "out.vcf.gz"), one_run(d), "more shares than records")


@each_snakemake
def jobs_of_a_scan_that_are_killed_and_started_again(snakemake):
    d = fresh()
    genome_to_scan(d)
    parts = os.path.join(d, "out.tsv.gz.parts")
    for number in ("KILL", "TERM"):
        env = environment(ONCE=os.path.join(d, "stopped-" + number), SIGNAL=number)
        snakemake.scan(d, "out.tsv.gz", "shards=2", env=env, rc=1)
        expect(not os.path.exists(os.path.join(d, "out.tsv.gz")), "an output after a failure")
    left = [name for name in os.listdir(parts) if name.endswith(".partial") and name[0] != "."]
    expect(left, "nothing was left behind to continue")
    snakemake.scan(d, "out.tsv.gz", "shards=2", "index=true", env=env)
    logs = "".join(read(os.path.join(parts, name.replace(".partial", ".log"))).decode() for name in left)
    expect_equal(logs.count("continuing: "), len(left), "jobs that went on from where they were")
    wanted = one_scan(d)
    expect_equal(decompress(read(os.path.join(d, "out.tsv.gz"))), wanted, "a table in two shares")
    lines = [line for line in records(wanted.decode()) if line.startswith("c7\t") and 300 <= int(line.split("\t")[1]) <= 310]
    expect_equal(tool("tabix", os.path.join(d, "out.tsv.gz"), "c7:300-310").lines(), lines, "lines of a region")
    # kill -9 leaves a hidden file of the histogram.
    expect_equal([name for name in os.listdir(parts) if not name.endswith(".log") and name[0] != "."], [], "parts left behind")


@each_snakemake
def all_outputs_of_a_scan(snakemake):
    d = fresh()
    genome_to_scan(d, contigs=3, length=200)
    snakemake.scan(d, "['a b.bcf','c.bedgraph.gz']", "shards=3", "index=true", "histogram=true")
    expect_equal(printed(os.path.join(d, "a b.bcf")), tool("bcftools", "view", "--no-version", "-", stdin=one_scan(d, "-O", "u")).text,
                 "BCF in three shares")
    expect_equal(decompress(read(os.path.join(d, "c.bedgraph.gz"))), one_scan(d, "-O", "bedgraph"), "bedGraph in three shares")
    expect_equal(sorted(name for name in os.listdir(d) if name.endswith(".csi")), ["a b.bcf.csi"], "indexes")
    one_scan(d, "--histogram", os.path.join(d, "one.hist"))
    for name in ("a b.bcf.hist", "c.bedgraph.gz.hist"):
        expect_equal(counts(os.path.join(d, name)), counts(os.path.join(d, "one.hist")), "histogram " + name)


@each_snakemake
def settings_that_are_missing_are_named(snakemake):
    d = fresh()
    for given, word in ((["fasta=x.fa"], "outputs"), (["fasta=x.fa", "outputs=x.tsv"], ".tsv.gz")):
        result = snakemake(d, "-s", os.path.join(RULES, "scan.Snakefile"), "--config", *given, rc=1)
        expect(word in result.err, "the message does not say %r" % word, result)
    for given, word in ((["variants=x.bcf", "fasta=x.fa"], "output"), (["variants=x", "fasta=x", "output=x.vcf"], ".vcf.gz")):
        result = snakemake(d, "-s", os.path.join(RULES, "Snakefile"), "--config", *given, rc=1)
        expect(word in result.err, "the message does not say %r" % word, result)


@each_snakemake
def rules_of_the_five_commands(snakemake):
    d = fresh()
    study(d, count=30)
    genome_to_scan(d, contigs=2, length=300)
    write(d, "Snakefile", '''
module carbon:
    snakefile: "%s/carbon.smk"
    config: config
use rule generate from carbon as *
use rule score from carbon as score with:
    params: extra="--no-version"
use rule vep from carbon as annotate with:
    input: variants="{name}.vcf", fasta="ref.fa"
    output: "{name} annotated.vcf"
    params: extra="%s"
use rule embed from carbon as embed with:
    params: extra="--pool mean"
use rule scan from carbon as share with:
    output: "{name} share{i}.tsv.gz"
    log: "{name} share{i}.log"
    params: extra=lambda wildcards: f"--shard {wildcards.i}/2 %s"
use rule join_scan from carbon as join with:
    input: "{name} share1.tsv.gz", "{name} share2.tsv.gz"
rule all:
    input: "cohort annotated.vcf", "ref.scores.tsv", "ref.generated.fa", "ref.npy", "ref.names.tsv", "genome.scan.tsv.gz"
    default_target: True
''' % (RULES, " ".join(VEP), " ".join(SCAN)))
    snakemake(d, "--config", "threads=2")
    ref = os.path.join(d, "ref.fa")
    m = environment()["CARBON_MODEL"]
    expect_equal(decompress(read(os.path.join(d, "genome.scan.tsv.gz"))), one_scan(d), "carbon scan")
    expect_equal(read(os.path.join(d, "cohort annotated.vcf")).decode(), one_run(d), "carbon vep")
    expect_equal(read(os.path.join(d, "ref.scores.tsv")), ok("score", "-m", m, ref).out, "carbon score")
    expect_equal(read(os.path.join(d, "ref.generated.fa")), ok("generate", "-m", m, "-l", 600, ref).out, "carbon generate")
    ok("embed", "-m", m, "--pool", "mean", "-o", os.path.join(d, "other.npy"), ref)
    for name in ("npy", "names.tsv"):
        expect_equal(read(os.path.join(d, "ref." + name)), read(os.path.join(d, "other." + name)), "carbon embed, " + name)


def taken(*modules):
    """A workflow that takes others of workflows/snakemake as modules, given by name, file and settings, and runs them all."""
    text = ""
    for name, file, settings in modules:
        text += 'module %s:\n    snakefile: "%s"\n    config: %r\nuse rule * from %s as %s_*\n' % (
            name, os.path.join(RULES, file), settings, name, name)
    # A rule with the wildcards of scan.Snakefile, which mean something else here.
    text += 'rule mine:\n    output: "{output}.mine.{suffix}.{part}"\n    shell: "touch {output:q}"\n'
    inputs = ["rules.%s_all.input" % name for name, _, _ in modules] + ['"any.mine.txt.x"']
    return text + "rule everything:\n    input: %s\n    default_target: True\n" % ", ".join(inputs)


def expect_scan(directory, name, fasta, *args):
    expect_equal(decompress(read(os.path.join(directory, name))), one_scan(directory, *args, fasta=fasta), name)


@each_snakemake
def workflows_as_modules_of_another(snakemake):
    d = fresh()
    study(d, count=30)
    genome_to_scan(d, contigs=2, length=300)
    write(d, "Snakefile", taken(
        ("scanned", "scan.Snakefile", {"fasta": "genome.fa", "outputs": ["sub/a.tsv.gz", "b.bedgraph.gz"], "shards": 2,
                                       "index": True, "histogram": True, "extra": " ".join(SCAN)}),
        ("annotated", "Snakefile", {"variants": "cohort.bcf", "fasta": "ref.fa", "output": "out.bcf", "shards": 2,
                                    "index": True, "extra": " ".join(VEP)})))
    snakemake(d)
    expect_scan(d, "sub/a.tsv.gz", "genome.fa")
    expect_scan(d, "b.bedgraph.gz", "genome.fa", "-O", "bedgraph")
    expect_same_file(os.path.join(d, "out.bcf"), one_run(d), "a module that annotates")
    for name in ("sub/a.tsv.gz.csi", "sub/a.tsv.gz.hist", "b.bedgraph.gz.hist", "out.bcf.csi", "any.mine.txt.x"):
        expect(os.path.exists(os.path.join(d, name)), "no " + name)


@each_snakemake
def one_workflow_as_two_modules(snakemake):
    version = tuple(map(int, snakemake.version().split(".")[:2]))
    if version < (7, 32):
        raise Skip("Snakemake %d.%d gives the rules of two such modules the same names" % version)
    d = fresh()
    study(d, count=30)
    genome_to_scan(d, contigs=2, length=300)
    common = {"shards": 2, "index": True, "histogram": True, "extra": " ".join(SCAN)}
    write(d, "Snakefile", taken(
        ("first", "scan.Snakefile", {"fasta": "genome.fa", "outputs": ["a.tsv.gz"], **common}),
        ("second", "scan.Snakefile", {"fasta": "ref.fa", "outputs": ["c.tsv.gz"], **common})))
    snakemake(d)
    expect_scan(d, "a.tsv.gz", "genome.fa")
    expect_scan(d, "c.tsv.gz", "ref.fa")


if __name__ == "__main__":
    main()
