"""Files that were made to break programs: indices, caches and records with impossible contents, FIFOs, a cut model.

Each ends a run with one message and exit status 1, without an output file.
"""

import os
import sqlite3
import struct
import subprocess

from harness import (CARBON, ENV, carbon, case, data, decompress, expect, expect_equal, expect_failure, fresh, genome, main, model,
                     model_copy, ok, peak_memory, read, records, refused, tool, tree, workplace, write)
from vep_support import HEAD, MINI, WINDOW, vcf, vep

CONTIG = "##contig=<ID=c1>\n"


def refused_vcf(content, *words, name="in.vcf", args=()):
    directory = workplace()
    path = write(directory, name, content)
    refused(["vep", "-m", model(), "-f", os.path.join(directory, "mini.fa"), "-w", WINDOW, *args, path], *words,
            directory=directory, output="out.vcf")


def line(pos, ref="A", alt="C", contig="c1"):
    return "%s\t%s\t.\t%s\t%s\t.\t.\t.\n" % (contig, pos, ref, alt)


# ---- records and headers -------------------------------------------------------------------------------------------


@case
def a_nul_byte_in_a_record():
    refused_vcf(HEAD % CONTIG + "c1\t2\t.\tC\0\tT\t.\t.\t.\n", "NUL", ":2")
    refused_vcf(HEAD % CONTIG + line(1) + "c1\t2\t.\tC\tT\0\t.\t.\t.\n", "NUL")


@case
def a_sample_without_a_name():
    header = "##fileformat=VCFv4.2\n%s#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ta\t\tb\n" % CONTIG
    refused_vcf(header + line(2)[:-1] + "\tGT\t0/1\t0/0\t1/1\n", "sample 2", "no name")


@case
def samples_that_do_not_fit_the_header():
    header = '##fileformat=VCFv4.2\n%s##FORMAT=<ID=GT,Number=1,Type=String,Description="x">\n' % CONTIG
    header += "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ta\tb\n"
    for name in ("", "GT:", ":GT", "GT::GQ"):
        refused_vcf(header + line(2)[:-1] + "\t%s\t0/1\t1|0\n" % name, ":2", "FORMAT has an empty name")
    for samples, said in (("0/1\t1|0\t1|1", "more columns"), ("0/1\t1|0\t\tx", "more columns"), ("\t0/1", "sample 1 is empty"),
                          ("0/1\t", "sample 2 is empty"), ("0/1\t\t1|0", "sample 2 is empty"), ("0/1", "columns")):
        refused_vcf(header + line(2)[:-1] + "\tGT\t%s\n" % samples, ":2", said)
    result = vep("-w", WINDOW, write(fresh(), "in.vcf", header + line(2)[:-1] + "\tGT\t0/1\t1|0\t\n" + line(3)[:-1] + "\t.\t.\t.\n"))
    expect_equal(len(records(result.text)), 2, "the records")


@case
def a_contig_longer_than_any_index():
    """It ended in an endless search for the levels of an index, also where none is written."""
    text = HEAD % ("##contig=<ID=c1,length=%s>\n" % ("7" * 40)) + "c1\t100\t.\tG\tT\t.\t.\t.\n"
    path = write(fresh(), "in.vcf", text)
    expect_equal(len(records(vep("-w", WINDOW, path, timeout=60).text)), 1, "records")
    for args in (("-O", "z", "-W", "-o", os.path.join(fresh(), "x.vcf.gz")), ("-O", "b")):
        expect_failure(carbon("vep", "-m", model(), "-f", data("mini.fa"), *args, path, timeout=60), "contig c1")


@case
def the_largest_position():
    for recipe in ("centered", "next-token", "anchored"):
        result = vep(*(("-w", WINDOW) if recipe == "centered" else ("--context", "60")),
                     *(("--horizon", "6") if recipe == "anchored" else ()), "--recipe",
                     recipe, vcf([("c1", 4611686018427387903, "A", "C")]))
        expect("CARBON_FLAG=edge" in result.text, "not at the edge", result)
    for position in (4611686018427387904, 9223372034707292160, 9223372036854775808, 10 ** 40):
        refused_vcf(HEAD % CONTIG + line(position), "line 4 (c1:", "POS is larger than 4611686018427387903")


@case
def a_contig_that_no_index_can_hold():
    directory = workplace()
    path = write(directory, "in.vcf", HEAD % "##contig=<ID=c1,length=4611686018427387904>\n" + line(2, genome()["c1"][1]))
    refused(["vep", "-m", model(), "-f", os.path.join(directory, "mini.fa"), "-w", WINDOW, "-W", path], "c1",
            "4611686018427387904", directory=directory, output="out.vcf.gz")


@case
def a_contig_that_reads_as_a_comment():
    directory = fresh()
    fasta = write(directory, "in.fa", ">#c\n" + genome()["c1"] + "\n")
    tool("samtools", "faidx", fasta)
    # As text such a line would be a comment of the input, too; BCF has numbers instead of names.
    renamed = os.path.join(directory, "renamed.vcf")
    write(directory, "renamed.vcf", (HEAD % "##contig=<ID=xx>\n" + line(30, genome()["c1"][29], "G", "xx")))
    raw = decompress(tool("bcftools", "view", "-Ou", "--no-version", renamed).out).replace(b"ID=xx", b"ID=#c")
    write(directory, "odd.bcf", raw)
    refused(["vep", "-m", model(), "-f", fasta, "-w", WINDOW, "-O", "t", os.path.join(directory, "odd.bcf")], "#c",
            "comments", directory=directory, output="out.tsv")
    refused(["vep", "-m", model(), "-f", fasta, "-w", WINDOW, os.path.join(directory, "odd.bcf")], "#c", "comments", directory=directory,
            output="out.vcf")
    refused(["vep", "-m", model(), "-f", fasta, "-w", WINDOW, "--embeddings", os.path.join(directory, "e.npy"), "-O", "b",
             os.path.join(directory, "odd.bcf")], "#c", "comments", directory=directory, output="out.bcf")
    ok("vep", "-m", model(), "-f", fasta, "-w", WINDOW, "-O", "b", os.path.join(directory, "odd.bcf"))


@case
def a_bcf_whose_texts_break_lines():
    directory = fresh()
    path = write(directory, "in.vcf", (HEAD % CONTIG) + line(2, genome()["c1"][1]).replace("\t.\t", "\tnameofit\t", 1))
    raw = decompress(tool("bcftools", "view", "-Ou", "--no-version", path).out)
    expect(b"nameofit" in raw, "the name is not in the BCF")
    for letter in (b"\t", b"\n"):
        odd = write(directory, "odd.bcf", raw.replace(b"nameofit", b"name" + letter + b"fit"))
        refused(["vep", "-m", model(), "-f", os.path.join(workplace(), "mini.fa"), "-w", WINDOW, odd], "odd.bcf", "end of line in ID",
                directory=directory, output="out.vcf")


@case
def a_header_that_would_fill_the_memory():
    for text in ("##FILTER=<ID=q,Description=\"x\",IDX=20000000>\n", "##contig=<ID=c9, IDX=4000000000>\n",
                 "##INFO=<ID=a\"b,IDX=20000000,Number=1,Type=Integer,Description=\"x\">\n"):
        refused_vcf(HEAD % (CONTIG + text) + line(2), "IDX=", "line 3")
    # Of a text it is no number.
    fine = vcf([("c1", 2, genome()["c1"][1], "N")])
    write(os.path.dirname(fine), "odd.vcf", read(fine).replace(b"#CHROM", b"##FILTER=<ID=q,Description=\"a,IDX=20000000\">\n#CHROM"))
    vep("-w", WINDOW, os.path.join(os.path.dirname(fine), "odd.vcf"))


@case
def a_header_that_would_take_minutes():
    refused_vcf(HEAD % (CONTIG + "".join("##k%d=x\n##ALT=<ID=a>\n" % i for i in range(10001))) + line(2), "10000 places", "##KEY=VALUE")


@case
def a_line_without_an_end():
    run = ["vep", "-m", model(), "-f", data("mini.fa"), "-w", WINDOW, "--chr-map", "/dev/full", MINI]
    expect_failure(carbon(*run), "/dev/full", "512 MiB")
    expect(peak_memory(*run, rc=1) < 700000, "a line of 512 MiB takes more than 700 MB")


@case
def a_nul_byte_in_a_header():
    refused_vcf(HEAD % (CONTIG + "##k=\0x\n") + line(2), "NUL", "line 3")


@case
def a_file_that_names_another():
    """An answer of an htsget server is a text with URLs, of which any file of this machine may be one. htslib goes there."""
    answer = lambda url: '{"htsget":{"format":"VCF","urls":[{"url":"%s"}]}}' % url
    for url in (MINI, "file://" + MINI, "http://127.0.0.1:9/records"):
        refused_vcf(answer(url), "in.vcf: ", "htsget", "does not follow")
    packed = write(fresh(), "raw", answer(MINI))
    refused_vcf(tool("bgzip", "-c", packed).out, "in.vcf.gz: ", "htsget", name="in.vcf.gz")
    expect_failure(carbon("vep", "-m", model(), "-f", data("mini.fa"), "-w", WINDOW, "-", stdin=answer(MINI).encode()),
                   "standard input: ", "htsget")


@case
def reads_instead_of_records():
    refused_vcf(b"CRAM\3\0" + bytes(20) + os.urandom(3000), "in.vcf: ", "CRAM")


@case
def numbers_that_the_header_of_bcf_does_not_define():
    directory = workplace()
    bases = genome()["c1"]
    header = ('##fileformat=VCFv4.2\n##FILTER=<ID=q,Description="x">\n##INFO=<ID=DP,Number=1,Type=Integer,Description="x">\n'
              '##FORMAT=<ID=GT,Number=1,Type=String,Description="x">\n##contig=<ID=c1>\n'
              "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ts\n")
    lines = ["c1\t%d\t.\t%s\tN\t.\tq\tDP=3\tGT\t0/1\n" % (p, bases[p - 1]) for p in (100, 200, 300)]
    raw = decompress(tool("bcftools", "view", "-Ou", "--no-version", write(directory, "right.vcf", header + "".join(lines))).out)
    start = 9 + struct.unpack("<I", raw[5:9])[0]
    size = (len(raw) - start) // 3
    second = raw[start + size:start + 2 * size]
    path = os.path.join(directory, "in.bcf")

    def put(record):
        plain = write(directory, "plain", raw[:start + size] + record + raw[start + 2 * size:])
        # Without compression each file has the places of the index.
        write(directory, "in.bcf", tool("bgzip", "-l", "0", "-c", plain).out)
        os.remove(plain)

    put(second)
    tool("bcftools", "index", "-c", path)
    run = ["vep", "-m", model(), "-f", os.path.join(directory, "mini.fa"), "-w", WINDOW, path]
    for region in ([], ["-r", "c1:1-1000"]):
        expect_equal(len(records(ok(*run, *region).text)), 3, "the records")
    # FILTER, INFO and FORMAT, each as a type and a number. Those of the header are 0 to 3, the next ones the
    # writer adds, as it adds the contigs of the FASTA.
    names = b"\x11\x01\x11\x02\x11\x03\x11\x03"
    expect_equal(second.count(names), 1, "the names")
    for number in (4, 5, 6, 100):
        wrong = bytes((0x11, number))
        for record in (names.replace(b"\x11\x01", wrong), names.replace(b"\x11\x02", wrong), names[:-2] + wrong):
            put(second.replace(names, record))
            for kind in "vbt":
                for region in ([], ["-r", "c1:1-1000"]):
                    refused([*run, *region, "-O", kind], "in.bcf", "record 2", directory=directory)
    for number in (1, 2, 100, -1):
        put(second[:8] + struct.pack("<i", number) + second[12:])
        for region in ([], ["-r", "c1:1-1000"]):
            refused([*run, *region], "in.bcf", "record 2", directory=directory)


# The header grows by the names of each record that is read, also of one that is left out. BCF has only the header of
# the beginning.
@case
def undefined_names_that_records_before_had_too():
    directory = workplace()
    base = genome()["c1"][59]
    header = '##fileformat=VCFv4.2\n%s##FORMAT=<ID=GT,Number=1,Type=String,Description="x">\n' % CONTIG
    header += "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ts\n"
    for columns in ("q\t.\tGT\t0/1", ".\tXY=6\tGT\t0/1", ".\t.\tGT:XY\t0/1:3"):
        text = header + "c1\t5\t.\tA\tC\t.\t%s\nc1\t60\t.\t%s\tN\t.\t%s\n" % (columns, base, columns)
        path = write(directory, "in.vcf", text)
        zipped = write(directory, "in.vcf.gz", tool("bgzip", "-c", path).out)
        tool("tabix", "-f", "-p", "vcf", zipped)
        run = ["vep", "-m", model(), "-f", os.path.join(directory, "mini.fa"), "-w", WINDOW]
        for selection in (["-t", "c1:60", path], ["-t", "^c1:5", path], ["--shard", "2/2", path], ["-r", "c1:60", zipped]):
            for kind in "ub":
                refused([*run, "-O", kind, *selection], "c1:60", "not defined in the header", "-O z", directory=directory,
                        output="out.bcf")
            for kind in "vz":
                expect_equal(len(records(tool("bcftools", "view", "-", stdin=ok(*run, "-O", kind, *selection).out).text)), 1,
                             "the records")


# ---- indices -------------------------------------------------------------------------------------------------------


def fai_refused(text, *words):
    directory = fresh()
    fasta = write(directory, "in.fa", ">a x\nACGTACGTAC\nACGTACGTAC\nACG\n>b\nTTTTT\n")
    write(directory, "in.fa.fai", text)
    refused(["score", "-m", model(), "-r", "a:1-12", fasta], "in.fa.fai", *words, directory=directory)


@case
def an_index_of_fasta_with_wrong_numbers():
    directory = fresh()
    fasta = write(directory, "in.fa", ">a x\nACGTACGTAC\nACGTACGTAC\nACG\n>b\nTTTTT\n")
    tool("samtools", "faidx", fasta)
    right = read(fasta + ".fai").decode()
    expect_equal(right.splitlines()[0], "a\t23\t5\t10\t11", "the right index")
    for wrong in ("a\t23\t5\t0\t0", "a\t23\t5\t10\t9", "a\t23\t-5\t10\t11", "a\t23\t5\t10", "a\t23\t5\t10\t11\t7",
                  "a\t9223372036854775807\t5\t1\t9223372036854775807", "a\t23\t5\tx\t11"):
        fai_refused(wrong + "\n", "not a line")
    for wrong in ("a\t23\t6\t10\t11", "a\t23\t4\t10\t11", "a\t22\t5\t10\t11", "a\t23\t5\t9\t11", "a\t23\t5\t11\t12",
                  "a\t23\t34\t10\t11", "a\t100\t5\t10\t11", "a\t23\t5\t23\t24", "b\t5\t5\t10\t11\na\t5\t34\t5\t6"):
        fai_refused(wrong + "\n" + ("b\t5\t34\t5\t6\n" if wrong.startswith("a") else ""), "does not match")
    fai_refused("a\t23\t5\t10\t11\n", "lacks b of")
    plain = ok("score", "-m", model(), "-r", "a:3-20", "-O", "tsv", fasta).out
    for change in (b"\n", b"\r\n"):
        other = write(fresh(), "in.fa", read(fasta).replace(b"\n", change) + change)
        for path in (other, None):
            path = path or tool("bgzip", "-k", other) and other + ".gz"
            expect_equal(ok("score", "-m", model(), "-r", "a:3-20", "-O", "tsv", path).out, plain, path)


def indexed():
    """A directory with mini.vcf.gz, its FASTA, and the bytes of both kinds of index, decompressed."""
    directory = workplace()
    path = os.path.join(directory, "in.vcf.gz")
    tool("bcftools", "sort", "-Oz", "-o", path, vcf([("c1", p, genome()["c1"][p - 1], "N") for p in (5, 50, 500)]))
    contents = {}
    for kind, option in (("csi", "-c"), ("tbi", "-t")):
        tool("bcftools", "index", option, path)
        contents[kind] = tool("bgzip", "-dc", "%s.%s" % (path, kind)).out
        os.remove("%s.%s" % (path, kind))
    return directory, path, contents


@case
def a_cut_or_crafted_index_of_records():
    directory, path, contents = indexed()
    run = ["vep", "-m", model(), "-f", os.path.join(directory, "mini.fa"), "-w", WINDOW, path]

    def index(kind, content):
        for other in ("csi", "tbi"):
            if os.path.exists("%s.%s" % (path, other)):
                os.remove("%s.%s" % (path, other))
        write(directory, "raw", content)
        write(directory, "in.vcf.gz." + kind, tool("bgzip", "-c", os.path.join(directory, "raw")).out)
        os.remove(os.path.join(directory, "raw"))

    for kind, content in contents.items():
        index(kind, content)
        ok(*run, "-r", "c1:40-60")
        bad = [content[:length] for length in (0, 3, 4, 8, 12, 30, len(content) // 2, len(content) - 9)]
        bad += [b"BAM\1" + content[4:], content + b"123"]
        if kind == "csi":
            bad += [content[:8] + struct.pack("<i", depth) + content[12:] for depth in (0, -1, 30, 1 << 30)]
            bad += [content[:4] + struct.pack("<i", (1 << 31) - 1) + content[8:]]
        # Where the records of the first bin begin: before it in CSI, at the end of the contig in TBI.
        first = 16 + struct.unpack("<i", content[12:16])[0] + 12 if kind == "csi" else len(content) - 16
        bad += [content[:first] + struct.pack("<Q", 1 << 40) + content[first + 8:]]
        bad += [content[:at] + struct.pack("<i", value) + content[at + 4:] for at in (4, 12) for value in (-1, 1 << 30)
                if kind == "csi" or at == 4]
        for wrong in bad:
            index(kind, wrong)
            refused(run + ["-r", "c1:40-60"], "in.vcf.gz." + kind, directory=directory)
            ok(*run)  # without regions nobody needs the index
    # Every single changed byte: refused or harmless, but never a crash or a hang.
    for kind, content in contents.items():
        for at in range(0, len(content), max(1, len(content) // 25)):
            index(kind, content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1:])
            result = carbon(*run, "-r", "c1:40-60", timeout=20)
            expect(result.rc in (0, 1), "byte %d of %s" % (at, kind), result)


# ---- caches --------------------------------------------------------------------------------------------------------


def cache():
    path = os.path.join(fresh(), "cache")
    vep("-w", WINDOW, "--cache", path, MINI)
    return path


@case
def a_cache_with_more_than_the_table():
    for statement in ("CREATE TABLE more(a)", "CREATE VIEW more AS SELECT 1",
                      "CREATE TRIGGER more AFTER INSERT ON score BEGIN DELETE FROM score; END",
                      "CREATE INDEX more ON score(llr)"):
        path = cache()
        database = sqlite3.connect(path)
        database.execute(statement)
        database.commit()
        database.close()
        expect_failure(carbon("vep", "-m", model(), "-f", data("mini.fa"), "-w", WINDOW, "--cache", path, MINI),
                       "another table")
    path = cache()
    database = sqlite3.connect(path)
    database.execute("ALTER TABLE score ADD COLUMN more GENERATED ALWAYS AS (zeroblob(1000000000))")
    database.commit()
    database.close()
    expect_failure(carbon("vep", "-m", model(), "-f", data("mini.fa"), "-w", WINDOW, "--cache", path, MINI), "another table")


@case
def a_cache_that_is_also_the_output():
    path = cache()
    before = read(path)
    for output in (path, os.path.join(os.path.dirname(path), ".", "cache")):
        expect_failure(carbon("vep", "-m", model(), "-f", data("mini.fa"), "-w", WINDOW, "--cache", path, "-o", output, MINI),
                       "two outputs")
    expect_equal(read(path), before, "the cache")


# ---- models and limits ---------------------------------------------------------------------------------------------


@case
def a_model_in_a_folder_with_an_odd_name():
    checkpoint = os.path.join(fresh(), 'a"b\nc\t\\d')
    os.rename(model_copy(), checkpoint)
    for kind in ("v", "t"):
        lines = ok("vep", "-m", checkpoint, "-f", data("mini.fa"), "-w", WINDOW, "--no-version", "-O", kind, MINI).lines()
        expect(any(line.startswith('##carbon_vepModel=<ID=CARBON_LLR,Model="a_b_c__d",') for line in lines), lines[0])
        expect(all(line.startswith("#") or line.count("\t") >= 5 for line in lines), "a line that is no record")


@case
def json_that_takes_the_square_of_its_length_to_read_elsewhere():
    for name, text in (("config.json", '{"x":[%s]}' % ",".join(["{}"] * 1000000)),
                       ("dna_config.json", '{%s}' % ",".join('"%d":{}' % i for i in range(200000)))):
        checkpoint = model_copy()
        write(checkpoint, name, text)
        expect_failure(carbon("score", "-m", checkpoint, data("mini.fa"), timeout=20), name)
    header = ",".join('"t%d":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}' % i for i in range(200000))
    checkpoint = model_copy()
    write(checkpoint, "model.safetensors", struct.pack("<Q", len(header) + 2) + b"{" + header.encode() + b"}")
    expect_failure(carbon("score", "-m", checkpoint, data("mini.fa"), timeout=20), "embed_tokens", "missing")


@case
def a_fifo_in_place_of_a_file_of_the_model():
    for name in ("config.json", "model.safetensors"):
        checkpoint = model_copy()
        os.remove(os.path.join(checkpoint, name))
        os.mkfifo(os.path.join(checkpoint, name))
        expect_failure(carbon("score", "-m", checkpoint, data("mini.fa"), timeout=20), name, "regular file")


@case
def a_model_that_is_cut_during_the_run():
    checkpoint = model_copy()
    output = os.path.join(fresh(), "out.tsv")
    run = subprocess.Popen([CARBON, "score", "-m", checkpoint, "-v", "4", "-o", output, "-"], stdin=subprocess.PIPE,
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=ENV)
    for text in run.stderr:
        if b"model " in text and b"cpu:" in text:
            break
    os.truncate(os.path.join(checkpoint, "model.safetensors"), 0)
    _, errors = run.communicate(b">a\n" + genome()["c1"].encode() + b"\n", timeout=60)
    expect_equal(run.returncode, 1, "status; " + errors.decode())
    expect(b"[E::main] a model file was truncated" in errors, errors.decode())
    expect_equal(os.listdir(os.path.dirname(output)), [], "files")


@case
def a_limit_on_the_size_of_files():
    directory = workplace()
    long = write(directory, "long.fa", ">a\n" + genome()["c1"] * 20 + "\n")
    before = tree(directory)
    result = subprocess.run(["bash", "-c", 'ulimit -f 1; exec "$@"', "-", CARBON, "score", "-m", model(), "-O", "tsv", "-o",
                             os.path.join(directory, "out.tsv"), long], capture_output=True, env=ENV, timeout=60)
    expect_equal(result.returncode, 1, "status; " + result.stderr.decode())
    expect(b"File too large" in result.stderr, result.stderr.decode())
    expect_equal(tree(directory), before, "files")


if __name__ == "__main__":
    main()
