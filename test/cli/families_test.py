"""GENERator beside Carbon: every command with a checkpoint of that family, and what the family lacks (docs/model.md, "Families").

Most cases compare a GENERator with a Carbon of the same weights, whose rows of the vocabulary are in the other family's order:
both read the same rows at the same places, so every number must have the same bits. Agreement with transformers is in
test/golden/check_generator.py.
"""

import json
import os
import random
import shutil

import numpy as np

from harness import (carbon, case, data, expect, expect_equal, expect_failure, fresh, main, model, ok, parse_fasta, read, write)
from serve_support import Server, need_server

SHAPE = {"hidden": 48, "heads": 3, "kv_heads": 1, "head_dim": 16, "tied": 0, "dtype": "f32"}
KMERS = 4096


def generator(**more):
    return model(**{**SHAPE, "preset": "generator", "vocab": 4128, "dna_start": -1, "shards": 2, **more})


def read_tensors(directory):
    """{name: array} of all files; every tensor is F32."""
    tensors = {}
    for name in os.listdir(directory):
        if not name.endswith(".safetensors"):
            continue
        raw = read(os.path.join(directory, name))
        size = int.from_bytes(raw[:8], "little")
        for tensor, entry in json.loads(raw[8:8 + size]).items():
            if tensor != "__metadata__":
                begin, end = entry["data_offsets"]
                tensors[tensor] = np.frombuffer(raw[8 + size + begin:8 + size + end], np.float32).reshape(entry["shape"])
    return tensors


def write_tensors(directory, tensors):
    header, at = {}, 0
    for name, values in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": [at, at + values.nbytes]}
        at += values.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    write(directory, "model.safetensors", len(text).to_bytes(8, "little") + text + b"".join(v.tobytes() for v in tensors.values()))


_twin = []


def twin():
    """A Carbon with the weights of generator(): <dna> and </dna> have the rows of <s>."""
    if not _twin:
        directory = fresh()
        config = json.loads(read(os.path.join(generator(), "config.json")))
        config.update(architectures=["LlamaForCausalLM"], vocab_size=3 + KMERS, bos_token_id=None, eos_token_id=None)
        write(directory, "config.json", json.dumps(config))
        write(directory, "dna_config.json", json.dumps({"k": 6, "dna_start_id": 0}))
        rows = [1, 1, 0] + list(range(32, 32 + KMERS))
        write_tensors(directory, {name: values[rows] if len(values) == 4128 else values
                                  for name, values in read_tensors(generator()).items()})
        _twin.append(directory)
    return _twin[0]


def random_bases(length, seed):
    rng = random.Random(seed)
    return "".join(rng.choice("ACGT") for _ in range(length))


def sequences():
    """Lengths on and off 6-mers, lower case, letters that are no bases."""
    noisy = list(random_bases(200, 3))
    noisy[20:60] = [c.lower() for c in noisy[20:60]]
    for at in (7, 100, 199):
        noisy[at] = "N"
    texts = [random_bases(n, n) for n in (1, 5, 6, 7, 95)] + ["".join(noisy)]
    return write(fresh(), "s.fa", "".join(">s%d\n%s\n" % pair for pair in enumerate(texts)))


def without_header(text):
    return [line for line in text.splitlines() if not line.startswith("#")]


def same(*args, f32=True):
    """The lines of both families, which are equal."""
    dtype = ["--dtype", "f32"] if f32 else []
    lines = [without_header(ok(args[0], "-m", path, *dtype, *args[1:]).text) for path in (generator(), twin())]
    expect(lines[0], "there is no output")
    expect_equal(lines[0], lines[1], "lines of a GENERator and of a Carbon with its weights: %s" % " ".join(map(str, args)))
    return lines[0]


def variants():
    """SNVs, an insertion and a deletion of mini.fa, away from its ends and near them."""
    contigs = dict(parse_fasta(read(data("mini.fa")).decode()))
    lines = []
    for name, bases in contigs.items():
        bases = bases.upper()
        for at in (1, 40, len(bases) - 2):
            if not set(bases[at - 1:at + 3]) <= set("ACGT") or at + 3 > len(bases):
                continue
            for ref, alt in ((bases[at], "ACGT"["ACGT".index(bases[at]) - 1]), (bases[at], bases[at] + "GAT"),
                             (bases[at:at + 2], bases[at])):
                lines.append("%s\t%d\t.\t%s\t%s\t.\t.\t.\n" % (name, at + 1, ref, alt))
    head = "##fileformat=VCFv4.3\n" + "".join("##contig=<ID=%s>\n" % name for name in contigs)
    return write(fresh(), "v.vcf", head + "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n" + "".join(lines))


@case
def scores_are_those_of_the_same_rows():
    same("score", "-O", "tsv", sequences())
    same("score", "-O", "bedgraph", "--strand", "both", "--window", "36", "--stride", "12", sequences())
    same("score", sequences(), f32=False)
    same("scan", "-f", data("mini.fa"))
    same("scan", "--level", "chain", "--frames", "2", "--strand", "+", "-f", data("mini.fa"))


@case
def recipes_are_those_of_the_same_rows():
    fasta = data("mini.fa")
    lines = same("vep", "-f", fasta, "--recipe", "centered,anchored", "--window", "120", "--horizon", "30", variants())
    expect(any("CARBON_ALLR=" in line for line in lines), "nothing was scored")
    same("vep", "-f", fasta, "--recipe", "next-token", "--context", "600", "--strand", "both", variants())


@case
def states_are_those_of_the_same_rows():
    for pool in ("separator", "last", "mean", "none"):
        path = sequences() if pool in ("separator", "none") else write(fresh(), "s.fa", ">a\n" + random_bases(95, 1) + "\n")
        same("embed", "--pool", pool, path)


@case
def samples_are_those_of_the_same_rows():
    prompts = write(fresh(), "p.fa", ">a\n%s\n>b\n%s\n" % (random_bases(60, 1), random_bases(64, 2).lower()))
    for options in (("--greedy",), ("-n", "2"), ("--sampler", "marginal"), ("--sampler", "chain", "--constraint", "ATGNNR")):
        same("generate", "-l", "40", *options, prompts)
    same("generate", "-l", "40", "--unconditional")


@case
def drafts_of_both_families_change_no_byte():
    prompts = write(fresh(), "p.fa", ">a\n%s\n>b\n%s\n" % (random_bases(60, 1), random_bases(64, 2)))
    other = generator(seed=3, layers=1)
    alone = ok("generate", "-m", generator(), "-l", "60", prompts).text
    for draft in (other, twin(), model()):
        expect_equal(ok("generate", "-m", generator(), "--draft", draft, "-l", "60", prompts).text, alone, "with draft " + draft)
    expect_equal(ok("generate", "-m", twin(), "--draft", other, "-l", "60", prompts).text,
                 ok("generate", "-m", twin(), "-l", "60", prompts).text, "a GENERator for a Carbon")
    tagged = ["-l", "60", "--prefix", "<mam>", prompts]
    expect_equal(ok("generate", "-m", generator(), "--draft", other, *tagged).text, ok("generate", "-m", generator(), *tagged).text,
                 "with metadata")
    expect_failure(carbon("generate", "-m", generator(), "--draft", twin(), *tagged), "has another text vocabulary")


@case
def metadata_is_single_tokens():
    prompts = write(fresh(), "p.fa", ">a\n%s\n" % random_bases(64, 2))

    def drawn(*options):
        return ok("generate", "-m", generator(), "-l", "30", *options, prompts).text

    plain, tagged = drawn(), drawn("--prefix", "<mam><cds>")
    expect(plain != tagged, "metadata changes nothing")
    expect_equal(drawn("--species", "vertebrate_mammalian", "--gene-type", "protein_coding_region"), tagged, "by name")
    expect(drawn("--prefix", "<cds><mam>") != tagged, "the order of the tokens changes nothing")
    command = ["generate", "-m", generator(), "-l", "30", prompts]
    for prefix in ("<s>", "<mam>ACGTAC", "<mouse>", "mam", "<oov>", "<pad>", "<dna>", "<species>fungi"):
        expect_failure(carbon(*command, "--prefix", prefix), ("single tokens", "has <s> in it"), "--prefix")
    expect_failure(carbon(*command, "--species", "mouse"), "unknown species 'mouse'")
    expect_failure(carbon(*command, "--gene-type", "transfer_messenger_rna"), "GENERator has no token for the gene type")
    expect_failure(carbon(*command, "--species", "fungi", "--tag-grammar", "card"), "no grammar to choose", "leave out --tag-grammar")


@case
def the_tokenizer_adds_nothing():
    path = write(fresh(), "t.jsonl", '"<s><mam>ACGTACGT"\n"acgtac"\n"ACGTAC"\n')
    lines = [json.loads(line) for line in ok("tokenize", "-m", generator(), path).lines()]
    acgtac = 32 + sum("ATCG".index(base) * 4 ** (5 - place) for place, base in enumerate("ACGTAC"))
    expect_equal([line["ids"] for line in lines], [[1, 17, acgtac, 0], [0] * 6, [acgtac]], "ids")
    expect_equal(lines[0]["mask"], [0, 0, 6, 0], "mask")
    ids = write(fresh(), "ids.jsonl", "[1,17,%d,0,2]\n" % acgtac)
    expect_equal(ok("tokenize", "-m", generator(), "--decode", ids).text, '"<s><mam>ACGTAC<oov></s>"\n', "text")
    expect_equal(ok("tokenize", "-m", generator(), "--decode", "--skip-special", ids).text, '"<mam>ACGTAC"\n', "text without")
    expect_failure(carbon("tokenize", "-m", generator(), "--auto-dna-tags", path), "has no <dna> tags", "leave out --auto-dna-tags")


@case
def what_the_family_lacks_is_refused_by_name():
    expect_failure(carbon("embed", "-m", generator(), "--pad-tail", sequences()), "family GENERator pads no 6-mer", "leave out --pad-tail")
    bpe = fresh()
    write(bpe, "vocab.json", json.dumps({chr(c) if 33 <= c <= 126 else chr(256 + c): c for c in range(256)}))
    write(bpe, "merges.txt", "")
    result = carbon("tokenize", "-m", generator(), "--tokenizer", bpe, write(fresh(), "t.jsonl", '"ACGTAC"\n'))
    expect(result.rc == 1, "BPE files are taken", result)


@case
def another_tokenizer_is_refused():
    def damaged(name, change):
        path = shutil.copytree(generator(), os.path.join(fresh(), "model"))
        text = read(os.path.join(path, name)).decode()
        expect(change(text) != text, "nothing is changed")
        write(path, name, change(text))
        return carbon("score", "-m", path, sequences())

    expect_failure(damaged("vocab.txt", lambda text: text.replace("AAAAAT 33", "AAAAAC 33")), "vocab.txt: line 34 is 'AAAAAC 33'")
    expect_failure(damaged("tokenizer_config.json", lambda text: text.replace('"k": 6', '"k": 4')), "tokenizer_config.json: k is 4")
    expect_failure(damaged("config.json", lambda text: text.replace("4128", "4224")), "vocab_size 4224: must be 4128")


@case
def the_default_context_is_that_of_the_authors():
    fasta = data("mini.fa")
    for path, wanted in ((generator(), "8192"), (model(max_positions=8192), "24000")):
        text = ok("vep", "-m", path, "-f", fasta, "--recipe", "next-token", variants()).text
        expect("next-token,Context=" + wanted in text, "the header has another context", None)
        expect("after the %s bp context" % wanted in text, "the tag has another context")
        text = ok("+mutagenesis", "-m", path, "--", "-f", fasta, "--recipe", "next-token", "-r", "c1:90-92").text
        expect("next-token,Context=" + wanted in text, "+mutagenesis has another context")


@case
def bench_and_plugins_run():
    ok("bench", "-m", generator(), "-p", "32", "-n", "4", "-b", "1", "--rounds", "1")
    fasta = write(fresh(), "p.fa", ">a\n%s\n" % random_bases(600, 5))
    same("+recovery", fasta, "--", "--context", "120", "--length", "12")


@case
def the_server_reads_one_s():
    need_server()
    bases = "ATGGCCAAGG"
    with Server("-m", generator(), "--dtype", "f32") as server:
        listed = server.get("/v1/models").json["data"][0]
        expect_equal(listed["family"], "GENERator", "family")

        def answer(prompt, **more):
            got = server.good("/v1/completions", {"prompt": prompt, "max_tokens": 3, "seed": 1, "return_token_ids": True, **more})
            choice = got["choices"][0]
            return choice["text"], choice["prompt_token_ids"]

        plain = answer(bases)
        expect_equal(plain[1][:1] + [len(plain[1])], [1, 2], "ids of a prompt")
        for other in ("<s>" + bases, " <s>" + bases.lower() + "<s>", "<s> ATGGCC\nAAGG"):
            expect_equal(answer(other), plain, other)
        tagged = answer("<s><mam><cds>" + bases)
        expect_equal(tagged[1][:3], [1, 17, 11], "ids of metadata")
        expect_equal(answer("<mam><cds>" + bases), tagged, "metadata without <s>")
        expect_equal(answer(tagged[1], max_tokens=2)[1], tagged[1], "ids as they are sent")
        echoed = server.good("/v1/completions", {"prompt": "<s><mam>ATGGCCAAGGAC", "max_tokens": 0, "echo": True, "logprobs": 1,
                                                 "prompt_logprobs": 0})["choices"][0]
        expect_equal(echoed["logprobs"]["tokens"], ["<s>", "<mam>", "ATGGCC", "AAGGAC"], "tokens of an echo")
        expect_equal(echoed["prompt_logprobs"][:2], [None, None], "of <s> and <mam>")
        for wrong, word in (("<dna>" + bases, "does not know"), ("<s><s>" + bases, "more than one <s>"),
                            ("<s>ATG<s>GCC", "more than one <s>"), ("<s><mouse>" + bases, "single tokens"),
                            (bases + "<mam>", "letters only"), ("<", "single tokens"), ([40, 41], "no <s>"), ([1, 40, 17], "after <s>")):
            refused = server.post("/v1/completions", {"prompt": wrong, "max_tokens": 1})
            expect_equal(refused.status, 400, wrong)
            expect(word in refused.json["error"]["message"], "the message does not say %r: %s" % (word, refused.body))
        expect_equal(server.good("/tokenize", {"prompt": "<s>ATGGCC"})["count"], 2, "tokens")
        expect_equal(server.good("/detokenize", {"tokens": [1, 17, 0]})["prompt"], "<s><mam><oov>", "text")
        path = write(fresh(), "e.fa", ">a\nATGGCCAAGGAC\n")
        row = [float(v) for v in ok("embed", "-m", generator(), "--dtype", "f32", path).table()[-1].split("\t")[-48:]]
        for sent in ("<s>ATGGCCAAGGAC", "ATGGCCAAGGAC<s>", plain_ids("ATGGCCAAGGAC")):
            got = server.good("/v1/embeddings", {"input": sent})["data"][0]["embedding"]
            expect(np.allclose(got, row, atol=1e-5), "the embedding of %s is another" % sent)
        drawn = server.good("/v1/dna/generate", {"prompt": bases, "prefix": "<mam><cds>", "length": 14, "seed": 1})
        expect_equal(drawn["samples"][0]["sequence"], tagged[0], "/v1/dna/generate")
    result = carbon("serve", "-m", generator(), "--port", "0", "--auto-dna-tags")
    expect_failure(result, "has no <dna> tags", "leave out --auto-dna-tags")


def plain_ids(bases):
    return [1] + [32 + sum("ATCG".index(b) * 4 ** (5 - j) for j, b in enumerate(bases[i:i + 6])) for i in range(0, len(bases), 6)]


main()
