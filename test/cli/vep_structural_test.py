"""carbon vep scores structural variants by their letters, and leaves records of every kind as they were written."""

import os
import random

from harness import (case, expect, expect_equal, fresh, model, main, ok, read, records, reverse_complement, tool,
                     without_tags, write)
from vep_reference_support import BOTH, SMALL, Comparison, as_vcf, random_bases, run_vep, upper
from vep_support import OTHER, WINDOW, values
from vep_variants_support import ACGT, fasta_of, repeats_genome, rows_of_every_kind, tags

DEFINITIONS = """##INFO=<ID=END,Number=1,Type=Integer,Description="Last base">
##INFO=<ID=SVTYPE,Number=1,Type=String,Description="Type">
##INFO=<ID=SVLEN,Number=%s,Type=Integer,Description="Length">
##INFO=<ID=IMPRECISE,Number=0,Type=Flag,Description="Imprecise">
##INFO=<ID=PRECISE,Number=0,Type=Flag,Description="Precise">
##INFO=<ID=CIPOS,Number=%s,Type=Integer,Description="Interval of POS">
##INFO=<ID=CIEND,Number=%s,Type=Integer,Description="Interval of END">
##INFO=<ID=HOMLEN,Number=%s,Type=Integer,Description="Homology">
"""
NUMBERS_42, NUMBERS_44 = (".", "2", "2", "."), ("A", ".", ".", "A")


def sv_vcf(rows, contigs, numbers=NUMBERS_42):
    """Rows of (contig, pos, REF, ALT, INFO); ID is the number of the row."""
    text = as_vcf([], contigs).replace("##contig", DEFINITIONS % numbers + "##contig", 1)
    return text + "".join("%s\t%d\trow%d\t%s\t%s\t.\t.\t%s\n" % (c, pos, i, ref, alt, info)
                          for i, (c, pos, ref, alt, info) in enumerate(rows))


def sv_genome():
    genome = repeats_genome()
    return {"inner": genome["inner"], "starts": genome["starts"], "ends_t": genome["ends_t"], "gaps": genome["gaps"]}


def spelled_sv(bases, pos, alt, length):
    """REF and ALT in letters, written here again."""
    anchor, body = bases[pos - 1], bases[pos:pos + length]
    return anchor + body, anchor + {"<DEL>": "", "<INV>": reverse_complement(body)}.get(alt, body + body)


@case
def structural_variants_are_their_letters():
    genome = sv_genome()
    bases_of, rng, rows, meant = upper(genome), random.Random(33), [], []
    places = [("inner", bases_of["inner"].index(unit) + shift) for unit in ("A" * 10, "CA" * 8, "GAT" * 6) for shift in (0, 1, 3)]
    places += [("starts", 1), ("starts", 2), ("starts", 7), ("starts", 40), ("ends_t", 80), ("ends_t", 93), ("ends_t", 98),
               *(("inner", rng.randrange(1, 400)) for _ in range(12))]
    for contig, pos in places:
        bases = bases_of[contig]
        for alt in ("<DEL>", "<DUP>", "<DUP:TANDEM>", "<INV>"):
            for length in rng.sample((1, 2, 3, 4, 6, 9, 15, 22, 23), 3):
                if pos + length > len(bases):
                    continue
                anchor, end, signed = bases[pos - 1], pos + length, -length if alt == "<DEL>" else length
                ref, letters = spelled_sv(bases, pos, alt, length)
                if ref != letters:  # that would be the reference itself, and a score of 0
                    rows.append((contig, pos, ref, letters, "."))
                    meant.append((contig, pos, alt, length))
                for ref, info in ((anchor, "END=%d;SVLEN=%d" % (end, signed)), ("N", "END=%d" % end),
                                  (anchor.lower(), "SVLEN=%d;PRECISE" % signed),
                                  (anchor, "SVTYPE=X;END=%d;SVLEN=0;CIPOS=0,2;CIEND=0,2;HOMLEN=2" % end),
                                  (bases[pos - 1:pos + 1], "SVLEN=%d;CIPOS=0,0" % -signed)):
                    rows.append((contig, pos, ref, alt, info))
                    meant.append((contig, pos, alt, length))
    fasta = fasta_of(genome)
    for numbers in (NUMBERS_42, NUMBERS_44, ("1", "2", "2", "1")):
        path = write(fresh(), "sv.vcf", sv_vcf(rows, genome, numbers))
        for strand, phases in ((None, None), ("+", "1"), ("-", "6"))[:1 if numbers is NUMBERS_44 else 3]:
            found, scores = {}, 0
            for line, key in zip(run_vep(SMALL, fasta, path, BOTH, WINDOW, 30, strand, phases), meant):
                got = tags(line)
                scores += "CARBON_LLR" in got
                expect_equal(got, found.setdefault(key, got), "%s of %r" % (" ".join(line.split("\t")[:8]), key))
            expect(scores > 1000 and len({str(got) for got in found.values()}) > 80, "%d scores of %d" % (scores, len(found)))


@case
def structural_variants_beside_the_reference():
    genome = sv_genome()
    rng, rows = random.Random(34), []
    for contig, bases in genome.items():
        for pos in [*range(1, 10), *range(len(bases) - 9, len(bases) + 1), *(rng.randrange(1, len(bases)) for _ in range(30))]:
            length = rng.choice((1, 2, 3, 5, 6, 12, 23, 24, 25, 50))
            alt = rng.choice(("<DEL>", "<DUP>", "<DUP:TANDEM>", "<INV>"))
            # Only where the FASTA has a base at POS; see what_the_contract_leaves_open.
            if bases[pos - 1] in ACGT:
                rows.append((contig, pos, rng.choice((bases[pos - 1], "N")), alt, rng.choice(("END=%d" % (pos + length), "SVLEN=%d" % -length))))
    compared, fasta, path = Comparison(), fasta_of(genome), write(fresh(), "sv.vcf", sv_vcf(rows, genome))
    for window, strand, phases in ((48, None, None), (48, "-", "1"), (120, "+", None), (24, "-", "6")):
        compared.check(SMALL, genome, fasta, path, BOTH, window, 30, strand, phases)
    compared.report("structural variants")
    expect(compared.scores > 250, "%d scores" % compared.scores)
    expect({"edge", "non_acgt", "too_long", "multibase"} <= set(compared.flags), "flags %r" % compared.flags)


INNER = repeats_genome()["inner"]
P = 100  # POS of the records below
GOOD, BAD = None, "symbolic"
# (ALT, INFO, flag of each ALT); window 48, contig "inner" of 4xx bases
RULES = (
    ("<DEL>", "END=110", GOOD), ("<DEL>", ".", BAD), ("<DEL>", "SVTYPE=DEL", BAD), ("<DEL>", "END=100", BAD), ("<DEL>", "END=101", GOOD),
    ("<DEL>", "SVLEN=-10", GOOD), ("<DEL>", "SVLEN=10", GOOD), ("<DEL>", "SVLEN=0", BAD), ("<DEL>", "SVLEN=.", BAD),
    ("<DEL>", "END=110;SVLEN=-10", GOOD), ("<DEL>", "END=110;SVLEN=10", GOOD), ("<DEL>", "END=110;SVLEN=0", GOOD),
    ("<DEL>", "END=110;SVLEN=.", GOOD), ("<DEL>", "END=.;SVLEN=-10", GOOD), ("<DEL>", "END=.", BAD),
    ("<DEL>", "END=110;SVLEN=-11", BAD), ("<DEL>", "END=110;SVLEN=-9", BAD), ("<DEL>", "END=100;SVLEN=-10", BAD),
    ("<DEL>", "END=110;IMPRECISE", BAD), ("<DEL>", "SVLEN=-10;IMPRECISE", BAD), ("<DEL>", "END=110;PRECISE", GOOD),
    ("<DEL>", "END=110;CIPOS=0,0;CIEND=0,0", GOOD), ("<DEL>", "END=110;CIPOS=0,1", BAD), ("<DEL>", "END=110;CIPOS=-1,0", BAD),
    ("<DEL>", "END=110;CIEND=0,1", BAD), ("<DEL>", "END=110;CIEND=-1,0", BAD), ("<DEL>", "END=110;CIPOS=0,0;CIEND=0,1", BAD),
    ("<DEL>", "END=110;CIPOS=0,3;HOMLEN=3", GOOD), ("<DEL>", "END=110;CIPOS=0,4;HOMLEN=3", BAD), ("<DEL>", "END=110;CIPOS=0,2;HOMLEN=3", GOOD),
    ("<DEL>", "END=110;CIPOS=-1,2;HOMLEN=3", GOOD), ("<DEL>", "END=110;CIPOS=0,3;CIEND=0,3;HOMLEN=3", GOOD),
    ("<DEL>", "END=110;CIPOS=0,3;CIEND=0,4;HOMLEN=3", BAD), ("<DEL>", "END=110;HOMLEN=3", GOOD), ("<DEL>", "END=110;CIPOS=0,3;HOMLEN=.", BAD),
    ("<DUP>", "END=110", GOOD), ("<DUP>", "SVLEN=10", GOOD), ("<DUP>", "END=110;SVLEN=10", GOOD), ("<DUP>", "END=110;SVLEN=11", BAD),
    ("<DUP:TANDEM>", "END=110;SVLEN=10", GOOD), ("<DUP:TANDEM>", "END=110;IMPRECISE", BAD), ("<DUP>", ".", BAD),
    ("<INV>", "END=110", GOOD), ("<INV>", "END=110;SVLEN=0", GOOD), ("<INV>", "SVLEN=10", GOOD), ("<INV>", "SVLEN=0", BAD),
    ("<INV>", "END=110;SVLEN=10", GOOD), ("<INV>", "END=110;SVLEN=12", BAD), ("<INV>", "END=110;CIPOS=0,1", BAD),
    ("<INS>", "END=110;SVLEN=10", BAD), ("<CNV>", "END=110;SVLEN=10", BAD), ("<DEL:ME>", "END=110;SVLEN=-10", BAD),
    ("<DEL:ME:ALU>", "END=110", BAD), ("<DUP:DISPERSED>", "END=110", BAD), ("<*>", "END=110", BAD), ("<NON_REF>", "END=110;SVLEN=10", BAD),
    ("<INV:X>", "END=110", BAD), ("<DELETION>", "END=110", BAD),
    # several alternatives: END does not count
    ("<DEL>,<DUP>", "SVLEN=-10,12", (GOOD, GOOD)), ("<DEL>,<DUP>", "SVLEN=-10,.", (GOOD, BAD)), ("<DEL>,<DUP>", "END=110", (BAD, BAD)),
    ("<DEL>,<INV>", "SVLEN=-10,0", (GOOD, BAD)), ("<DEL>,<NON_REF>", "SVLEN=-10,.", (GOOD, BAD)), ("<DEL>,<DEL>", "SVLEN=-10,-500", (GOOD, "edge")),
    ("%s,<DEL>" % OTHER[INNER[P - 1]], "SVLEN=.,-10", (GOOD, GOOD)), ("%s,<DEL>" % OTHER[INNER[P - 1]], "END=110", (GOOD, BAD)),
    ("<DEL>,*", "SVLEN=-10,.", (GOOD, "star")), ("<DEL>,<DUP>", "SVLEN=-10,30", (GOOD, "too_long")),
    ("<DEL>,<DUP>", "SVLEN=-10,12;IMPRECISE", (BAD, BAD)),
    ("<DEL>", "END=110;CIPOS=-19,19;CIEND=-19,19;HOMLEN=18", BAD), ("<DEL>", "END=110;CIPOS=-19,19;CIEND=-19,19;HOMLEN=18;PRECISE", GOOD),
    # the contig's end and the window
    ("<DEL>", "END=%d" % len(INNER), "too_long"), ("<DEL>", "END=%d" % (len(INNER) + 1), "edge"), ("<DEL>", "SVLEN=-2000000000", "edge"),
    ("<DUP>", "END=2147483647", "edge"), ("<INV>", "SVLEN=%d" % (len(INNER) - P + 1), "edge"),
    ("<DEL>", "END=123", GOOD), ("<DEL>", "END=124", "too_long"), ("<DUP>", "END=123", GOOD), ("<DUP>", "END=124", "too_long"),
    ("<INV>", "END=124", GOOD), ("<INV>", "END=125", "too_long"),
)


@case
def rules_of_structural_variants():
    genome = {"inner": INNER}
    rows = [("inner", P, ref, alt, info) for alt, info, _ in RULES for ref in (INNER[P - 1], "N", INNER[P - 1].lower())
            if ref != "N" or alt.count("<") == alt.count(",") + 1]
    wanted = {(alt, info): list(flags) if isinstance(flags, tuple) else [flags] for alt, info, flags in RULES}
    fasta = fasta_of(genome)
    for numbers in (NUMBERS_42, NUMBERS_44):
        path = write(fresh(), "sv.vcf", sv_vcf(rows, genome, numbers))
        for line, row in zip(run_vep(SMALL, fasta, path, ("centered",), WINDOW, 30, "+"), rows):
            flags = wanted[row[3], row[4]]
            expect_equal(values(line, "CARBON_FLAG"), flags if any(flags) else None, "flag of %s:%d %s>%s %s" % row)
            expect_equal([value is None for value in values(line, "CARBON_LLR")], [flag is not None for flag in flags], "score of %r" % (row,))
    compared = Comparison()
    compared.check(SMALL, genome, fasta, path, BOTH, WINDOW, 30)
    compared.report("rules")


# (ALT, INFO, flag of each ALT), read alike whatever the header says of the tags.
ANY_TYPE = (
    ("<DEL>", "END=110", GOOD), ("<DEL>", "SVLEN=-10", GOOD), ("<DEL>", "END=110;SVLEN=-11", BAD), ("<DEL>", "END=110;CIPOS=0,0;CIEND=0,0", GOOD),
    ("<DEL>", "END=110;CIPOS=0,3", BAD), ("<DEL>", "END=110;CIEND=-3,0", BAD), ("<DEL>", "END=110;CIPOS=0,3;HOMLEN=3", GOOD), ("<DEL>", "END=110;CIPOS=0,3;HOMLEN=2", BAD),
    ("<DEL>", "END=110;CIPOS=3", BAD), ("<DEL>", "END=110;CIPOS=0,0,0", BAD), ("<DEL>", "END=110;CIPOS=0,.", BAD), ("<DEL>", "END=110;CIPOS=.", GOOD), ("<DEL>", "END=110;CIPOS=.,.", BAD),
    ("<DEL>", "END=110;CIPOS=a,b", BAD), ("<DEL>,<DUP>", "SVLEN=-10,12;CIPOS=0,0,.,.", (GOOD, GOOD)),
    ("<DEL>", "END=110;CIPOS=3,-3", BAD), ("<DEL>", "END=110;CIPOS95=-2,2", BAD), ("<DEL>", "END=110;CIEND95=0,0", GOOD), ("<DEL>", "END=110;CILEN=-1,1;HOMLEN=5", BAD),
    ("<DEL>", "END=110;PRECISE", GOOD), ("<DEL>", "END=110;CIPOS=0,3;PRECISE=1", GOOD), ("<DEL>", "END=110;CIPOS=0,3;PRECISE=0", BAD), ("<DEL>", "END=110;PRECISE=0", BAD),
    ("<DEL>", "END=110;IMPRECISE=0", GOOD), ("<DEL>", "END=110;IMPRECISE=1", BAD), ("<DEL>", "END=110;IMPRECISE", BAD), ("<DEL>", "END=110;IMPRECISE=7", BAD),
    ("<DEL>,<DUP>", "SVLEN=-10,12;CIPOS=0,0,0,5", (GOOD, BAD)), ("<DEL>,<DUP>", "SVLEN=-10", (BAD, BAD)), ("<DEL>,<DUP>", "SVLEN=-10,12;CN=1,4", (GOOD, BAD)),
)
# Of the types that their callers write.
SAID = (
    ("<DEL>", "END=110;PRECISE=false", BAD), ("<DEL>", "END=110;PRECISE=maybe", BAD), ("<DEL>", "END=110;IMPRECISE=False", GOOD),
    ("<DEL>", "END=110;CT=3to5", GOOD), ("<DEL>", "END=110;CT=5to3", BAD), ("<DUP>", "END=110;CT=5to3", GOOD), ("<INV>", "END=110;CT=3to3", BAD),
    ("<DEL>", "END=110;SVINSLEN=0;INSLEN=0", GOOD), ("<DEL>", "END=110;SVINSLEN=4", BAD), ("<DEL>", "END=110;INSLEN=4", BAD), ("<DEL>", "END=110;NTLEN=2", BAD),
    ("<DEL>", "END=110;SVINSSEQ=ACGT;SVINSLEN=3", BAD), ("<DEL>", "END=110;SVINSSEQ=ACGT;INSSEQ=ACGA", BAD), ("<DEL>", "END=110;SVINSSEQ=12", BAD),
    ("<DEL>", "END=110;SVINSSEQ=.", GOOD), ("<DEL>", "END=110;SVINSSEQ=ACNT", "non_acgt"), ("<DEL>", "END=110;SVINSSEQ=acgr", "non_acgt"),
    ("<DEL>", "END=110;LEFT_SVINSSEQ=ACGT;RIGHT_SVINSSEQ=AC", BAD), ("<DEL>", "END=110;DUPSVINSSEQ=ACGT", BAD), ("<DUP>", "END=110;DUPSVINSLEN=4", BAD),
    ("<INV>", "END=110;SVINSSEQ=ACGT", BAD), ("<INV>", "END=110;INV3", BAD), ("<INV>", "END=110;INV5", BAD), ("<INV>", "END=110;INV5=0", GOOD),
    ("<INV>", "END=110;STRANDS=++:4,--:6", GOOD), ("<INV>", "END=110;STRANDS=++:4,--:0", BAD), ("<DEL>", "END=110;STRANDS=+-:4", GOOD),
    ("<DUP>", "END=110;CN=2", GOOD), ("<DUP>", "END=110;CN=3", BAD), ("<DUP>", "END=110;CN=5", BAD), ("<DUP>", "END=110;CN=.", GOOD),
    ("<DEL>", "END=110;CN=1", GOOD), ("<DEL>", "END=110;CN=2", BAD), ("<DUP>", "END=110;CN=2;CICN=-1,1", BAD),
    ("<DEL>", "END=110;SVTYPE=DEL", GOOD), ("<DEL>", "END=110;SVTYPE=CNV", BAD), ("<DUP>", "END=110;SVTYPE=CNV", BAD), ("<DUP>", "END=110;SVTYPE=INS", BAD),
    ("<DUP>", "END=110;SVTYPE=DUP:TANDEM", GOOD), ("<DEL>", "END=110;EVENTTYPE=CHROMOTHRIPSIS", BAD), ("<DEL>", "END=110;EVENTTYPE=DEL", GOOD),
    ("<DUP>", "END=110;SVCLAIM=J", GOOD), ("<DUP>", "END=110;SVCLAIM=DJ", GOOD), ("<DUP>", "END=110;SVCLAIM=D", BAD), ("<DUP>", "END=110;SVCLAIM=X", BAD),
    ("<DUP>", "END=110;SVCLAIM=.", GOOD), ("<DEL>,<DUP>", "SVLEN=-10,12;SVCLAIM=D,J", (BAD, GOOD)), ("<DEL>", "END=110;REFLEN=10", BAD),
    ("<DEL>", "END=110;ALGORITHMS=depth", BAD), ("<DEL>", "END=110;ALGORITHMS=depth,manta", GOOD), ("<DEL>", "END=110;EVIDENCE=RD", BAD),
    ("<DEL>", "END=110;CPX_TYPE=delINV", BAD), ("<DEL>", "END=110;MEINFO=AluY,1,280,+", GOOD),
)


def flags_of_rules(rules, head):
    text = "".join(line for line in as_vcf([], {"inner": INNER}).splitlines(True) if not line.startswith("##INFO"))
    text = text.replace("##contig", head + "##contig", 1)
    text += "".join("inner\t%d\t.\t%s\t%s\t.\t.\t%s\n" % (P, INNER[P - 1], alt, info) for alt, info, _ in rules)
    lines = run_vep(SMALL, fasta_of({"inner": INNER}), write(fresh(), "sv.vcf", text), ("centered",), WINDOW, 30, "+")
    expect_equal(len(lines), len(rules), "records")
    for line, (alt, info, flags) in zip(lines, rules):
        flags = list(flags) if isinstance(flags, tuple) else [flags]
        expect_equal(values(line, "CARBON_FLAG"), flags if any(flags) else None, "%s %s beside %r" % (alt, info, head))
        expect_equal([value is None for value in values(line, "CARBON_LLR")], [flag is not None for flag in flags], "score of %s %s" % (alt, info))


@case
def what_a_record_says_is_read_whatever_its_header():
    tags_used = ("END", "SVLEN", "CIPOS", "CIEND", "CIPOS95", "CIEND95", "CILEN", "HOMLEN", "PRECISE", "IMPRECISE", "CN")
    for kind in ("String", "Integer", "Float"):
        flags_of_rules(ANY_TYPE, "".join('##INFO=<ID=%s,Number=.,Type=%s,Description="x">\n' % (tag, kind) for tag in tags_used))
    # Without definitions, and with flags that have a value.
    flags_of_rules(ANY_TYPE, "")
    flags_of_rules(ANY_TYPE, "".join('##INFO=<ID=%s,Number=0,Type=Flag,Description="x">\n' % tag for tag in ("PRECISE", "IMPRECISE", "CIPOS")))
    words = tuple(("<DEL>", info, BAD) for info in ("END=x110", "END=110x", "END=110;SVLEN=ten", "END=110;CIPOS=a,b", "END=110;HOMLEN=nan", "END=110.5"))
    flags_of_rules(words, "")


@case
def what_a_record_says_beside_its_ends():
    flags_of_rules(SAID, "")
    flags_of_rules(SAID, '##INFO=<ID=INV3,Number=0,Type=Flag,Description="x">\n##INFO=<ID=INV5,Number=0,Type=Flag,Description="x">\n'
                   '##INFO=<ID=CN,Number=A,Type=Float,Description="x">\n##INFO=<ID=REFLEN,Number=1,Type=Integer,Description="x">\n'
                   '##INFO=<ID=SVINSLEN,Number=.,Type=Integer,Description="x">\n##INFO=<ID=INSLEN,Number=1,Type=Integer,Description="x">\n')


@case
def inserted_bases_are_used():
    base, body = INNER[P - 1], INNER[P:P + 10]
    rows, meant = [], []
    for alt, info, ref, letters in (
            ("<DEL>", "END=110;SVLEN=-10;SVINSLEN=4;SVINSSEQ=ACGT", base + body, base + "ACGT"),
            ("<DEL>", "END=110;SVLEN=-6;INSSEQ=acgt", base + body, base + "ACGT"),
            ("<DEL>", "END=110;SVINSSEQ=%s" % body[:9], base + body, base + body[:9]),
            ("<DEL>", "END=103;SVINSSEQ=ACGTTGCAACGTAA", base + body[:3], base + "ACGTTGCAACGTAA"),
            ("<DUP>", "END=110;SVLEN=10;DUPSVINSSEQ=ACGT;DUPSVINSLEN=4", base, base + body + "ACGT"),
            ("<DUP:TANDEM>", "END=110;SVLEN=14;SVINSSEQ=ACGT", base, base + body + "ACGT")):
        rows += [("inner", P, base, alt, info), ("inner", P, ref, letters, ".")]
        meant.append(info)
    path = write(fresh(), "sv.vcf", sv_vcf(rows, {"inner": INNER}))
    found = [tags(line) for line in run_vep(SMALL, fasta_of({"inner": INNER}), path, BOTH, WINDOW, 30, None)]
    for i, info in enumerate(meant):
        expect("CARBON_LLR" in found[2 * i], info)
        expect_equal(found[2 * i], found[2 * i + 1], info)


@case
def flags_of_structural_variants_before_they_are_read():
    genome = {"c": "ACGTACGTAC" + "N" * 3 + INNER[:90], "d": "ACGTACGTACGTACGTACGTACGTACGTAC"}
    wrong = OTHER[genome["c"][19]]
    rows = (("absent", 5, "A", "<DEL>", "END=9", "no_contig"), ("c", 0, "N", "<DEL>", "END=9", "edge"), ("c", 104, "N", "<DEL>", "END=109", "edge"),
            ("c", 103, INNER[89], "<DEL>", "END=104", "edge"), ("c", 103, INNER[89], "<DEL>", "END=103", "symbolic"),
            ("c", 102, INNER[88], "<DEL>", "END=103", None), ("c", 102, INNER[88], "<DUP>", "SVLEN=1", None),
            ("c", 9, "A", "<DEL>", "END=10", None), ("c", 9, "A", "<DEL>", "END=11", "non_acgt"), ("c", 9, "A", "<DUP>", "END=14", "non_acgt"),
            ("c", 9, "A", "<INV>", "END=14", "non_acgt"), ("c", 1, "A", "<DEL>", "END=14", "non_acgt"),
            ("c", 5, "A", "<DEL>", "END=34", "too_long"),  # judged before the letters are read
            ("c", 20, wrong, "<DEL>", "END=25", "ref_mismatch"), ("c", 20, "R", "<DEL>", "END=25", "non_acgt"), ("c", 20, wrong, "<DEL>", ".", "symbolic"),
            ("d", 1, "A", "<DEL>", "END=20", None), ("d", 1, "N", "<DEL>", "END=24", None), ("d", 1, "N", "<DEL>", "END=25", "too_long"),
            ("d", 1, "ACGTA", "<DEL>", "END=20", None), ("d", 1, "ACGTC", "<DEL>", "END=20", "ref_mismatch"))
    path = write(fresh(), "sv.vcf", sv_vcf([row[:5] for row in rows], [*genome, "absent"]))
    for line, row in zip(run_vep(SMALL, fasta_of(genome), path, ("centered",), WINDOW, 30, "both"), rows):
        expect_equal(values(line, "CARBON_FLAG"), [row[5]] if row[5] else None, "flag of %s:%d %s>%s %s" % row[:5])


@case
def inversions_that_are_something_else():
    # One base reversed is an SNV, AT is its own reverse complement, ACT becomes AGT.
    bases = random_bases(random.Random(35), 60) + "GACTCATGG" + random_bases(random.Random(36), 60)
    rows = (("c", 61, "G", "<INV>", "END=62"), ("c", 62, "A", "T", "."), ("c", 65, "C", "<INV>", "END=67"), ("c", 61, "G", "<INV>", "END=64"), ("c", 63, "C", "G", "."))
    path = write(fresh(), "sv.vcf", sv_vcf(rows, ["c"]))
    got = [tags(line) for line in run_vep(SMALL, fasta_of({"c": bases}), path, BOTH, WINDOW, 30, None)]
    expect_equal(got[0], tags(run_vep(SMALL, fasta_of({"c": bases}), write(fresh(), "in.vcf", as_vcf([("c", 62, "A", "T")], ["c"])), BOTH, WINDOW, 30, None)[0]), "an SNV alone")
    expect_equal((got[0], got[3]), (got[1], got[4]), "SNVs")
    expect_equal(got[2], {"CARBON_LLR": ["0"], "CARBON_NT": ["0"]}, "its own reverse complement")


@case
def what_the_contract_leaves_open():
    # Readings that the contract allows but does not say in so many words; the reference has them too.
    genome = {"c": INNER[:40] + "NN" + INNER[42:90]}
    bases = genome["c"]
    rows = (("c", 42, "N", "<DEL>", "END=45", ["non_acgt"], "the FASTA has an N at POS"),
            ("c", 20, bases[19], "<DEL>", "END=500;IMPRECISE", ["symbolic"], "not precise, so not past the contig"),
            ("c", 20, bases[19], "<DEL>,<DUP>", "END=29;SVLEN=-5,9", [None, None], "END is not compared where it does not count"),
            ("c", 20, OTHER[bases[19]], "<DEL>", "END=85", ["ref_mismatch"], "of the record as written, so before too_long"),
            ("c", 20, bases[19], "<DEL>", "END=30;CIPOS=-2,2;HOMLEN=2", ["symbolic"], "an interval spans high minus low"))
    path = write(fresh(), "sv.vcf", sv_vcf([row[:5] for row in rows], genome))
    for line, row in zip(run_vep(SMALL, fasta_of(genome), path, ("centered",), WINDOW, 30, "+"), rows):
        expect_equal(values(line, "CARBON_FLAG"), row[5] if any(row[5]) else None, "%s: flag of %s:%d %s>%s %s" % (row[6], *row[:5]))


# ---- records -------------------------------------------------------------------------------------------------------


@case
def records_stay_as_they_were():
    genome = repeats_genome()
    rows = [(*row, ".") for row in rows_of_every_kind(genome)] + [("inner", P, "N", alt, info) for alt, info, _ in RULES]
    random.Random(37).shuffle(rows)
    path = write(fresh(), "in.vcf", sv_vcf(rows, genome))
    wanted = records(tool("bcftools", "view", "--no-version", path).text)
    fasta = fasta_of(genome)
    for phases in ("auto", "1"):
        lines = run_vep(SMALL, fasta, path, BOTH, 24, 30, "+", phases)
        expect_equal([without_tags(line) for line in lines], wanted, "records beside bcftools")
    compressed = os.path.join(fresh(), "o.bcf")
    ok("vep", "-m", model(**SMALL), "-f", fasta, "-w", 24, "--max-ref-mismatch", 1, "-o", compressed, path)
    expect_equal([without_tags(line) for line in records(tool("bcftools", "view", compressed).text)], wanted, "records of a BCF")


@case
def batches_threads_and_order_change_nothing():
    genome = repeats_genome()
    rows = [(*row, ".") for row in rows_of_every_kind(genome)]
    rows += [("inner", P, "N", alt, info) for alt, info, _ in RULES]
    rows = random.Random(38).sample(rows, 250)
    fasta, d = fasta_of(genome), fresh()
    path = write(d, "in.vcf", sv_vcf(rows, genome))
    wanted = run_vep(SMALL, fasta, path, BOTH, WINDOW, 30, None)
    for more in (("-@", "1", "--batch-tokens", "1"), ("-@", "2", "--batch-tokens", "50")):
        expect_equal(run_vep(SMALL, fasta, path, BOTH, WINDOW, 30, None, None, *more), wanted, " ".join(more))
    order = sorted(range(len(rows)), key=lambda i: rows[i][:2])
    sorted_path = write(d, "sorted.vcf", sv_vcf([rows[i] for i in order], genome))
    tail = lambda line: line.split("\t", 3)[3]  # IDs are numbers of rows
    expect_equal([tail(line) for line in run_vep(SMALL, fasta, sorted_path, BOTH, WINDOW, 30, None)], [tail(wanted[i]) for i in order], "sorted")


if __name__ == "__main__":
    main()
