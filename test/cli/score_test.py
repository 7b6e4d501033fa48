"""carbon score against an independent reading of its definition: every number is recomputed from other runs."""

import math
import os

from harness import (bgzip, carbon, case, data, decompress, expect, expect_close, expect_equal, expect_failure, fresh,
                     genome, is_bgzf, main, model, ok, parse_fasta, read, reverse_complement, to_fasta, tool, write)

SUMMARY = "#name\tstart\tend\tstrand\tn_scored\tsum_logp\tmean_logp\tperplexity"
TSV = "#name\tpos\tbase\tlogp\tentropy\tA\tC\tG\tT"
HALF_UNIT = 5e-6  # of the sixth digit of a value between 1 and 10


def score(*args, **options):
    return ok("score", "-m", model(), *args, **options).table()


def half_unit_of_total(value):
    """Of the tenth digit, the last that sums, means and perplexities have, with room for the arithmetic of the test."""
    return 0.5001 * 10 ** (math.floor(math.log10(abs(value))) - 9)


def rows(lines, header=None):
    if header:
        expect_equal(lines[0], header, "header")
        lines = lines[1:]
    return [line.split("\t") for line in lines]


def fasta(*records):
    return write(fresh(), "in.fa", to_fasta(records))


def grouped(table):
    """Rows by sequence name, in order of appearance."""
    groups = {}
    for row in table:
        groups.setdefault(row[0], []).append(row[1:])
    return groups


@case
def summary_agrees_with_the_base_lines():
    path = data("mini.fa")
    for strand in ("+", "-", "both"):
        tsv = rows(score("-O", "tsv", "--strand", strand, path), TSV)
        bedgraph = rows(score("-O", "bedgraph", "--strand", strand, path))
        summary = rows(score("--strand", strand, path), SUMMARY)
        expect_equal([(r[0], str(int(r[1]) - 1), r[1], r[3]) for r in tsv], [tuple(r) for r in bedgraph], "tsv and bedgraph")
        expect_equal([r[0] for r in summary], list(genome()), "names")
        for name, start, end, shown, count, total, mean, perplexity in summary:
            values = [float(r[3]) for r in tsv if r[0] == name]
            wanted = ("0", len(genome()[name]), strand, len(values))
            expect_equal((start, int(end), shown, int(count)), wanted, "columns of " + name)
            expect_close(float(total), math.fsum(values), HALF_UNIT * len(values), "sum of " + name)
            total, mean, perplexity = float(total), float(mean), float(perplexity)
            rounding = half_unit_of_total(total) / int(count) + half_unit_of_total(mean)
            expect_close(mean, total / int(count), rounding, "mean of " + name)
            rounding = half_unit_of_total(mean) * perplexity + half_unit_of_total(perplexity)
            expect_close(perplexity, math.exp(-mean), rounding, "perplexity of " + name)


@case
def tsv_is_consistent_in_itself():
    for strand in ("+", "-", "both"):
        table = rows(score("-O", "tsv", "--strand", strand, data("mini.fa")), TSV)
        expect(len({row[3] for row in table}) > 300, "the values hardly differ")
        for name, pos, base, logp, entropy, *columns in table:
            where = "%s:%s" % (name, pos)
            expect_equal(base, genome()[name][int(pos) - 1].upper(), "letter at " + where)
            p = dict(zip("ACGT", map(float, columns)))
            expect_close(sum(p.values()), 1, 3e-6, "sum of probabilities at " + where)
            if strand != "both":  # both: the mean of two logs, not the renormalised marginal
                expect_close(float(logp), math.log(p[base]), 1e-5, "logp at " + where)
            expect_close(float(entropy), -sum(x * math.log(x) for x in p.values()), 1e-5, "entropy at " + where)


@case
def unscored_letters():
    groups = grouped(rows(score("-O", "tsv", data("mini.fa")), TSV))
    positions = {name: [int(r[0]) for r in group] for name, group in groups.items()}
    for name, bases in genome().items():
        expect_equal(positions[name], [i + 1 for i, b in enumerate(bases) if b in "ACGTacgt"], "scored positions of " + name)


@case
def lower_case_and_foreign_letters():
    plain = score("-O", "tsv", fasta(("a", "ACGTNACGTNACGTACGTAC")))
    expect_equal(score("-O", "tsv", fasta(("a", "acgtnACGTNacgtACGTac"))), plain, "lower case")
    expect_equal(score("-O", "tsv", fasta(("a", "ACGTRACGTYACGTACGTAC"))), plain, "IUPAC letters are as N")
    expect_equal(score("-O", "tsv", fasta(("a", "ACGT-ACGT*ACGTACGTAC"))), plain, "gaps are as N")


@case
def what_follows_never_matters():
    # Causal, and a trailing partial 6-mer has values of its own bases only.
    bases = genome()["c1"][:97]
    whole = score("-O", "bedgraph", fasta(("a", bases)))
    for length in (1, 5, 6, 7, 48, 96):
        expect_equal(score("-O", "bedgraph", fasta(("a", bases[:length]))), whole[:length], "the first %d bases" % length)


@case
def reverse_strand_is_the_reverse_complement():
    for bases in (genome()["c1"], genome()["c2"], genome()["tiny"], "ACGTNNACGRTTA"):
        n = len(bases)
        there = rows(score("-O", "tsv", "--strand", "-", fasta(("a", bases))), TSV)
        back = rows(score("-O", "tsv", fasta(("a", reverse_complement(bases)))), TSV)
        wanted = []
        for name, pos, base, logp, entropy, a, c, g, t in reversed(back):
            wanted.append([name, str(n + 1 - int(pos)), reverse_complement(base), logp, entropy, t, g, c, a])
        expect_equal(there, wanted, "strand -")


@case
def both_is_the_mean():
    path = data("mini.fa")
    plus, minus, both = (rows(score("-O", "tsv", "--strand", s, path), TSV) for s in ("+", "-", "both"))
    expect(len(plus) == len(minus) == len(both) > 600, "number of lines")
    for p, m, b in zip(plus, minus, both):
        expect_equal((p[:3], m[:3]), (b[:3], b[:3]), "name, position, letter")
        expect_close(float(b[3]), (float(p[3]) + float(m[3])) / 2, 2 * HALF_UNIT, "logp at " + b[1])
        mean = [math.sqrt(float(x) * float(y)) for x, y in zip(p[5:], m[5:])]
        for got, value in zip(b[5:], mean):
            expect_close(float(got), value / sum(mean), 3e-6, "probability at " + b[1])


def windows_by_hand(length, window, stride):
    """(begin, take, end): windows start at 0, S, 2S, ... until one reaches the end; the earliest has most left context."""
    found, covered, begin = [], 0, 0
    while covered < length:
        end = min(begin + window, length)
        found.append((begin, covered, end))
        covered, begin = end, begin + stride
    return found


@case
def sliding_windows():
    bases = genome()["c1"]
    for strand in "+-":
        read_bases = bases if strand == "+" else reverse_complement(bases)
        for length, window, stride in ((600, 96, 48), (600, 96, 96), (600, 90, 6), (100, 96, 12), (95, 96, 48), (7, 6, 6),
                                       (599, 120, 66)):
            text = read_bases[:length]
            forward = text if strand == "+" else reverse_complement(text)
            got = rows(score("-O", "tsv", "--strand", strand, "--window", window, "--stride", stride, fasta(("a", forward))), TSV)
            if strand == "-":
                got = [[r[0], str(length + 1 - int(r[1])), reverse_complement(r[2]), *r[3:5], *r[:4:-1]] for r in reversed(got)]
            plan = windows_by_hand(length, window, stride)
            alone = grouped(rows(score("-O", "tsv", fasta(*[(str(i), text[b:e]) for i, (b, _, e) in enumerate(plan)])), TSV))
            wanted = []
            for i, (begin, take, _) in enumerate(plan):
                wanted += [["a", str(int(r[0]) + begin), *r[1:]] for r in alone[str(i)] if int(r[0]) + begin > take]
            expect_equal(got, wanted, "strand %s, %d bases in windows of %d every %d" % (strand, length, window, stride))


@case
def default_stride_is_half_a_window_in_whole_6mers():
    path = fasta(("a", genome()["c1"]))
    expect_equal(score("--window", "90", path), score("--window", "90", "--stride", "42", path), "stride of window 90")
    expect(score("--window", "90", "--stride", "48", path) != score("--window", "90", path), "the stride changes nothing")


@case
def default_window_is_what_the_model_takes():
    small = model(max_positions=12)
    path = fasta(("a", genome()["c1"]))
    default = ok("score", "-m", small, path).text
    expect_equal(default, ok("score", "-m", small, "--window", "60", "--stride", "30", path).text, "6 * (12 - 2)")
    ok("score", "-m", small, "--window", "66", path)
    expect_failure(carbon("score", "-m", small, "--window", "72", path), "window of 72 bp", "12 tokens", " 66 bp", "--window")


for arguments, words in ((["--window", "24576"], ["24576", "24570"]), (["--window", "100"], ["window of 100 bp", "multiple of 6", "--window"]),
                         (["--stride", "100"], ["stride of 100 bp", "multiple of 6", "--stride"]),
                         (["--window", "60", "--stride", "66"], ["stride of 66 bp", "60 bp", "--stride"])):
    @case(name="refused: " + " ".join(arguments))
    def refused(arguments=arguments, words=words):
        expect_failure(carbon("score", "-m", model(), *arguments, data("mini.fa")), *words)


@case
def regions_are_slices_scored_alone():
    path, g = data("mini.fa"), genome()
    wanted_by_region = {"c1:101-200": ("c1", 100, 200), "c1:560": ("c1", 559, 600), "c1:560-": ("c1", 559, 600),
                        "tiny": ("tiny", 0, 7), "c2:25-1,60": ("c2", 24, 160), "{c1}:7-7": ("c1", 6, 7), "c1:-12": ("c1", 0, 12)}
    for text, (name, begin, end) in wanted_by_region.items():
        slice_path = fasta((name, g[name][begin:end]))
        wanted = [[r[0], str(int(r[1]) + begin), *r[2:]] for r in rows(score("-O", "tsv", slice_path), TSV)]
        expect_equal(rows(score("-O", "tsv", "-r", text, path), TSV), wanted, text)
        line = rows(score(slice_path), SUMMARY)[0]
        expect_equal(rows(score("-r", text, path), SUMMARY), [[name, str(begin), str(end), *line[3:]]], "summary of " + text)
        faidx = tool("samtools", "faidx", path, text).text if "{" not in text else None
        if faidx:
            expect_equal(parse_fasta(faidx)[0][1], g[name][begin:end], "samtools' slice of " + text)


@case
def reverse_strand_of_a_region():
    bases = genome()["c1"][100:200]
    wanted = [[r[0], str(int(r[1]) + 100), *r[2:]] for r in rows(score("-O", "tsv", "--strand", "-", fasta(("c1", bases))), TSV)]
    expect_equal(rows(score("-O", "tsv", "--strand", "-", "-r", "c1:101-200", data("mini.fa")), TSV), wanted, "c1:101-200")


@case
def several_regions_and_region_files():
    path = data("mini.fa")
    d = os.path.dirname(path)
    wanted = score("-r", "c1:11-40", "-r", "tiny:2-5", "-r", "c1:11-12", path)
    expect_equal([r[:3] for r in rows(wanted, SUMMARY)], [["c1", "10", "40"], ["tiny", "1", "5"], ["c1", "10", "12"]], "regions")
    bed = write(d, "r.bed", "track x\n#comment\nc1\t10\t40\textra\ntiny\t1\t5\nc1\t10\t12\n")
    tab = write(d, "r.txt", "c1\t11\t40\ntiny\t2\t5\nc1\t11\t12\n")
    names = write(d, "r.list", "c1:11-40\ntiny:2-5\nc1:11-12\n")
    for file in (bed, tab, names, bgzip(bed)):
        expect_equal(score("-R", file, path), wanted, os.path.basename(file))


@case
def regions_of_bgzip_fasta():
    path = data("mini.fa")
    expect_equal(score("-O", "tsv", "-r", "c1:50-90", bgzip(path)), score("-O", "tsv", "-r", "c1:50-90", path), "bgzip")


for text in ("nowhere", "nowhere:1-10", "c1:0-5", "c1:20-10", "c1:601-700", "c1:x-y", "c1:1-2-3", "", "c1:99999999999999999999"):
    @case(name="region refused: '%s'" % text)
    def bad_region(text=text):
        expect_failure(carbon("score", "-m", model(), "-r", text, data("mini.fa")), text)


@case
def regions_need_one_file():
    expect_failure(carbon("score", "-m", model(), "-r", "c1", data("mini.fa"), data("mini.fa")), "one indexed FASTA")
    expect_failure(carbon("score", "-m", model(), "-r", "c1", "-", stdin=b">c1\nACGT\n"), "one indexed FASTA")


@case
def a_sequence_with_nothing_to_score():
    path = write(fresh(), "a.fa", ">empty\n>ns\nNNNNNNNN\n>one\nA\n>last_empty\n")
    lines = score(path)
    expect_equal(lines[1:3], ["empty\t0\t0\t+\t0\t0\t.\t.", "ns\t0\t8\t+\t0\t0\t.\t."], "summary")
    expect_equal(lines[4], "last_empty\t0\t0\t+\t0\t0\t.\t.", "summary")
    expect_equal(lines[3].split("\t")[:5], ["one", "0", "1", "+", "1"], "summary")
    for strand in ("+", "-", "both"):
        expect_equal([r[0] for r in rows(score("-O", "bedgraph", "--strand", strand, path))], ["one"], "bedgraph")


@case
def token_level():
    bases = "ACGTAC" "GTNACG" "TTTTTT" "acgatg" "CCC"
    path = fasta(("a", bases))
    lines = rows(score("--level", "token", "-O", "bedgraph", path))
    expect_equal([r[:3] for r in lines], [["a", str(b), str(b + 6)] for b in (0, 12, 18)], "6-mers of A/C/G/T only")
    summary = rows(score("--level", "token", path), SUMMARY)[0]
    expect_equal(summary[:5], ["a", "0", "27", "+", "3"], "summary")
    expect_close(float(summary[5]), sum(float(r[3]) for r in lines), 3 * 10 * HALF_UNIT, "sum")
    # Over 4,096 6-mers and more: a 6-mer is less likely than its least likely base, about as likely as 6 bases together.
    logs = [float(r[3]) for r in rows(score("-O", "bedgraph", path))]
    for value, first in zip((float(r[3]) for r in lines), (0, 11, 17)):
        expect(value < min(logs[first:first + 6]), "token level %g beside base level %s" % (value, logs[first:first + 6]))


@case
def token_level_on_the_reverse_strand():
    bases = genome()["c1"][:50]
    there = rows(score("--level", "token", "-O", "bedgraph", "--strand", "-", fasta(("a", bases))))
    back = rows(score("--level", "token", "-O", "bedgraph", fasta(("a", reverse_complement(bases)))))
    expect_equal(there, [[n, str(50 - int(e)), str(50 - int(b)), v] for n, b, e, v in reversed(back)], "strand -")
    expect_equal(len(there), 8, "whole 6-mers of 50 bases")


@case
def token_level_in_windows():
    bases = genome()["c1"][:200]
    got = rows(score("--level", "token", "-O", "bedgraph", "--window", "60", "--stride", "30", fasta(("a", bases))))
    wanted = []
    for begin, take, end in windows_by_hand(200, 60, 30):
        alone = rows(score("--level", "token", "-O", "bedgraph", fasta(("a", bases[begin:end]))))
        wanted += [[n, str(int(b) + begin), str(int(e) + begin), v] for n, b, e, v in alone if int(b) + begin >= take]
    expect_equal(got, wanted, "windows")


@case
def token_level_has_no_tsv_and_no_both():
    for arguments in (["-O", "tsv"], ["--strand", "both"]):
        expect_failure(carbon("score", "-m", model(), "--level", "token", *arguments, data("mini.fa")), "level token")


@case
def several_files_and_ways_in():
    path = data("mini.fa")
    first, second = score(path), score(fasta(("c1", "ACGT"), ("c1", "ACGTACG")))
    again = fasta(("c1", "ACGT"), ("c1", "ACGTACG"))
    expect_equal(score(path, again), first + second[1:], "two files, duplicate names kept")
    expect_equal(score(bgzip(path)), first, "bgzip")
    expect_equal(score("-", stdin=read(path)), first, "standard input as -")
    expect_equal(score(stdin=read(path)), first, "standard input without an argument")
    zipped = write(fresh(), "plain.fa.gz", tool("gzip", "-c", path).out)
    expect_equal(score(zipped), first, "gzip")
    expect_equal(score("-", stdin=read(zipped)), first, "gzip on standard input")
    crlf = write(fresh(), "dos.fa", read(path).replace(b"\n", b"\r\n"))
    expect_equal(score(crlf), first, "DOS line ends")
    expect_equal(score(write(fresh(), "cut.fa", read(path).rstrip(b"\n"))), first, "no newline at the end")
    one_line = write(fresh(), "wide.fa", to_fasta(genome().items(), width=1000))
    expect_equal(score(one_line), first, "another line width")


@case
def output_files():
    path, d = data("mini.fa"), fresh()
    wanted = ok("score", "-m", model(), "-O", "tsv", path).out
    plain, zipped = os.path.join(d, "o.tsv"), os.path.join(d, "o.tsv.gz")
    expect_equal(score("-O", "tsv", "-o", plain, path), [], "stdout of a run with -o")
    score("-O", "tsv", "-o", zipped, path)
    expect_equal(read(plain), wanted, "-o file")
    expect(is_bgzf(read(zipped)), "the .gz output is not BGZF with its end marker")
    expect_equal(decompress(read(zipped)), wanted, "-o file.gz")
    expect_equal(sorted(os.listdir(d)), ["o.tsv", "o.tsv.gz"], "files")
    link = os.path.join(d, "link.tsv")
    os.symlink("o.tsv", link)
    score("-o", link, path)
    expect(os.path.islink(link) and read(plain) != wanted, "a symbolic link is followed, not replaced")


@case
def memory_layout_changes_nothing():
    path = data("mini.fa")
    for kind in (["-O", "tsv", "--strand", "both"], ["--window", "60", "-O", "bedgraph"], ["--level", "token", "-O", "bedgraph"]):
        wanted = score(*kind, path)
        for threads in ("1", "2"):
            for tokens in ("1", "64", "4096"):
                expect_equal(score(*kind, "-@", threads, "--batch-tokens", tokens, path), wanted, " ".join(kind))


@case
def threads_that_make_lines_and_compress_change_no_byte():
    # Several pieces of a sequence, sequences without a line, and more bytes than a block of BGZF has.
    bases = "".join(genome().values())
    path = fasta(("long", bases * (30000 // len(bases) + 1)), ("none", "N" * 70), ("short", "ACGTAC"), ("again", bases[:2000]))
    for kind in (("-O", "tsv"), ("-O", "bedgraph", "--strand", "both"), ("-O", "tsv", "--strand", "-"), ()):
        outputs = {}
        for threads in ("1", "2", "5"):
            out = os.path.join(fresh(), "out.gz")
            ok("score", "-m", model(), "--no-version", "-@", threads, "-o", out, *kind, path)
            outputs[threads] = read(out)
        expect(outputs["1"] == outputs["2"] == outputs["5"], "bytes differ with threads: " + " ".join(kind))
        expect_equal(decompress(outputs["1"]), ok("score", "-m", model(), "--no-version", *kind, path).out, " ".join(kind))


@case
def neighbours_change_nothing():
    g = genome()
    alone = {name: score("-O", "bedgraph", fasta((name, bases))) for name, bases in g.items()}
    for order in (["c1", "c2", "tiny"], ["tiny", "c2", "c1"], ["c2", "tiny", "c1"]):
        wanted = [line for name in order for line in alone[name]]
        expect_equal(score("-O", "bedgraph", fasta(*[(name, g[name]) for name in order])), wanted, "order " + " ".join(order))


@case
def dtype_f32_is_close_and_different():
    bf16, f32 = (rows(score("--dtype", d, data("mini.fa")), SUMMARY) for d in ("bf16", "f32"))
    for a, b in zip(bf16, f32):
        expect(a[5] != b[5], "the same sum in both types")
        expect_close(float(a[6]), float(b[6]), 0.02, "mean of " + a[0])


@case
def shards_change_nothing():
    path = data("mini.fa")
    expect_equal(ok("score", "-m", model(shards=3), path).table(), score(path), "a checkpoint in three shards")


if __name__ == "__main__":
    main()
