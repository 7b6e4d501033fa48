"""carbon vep scores what a variant means, however it is spelled: normalised alleles and phases.

test/reference/vep_reference.py says what is expected; bcftools norm says the same of the normalised forms. What the
contract promises in bits (every spelling, padded SNVs) is compared as printed. vep_structural_test.py has <DEL> and its kind.
"""

import os
import random

from harness import (carbon, case, decompress, expect, expect_equal, expect_failure, fresh, model, main, ok, read, records,
                     tool, write)
from vep_reference_support import (BOTH, LONGEST, SMALL, UNTIED, Comparison, alleles_of, as_vcf, fitting_genome,
                                   random_bases, run_vep, shared, shared_files, upper, vep_reference)
from vep_support import OTHER, WINDOW, values
from vep_variants_support import ACGT, fasta_of, indels_everywhere, repeats_genome, rows_of_every_kind, spellings, tags

# ---- the normalised form -------------------------------------------------------------------------------------------


def forms_of_bcftools(fasta, rows):
    """What bcftools norm makes of each (contig, p, REF, ALT). It writes N for every letter that is no base."""
    order = sorted(range(len(rows)), key=lambda i: (rows[i][0], rows[i][1]))
    contigs = sorted({row[0] for row in rows})
    text = as_vcf([], contigs) + "".join("%s\t%d\t%d\t%s\t%s\t.\t.\t.\n" % (rows[i][0], rows[i][1] + 1, i, *rows[i][2:]) for i in order)
    found = {}
    for line in records(tool("bcftools", "norm", "--no-version", "-f", fasta, write(fresh(), "in.vcf", text)).text):
        contig, pos, i, ref, alt = line.split("\t")[:5]
        found[int(i)] = contig, int(pos) - 1, ref.upper(), alt.upper()
    return [found[i] for i in range(len(rows))]


def check_forms(genome, fasta, rows):
    """The reference's forms beside those of bcftools, for rows that both take; how many, and how many of them differ
    from what was written."""
    rows = [(contig, p, ref.upper(), alt.upper()) for contig, p, ref, alt in rows if contig in genome]
    rows = [row for row in rows if row[2] != row[3] and set(row[2] + row[3]) <= ACGT
            and genome[row[0]][row[1]:row[1] + len(row[2])] == row[2]]
    masked = lambda text: "".join(base if base in ACGT else "N" for base in text)
    changed = 0
    for row, theirs in zip(rows, forms_of_bcftools(fasta, rows) if rows else []):
        contig, *allele = row
        p, ref, alt = vep_reference.normalise(genome[contig], *allele)
        expect_equal((contig, p, masked(ref), masked(alt)), theirs, "normalised form of %s:%d %s>%s" % row)
        changed += theirs != row
    return len(rows), changed


@case
def normal_forms_are_those_of_bcftools():
    genome = repeats_genome()
    rng = random.Random(22)
    rows = indels_everywhere(genome, rng)
    for contig, p, ref, alt in indels_everywhere(genome, rng):
        forms = spellings(upper(genome)[contig], p, ref, alt, 2)
        rows += [(contig, *form) for form in rng.sample(forms, min(3, len(forms)))]
    rows += [(contig, p, bases[p:p + n].upper(), random_bases(rng, m)) for contig, bases in genome.items()
             for n in (1, 2, 3, 6) for m in (1, 2, 3, 6) for p in (0, 1, len(bases) - n, rng.randrange(len(bases) - n))]
    count, changed = check_forms(upper(genome), fasta_of(genome), rows)
    print("%d alleles, %d of them changed by bcftools norm" % (count, changed))
    expect(count > 1500 and changed > 700, "%d alleles, %d changed" % (count, changed))


REAL = (("vcf/brca1/brca1_1kgPhase3_variants.vcf", "genome/ref_brca1.fa.gz"),
        ("vcf/nist/test_nist.b37_chr20_100kbp_at_10mb.vcf.gz", "genome/hg19_chr20_slice.fa.gz"),
        ("vcf/bcftools/norm.vcf", "vcf/bcftools/norm.fa"))


def real(name, fasta):
    """(genome, a FASTA that may be indexed, [(contig, p, REF, ALT), ...] an allele each)."""
    text = decompress(read(shared(fasta))).decode()
    # parse_fasta would take minutes for the 63 million bases of chr20.
    parts = (part.partition("\n") for part in text.split(">")[1:])
    genome = {name.split()[0]: bases.replace("\n", "").upper() for name, _, bases in parts}
    if not fasta.endswith(".gz"):
        path = write(fresh(), "ref.fa", text)
    else:
        path = shared(fasta)
    variants = [alleles_of(line) for line in records(decompress(read(shared(name))).decode("latin-1"))]
    return genome, path, [(contig, pos - 1, ref.upper(), alt.upper()) for contig, pos, ref, alts in variants for alt in alts]


@case
def normal_forms_of_real_data():
    for name, fasta in REAL:
        genome, path, rows = real(name, fasta)
        count, changed = check_forms(genome, path, rows)
        print("%s: %d alleles, %d changed" % (name, count, changed))
        expect(count > 20, "%d alleles of %s" % (count, name))


@case
def normal_forms_of_every_shared_file():
    alleles, changes, files = 0, 0, 0
    for path in shared_files():
        text = decompress(read(path)).decode("latin-1")
        if not text.startswith("##fileformat"):
            continue
        variants = [alleles_of(line) for line in records(text)]
        variants = [variant for variant in variants if variant[0].isalnum() and 0 < variant[1] < LONGEST and set(variant[2].upper()) <= ACGT]
        genome = upper(fitting_genome(variants))
        rows = [(contig, pos - 1, ref, alt) for contig, pos, ref, alts in variants for alt in alts]
        count, changed = check_forms(genome, fasta_of(genome), rows) if rows else (0, 0)
        alleles, changes, files = alleles + count, changes + changed, files + (count > 0)
    print("%d files on made-up contigs: %d alleles, %d changed" % (files, alleles, changes))
    expect(files > 50 and alleles > 500, "%d files, %d alleles" % (files, alleles))


# ---- beside the reference ------------------------------------------------------------------------------------------


@case
def every_kind_of_allele_everywhere():
    genome = repeats_genome()
    rows = rows_of_every_kind(genome)
    rng = random.Random(24)
    fasta, d, compared = fasta_of(genome), fresh(), Comparison()
    for sizes, window, strand, phases, share in (
            (SMALL, 120, None, None, 150), (SMALL, 24, "+", "6", 300), (UNTIED, 24, "-", "6", 300), (SMALL, 48, "both", "1", 300),
            (UNTIED, 240, "-", "auto", 120), (UNTIED, 120, "+", "auto", 300)):
        part = rng.sample(rows, min(share, len(rows)))
        compared.check(sizes, genome, fasta, write(d, "in.vcf", as_vcf(part, genome)), BOTH, window, 30, strand, phases)
    compared.report("every kind of allele")
    expect(compared.scores > 1500, "%d scores" % compared.scores)
    expect({"too_long", "multibase"} <= set(compared.flags) and compared.flags["too_long"] > 50, "flags %r" % compared.flags)


@case
def beside_letters_that_are_no_bases():
    # The shift ends after such a letter: it is the anchor, as in the output of bcftools norm.
    genome = {name: bases for name, bases in repeats_genome().items() if name in ("gaps", "codes")}
    bases, rows = upper(genome), []
    for contig, letters in bases.items():
        for p, base in enumerate(letters):
            if base not in ACGT or p + 8 > len(letters):
                continue
            if not any(other not in ACGT for other in letters[max(0, p - 6):p + 7]):
                continue
            rows += [(contig, p + 1, base, base + base), (contig, p + 1, base, OTHER[base] + base), (contig, p + 1, base, OTHER[base])]
            for size in (2, 3):
                if set(letters[p:p + size]) <= ACGT:
                    rows += [(contig, p + 1, letters[p:p + size], letters[p]), (contig, p + 1, letters[p:p + size], letters[p + size - 1])]
    compared, fasta, d = Comparison(), fasta_of(genome), fresh()
    for window, strand, phases in ((48, "+", None), (48, "-", None), (24, "both", "1")):
        compared.check(SMALL, genome, fasta, write(d, "in.vcf", as_vcf(rows, genome)), BOTH, window, 30, strand, phases)
    compared.report("beside other letters")
    expect(compared.scores > 500, "%d scores" % compared.scores)


# ---- every spelling, one score -------------------------------------------------------------------------------------


def joined(bases, forms):
    """(p, REF, [ALT, ...]): one record for alleles of one region."""
    begin, end = min(p for p, _, _ in forms), max(p + len(ref) for p, ref, _ in forms)
    return begin, bases[begin:end], [bases[begin:p] + alt + bases[p + len(ref):end] for p, ref, alt in forms]


class Spelled:
    """Records by what they mean: those of one key must have the same tags."""

    def __init__(self):
        self.rows, self.keys = [], []

    def add(self, contig, p, ref, alts, keys):
        self.rows.append((contig, p + 1, ref, ",".join(alts)))
        self.keys.append(keys)

    def check(self, fasta, contigs, **options):
        path = write(fresh(), "spelled.vcf", as_vcf(self.rows, contigs))
        arguments = dict(recipes=BOTH, window=WINDOW, context=30, strand=None)
        lines = run_vep(SMALL, fasta, path, **{**arguments, **options})
        expect_equal(len(lines), len(self.rows), "records")
        first, scores = {}, 0
        for line, row, keys in zip(lines, self.rows, self.keys):
            found = tags(line)
            for i, key in enumerate(keys):
                # An ALT without values beside one that has some is '.', without such company there is no tag.
                got = {tag: texts[i] for tag, texts in found.items() if len(texts) > i and texts[i] != "."}
                scores += "CARBON_LLR" in got
                wanted, of = first.setdefault(key, (got, row))
                expect_equal(got, wanted, "%s:%d %s>%s (ALT %d) beside %s:%d %s>%s, %r" % (*row, i + 1, *of, options))
        return scores, {key: got for key, (got, _) in first.items()}


@case
def every_spelling_has_the_same_bits():
    genome = repeats_genome()
    rng, spelled, shifted = random.Random(25), Spelled(), 0
    for contig, p, ref, alt in indels_everywhere(genome, rng, sizes=(1, 2, 3, 6, 7, 13, 20)):
        bases = upper(genome)[contig]
        forms = spellings(bases, p, ref, alt, 1)
        if len(forms) < 12 and rng.random() < 0.8:
            continue
        key = contig, vep_reference.normalise(bases, p, ref, alt)
        shifted += len({begin for begin, _, _ in forms}) > 3
        for form in [forms[0], forms[-1], *rng.sample(forms, min(10, len(forms)))]:
            spelled.add(contig, form[0], form[1], [form[2]], [key])
    expect(shifted > 60, "%d alleles that can be shifted" % shifted)
    for options in ({}, {"strand": "+", "phases": "6"}, {"strand": "-"}, {"phases": "1", "window": 24}):
        scores, _ = spelled.check(fasta_of(genome), genome, **options)
        expect(scores > 300, "%d scores" % scores)


@case
def one_base_of_ten():
    # The ten spellings of one A less, and of one A more, in upper and lower case.
    bases, spelled = repeats_genome()["inner"], Spelled()
    begin = bases.index("A" * 10)
    for p in range(begin - 1, begin + 9):
        for change in (str, str.lower):
            spelled.add("inner", p, change(bases[p:p + 2]), [change(bases[p])], ["less"])
            spelled.add("inner", p, change(bases[p]), [change(bases[p] + "A")], ["more"])
    for n in (0, 1, 2, 5):  # the base after as the anchor
        spelled.add("inner", begin + n, bases[begin + n:begin + 11], [bases[begin + n + 1:begin + 11]], ["less"])
    _, found = spelled.check(fasta_of({"inner": bases}), ["inner"])
    expect(len(found) == 2 and found["less"] != found["more"] and all("CARBON_LLR" in got for got in found.values()), "%r" % found)


@case
def joined_and_split():
    genome = {"inner": repeats_genome()["inner"]}
    bases, rng, spelled = genome["inner"], random.Random(26), Spelled()
    for place, unit in ((bases.index("A" * 10) - 1, 1), (bases.index("CA" * 8) - 1, 2), (bases.index("GAT" * 6) - 1, 3)):
        alleles = []
        for n in (1, 2, 4):
            alleles += [(place, bases[place:place + 1 + n * unit], bases[place]),
                        (place, bases[place], bases[place:place + 1 + n * unit])]
        alleles += [(p, bases[p], OTHER[bases[p]]) for p in (place, place + 2, place + 5)]
        keys = [vep_reference.normalise(bases, *allele) for allele in alleles]
        choices = [spellings(bases, *allele, 1) for allele in alleles]
        for forms, key in zip(choices, keys):
            for form in rng.sample(forms, min(6, len(forms))):
                spelled.add("inner", form[0], form[1], [form[2]], [key])
        for size in (2, 3, 5, len(alleles)):
            for _ in range(4):
                chosen = rng.sample(range(len(alleles)), size)
                p, ref, alts = joined(bases, [rng.choice(choices[i]) for i in chosen])
                spelled.add("inner", p, ref, alts, [keys[i] for i in chosen])
    for options in ({}, {"strand": "-"}, {"strand": "+", "phases": "1"}):
        scores, found = spelled.check(fasta_of(genome), genome, **options)
        expect(scores > 150 and len(found) == 27, "%d scores of %d variants" % (scores, len(found)))


@case
def padded_snvs_are_snvs():
    genome = repeats_genome()
    rng, spelled, plain = random.Random(27), Spelled(), set()
    for contig, bases in upper(genome).items():
        for p in [0, 1, 4, len(bases) - 5, len(bases) - 1, *(rng.randrange(len(bases)) for _ in range(8))]:
            if bases[p] not in ACGT:
                continue
            alts = rng.sample([base for base in "ACGT" if base != bases[p]], 2)
            for alt in alts:
                plain.add((contig, p, alt))
                spelled.add(contig, p, bases[p], [alt], [(contig, p, alt)])
            for left, right in ((0, 4), (3, 0), (1, 1), (2, 7), (0, 30)):
                begin, end = max(0, p - left), min(len(bases), p + 1 + right)
                if set(bases[begin:end]) <= ACGT:
                    padded = [bases[begin:p] + alt + bases[p + 1:end] for alt in alts]
                    spelled.add(contig, begin, bases[begin:end], padded, [(contig, p, alt) for alt in alts])
                    # As at multi-allelic sites: AAAAC to CAAAC,A
                    if end - begin > 2:
                        spelled.add(contig, begin, bases[begin:end], [padded[0], bases[begin]], [(contig, p, alts[0]), (contig, begin, end)])
    for options in ({}, {"strand": "-"}, {"recipes": ("next-token",), "strand": "both"}, {"phases": "6"}):
        _, found = spelled.check(fasta_of(genome), genome, **options)
        wanted = ("CARBON_NT",) if "recipes" in options else ("CARBON_LLR", "CARBON_NT")
        lacking = [key for key in plain if set(found[key]) != set(wanted)]
        expect(not lacking and len(plain) > 100, "%r of %r" % (lacking, options))


@case
def padded_mnvs_are_trimmed():
    genome = {"inner": repeats_genome()["inner"]}
    bases, rng, spelled = genome["inner"], random.Random(28), Spelled()
    for p in [rng.randrange(5, len(bases) - 10) for _ in range(20)]:
        size = rng.choice((2, 3, 5))
        alt = OTHER[bases[p]] + random_bases(rng, size - 2) + OTHER[bases[p + size - 1]]
        for left, right in ((0, 0), (1, 0), (0, 2), (4, 5)):
            begin, end = p - left, p + size + right
            spelled.add("inner", begin, bases[begin:end], [bases[begin:p] + alt + bases[p + size:end]], [(p, size, alt)])
    scores, found = spelled.check(fasta_of(genome), genome)
    expect(scores == 80 and all("CARBON_NT" not in got for got in found.values()), "%d scores" % scores)


@case
def too_long_and_multibase_judge_the_normalised_form():
    bases = repeats_genome()["inner"]
    snv = bases[:100] + OTHER[bases[100]] + bases[101:]
    p, half = 90, WINDOW // 2
    rows = [("inner", p + 1, bases[p:p + 60], snv[p:p + 60]),  # an SNV in 60 letters
            ("inner", p + 1, bases[p:p + 60], bases[p:p + 60]),  # nothing in 60 letters
            ("inner", p + 1, bases[p:p + half], bases[p]), ("inner", p + 1, bases[p:p + half + 1], bases[p]),
            ("inner", p + 1, bases[p], bases[p] + "ACG" * 20),
            ("inner", p + 1, bases[p:p + half + 9], bases[p] + bases[p + half:p + half + 9])]  # the third, padded
    lines = run_vep(SMALL, fasta_of({"inner": bases}), write(fresh(), "in.vcf", as_vcf(rows, ["inner"])), BOTH, WINDOW, 30, None)
    expect_equal([values(line, "CARBON_FLAG") for line in lines],
                 [None, None, ["multibase"], ["too_long"], ["too_long"], ["multibase"]], "flags")
    expect_equal([tags(lines[1])[tag] for tag in ("CARBON_LLR", "CARBON_NT")], [["0"], ["0"]], "ALT = REF")
    expect_equal(tags(lines[5]), tags(lines[2]), "padded")


@case
def a_long_repeat_takes_no_longer():
    # A shift of 300,000 bases, and one of 100,000 by an allele of nearly 1,000: seconds if every step copies the alleles.
    rng = random.Random(29)
    unit = random_bases(rng, 997)
    genome = {"poly": random_bases(rng, 60) + "A" * 300000 + random_bases(rng, 60), "tandem": random_bases(rng, 60) + unit * 100 + random_bases(rng, 60)}
    spelled = Spelled()
    for contig, period, last in (("poly", 1, 300058), ("tandem", 997, 60 + 997 * 99 - 1)):
        bases = genome[contig]
        for p in (59, last - 1, last, *(rng.randrange(60, last) for _ in range(20))):
            spelled.add(contig, p, bases[p:p + period + 1], [bases[p]], [(contig, "less")])
            spelled.add(contig, p, bases[p], [bases[p:p + period + 1]], [(contig, "more")])
    scores, found = spelled.check(fasta_of(genome), genome, phases="1", recipes=("centered",), window=2400)
    expect(scores == 92 and len({str(got) for got in found.values()}) == 4, "%d scores: %r" % (scores, found))


@case
def spellings_of_real_indels():
    for name, fasta in REAL:
        genome, path, rows = real(name, fasta)
        rng, spelled, shifted = random.Random(30), Spelled(), 0
        for contig, p, ref, alt in sorted(set(rows)):
            if contig not in genome or not set(ref + alt) <= ACGT or genome[contig][p:p + len(ref)] != ref or len(ref) == len(alt):
                continue
            begin = max(0, p - 400)
            bases = genome[contig][begin:p + 400]
            forms = spellings(bases, p - begin, ref, alt)
            key = contig, p, ref, alt
            shifted += len(forms) > 1
            for at, r, a in {forms[0], forms[-1], (p - begin, ref, alt), *rng.sample(forms, min(4, len(forms)))}:
                spelled.add(contig, begin + at, r, [a], [key])
                # Beside an SNV of its first base.
                spelled.add(contig, begin + at, r, [OTHER[r[0]] + r[1:], a], [(contig, begin + at, OTHER[r[0]]), key])
        for options in ({}, {"strand": "-", "phases": "1", "window": 96}):
            scores, found = spelled.check(path, [contig for contig in genome], **options)
        print("%s: %d indels that can be shifted, %d records, %d scores" % (name, shifted, len(spelled.rows), scores))
        expect(shifted > 5 and scores > 50, "%d indels, %d scores" % (shifted, scores))


@case
def the_cache_knows_equal_variants():
    # What was computed for the leftmost spellings serves the rightmost ones.
    bases, d = repeats_genome()["inner"], fresh()
    fasta, cache = fasta_of({"inner": bases}), os.path.join(d, "cache")
    alleles = [(p, bases[p:p + 1 + n], bases[p]) for p in (bases.index("A" * 10) - 1, bases.index("CA" * 8) - 1) for n in (2, 4)]
    outputs = []
    for end in (0, -1):
        rows = [("inner", p + 1, ref, alt) for p, ref, alt in (spellings(bases, *allele)[end] for allele in alleles)]
        result = ok("vep", "-m", model(), "-f", fasta, "-w", WINDOW, "-v", "4", "--cache", cache, write(d, "in.vcf", as_vcf(rows, ["inner"])))
        outputs.append([tags(line) for line in records(result.text)])
        line = next(line for line in result.messages("I") if "cache: " in line)
    expect_equal(outputs[1], outputs[0], "scores")
    words = line.split("cache: ")[1].split()  # as in vep_cache_test.py
    expect(words[0] == words[2] != "0", line)


# ---- phases --------------------------------------------------------------------------------------------------------


def phase_rows():
    genome = {name: bases for name, bases in repeats_genome().items() if name in ("inner", "starts", "ends_t")}
    rows = rows_of_every_kind(genome)
    rows = random.Random(31).sample(rows, 120)
    return genome, fasta_of(genome), rows, write(fresh(), "in.vcf", as_vcf(rows, genome))


@case
def auto_is_six_for_another_length_and_one_otherwise():
    genome, fasta, rows, path = phase_rows()
    changes = 0
    for strand in ("+", "-", "both"):
        auto, default, one, six = (run_vep(SMALL, fasta, path, ("centered",), WINDOW, 30, strand, phases)
                                   for phases in ("auto", None, "1", "6"))
        expect_equal(default, auto, "the default")
        for lines in zip(auto, one, six):
            contig, pos, ref, alts = alleles_of(lines[0])
            a, o, s = (tags(line).get("CARBON_LLR", ["."] * len(alts)) for line in lines)
            for i, alt in enumerate(alts):
                same = len(ref) == len(alt)
                expect_equal(a[i], o[i] if same else s[i], "%s:%d %s>%s on %s" % (contig, pos, ref, alt, strand))
                changes += o[i] != s[i]
    expect(changes > 150, "only %d scores differ between one phase and six" % changes)


@case
def next_token_ignores_phases():
    genome, fasta, rows, path = phase_rows()
    for strand in (None, "both"):
        wanted = run_vep(SMALL, fasta, path, ("next-token",), WINDOW, 30, strand)
        for phases in ("auto", "1", "6"):
            expect_equal(run_vep(SMALL, fasta, path, ("next-token",), WINDOW, 30, strand, phases), wanted, "--phases " + phases)
        expect(sum("CARBON_NT" in line for line in wanted) > 20, "hardly a score")


@case
def phases_are_in_the_header():
    genome, fasta, rows, path = phase_rows()
    for given, wanted in (([], "auto"), (["--phases", "auto"], "auto"), (["--phases", "1"], "1"), (["--phases", "6"], "6"),
                          (["--phases=6"], "6")):
        text = ok("vep", "-m", model(), "-f", fasta, "-w", WINDOW, "--no-version", *given, path).text
        line = next(line for line in text.splitlines() if line.startswith("##carbon_vepModel="))
        fields = line.split("<", 1)[1].rstrip(">").split(",")
        expect_equal([field for field in fields if field.startswith("Phases=")], ["Phases=" + wanted], "with %r: %s" % (given, line))


for bad in ("2", "0", "3", "7", "-1", "12", "1.0", "AUTO", "one", "1,6", ""):
    @case(name="refused: --phases '%s'" % bad)
    def bad_phases(bad=bad):
        expect_failure(carbon("vep", "-m", model(), "-f", fasta_of({"c": "ACGT"}), "--phases", bad,
                              write(fresh(), "in.vcf", as_vcf([("c", 1, "A", "C")], ["c"]))), "--phases")


@case
def near_the_ends_phases_are_left_out():
    # Short contigs: every place where a phase no longer reaches the variant, on both strands.
    rng = random.Random(32)
    genome = {"c%d" % n: random_bases(rng, n) for n in (1, 2, 3, 5, 6, 7, 11, 12, 13, 19, 30)}
    rows = []
    for contig, bases in genome.items():
        for p in range(len(bases)):
            rows.append((contig, p + 1, bases[p], OTHER[bases[p]]))
            rows.append((contig, p + 1, bases[p], bases[p] + random_bases(rng, rng.choice((1, 2, 6)))))
            rows.append((contig, p + 1, bases[p:p + 2], OTHER[bases[p]]))
            rows.append((contig, p + 1, bases[p:p + 5], bases[p:p + 5][-1] if p % 2 else bases[p]))
    path, fasta, compared = write(fresh(), "in.vcf", as_vcf(rows, genome)), fasta_of(genome), Comparison()
    for window, strand, phases in ((12, "+", "6"), (12, "-", "6"), (24, "both", "6"), (60, None, None), (14, "-", "auto")):
        compared.check(SMALL, genome, fasta, path, ("centered",), window, 30, strand, phases)
    compared.report("near the ends")
    expect(compared.scores > 1500, "%d scores" % compared.scores)


if __name__ == "__main__":
    main()
