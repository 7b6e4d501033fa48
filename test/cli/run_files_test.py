"""The files of a run: no command and no plugin replaces one of its inputs, or one of its outputs by another, whatever they are called;
and what comes from a pipe is read as a file is.

test/unit/run_files_test.cpp tests the register that this rests on. Here every command and plugin has its turn.
"""

import contextlib
import os
import random
import subprocess

from harness import (CARBON, ENV, MAKE_CHECKPOINT, SIZES, bgzip, carbon, case, command, expect, expect_equal, expect_failure, fresh, main,
                     ok, read, to_fasta, tool, write)
from serve_support import Server

GENOME = {"c1": "ACGTTGCAACGGTCATTACGGACTTGCACCATGAAATTTGGCA" * 12, "c2": "GGCATTACGATCCATGGTACCTTAGACCATTGA" * 9}
HEAD = "##fileformat=VCFv4.2\n" + "".join("##contig=<ID=%s,length=%d>\n" % (name, len(bases)) for name, bases in GENOME.items())
COLUMNS = "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO"
TAGS = '##INFO=<ID=CLASS,Number=1,Type=String,Description="class">\n##INFO=<ID=CARBON_LLR,Number=A,Type=Float,Description="x">\n' \
       '##INFO=<ID=CARBON_NT,Number=A,Type=Float,Description="x">\n'


def variants(end=lambda i: "."):
    """Three SNVs of c1; `end` gives INFO, and what follows it, for each."""
    lines = []
    for i, position in enumerate((60, 121, 250)):
        base = GENOME["c1"][position - 1]
        lines.append("c1\t%d\t.\t%s\t%s\t.\t.\t%s\n" % (position, base, "A" if base != "A" else "C", end(i)))
    return "".join(lines)


SCORED = HEAD + TAGS + COLUMNS + "\n" + variants(lambda i: "CLASS=%s;CARBON_LLR=%d;CARBON_NT=%d" % (("good", "bad", "good")[i], i - 2, 2 * i - 5))
PHASED = HEAD + '##FORMAT=<ID=GT,Number=1,Type=String,Description="genotype">\n' + COLUMNS + "\tFORMAT\tS1\n" + variants(lambda i: ".\tGT\t0|1")


def workplace():
    """A folder with an input of every kind."""
    d = fresh()
    write(d, "ref.fa", to_fasta(list(GENOME.items())))
    write(d, "cds.fa", to_fasta([("g%d" % i, "ATG" + "GCCAAGGACCTTGAA" * (20 + i) + "TAA") for i in range(3)]))
    write(d, "in.vcf", HEAD + COLUMNS + "\n" + variants())
    write(d, "scored.vcf", SCORED)
    write(d, "other.vcf", SCORED)
    write(d, "phased.vcf", PHASED)
    write(d, "samples.txt", "S1\n")
    write(d, "places.txt", "c1\t1\t400\n")
    write(d, "genes.bed", "c1\t50\t130\tfirst\n")
    write(d, "genes.gff3", "##gff-version 3\nc1\tx\tgene\t50\t130\t.\t+\t.\tID=g1\nc1\tx\texon\t50\t130\t.\t+\t.\tParent=g1\n")
    write(d, "coding.gff3", "##gff-version 3\nc1\tx\tCDS\t50\t130\t.\t+\t0\tID=c1;Parent=t1\n")
    write(d, "names.map", "c1 c1\n")
    write(d, "ids.jsonl", '"<dna>ACGTAC</dna>"\n')
    write(d, "allowed.fa", ">all\nNNNNNN\n")
    write(d, "keys.txt", "secret\n")
    write(d, "h.hist", "##carbon_scanModel=<ID=x>\n#TRI\tALT\tBIN\tCOUNT\nAAA\tC\t0\t1\n")
    made = command([MAKE_CHECKPOINT, *["--%s=%s" % item for item in SIZES.items()], os.path.join(d, "model")])
    expect(made.rc == 0, "make_checkpoint failed", made)
    return d


# For each command and plugin its inputs, as options or alone, and its options that name outputs. Words after -- are those of a plugin.
MODEL = "-m model"
RUNS = {
    "vep": (MODEL + " -w 96 -f {ref.fa} -T {places.txt} --chr-map {names.map} {in.vcf}", "-o --histogram --embeddings --cache"),
    "scan": (MODEL + " -f {ref.fa} -T {places.txt}", "-o --histogram"),
    "score": (MODEL + " -R {places.txt} {ref.fa}", "-o"),
    "embed": (MODEL + " -R {places.txt} {ref.fa}", "-o"),
    "predict": (MODEL + " -R {places.txt} {ref.fa}", "-o"),
    "annotate": ("--from-tracks t {ref.fa}", "-o --proteins --cds"),
    "generate": (MODEL + " -l 6 --constraint-file {allowed.fa} {ref.fa}", "-o"),
    "serve": (MODEL + " -f {ref.fa} --api-key {keys.txt}", "--port-file"),
    "mcp": (MODEL + " -f {ref.fa}", ""),
    "tokenize": ("{ids.jsonl}", "-o"),
    "report": ("--genes {genes.gff3} {scored.vcf}", "-o"),
    "bench": ("-m {model/config.json}", "-o"),
    "models": ("", ""),
    "plugin": ("", ""),
    "+auroc": ("-T {places.txt} {scored.vcf} -- --score CARBON_LLR --label CLASS=bad/good --bootstrap 0", "-o --json --thresholds"),
    "+combine": ("-T {places.txt} {scored.vcf} -- --scores CARBON_LLR", "-o"),
    "+concord": ("-T {places.txt} {scored.vcf} {other.vcf} -- --tags CARBON_LLR --bootstrap 0", "-o --json"),
    "+gene-summary": ("{scored.vcf} -- -R {genes.bed} --tag CARBON_LLR", "-o --json"),
    "+genes": ("{coding.gff3} -- --truth {genes.gff3}", "-o --json"),
    "+haplotypes": ("{phased.vcf} -- -f {ref.fa} --samples {samples.txt}", "-o"),
    "+mutagenesis": (MODEL + " -- -f {ref.fa} --window 96 -R {places.txt}", "-o --matrix"),
    "+rank": ("{scored.vcf} -- --background {h.hist}", "-o"),
    "+recovery": (MODEL + " {ref.fa}", "-o --details --json"),
    "+perturb": (MODEL + " {cds.fa}", "-o --write-pairs --details --json"),
    "+niah": (MODEL + " {ref.fa} -- --context 96 --rows 2", "-o --write-data --details --json"),
}


def words(line):
    """The words of a run without its command, and the names of its inputs."""
    found = line.split()
    inputs = [word[1:-1] for word in found if word.startswith("{")]
    return [word[1:-1] if word.startswith("{") else word for word in found], inputs


def with_output(line, option, path):
    """The words with an option for an output, where it belongs."""
    if option.startswith("-o") or not line or line[0][:1] != "+":
        return line[:1] + [option, path] + line[1:]
    return line + ([] if "--" in line else ["--"]) + [option, path]


def another_name(directory, name, draw):
    """Another name of the file, relative to the directory or absolute, or the same in other letters, which is another file."""
    base, kind = os.path.basename(name), draw.randrange(7)
    path = name
    if kind == 0:
        path = "soft-%d-%s" % (draw.randrange(10**9), base)
        os.symlink(os.path.join(directory, name), os.path.join(directory, path))
    elif kind == 1:
        path = "hard-%d-%s" % (draw.randrange(10**9), base)
        os.link(os.path.join(directory, name), os.path.join(directory, path))
    elif kind == 2:
        folder = "link-%d" % draw.randrange(10**9)
        os.symlink(os.path.dirname(os.path.join(directory, name)), os.path.join(directory, folder))
        path = os.path.join(folder, base)
    elif kind == 3:
        path = "./" + name
    elif kind == 4:
        path = "model/..//" + name
    elif kind == 5:
        path = os.path.join(os.path.dirname(name), base.swapcase())
    return os.path.join(directory, path) if draw.random() < 0.5 else path


def contents(directory):
    """The bytes of every input."""
    names = sorted({name for line, _ in RUNS.values() for name in words(line)[1]})
    return {name: read(os.path.join(directory, name)) for name in names}


@case
def every_command_and_plugin_is_here():
    commands = [line.split()[0] for line in ok("--help").lines() if line.startswith("    ") and line[4:5].isalpha()]
    plugins = [line.split()[0] for line in ok("plugin", "-l").lines() if line.startswith("    +")]
    expect_equal(sorted(RUNS), sorted(commands + plugins), "commands and plugins")


@case
def no_input_is_replaced_in_two_hundred_runs():
    draw = random.Random(71)
    directory = workplace()
    before = contents(directory)
    choices = [(name, option) for name, (_, options) in RUNS.items() for option in options.split()]
    for number in range(200):
        name, option = choices[number % len(choices)]
        line, inputs = words(RUNS[name][0])
        source = draw.choice(inputs)
        output = another_name(directory, source, draw)
        path = os.path.join(directory, output)
        same = os.path.exists(path) and os.path.samefile(path, os.path.join(directory, source))
        if not same and name in ("bench", "serve"):
            continue  # they would run for long
        arguments = with_output([name] + line, option, output)
        if option != "-o" and "-o" in RUNS[name][1]:
            arguments = with_output(arguments, "-o", "out.txt")
        result = carbon(*arguments, cwd=directory)
        # Of a list of samples the plugin knows only that it cannot be read.
        if same:
            expect_failure(result, ("is an input of this run, which the output would replace; give the output another name",
                                    "--samples samples.txt: neither samples of the input nor a file that can be read"))
        else:
            expect("an input of this run" not in result.err, "another file is taken for an input", result)
        expect(contents(directory) == before, "an input has changed", result)


@case
def no_output_is_replaced_by_another():
    draw = random.Random(72)
    directory = workplace()
    for name, (line, options) in RUNS.items():
        for option in options.split()[1:]:
            out = os.path.join(directory, "out-%s.%s" % (name, "vcf" if name == "+mutagenesis" else "tsv"))
            arguments = with_output([name] + words(line)[0], "-o", out)
            again = os.path.join(directory, draw.choice(("", "./", "model/../")) + os.path.basename(out))
            result = carbon(*with_output(arguments, option, again), cwd=directory)
            expect_failure(result, "two outputs of this run, of which one would replace the other; give one of them another name")
            expect(not os.path.exists(out), "an output is there", result)


@case
def names_that_are_derived_replace_nothing():
    """Indexes, partial files and the files beside a matrix, whose names nobody has written down."""
    vep = ("vep", "-m", "model", "-w", "96", "-f", "ref.fa")
    scan = ("scan", "-m", "model", "-f", "ref.fa")
    for taken, arguments in (("out.vcf.gz.csi", (*vep, "-o", "out.vcf.gz", "-W", "-T", "out.vcf.gz.csi", "in.vcf")),
                             ("out.vcf.partial", (*vep, "-o", "out.vcf", "-T", "out.vcf.partial", "in.vcf", "--restart")),
                             ("out.tsv.partial", (*scan, "-o", "out.tsv", "-T", "out.tsv.partial", "--restart")),
                             ("out.tsv.partial.state", (*scan, "-o", "out.tsv", "-T", "out.tsv.partial.state")),
                             ("p.A.bw", (*scan, "-O", "bigwig", "-o", "p", "-T", "p.A.bw")),
                             ("hub/hub.txt", (*scan, "-O", "bigwig", "-o", "hub/p", "--hub", "hub", "-T", "hub/hub.txt")),
                             ("x.names.tsv", ("embed", "-m", "model", "-o", "x.npy", "-R", "x.names.tsv", "ref.fa")),
                             ("x.json", ("embed", "-m", "model", "-o", "x.npy", "-R", "x.json", "ref.fa")),
                             ("x.variants.tsv", (*vep, "--embeddings", "x.npy", "-T", "x.variants.tsv", "in.vcf")),
                             ("ref.fa.fai", (*scan, "-o", "ref.fa.fai", "-r", "c1:1-9"))):
        directory = workplace()
        os.mkdir(os.path.join(directory, "hub"))
        if taken.endswith(".fai"):
            tool("samtools", "faidx", os.path.join(directory, "ref.fa"))
        else:
            write(directory, taken, "c1\t1\t400\n")
        before = read(os.path.join(directory, taken))
        expect_failure(carbon(*arguments, cwd=directory), os.path.basename(taken), ("an input of this run", "has not written it", "would replace"))
        expect(read(os.path.join(directory, taken)) == before, "%s has changed" % taken)
    directory = workplace()
    expect_failure(carbon(*vep, "-O", "t", "-o", "o.variants.tsv", "--embeddings", "o.npy", "in.vcf", cwd=directory), "two outputs")
    expect(not [name for name in os.listdir(directory) if name.startswith("o.")], "files are left: %r" % os.listdir(directory))


@case
def files_of_earlier_runs_that_nobody_names_are_kept():
    """STEM.json and STEM.names.tsv are replaced only by the command that has written them."""
    directory = workplace()
    embed = ("embed", "-m", "model", "-o", "x.npy", "ref.fa")
    ok(*embed, cwd=directory)
    ok(*embed, cwd=directory)
    before = read(os.path.join(directory, "x.json"))
    expect_failure(carbon("generate", "-m", "model", "-l", "6", "-o", "x.fa", "ref.fa", cwd=directory), "x.json", "carbon generate has not written it")
    expect(read(os.path.join(directory, "x.json")) == before, "x.json has changed")
    for content in ("", "mine\n"):
        write(directory, "y.names.tsv", content)
        expect_failure(carbon("embed", "-m", "model", "-o", "y.safetensors", "ref.fa", cwd=directory), "y.names.tsv", "carbon embed has not written it")
        expect_equal(read(os.path.join(directory, "y.names.tsv")), content.encode(), "y.names.tsv")


@case
def a_model_is_an_input():
    directory = workplace()
    before = read(os.path.join(directory, "model", "config.json"))
    for arguments in (("score", "-m", "model", "ref.fa"), ("score", "ref.fa")):
        result = carbon(*arguments, "-o", "model/config.json", cwd=directory, env={"CARBON_MODEL": "model"})
        expect_failure(result, "config.json", "is an input of this run")
    expect(read(os.path.join(directory, "model", "config.json")) == before, "config.json has changed")


@case
def standard_input_and_output_are_files_too():
    directory = workplace()
    fasta = os.path.join(directory, "ref.fa")
    before = read(fasta)
    with open(fasta, "rb") as file:
        expect_failure(carbon("score", "-m", "model", "-o", "ref.fa", cwd=directory, stdin=file), "ref.fa, the same file as standard input")
    result = command(["sh", "-c", 'exec "$0" score -m model ref.fa >> ref.fa', CARBON], cwd=directory)
    expect_failure(result, "standard output is written to ref.fa, which is an input of this run")
    expect(read(fasta) == before, "ref.fa has changed")
    expect_failure(carbon("vep", "-m", "model", "-f", "ref.fa", "-T", "-", cwd=directory, stdin=b"c1\t1\t9\n"), "standard input", "named twice")


# ---- pipes ---------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def pipe(path, source):
    """A named pipe at `path`, into which the bytes of `source` go once."""
    os.mkfifo(path)
    writer = subprocess.Popen(["sh", "-c", 'exec cat "$0" > "$1"', source, path], env=ENV)
    try:
        yield path
    finally:
        writer.kill()
        writer.wait()
        os.remove(path)


def piped(names, arguments, directory, **options):
    """The run with these files of the directory as named pipes of the same names in another."""
    other = fresh()
    with contextlib.ExitStack() as stack:
        for name in names:
            stack.enter_context(pipe(os.path.join(other, name), os.path.join(directory, name)))
        swapped = [os.path.join(other, word) if word in names else word for word in arguments]
        result = carbon(*swapped, cwd=directory, timeout=30, **options)
    result.out = result.out.replace((other + "/").encode(), b"")
    return result


def same_as_files(names, arguments, directory):
    result = piped(names, arguments, directory)
    expect(result.rc == 0, "with pipes", result)
    other = [word for word in ok(*arguments, cwd=directory).lines() if "Command=" not in word]
    expect_equal([word for word in result.lines() if "Command=" not in word], other, "output with pipes: %s" % (arguments,))
    return result


@case
def a_header_without_records_comes_from_a_named_pipe():
    directory = workplace()
    write(directory, "empty.vcf", HEAD + TAGS + COLUMNS + "\n")
    write(directory, "cut.vcf", HEAD + TAGS + COLUMNS)
    bgzip(os.path.join(directory, "empty.vcf"))
    for name in ("empty.vcf", "empty.vcf.gz", "cut.vcf", "in.vcf"):
        result = same_as_files([name], ["vep", "-m", "model", "-w", "96", "-f", "ref.fa", name], directory)
        expect(("has no newline" in result.err) == (name == "cut.vcf"), "the warning of " + name, result)
    for arguments in (["+gene-summary", "empty.vcf", "--", "-R", "genes.bed", "--tag", "CARBON_LLR"], ["+haplotypes", "empty.vcf", "--", "-f", "ref.fa"],
                      ["+auroc", "empty.vcf", "--", "--score", "CARBON_LLR", "--label", "CLASS=bad/good"],
                      ["+concord", "empty.vcf", "scored.vcf", "--", "--tags", "CARBON_LLR"]):
        result, of_file = piped(["empty.vcf"], arguments, directory), carbon(*arguments, cwd=directory)
        expect_equal((result.rc, result.out), (of_file.rc, of_file.out), "%s: %s" % (arguments[0], result.err))


@case
def what_is_no_vcf_is_said_of_a_pipe_too():
    directory = workplace()
    write(directory, "log", "started\ndone\n")
    write(directory, "marked.vcf", b"\xef\xbb\xbf" + read(os.path.join(directory, "in.vcf")))
    for name, message in (("cds.fa", "this is FASTA"), ("log", "no header"), ("marked.vcf", "byte-order mark"), ("genes.gff3", "no header")):
        expect_failure(piped([name], ["vep", "-m", "model", "-w", "96", "-f", "ref.fa", name], directory), name, message)


@case
def lists_come_from_pipes_as_often_as_they_are_read():
    directory = workplace()
    vep = ["vep", "-m", "model", "-w", "96", "-f", "ref.fa"]
    same_as_files(["places.txt"], [*vep, "-T", "places.txt", "--shard", "1/2", "in.vcf"], directory)
    same_as_files(["places.txt"], ["+concord", "-T", "places.txt", "scored.vcf", "other.vcf", "--", "--tags", "CARBON_LLR", "--bootstrap", "0"], directory)
    same_as_files(["genes.bed", "scored.vcf"], ["+gene-summary", "scored.vcf", "--", "-R", "genes.bed", "--tag", "CARBON_LLR"], directory)
    write(directory, "motifs.fa", ">m\nGAATTC\n")
    same_as_files(["motifs.fa", "ref.fa"], ["generate", "-m", "model", "-l", "12", "--avoid", "motifs.fa", "ref.fa"], directory)
    ok("scan", "-m", "model", "-f", "ref.fa", "-r", "c1:1-200", "-o", "table.tsv.gz", "-W", cwd=directory)
    fill = ["vep", "-m", "model", "-f", "ref.fa", "--table", "table.tsv.gz", "--fill", "--chr-map", "names.map", "-T", "places.txt", "in.vcf"]
    same_as_files(["names.map", "places.txt"], fill, directory)


@case
def what_a_pipe_cannot_give_is_refused_in_words_that_fit():
    directory = workplace()
    vep = ["vep", "-m", "model", "-w", "96", "-f", "ref.fa"]
    expect_failure(piped(["in.vcf"], [*vep, "--shard", "1/2", "in.vcf"], directory), "to count the records first", "--shard")
    ok("scan", "-m", "model", "-f", "ref.fa", "-r", "c1:1-200", "-o", "table.tsv.gz", "-W", cwd=directory)
    expect_failure(piped(["in.vcf"], ["vep", "-m", "model", "-f", "ref.fa", "--table", "table.tsv.gz", "--fill", "in.vcf"], directory),
                   "--fill reads the input twice", "can be read only once")
    expect_failure(piped(["table.tsv.gz"], ["vep", "--table", "table.tsv.gz", "in.vcf"], directory), "is not a regular file", "its index")
    expect_failure(piped(["ref.fa"], ["score", "-m", "model", "ref.fa", "ref.fa"], directory), "named twice")
    expect_failure(piped(["ref.fa"], ["scan", "-m", "model", "-f", "ref.fa"], directory), "random access")


@case
def a_report_reads_every_kind_from_a_pipe():
    directory = workplace()
    for name, arguments in (("bases.tsv", ("score", "-m", "model", "-O", "tsv", "ref.fa")), ("rows.tsv", ("embed", "-m", "model", "ref.fa")),
                            ("scan.tsv", ("scan", "-m", "model", "-f", "ref.fa", "-r", "c1:1-90")),
                            ("vep.tsv", ("vep", "-m", "model", "-w", "96", "-f", "ref.fa", "-O", "t", "in.vcf"))):
        ok(*arguments, "-o", name, cwd=directory)
    ok("+concord", "scored.vcf", "other.vcf", "--", "--tags", "CARBON_LLR", "--bootstrap", "0", "--json", "two.json", cwd=directory)
    options = ["report", "--no-version"]
    for name in ("scored.vcf", "bases.tsv", "rows.tsv", "scan.tsv", "vep.tsv", "two.json"):
        same_as_files([name], [*options, name], directory)
    for name in ("bases.tsv", "two.json"):
        page = ok(*options, "-", cwd=directory, stdin=read(os.path.join(directory, name))).text
        expect("<svg" in page and "standard input" in page, "no figure of %s from standard input" % name)
    same_as_files(["genes.gff3", "scored.vcf"], [*options, "--genes", "genes.gff3", "scored.vcf"], directory)
    same_as_files(["bases.tsv"], [*options, "--probabilities", "bases.tsv", "scored.vcf"], directory)
    ok("embed", "-m", "model", "-o", "m.npy", "ref.fa", cwd=directory)
    expect_failure(piped(["m.npy"], [*options, "m.npy"], directory), "m.npy", "needs to be a regular file")


@case
def a_copy_of_a_pipe_needs_room_and_is_removed():
    directory = workplace()
    temporary = fresh()
    result = piped(["scored.vcf"], ["report", "scored.vcf"], directory, env={"TMPDIR": temporary})
    expect(result.rc == 0, "a report", result)
    expect_equal(os.listdir(temporary), [], "copies that are left")
    expect_failure(piped(["scored.vcf"], ["report", "scored.vcf"], directory, env={"TMPDIR": os.path.join(temporary, "absent")}), "TMPDIR")


@case
def keys_of_a_server_are_read_once():
    directory = workplace()
    with pipe(os.path.join(directory, "keys"), os.path.join(directory, "keys.txt")) as keys:
        with Server("--api-key", keys) as server:
            expect_equal(server.ask("GET", "/v1/models").status, 401, "without the key")


if __name__ == "__main__":
    main()
