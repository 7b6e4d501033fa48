"""carbon vep --shard I/N: the shares, put together, are the run without it; what they check is their own."""

import os

from harness import (SHARED, Skip, bgzip, carbon, case, decompress, expect, expect_equal,
                     expect_failure, fresh, genome, main, model, own_errors, read, records, to_fasta, tool, write)
from vep_support import MINI, OTHER, WINDOW, reference, vcf, vep


def shards(n, *args):
    """Outputs of the shares 1/n to n/n."""
    return [vep("-w", WINDOW, "--no-version", "--shard", "%d/%d" % (i + 1, n), *args) for i in range(n)]


def printed(out):
    """Header and records of a VCF, BCF or table, as lines of bytes."""
    if decompress(out)[:3] == b"BCF":
        out = tool("bcftools", "view", "--no-version", "-", stdin=out).out
    lines = decompress(out).splitlines(True)
    return [line for line in lines if line.startswith(b"#")], [line for line in lines if not line.startswith(b"#")]


def snvs(count):
    """A file of SNVs of c1 that match the reference."""
    bases = genome()["c1"]
    return vcf([("c1", 1 + i % 600, bases[i % 600], OTHER[bases[i % 600]]) for i in range(count)])


@case
def shares_make_up_the_whole():
    for kind in ("v", "z", "b", "u", "t"):
        header, body = printed(vep("-w", WINDOW, "--no-version", "-O", kind, MINI).out)
        for n in (1, 2, 3):
            parts = [printed(share.out) for share in shards(n, "-O", kind, MINI)]
            for part in parts:
                expect_equal(part[0], header, "header of a share, -O " + kind)
            expect_equal([line for part in parts for line in part[1]], body, "records of %d shares, -O %s" % (n, kind))
            sizes = [len({line.split(b"\t")[2] for line in part[1]}) for part in parts]
            expect_equal(sizes, {1: [36], 2: [18, 18], 3: [12, 12, 12]}[n], "records by share")


@case
def decompressed_uncompressed_bcf_is_equal_to_the_byte():
    whole = vep("-w", WINDOW, "--no-version", "-O", "u", MINI).out
    header = 9 + int.from_bytes(decompress(whole)[5:9], "little")
    parts = [decompress(share.out)[header:] for share in shards(3, "-O", "u", MINI)]
    expect_equal(b"".join(parts), decompress(whole)[header:], "bytes of the records")


@case
def input_in_every_format():
    d = fresh()
    body = printed(vep("-w", WINDOW, "--no-version", MINI).out)[1]
    bcf = os.path.join(d, "in.bcf")
    tool("bcftools", "view", "-Ob", "-o", bcf, MINI)
    for path in (bgzip(write(d, "in.vcf", read(MINI))), bcf):
        expect_equal([line for share in shards(3, path) for line in printed(share.out)[1]], body, os.path.basename(path))
    with open(MINI, "rb") as f:
        found = vep("-w", WINDOW, "--no-version", "--shard", "1/1", "/dev/stdin", stdin=f)
    expect_equal(printed(found.out)[1], body, "a file that is standard input under its name")


@case
def more_shares_than_records():
    path = snvs(5)
    body = records(vep("-w", WINDOW, path).text)
    found = shards(8, path)
    expect_equal([len(records(share.text)) for share in found], [1] * 5 + [0] * 3, "records by share")
    expect_equal([line for share in found for line in records(share.text)], body, "records")
    for share in found[5:]:
        expect("##INFO=<ID=CARBON_LLR," in share.text, "an empty share has no full header", share)
        expect(share.err.rstrip().endswith("Records 0, scored 0"), "summary of an empty share", share)
    last = vep("-w", WINDOW, "--shard", "18446744073709551615/18446744073709551615", path)
    expect_equal(records(last.text), [], "the last of very many shares")
    head = write(fresh(), "h.vcf", "".join(line + "\n" for line in read(MINI).decode().splitlines() if line[0] == "#"))
    for share in shards(2, head):
        expect_equal(records(share.text), [], "records of an input without records")


@case
def dropped_records_count_for_the_shares():
    whole = records(vep("-w", WINDOW, "-c", "x", MINI).text)
    expect_equal([line for share in shards(3, "-c", "x", MINI) for line in records(share.text)], whole, "records with -c x")


@case
def a_joined_bcf():
    d = fresh()
    paths = [os.path.join(d, "part%d.bcf" % i) for i in (1, 2, 3)]
    for i, path in enumerate(paths):
        vep("-w", WINDOW, "--shard", "%d/3" % (i + 1), "-o", path, MINI)
    joined = tool("bcftools", "concat", "--naive", "-Ob", *paths).out
    expect_equal(printed(joined)[1], printed(vep("-w", WINDOW, MINI).out)[1], "bcftools concat --naive")


# ---- what is refused -----------------------------------------------------------------------------------------------


@case
def bad_shares():
    for bad in ("", "0/3", "4/3", "1/0", "1", "1/3/5", "a/b", "-1/3", "1.5/3", " 1/3", "1/99999999999999999999"):
        expect_failure(carbon("vep", "-m", model(), "-f", reference(), "-w", WINDOW, "--shard", bad, MINI), "--shard")


@case
def input_that_can_be_read_once():
    args = ("vep", "-m", model(), "-f", reference(), "-w", WINDOW, "--shard", "1/2")
    for path in (("-",), (), ("/dev/stdin",)):
        done = carbon(*args, *path, stdin=read(MINI))
        expect_failure(done, "--shard", "twice")
        expect_equal(done.out, b"", "output")
    pipe = os.path.join(fresh(), "fifo.vcf")
    os.mkfifo(pipe)
    expect_failure(carbon(*args, pipe, timeout=20), "--shard", "fifo.vcf")


@case
def damage_anywhere_is_an_error_of_every_share():
    d = fresh()
    whole = read(bgzip(snvs(20000)))
    flipped = bytearray(whole)
    flipped[len(whole) * 3 // 4] ^= 0xFF
    bcf = tool("bcftools", "view", "-Ob", snvs(20000)).out
    line = read(snvs(30)) + b"c1\tx\t.\tA\tC\t.\t.\t.\n"
    for name, content in (("cut.vcf.gz", whole[:len(whole) * 3 // 4]), ("no_eof.vcf.gz", whole[:-28]),
                          ("crc.vcf.gz", bytes(flipped)), ("cut.vcf", read(snvs(30))[:-5]), ("bad.vcf", line),
                          ("cut.bcf", bcf[:len(bcf) * 3 // 4])):
        path = write(d, name, content)
        for share in ("1/3", "3/3"):
            out = os.path.join(fresh(), "o.vcf")
            done = carbon("vep", "-m", model(), "-f", reference(), "-w", 12, "--shard", share, "-o", out, path)
            expect_failure(done, name)
            expect_equal(os.listdir(os.path.dirname(out)), [], "files after damage")


@case
def checks_look_at_the_share():
    good = [line.split("\t") for line in records(read(snvs(40)).decode())]
    rows = [tuple(line[i] for i in (0, 1, 3, 4)) for line in good]
    rows += [(c, p, OTHER[r], OTHER[OTHER[r]]) for c, p, r, _ in rows] + [("absent", 5, "A", "C")] * 40
    path = vcf(rows)
    run = lambda share: carbon("vep", "-m", model(), "-f", reference(), "-w", WINDOW, "-q", "--shard", share, path)
    expect_equal(run("1/3").rc, 0, "a share without mismatches")
    expect_failure(run("2/3"), "wrong assembly", "40 of 40")
    last = run("3/3")
    expect_equal((last.rc, len(records(last.text))), (0, 40), "a share without a contig of the FASTA")
    expect_equal(run("1/6").err.splitlines()[-1], "Records 20, scored 20", "summary of a share")


@case
def contig_names_are_those_of_the_whole_file():
    rows = [("absent", 5, "A", "C")] * 6 + [("c1", 100, "G", "T")] * 2 + [("other", 5, "A", "C")] * 4
    path = vcf(rows)
    whole = records(vep("-w", WINDOW, path).text)
    for n in (2, 6, 12, 20):
        found = [line for share in shards(n, path) for line in records(share.text)]
        expect_equal(found, whole, "records of %d shares" % n)
    path = vcf([row for row in rows if row[0] != "c1"])
    for share in ("1/1", "1/3", "3/3", "11/20", "20/20"):  # the last has no records
        out = os.path.join(fresh(), "o.vcf")
        done = carbon("vep", "-m", model(), "-f", reference(), "-w", WINDOW, "--shard", share, "-o", out, path)
        expect_failure(done, "no contig", "absent, ...")
        expect_equal(os.listdir(os.path.dirname(out)), [], "files left")


@case
def odd_files_in_three_shares():
    top = os.path.join(SHARED, "data", "vcf", "bcftools")
    if not os.path.isdir(top):
        raise Skip("%s is absent: set CARBON_SHARED to the folder with data/" % top)
    paths = sorted(os.path.join(top, name) for name in os.listdir(top) if name.endswith((".vcf", ".vcf.gz")))
    names = {line.split("\t")[0]: None for path in paths for line in records(decompress(read(path)).decode("latin-1"))}
    fasta = write(fresh(), "odd.fa", to_fasta([(name, "ACGTTGCATC" * 30) for name in names]))
    tool("samtools", "faidx", fasta)
    compared = 0
    for path in paths:
        args = ("vep", "-m", model(), "-f", fasta, "-w", 24, "--max-ref-mismatch", 1, "--no-version")
        whole, parts = carbon(*args, path), [carbon(*args, "--shard", "%d/3" % i, path) for i in (1, 2, 3)]
        expect_equal([part.rc for part in parts], [whole.rc] * 3, "exit status for " + path)
        if whole.rc != 0:
            expect(own_errors(parts[0]), "no message for " + path)
            continue
        header, body = printed(whole.out)
        expect_equal([line for part in parts for line in printed(part.out)[1]], body, path)
        expect_equal([printed(part.out)[0] for part in parts], [header] * 3, "headers of " + path)
        compared += 1
    expect(compared > 50, "only %d files compared" % compared)


if __name__ == "__main__":
    main()
