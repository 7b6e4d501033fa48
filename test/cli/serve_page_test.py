"""What the page of carbon serve makes of text, run by node: a change in brackets becomes a variant whose score is that of carbon vep."""

import json
import os
import shutil

from generate_support import random_bases
from harness import case, expect, expect_equal, fresh, main, model, ok, to_fasta, tool, write
from serve_support import Server, need_server
from vep_support import HEAD

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def in_page(call, server=None):
    """The JSON of an expression with the functions of formats.js, and with those of api.js, which ask the server."""
    directory = fresh()
    for folder in ("src/serve/page", "src/report/figures"):
        for name in os.listdir(os.path.join(SOURCE, folder)):
            if name.endswith(".js"):
                shutil.copy(os.path.join(SOURCE, folder, name), directory)
    write(directory, "package.json", '{"type":"module"}')
    # A browser completes addresses by that of the page.
    write(directory, "call.js", 'import * as page from "./formats.js";\nimport * as api from "./api.js";\nconst ask = fetch;\n'
          'globalThis.fetch = (path, options) => ask("http://127.0.0.1:%d/" + path, options);\nconsole.log(JSON.stringify(%s));\n'
          % (server.port if server else 0, call))
    return json.loads(tool("node", os.path.join(directory, "call.js")).out)


def parsed(*texts):
    return in_page("%s.map(page.parseVariant)" % json.dumps(texts))


@case
def changes_in_brackets():
    for text, sequence, *variants in (
            ("ACGT[A/G]CC", "ACGTACC", (5, "A", "G")), ("acgu[a/g]cc", "ACGTACC", (5, "A", "G")), ("ACGT[A>G]CC", "ACGTACC", (5, "A", "G")),
            ("[A/G]CC", "ACC", (1, "A", "G")), ("CC[A/G]", "CCA", (3, "A", "G")), ("ACGT[AC/A]CC", "ACGTACCC", (5, "AC", "A")),
            ("ACG[-/T]CC", "ACGCC", (3, "G", "GT")), ("ACG[/T]CC", "ACGCC", (3, "G", "GT")), ("ACG[C/-]CC", "ACGCCC", (3, "GC", "G")),
            ("[-/T]CC", "CC", (1, "C", "TC")), ("[CA/-]GC", "CAGC", (1, "CAG", "G")), ("CC[-/T]", "CC", (2, "C", "CT")),
            ("ACGT[A/G/T]CC", "ACGTACC", (5, "A", "G"), (5, "A", "T")), ("ACGT[A/-/AT]CC", "ACGTACC", (4, "TA", "T"), (4, "TA", "TAT")),
            (">x y [z]\nAC\n", None), (">x y\nACGT\nAC[A/G]\nCC\n", "ACGTACACC", (7, "A", "G")), ("  1 acgt acgt\n  9 a[c/g]t\n", "ACGTACGTACT", (10, "C", "G"))):
        got, = parsed(text)
        if sequence is None:
            expect("problem" in got, "%r is taken: %s" % (text, got))
            continue
        expect_equal((got.get("sequence"), got.get("variants")), (sequence, [{"pos": p, "ref": r, "alt": a} for p, r, a in variants]), text)


@case
def what_is_wrong_is_said():
    for text, *words in (("", "no change"), ("ACGT", "no change"), ("A[C/G]T[C/G]", "several"), ("A[CG]T", "two with a slash"), ("A[C/C]T", "alike"),
                         ("A[C/5]T", "no allele"), ("[A/-]", "beside it"), ("AC!G[A/G]", "line 1, column 3"), ("A[C/G", "no change"), ("A[C/G]]", "no change"),
                         (">a\nAC\n>b\nA[C/G]T\n", "first sequence")):
        got, = parsed(text)
        expect("problem" in got and all(word in got["problem"] for word in words), "%r: %s" % (text, got))


@case
def places_of_the_reference():
    for text, region in (("chr17:43,094,600-43,094,700", "chr17:43094600-43094700"), (" HLA-A*01:01:01:5-9\n", "HLA-A*01:01:01:5-9"), ("chr1:7", "chr1:7"),
                         ("ACGT", None), (">x chr1:5-9\nACGT", None), (">chr1:5-9", None), ("chr1:5-9 ACGT", None), ("chr1:-9", None), ("", None)):
        expect_equal(in_page("page.parseRegion(%s)" % json.dumps(text)), region, text)
    for text, variant in (("chr17:43,094,692 G>T", {"place": "chr17:43094692", "ref": "G", "alt": "T"}),
                          ("c:7 ac>a", {"place": "c:7", "ref": "AC", "alt": "A"}), ("chr1:7-9 A>C", None), ("ACGT[A>C]", None), ("chr1:7", None)):
        expect_equal(in_page("page.parsePlacedVariant(%s)" % json.dumps(text)), variant, text)


@case
def bounds_are_in_the_command():
    settings = {"model": "m", "file": "x.fa", "length": 9, "temperature": 1, "seed": 2, "greedy": False, "gc": [40, 60.5], "avoid": ["GAATTC", "GGTCTC"]}
    got = in_page("page.generatingCommand(%s)" % json.dumps(settings))
    expect_equal(got["command"], "carbon generate -m m -l 9 --seed 2 -T 1 --gc 40-60.5 --avoid 'GAATTC,GGTCTC' x.fa", "command")
    got = in_page("page.generatingCommand(%s)" % json.dumps({**settings, "gc": None, "avoid": [], "greedy": True}))
    expect_equal(got["command"], "carbon generate -m m -l 9 --greedy x.fa", "command")


@case
def scores_are_those_of_vep():
    need_server()
    bases = random_bases(400, 5)
    texts = [bases[:200] + "[%s/%s]" % change + bases[200 + len(change[0].replace("-", "")):]
             for change in (("ACGT"["CGTA".index(bases[200])], bases[200]), (bases[200:203], bases[200]), ("-", "GATT"), (bases[200:202], "-"))]
    with Server() as server:
        for text in texts:
            got, = parsed(text)
            expect("problem" not in got, str(got))
            scored, = server.good("/v1/dna/variants", {"sequence": got["sequence"], "variants": got["variants"]})["results"]
            variant, = got["variants"]
            expect_equal({k: scored[k] for k in variant}, variant, "the variant in the answer")
            directory = fresh()
            fasta = write(directory, "r.fa", to_fasta([("c", got["sequence"])]))
            vcf = write(directory, "in.vcf", HEAD % "##contig=<ID=c>\n" + "c\t%(pos)d\t.\t%(ref)s\t%(alt)s\t.\t.\t.\n" % variant)
            row = ok("vep", "-m", model(), "-f", fasta, "-O", "t", vcf).lines()[-1].split("\t")
            expect(abs(float(row[5]) - scored["score"]) <= 1e-5 * abs(scored["score"]) + 1e-6, "%s, %s" % (row, scored))


@case
def places_have_the_values_of_scan_and_vep():
    need_server()
    bases = random_bases(600, 6)
    directory = fresh()
    fasta = write(directory, "r.fa", to_fasta([("chr1", bases)]))
    change = (bases[299], "ACGT"["CGTA".index(bases[299])])
    region = "page.parseRegion(' chr1:0,201-240')"
    variant = "page.parsePlacedVariant('chr1:300 %s>%s')" % change
    scan = "await api.scan({region: %s}, {strand: '+', frames: 1})" % region
    score = "await (async ({place, ref, alt}) => api.scoreVariants(undefined, [`${place} ${ref}>${alt}`]))(%s)" % variant
    with Server("-f", fasta) as server:
        seen, scored = in_page(scan, server), in_page(score, server)[0]
    expect_equal((seen["chrom"], seen["pos"], seen["sequence"]), ("chr1", 201, bases[200:240]), "what the page shows")
    rows = [line.split("\t") for line in ok("scan", "-m", model(), "-f", fasta, "-r", "chr1:201-240", "--strand", "+", "-O", "bedgraph").table()]
    expect_equal([int(row[1]) for row in rows], list(range(200, 240)), "bases of scan")
    for row, base, logp in zip(rows, seen["sequence"], seen["logp"]):
        expect(abs(float(row[3]) - logp["ACGT".index(base)]) <= 1e-5 * abs(float(row[3])), "%s, %s" % (row, logp))
    vcf = write(directory, "in.vcf", HEAD % "##contig=<ID=chr1>\n" + "chr1\t300\t.\t%s\t%s\t.\t.\t.\n" % change)
    row = ok("vep", "-m", model(), "-f", fasta, "-O", "t", vcf).lines()[-1].split("\t")
    expect(abs(float(row[5]) - scored["score"]) <= 1e-5 * abs(scored["score"]) + 1e-6, "%s, %s" % (row, scored))
    problem = "await (%s).then(() => 'taken', (error) => error.message)"
    with Server() as server:
        for asked in (scan, score):
            message = in_page(problem % ("(async () => %s)()" % asked), server)
            expect("-f" in message and "FASTA" in message, "without a FASTA: " + message)


if __name__ == "__main__":
    main()
