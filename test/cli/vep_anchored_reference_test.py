"""carbon vep --recipe anchored against an independent reading of its definition: every kind of allele at every kind of place.

test/reference/anchored_reference.py computes scores and flags in float64 from whole windows. The first cases hold it
against letters moved one by one, against whole sums, and against itself; the others compare the program with it. The
tolerance is that of the centered recipe: its windows have 8,192 scored bases, those of this one fewer.
"""

import random

from harness import (carbon, case, decompress, expect, expect_close, expect_equal, expect_failure, fresh, main, model, parse_fasta,
                     read, records, write)
from vep_anchored_support import (ACGT, CONTIGS, GENOME, AnchoredComparison, anchored_reference, fasta_of, indel_spellings,
                                  some_rows, the_fasta, vcf_of)
from vep_reference_support import (LONGEST, SMALL, UNTIED, alleles_of, fitting_genome, random_bases, reference_model,
                                   shared, shared_files, upper, vep_reference)
from vep_support import OTHER

# Of 40 positions: 2 * 60 + 48 bases and an allele of 67 are the most that it reads.
TIGHT = dict(SMALL, max_positions=40)

# ---- the reference itself ------------------------------------------------------------------------------------------


def small_indels(rng, bases):
    """(p, REF, ALT): one-sided changes of up to five letters, many of them of what is repeated there."""
    found = []
    for p in range(len(bases)):
        for n in (1, 2, 3):
            if p + n < len(bases):
                found.append((p, bases[p:p + n + 1], bases[p]))
            found.append((p, bases[p], bases[p] + (bases[p + 1:p + 1 + n] or "A")))
            found.append((p, bases[p], random_bases(rng, n) + bases[p]))
    return found


@case
def the_reference_moves_alleles_as_far_as_they_go():
    # Of all spellings, the last one whose alleles end in a shared base; at the end of the contig there may be none.
    rng = random.Random(61)
    genome = [part for bases in upper(GENOME).values() for part in (bases[:60], bases[-60:], bases[190:260]) if part]
    genome += [random_bases(rng, n) for n in (1, 2, 3, 9)]
    moved = at_the_end = 0
    for bases in genome:
        for strand in "+-":
            letters = bases if strand == "+" else vep_reference.rc(bases)
            for p, ref, alt in small_indels(rng, letters):
                spelled = indel_spellings(letters, p, ref, alt)
                if not set(ref + alt) <= ACGT:
                    continue
                shared_right = [form for form in spelled if form[1][-1] == form[2][-1]]
                wanted = (shared_right or spelled)[-1]
                given = (p, ref, alt) if strand == "+" else anchored_reference.mirrored(letters, p, ref, alt)
                given = vep_reference.normalise(bases, *given)
                got = anchored_reference.strand_form(bases, *given, strand)
                expect_equal(got, (letters, *wanted), "%d %s>%s of %s on %s" % (p, ref, alt, bases, strand))
                moved, at_the_end = moved + (len(shared_right) > 2), at_the_end + (not shared_right)
    expect(moved > 300 and at_the_end > 10, "%d moved, %d at the end" % (moved, at_the_end))


@case
def the_reference_begins_its_windows_on_the_grid():
    # By hand: C = 60, H = 30, a SNV, so that there are 60 to 119 bases before the 6-mer of the variant.
    letters = random_bases(random.Random(62), 400)
    for p, f, start, q, end in ((0, 0, 0, 0, 31), (5, 0, 0, 0, 36), (6, 0, 0, 6, 37), (119, 0, 0, 114, 150), (120, 0, 60, 120, 151),
                                (121, 0, 60, 120, 152), (179, 0, 60, 174, 210), (180, 0, 120, 180, 211), (180, 1, 61, 175, 211),
                                (181, 1, 121, 181, 212), (399, 0, 300, 396, 400), (3, 3, 3, 3, 34), (4, 3, 3, 3, 35)):
        ref, alt = letters[p], OTHER[letters[p]]
        a, r, begin = anchored_reference.windows(letters, p, ref, alt, 60, 30, f)
        expect_equal((r, begin), (letters[start:end], q - start), "window of %d, phase %d" % (p, f))
        expect_equal(a, letters[start:p] + alt + letters[p + 1:end], "its alternative")
    expect_equal(anchored_reference.windows(letters, 2, "A", "C", 60, 30, 3), None, "a phase that begins after the variant")
    for p, n, pair in ((120, 4, (letters[120:125], letters[124])), (120, 0, (letters[120], "ACGT" + letters[120]))):
        a, r, _ = anchored_reference.windows(letters, p, *pair, 60, 30, 0)  # a deletion of four bases, an insertion of four
        expect_equal(r, letters[60:155], "window of %s>%s" % pair)
        expect_equal(a, (letters[60:120] + pair[1] + letters[p + len(pair[0]):])[:95], "its alternative")


@case
def what_lies_before_the_variant_cancels():
    # With a context beyond the contig, the sum is that of the two whole sequences.
    rng, decoder = random.Random(63), reference_model(**SMALL)
    bases = random_bases(rng, 110) + "N" + random_bases(rng, 40)
    for p, ref, alt in ((0, bases[0], OTHER[bases[0]]), (40, bases[40], bases[40] + "ACGTT"), (77, bases[77:83], bases[77]),
                        (109, bases[109], OTHER[bases[109]]), (150, bases[150], OTHER[bases[150]])):
        for strand, horizon in (("+", 1000), ("-", 1000), ("+", 9)):
            got = anchored_reference.annotate(decoder, {"c": bases}, [("c", p + 1, ref, [alt])], (horizon,), 600, strand, "1")
            letters, at, *pair = anchored_reference.strand_form(bases, p, ref, alt, strand)
            end = min(len(letters), at + max(map(len, pair)) + horizon)
            r, a = letters[:end], (letters[:at] + pair[1] + letters[at + len(pair[0]):])[:end]
            r = r[:len(a)]
            logps = decoder.base_logps([a, r])
            n = min(len(logps[a]), len(logps[r]))
            expect_close(got[0]["ALLR"][0], logps[a][:n].sum() - logps[r][:n].sum(), 1e-9, "%d %s>%s on %s" % (p, ref, alt, strand))


@case
def the_reference_reads_each_horizon_as_if_it_were_alone():
    genome = upper(GENOME)
    variants = [(*row[:3], row[3].split(",")) for row in some_rows(50, 64, lambda row: len(row) == 4)]
    decoder, horizons = reference_model(**SMALL), (0, 1, 5, 6, 30)
    together, apart = (anchored_reference.annotate(decoder, genome, variants, horizons, 60, alone=alone) for alone in (False, True))
    scores = 0
    for i, (one, other) in enumerate(zip(together, apart)):
        for tag in one:
            for a, b in zip(one[tag], other[tag]):
                same = a == b if tag == "FLAG" or None in (a, b) else abs(a - b) < 1e-9
                expect(same, "%s of %r: %r and %r" % (tag, variants[i], a, b))
                scores += tag != "FLAG" and a is not None
    expect(scores > 100, "%d scores" % scores)


# ---- the program beside it -----------------------------------------------------------------------------------------


def compare_shares(shares, seed):
    """Configurations (sizes, rows to sample, horizons, context, strand, phases) on the awkward genome; what was compared."""
    compared = AnchoredComparison()
    for i, (sizes, share, *options) in enumerate(shares):
        part = some_rows(share, seed + i)
        lines = compared.check_anchored(sizes, GENOME, the_fasta(), vcf_of(part, CONTIGS), *options)
        wanted = [(contig, pos, ref, alts.split(",") if alts != "." else []) for contig, pos, ref, alts, *_ in part]
        expect_equal([alleles_of(line) for line in lines], wanted, "records")
    return compared


@case
def every_kind_of_allele_everywhere():
    compared = compare_shares((
        (SMALL, 350, 6, 6, "+", "auto"), (SMALL, 350, 6, 6, "-", "auto"), (UNTIED, 400, 0, 60, "both", "6"),
        (SMALL, 600, [0, 1, 5, 6], 60, None, "1"), (UNTIED, 400, [5, 1], 12, "-", "6"), (SMALL, 150, 1, 120, "+", "6")), 650)
    compared.report("every kind of allele")
    expect(compared.scores > 3500 and compared.zeros > 200, "%d scores, %d zeros" % (compared.scores, compared.zeros))
    expect_equal(set(compared.flags), {"no_contig", "edge", "symbolic", "star", "non_acgt", "ref_mismatch"}, "flags met")


@case
def horizons_up_to_and_beyond_the_end_of_the_contig():
    compared = compare_shares((
        (SMALL, 60, 96, 60, None, None), (UNTIED, 20, [96, 768, 6], 120, "both", "auto"), (SMALL, 30, None, 60, "+", "1"),
        (UNTIED, 40, 5000, 6, "-", "1"), (SMALL, 40, [0, 768], None, "both", "1"), (UNTIED, 20, None, None, None, None)), 660)
    compared.report("long horizons")
    expect(compared.scores > 200, "%d scores" % compared.scores)


@case
def alleles_that_are_too_long_for_the_model():
    # Each horizon and context leaves another length for the alleles; in several horizons the largest one counts.
    bases, rows, rng = upper(GENOME)["main"], [], random.Random(67)
    for p in (260, 285):
        for size in (17, 18, 19, 20, 66, 67, 68, 69):
            one, many = bases[p - 1], bases[p - 1:p - 1 + size]
            pairs = (one, one + random_bases(rng, size - 1)), (many, one), (many, random_bases(rng, size))
            rows += [("main", p, *pair) for pair in pairs]
            rows += [("main", p, "N", alt, "SVLEN=%d" % (size - 1)) for alt in ("<DEL>", "<DUP>", "<INV>")]
    rows += [("main", 5, bases[4:30], bases[4:29] + OTHER[bases[29]]), ("main", 100, bases[99], "<DEL>", "SVLEN=500"),
             ("main", 300, "N", "<DEL>", "SVLEN=30000"), ("main", 195, bases[194], "<DUP>", "SVLEN=80")]
    path, compared = vcf_of(rows + some_rows(40, 670), CONTIGS), AnchoredComparison()
    for horizons, context, strand, phases in ((48, 60, "-", None), ([6, 48, 0], 60, "+", "1"), ([1, 96], 60, None, "1"),
                                              (114, 60, "+", "1"), (112, 60, "both", "1"), (216, 6, "+", "1")):
        compared.check_anchored(TIGHT, GENOME, the_fasta(), path, horizons, context, strand, phases)
    compared.report("long alleles")
    expect(compared.flags["too_long"] > 200 and compared.scores > 300, "%d scores, flags %r" % (compared.scores, compared.flags))


@case
def the_largest_horizon_that_fits_is_the_last_that_is_taken():
    path, compared = vcf_of(some_rows(60, 671, lambda row: row[0] == "short"), CONTIGS), AnchoredComparison()
    for context in (6, 60, 102, 114):
        largest = anchored_reference.largest_horizon(40, context)
        lines = compared.check_anchored(TIGHT, GENOME, the_fasta(), path, largest, context, "+", "1")
        expect(any("CARBON_ALLR=" in line and "too_long" not in line for line in lines), "no score with the largest horizon")
        for horizons in (str(largest + 1), "0,%d" % (largest + 1), "100000"):
            expect_failure(carbon("vep", "-m", model(**TIGHT), "-f", the_fasta(), "--recipe", "anchored", "--context", context,
                                  "--horizon", horizons, path), str(largest))


@case
def the_default_context_and_horizon():
    rng = random.Random(68)
    genome = {"big": random_bases(rng, 13500)}
    genome["big"] = genome["big"][:8600] + "N" + genome["big"][8601:12999] + "N" * 40 + genome["big"][13039:]
    bases, rows = genome["big"], []
    for p in (30, 8195, 8196, 12294, 12990):
        rows.append(("big", p + 1, bases[p], OTHER[bases[p]]))
    indel = ("big", 12300, bases[12299:12303], bases[12299])
    compared, fasta = AnchoredComparison(), fasta_of(genome)
    compared.check_anchored(UNTIED, genome, fasta, vcf_of(rows, genome))
    compared.check_anchored(UNTIED, genome, fasta, vcf_of([indel], genome), None, None, "+")
    compared.check_anchored(UNTIED, genome, fasta, vcf_of([rows[1], rows[3], indel], genome), [768, 96], 4098, "-", "1")
    compared.report("context 4,098 and horizon 768")
    expect_equal(compared.scores, 12, "number of scores")


# ---- files of the shared folder ------------------------------------------------------------------------------------


@case
def files_of_the_shared_folder():
    compared, files = AnchoredComparison(), 0
    for path in shared_files():
        text = decompress(read(path)).decode("latin-1")
        variants = [alleles_of(line) for line in records(text)]
        near = any(alts and pos < LONGEST for _, pos, _, alts in variants)
        if not near or len(variants) > 1000 or not text.startswith("##fileformat"):
            continue
        genome = fitting_genome(variants)
        lines = compared.check_anchored(SMALL, genome, fasta_of(genome), path, [0, 6], 60)
        expect_equal(len(lines), len(variants), "records of " + path)
        files += 1
    compared.report("%d files of the shared folder" % files)
    expect(files > 60 and compared.scores > 900, "%d files, %d scores" % (files, compared.scores))


@case
def brca1_on_its_own_sequence():
    genome = dict(parse_fasta(decompress(read(shared("genome/ref_brca1.fa.gz"))).decode()))
    lines = read(shared("vcf/brca1/brca1_1kgPhase3_variants.vcf")).decode().splitlines(True)
    head, body = [line for line in lines if line[0] == "#"], [line for line in lines if line[0] != "#"]
    # Both ends of the contig, and between them every record with an allele of another length or several.
    body = body[:20] + [line for line in body[20:-20] if set(map(len, line.split("\t")[3:5])) != {1}] + body[-20:]
    compared = AnchoredComparison()
    path = write(fresh(), "brca1.vcf", "".join(head + body))
    compared.check_anchored(SMALL, genome, shared("genome/ref_brca1.fa.gz"), path, [12, 0], 60)
    compared.report("%d records of BRCA1" % len(body))
    expect(compared.scores > 280, "%d scores" % compared.scores)


if __name__ == "__main__":
    main()
