"""The rule of +haplotypes restated for its tests: whole haplotypes are looked at one after the other, in memory."""

import re

HEAD = """##fileformat=VCFv4.2
##FILTER=<ID=PASS,Description="All filters passed">
##FORMAT=<ID=GT,Number=1,Type=String,Description="genotype">
##FORMAT=<ID=PS,Number=1,Type=%s,Description="phase set">
"""
REASONS = (  # in the order of the message: one, several
    (" allele overlaps another one of its haplotype and is left out", " alleles overlap others of their haplotype and are left out"),
    (" run of alleles ends at a missing genotype", " runs of alleles end at a missing genotype"),
    (" run of alleles ends at a heterozygous genotype that is not in phase with it",
     " runs of alleles end at a heterozygous genotype that is not in phase with them"),
    (" group leaves the reference as it is, or nothing of the contig, and gets no record",
     " groups leave the reference as it is, or nothing of the contig, and get no record"),
    (" ALT of the samples is not of A, C, G and T and belongs to no group", " ALTs of the samples are not of A, C, G and T and belong to no group"),
)


def vcf_text(contigs, rows, samples, ps_type="Integer"):
    """`contigs` are (name, length); `rows` are (contig, POS, REF, ALTs, [(GT, PS or None)]) in order."""
    text = HEAD % ps_type + "".join("##contig=<ID=%s,length=%d>\n" % contig for contig in contigs)
    text += "\t".join(["#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO"] + (["FORMAT"] + samples if samples else [])) + "\n"
    return text + "".join(row_text(*row) + "\n" for row in rows)


def row_text(contig, pos, ref, alts, calls, info="."):
    sets = any(ps is not None for _, ps in calls)
    columns = [gt + (":" + ("." if ps is None else str(ps)) if sets else "") for gt, ps in calls]
    return "\t".join([contig, str(pos), ".", ref, ",".join(alts) or ".", ".", ".", info, "GT:PS" if sets else "GT"] + columns)


# ---- the rule


def changed(pos, ref, alt):
    """(b, e, inserted) of an ALT at a POS, 0-based; None if it can be no part."""
    if not re.fullmatch("[ACGTacgt]+", alt) or alt.upper() == ref.upper():
        return None
    ref, alt = ref.upper(), alt.upper()
    right = 0
    while right < min(len(ref), len(alt)) and ref[-1 - right] == alt[-1 - right]:
        right += 1
    ref, alt = ref[:len(ref) - right], alt[:len(alt) - right]
    left = 0
    while left < min(len(ref), len(alt)) and ref[left] == alt[left]:
        left += 1
    return pos - 1 + left, pos - 1 + len(ref), alt[left:]


def genotype(gt, ps):
    """[allele or None], kind (all, set, none), set."""
    alleles = [None if a == "." else int(a) for a in re.split("[|/]", gt)]
    if len(alleles) == 1 or len(set(alleles)) == 1:
        return alleles, "all", None
    if "/" in gt:
        return alleles, "none", None
    return alleles, "set", "" if ps in (None, ".") else str(ps)


def in_phase(a, b):
    return a[0] == "all" or b[0] == "all" or (a == b and a[0] == "set")


def calls_of(rows, sample, haplotype):
    """What the records of a contig say of one haplotype, in order: (b, e, number), part or None, phase, ploidy, missing."""
    calls = []
    for number, (_, pos, ref, alts, genotypes) in enumerate(rows):
        forms = [changed(pos, ref, alt) for alt in alts]
        parts = [form for form in forms if form]
        begin, end = (min(p[0] for p in parts), max(p[1] for p in parts)) if parts else (pos - 1, pos - 1 + len(ref))
        alleles, kind, phase_set = genotype(*genotypes[sample])
        lacks = kind != "all" and haplotype >= len(alleles)
        own = alleles[0] if kind == "all" else None if lacks else alleles[haplotype]
        if own is None:
            phase = (kind, phase_set)
            calls.append(((begin, end, number), None, phase, len(alleles), True))
        elif own > 0 and forms[own - 1]:
            b, e, inserted = forms[own - 1]
            calls.append(((b, e, number), (b, e, inserted, "%d:%s>%s" % (pos, ref, alts[own - 1])), (kind, phase_set), len(alleles), False))
        elif kind != "all":
            calls.append(((begin, end, number), None, (kind, phase_set), len(alleles), False))
    return sorted(calls, key=lambda call: call[0])


def groups_of(rows, sample, haplotype, distance, counts):
    """[[part, ...]] of one haplotype. Adds to counts: overlapping, ended at missing, ended out of phase."""
    found, run, phase, ploidy = [], [], ("all", None), 0

    def close():
        if len(run) > 1 and haplotype < ploidy:
            found.append(list(run))
        run.clear()

    for (begin, _, _), part, call_phase, alleles, missing in calls_of(rows, sample, haplotype):
        near = bool(run) and begin - run[-1][1] <= distance
        if near and not missing and in_phase(phase, call_phase):
            phase = call_phase if phase[0] == "all" else phase
            ploidy = max(ploidy, alleles)
            if part is None:
                continue
            if part[0] < run[-1][1] or (part[0] == part[1] == run[-1][0] == run[-1][1]):
                counts[0] += haplotype < ploidy
            else:
                run.append(part)
            continue
        if near and haplotype < ploidy:
            counts[1 if missing else 2] += 1
        close()
        if part is not None:
            run.append(part)
            phase, ploidy = call_phase, alleles
    close()
    return found


def with_groups(genome, rows, samples, distance, chosen=None):
    """(lines of the output, the message without its beginning, or None where nothing is to be warned of)."""
    chosen = range(len(samples)) if chosen is None else chosen
    counts, lines, carriers, written = [0] * 5, [], 0, 0
    for contig, bases in genome.items():
        bases = re.sub("[^ACGT]", "N", bases.upper())
        own = [row for row in rows if row[0] == contig]
        most = max([len(genotype(*call)[0]) for row in own for call in row[4]] + [1])
        distinct = {}
        for sample in chosen:
            for haplotype in range(most):
                for parts in groups_of(own, sample, haplotype, distance, counts):
                    sequence, at = "", parts[0][0]
                    for b, e, inserted, _ in parts:
                        sequence += bases[at:b] + inserted
                        at = e
                    entry = distinct.setdefault((parts[0][0], at, sequence), [0, "|".join(part[3] for part in parts)])
                    entry[0] += 1
                    carriers += 1
        for row in own:
            carried = {a for sample in chosen for a in genotype(*row[4][sample])[0] if a}
            counts[4] += sum(not re.fullmatch("[ACGTacgt]+", row[3][a - 1]) for a in carried)
        added = []
        for (begin, end, alt), (count, parts) in distinct.items():
            ref = bases[begin:end]
            if ref == alt or (not alt and begin == 0 and end == len(bases)):
                counts[3] += 1
                continue
            pos = begin + 1
            if not ref or not alt:
                if begin > 0:
                    pos, ref, alt = begin, bases[begin - 1] + ref, bases[begin - 1] + alt
                else:
                    ref, alt = ref + bases[end], alt + bases[end]
            info = "CARBON_PARTS=%s;CARBON_CARRIERS=%d" % (parts, count)
            added.append((pos, 1, len(ref), alt, row_text(contig, pos, ref, [alt], [(".", None)] * len(samples), info)))
        written += len(added)
        keyed = [(row[1], 0, i, "", row_text(*row)) for i, row in enumerate(own)]
        lines += [entry[4] for entry in sorted(keyed + added)]
    text = "%d group%s added, carried by %d haplotype%s" % (written, "" if written == 1 else "s", carriers, "" if carriers == 1 else "s")
    details = "".join("; %d%s" % (count, names[count != 1]) for count, names in zip(counts, REASONS) if count)
    return lines, (text + details) if details else None
