"""carbon annotate --from-tracks: genes of probabilities that are made for them, GFF3 to the byte, proteins, runs as the published
clean-up gives them, tracks of every kind, what other programs make of the output, and what is refused."""

import os
import random
import re
import shutil
import struct
import sys
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "reference"))
import numpy as np  # noqa: E402

from annotate_support import annotate, fasta, features, genes, sigmoid, tracks, write_track  # noqa: E402
from coding_runs import DEFAULTS, coding_runs  # noqa: E402
from harness import (Skip, bgzip, carbon, case, decompress, expect, expect_equal, expect_failure, fresh, is_bgzf, main, ok,  # noqa: E402
                     open_bigwig, parse_fasta, peak_memory, read, reverse_complement, to_fasta, tool, write)

HIGH, LOW = 0.984375, 0.015625  # in binary without rounding
CODONS = [a + b + c for a in "ACGT" for b in "ACGT" for c in "ACGT" if a + b + c not in ("TAA", "TAG", "TGA")]


def filler(rng, n):
    """Bases without a start of GT or AG, so that no intron is possible by chance."""
    return "".join(rng.choice("CT") for _ in range(n))


def coding(rng, codons):
    return "".join(rng.choice([c for c in CODONS if "G" not in c]) for _ in range(codons))


def split_gene(rng):
    """(bases with two introns, [(begin, end)] of the exons)."""
    whole = "ATG" + coding(rng, 40) + "TAA"
    pieces = [whole[:50], whole[50:73], whole[73:]]
    text, exons = "", []
    for i, piece in enumerate(pieces):
        if i:
            text += "GT" + filler(rng, 40) + "AG"
        exons.append((len(text), len(text) + len(piece)))
        text += piece
    return text, exons


def values_of(n, intervals, high=HIGH, low=LOW):
    row = [low] * n
    for begin, end in intervals:
        row[begin:end] = [high] * (end - begin)
    return row


def two_strands():
    """A contig with a gene of three exons on each strand: (contigs, plus, minus, exons of +, exons of -)."""
    rng = random.Random(1)
    gene, exons = split_gene(rng)
    before, between, after = filler(rng, 100), filler(rng, 80), filler(rng, 60)
    other, other_exons = split_gene(rng)
    bases = before + gene + between + reverse_complement(other) + after
    forward = [(100 + a, 100 + b) for a, b in exons]
    end = len(bases) - len(after)
    reverse = sorted((end - b, end - a) for a, b in other_exons)
    contigs = [("c1", bases)]
    return contigs, {"c1": values_of(len(bases), forward)}, {"c1": values_of(len(bases), reverse)}, forward, reverse


@case
def genes_of_both_strands_with_introns():
    contigs, plus, minus, forward, reverse = two_strands()
    text = annotate(contigs, plus, minus).text
    found = genes(text)
    expect_equal([(gene["strand"], [(c["begin"], c["end"]) for c in cds]) for gene, cds in found], [("+", forward), ("-", reverse)], "genes")
    bases = contigs[0][1]
    lines = text.splitlines()
    expect_equal(lines[0], "##gff-version 3", "first line")
    expect(lines[1].startswith("#!carbon_annotateDecoder=<Genes=model,GeneCost=10,IntronCost=10,Start=ATG,Code=1,Introns=yes,MinIntron=20,"),
           lines[1])
    expect_equal(lines[2], "##sequence-region c1 1 %d" % len(bases), "region")
    begin, end = forward[0][0] + 1, forward[-1][1]
    expect_equal(lines[3:6],
                 ["c1\tcarbon\tgene\t%d\t%d\t0.9844\t+\t.\tID=gene:c1_000001;biotype=protein_coding;status=complete;min_exon_p=0.9844" % (begin, end),
                  "c1\tcarbon\tmRNA\t%d\t%d\t0.9844\t+\t.\tID=transcript:c1_000001.1;Parent=gene:c1_000001;biotype=protein_coding" % (begin, end),
                  "c1\tcarbon\texon\t%d\t%d\t0.9844\t+\t.\tParent=transcript:c1_000001.1" % (begin, forward[0][1])], "lines of a gene")
    expect_equal(lines[6], "c1\tcarbon\tCDS\t%d\t%d\t0.9844\t+\t0\tID=CDS:c1_000001.1;Parent=transcript:c1_000001.1" % (begin, forward[0][1]), "CDS")
    expect_equal([c["phase"] for c in found[0][1]], ["0", "1", "2"], "phases of +")
    expect_equal([c["phase"] for c in found[1][1]], ["2", "1", "0"], "phases of -")
    expect_equal(lines.count("###"), 2, "lines ###")
    expect_equal(lines[-1], "###", "last line")


def translated(bases):
    table = dict(zip((a + b + c for a in "TCAG" for b in "TCAG" for c in "TCAG"),
                     "FFLLSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"))
    return "".join(table.get(bases[i:i + 3], "X") for i in range(0, len(bases) - 2, 3))


@case
def proteins_and_coding_sequences():
    contigs, plus, minus, forward, reverse = two_strands()
    contigs = [("c1", contigs[0][1].lower())]
    folder = fresh()
    out, proteins, cds = (os.path.join(folder, name) for name in ("out.gff3.gz", "proteins.fa", "cds.fa"))
    result = annotate(contigs, plus, minus, "-o", out, "--proteins", proteins, "--cds", cds)
    expect_equal(result.out, b"", "standard output")
    expect(is_bgzf(read(out)), "not BGZF")
    bases = contigs[0][1].upper()
    joined = ["".join(bases[a:b] for a, b in forward), reverse_complement("".join(bases[a:b] for a, b in reverse))]
    expect_equal(parse_fasta(read(cds).decode()), [("c1_%06d.1" % (i + 1), text) for i, text in enumerate(joined)], "coding sequences")
    wanted = [translated(text) for text in joined]
    expect(all(text[-1] == "*" and "*" not in text[:-1] and text[0] == "M" for text in wanted), "the test's own genes")
    expect_equal([text for _, text in parse_fasta(read(proteins).decode())], [text[:-1] for text in wanted], "proteins")
    expect(max(map(len, read(cds).decode().splitlines())) <= 60, "long lines")
    expect_equal(sorted(os.listdir(folder)), ["cds.fa", "out.gff3.gz", "proteins.fa"], "files")


def partial_contigs():
    """Genes cut by ends of contigs and by gaps, on both strands, with names that GFF3 has to escape."""
    rng = random.Random(2)
    body = coding(rng, 60)
    gap = "N" * 12
    whole = "ATG" + coding(rng, 30) + "TAG"
    out = {"no_start": body + "TAA" + filler(rng, 40), "no_stop": filler(rng, 40) + "ATG" + body[:-1],
           "neither": body[1:], "gap;=&,%": filler(rng, 30) + "ATG" + body[:100] + gap + body[100:] + "TAA" + filler(rng, 30),
           "Chr|1.2:x": filler(rng, 30) + whole + filler(rng, 30) + gap + filler(rng, 20)}
    contigs, plus, minus = [], {}, {}
    for name, bases in out.items():
        covered = {"no_start": [(0, len(body) + 3)], "no_stop": [(40, len(bases))], "neither": [(0, len(bases))],
                   "gap;=&,%": [(30, 133), (145, len(bases) - 30)], "Chr|1.2:x": [(30, 30 + len(whole))]}[name]
        contigs += [(name, bases), (name + "-", reverse_complement(bases))]
        plus[name], minus[name] = values_of(len(bases), covered), [LOW] * len(bases)
        plus[name + "-"], minus[name + "-"] = minus[name], plus[name][::-1]
    return contigs, plus, minus


@case
def partial_genes_at_ends_and_gaps():
    contigs, plus, minus = partial_contigs()
    folder = fresh()
    text = annotate(contigs, plus, minus, "--proteins", os.path.join(folder, "p.fa")).text
    sizes = {name: len(bases) for name, bases in contigs}
    found = {}
    for gene, cds in genes(text):
        found.setdefault(gene["contig"], []).append(gene)
        for part in cds:
            expect_equal(part["attributes"].get("partial"), gene["attributes"].get("partial"), "partial of a CDS")
            expect_equal(part["attributes"].get("start_range"), gene["attributes"].get("start_range"), "start_range of a CDS")
    def ends(name):
        return [(g["attributes"]["status"], g["attributes"].get("start_range"), g["attributes"].get("end_range")) for g in found[name]]
    n = sizes["no_start"]
    expect_equal(ends("no_start"), [("partial", ".,1", None)], "no start")
    expect_equal(ends("no_start-"), [("partial", None, "%d,." % n)], "no start, reverse")
    expect_equal(ends("no_stop"), [("partial", None, "%d,." % sizes["no_stop"])], "no stop")
    expect_equal(ends("no_stop-"), [("partial", ".,1", None)], "no stop, reverse")
    expect_equal(ends("neither"), [("partial", ".,1", "%d,." % sizes["neither"])], "neither")
    gap = "gap;=&,%"
    expect_equal(ends(gap), [("partial", None, "133,."), ("partial", ".,146", None)], "at a gap")
    expect_equal(ends("Chr|1.2:x"), [("complete", None, None)], "complete")
    expect("##sequence-region gap%3B%3D%26%2C%25 1 " in text and "\nChr|1.2:x\tcarbon" in text, "names")
    expect("ID=gene:gap%3B%3D%26%2C%25_000002;" in text, "the number of a second gene")
    proteins = dict(parse_fasta(read(os.path.join(folder, "p.fa")).decode()))
    expect("gap;=&,%_000001.1" in proteins, "names of proteins: %s" % list(proteins))
    for name, protein in proteins.items():
        expect("*" not in protein, "a stop inside %s" % name)
    # Every frame of `neither` but its own has a stop or begins otherwise, so the phase is known.
    neither = next(f for f in features(text) if f["contig"] == "neither" and f["type"] == "CDS")
    expect_equal(proteins["neither_000001.1"], translated(dict(contigs)["neither"][int(neither["phase"]):]).rstrip("*"), "protein from the phase on")


@case
def thresholds_and_costs():
    contigs, plus, minus, forward, _ = two_strands()
    def called(*options):
        return [gene["strand"] for gene, _ in genes(annotate(contigs, plus, minus, *options).text)]
    length = sum(b - a for a, b in forward)
    expect_equal(called("--min-cds", length), ["+", "-"], "as long as they are")
    expect_equal(called("--min-cds", length + 1), [], "longer")
    expect_equal(called("--min-score", "0.99"), [], "higher")
    expect_equal(called("--gene-cost", 1000), [], "dearer")
    def introns(*options):
        return sum(len(cds) - 1 for _, cds in genes(annotate(contigs, plus, minus, *options).text))
    expect_equal(introns("--introns", "no", "--min-cds", 0), 0, "introns where there are none")
    expect_equal(introns("--max-intron", 44, "--min-intron", 44), 4, "introns just right")
    expect_equal(introns("--max-intron", 43), 0, "introns too long")
    long = genes(annotate(contigs, plus, minus, "--min-intron", 45).text)
    expect(all(b["begin"] - a["end"] >= 45 for _, cds in long for a, b in zip(cds, cds[1:])), "introns too short")
    expect_equal(introns("--intron-cost", 1000), 0, "dear introns")
    text = annotate([("c", contigs[0][1].replace("ATG", "CTG"))], {"c": plus["c1"]}, {"c": minus["c1"]}, "--start", "CTG").text
    expect_equal(len(genes(text)), 2, "genes with other starts")


@case
def other_codes_and_shared_stops():
    # ATG ... ATGA: the second gene begins one base before the stop of the first.
    start, second = "ATG" + "AAA" * 24 + "AAATGA", "GGC" * 25 + "TAA"
    bases = "CC" * 20 + start + "CC" + second + "CC" * 20
    begin = 40
    stop = begin + len(start)
    inside = [(begin, stop + 2 + len(second))]
    plus, minus = {"c": values_of(len(bases), inside)}, {"c": [LOW] * len(bases)}
    found = genes(annotate([("c", bases)], plus, minus, "--introns", "no", "--code", 11, "--start", "ATG,GTG,TTG").text)
    expect_equal([(g["begin"], g["end"]) for g, _ in found], [(begin, stop), (stop - 4, stop + 2 + len(second))], "genes that share ATGA")
    # TGA is an amino acid of code 4, so the first gene goes on.
    whole = "ATG" + "AAA" * 24 + "TGA" + "GGC" * 10 + "TAA"
    bases = "CC" * 20 + whole + "CC" * 20
    plus, minus = {"c": values_of(len(bases), [(40, 40 + len(whole))])}, {"c": [LOW] * len(bases)}
    out = os.path.join(fresh(), "p.fa")
    found = genes(annotate([("c", bases)], plus, minus, "--code", 4, "--proteins", out).text)
    expect_equal([(g["begin"], g["end"]) for g, _ in found], [(40, 40 + len(whole))], "a gene of code 4")
    expect_equal(parse_fasta(read(out).decode())[0][1], "M" + "K" * 24 + "W" + "G" * 10, "its protein")


def random_strand(rng, n):
    """Probabilities with steps, ramps, plateaus and equal drops, as 32-bit numbers."""
    levels = [0.0, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 1.0]
    row, level = [], rng.choice(levels)
    while len(row) < n:
        kind = rng.random()
        length = rng.randrange(1, 12)
        if kind < 0.5:
            level = rng.choice(levels)
            row += [level] * length
        elif kind < 0.8:
            row += [rng.random() for _ in range(length)]
        else:
            target = rng.choice(levels)
            row += [level + (target - level) * i / length for i in range(length)]
            level = target
    return [float(np.float32(x)) for x in row[:n]]


@case
def runs_are_those_of_the_published_clean_up():
    rng = random.Random(3)
    strands = 0
    options = dict(outward="--stair-outward-shift", inward="--stair-inward-shift", stop_run="--stair-stop-run", stop_ratio="--stair-stop-ratio",
                   min_cds="--min-cds-length", min_gap="--min-gap-length")
    for round_number in range(25):
        rules = dict(DEFAULTS)
        arguments = []
        if round_number == 1:
            rules.update(stop_run=4, min_gap=1)
            arguments = ["--preset", "prokaryote"]
        elif round_number > 1:
            rules = dict(outward=rng.choice((0, 1, 3, 10, 128)), inward=rng.choice((0, 0, 1, 4, 20)), stop_run=rng.choice((0, 0, 1, 2, 4)),
                         stop_ratio=rng.choice((0.0, 0.3, 0.5, 1.0)), min_cds=rng.choice((0, 1, 4, 9)), min_gap=rng.choice((0, 1, 2, 4, 9)))
            arguments = [word for key, option in options.items() for word in (option, rules[key])]
        contigs = [("c%d" % i, "A" * rng.randrange(1, 260)) for i in range(20)]
        plus, minus = ({name: random_strand(rng, len(bases)) for name, bases in contigs} for _ in range(2))
        text = annotate(contigs, plus, minus, "--genes", "runs", *arguments, style=rng.choice(("fixed", "variable", "bedgraph"))).text
        found = features(text)
        for name, _ in contigs:
            for strand, values in (("+", plus[name]), ("-", minus[name])):
                own = [f for f in found if f["contig"] == name and f["strand"] == strand]
                wanted = coding_runs(values, **rules)
                expect_equal([(f["begin"], f["end"] - 1) for f in own], wanted, "runs of %r with %s" % (values, rules))
                for feature in own:
                    mean = sum(values[feature["begin"]:feature["end"]]) / (feature["end"] - feature["begin"])
                    expect_equal("%.4g" % feature["score"], "%.4g" % mean, "score")
                strands += 1
    expect_equal(strands, 1000, "strands")


@case
def many_runs_are_united_as_few_are():
    rng = random.Random(11)
    n = 400000
    # So many runs of a strand that they are united in parts; the other strand has long stretches without one.
    plus = [float(np.float32(rng.random())) for _ in range(n)]
    minus = [p if i // 5000 % 2 else 0.25 for i, p in enumerate(plus[::-1])]
    for gap, least, few in ((1, 1, False), (1, 5, True), (9, 4, True)):
        rules = dict(DEFAULTS, outward=2, min_cds=least, min_gap=gap)
        text = annotate([("c", "A" * n)], {"c": plus}, {"c": minus}, "--genes", "runs", "--stair-outward-shift", 2, "--min-cds-length", least,
                        "--min-gap-length", gap).text
        found = features(text)
        for strand, values in (("+", plus), ("-", minus)):
            wanted = coding_runs(values, **rules)
            expect_equal([(f["begin"], f["end"] - 1) for f in found if f["strand"] == strand], wanted, "runs of " + strand)
            expect(0 < len(wanted) < 20000 if few else len(wanted) > 20000, "%d runs" % len(wanted))


@case
def a_run_is_a_line():
    text = annotate([("a", "A" * 20)], {"a": [0.25] * 5 + [0.75] * 10 + [0.25] * 5}, {"a": [0.0] * 20}, "--genes", "runs",
                    "--preset", "prokaryote").text
    lines = text.splitlines()
    expect_equal(lines[1], "#!carbon_annotateDecoder=<Genes=runs,Preset=prokaryote,StairOutwardShift=128,StairInwardShift=0,StairStopRun=4,"
                           "StairStopRatio=0.3,MinCdsLength=4,MinGapLength=1>", "header")
    expect_equal(lines[2:], ["##sequence-region a 1 20", "a\tcarbon\tcoding_region_of_exon\t6\t15\t0.75\t+\t.\tID=run:a_000001"], "lines")


@case
def tracks_of_every_kind_give_the_same():
    contigs, plus, minus, _, _ = two_strands()
    contigs = contigs + [("empty", "")]
    texts = {annotate(contigs, plus, minus, style=style).text for style in ("fixed", "variable", "bedgraph")}
    expect_equal(len(texts), 1, "different outputs")
    expect("empty" not in texts.pop(), "lines of a contig without bases")
    text = annotate(contigs[:1], plus, minus).text
    packed = bgzip(fasta(contigs[:1]))
    prefix = tracks(contigs[:1], plus, minus)
    expect_equal(ok("annotate", "--no-version", "--from-tracks", prefix, packed).text, text, "compressed FASTA")
    with open(fasta(contigs[:1]), "rb") as stream:
        expect_equal(ok("annotate", "--no-version", "--from-tracks", prefix, "-", stdin=stream).text, text, "standard input")
    dated = ok("annotate", "--from-tracks", prefix, fasta(contigs[:1]), dated=True).text.splitlines()
    expect(dated[1].startswith("#!carbon_annotateVersion=") and dated[2].startswith("#!carbon_annotateCommand=annotate "), dated[:3])


@case
def bases_without_a_value_count_once():
    contigs, plus, minus, forward, _ = two_strands()
    plus["c1"][:10] = [None] * 10
    minus["c1"][-3:] = [None] * 3
    result = annotate(contigs, plus, minus)
    expect_equal(len(result.messages("W")), 1, "warnings")
    expect("13 bases" in result.err, "count", result)
    expect_equal(len(genes(result.text)), 2, "genes")


@case
def a_track_of_carbon_itself():
    """What BigwigWriter writes is read as what pyBigWig writes."""
    from harness import data, model
    prefix = os.path.join(fresh(), "out")
    ok("scan", "-m", model(), "-q", "-f", data("mini.fa"), "-O", "bigwig", "-o", prefix)
    folder = os.path.dirname(prefix)
    for letter, strand in (("A", "plus"), ("C", "minus")):
        shutil.copy("%s.%s.bw" % (prefix, letter), os.path.join(folder, "in.%s.bw" % strand))
    lengths = [(name, n) for name, n in open_bigwig(os.path.join(folder, "in.plus.bw")).chroms().items()]
    copies = {}
    for strand in ("plus", "minus"):
        track = open_bigwig(os.path.join(folder, "in.%s.bw" % strand))
        copies[strand] = {name: [None if v != v else v for v in track.values(name, 0, n)] for name, n in lengths}
        write_track(os.path.join(folder, "copy.%s.bw" % strand), lengths, copies[strand], "variable")
    texts = [ok("annotate", "--no-version", "--genes", "runs", "--min-cds-length", 1, "--from-tracks", os.path.join(folder, name), data("mini.fa")).text
             for name in ("in", "copy")]
    expect_equal(texts[0], texts[1], "output")


# ---- other programs


def outputs_for_tools():
    contigs, plus, minus = partial_contigs()
    more, more_plus, more_minus, _, _ = two_strands()
    contigs, plus, minus = contigs + more, {**plus, **more_plus}, {**minus, **more_minus}
    folder = fresh()
    out, cds, proteins, ref = (os.path.join(folder, name) for name in ("out.gff3", "cds.fa", "p.fa", "ref.fa"))
    annotate(contigs, plus, minus, "-o", out, "--cds", cds, "--proteins", proteins)
    write(folder, "ref.fa", to_fasta(contigs))
    return contigs, out, cds, proteins, ref


@case
def genometools_validates_it():
    _, out, _, _, _ = outputs_for_tools()
    result = tool("gt", "gff3validator", out)
    expect("input is valid GFF3" in result.text, "not valid", result)
    contigs = [("a", "A" * 20)]
    runs = os.path.join(fresh(), "runs.gff3")
    annotate(contigs, {"a": [0.25] * 5 + [0.75] * 10 + [0.25] * 5}, {"a": [0.0] * 20}, "--genes", "runs", "-o", runs)
    expect("input is valid GFF3" in tool("gt", "gff3validator", runs).text, "runs are not valid")


@case
def genometools_counts_as_the_plugin():
    """gt eval on made-up genes, of which some are missed and some have other exons: right and found of exons and genes, and
    precision and recall of bases, are those of +genes."""
    rng = random.Random(5)
    bases, true, seen = "", {"+": [], "-": []}, {"+": [], "-": []}
    for number in range(24):
        bases += filler(rng, 60 + rng.randrange(40))
        gene, exons = split_gene(rng)
        strand = rng.choice("+-")
        if strand == "-":
            exons = sorted((len(gene) - b, len(gene) - a) for a, b in exons)
        exons = [(len(bases) + a, len(bases) + b) for a, b in exons]
        bases += gene if strand == "+" else reverse_complement(gene)
        true[strand] += exons
        # All of it, nothing, or without an exon in the middle, whose 23 bases leave no frame that ends.
        seen[strand] += {0: [], 1: exons[:1] + exons[2:]}.get(number % 4, exons)
    bases += filler(rng, 60)
    folder = fresh()
    paths = {}
    for name, intervals in (("truth", true), ("predicted", seen)):
        out = paths[name] = os.path.join(folder, name + ".gff3")
        rows = {strand: {"c": values_of(len(bases), intervals[strand])} for strand in "+-"}
        annotate([("c", bases)], rows["+"], rows["-"], "-o", out)
        write(folder, name + ".sorted.gff3", tool("gt", "gff3", "-sort", "-tidy", out).out)
    said = tool("gt", "eval", *(os.path.join(folder, name + ".sorted.gff3") for name in ("truth", "predicted"))).text
    measures = {line.split("\t")[0]: line.split("\t")[1:] for line in ok("+genes", paths["predicted"], "--", "--truth", paths["truth"]).lines()[1:]}
    for name, what in (("genes", "gene"), ("exons", "exon")):
        _, _, _, predicted, right, truth, found = measures[name]
        expect(0 < int(right) < int(predicted) and 0 < int(found) < int(truth), "%s: nothing to compare: %s" % (name, measures[name]))
        for word, part, whole in (("sensitivity", found, truth), ("specificity", right, predicted)):
            counts = re.search(r"%s %s \([^)]*\): +[0-9.]+%% \((\d+)/(\d+)\)" % (what, word), said)
            expect_equal(counts and counts.groups(), (part, whole), "%s of %s\n%s" % (word, name, said))
    shares = dict(re.findall(r"nucleotide (sensitivity|specificity) \(CDS level\): +([0-9.]+)%", said))
    predicted, right, truth, found = map(int, measures["bases"][3:])
    expect_equal(shares, {"sensitivity": "%.2f" % (100 * found / truth), "specificity": "%.2f" % (100 * right / predicted)}, "bases\n" + said)


@case
def gffread_reads_the_same_sequences():
    contigs, out, cds, proteins, ref = outputs_for_tools()
    # gffread does not decode names, so it finds no sequence for those that are escaped.
    plain = [name for name, _ in contigs if re.fullmatch(r"[A-Za-z0-9.:^*$@!+_?|-]+", name)]
    folder = fresh()
    simple = write(folder, "out.gff3", "".join(line + "\n" for line in read(out).decode().splitlines()
                                               if line.startswith("#") or line.split("\t")[0] in plain))
    reference = write(folder, "ref.fa", to_fasta([(name, bases) for name, bases in contigs if name in plain]))
    theirs, their_proteins = os.path.join(folder, "x.fa"), os.path.join(folder, "y.fa")
    tool("gffread", "-g", reference, "-x", theirs, "-y", their_proteins, simple)
    def by_name(path, prefix=""):
        return {name[len(prefix):]: bases for name, bases in parse_fasta(read(path).decode())}
    ours = {name: bases for name, bases in by_name(cds).items() if name.rsplit("_", 1)[0] in plain}
    # gffread leaves out the bases before the first whole codon.
    called = genes(read(out).decode())
    skipped = {g["attributes"]["ID"][5:] + ".1": int((cds[0] if g["strand"] == "+" else cds[-1])["phase"]) for g, cds in called}
    expect(any(skipped.values()), "no gene begins within a codon")
    expect_equal(by_name(theirs, "transcript:"), {name: bases[skipped[name]:] for name, bases in ours.items()}, "coding sequences")
    whole = {g["attributes"]["ID"][5:] + ".1" for g, _ in called if g["attributes"]["status"] == "complete"}
    wanted = {name: protein for name, protein in by_name(proteins).items() if name in whole}
    theirs = {name: protein.rstrip(".*") for name, protein in by_name(their_proteins, "transcript:").items() if name in whole}
    expect_equal(theirs, wanted, "proteins of complete genes")


@case
def bcftools_csq_names_consequences():
    contigs, out, _, _, ref = outputs_for_tools()
    bases = dict(contigs)["c1"]
    first = next(cds[0] for gene, cds in genes(read(out).decode()) if gene["contig"] == "c1")
    at = first["begin"] + 3
    codon = bases[at:at + 3]
    # A change of the second codon's first base to that of a stop, or of another amino acid.
    alt = next(b for b in "ACGT" if b != codon[0] and translated(b + codon[1:]) != translated(codon))
    kind = "stop_gained" if translated(alt + codon[1:]) == "*" else "missense"
    vcf = write(fresh(), "in.vcf", "##fileformat=VCFv4.2\n##contig=<ID=c1>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\nc1\t%d\t.\t%s\t%s\t.\t.\t.\n"
                % (at + 1, codon[0], alt))
    tool("samtools", "faidx", ref)
    result = tool("bcftools", "csq", "-f", ref, "-g", out, vcf)
    expect("BCSQ=" + kind + "|" in result.text, "no consequence", result)


AUGUSTUS = "/usr/share/doc/augustus/tutorial-cgp/data"


def slice_of_augustus():
    folder = os.environ.get("CARBON_AUGUSTUS_DOC", AUGUSTUS)
    def text(path):
        for name in (path, path + ".gz"):
            if os.path.exists(os.path.join(folder, name)):
                return decompress(read(os.path.join(folder, name))).decode()
        raise Skip("Debian's augustus-doc is not installed")
    bases = re.sub(r"\s", "", text("genomes/hg38.fa").split("\n", 1)[1])
    transcripts = {}
    for line in text("refseq/refseq.hg38.gtf").splitlines():
        fields = line.split("\t")
        if fields[2] in ("CDS", "stop_codon"):
            name = re.search('transcript_id "([^"]+)"', fields[8]).group(1)
            transcripts.setdefault((name, fields[6]), []).append((int(fields[3]) - 1, int(fields[4])))
    chosen = []
    for (name, strand), parts in sorted(transcripts.items(), key=lambda item: -sum(b - a for a, b in item[1])):
        exons = []
        for a, b in sorted(parts):
            if exons and a <= exons[-1][1]:
                exons[-1] = (exons[-1][0], max(b, exons[-1][1]))
            else:
                exons.append((a, b))
        if all(exons[-1][1] <= other[0][0] or other[-1][1] <= exons[0][0] for side, other in chosen if side == strand):
            chosen.append((strand, exons))
    return bases, chosen


@case
def genes_of_a_human_slice():
    bases, chosen = slice_of_augustus()
    expect_equal((len(bases), len(chosen), sum(len(exons) for _, exons in chosen)), (210155, 8, 83), "bases, genes and exons of the slice")
    rows = {"+": [sigmoid(-4)] * len(bases), "-": [sigmoid(-4)] * len(bases)}
    for strand, exons in chosen:
        for a, b in exons:
            rows[strand][a:b] = [sigmoid(4)] * (b - a)
    folder = fresh()
    truth = write(folder, "truth.gtf", "".join('chr16\tx\tCDS\t%d\t%d\t.\t%s\t.\tgene_id "g%d"; transcript_id "t%d";\n' % (a + 1, b, strand, i, i)
                                               for i, (strand, exons) in enumerate(chosen) for a, b in exons))
    out = os.path.join(folder, "out.gff3")
    annotate([("chr16", bases)], {"chr16": rows["+"]}, {"chr16": rows["-"]}, "-o", out)
    measures = {line.split("\t")[0]: line.split("\t")[1:] for line in ok("+genes", out, "--", "--truth", truth).lines()[1:]}
    expect_equal(measures["genes"], ["1", "1", "1", "8", "8", "8", "8"], "genes")
    expect_equal(measures["exons"], ["1", "1", "1", "83", "83", "83", "83"], "exons")
    expect_equal(measures["bases"][:3], ["1", "1", "1"], "bases")


# ---- what is refused


def simple():
    contigs = [("c1", "ACGTACGTAC")]
    return tracks(contigs, {"c1": [0.5] * 10}, {"c1": [0.5] * 10}), fasta(contigs)


@case
def options_that_cannot_be():
    prefix, path = simple()
    expect_failure(carbon("annotate", path), "no model is named", "HuggingFaceBio/Carbon-A-1.2B", "--from-tracks")
    expect_failure(carbon("annotate", "--from-tracks", prefix, "-m", "x", path), "-m")
    for arguments, words in {("--code", 27): ("27", "also stand for amino acids"), ("--code", 7): ("7", "expected"),
                             ("--start", "ATG,TAA"): ("TAA", "stop codon"), ("--start", "AUG"): ("AUG", "--start"),
                             ("--code", 2, "--start", "AGA"): ("AGA", "code 2"), ("--gene-cost", "-1"): ("--gene-cost", "from 0"),
                             ("--intron-cost", "nan"): ("--intron-cost",), ("--min-score", "1.5"): ("--min-score", "from 0 to 1"),
                             ("--min-intron", 3): ("4",), ("--min-intron", 1001): ("1000",), ("--max-intron", 19): ("--max-intron", "min-intron 20"),
                             ("--introns", "maybe"): ("introns",), ("--preset", "eukaryote"): ("--preset", "--genes runs"),
                             ("--stair-inward-shift", 3): ("--stair-inward-shift",), ("--genes", "runs", "--code", 1): ("--code", "--genes model"),
                             ("--genes", "runs", "--proteins", "p.fa"): ("--proteins",), ("--genes", "all"): ("model",),
                             ("-o", "out.vcf"): ("out.vcf", "GFF3")}.items():
        expect_failure(carbon("annotate", "--from-tracks", prefix, *arguments, path), *words)


@case
def inputs_that_cannot_be():
    prefix, path = simple()
    def refused(*words, prefix=prefix, path=path, **more):
        out = os.path.join(fresh(), "out.gff3")
        expect_failure(carbon("annotate", "--from-tracks", prefix, "-o", out, path, **more), *words)
        expect_equal(os.listdir(os.path.dirname(out)), [], "files")
    refused("no.plus.bw", prefix="no")
    refused("c2", "not in this track", path=fasta([("c1", "ACGTACGTAC"), ("c2", "ACGT")]))
    refused("c1", "10 bases here and 9", path=fasta([("c1", "ACGTACGTA")]))
    refused("c1", "same IDs", path=fasta([("c1", "ACGTACGTAC")] * 2))
    refused("FASTQ", path=write(fresh(), "x.fq", "@c1\nACGT\n+\nIIII\n"))
    refused("'L'", path=write(fresh(), "x.gb", "LOCUS       c1\n"))
    for value in (1.25, -0.5):
        wrong = tracks([("c1", "ACGTACGTAC")], {"c1": [0.5] * 10}, {"c1": [0.5] * 9 + [value]})
        refused("minus.bw", "c1:10", "from 0 to 1", prefix=wrong)
    same = os.path.dirname(prefix)
    expect_failure(carbon("annotate", "--from-tracks", prefix, "-o", prefix + ".plus.bw", path), "plus.bw")
    expect(os.path.getsize(prefix + ".plus.bw") > 0 and sorted(os.listdir(same)) == ["in.minus.bw", "in.plus.bw"], "tracks")


@case
def damaged_tracks():
    prefix, path = simple()
    good = read(prefix + ".plus.bw")

    def refused(content, *words):
        folder = fresh()
        write(folder, "in.plus.bw", content)
        shutil.copy(prefix + ".minus.bw", folder)
        expect_failure(carbon("annotate", "--from-tracks", os.path.join(folder, "in"), path), "in.plus.bw", *words)

    refused(b"", "too short")
    refused(b"\0" * 100, "not a bigWig")
    refused(good[:4][::-1] + good[4:], "big-endian")
    refused(struct.pack("<I", 0x8789F2EB) + good[4:], "bigBed")
    refused(good[:70], "beyond the end")
    for field in (8, 24):  # where contigs and the index lie
        refused(good[:field] + struct.pack("<Q", 1 << 60) + good[field + 8:], "damaged")
    refused(good[:52] + struct.pack("<I", 1 << 30) + good[56:], "blocks of")
    index = struct.unpack("<Q", good[24:32])[0]
    leaf = index + 48 + 4
    offset, size = struct.unpack("<QQ", good[leaf + 16:leaf + 32])
    refused(good[:offset] + b"\xff" * size + good[offset + size:], "decompressed")
    refused(good[:leaf + 24] + struct.pack("<Q", 1 << 62) + good[leaf + 32:], "beyond the end")
    # A node that leads to itself.
    refused(good[:index + 48] + struct.pack("<BBH", 0, 0, 1) + struct.pack("<IIIIQ", 0, 0, 0, 10, index + 48) + good[index + 48 + 28:], "no end")

    def block(kind, items, count, contig=0, begin=0, step=1, span=1):
        packed = zlib.compress(struct.pack("<IIIIIBBH", contig, begin, 10, step, span, kind, 0, count) + items)
        return good[:leaf + 16] + struct.pack("<QQ", len(good), len(packed)) + good[leaf + 32:] + packed

    refused(block(9, b"", 1), "kind 9")
    refused(block(3, b"", 1), "too short")
    refused(block(3, struct.pack("<ff", 0.5, 0.5), 2, begin=9), "base 11 of a contig of 10")
    refused(block(3, struct.pack("<ff", 0.5, 0.5), 2, step=0), "overlap")
    refused(block(1, struct.pack("<IIfIIf", 0, 5, 0.5, 4, 6, 0.5), 2), "overlap")
    refused(block(1, struct.pack("<IIf", 5, 5, 0.5), 1), "not in order")
    refused(block(2, struct.pack("<If", 0xFFFFFFFF, 0.5), 1), "base 4294967296")


@case
def memory_of_a_long_contig():
    """A contig whose probabilities do not fit in memory as they are kept for short ones: they lie in a file meanwhile."""
    n = 34_000_000
    rng = random.Random(5)
    line = "".join(rng.choice("ACGT") for _ in range(999)) + "N"
    path = write(fresh(), "long.fa", ">c\n" + (line + "\n") * (n // len(line)))
    prefix = os.path.join(fresh(), "in")
    for strand in ("plus", "minus"):
        track = open_bigwig("%s.%s.bw" % (prefix, strand), "w")
        track.addHeader([("c", n)])
        track.addEntries(["c", "c"], [0, n - 1000], ends=[1000, n], values=[0.25, 0.75])
        track.close()
    kilobytes = peak_memory("annotate", "-q", "--from-tracks", prefix, path)
    expect(kilobytes < 2 * n / 1024 + 250_000, "%d KiB for %d bases" % (kilobytes, n))


if __name__ == "__main__":
    main()
