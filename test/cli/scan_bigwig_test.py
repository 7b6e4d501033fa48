"""carbon scan -O bigwig: the four tracks hold the probabilities that the values of the other outputs give, their summaries are
those of the tracks, and the hub names the tracks where it finds them.

The files are read with pyBigWig, and their zoom levels here, record by record."""

import math
import os
import random
import resource
import signal
import struct
import subprocess
import time
import zlib

from harness import (CARBON, ENV, Result, bgzip, carbon, case, expect, expect_close, expect_equal, expect_failure, fresh, main, model, ok,
                     open_bigwig, read, records, refused, to_fasta, tree, write)

SMALL = dict(dtype="f32", hidden=48, heads=3, kv_heads=1, head_dim=16, layers=2, intermediate=96)
SHORT = dict(SMALL, max_positions=11)
LETTERS = "ACGT"
# Values of the other outputs have six digits.
TOLERANCE = 2e-6


def random_bases(rng, n):
    return "".join(rng.choice("ACGT") for _ in range(n))


def small_genome():
    rng = random.Random(11)
    long = list(random_bases(rng, 311))
    for begin, letters in ((0, "N"), (40, "NNNNNNN"), (90, "R"), (200, "N" * 70), (305, "n")):
        long[begin:begin + len(letters)] = letters
    return {"unknown": "NNNNNNNN", "long": "".join(long), "one": "c", "short": random_bases(rng, 23).lower(), "last": "NNACGTN"}


def fasta_of(genome, name="ref.fa"):
    return write(fresh(), name, to_fasta(genome.items()))


def arguments(fasta, *args):
    return ("scan", "-m", model(**SHORT), "-q", "--no-version", "-f", fasta, "--context", 24, *args)


TRACKS = [*LETTERS, "lowest"]


def paths(prefix):
    return {track: "%s.%s.bw" % (prefix, track) for track in TRACKS}


def tracks(fasta, *args):
    """The paths of the tracks of a run, by letter, and of "lowest"."""
    prefix = os.path.join(fresh(), "out")
    result = ok(*arguments(fasta, "-O", "bigwig", "-o", prefix, *args))
    expect_equal(result.out, b"", "standard output")
    expect_equal(sorted(os.listdir(os.path.dirname(prefix))), ["out.%s.bw" % track for track in TRACKS], "files")
    return paths(prefix)


def values_of(path):
    """{(contig, position): value}, and the contigs with their lengths."""
    bigwig = open_bigwig(path)
    found = {}
    for contig in bigwig.chroms():
        for begin, end, value in bigwig.intervals(contig) or ():
            found.update(((contig, i), value) for i in range(begin, end))
    return found, bigwig.chroms()


def probabilities(fasta, *args):
    """{(contig, position): {letter: probability, and "lowest": the lowest score}} from the values that a bedGraph and a table give."""
    found, lowest = {}, {}
    for line in records(ok(*arguments(fasta, "-O", "bedgraph", *args)).text):
        contig, begin, _, value = line.split("\t")
        found[contig, int(begin)] = {None: float(value)}
    for line in records(ok(*arguments(fasta, *args)).text):
        contig, position, ref, alt, value = line.split("\t")
        site = found[contig, int(position) - 1]
        site[ref], site[alt] = site[None], site[None] + float(value)
        lowest[contig, int(position) - 1] = min(float(value), lowest.get((contig, int(position) - 1), math.inf))
    for place, site in found.items():
        del site[None]
        total = sum(map(math.exp, site.values()))
        site.update({letter: math.exp(value) / total for letter, value in site.items()})
        site["lowest"] = lowest[place]
    return found


# ---- the tracks ----------------------------------------------------------------------------------------------------


def tracks_hold(fasta, genome, *args):
    wanted = probabilities(fasta, *args)
    sums = dict.fromkeys(wanted, 0.0)
    for letter, path in tracks(fasta, *args).items():
        got, contigs = values_of(path)
        expect_equal(contigs, {name: len(bases) for name, bases in genome.items()}, "contigs of the header")
        expect_equal(sorted(got), sorted(wanted), "bases with a value, %s" % (args,))
        for base, value in got.items():
            # A score of the table has six digits, so it is within half of the last one; a probability is below 1.
            last = 10.0 ** (math.floor(math.log10(max(abs(value), 0.1))) - 5)
            tolerance = TOLERANCE if letter in LETTERS else last / 2 + 2e-7 * abs(value)
            expect_close(value, wanted[base][letter], tolerance, "%s at %s, %s" % (letter, base, args))
            sums[base] += value if letter in LETTERS else 0
    for base, total in sums.items():
        expect_close(total, 1, 1e-6, "sum at %s" % (base,))


@case
def tracks_are_the_probabilities():
    genome = small_genome()
    fasta = fasta_of(genome)
    for args in ((), ("--strand", "+"), ("--strand", "-", "--level", "chain", "--frames", 2), ("--level", "first")):
        tracks_hold(fasta, genome, *args)


@case
def tracks_of_regions():
    genome = small_genome()
    fasta = fasta_of(genome)
    for args in (("-r", "long:2-3,long:5-60,short:4-"), ("-t", "^long"), ("-r", "long", "-t", "long:100-150,one")):
        tracks_hold(fasta, genome, *args)


@case
def tracks_without_a_value():
    for path in tracks(fasta_of(small_genome()), "-r", "unknown,long:201-260").values():
        got, contigs = values_of(path)
        expect_equal((got, len(contigs), open_bigwig(path).header()["nBasesCovered"]), ({}, 5, 0), "an empty track")


@case
def neither_threads_nor_batches_change_a_byte():
    fasta = fasta_of(small_genome())
    first = [read(path) for path in tracks(fasta).values()]
    expect_equal(len(set(first)), 5, "different tracks")
    for args in ((), ("-@", 1), ("-@", 2, "--batch-tokens", 1), ("--batch-tokens", 64)):
        expect_equal([read(path) for path in tracks(fasta, *args).values()], first, "tracks with %s" % (args,))


def zoom_levels(content):
    """[(bases of a level, its records)]; a record has contig, begin, end, bases, least, greatest, sum, sum of squares."""
    def entries(offset):
        leaf, _, count = struct.unpack_from("<BBH", content, offset)
        for i in range(count):
            if leaf:
                yield struct.unpack_from("<IIIIQQ", content, offset + 4 + 32 * i)
            else:
                yield from entries(struct.unpack_from("<IIIIQ", content, offset + 4 + 24 * i)[4])

    levels = []
    for i in range(struct.unpack_from("<H", content, 6)[0]):
        bases, _, begin, index = struct.unpack_from("<IIQQ", content, 64 + 24 * i)
        magic, _, blocks = struct.unpack_from("<IIQ", content, index)
        expect_equal(magic, 0x2468ACE0, "start of an index")
        found, of_index = [], list(entries(index + 48))
        expect_equal(len(of_index), blocks, "blocks of an index")
        for first, left, last, right, offset, size in of_index:
            block = list(struct.iter_unpack("<IIIIffff", zlib.decompress(content[offset:offset + size])))
            expect_equal((first, left, last, right), (*block[0][:2], block[-1][0], block[-1][2]), "bases of a block")
            found += block
        expect_equal(struct.unpack_from("<I", content, begin)[0], len(found), "number of records")
        levels.append((bases, found))
    return levels


@case
def zoom_levels_summarize_the_values():
    rng = random.Random(12)
    bases = random_bases(rng, 5000)
    genome = {"tiny": "ACGTAC", "none": "N" * 300, "c1": bases[:700] + "N" * 1000 + bases[1700:], "c2": random_bases(rng, 1200)}
    fasta = fasta_of(genome)
    for path in tracks(fasta).values():
        values, contigs = values_of(path)
        names = list(contigs)
        content = read(path)
        expect_equal(content[:4], content[-4:], "magic numbers at both ends")
        levels = zoom_levels(content)
        expect_equal([level for level, _ in levels], [64, 256, 1024, 4096], "levels")
        for level, found in levels:
            groups = {}
            for (contig, position), value in values.items():
                groups.setdefault((names.index(contig), position // level), []).append((position, value))
            expect_equal(len(found), len(groups), "records of level %d" % level)
            for record, (key, group) in zip(found, sorted(groups.items())):
                numbers = [value for _, value in group]
                what = "record %s of level %d" % (key, level)
                expect_equal(record[:4], (key[0], group[0][0], group[-1][0] + 1, len(group)), what)
                expect_equal(record[4:6], (min(numbers), max(numbers)), what)
                expect_close(record[6], sum(numbers), 1e-6 * len(group), what)
                expect_close(record[7], sum(value * value for value in numbers), 1e-6 * len(group), what)
        bigwig = open_bigwig(path)
        for contig in ("tiny", "c1", "c2"):
            mine = [value for (name, _), value in values.items() if name == contig]
            expect_close(bigwig.stats(contig)[0], sum(mine) / len(mine), 1e-5, "mean of " + contig)
        total = struct.unpack_from("<Qdddd", content, struct.unpack_from("<Q", content, 0x2c)[0])
        expect_equal(total[:3], (len(values), min(values.values()), max(values.values())), "summary of the file")
        expect_close(total[3], sum(values.values()), 1e-3, "sum of the file")


# ---- the hub -------------------------------------------------------------------------------------------------------


def stanzas(path):
    """The stanzas of a file of a hub, each a dict of its settings in order."""
    found = [{}]
    for line in read(path).decode().splitlines():
        if not line.strip():
            found.append({})
            continue
        name, value = line.strip().split(" ", 1)
        expect(name not in found[-1], "%s comes twice in a stanza" % name)
        found[-1][name] = value
    return found


@case
def hub_shows_a_logo():
    fasta = fasta_of(small_genome(), "hg38.fa")
    directory = fresh()
    hub = os.path.join(directory, "hub")
    ok(*arguments(fasta, "-O", "bigwig", "-o", os.path.join(hub, "x"), "--hub", hub))
    expect_equal(sorted(os.listdir(hub)), ["genomes.txt", "hub.txt", "trackDb.txt"] + ["x.%s.bw" % track for track in TRACKS], "files")
    head, = stanzas(os.path.join(hub, "hub.txt"))
    expect_equal(list(head), ["hub", "shortLabel", "longLabel", "genomesFile", "email"], "what UCSC requires of hub.txt")
    expect_equal(stanzas(os.path.join(hub, head["genomesFile"])), [{"genome": "hg38", "trackDb": "trackDb.txt"}], "genomes")
    logo, *parts, lowest = stanzas(os.path.join(hub, "trackDb.txt"))
    for setting, value in (("container", "multiWig"), ("aggregate", "stacked"), ("logo", "on"), ("viewLimits", "0:1")):
        expect_equal(logo[setting], value, setting)
    expect_equal([part["track"][-1] for part in parts], list(LETTERS), "tracks")
    expect_equal([part["priority"] for part in parts], list("1234"), "order of the tracks")
    expect_equal(len({part["color"] for part in parts}), 4, "colours")
    for part in (logo, *parts):
        expect_equal(part["type"], "bigWig 0 1", "type")
        expect(len(part["shortLabel"]) <= 17 and len(part["longLabel"]) <= 76, "labels: %r" % part)
    for part, letter in zip(parts, LETTERS):
        expect_equal((part["parent"], part["bigDataUrl"]), (logo["track"], "x.%s.bw" % letter), "track " + letter)
        expect(os.path.exists(os.path.join(hub, part["bigDataUrl"])), "the track that the hub names")
    expect_equal([lowest[name] for name in ("type", "bigDataUrl", "windowingFunction")], ["bigWig", "x.lowest.bw", "minimum"], "lowest scores")
    expect(len(lowest["shortLabel"]) <= 17 and len(lowest["longLabel"]) <= 76 and "parent" not in lowest, "labels: %r" % lowest)


@case
def hub_names_and_places():
    """The genome from the FASTA's name or the option, an existing folder, tracks below it, names that a URL cannot hold."""
    fasta = bgzip(fasta_of(small_genome(), "T2T.v2.fasta"))
    for args, genome in (((), "T2T.v2"), (("--hub-genome", "hs1"), "hs1")):
        hub = fresh()
        os.mkdir(os.path.join(hub, "hs 1"))
        ok(*arguments(fasta, "-O", "bigwig", "-o", os.path.join(hub, "hs 1", "50%"), "--hub", hub, *args))
        expect_equal(stanzas(os.path.join(hub, "genomes.txt"))[0]["genome"], genome, "genome")
        expect_equal([part["bigDataUrl"] for part in stanzas(os.path.join(hub, "trackDb.txt"))[1:]],
                     ["hs%%201/50%%25.%s.bw" % track for track in TRACKS], "URLs")
    # Relative paths, and a folder behind a symbolic link.
    directory = fresh()
    os.mkdir(os.path.join(directory, "real"))
    os.symlink("real", os.path.join(directory, "link"))
    ok(*arguments(fasta, "-O", "bigwig", "-o", "real/x", "--hub", "link/"), cwd=directory)
    expect_equal(stanzas(os.path.join(directory, "real", "trackDb.txt"))[1]["bigDataUrl"], "x.A.bw", "URL")


# ---- what cannot be done -------------------------------------------------------------------------------------------


@case
def bad_input_gives_one_line_and_no_output():
    directory = fresh()
    fasta = write(directory, "ref.fa", to_fasta(small_genome().items()))
    ok(*arguments(fasta, "-r", "one"))
    common = arguments(fasta)
    bigwig = (*common, "-O", "bigwig")
    hub = os.path.join(directory, "hub")
    for args, words in (
            ((*bigwig, "--shard", "1/2"), ("shares", "--shard")),
            ((*bigwig, "-W"), ("-O bigwig", "--write-index")),
            ((*bigwig, "--hub", hub), ("out.A.bw", "not in the hub's folder " + hub, "-o " + hub + "/NAME")),
            ((*bigwig, "--hub", ""), ("--hub", "empty")),
            ((*bigwig, "--hub", os.path.join(directory, "no", "hub")), ("folder", "no/hub", "No such file")),
            ((*bigwig, "--hub", fasta), ("folder", fasta, "File exists")),
            ((*bigwig, "--hub-genome", "hg38"), ("--hub-genome", "--hub DIR")),
            ((*common, "--hub", directory), ("--hub", "-O bigwig")),
            ((*common, "-O", "bedgraph", "--hub", directory), ("--hub", "-O bigwig")),
            ((*bigwig, "--hub", directory, "--hub-genome", "my genome"), ("'my genome'", "--hub-genome")),
            ((*bigwig, "-r", "absent"), ("absent",))):
        refused(args, *words, directory=directory)
    named = write(directory, "my genome.fa", to_fasta(small_genome().items()))
    ok(*arguments(named, "-r", "one"))
    refused((*arguments(named), "-O", "bigwig", "--hub", directory), "'my genome'", "--hub-genome", directory=directory)
    before = tree(directory)
    fifo = os.path.join(fresh(), "pipe")
    os.mkfifo(fifo)
    os.mkfifo(fifo + ".G.bw")
    for out in ((), ("-o", "-"), ("-o", "/dev/stdout"), ("-o", "/dev/null"), ("-o", fifo), ("-o", directory + "/")):
        expect_failure(carbon(*bigwig, *out), "several regular files", "-o PREFIX")
    expect_failure(carbon(*bigwig, "-o", os.path.join(directory, "no", "out")), "no/out.A.bw")
    expect_equal(tree(directory), before, "files after the failures")
    os.remove(fifo)
    expect_failure(carbon(*bigwig, "-o", fifo), "pipe.G.bw", "regular file")
    expect_equal(os.listdir(os.path.dirname(fifo)), ["pipe.G.bw"], "files beside a pipe")


@case
def unwritable_hub():
    """Not even root may make files in /proc."""
    result = carbon(*arguments(fasta_of(small_genome()), "-O", "bigwig", "-o", "/proc/x", "--hub", "/proc"))
    expect_failure(result, "/proc/hub.txt", "cannot create")


@case
def unwritable_file_of_a_hub():
    directory = fresh()
    fasta = fasta_of(small_genome())
    os.mkdir(os.path.join(directory, "genomes.txt"))
    result = carbon(*arguments(fasta, "-O", "bigwig", "-o", os.path.join(directory, "x"), "--hub", directory))
    expect_failure(result, "genomes.txt", "Is a directory")
    expect_equal(os.listdir(directory), ["genomes.txt"], "files")


@case
def a_contig_can_be_too_long():
    fasta = fasta_of({"giant": "ACGTACGT"})
    # A file as long as its index says, and mostly a hole; nothing is read before the output is opened.
    length = 4294967296
    write(os.path.dirname(fasta), "ref.fa.fai", "giant\t%d\t7\t60\t61\n" % length)
    os.truncate(fasta, 7 + length // 60 * 61 + length % 60)
    os.utime(fasta, (1, 1))
    out = os.path.join(fresh(), "x")
    expect_failure(carbon(*arguments(fasta, "-O", "bigwig", "-o", out, "-r", "giant:1-8")), "giant", "4294967295")
    expect_equal(os.listdir(os.path.dirname(out)), [], "files")


@case
def a_limit_on_the_size_of_files_leaves_nothing():
    fasta = fasta_of({"c1": random_bases(random.Random(13), 20000)})
    for limit in (300, 2000, 20000):  # in the header, in the values or their index, in the zoom levels
        def limited():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        directory = fresh()
        older = write(directory, "x.C.bw", "older")
        args = list(map(str, (CARBON, *arguments(fasta, "-O", "bigwig", "-r", "c1:1-6000", "-o", os.path.join(directory, "x"),
                                                 "--hub", directory))))
        done = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV, preexec_fn=limited)
        expect_failure(Result(args, done.returncode, done.stdout, done.stderr), ".bw", "File too large")
        expect_equal((os.listdir(directory), read(older)), (["x.C.bw"], b"older"), "files at a limit of %d" % limit)


@case
def a_signal_leaves_nothing():
    fasta = fasta_of({"c1": random_bases(random.Random(14), 3000000)})
    for number in (signal.SIGTERM, signal.SIGINT):
        directory = fresh()
        hub = os.path.join(directory, "hub")
        process = subprocess.Popen(list(map(str, (CARBON, *arguments(fasta, "-O", "bigwig", "-o", os.path.join(hub, "x"), "--hub", hub)))),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV)
        deadline = time.monotonic() + 30
        while not os.path.isdir(hub) or len(os.listdir(hub)) < 7:
            expect(process.poll() is None and time.monotonic() < deadline, "no temporary files appeared")
            time.sleep(0.02)
        process.send_signal(number)
        process.communicate(timeout=30)
        expect(process.returncode in (128 + number, -number), "rc %d" % process.returncode)
        expect_equal(os.listdir(directory), [], "files after a signal")


main()
