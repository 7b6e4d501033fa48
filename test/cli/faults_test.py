"""Bad input: one clear message, exit status 1, nothing left behind, no crash."""

import gzip
import json
import os
import shutil
import stat
import struct
import subprocess

from harness import (CARBON, DATA, ENV, bgzip, carbon, case, data, decompress, expect, expect_equal, expect_failure, fresh, main, model,
                     model_copy, ok, own_errors, read, tool, tree, write)

MINI = os.path.join(DATA, "mini.vcf")
FASTA = b">a\nACGTTGCAAGCT\n>b\nGGGTTTACGATTA\n"


def workplace():
    """A directory with an indexed reference, so that a run has no reason to add a file."""
    directory = fresh()
    data("mini.fa", directory)
    tool("samtools", "faidx", os.path.join(directory, "mini.fa"))
    return directory


def refused(args, *words, directory, output="out"):
    """The run fails as it should and leaves the directory as it was."""
    out = os.path.join(directory, output)
    before = tree(directory)
    result = carbon(*args, "-o", out, timeout=60)
    expect_failure(result, *words)
    expect_equal(tree(directory), before, "files after the failure")
    expect(len(own_errors(result)[0]) < 600, "the message is too long to be clear", result)
    return result


def both_commands(checkpoint, *words):
    """A checkpoint that cannot be used, with score and vep."""
    directory = workplace()
    fasta = os.path.join(directory, "mini.fa")
    refused(["score", "-m", checkpoint, fasta], *words, directory=directory)
    refused(["vep", "-m", checkpoint, "-f", fasta, "-w", "48", MINI], *words, directory=directory, output="out.vcf.gz")


# ---- the model -----------------------------------------------------------------------------------------------------


def split(path):
    """(header as a dict, tensor bytes) of a safetensors file."""
    content = read(path)
    size = struct.unpack("<Q", content[:8])[0]
    return json.loads(content[8:8 + size]), bytearray(content[8 + size:])


def join(path, header, tensors):
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    write(os.path.dirname(path), os.path.basename(path), struct.pack("<Q", len(text)) + text + bytes(tensors))


def damaged(change):
    """A checkpoint whose safetensors header and bytes were changed."""
    checkpoint = model_copy()
    path = os.path.join(checkpoint, "model.safetensors")
    header, tensors = split(path)
    join(path, header, change(header, tensors) or tensors)
    return checkpoint


def configured(change, file="config.json"):
    checkpoint = model_copy()
    path = os.path.join(checkpoint, file)
    config = json.loads(read(path))
    change(config)
    write(checkpoint, file, json.dumps(config))
    return checkpoint


@case
def model_that_is_not_there():
    missing = os.path.join(fresh(), "missing-model")
    both_commands(missing, "missing-model")
    both_commands("no-such-name", "no-such-name")
    empty = os.path.join(fresh(), "empty-model")
    os.mkdir(empty)
    both_commands(empty, "empty-model", "config.json")


@case
def safetensors_missing():
    checkpoint = model_copy()
    os.remove(os.path.join(checkpoint, "model.safetensors"))
    both_commands(checkpoint, "model.safetensors")


@case
def safetensors_cut():
    for keep in (0, 7, 8, 100, 4000, -1):
        checkpoint = model_copy()
        path = os.path.join(checkpoint, "model.safetensors")
        write(checkpoint, "model.safetensors", read(path)[:keep])
        both_commands(checkpoint, "model.safetensors")


@case
def safetensors_with_a_foreign_length():
    for size in (1 << 62, (1 << 64) - 1, 309601):
        checkpoint = model_copy()
        path = os.path.join(checkpoint, "model.safetensors")
        write(checkpoint, "model.safetensors", struct.pack("<Q", size) + read(path)[8:])
        both_commands(checkpoint, "model.safetensors")


@case
def safetensors_header_that_is_not_json():
    for text in (b"{\"a\": ", b"[]", b"\xff\xfe\x00\x00", b"null", b"{" * 5000):
        checkpoint = model_copy()
        write(checkpoint, "model.safetensors", struct.pack("<Q", len(text)) + text)
        both_commands(checkpoint, "model.safetensors")


Q = "model.layers.1.self_attn.q_proj.weight"


@case
def tensor_with_a_wrong_shape():
    def transpose(header, _):
        header["model.layers.0.mlp.gate_proj.weight"]["shape"].reverse()
    both_commands(damaged(transpose), "model.layers.0.mlp.gate_proj.weight", "[32,64]")

    def flat(header, _):
        header[Q]["shape"] = [32 * 32]
    both_commands(damaged(flat), Q)


@case
def tensor_shape_that_overflows():
    def huge(header, _):
        header[Q]["shape"] = [1 << 33, 1 << 33]
    both_commands(damaged(huge), Q)

    def negative(header, _):
        header[Q]["shape"] = [-32, -32]
    both_commands(damaged(negative), Q)


@case
def tensor_offset_past_the_end():
    def beyond(header, tensors):
        last = max(header, key=lambda name: header[name].get("data_offsets", [0, 0])[1])
        begin, end = header[last]["data_offsets"]
        header[last]["data_offsets"] = [begin + len(tensors), end + len(tensors)]
    both_commands(damaged(beyond), "past the end")


@case
def tensor_offsets_that_overlap_or_are_odd():
    for offsets in ([0, 2048], [2048, 0], [-2, 2046], [0, 1 << 63], ["0", "2048"], [0], None):
        def other(header, _, offsets=offsets):
            header[Q]["data_offsets"] = offsets
        both_commands(damaged(other), Q)


@case
def tensor_missing_or_of_an_unknown_type():
    def drop(header, _):
        del header["model.norm.weight"]
    both_commands(damaged(drop), "model.norm.weight")

    def retype(header, _):
        header[Q]["dtype"] = "F8_E4M3"
    both_commands(damaged(retype), Q)

    def rename(header, _):
        header[Q + "_scale_inv"] = header.pop(Q)
    both_commands(damaged(rename), Q)


@case
def shard_missing():
    checkpoint = shutil.copytree(model(shards=3), os.path.join(fresh(), "sharded"))
    os.remove(os.path.join(checkpoint, "model-00002-of-00003.safetensors"))
    both_commands(checkpoint, "model-00002-of-00003.safetensors")
    write(checkpoint, "model.safetensors.index.json", "{\"weight_map\": {\"a\": \"../../secret\"}}")
    both_commands(checkpoint, "model.safetensors.index.json")


@case
def config_that_is_not_json():
    for text in (b"", b"{", b"[1, 2]", b"{\"a\": 1} trailing", b"\x00\x01\x02", b"{\"hidden_size\": 32,}", b"[" * 100000):
        checkpoint = model_copy()
        write(checkpoint, "config.json", text)
        both_commands(checkpoint, "config.json")


CONFIGS = {
    "unknown rope_type": (lambda c: c.update(rope_scaling={"rope_type": "longrope", "factor": 2.0}), "longrope"),
    "rope_scaling that is no object": (lambda c: c.update(rope_scaling=[1]), "rope_scaling"),
    "no rope_theta": (lambda c: c.pop("rope_theta"), "rope_theta"),
    "quantization": (lambda c: c.update(quantization_config={"bits": 4}), "quantization_config"),
    "sliding window": (lambda c: c.update(sliding_window=4096), "sliding_window"),
    "activation": (lambda c: c.update(hidden_act="gelu"), "gelu"),
    "model type": (lambda c: c.update(model_type="mistral"), "mistral"),
    "architecture": (lambda c: c.update(architectures=["MistralForCausalLM"]), "MistralForCausalLM"),
    "hidden size of zero": (lambda c: c.update(hidden_size=0), "hidden_size"),
    "negative layers": (lambda c: c.update(num_hidden_layers=-1), "num_hidden_layers"),
    "huge vocabulary": (lambda c: c.update(vocab_size=1 << 62), "vocab_size"),
    "layers as text": (lambda c: c.update(num_hidden_layers="2"), "num_hidden_layers"),
    "no heads": (lambda c: c.pop("num_attention_heads"), "num_attention_heads"),
    "heads that do not divide": (lambda c: c.update(num_key_value_heads=3), "num_key_value_heads"),
    "another layer count": (lambda c: c.update(num_hidden_layers=3), "model.layers.2."),
    "another hidden size": (lambda c: c.update(hidden_size=64), "shape"),
}
for title, (change, word) in CONFIGS.items():
    @case(name="config: " + title)
    def bad_config(change=change, word=word):
        both_commands(configured(change), word)


@case
def dna_config():
    both_commands(configured(lambda c: c.update(k=5), "dna_config.json"), "dna_config.json")
    both_commands(configured(lambda c: c.update(dna_start_id=4000), "dna_config.json"), "dna_start_id")
    checkpoint = model_copy()
    os.remove(os.path.join(checkpoint, "dna_config.json"))
    both_commands(checkpoint, "vocab_size", "155776")


def with_value(name, index, bits):
    """A checkpoint with one BF16 element replaced."""
    def change(header, tensors):
        at = header[name]["data_offsets"][0] + 2 * index
        tensors[at:at + 2] = struct.pack("<H", bits)
    return damaged(change)


NAN, INFINITY = 0x7FC0, 0x7F80


@case
def weights_with_a_nan():
    for name, index in (("model.norm.weight", 3), ("model.layers.0.input_layernorm.weight", 0), (Q, 77),
                        ("model.layers.1.mlp.down_proj.weight", 5)):
        checkpoint = with_value(name, index, NAN)
        directory = workplace()
        fasta = write(directory, "named.fa", FASTA)
        for kind in ([], ["-O", "tsv"], ["--level", "token"], ["--strand", "both"]):
            refused(["score", "-m", checkpoint, *kind, fasta], "a:", directory=directory)
        for kind in ([], ["--recipe", "next-token", "--context", "60"]):
            refused(["vep", "-m", checkpoint, "-f", os.path.join(directory, "mini.fa"), "-w", "48", *kind, MINI], "c1:1",
                    directory=directory, output="out.bcf")


@case
def weights_with_an_infinity():
    checkpoint = with_value("model.norm.weight", 3, INFINITY)
    directory = workplace()
    refused(["score", "-m", checkpoint, write(directory, "named.fa", FASTA)], "a:", directory=directory)
    refused(["vep", "-m", checkpoint, "-f", os.path.join(directory, "mini.fa"), "-w", "48", MINI], "c1:1", directory=directory)


@case
def nan_in_the_row_of_one_6mer():
    # Only what comes after AAAAAA is broken: the message names the sequence, and the place in it.
    checkpoint = shutil.copytree(model(tied=0), os.path.join(fresh(), "model"))
    path = os.path.join(checkpoint, "model.safetensors")
    header, tensors = split(path)
    at = header["model.embed_tokens.weight"]["data_offsets"][0] + 2 * 32 * 3  # three special tokens, then AAAAAA
    tensors[at:at + 2] = struct.pack("<H", NAN)
    join(path, header, tensors)
    directory = workplace()
    good = b">good\nACGTTGCAAGCTAAAAAA\n"
    fasta = write(directory, "named.fa", good + b">bad\nCCCCCCAAAAAACCCCCC\n")
    refused(["score", "-m", checkpoint, fasta], "bad:13", directory=directory)
    ok("score", "-m", checkpoint, write(directory, "good.fa", good))


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


def vep_refuses(content, *words, name="in.vcf", given=None):
    """A damaged VCF named on the command line, and on standard input when `given`."""
    directory = workplace()
    path = write(directory, name, content)
    args = ["vep", "-m", model(), "-f", os.path.join(directory, "mini.fa"), "-w", "12", "--strand", "+"]
    for output in ("out.vcf.gz", "out.bcf", "out.vcf"):
        refused([*args, path], name, *words, directory=directory, output=output)
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
def vcf_without_a_final_newline():
    vep_refuses(read(MINI)[:-1], "newline")
    vep_refuses(read(MINI)[:-20])


@case
def header_without_a_final_newline():
    head = b"".join(line for line in read(MINI).splitlines(True) if line.startswith(b"#"))
    vep_refuses(head[:-1], "newline")


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
            ["vep", "-m", model(), "-f", fasta, "-w", "48", MINI], ["vep", "-m", model(), "-f", fasta, "-w", "48", "-O", "b", MINI],
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


@case
def outputs_that_cannot_be_written():
    directory = workplace()
    os.mkdir(os.path.join(directory, "sub"))
    for args in arguments(directory):
        for path in ("none/out.vcf.gz", "sub", "sub/", "mini.fa/out", "n" * 300):
            refused(args, path[:50], directory=directory, output=path)
        expect_failure(carbon(*args, "-o", ""), "output")


@case
def an_older_output_survives_a_failure():
    directory = workplace()
    old = write(directory, "out", "precious")
    args = ["score", "-m", model(), os.path.join(directory, "mini.fa"), os.path.join(directory, "absent.fa")]
    refused(args, "absent.fa", directory=directory)
    expect_equal(read(old), b"precious", "the older file")


# ---- tokenize ------------------------------------------------------------------------------------------------------


for title, line, extra in (("cut", '"<dna>ACGT', []), ("no JSON", "<dna>ACGT</dna>", []), ("object", "{}", []), ("number", "7", []),
                           ("blank", "", []), ("two values", '"a" "b"', []), ("lone surrogate", '"\\ud800"', []),
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
