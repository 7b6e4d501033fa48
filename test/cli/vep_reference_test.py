"""carbon vep against an independent reading of its definitions: every allele of files made of edge cases.

test/reference/vep_reference.py computes scores and flags in float64 from whole windows; here are the files, the runs in
f32, and the cases in which symmetry makes scores equal to the last digit.
"""

import random

from harness import case, decompress, expect, expect_equal, fresh, main, parse_fasta, read, records, to_fasta, write
from vep_reference_support import (ALL_FLAGS, BOTH, LONGEST, SMALL, UNTIED, Comparison, alleles_of, as_vcf, edge_genome,
                                   edge_variants, fitting_genome, random_bases, run_vep, shared, shared_files, table, upper,
                                   vep_reference, with_runs)
from vep_support import OTHER

@case
def edge_cases_in_every_window_and_strand():
    genome = edge_genome()
    d = fresh()
    fasta = write(d, "edge.fa", to_fasta(list(genome.items())))
    path = write(d, "edge.vcf", as_vcf(edge_variants(genome), [*genome, "absent"]))
    of_all = Comparison()
    for sizes, window, context, strand, phases in (
            (SMALL, 96, 60, None, None), (SMALL, 96, 60, "-", "1"), (SMALL, 12, 5, "both", "6"), (UNTIED, 192, 300, "+", "auto"),
            (UNTIED, 50, 0, "both", "1"), (UNTIED, 1000, 1000, "-", None)):
        lines = of_all.check(sizes, genome, fasta, path, BOTH, window, context, strand, phases)
        expect_equal([alleles_of(line) for line in lines], [alleles_of(line) for line in records(read(path).decode())], "records")
    one = Comparison()
    for recipe in BOTH:  # the flag of a recipe alone
        one.check(SMALL, genome, fasta, path, (recipe,), 96, 60, "+", "1")
    of_all.report("edge cases")
    expect_equal(set(of_all.flags) | set(one.flags), ALL_FLAGS, "flags met")
    expect(of_all.scores > 4000 and of_all.zeros > 500, "%d scores, %d zeros" % (of_all.scores, of_all.zeros))


@case
def edge_cases_at_the_level_of_tokens():
    genome = edge_genome()
    d = fresh()
    fasta = write(d, "edge.fa", to_fasta(list(genome.items())))
    path = write(d, "edge.vcf", as_vcf(edge_variants(genome), [*genome, "absent"]))
    compared = Comparison()
    for sizes, window, strand, phases, levels in (
            (SMALL, 96, None, None, ("bp", "token")), (SMALL, 96, "-", "1", ("token",)), (SMALL, 12, "both", "6", ("bp", "token")),
            (UNTIED, 192, "+", "auto", ("token",)), (UNTIED, 50, "both", "1", ("bp", "token")), (UNTIED, 1000, "-", None, ("token",))):
        compared.check(sizes, genome, fasta, path, ("centered",), window, None, strand, phases, levels)
    compared.report("edge cases at the level of tokens")
    expect(compared.scores > 4000 and compared.zeros > 400, "%d scores, %d zeros" % (compared.scores, compared.zeros))


@case
def default_windows():
    rng = random.Random(13)
    genome = {"big": with_runs(random_bases(rng, 30000), (9000, "N" * 40), (20005, "N"))}
    bases = genome["big"]
    rows = [("big", 100, bases[99], OTHER[bases[99]]), ("big", 12345, bases[12344:12347], bases[12344]),
            ("big", 25000, bases[24999], OTHER[bases[24999]] + "," + bases[24999] + "ACCGT")]
    d = fresh()
    compared = Comparison()
    compared.check(UNTIED, genome, write(d, "big.fa", to_fasta(list(genome.items()))),
                   write(d, "big.vcf", as_vcf(rows, genome)), BOTH, 8192, 24000)
    compared.report("windows of 8,192 and contexts of 24,000")
    expect_equal(compared.scores, 6, "number of scores")


@case
def thousands_of_samples():
    genome = {"long": edge_genome()["long"]}
    rows = [row for row in edge_variants(edge_genome()) if row[0] == "long" and 90 < row[1] < 110][:20]
    plain = as_vcf(rows, genome)
    samples = 3000
    wide = plain.replace("\tINFO\n", "\tINFO\tFORMAT" + "".join("\ts%d" % i for i in range(samples)) + "\n")
    wide = wide.replace("##contig", '##FORMAT=<ID=GT,Number=1,Type=String,Description="Genotype">\n##contig', 1)
    wide = wide.replace("\t.\t.\t.\n", "\t.\t.\t.\tGT" + "\t0/1\t./.\t0|0" * (samples // 3) + "\n")
    d = fresh()
    fasta = write(d, "long.fa", to_fasta(list(genome.items())))
    args = (BOTH, 96, 60, None)
    narrow = run_vep(SMALL, fasta, write(d, "narrow.vcf", plain), *args)
    lines = run_vep(SMALL, fasta, write(d, "wide.vcf", wide), *args)
    expect_equal([line.split("\t")[:8] for line in lines], [line.split("\t") for line in narrow], "records before their samples")
    expect_equal([line.split("\t", 8)[8] for line in lines],
                 [line.split("\t", 8)[8] for line in records(wide)], "samples")
    expect_equal(len(lines), 20, "records")


# ---- symmetry ------------------------------------------------------------------------------------------------------


def negated(text):
    return text if text == "0" else text[1:] if text[0] == "-" else "-" + text


@case
def swapping_alleles_and_fasta_negates():
    # Left-aligned in one FASTA is left-aligned in the other, so this holds for every kind of allele and at both ends.
    genome = upper({"long": edge_genome()["long"]})
    bases, d, rng = genome["long"], fresh(), random.Random(15)
    there, back = {}, {}
    for p in (1, 2, 7, 59, 100, 157, 290, 371, 420, 449, 458, 460):
        for size in (1, 2, 8):
            ref = bases[p - 1:p - 1 + size]
            for alt in ((OTHER.get(ref[0], "A"), ref[0] + random_bases(rng, 5)) if size == 1 else (ref[0], random_bases(rng, size))):
                if not vep_reference.is_acgt(ref) or len(ref) < size:
                    continue
                swapped = bases[:p - 1] + alt + bases[p - 1 + size:]
                for found, fasta, row in ((there, bases, ("long", p, ref, alt)), (back, swapped, ("long", p, alt, ref))):
                    path = write(d, "f%d_%s_%s.fa" % row[1:], to_fasta([("long", fasta)]))
                    for strand, phases in (("+", None), ("-", None), ("+", "1")):
                        lines = run_vep(SMALL, path, write(d, "in.vcf", as_vcf([row], genome)), BOTH, 96, 60, strand, phases)
                        found.update({(p, ref, alt, strand, phases, tag): text
                                      for tag in ("LLR", "NT") for text in table(lines, tag).values()})
    expect_equal({key: negated(text) for key, text in back.items()}, there, "scores of the swapped alleles, negated")
    expect(len(there) > 150 and len(set(there.values())) > 100, "%d scores" % len(there))


@case
def reverse_complement_swaps_the_strands():
    # A window that covers the whole contig from either side cuts the same bases for both strands; a shorter one is one
    # base off its mirror image, as the definition has the variant right of the middle on either strand. The next-token
    # context is its own mirror image in any length. The mirror image of an indel is anchored and aligned at its other
    # side, so near the ends of the contig another number of phases may be left out.
    genome = {name: bases.upper() for name, bases in edge_genome().items() if name in ("long", "short", "six", "five")}
    rows = [row for row in edge_variants(edge_genome()) if row[0] in genome and set(row[2] + row[3]) <= set("ACGTacgt,")
            and (set(map(len, row[3].split(","))) == {len(row[2])} or 24 < row[1] < len(genome[row[0]]) - 24 - len(row[2]))]
    mirrored = {name: vep_reference.rc(bases) for name, bases in genome.items()}
    back = {}
    for contig, pos, ref, alt in rows:
        ref, alt = ref.upper(), alt.upper()
        there = (contig, len(genome[contig]) + 2 - pos - len(ref), vep_reference.rc(ref),
                 ",".join(map(vep_reference.rc, alt.split(","))))
        back[there] = (contig, pos, ref, alt)
    d = fresh()
    fastas = [write(d, name, to_fasta(list(bases.items()))) for name, bases in (("f.fa", genome), ("r.fa", mirrored))]
    inputs = [write(d, name, as_vcf(lines, genome)) for name, lines in (("f.vcf", back.values()), ("r.vcf", back))]
    for recipe, tag, window, context, phases, least in (("centered", "LLR", 1200, 60, "1", 200), ("centered", "LLR", 1200, 60, "auto", 200),
                                                        ("next-token", "NT", 96, 60, None, 40)):
        for strand, other in ("+-", "-+"):
            plus, minus = (run_vep(SMALL, *files, (recipe,), window, context, which, phases)
                           for files, which in zip(zip(fastas, inputs), (strand, other)))
            plus, minus = ([line.split("\t")[7] for line in lines] for lines in (plus, minus))
            expect_equal(minus, plus, "%s of the mirror image on %s, phases %s" % (tag, other, phases))
            expect(sum(tag + "=" in info for info in plus) > least, "hardly a score: %d" % sum(tag + "=" in info for info in plus))
            expect(len(set(plus)) > least / 2, "hardly a difference")


# ---- files of the shared folder ------------------------------------------------------------------------------------


@case
def files_of_the_shared_folder():
    compared, files = Comparison(), 0
    for path in shared_files():
        text = decompress(read(path)).decode("latin-1")
        variants = [alleles_of(line) for line in records(text)]
        near = any(alts and pos < LONGEST for _, pos, _, alts in variants)
        if not near or len(variants) > 1000 or not text.startswith("##fileformat"):
            continue
        genome = fitting_genome(variants)
        fasta = write(fresh(), "fit.fa", to_fasta(list(genome.items())))
        lines = compared.check(SMALL, genome, fasta, path, BOTH, 48, 60)
        expect_equal(len(lines), len(variants), "records of " + path)
        files += 1
    compared.report("%d files of the shared folder" % files)
    expect(files > 60 and compared.scores > 600, "%d files, %d scores" % (files, compared.scores))


@case
def brca1_on_its_own_sequence():
    genome = dict(parse_fasta(decompress(read(shared("genome/ref_brca1.fa.gz"))).decode()))
    lines = read(shared("vcf/brca1/brca1_1kgPhase3_variants.vcf")).decode().splitlines(True)
    head, body = [line for line in lines if line[0] == "#"], [line for line in lines if line[0] != "#"]
    # Both ends of the contig, and between them every record with an allele of another length or several.
    body = body[:20] + [line for line in body[20:-20] if set(map(len, line.split("\t")[3:5])) != {1}] + body[-20:]
    compared = Comparison()
    path = write(fresh(), "brca1.vcf", "".join(head + body))
    compared.check(SMALL, genome, shared("genome/ref_brca1.fa.gz"), path, BOTH, 144, 120)
    compared.report("%d records of BRCA1" % len(body))
    expect(compared.scores > 150, "%d scores" % compared.scores)


if __name__ == "__main__":
    main()
