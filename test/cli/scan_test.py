"""carbon scan against an independent reading of its definitions, against score and vep where they say the same, and against
itself: regions, shards, threads and batches change no byte.

test/reference/scan_reference.py computes every value in float64 from whole windows."""

import math
import os
import random
import re
import sys

from harness import (bgzip, carbon, case, data, decompress, expect, expect_close, expect_equal, expect_failure, fresh, info_of, main,
                     model, ok, read, records, refused, to_fasta, tool, write)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "reference"))
import scan_reference  # noqa: E402
import vep_reference  # noqa: E402

# Three query heads share a key head, and the untied head is a matrix of its own. The context is that of a few 6-mers.
SMALL = dict(dtype="f32", hidden=48, heads=3, kv_heads=1, head_dim=16, layers=2, intermediate=96)
SHORT = dict(SMALL, max_positions=11)
# f32 rounds each of some hundred steps to 6e-8 of logits of about 1, and a value has six digits.
TOLERANCE = 5e-5
HEADER = "#CHROM\tPOS\tREF\tALT\tCARBON_SCAN"


def random_bases(rng, n):
    return "".join(rng.choice("ACGT") for _ in range(n))


def small_genome():
    """Contigs that are longer and shorter than a window and a 6-mer, with other letters at all kinds of places."""
    rng = random.Random(7)
    long = list(random_bases(rng, 311))
    for begin, letters in ((0, "N"), (40, "NNNNNNN"), (90, "R"), (151, "Y"), (200, "N" * 70), (305, "N")):
        long[begin:begin + len(letters)] = letters
    long[120:150] = [base.lower() for base in long[120:150]]
    return {"long": "".join(long), "window": random_bases(rng, 60), "short": random_bases(rng, 23), "five": "GATTA", "one": "c",
            "unknown": "NNNNNNNN", "leading": "N" * 75 + random_bases(rng, 33)}


def fasta_of(genome):
    return write(fresh(), "ref.fa", to_fasta(genome.items()))


def scan(fasta, *args, sizes=SHORT, **options):
    return ok("scan", "-m", model(**sizes), "-q", "--no-version", "-f", fasta, *args, **options)


def table(text):
    """{(contig, pos, REF, ALT): the value as text}, in order."""
    return {tuple(fields[:4]): fields[4] for fields in (line.split("\t") for line in records(text))}


# ---- the definitions -----------------------------------------------------------------------------------------------


def compare(level, frames, strand, context, sizes, reference):
    genome = small_genome()
    lines = table(scan(fasta_of(genome), "--level", level, "--frames", frames, "--strand", strand, "--context", context,
                       sizes=sizes).text)
    wanted = {}
    for contig, bases in genome.items():
        bases = bases.upper()
        for i, values in scan_reference.scan(reference, bases, context, frames, level, strand).items():
            for alt in "ACGT".replace(bases[i], ""):
                wanted[contig, str(i + 1), bases[i], alt] = values[alt] - values[bases[i]]
    expect_equal(list(lines), list(wanted), "SNVs of level %s" % level)
    for key, value in wanted.items():
        expect_close(float(lines[key]), value, TOLERANCE, "%s of level %s, %d frames, strand %s" % (key, level, frames, strand))


def every_value_equals_the_reference(level, frames):
    # One window as the model's context sets it, one as the left context sets it.
    for sizes, context in ((SHORT, 24), (dict(SMALL, max_positions=40), 18)):
        reference = vep_reference.Model(model(**sizes))
        for strand in ("+", "-", "both"):
            compare(level, frames, strand, context, sizes, reference)


for one_level, counts in (("marginal", (1, 2, 3, 6)), ("chain", (1, 2, 3, 6)), ("first", (6,))):
    for one_count in counts:
        case(lambda level=one_level, frames=one_count: every_value_equals_the_reference(level, frames),
             name="%s_in_%d_frames_equals_the_reference" % (one_level, one_count))


@case
def first_equals_the_next_token_recipe():
    rng = random.Random(8)
    bases = random_bases(rng, 200)
    bases = bases[:70] + "NNNR" + bases[74:120].lower() + bases[120:]
    fasta = fasta_of({"c1": bases})
    sizes = dict(SMALL, max_positions=64)
    snvs = [("c1", i + 1, base, alt) for i, base in enumerate(bases.upper()) if base in "ACGT" for alt in "ACGT" if alt != base]
    path = write(fresh(), "in.vcf", "##fileformat=VCFv4.2\n##contig=<ID=c1>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n" +
                 "".join("%s\t%d\t.\t%s\t%s\t.\t.\t.\n" % snv for snv in snvs))
    for dtype in ("f32", "bf16"):
        for strand in ("+", "-"):
            vep = ok("vep", "-q", "-m", model(**sizes), "--dtype", dtype, "-f", fasta, "--recipe", "next-token", "--context", 240,
                     "--strand", strand, "--no-version", "-O", "t", path)
            got = scan(fasta, "--dtype", dtype, "--level", "first", "--context", 120, "--strand", strand, sizes=sizes)
            columns = ["\t".join(line.split("\t")[i] for i in (0, 1, 3, 4, 5)) for line in records(vep.text)]
            expect_equal(records(got.text), columns, "level first and next-token on strand " + strand)


@case
def marginal_equals_score():
    fasta = fasta_of({name: bases for name, bases in small_genome().items() if name in ("window", "short", "five", "one")})
    for strand in ("+", "-", "both"):
        wanted = ok("score", "-m", model(**SHORT), "-q", "-O", "bedgraph", "--window", 60, "--strand", strand, fasta)
        found = scan(fasta, "-O", "bedgraph", "--context", 24, "--strand", strand)
        expect_equal(found.table(), wanted.table(), "bedGraph of score")
        expect("##carbon_scanModel=<ID=CARBON_SCAN," in found.text, "what made it", found)


def histogram(genome, lines):
    """The lines of a histogram, counted from those of a table."""
    counts = {}
    for (contig, pos, ref, alt), value in lines.items():
        bases, i = genome[contig].upper(), int(pos) - 1
        trinucleotide = bases[max(i - 1, 0):i + 2]
        if len(trinucleotide) < 3 or i == 0 or set(trinucleotide) - set("ACGT"):
            trinucleotide = "."
        key = trinucleotide, alt, math.floor(100 * float(value))
        counts[key] = counts.get(key, 0) + 1
    return ["%s\t%s\t%d\t%d" % (*key, count) for key, count in sorted(counts.items())]


@case
def the_histogram_counts_the_table():
    genome = small_genome()
    rng = random.Random(9)
    # Slices of the reference that are read for neighbours end within it.
    genome["large"] = random_bases(rng, 70000)
    fasta = fasta_of(genome)
    for args, types in (((), ("t", "v", "bedgraph", "bigwig")), (("-r", "long:50-60,large:65530-65540"), ("t",))):
        whole = scan(fasta, "--context", 24, *args)
        wanted = histogram(genome, table(whole.text))
        for kind in types:
            path = os.path.join(fresh(), "counts.tsv")
            scan(fasta, "--context", 24, *args, "-O", kind, "--histogram", path, "-o", os.path.join(fresh(), "out"))
            lines = read(path).decode().splitlines()
            expect(lines[0].startswith("##carbon_scanModel=<ID=CARBON_SCAN,"), "the first line is " + lines[0])
            expect_equal(lines[1], "#TRI\tALT\tBIN\tCOUNT", "the columns")
            expect_equal(lines[2:], wanted, "the histogram beside -O " + kind)


# ---- the same bytes ------------------------------------------------------------------------------------------------


@case
def neither_threads_nor_batches_nor_neighbours_change_a_byte():
    genome = small_genome()
    fasta = fasta_of(genome)
    for level, frames in (("marginal", 1), ("chain", 2), ("first", 6)):
        args = ("--level", level, "--frames", frames, "--context", 24, "--dtype", "bf16")
        whole = scan(fasta, *args).out
        for more in (("-@", 1), ("-@", 2, "--batch-tokens", 1), ("--batch-tokens", 64)):
            expect_equal(scan(fasta, *args, *more).out, whole, "output with %s" % (more,))
        lines = records(whole.decode())
        for count in (2, 5, 1000):
            shards = [i for i in range(1, count + 1) if count < 1000 or i % 83 == 0]
            parts = sum((records(scan(fasta, *args, "--shard", "%d/%d" % (i, count)).text) for i in shards), [])
            expect_equal(parts, lines if count < 1000 else [line for line in lines if line in parts], "%d shards" % count)
        regions = "long:1-50,long:51-52,long:53-130,long:131-,window,short:-7,short:8-,five,one,leading"
        expect_equal(records(scan(fasta, *args, "-r", regions).text), lines, "regions")
        for begin, end in ((1, 6), (59, 62), (77, 213), (270, 311)):
            got = records(scan(fasta, *args, "-r", "long:%d-%d" % (begin, end)).text)
            wanted = [line for line in lines if line.startswith("long\t") and begin <= int(line.split("\t")[1]) <= end]
            expect_equal(got, wanted, "region %d-%d" % (begin, end))
        for name, bases in genome.items():
            alone = records(scan(fasta_of({name: bases}), *args).text)
            expect_equal(alone, [line for line in lines if line.startswith(name + "\t")], "contig " + name + " alone")


@case
def regions_follow_bcftools():
    fasta = fasta_of(small_genome())
    places = lambda *args: sorted({(key[0], int(key[1])) for key in table(scan(fasta, "--context", 24, *args).text)})
    every = places()
    bed = write(fresh(), "r.bed", "window\t9\t20\nlong\t0\t3\nlong\t2\t10\n")
    columns = write(fresh(), "r.txt", "window\t10\t20\nlong\t1\t10\n")
    wanted = [p for p in every if p[0] == "window" and 10 <= p[1] <= 20 or p[0] == "long" and p[1] <= 10]
    for args in (("-R", bed), ("-T", bed), ("-R", columns), ("-r", "window:10-20,long:-10"), ("-t", "long:1-10,window:10-20"),
                 ("-r", "window,long:5-9,long:-10", "-t", "window:10-20,long:1-30")):
        expect_equal(places(*args), wanted, "bases of %s" % (args,))
    others = [p for p in every if p not in wanted]
    for args in (("-T", "^" + bed), ("-t", "^window:10-20,long:-10")):
        expect_equal(places(*args), others, "bases of %s" % (args,))
    lines = records(scan(fasta, "--context", 24, "-R", bed).text)
    expect_equal([line.split("\t")[0] for line in (lines[0], lines[-1])], ["long", "window"], "order of the FASTA")


@case
def bases_of_one_window_cost_one_window():
    fasta = fasta_of({"long": random_bases(random.Random(5), 900)})
    def cost(*args):
        line, = [line for line in carbon("scan", "-m", model(**SHORT), "-f", fasta, "--context", 24, "--dry-run", *args).lines() if "windows" in line and "tokens" in line]
        return [int(number) for number in re.match(r"(\d+) bases in (\d+) windows with (\d+) tokens", line).groups()]
    bed = write(fresh(), "each.bed", "".join("long\t%d\t%d\n" % (i, i + 1) for i in range(0, 900, 2)))
    few = write(fresh(), "few.bed", "long\t500\t501\nlong\t505\t506\n")
    whole, each = cost(), cost("-R", bed)
    expect_equal(each[0], 450, "bases")
    expect(each[1:] <= whole[1:], "every second base %r, all bases %r" % (each, whole))
    expect(cost("-R", few)[2] <= cost("-r", "long:501-506")[2], "two bases cost more than those between them")
    run = lambda *args: table(scan(fasta, "--context", 24, *args).text)
    every, part = run(), run("-R", bed)
    expect_equal(part, {key: value for key, value in every.items() if int(key[1]) % 2 == 1}, "values")


@case
def targets_without_anything_are_refused():
    for option in ("-t", "-T"):
        for command in (("scan", "-m", model(), "-f", fasta_of({"c": "ACGT" * 9})), ("vep", "-m", model(), "-f", data("mini.fa"), data("mini.vcf"))):
            expect_failure(carbon(*command, option, "^"), "nothing follows the ^")


@case
def a_name_that_an_output_cannot_hold_is_refused_before_anything_is_computed():
    fasta = fasta_of({"c": "ACGT" * 9, "#x": "ACGT" * 9, "a=b": "ACGT" * 9})
    run = lambda *args: carbon("scan", "-m", model(**SHORT), "-f", fasta, "--context", 24, *args)
    for args, words in ((("-O", "t"), ("#x", "comments", "-t '^{#x}'")), (("-O", "bedgraph"), ("#x", "comments")),
                        (("-O", "v"), ("#x", "comments")), (("-O", "b", "-t", "^#x"), ("a=b", "VCF", "-t '^{a=b}'"))):
        result = run(*args)
        expect_failure(result, *words)
        expect_equal(result.text, "", "output before the refusal")
    expect_equal({line.split("\t")[0] for line in records(run("-O", "t", "-t", "^{#x}").text)}, {"c", "a=b"}, "the others as a table")
    expect_equal({line.split("\t")[0] for line in records(run("-O", "v", "-r", "c").text)}, {"c"}, "the others as VCF")
    for verb in (("score",), ("score", "-O", "tsv"), ("score", "-O", "bedgraph"), ("embed",)):
        expect_failure(carbon(*verb, "-m", model(), fasta), "the name #x begins with #")


@case
def names_with_colons_are_those_of_the_fasta():
    rng = random.Random(3)
    genome = {name: random_bases(rng, 30) for name in ("HLA-A*01:01", "HLA-A*01", "chr1:1-10", "chr1", "x:5", "y")}
    fasta = fasta_of(genome)
    places = lambda text, option="-r": [tuple(line.split("\t")[:2]) for line in
                                        records(scan(fasta, "--context", 24, "-O", "bedgraph", option, text).text)]
    whole = lambda name: [(name, str(i)) for i in range(30)]
    for text, wanted in (("x:5", whole("x:5")), ("x:5:1-2", whole("x:5")[:2]), ("{x:5}:1-2,y:3", whole("x:5")[:2] + [("y", "2")]),
                         ("y:3,x:5", whole("x:5") + [("y", "2")]), ("x:5:0,001-0,002,y:3", whole("x:5")[:2] + [("y", "2")]),
                         ("{chr1:1-10}", whole("chr1:1-10")), ("{chr1}:1-10", whole("chr1")[:10]), ("chr1:2", [("chr1", "1")])):
        for option in ("-r", "-t"):
            expect_equal(places(text, option), wanted, "bases of %s %s" % (option, text))
    for text in ("chr1:1-10", "y,chr1:1-10", "HLA-A*01:01"):
        result = carbon("scan", "-m", model(**SHORT), "-q", "-f", fasta, "-r", text)
        expect_failure(result, "both", "{", text.split(",")[-1])
        expect_failure(carbon("score", "-m", model(**SHORT), "-q", "-r", text.split(",")[-1], fasta), "both", "{")


# ---- the outputs ---------------------------------------------------------------------------------------------------


@case
def all_types_have_the_same_values():
    fasta = fasta_of(small_genome())
    text = scan(fasta, "--context", 24).text
    expect(text.startswith("##carbon_scanModel=<ID=CARBON_SCAN,Model="), "model line first: " + text[:80])
    for word in ("Level=marginal", "Frames=1", "Context=24", "Strand=both", "SHA256=", "Dtype=f32"):
        expect(word in text.splitlines()[0], word + " in the model line")
    expect_equal(text.splitlines()[1], HEADER, "names of the columns")
    lines = table(text)
    directory = fresh()
    for type_, name in (("v", "a.vcf"), ("z", "a.vcf.gz"), ("b", "a.bcf"), ("u", "u.bcf"), ("t", "a.tsv.gz")):
        out = os.path.join(directory, name)
        expect_equal(scan(fasta, "--context", 24, "-O", type_, "-o", out).out, b"", "standard output")
        if type_ == "t":
            expect_equal(decompress(read(out)).decode(), text, "compressed table")
            continue
        got, vcf = {}, tool("bcftools", "view", "--no-version", out).text
        for line in records(vcf):
            fields = line.split("\t")
            expect_equal((fields[2], fields[5], fields[6]), (".", ".", "."), "ID, QUAL and FILTER")
            for alt, value in zip(fields[4].split(","), info_of(line)["CARBON_SCAN"].split(",")):
                got[fields[0], fields[1], fields[3], alt] = value
        expect_equal(got, lines, "values of -O " + type_)
        expect("##contig=<ID=unknown,length=8>" in vcf, "contigs of the FASTA in the header")
        expect("##carbon_scanModel=" in vcf and "##INFO=<ID=CARBON_SCAN,Number=A,Type=Float" in vcf, "header of -O " + type_)
    expect_equal(scan(fasta, "--context", 24, "-O", "v").text, read(os.path.join(directory, "a.vcf")).decode(), "standard output")


@case
def indexes_find_every_base():
    fasta = fasta_of(small_genome())
    directory = fresh()
    lines = records(scan(fasta, "--context", 24).text)
    wanted = [line for line in lines if line.startswith("long\t") and 100 <= int(line.split("\t")[1]) <= 104]
    for option, suffix in (("-W", ".csi"), ("-W=tbi", ".tbi"), ("--write-index", ".csi")):
        out = os.path.join(directory, "a%s.tsv.gz" % suffix)
        scan(fasta, "--context", 24, "-o", out, option)
        expect(os.path.exists(out + suffix), "index " + suffix)
        expect_equal(tool("tabix", out, "long:100-104").lines(), wanted, "tabix with " + suffix)
    for name, option, suffix in (("b.bcf", "-W", ".csi"), ("b.vcf.gz", "-Wtbi", ".tbi")):
        out = os.path.join(directory, name)
        scan(fasta, "--context", 24, "-o", out, option)
        expect(os.path.exists(out + suffix), "index of " + name)
        got = tool("bcftools", "query", "-r", "long:100-104", "-f", "%POS\n", out).lines()
        expect_equal(got, [str(pos) for pos in range(100, 105)], "bcftools with an index")


@case
def values_move_to_a_vcf():
    """bcftools annotate takes them from the BCF, and for files with one record per ALT from the table."""
    bases = small_genome()["window"]
    fasta = fasta_of({"window": bases})
    directory = fresh()
    table_path, bcf = os.path.join(directory, "s.tsv.gz"), os.path.join(directory, "s.bcf")
    scan(fasta, "--context", 24, "-o", table_path, "-W")
    scan(fasta, "--context", 24, "-o", bcf, "-W")
    values = table(decompress(read(table_path)).decode())
    head = "##fileformat=VCFv4.2\n##contig=<ID=window>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
    other = lambda base, k: "ACGT".replace(base, "")[k]
    sites = write(directory, "sites.vcf", head + "".join(
        "window\t%d\t.\t%s\t%s,%s\t.\t.\t.\n" % (i + 1, base, other(base, 2), other(base, 0)) for i, base in enumerate(bases)))
    sites = bgzip(sites)
    tool("bcftools", "index", sites)
    annotated = tool("bcftools", "annotate", "-a", bcf, "-c", "INFO/CARBON_SCAN", sites).text
    for line in records(annotated):
        fields = line.split("\t")
        wanted = [values[fields[0], fields[1], fields[3], alt] for alt in fields[4].split(",")]
        expect_equal(info_of(line)["CARBON_SCAN"].split(","), wanted, "values at " + fields[1])
    split = write(directory, "split.vcf", head + "".join(
        "window\t%d\t.\t%s\t%s\t.\t.\t.\n" % (i + 1, base, other(base, k)) for i, base in enumerate(bases) for k in (0, 1, 2)))
    definition = write(directory, "tag.hdr", '##INFO=<ID=CARBON_SCAN,Number=A,Type=Float,Description="Carbon scan">\n')
    annotated = tool("bcftools", "annotate", "-a", table_path, "-h", definition, "-c", "CHROM,POS,REF,ALT,CARBON_SCAN", split).text
    expect_equal(len(records(annotated)), len(values), "records with one ALT")
    for line in records(annotated):
        fields = line.split("\t")
        expect_equal(info_of(line)["CARBON_SCAN"], values[fields[0], fields[1], fields[3], fields[4]], "value of " + line)


@case
def version_lines_name_the_command():
    fasta = fasta_of({"c1": "GATTACA"})
    lines = ok("scan", "-q", "-m", model(**SHORT), "-f", fasta, "--context", 24).lines()
    expect(lines[0].startswith("##carbon_scanVersion="), lines[0])
    expect(lines[1].startswith("##carbon_scanCommand=scan -q -m "), lines[1])


@case
def a_dry_run_says_what_it_would_take():
    fasta = fasta_of(small_genome())
    out = os.path.join(fresh(), "out.tsv")
    result = ok("scan", "-m", model(**SHORT), "-f", fasta, "--context", 24, "--dry-run", "-o", out)
    expect(not os.path.exists(out) and result.err == "", "no file and no message", result)
    bases = sum(map(len, small_genome().values()))
    expect("windows of 60 bp every 36 bp" in result.text and "at least 24 bp of context" in result.text, "the grid", result)
    expect("%d bases in " % bases in result.text and " FLOP" in result.text.replace("MFLOP", " FLOP"), "the cost", result)
    # Two strands of one window and of 60 bases: ten tokens each.
    result = ok("scan", "-m", model(**SHORT), "-f", fasta, "--context", 24, "--dry-run", "-r", "window")
    expect("60 bases in 2 windows with 20 tokens" in result.text, "the cost of a window", result)
    # A run says it only if it is asked to: what it says otherwise is one line.
    run = ("scan", "-m", model(**SHORT), "-f", fasta, "--context", 24, "-r", "window")
    expect_equal(ok(*run).err, "[M::scan] 60 of 60 bases have values\n", "what a run says")
    expect(all(line in ok(*run, "-v", "4").err for line in result.lines()), "with -v 4")


# ---- what cannot be done -------------------------------------------------------------------------------------------


@case
def bad_input_gives_one_line_and_no_output():
    directory = fresh()
    fasta = write(directory, "ref.fa", to_fasta(small_genome().items()))
    ok("scan", "-q", "-m", model(**SHORT), "-f", fasta, "--context", 24, "-r", "one", "-o", os.path.join(directory, "index.tsv"))
    common = ("scan", "-m", model(**SHORT), "-f", fasta, "--no-version")
    for args, words in (
            (("--context", 60), ("context of 60 bp", "largest that fits is 54", "--context")),
            (("--context", 25), ("multiple of 6", "--context")),
            (("--context", 0), ("--context",)),
            (("--level", "first", "--frames", 1), ("six frames", "--frames")),
            (("--frames", 4), ("--frames",)),
            (("-r", "absent"), ("no sequence absent", fasta)),
            (("-r", "five:6-9"), ("five:6", "only 5 bases")),
            (("-r", "long:9-3"), ("long:9-3",)),
            (("-t", "^long,window,short,five,one,unknown,leading"), ("select no base",)),
            (("-r", ""), ("-r", "empty")),
            (("-O", "x"), ("'x'",)),
            (("-O", "bedgraph", "-W"), ("bedgraph", "--write-index")),
            (("-O", "v", "-W"), ("not compressed",)),
            (("--histogram", os.path.join(directory, "out.bin")), ("two outputs",)),
            (("--histogram", os.path.join(directory, "no", "counts")), ("no/counts",)),
            (("--histogram", ""), ("--histogram", "empty")),
            (("--shard", "3/2"), ("3/2", "--shard"))):
        refused((*common, *args), *words, directory=directory, output="out.bin")
    expect_failure(carbon("scan", "-m", model(**SHORT)), "--fasta-ref is missing: reference FASTA")
    expect_failure(carbon(*common, "-o", "/dev/full"), "/dev/full")
    expect_failure(carbon(*common, "-o", os.path.join(directory, "no", "folder.tsv")), "folder.tsv")
    expect_failure(carbon(*common, "--histogram", "-"), "standard output is named for two outputs")
    expect_failure(carbon(*common, "--histogram", "/dev/full", "-o", os.path.join(directory, "out")), "/dev/full")
    expect(not os.path.exists(os.path.join(directory, "out")), "a table without its histogram")
    expect_failure(carbon(*common, "-O", "b", "-W"), "standard output", "-o")
    expect_failure(carbon("scan", "-m", model(**SHORT), "-f", os.path.join(directory, "absent.fa")), "absent.fa")
    expect_failure(carbon("scan", "-m", model(**SHORT)), "--fasta-ref")


@case
def what_an_output_cannot_hold_is_refused_first():
    """By the lengths of the index: nothing is read before."""
    directory = fresh()
    fasta = write(directory, "ref.fa", ">small\nACGTACGTAC\n>big\nACGTACGTAC\n")

    def dry_run(length, *args):
        write(directory, "ref.fa.fai", "small\t10\t7\t10\t11\nbig\t%d\t23\t10\t11\n" % length)
        os.truncate(fasta, 23 + length // 10 * 11 + length % 10)  # as long as the index says, and mostly a hole
        return carbon("scan", "-m", model(max_positions=8192), "-q", "-f", fasta, "--dry-run", *args, cwd=directory)

    long = 3000000000
    for length, args, words in ((long, ("-o", "s.bcf"), ("big", "3000000000", "2147483647", "-O z")),
                                (long, ("-O", "u"), ("big", "2147483647")),
                                (long, ("-O", "b", "-r", "big:2147483647-2147483648"), ("big:2147483648",)),
                                (536870913, ("-o", "s.tsv.gz", "-W=tbi"), ("big", "512 Mb", "csi")),
                                (536870913, ("-o", "s.vcf.gz", "-W=tbi"), ("big", "512 Mb", "csi")),
                                (9000000000, ("-o", "s.tsv.gz", "-W"), ("big", "8589934592", ".vcf.gz"))):
        expect_failure(dry_run(length, *args), *words)
    for length, args in ((long, ("-o", "s.vcf.gz", "-W")), (long, ("-o", "s.tsv.gz", "-W")), (long, ("-O", "b", "-r", "small")),
                         (long, ("-O", "b", "-r", "big:1-2147483647")), (536870912, ("-o", "s.tsv.gz", "-W=tbi")),
                         (2147483647, ("-o", "s.bcf", "-W")), (9000000000, ("-o", "s.vcf.gz", "-W"))):
        result = dry_run(length, *args)
        expect(result.rc == 0, "%d %r" % (length, args), result)


main()
