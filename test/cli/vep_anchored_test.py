"""carbon vep --recipe anchored: the same bits in any order, beside any neighbours, in every spelling, stopped or cached.

Bits are those of a BCF, as its numbers are printed with six digits only. The values themselves are the subject of
vep_anchored_reference_test.py; here two are repeated by hand, with carbon score.
"""

import os
import random
import signal
import subprocess
import threading
import time

from harness import (CARBON, ENV, bgzip, carbon, case, expect, expect_close, expect_equal, expect_failure, fresh, info_of, main, model,
                     ok, read, records, reverse_complement, to_fasta, write)
from vep_anchored_support import (ACGT, CONTIGS, GENOME, SMALL_RUN, anchored_args, bcf, blobs, fasta_of, indel_spellings, run,
                                  some_rows, tags_of, the_fasta, vcf_of)
from vep_reference_support import random_bases, upper
from vep_support import OTHER, values, vcf


def body_of(path):
    text = read(path).decode().splitlines(True)
    return "".join(line for line in text if line[0] == "#"), [line for line in text if line[0] != "#"]


# ---- by hand -------------------------------------------------------------------------------------------------------


def logps(sequences):
    """For each the ln P of its bases, {offset: as printed with six digits}."""
    path = write(fresh(), "s.fa", to_fasta([(str(i), bases) for i, bases in enumerate(sequences)], width=100000))
    found = [{} for _ in sequences]
    for line in ok("score", "-m", model(), "-O", "bedgraph", path).table():
        name, begin, _, value = line.split("\t")
        found[int(name)][int(begin)] = float(value)
    return found


def sum_from(q, alternative, reference_):
    """Of the scored bases from q on, the first n of both, and how far the printed digits may be off in all."""
    a, r = ([value for at, value in sorted(values_.items()) if at >= q] for values_ in (alternative, reference_))
    n = min(len(a), len(r))
    return sum(a[:n]) - sum(r[:n]), 5e-6 * sum(max(1, abs(value)) for value in a[:n] + r[:n])


@case
def a_score_by_hand():
    # C = 60, H = 30. An SNV at base 200: q = 198, start = 60 * (3 - 1) = 120, N = 2 + 1 + 30.
    contig = random_bases(random.Random(71), 400)
    alt = OTHER[contig[200]]
    r = contig[120:231]
    a = contig[120:200] + alt + contig[201:231]
    forward, slack = sum_from(78, *logps([a, r]))
    # On the other strand it is base 199: q = 198, start = 120, N = 1 + 1 + 30.
    other = reverse_complement(contig)
    expect_equal(other[199], reverse_complement(contig[200]), "the base on the other strand")
    r = other[120:230]
    a = other[120:199] + reverse_complement(alt) + other[200:230]
    reverse, more = sum_from(78, *logps([a, r]))
    path, fasta = vcf([("c", 201, contig[200], alt)], contigs=("c",)), write(fresh(), "c.fa", to_fasta([("c", contig)]))
    for strand, wanted in (("+", forward), ("-", reverse), ("both", (forward + reverse) / 2)):
        line = records(run(path, *SMALL_RUN, "--strand", strand, fasta=fasta).text)[0]
        expect_close(values(line, "CARBON_ALLR")[0], wanted, slack + more + 1e-5 * abs(wanted), "strand " + strand)
    expect(abs(forward) > 20 * slack and abs(forward - reverse) > 20 * slack, "scores that hardly differ")


@case
def an_indel_by_hand():
    # Four more C in CCCC, the contig's bases 207 to 210. On + the base kept is the one after it, on - the one before.
    rng = random.Random(72)
    contig = random_bases(rng, 206) + "GCCCCT" + random_bases(rng, 190)
    path, fasta = vcf([("c", 209, "C", "CCCCC")], contigs=("c",)), write(fresh(), "c.fa", to_fasta([("c", contig)]))
    for strand, letters, p in (("+", contig, 211), ("-", reverse_complement(contig), len(contig) - 1 - 206)):
        anchor = letters[p]
        expect_equal(letters[p - 5:p + 1], {"+": "GCCCCT", "-": "AGGGGC"}[strand], "the place of the insertion")
        means, pairs, begins = [], [], []
        for f in range(6):
            q = (p - f) // 6 * 6
            start, n = 60 * max(0, q // 60 - 1), p - f - q + 5 + 30
            begin, end = f + start, f + q + n
            pairs.append((letters[begin:p] + letters[p - 4:p] + anchor + letters[p + 1:end])[:end - begin])
            pairs.append(letters[begin:end])
            begins.append(q - start)
        tables, slacks = logps(pairs), 0
        for f in range(6):
            value, slack = sum_from(begins[f], tables[2 * f], tables[2 * f + 1])
            means.append(value)
            slacks += slack / 6
        wanted = sum(means) / 6
        got = values(records(run(path, *SMALL_RUN, "--strand", strand, fasta=fasta).text)[0], "CARBON_ALLR")[0]
        expect_close(got, wanted, slacks + 1e-5 * abs(wanted), "strand " + strand)
        expect(abs(wanted) > 20 * slacks, "a score that is hardly anything: %g" % wanted)


@case
def an_alternative_equal_to_the_reference_is_zero():
    rows = [(c, p + 1, GENOME[c][p:p + n], change(GENOME[c][p:p + n])) for c in GENOME for p in (0, 3, 40, 59)
            for n in (1, 2, 7) for change in (str, str.lower)
            if p + n <= len(GENOME[c]) and set(GENOME[c][p:p + n].upper()) <= ACGT]
    for more in ((), ("--phases", "6"), ("--horizon", "0,7", "--strand", "-")):
        for line in records(run(vcf_of(rows, CONTIGS), "--recipe", "anchored", *more).text):
            found = {key: text for key, text in info_of(line).items() if key.startswith("CARBON")}
            expect_equal(set(found.values()), {"0"}, "%s with %r" % (line, more))
    expect(len(rows) > 60, "%d rows" % len(rows))


# ---- what must not matter ------------------------------------------------------------------------------------------


def many_rows(count, size):
    """SNVs and short indels, dense on one contig, sorted: (genome, rows)."""
    rng = random.Random(73)
    bases = random_bases(rng, size)
    rows = []
    for i in range(count):
        p = i * size // count
        kind = rng.randrange(8)
        ref, alt = bases[p], OTHER[bases[p]]
        if kind == 0:
            ref, alt = bases[p:p + 1 + rng.choice((1, 2, 6))], bases[p]
        elif kind == 1:
            alt = ref + random_bases(rng, rng.choice((1, 3, 6)))
        elif kind == 2:
            alt = ",".join(base for base in "ACGT" if base != ref)
        rows.append(("dense", p + 1, ref, alt))
    return {"dense": bases}, rows


@case
def thousands_of_records_in_any_order():
    genome, rows = many_rows(6000, 2500)
    fasta, path = fasta_of(genome), vcf_of(rows, genome)
    args = anchored_args([0, 12], 60, "both")
    wanted = bcf(path, *args, fasta=fasta)
    expect_equal(len(blobs(wanted)), 6000, "records")
    head, body = body_of(path)
    order = list(range(len(body)))
    random.Random(74).shuffle(order)
    shuffled = write(fresh(), "in.vcf", head + "".join(body[i] for i in order))
    ordered = blobs(wanted)
    for more in (("-@", "2"), ("-@", "1", "--batch-tokens", "500")):
        found = blobs(bcf(shuffled, *args, *more, fasta=fasta))
        expect(found == [ordered[i] for i in order], "shuffled records differ with " + " ".join(more))
    expect(bcf(path, *args, "--batch-tokens", "200", fasta=fasta) == wanted, "other bytes with small batches")
    # Far apart: every hundredth record, so that other ones share its windows, or none.
    part = write(fresh(), "in.vcf", head + "".join(body[::100]))
    expect(blobs(bcf(part, *args, fasta=fasta)) == ordered[::100], "records without their neighbours differ")
    later = write(fresh(), "in.vcf", head + "".join(body[77:]))  # what is planned together begins elsewhere
    expect(blobs(bcf(later, *args, fasta=fasta)) == ordered[77:], "records without those before them differ")
    backwards = write(fresh(), "in.vcf", head + "".join(body[::-1]))
    expect(blobs(bcf(backwards, *args, fasta=fasta)) == ordered[::-1], "records in descending order differ")


@case
def long_records_change_nothing():
    # A record of 60,000 characters: few of them are planned at a time.
    genome, rows = many_rows(700, 700)
    fasta, args = fasta_of(genome), anchored_args([0, 12], 60)
    wanted = tags_of(bcf(vcf_of(rows, genome), *args, fasta=fasta))
    path = vcf_of([(*row, "PAD=" + "x" * 60000) for row in rows], genome)
    text = read(path).decode().replace("##contig", '##INFO=<ID=PAD,Number=1,Type=String,Description="x">\n##contig', 1)
    got = tags_of(bcf(write(fresh(), "in.vcf", text), *args, fasta=fasta))
    expect([{tag: value for tag, value in tags.items() if tag != "PAD"} for tags in got] == wanted, "other scores of long records")


@case
def threads_and_batches_change_nothing():
    path = vcf_of(some_rows(250, 75), CONTIGS)
    for args in (SMALL_RUN, anchored_args([0, 96], 6, "-", "6"), anchored_args()):
        wanted = bcf(path, *args)
        for threads in ("1", "2"):
            for tokens in ("1", "64", "100000"):
                got = bcf(path, *args, "-@", threads, "--batch-tokens", tokens)
                expect(got == wanted, "other bytes of %r with %s threads and batches of %s tokens" % (args, threads, tokens))


@case
def order_and_neighbours_change_nothing():
    path = vcf_of(some_rows(300, 76), CONTIGS)
    head, body = body_of(path)
    wanted = blobs(bcf(path, *SMALL_RUN))
    order = sorted(range(len(body)), key=lambda i: (body[i].split("\t")[0], int(body[i].split("\t")[1])))
    ordered = write(fresh(), "s.vcf", head + "".join(body[i] for i in order))
    expect(blobs(bcf(ordered, *SMALL_RUN)) == [wanted[i] for i in order], "sorted records differ")
    for i in range(0, len(body), 10):
        alone = blobs(bcf(write(fresh(), "one.vcf", head + body[i]), *SMALL_RUN))
        expect(alone == [wanted[i]], "a record alone differs: " + body[i])
    thrice = write(fresh(), "t.vcf", head + "".join(line for line in body for _ in range(3)))
    for more in ((), ("--batch-tokens", "30")):
        expect(blobs(bcf(thrice, *SMALL_RUN, *more)) == [blob for blob in wanted for _ in range(3)], "repeated records differ")


@case
def other_bases_far_away_change_nothing():
    # Nothing before the window of a variant, and nothing after its horizon.
    rng = random.Random(77)
    bases = random_bases(rng, 400)
    row = [("c", 201, bases[200], OTHER[bases[200]])]
    wanted = bcf(vcf_of(row, ["c"]), *SMALL_RUN, "--strand", "+", fasta=fasta_of({"c": bases}))
    for begin, end, same in ((0, 120, True), (231, 400, True), (120, 121, False), (230, 231, False)):
        changed = bases[:begin] + "".join(OTHER[base] for base in bases[begin:end]) + bases[end:]
        got = bcf(vcf_of(row, ["c"]), *SMALL_RUN, "--strand", "+", fasta=fasta_of({"c": changed}))
        expect((got == wanted) == same, "other bases from %d to %d" % (begin, end))


@case
def case_of_letters_changes_nothing():
    rows = some_rows(200, 78, lambda row: row[3].isalpha())
    path, args = vcf_of(rows, CONTIGS), anchored_args(30, 60)
    wanted = tags_of(bcf(path, *args))
    expect_equal(tags_of(bcf(path, *args, fasta=fasta_of(upper(GENOME)))), wanted, "soft masking")
    turned = vcf_of([(c, p, ref.swapcase(), alt.swapcase()) for c, p, ref, alt in rows], CONTIGS)
    expect_equal(tags_of(bcf(turned, *args)), wanted, "letters of the alleles")


@case
def every_spelling_has_the_same_bits():
    rng, rows, keys = random.Random(79), [], []
    for contig, bases in upper(GENOME).items():
        alleles = []
        for p in range(len(bases)):
            n = rng.choice((1, 2, 3, 6))
            alleles += [(p, bases[p:p + n + 1], bases[p]), (p, bases[p], bases[p:p + n + 1])]
        for allele in alleles:
            if len(allele[1]) == len(allele[2]) or not set(allele[1] + allele[2]) <= ACGT:
                continue
            forms = [form for form in indel_spellings(bases, *allele) if set(form[1] + form[2]) <= ACGT]
            if len(forms) < 3 or rng.random() < 0.5:
                continue
            for p, ref, alt in {forms[0], forms[-1], *rng.sample(forms, min(4, len(forms)))}:
                rows.append((contig, p + 1, ref, alt))
                keys.append((contig, *forms[0]))
                end = p + len(ref)
                if end < len(bases) and bases[end] in ACGT:  # padded, and beside an SNV of its first base
                    rows.append((contig, p + 1, ref + bases[end], alt + bases[end] + "," + OTHER[ref[0]] + ref[1:] + bases[end]))
                    keys.append((contig, *forms[0]))
    path = vcf_of(rows, CONTIGS)
    for args in (SMALL_RUN, anchored_args([0, 6], 60, "+", "6"), anchored_args(12, 6, "-", "1")):
        first, scores = {}, 0
        for row, key, found in zip(rows, keys, tags_of(bcf(path, *args))):
            got = {tag: value[0] for tag, value in found.items()}
            scores += "CARBON_FLAG" not in got
            expect_equal(got, first.setdefault(key, got), "%s:%d %s>%s, %s" % (*row, " ".join(map(str, args))))
        expect(scores > 300 and len({str(got) for got in first.values()}) > 40, "%d scores of %d" % (scores, len(first)))


@case
def structural_variants_are_their_letters():
    rng, rows = random.Random(80), []
    for contig in ("main", "starts", "ends_t"):
        bases = upper(GENOME)[contig]
        for pos in (1, 2, 9, 40, 60, len(bases) - 12):
            for alt in ("<DEL>", "<DUP>", "<INV>"):
                length = rng.choice((3, 6, 12))
                anchor, body = bases[pos - 1], bases[pos:pos + length]
                letters = anchor + {"<DEL>": "", "<INV>": reverse_complement(body)}.get(alt, body + body)
                rows += [(contig, pos, anchor + body, letters), (contig, pos, "N", alt, "SVLEN=%d" % length),
                         (contig, pos, anchor, alt, "END=%d" % (pos + length))]
    found = [{tag: value for tag, value in tags.items() if tag.startswith("CARBON")} for tags in
             tags_of(bcf(vcf_of(rows, CONTIGS), *SMALL_RUN))]
    for i in range(0, len(rows), 3):
        expect_equal(found[i + 1:i + 3], [found[i]] * 2, "%s:%d %s>%s" % rows[i])
        expect_equal(list(found[i]), ["CARBON_ALLR"], "tags of %s:%d %s>%s" % rows[i])


@case
def several_horizons_are_those_of_single_runs():
    path = vcf_of(some_rows(250, 81), CONTIGS)
    for context, strand, phases in ((60, None, None), (6, "+", "1"), (None, "-", "6")):
        together = tags_of(bcf(path, *anchored_args([96, 0, 768, 5], context, strand, phases)))
        for horizon in (0, 5, 96, 768):
            alone = tags_of(bcf(path, *anchored_args(horizon, context, strand, phases)))
            expect_equal([tags.get("CARBON_ALLR_%d" % horizon) for tags in together], [tags.get("CARBON_ALLR") for tags in alone],
                         "horizon %d, context %s" % (horizon, context))
            expect_equal([tags.get("CARBON_FLAG") for tags in together], [tags.get("CARBON_FLAG") for tags in alone], "flags")
        expect(len({tags["CARBON_ALLR_96"] for tags in together if "CARBON_ALLR_96" in tags}) > 100, "hardly a difference")
    expect_equal(tags_of(bcf(path)) != tags_of(bcf(path, *anchored_args())), True, "another recipe")
    expect(bcf(path, *anchored_args()) == bcf(path, *anchored_args(768, 4098, "both", "auto")), "the defaults written out differ")


@case
def shares_make_up_the_whole():
    path = vcf_of(some_rows(101, 82), CONTIGS)
    wanted = blobs(bcf(path, *SMALL_RUN))
    for n in (2, 3, 7):
        found = [blob for i in range(n) for blob in blobs(bcf(path, *SMALL_RUN, "--shard", "%d/%d" % (i + 1, n)))]
        expect(found == wanted, "records of %d shares differ" % n)
    zipped = bgzip(path)
    found = [blob for i in (1, 2) for blob in blobs(bcf(zipped, *SMALL_RUN, "--shard", "%d/2" % i))]
    expect(found == wanted, "records of two shares of a compressed file differ")


@case
def a_cache_finds_what_it_has_seen():
    path, other = (vcf_of(some_rows(count, seed), CONTIGS) for count, seed in ((200, 83), (150, 84)))

    def cached(cache, path, *args):
        result = run(path, "-Ou", "-v", "4", "--cache", cache, *args)
        line = next(line for line in result.messages("I") if "cache: " in line)
        words = line.split("cache: ")[1].split()  # as in vep_cache_test.py
        return result.out, int(words[0]), int(words[2])

    two = ["--recipe", "centered,anchored", "-w", 48, "--horizon", 12, "--context", 60]
    for args in (SMALL_RUN, anchored_args([0, 30], 60, "-", "6"), two):
        cache, wanted = os.path.join(fresh(), "cache"), bcf(path, *args)
        out, found, looked_up = cached(cache, path, *args)
        expect(out == wanted and found < looked_up and looked_up > 150, "an empty cache: %d of %d" % (found, looked_up))
        out, found, again = cached(cache, path, *args)
        expect(out == wanted, "other bytes from a full cache")
        expect_equal((found, again), (looked_up, looked_up), "found and looked up")
        out, _, _ = cached(cache, other, *args)
        expect(out == bcf(other, *args), "other bytes for a file that is known in part")
        for others in ((7, 60), (30, 66), ([0, 30], 60, "+"), (30, 60, None, "6")):
            out, _, _ = cached(cache, path, *anchored_args(*others))
            expect(out == bcf(path, *anchored_args(*others)), "other bytes of %r from the cache of %r" % (others, args))


# ---- interrupted runs ----------------------------------------------------------------------------------------------


def stopped(out, number, path, grown, *args, fasta=None):
    """A run whose input does not end gets a signal when FILE.partial has grown; its exit status."""
    partial = out + ".partial"
    size = lambda: os.path.getsize(partial) if os.path.exists(partial) else 0
    first_line = lambda: len(read(partial).split(b"\n", 1)[0]) + 1 if os.path.exists(partial) else 0
    before, process = size(), subprocess.Popen(
        [CARBON, "vep", "-m", model(), "-f", fasta or the_fasta(), "--max-ref-mismatch", "1", "--no-version", "-q", "-@", "1",
         "--resume", *map(str, args), "-o", out, "-"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV)

    def feed():
        try:
            process.stdin.write(read(path))
            process.stdin.flush()
        except BrokenPipeError:
            pass

    threading.Thread(target=feed, daemon=True).start()
    deadline, seen = time.monotonic() + 60, (before, time.monotonic())
    # Where an earlier run was stopped late, it may not grow any more.
    while size() < max(before, first_line()) + grown and not (before > 0 and time.monotonic() > seen[1] + 5):
        expect(process.poll() is None and time.monotonic() < deadline, "the records did not come: rc %r" % process.poll())
        if size() != seen[0]:
            seen = size(), time.monotonic()
        time.sleep(0.002)
    process.send_signal(number)
    err = process.stderr.read().decode()
    rc = process.wait(timeout=60)
    process.stderr.close()
    try:
        process.stdin.close()
    except BrokenPipeError:
        pass
    return 128 - rc if rc < 0 else rc, err


def resumed(out, path, *args, fasta=None):
    return carbon("vep", "-m", model(), "-f", fasta or the_fasta(), "--max-ref-mismatch", 1, "--no-version", "-q", "--resume",
                  *args, "-o", out, path)


@case
def stopped_killed_and_continued():
    # The input is more than what is planned at a time, which must be complete before anything is written.
    path = vcf_of(some_rows(250, 85) * 20, CONTIGS)
    two = ["--recipe", "centered,anchored", "-w", 24, "--horizon", 6, "--context", 60, "--phases", 1]
    for name, args in (("out.vcf.gz", anchored_args(6, 60, "+")), ("out.bcf", anchored_args([0, 6], 12, None, 1)), ("out.tsv", two)):
        directory = fresh()
        whole, out = os.path.join(fresh(), name), os.path.join(directory, name)
        run(path, "-q", "-@", "1", *args, "-o", whole)
        for number, status, grown in ((signal.SIGTERM, 143, 3000), (signal.SIGKILL, 137, 1000), (signal.SIGTERM, 143, 5000)):
            found, err = stopped(out, number, path, grown, *args)
            expect(found == status, "rc %d: %s" % (found, err))
            expect(not os.path.exists(out) and os.path.exists(out + ".partial"), "files: %r" % os.listdir(directory))
        for other in (["--horizon", 31], ["--context", 66]):
            changed = [value for i, value in enumerate(args) if other[0] not in (value, args[i - 1])] + other
            expect_failure(resumed(out, path, *changed), out + ".partial", ", now %s" % other[1])
        # Another batch limit is no other run.
        result = resumed(out, path, *args, "--batch-tokens", 500)
        expect(result.rc == 0, "expected rc 0", result)
        expect(read(out) == read(whole), "other bytes of " + name)
        expect_equal(os.listdir(directory), [name], "files at the end")


@case
def a_run_is_not_continued_where_its_bases_have_changed():
    # The first record reads the bases from 120 to 230, as in a_score_by_hand.
    bases = random_bases(random.Random(94), 400)
    rows = [("c", 201 + i, bases[200 + i], OTHER[bases[200 + i]]) for i in range(30)] * 170
    path, out = vcf_of(rows, ["c"]), os.path.join(fresh(), "out.vcf")
    args = [*SMALL_RUN, "--strand", "+"]
    status, err = stopped(out, signal.SIGTERM, path, 500, *args, fasta=fasta_of({"c": bases}))
    expect(status == 143, "rc %d: %s" % (status, err))
    for at, refused in ((120, True), (230, True), (119, False)):
        result = resumed(out, path, *args, fasta=fasta_of({"c": bases[:at] + OTHER[bases[at]] + bases[at + 1:]}))
        if refused:
            expect_failure(result, out + ".partial", "c:201", "FASTA")
        else:
            expect(result.rc == 0, "another base at %d" % at, result)


if __name__ == "__main__":
    main()
