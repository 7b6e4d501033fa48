"""Bad input files and outputs: one clear message, exit status 1, nothing left behind, no crash."""

import gzip
import os
import stat
import subprocess

from harness import (CARBON, DATA, ENV, bgzip, carbon, case, command, data, decompress, expect, expect_equal, expect_failure,
                     fresh, main, model, ok, own_errors, read, refused, tool, tree, workplace, write)

MINI = os.path.join(DATA, "mini.vcf")
FASTA = b">a\nACGTTGCAAGCT\n>b\nGGGTTTACGATTA\n"


# ---- FASTA ---------------------------------------------------------------------------------------------------------


def score_refuses(content, *words, name="in.fa"):
    directory = fresh()
    refused(["score", "-m", model(), write(directory, name, content)], name, *words, directory=directory)


@case
def score_of_what_is_no_fasta():
    score_refuses(b"")
    score_refuses(b"\n\n")
    score_refuses(b"@r1\nACGT\n+\nIIII\n", "FASTQ")
    score_refuses(b"some text\nwithout a sequence\n")
    score_refuses(read(MINI))
    score_refuses(b"{\"a\": 1}\n")
    score_refuses(b"\x7fELF\x02\x01\x01\x00\x00\x00")
    score_refuses(b">a\nACGT\n>\nACGT\n", ":3")
    score_refuses(b">a\nACGT\nAC7T\n", ":3")
    score_refuses(b">a\nACGT\x00ACGT\n", ":2")
    score_refuses(gzip.compress(b""), name="in.fa.gz")


@case
def score_of_absent_files():
    directory = fresh()
    good = write(directory, "good.fa", FASTA)
    refused(["score", "-m", model(), os.path.join(directory, "absent.fa")], "absent.fa", directory=directory)
    refused(["score", "-m", model(), good, os.path.join(directory, "absent.fa")], "absent.fa", directory=directory)
    refused(["score", "-m", model(), directory], directory, directory=directory)


@case
def score_of_damaged_compressed_files():
    directory = fresh()
    long = write(directory, "long.fa", b">a\n" + b"ACGTTGCAAGCTTAGC\n" * 20000)
    bgzf, plain = read(bgzip(long)), gzip.compress(read(long))
    for name, content in (("cut.fa.gz", bgzf[:len(bgzf) // 2]), ("noend.fa.gz", bgzf[:-28]), ("gzipcut.fa.gz", plain[:-20]),
                          ("flipped.fa.gz", flipped(bgzf)), ("crc.fa.gz", plain[:-8] + b"\0\0\0\0" + plain[-4:])):
        score_refuses(content, name=name)


def flipped(content):
    """One bit of the compressed data in the middle changed."""
    changed = bytearray(content)
    changed[len(changed) // 2] ^= 0x10
    return bytes(changed)


@case
def contig_that_does_not_exist():
    directory = workplace()
    fasta = os.path.join(directory, "mini.fa")
    refused(["score", "-m", model(), "-r", "nowhere:1-10", fasta], "nowhere", "mini.fa", directory=directory)
    regions = write(directory, "r.bed", "c1\t0\t10\nnowhere\t1\t10\n")
    refused(["score", "-m", model(), "-R", regions, fasta], "nowhere", "r.bed:2", directory=directory)


def vep_refuses_fasta(content, *words, name="in.fa"):
    directory = fresh()
    fasta = write(directory, name, content)
    for args in (["vep", "-m", model(), "-f", fasta, "-w", "48", MINI], ["score", "-m", model(), "-r", "c1", fasta]):
        refused(args, name, *words, directory=directory)


@case
def fasta_that_cannot_be_indexed():
    vep_refuses_fasta(b">c1\nACGTACGT\nACG\nACGTACGT\n>c2\nACGT\n")
    vep_refuses_fasta(b">c1\nACGT\n\nACGT\n")
    vep_refuses_fasta(b"no header\nACGT\n")
    vep_refuses_fasta(b"")
    vep_refuses_fasta(b"@r\nACGT\n+\nIIII\n", "FASTQ")
    vep_refuses_fasta(gzip.compress(read(os.path.join(DATA, "mini.fa"))), "bgzip", name="in.fa.gz")


@case
def fasta_cut_in_the_middle_of_a_block():
    content = read(bgzip(write(fresh(), "long.fa", b">c1\n" + b"ACGTTGCAAGCTTAGC\n" * 20000)))
    vep_refuses_fasta(content[:len(content) // 2], name="cut.fa.gz")
    vep_refuses_fasta(flipped(content), name="flipped.fa.gz")


@case
def fasta_that_is_absent():
    directory = fresh()
    refused(["vep", "-m", model(), "-f", os.path.join(directory, "absent.fa"), MINI], "absent.fa", directory=directory)
    refused(["score", "-m", model(), "-r", "c1", os.path.join(directory, "absent.fa")], "absent.fa", directory=directory)
    refused(["vep", "-m", model(), "-f", directory, MINI], directory, directory=directory)


@case
def index_that_does_not_fit():
    directory = workplace()
    fasta = os.path.join(directory, "mini.fa")
    for text in ("", "garbage\n", "c1\t-5\t3\t60\t61\n", "c1\t99999999999999999999\t3\t60\t61\n", "c1\t600\n"):
        write(directory, "mini.fa.fai", text)
        refused(["vep", "-m", model(), "-f", fasta, "-w", "48", MINI], "mini.fa", directory=directory)
    write(directory, "mini.fa.fai", "c1\t900000\t22\t60\t61\nc2\t180\t636\t60\t61\ntiny\t7\t825\t7\t8\n")
    refused(["score", "-m", model(), "-r", "c1", fasta], "mini.fa", directory=directory)


# ---- VCF -----------------------------------------------------------------------------------------------------------


def vep_refuses(content, *words, name="in.vcf", piped=True):
    """A damaged VCF named on the command line, and unless `piped` is false also on standard input."""
    directory = workplace()
    path = write(directory, name, content)
    args = ["vep", "-m", model(), "-f", os.path.join(directory, "mini.fa"), "-w", "12", "--strand", "+"]
    for output in ("out.vcf.gz", "out.bcf", "out.vcf"):
        refused([*args, path], name, *words, directory=directory, output=output)
    if not piped:
        return
    result = carbon(*args, "-", stdin=content)
    expect_failure(result, *words)
    expect("standard input" in own_errors(result)[0], "the message does not name standard input", result)


_many = []


def many():
    """mini.vcf with its records repeated: several BGZF blocks of records."""
    if not _many:
        lines = [line for line in read(MINI).splitlines(True)]
        body = [line for line in lines if not line.startswith(b"#") and b"ref\t" not in line and b"\tabsent" not in line]
        text = b"".join(line for line in lines if line.startswith(b"#")) + b"".join(
            line.replace(b"\t.\t.\t.\tGT", b"\t%d\t.\tDP=%d\tGT" % (i, i * 7919 % 10007)) for i in range(80) for line in body)
        _many.append(text)
    return _many[0]


@case
def vcf_empty_or_without_header():
    vep_refuses(b"", "empty")
    vep_refuses(b"c1\t100\t.\tG\tT\t.\t.\t.\n", "header")
    vep_refuses(b"##fileformat=VCFv4.2\n##contig=<ID=c1>\n", "#CHROM")
    vep_refuses(b"##fileformat=VCFv4.2\nc1\t100\t.\tG\tT\t.\t.\t.\n", "header")
    vep_refuses(b">c1\nACGT\n")
    vep_refuses(b"some text\n")
    vep_refuses(gzip.compress(b""), name="in.vcf.gz")
    vep_refuses(b"\x00" * 100)


@case
def vcf_absent():
    directory = workplace()
    args = ["vep", "-m", model(), "-f", os.path.join(directory, "mini.fa"), "-w", "48"]
    refused([*args, os.path.join(directory, "absent.vcf")], "absent.vcf", directory=directory)
    refused([*args, directory], directory, directory=directory)


@case
def vcf_with_a_malformed_line():
    text = read(MINI)
    head, first = text[:text.index(b"\nc1\t100\t") + 1], text[text.index(b"\nc1\t100\t") + 1:]
    vep_refuses(head + b"c1\t100\t.\tG\n" + first, "columns")
    vep_refuses(head + b"c1 100 . G T . . .\n" + first, "columns")
    vep_refuses(head + b"c1\tx\t.\tG\tT\t.\t.\t.\tGT:GQ\t0/1:1\t0/1:1\n" + first, "c1:x")
    vep_refuses(head + b"c1\t-7\t.\tG\tT\t.\t.\t.\tGT:GQ\t0/1:1\t0/1:1\n" + first, "c1:-7")
    vep_refuses(head + b"c1\t99999999999999999999\t.\tG\tT\t.\t.\t.\tGT:GQ\t0/1:1\t0/1:1\n" + first)
    vep_refuses(head + b"\n" + first)


@case
def two_lines_in_one():
    # bcftools view takes both for one record where there are no samples.
    lines = [b"\t".join(line.rstrip(b"\n").split(b"\t")[:8]) for line in read(MINI).splitlines()]
    text = b"\n".join(lines) + b"\n"
    ok("vep", "-m", model(), "-f", os.path.join(workplace(), "mini.fa"), "-w", "12", "-", stdin=text)
    vep_refuses(text.replace(b"\nc1\t120\t", b"\tc1\t120\t", 1), "16 columns", "c1:100")
    vep_refuses(text.replace(b"\nc1\t120\t", b"xc1\t120\t", 1), "15 columns", "c1:100")


@case
def vcf_without_a_final_newline():
    whole, cut = fresh(), fresh()
    options = ("vep", "-m", model(), "-f", os.path.join(workplace(), "mini.fa"), "-w", "12", "--no-version")
    wanted = ok(*options, write(whole, "m.vcf", read(MINI)))
    result = ok(*options, write(cut, "m.vcf", read(MINI)[:-1]))
    expect_equal(result.out, wanted.out, "without the last newline")
    expect("has no newline" in result.err and "has no newline" not in wanted.err, "expected a warning", result)
    vep_refuses(read(MINI)[:-20])


@case
def header_without_a_final_newline():
    head = b"".join(line for line in read(MINI).splitlines(True) if line.startswith(b"#"))
    # htslib has taken the line by the time it is known to be the last one: seen only where the file can be read again.
    result = ok("vep", "-m", model(), "-f", os.path.join(workplace(), "mini.fa"), "-w", "12", write(fresh(), "h.vcf", head[:-1]))
    expect("has no newline" in result.err, "expected a warning", result)


@case
def vcf_cut_in_the_middle_of_a_block():
    zipped = read(bgzip(write(fresh(), "m.vcf", many())))
    for keep in (len(zipped) // 2, len(zipped) - 29, len(zipped) - 5):
        vep_refuses(zipped[:keep], name="cut.vcf.gz")


@case
def vcf_without_the_bgzf_end():
    vep_refuses(read(bgzip(write(fresh(), "m.vcf", many())))[:-28], "end-of-file marker", name="noend.vcf.gz")


@case
def vcf_with_a_flipped_bit():
    zipped = read(bgzip(write(fresh(), "m.vcf", many())))
    vep_refuses(flipped(zipped), name="flipped.vcf.gz")
    plain = gzip.compress(many())
    vep_refuses(plain[:-8] + b"\0\0\0\0" + plain[-4:], name="crc.vcf.gz")
    vep_refuses(plain[:-100], name="gzipcut.vcf.gz")


@case
def bcf_damaged():
    good = tool("bcftools", "view", "-Ob", "-", stdin=many()).out
    expect(len(good) > 3000, "the BCF is too small to be cut")
    for name, content in (("cut.bcf", good[:len(good) // 2]), ("noend.bcf", good[:-28]), ("flipped.bcf", flipped(good))):
        vep_refuses(content, name=name)
    raw = decompress(good)
    vep_refuses(raw[:-3], name="short.bcf")
    vep_refuses(raw[:60], name="header.bcf")


@case
def bcf_of_what_has_no_definition():
    text = read(MINI).replace(b"\tDP=10\t", b"\tDP=10;UNDEFINED=3\t")
    directory = workplace()
    path = write(directory, "in.vcf", text)
    refused(["vep", "-m", model(), "-f", os.path.join(directory, "mini.fa"), "-w", "48", path], "c1:1", directory=directory,
            output="out.bcf")
    ok("vep", "-m", model(), "-f", os.path.join(directory, "mini.fa"), "-w", "48", path)


@case
def damaged_input_gives_one_line_and_nothing_else():
    directory = workplace()
    mini = os.path.join(directory, "mini.fa")
    zipped = read(bgzip(write(fresh(), "m.vcf", many())))
    several = []
    for name, content in (("cut.vcf.gz", zipped[:len(zipped) // 2]), ("flipped.vcf.gz", flipped(zipped)),
                          ("nochrom.vcf", b"##fileformat=VCFv4.2\n##contig=<ID=c1>\n"),
                          ("longpos.vcf", many() + b"c1\t99999999999999999999\t.\tG\tT\t.\t.\t.\tGT:GQ\t0/1:1\t0/1:1\n")):
        result = carbon("vep", "-q", "-m", model(), "-f", mini, "-w", "12", write(directory, name, content))
        several += [name + "\n" + result.err] if result.err.count("\n") != 1 else []
    uneven = write(directory, "uneven.fa", b">c1\nACGTACGT\nACG\nACGTACGT\n")
    cut = write(directory, "cut.fa.gz", read(bgzip(write(fresh(), "l.fa", b">c1\n" + b"ACGTTGCAAGCTTAGC\n" * 20000)))[:300])
    for args in (["vep", "-f", uneven, MINI], ["score", "-r", "c1", uneven], ["score", cut]):
        result = carbon(*args, "-q", "-m", model())
        several += [" ".join(args) + "\n" + result.err] if result.err.count("\n") != 1 else []
    expect(not several, "more than one line on stderr:\n" + "".join(several))


# ---- outputs -------------------------------------------------------------------------------------------------------


def arguments(directory):
    fasta = os.path.join(directory, "mini.fa")
    return (["score", "-m", model(), fasta], ["score", "-m", model(), "-O", "tsv", fasta],
            ["vep", "-m", model(), "-f", fasta, "-w", "48", MINI],
            ["vep", "-m", model(), "-f", fasta, "-w", "48", "-O", "b", MINI],
            ["vep", "-m", model(), "-f", fasta, "-w", "48", "-O", "z", MINI],
            ["tokenize", write(directory, "in.jsonl", '"<dna>ACGTAC</dna>"\n')])


@case
def full_device():
    directory = workplace()
    link = os.path.join(directory, "full")
    os.symlink("/dev/full", link)
    for args in arguments(directory):
        before = tree(directory)
        for path in ("/dev/full", link):
            expect_failure(carbon(*args, "-o", path), path, "No space left")
            expect(stat.S_ISCHR(os.stat("/dev/full").st_mode), "/dev/full is no device any more")
            expect(os.path.islink(link), "the link was replaced")
        with open("/dev/full", "wb") as full:
            done = subprocess.run([CARBON, *args], stdout=full,
                                                stderr=subprocess.PIPE, env=ENV)
        expect(done.returncode == 1 and done.stderr.count(b"[E::") == 1, "standard output on /dev/full: %r" % (done,))
        expect_equal(tree(directory), before, "files")


def redirected(directory, redirections, *args):
    """carbon as a shell starts it that redirects or closes descriptors; standard error goes to `log` at first."""
    script = 'exec 2> log; exec "$0" "$@" ' + redirections
    done = command(["sh", "-c", script, CARBON, *args], cwd=directory)
    done.err = read(os.path.join(directory, "log")).decode()
    return done


@case
def closed_standard_descriptors():
    directory = workplace()
    fasta = os.path.join(directory, "mini.fa")
    score = ["score", "--no-version", "-m", model()]
    wanted = ok(*score, fasta).out
    done = redirected(directory, "<&- >&- 2>&-", *score, "-o", "out.tsv", fasta)
    expect(done.rc == 0 and read(os.path.join(directory, "out.tsv")) == wanted, "all closed, with -o", done)
    expect_failure(redirected(directory, ">&-", *score, fasta), "standard output is closed", "name a file with -o")
    expect_failure(redirected(directory, "<&-", *score), "standard input is closed")
    done = redirected(directory, "<&- >&-", "tokenize")
    expect_failure(done, ("standard input is closed", "standard output is closed"))


@case
def data_and_messages_in_one_file():
    directory = workplace()
    for args in arguments(directory):
        done = redirected(directory, ">&2", *args)
        expect_failure(done, "standard error are the same file", "name a file with -o")
    done = redirected(directory, ">&2", "score", "--no-version", "-m", model(), "-o", "out.tsv", os.path.join(directory, "mini.fa"))
    expect(done.rc == 0, "with -o there are only messages", done)


@case
def outputs_that_cannot_be_written():
    directory = workplace()
    os.mkdir(os.path.join(directory, "sub"))
    for args in arguments(directory):
        for path in ("none/out.vcf.gz", "sub", "sub/", "mini.fa/out", "n" * 300):
            refused(args, path[:50], directory=directory, output=path)


@case
def an_older_output_survives_a_failure():
    directory = workplace()
    old = write(directory, "out", "precious")
    args = ["score", "-m", model(), os.path.join(directory, "mini.fa"), os.path.join(directory, "absent.fa")]
    refused(args, "absent.fa", directory=directory)
    expect_equal(read(old), b"precious", "the older file")


# ---- tokenize ------------------------------------------------------------------------------------------------------


for title, line, extra in (("cut", '"<dna>ACGT', []), ("no JSON", "<dna>ACGT</dna>", []), ("object", "{}", []),
                           ("number", "7", []), ("blank", "", []), ("two values", '"a" "b"', []),
                           ("lone surrogate", '"\\ud800"', []),
                           ("ids without --decode", "[1,2]", []), ("text with --decode", '"<dna>"', ["--decode"]),
                           ("negative id", "[-1]", ["--decode"]), ("fraction", "[1.5]", ["--decode"]),
                           ("large id", "[4294967296]", ["--decode"]),
                           ("deep nesting", "[" * 50000, ["--decode"])):
    @case(name="tokenize: " + title)
    def bad_line(line=line, extra=extra):
        directory = fresh()
        good = "[155665]" if extra else '"<dna>ACGTAC</dna>"'
        path = write(directory, "in.jsonl", good + "\n" + line + "\n")
        refused(["tokenize", *extra, path], "in.jsonl:2", directory=directory)


@case
def tokenize_without_what_it_needs():
    directory = fresh()
    path = write(directory, "in.jsonl", '"plain text"\n')
    refused(["tokenize", path], "in.jsonl:1", "--tokenizer", directory=directory)
    refused(["tokenize", "--tokenizer", os.path.join(directory, "absent.json"), path], "absent.json", directory=directory)
    refused(["tokenize", "-m", os.path.join(directory, "absent-model"), path], "absent-model", directory=directory)
    refused(["tokenize", os.path.join(directory, "absent.jsonl")], "absent.jsonl", directory=directory)
    refused(["tokenize", "--tokenizer", write(directory, "tokenizer.json", "{"), path], "tokenizer.json", directory=directory)


if __name__ == "__main__":
    main()
