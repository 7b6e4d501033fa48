"""Writes small valid inputs for every fuzz target: python3 test/fuzz/seeds.py FOLDER makes FOLDER/TARGET/NAME.

They are what libFuzzer begins to change. A seed should pass all checks of its format, because a change to a valid file gets further
than random bytes. The files of one input stand between lines "@@@@" (harness.hpp). Needs no package beside Python.
"""

import gzip
import hashlib
import json
import os
import sqlite3
import struct
import sys
import tempfile
import zlib

BETWEEN = b"\n@@@@\n"
KMERS = ["".join("ATCG"[i >> 2 * place & 3] for place in range(5, -1, -1)) for i in range(4096)]


def files(*parts):
    return BETWEEN.join(part if isinstance(part, bytes) else part.encode() for part in parts)


def compact(value):
    return json.dumps(value, separators=(",", ":")).encode()


# ---- models --------------------------------------------------------------------------------------------------------

CONFIG = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu", "hidden_size": 8,
          "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 4,
          "intermediate_size": 6, "vocab_size": 4099, "max_position_embeddings": 64, "rms_norm_eps": 1e-6,
          "rope_theta": 10000.0, "tie_word_embeddings": True}
DNA_CONFIG = {"k": 6, "dna_start_id": 0}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64, "beta_fast": 32, "beta_slow": 1}
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 8192}
QWEN3 = {**CONFIG, "architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "vocab_size": 8, "rope_scaling": LLAMA3,
         "use_sliding_window": False, "sliding_window": 4096, "layer_types": ["full_attention"]}


def letter_tokenizer(eos):
    """tokenizer.json of a MarinDNA."""
    special = ["[PAD]", "[UNK]", "[BOS]"] + ["[EOS]"] * eos
    vocabulary = {token: i for i, token in enumerate(special + list("acgt"))}
    around = special[2:]
    pieces = [{"SpecialToken": {"id": token, "type_id": 0}} for token in around]
    pieces.insert(1, {"Sequence": {"id": "A", "type_id": 0}})
    return {"version": "1.0", "added_tokens": [{"id": i, "content": t, "special": True} for i, t in enumerate(special)],
            "normalizer": {"type": "Lowercase"},
            "pre_tokenizer": {"type": "Split", "pattern": {"Regex": ".{1}"}, "behavior": "Isolated", "invert": False},
            "post_processor": {"type": "TemplateProcessing", "single": pieces,
                               "special_tokens": {t: {"id": t, "ids": [vocabulary[t]], "tokens": [t]} for t in around}},
            "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"}}


TENSORS = {"model.embed_tokens.weight": [4099, 8], "model.norm.weight": [8]}
for _name, _shape in {"input_layernorm": [8], "self_attn.q_proj": [8, 8], "self_attn.k_proj": [4, 8],
                      "self_attn.v_proj": [4, 8], "self_attn.o_proj": [8, 8], "post_attention_layernorm": [8],
                      "mlp.gate_proj": [6, 8], "mlp.up_proj": [6, 8], "mlp.down_proj": [8, 6]}.items():
    TENSORS["model.layers.0.%s.weight" % _name] = _shape


def safetensors(shapes, dtype="BF16", size=2, metadata=None):
    """The length and the header of a file with these tensors, without their bytes, and the number of these."""
    header, at = {}, 0
    if metadata:
        header["__metadata__"] = metadata
    for name, shape in shapes.items():
        count = size
        for n in shape:
            count *= n
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + count]}
        at += count
    text = compact(header)
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text, at


def safetensors_seeds():
    for name, (dtype, size) in {"bf16": ("BF16", 2), "f32": ("F32", 4), "u8": ("U8", 1)}.items():
        header, count = safetensors({"a": [2, 3], "b.c": [4], "scalar": [], "none": [0, 7]}, dtype, size, {"format": "pt"})
        yield name, header + bytes(count)


def config_seeds():
    yield "carbon", files(compact(CONFIG), compact(DNA_CONFIG))
    yield "yarn", files(compact({**CONFIG, "rope_scaling": YARN}), compact({**DNA_CONFIG, "dna_vocab_size": 4099,
                        "dna_special_tokens": ["<dna>", "</dna>", "<oov>"]}))
    yield "parameters", files(compact({**{k: v for k, v in CONFIG.items() if k != "rope_theta"}, "rope_parameters": {
        "rope_theta": 10000.0, "rope_type": "default"}, "attention_bias": False, "sliding_window": None}), compact(DNA_CONFIG))
    yield "released", files(compact({**CONFIG, "vocab_size": 155776}))
    generator = {**CONFIG, "architectures": ["GENERatorForCausalLM"], "vocab_size": 4128, "bos_token_id": 1}
    tokenizer = compact({"tokenizer_class": "DNAKmerTokenizer", "k": 6})
    yield "generator", files(compact(generator), "", tokenizer)
    singles = ("<oov> <s> </s> <pad> <mask> <bog> <eog> <bok> <eok> <+> <-> <cds> <pseudo> <tRNA> <rRNA> <ncRNA> <miscRNA> "
               "<mam> <vrt> <inv> <pln> <fng> <prt> <arc> <bct> <mit> <plt> <plm> <vir> <sp0> <sp1> <sp2>").split()
    lines = "".join("%s %d\n" % pair[::-1] for pair in enumerate(singles + KMERS))
    yield "labels", files(compact({**CONFIG, "architectures": ["LlamaForSequenceClassification"], "problem_type": "regression",
                                   "id2label": {"0": "K562", "1": "HepG2"}, "label2id": {"K562": 0, "HepG2": 1}}), compact(DNA_CONFIG))
    yield "label-numbers", files(compact({**CONFIG, "architectures": ["LlamaForSequenceClassification"],
                                          "id2label": {"0": 0, "1": 1.5, "2": True, "3": None}}), compact(DNA_CONFIG))
    yield "letters", files(compact(QWEN3), "", "", "", compact(letter_tokenizer(False)))
    yield "letters-eos", files(compact(QWEN3), "", "", "", compact(letter_tokenizer(True)))
    yield "generator-vocabulary", files(compact({**generator, "architectures": ["LlamaForCausalLM"]}), "", tokenizer, lines)


def checkpoint_seeds():
    config, dna = compact(CONFIG), compact(DNA_CONFIG)
    yield "one-file", files(config, dna, "", safetensors(TENSORS)[0])
    names = sorted(TENSORS)
    shards = [{name: TENSORS[name] for name in names[i::2]} for i in (0, 1)]
    weight_map = {name: "model-0000%d-of-00002.safetensors" % (i + 1) for i in (0, 1) for name in shards[i]}
    yield "shards", files(config, dna, compact({"metadata": {"total_size": 1}, "weight_map": weight_map}),
                          safetensors(shards[0])[0], safetensors(shards[1])[0])
    wrapped = {"module._orig_mod." + name.replace("model.", "", 1): shape for name, shape in TENSORS.items()}
    yield "wrapped", files(compact({**CONFIG, "architectures": ["LlamaModel"]}), dna, "", safetensors(wrapped)[0])
    untied = {**TENSORS, "lm_head.weight": [4099, 8]}
    yield "labels", files(compact({**CONFIG, "architectures": ["LlamaForSequenceClassification"], "id2label": {"0": "a", "1": "b"}}), dna,
                          "", safetensors({**TENSORS, "score.weight": [2, 8]})[0])
    yield "head", files(compact({**CONFIG, "tie_word_embeddings": False}), dna, "", safetensors(untied, "F16")[0])


def lora_seeds():
    config = {"peft_type": "LORA", "lora_alpha": 4, "r": 2, "bias": "none", "target_modules": ["q_proj"]}
    module = "base_model.model.model.layers.0.%s"
    pair = {module % "self_attn.q_proj.lora_A.weight": [2, 8], module % "self_attn.q_proj.lora_B.weight": [8, 2]}
    yield "pair", files(compact(config), safetensors(pair, "F32", 4)[0])
    down = {module % "mlp.down_proj.lora_A.weight": [2, 6], module % "mlp.down_proj.lora_B.weight": [8, 2],
            module % "input_layernorm.weight": [8]}
    yield "pattern", files(compact({**config, "use_rslora": True, "alpha_pattern": {"down_proj": 8}, "rank_pattern": {}}),
                           safetensors(down)[0])
    expressions = {"^model.layers.0.mlp.down_proj": 8, r"layers\.[0-9]\.(mlp|self_attn)\..*": 2, "a{2,3}(?:b|c)+?d": 1}
    bare = {name.replace("model.model.model.", "model.", 1): shape for name, shape in down.items()}
    yield "expressions", files(compact({**config, "alpha_pattern": expressions}), safetensors(bare)[0])
    embedding = {"base_model.model.model.embed_tokens.lora_embedding_A": [2, 4099],
                 "base_model.model.model.embed_tokens.lora_embedding_B": [8, 2]}
    yield "embedding", files(compact(config), safetensors(embedding, "F16")[0])


def label_scale_seeds():
    yield "labels", files("K562_scaled,HepG2", compact({"K562_scaled": {"mean": 0.5, "std": 2}, "HepG2": {"mean": -1, "std": 1e-3}}))
    yield "transform", files("K562_scaled,HepG2", compact({"dna_mode": "auto_dna_tags", "label_transform": {
        "K562": {"column": "x", "center": 0.5, "scale": 2}, "HepG2": {"center": 0, "scale": 1}}}))
    yield "stats", files("activity", compact({"seed": 42, "label_stats": {"activity_mean": 11.2, "activity_std": 2.5}}))


def gguf_text(text):
    data = text if isinstance(text, bytes) else text.encode()
    return struct.pack("<Q", len(data)) + data


def gguf_value(value):
    if isinstance(value, bool):
        return struct.pack("<IB", 7, value)
    if isinstance(value, int):
        return struct.pack("<II", 4, value)
    if isinstance(value, float):
        return struct.pack("<If", 6, value)
    if isinstance(value, str):
        return struct.pack("<I", 8) + gguf_text(value)
    if isinstance(value[0], str):
        return struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(gguf_text, value))
    return struct.pack("<IIQ", 9, 5, len(value)) + struct.pack("<%di" % len(value), *value)


def gguf(metadata, tensors):
    """The header of a file; `tensors` has the shapes as in the file and the numbers of types (0 F32, 30 BF16)."""
    out = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata))
    for key, value in metadata.items():
        out += gguf_text(key) + gguf_value(value)
    at = 0
    for name, (shape, kind) in tensors.items():
        out += gguf_text(name) + struct.pack("<I", len(shape)) + struct.pack("<%dQ" % len(shape), *shape)
        out += struct.pack("<IQ", kind, at)
        count = 4 if kind == 0 else 2
        for n in shape:
            count *= n
        at += -(-count // 32) * 32
    return out + bytes(-len(out) % 32)


def gguf_seeds():
    metadata = {"general.architecture": "llama", "llama.block_count": 1, "llama.context_length": 64,
                "llama.embedding_length": 8, "llama.feed_forward_length": 6, "llama.attention.head_count": 2,
                "llama.attention.head_count_kv": 1, "llama.attention.key_length": 4, "llama.attention.value_length": 4,
                "llama.rope.dimension_count": 4, "llama.vocab_size": 4099, "llama.rope.freq_base": 10000.0,
                "llama.attention.layer_norm_rms_epsilon": 1e-6, "tokenizer.ggml.model": "hybriddna"}
    tensors = {"token_embd.weight": ([8, 4099], 30), "output_norm.weight": ([8], 0)}
    for name, shape in {"attn_norm": [8], "attn_q": [8, 8], "attn_k": [8, 4], "attn_v": [8, 4], "attn_output": [8, 8],
                        "ffn_norm": [8], "ffn_gate": [8, 6], "ffn_up": [8, 6], "ffn_down": [6, 8]}.items():
        tensors["blk.0.%s.weight" % name] = (shape, 30 if len(shape) == 2 else 0)
    tokens = ["<dna>", "</dna>", "<oov>"] + [kmer + "\ue000" for kmer in KMERS]
    # One without the long list, which is refused late, so that most changes are made to what is before.
    yield "short", gguf({**metadata, "llama.causal": True}, tensors)
    yield "lists", gguf({**metadata, "tokenizer.ggml.tokens": ["a", "b", "ab"], "tokenizer.ggml.merges": ["a b"],
                         "tokenizer.ggml.token_type": [1, 1, 3]}, tensors)
    yield "model", gguf({**metadata, "tokenizer.ggml.tokens": tokens}, tensors)


def byte_letters():
    """The letter of each byte in byte-level BPE."""
    letters, following = [], 0x100
    for byte in range(256):
        itself = 0x21 <= byte <= 0x7E or 0xA1 <= byte <= 0xAC or byte >= 0xAE
        letters.append(chr(byte if itself else following))
        following += not itself
    return letters


def bpe_seeds():
    letters = byte_letters()
    merges = [("a", "b"), ("ab", "c"), (letters[32], "a"), ("d", "n"), ("dn", "a")]
    tokens = letters + ["".join(merge) for merge in merges]
    vocab = {token: i for i, token in enumerate(tokens)}
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tokenizer/bpe.hpp")) as source:
        regex = source.read().split('R"(', 1)[1].split(')";', 1)[0]
    tokenizer = {"added_tokens": [{"id": len(tokens), "content": "<|endoftext|>", "single_word": False, "lstrip": False,
                                   "rstrip": False, "normalized": False, "special": True},
                                  {"id": len(tokens) + 1, "content": "<think>", "special": False}],
                 "normalizer": {"type": "NFC"},
                 "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
                     {"type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated", "invert": False},
                     {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}]},
                 "model": {"type": "BPE", "vocab": vocab, "merges": [" ".join(merge) for merge in merges]}}
    text = "abc dna a\u0301 it's 123 <think>x<|endoftext|>\r\n  \u00e9\u4e2d"
    yield "tokenizer", files(json.dumps(tokenizer, ensure_ascii=False), "", "", text)
    tokenizer["model"]["merges"] = [list(merge) for merge in merges]
    yield "pairs", files(json.dumps(tokenizer), "", "", text)
    lines = "#version: 0.2\n" + "".join("%s %s\n" % merge for merge in merges)
    yield "two-files", files("", json.dumps(vocab, ensure_ascii=False), lines, text)


def tags_seeds():
    for i, text in enumerate(("<dna>ACGTAC GTN</dna>", "<species>human</species><dna>acgtacgtac", "ACGTACGT",
                              "<s><mam><cds>ACGTACGTACGTxNNACG", "<fungi><tRNA><dna>ACG</dna><|endoftext|>",
                              "<vertebrate_mammalian_species>", "\u00df \u01c4<dna>\u00e9ACG\u2028T</dna>")):
        yield str(i), files(text, "fungi\nprotein_coding\n" if i % 2 else "vertebrate_mammalian\ntRNA\n")


# ---- runs that are resumed, caches ---------------------------------------------------------------------------------


def vep_journal_seeds():
    head = b'##carbon_vepPartial2={"model":"m","window":"24"}\n'
    entries, checksum = b"", 0
    for number, values in enumerate(((0.5,), (1.0, -2.0, float("nan")), ())):
        entry = hashlib.sha256(b"%d" % number).digest() + struct.pack("<I%df" % len(values), len(values), *values)
        checksum = zlib.crc32(entry, checksum)
        entries += entry + struct.pack("<I", checksum)
    yield "complete", head + entries
    yield "cut", head + entries[:-3]
    yield "other", head.replace(b"24", b"48") + entries


def scan_state_seeds():
    output = b"#CHROM\tPOS\nc1\t1\n"
    bases = "ACGTACGTTAGCATCGATCGGCTAAGCTTAGCATTACGGATTGACCATGG"
    checksum = 0
    for position, base in enumerate(bases):
        for number in (0, position * 4 + "ATCG".index(base)):
            checksum = (checksum ^ number) * 1099511628211 % (1 << 64)
    mark = {"contig": 0, "position": len(bases), "bases": len(bases), "checksum": checksum,
            "histogram": "ACG\tA\t-120\t3\n.\tT\t7\t1\n"}
    state = {"carbon_partial": 1, "command": "scan", "run": {"model": "m"}, "bytes": len(output), "end_check": zlib.crc32(output),
             "done": len(bases), "mark": mark}
    yield "state", files(output, compact(state))
    yield "begun", files(output, compact({**state, "mark": {**mark, "contig": 1, "position": 0, "histogram": ""}}))


def score_cache_seeds():
    with tempfile.TemporaryDirectory() as folder:
        for mode in ("DELETE", "WAL"):
            path = os.path.join(folder, mode)
            database = sqlite3.connect(path)
            database.executescript(
                "PRAGMA page_size=512;PRAGMA application_id=%d;PRAGMA user_version=1;"
                "CREATE TABLE score(key BLOB PRIMARY KEY NOT NULL, llr INTEGER NOT NULL, guard INTEGER NOT NULL)"
                " WITHOUT ROWID;PRAGMA journal_mode=%s;" % (0x43617243, mode))
            for i in range(3):
                text = b"carbon score 1\nfuzz\ncentered\n+\n4\nACGT4\nACGA" if i == 0 else b"%d" % i
                key, bits = hashlib.sha256(text).digest(), struct.pack("<d", -0.5 * i)
                database.execute("INSERT INTO score VALUES(?, ?, ?)",
                                 (key, struct.unpack("<q", bits)[0], zlib.crc32(key + bits)))
            database.commit()
            database.close()
            with open(path, "rb") as content:
                yield mode, content.read()


# ---- sequences and records -----------------------------------------------------------------------------------------

FASTA = b">c1 first\nACGTACGTAC\nGTTAGC\n>c2\nNNNNAC-*\n\n>c3\nacgt\n"
HEAD = ("##fileformat=VCFv4.2\n##contig=<ID=c1,length=120>\n##contig=<ID=c2,length=60>\n"
        "##FILTER=<ID=low,Description=\"x\">\n##INFO=<ID=END,Number=1,Type=Integer,Description=\"x\">\n"
        "##INFO=<ID=SVTYPE,Number=1,Type=String,Description=\"x\">\n##INFO=<ID=SVLEN,Number=A,Type=Integer,Description=\"x\">\n"
        "##INFO=<ID=CARBON_LLR,Number=A,Type=Float,Description=\"x\">\n"
        "##FORMAT=<ID=GT,Number=1,Type=String,Description=\"x\">\n")
COLUMNS = "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO"
RECORDS = ("c1\t40\trs1\tA\tC,T\t9.5\tPASS\tCARBON_LLR=0.5,-1\nc1\t45\t.\tACC\tA\t.\tlow\t.\n"
           "c1\t50\t.\tA\tAGG,*,<DEL>\t.\t.\tSVLEN=.,.,-4;END=53\nc1\t60\t.\tG\t<DUP>\t.\t.\tSVTYPE=DUP;SVLEN=6\n"
           "c2\t7\t.\tG\t.\t.\t.\t.\nc2\t30\t.\tn\tA\t.\t.\t.\n")


def bgzf(data):
    """One block, not compressed, and the empty block at the end of a file."""
    out = b""
    for part in (data, b""):
        deflate = zlib.compressobj(0, zlib.DEFLATED, -15)
        body = deflate.compress(part) + deflate.flush()
        out += struct.pack("<4BI2BH2BHH", 31, 139, 8, 4, 0, 0, 255, 6, 66, 67, 2, len(body) + 25) + body
        out += struct.pack("<II", zlib.crc32(part), len(part))
    return out


def fasta_seeds():
    yield "plain", FASTA
    yield "windows", FASTA.replace(b"\n", b"\r\n")
    yield "gzip", gzip.compress(FASTA, mtime=0)
    yield "bgzf", bgzf(FASTA)


def fai_seeds():
    fasta = b">c1 first\nACGTACGTAC\nGTTAGC\n>c2\nNNNNAC\n"
    yield "index", files(fasta, "c1\t16\t10\t10\t11\nc2\t6\t32\t6\t7\n")
    yield "no-index", files(fasta)
    yield "windows", files(fasta.replace(b"\n", b"\r\n"), "c1\t16\t11\t10\t12\nc2\t6\t36\t6\t8\n")
    for name, changes in {"right": b"\0\0\0", "gzi": b"\0\x08\x01", "fasta": b"\1\x30\x01", "cut": b"\0\0\0xx"}.items():
        yield "bgzf-" + name, files(fasta, "c1\t16\t10\t10\t11\nc2\t6\t32\t6\t7\n", changes)


def bcf(text=HEAD + COLUMNS + "\n", contig=0):
    """A BCF file with one record, not compressed."""
    header = text.encode() + b"\0"
    # rid, pos, rlen, qual, n_info | n_allele << 16, n_sample | n_fmt << 24; ID, alleles, FILTER.
    shared = struct.pack("<iiif", contig, 39, 1, 7.0) + struct.pack("<II", 2 << 16, 0) + b"\x07\x17A\x17C\x11\x00"
    return b"BCF\2\2" + struct.pack("<I", len(header)) + header + struct.pack("<II", len(shared), 0) + shared


def vcf_seeds():
    yield "records", HEAD + COLUMNS + "\n" + RECORDS
    yield "windows", (HEAD + COLUMNS + "\n" + RECORDS).replace("\n", "\r\n")
    samples = "".join(line + "\tGT\t0/1\t1|0\n" for line in RECORDS.splitlines())
    yield "samples", HEAD + COLUMNS + "\tFORMAT\ta\tb\n" + samples
    yield "phased", haplotype_seeds()[0]
    yield "undefined", "##fileformat=VCFv4.3\n" + COLUMNS + "\nc1\t40\t.\tA\tC\t.\tq10\tDP=3;FLAG\n"
    yield "header", "##fileformat=VCFv4.2\n##k=v\n##ALT=<ID=DEL,Description=\"a, \\\"b\\\"\">\n##contig=<ID=c1,IDX=1>\n" + \
        COLUMNS + "\n"
    tags = "".join("##INFO=<ID=%s,Number=A,Type=%s,Description=\"d\">\n" % tag for tag in (("SVLEN", "Integer"), ("SVINSSEQ", "String")))
    yield "alleles", "##fileformat=VCFv4.4\n" + tags + COLUMNS + "\nc1\t40\t.\tA\t<DEL>,<DUP>,C\t.\t.\tSVLEN=-3,4,.;SVINSSEQ=.,GAT,.\n"
    yield "bgzf", bgzf((HEAD + COLUMNS + "\n" + RECORDS).encode())
    yield "bcf", bcf()
    yield "bcf-bgzf", bgzf(bcf())


def jump_seeds():
    text = HEAD + COLUMNS + "\n" + RECORDS
    yield "records", text
    yield "windows", text.replace("\n", "\r\n")
    yield "bcf", bcf()
    # The header gives the contigs numbers, and none has number 0.
    yield "bcf-gap", bcf((HEAD + COLUMNS + "\n").replace("=c1,", "=c1,IDX=1,").replace("=c2,", "=c2,IDX=3,"), 1)


def index_seeds():
    """Of the text in vcf_index.cpp: the records of c1 begin at byte 115, those of c2 at byte 166, and it ends at 182."""
    names = b"c1\0c2\0"
    columns = struct.pack("<6i", 2, 1, 2, 0, ord("#"), 0)
    # A bin with one chunk; in one block an offset is the place in the text.
    parts = ((115, 166), (166, 182))
    tbi = b"TBI\1" + struct.pack("<i", 2) + columns + struct.pack("<i", len(names)) + names
    csi = b"CSI\1" + struct.pack("<3i", 14, 5, 28 + len(names)) + columns + struct.pack("<i", len(names)) + names
    csi += struct.pack("<i", 2)
    for begin, end in parts:
        tbi += struct.pack("<iIiQQ", 1, 4681, 1, begin, end) + struct.pack("<iQ", 1, begin)
        csi += struct.pack("<iIQiQQ", 1, 4681, begin, 1, begin, end)
    yield "tbi", tbi + struct.pack("<Q", 0)
    yield "csi", csi + struct.pack("<Q", 0)
    yield "csi-plain", b"CSI\1" + struct.pack("<4i", 14, 5, 0, 2) + b"".join(
        struct.pack("<iIQiQQ", 1, 4681, begin, 1, begin, end) for begin, end in parts)


def regions_seeds():
    yield "bed", files("c1:10-50", "track name=x\nc1\t0\t10\nc2 5 9 name\n#c\nHLA:1\t0\t3\n")
    yield "regions", files("c1,c2:-20,{HLA:1}:2-5", "c1\t1\t10\nc2\t7\nc1:5-9\nHLA:1\t2\t4\n")
    yield "map", files("chr,-", "chrc1\tc1\n1 c2\n\nHLA:1 HLA:1\n")
    yield "numbers", files("c1:1,0-1,00", "c1\t1,000\t2\nc1\t9223372036854775807\t9223372036854775807\n")
    yield "vcf", files("^c1", HEAD + COLUMNS + "\n" + RECORDS)


def gff3_seeds():
    yield "genes", ("##gff-version 3\nc1\tx\tgene\t5\t90\t.\t+\t.\tID=g1;Name=A%3BB\nc1\tx\tmRNA\t5\t90\t.\t+\t.\tID=t1;"
                    "Parent=g1\nc1\tx\texon\t5\t30\t.\t+\t.\tID=e1;Parent=t1\nc1\tx\tCDS\t10\t30\t.\t+\t0\tParent=t1\n"
                    "c2\tx\tfive_prime_UTR\t1\t60\t.\t-\t.\tParent=t2,t3\n##FASTA\n>c1\nACGT\n")
    yield "gtf", ("#!genome-build x\nc1\tx\tgene\t5\t90\t.\t+\t.\tgene_id \"g1\"; gene_name \"A;B\"; level 2;\nc1\tx\texon\t5\t30\t.\t+\t.\t"
                  "gene_id \"g1\"; transcript_id \"\";\nc1\tx\tstop_codon\t10\t12\t.\t+\t0\tgene_id \"g1\";\n")
    yield "loop", "c1\tx\tgene\t5\t90\t.\t+\t.\tID=a;Parent=b\nc1\tx\texon\t5\t9\t.\t+\t.\tID=b;Parent=a\n"


# ---- serving -------------------------------------------------------------------------------------------------------


def http_seeds():
    yield "get", b"\x1fGET /v1/models?x=1 HTTP/1.1\r\nHost: a\r\n\r\n"
    yield "post", b"\x03POST /v1/completions HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n" \
                  b"Authorization: Bearer k\r\nX-Request-Id: r1\r\n\r\n{\"n\": 12}"
    yield "chunked", b"\x01POST /tokenize HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n" \
                     b"4;x=y\r\nabcd\r\nA\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n"
    yield "old", b"\x05HEAD http://a/health HTTP/1.0\r\nConnection: keep-alive\r\nOrigin: http://b\r\n\r\n"


def api_seeds():
    bodies = (
        (0, {"prompt": "<dna>ACGTACGTAC", "max_tokens": 3, "n": 2, "seed": 7, "temperature": 0.8, "top_p": 0.9, "top_k": 50,
             "stop": ["ACG"], "echo": True, "logprobs": 2}),
        (0, {"prompt": [[0, 3, 4, 5], [0, 9]], "max_tokens": 2, "stream": True, "stream_options": {"include_usage": True},
             "return_token_ids": True, "prompt_logprobs": 1}),
        (1, {"input": ["<dna>ACGTACGT", "<dna>ACG"], "encoding_format": "base64", "dimensions": 8}),
        (2, {"prompt": "<dna>ACGTACGTN</dna>"}), (3, {"tokens": [0, 3, 4, 4098, 1, 2]}),
        (4, {"sequences": ["ACGTACGTACGTA", "acgtn"], "level": "bp", "window": 60, "stride": 30, "strand": "both"}),
        (5, {"prompt": "ACGTAC", "length": 14, "n": 2, "sampler": "marginal", "seed": 3, "constraint": "NNNACGNNNNNNRY",
             "probabilities": True, "top_k": 5, "top_p": 0.5, "temperature": 2}),
        (5, {"prompt": "ACGTAC", "length": 6, "greedy": True, "stream": True, "sampler": "chain"}),
        (6, {"sequence": "ACGTACGTACGTACGTTAGCATCGATCGGCTAAG", "level": "marginal", "frames": 2, "context": 30, "strand": "+"}),
        (6, {"region": "c1:3-40", "context": 12}), (7, {"variants": ["c1:40 A>C", "c2:3 T>G"], "window": 24}),
        (7, {"variants": [{"chrom": "c1", "pos": 40, "ref": "A", "alt": ["C", "AGG"]}, {"chrom": "c2", "pos": 3, "ref": "T",
             "alt": "G"}], "recipe": "centered", "window": 24, "strand": "both", "phases": "6"}),
        (7, {"sequence": "ACGTACGTTAGCATCGATCGG", "variants": [{"pos": 5, "ref": "A", "alt": ["C"]}], "recipe": "anchored",
             "context": 12, "horizon": 6}),
        (8, {"sequence": "ACGTACGTTAGCATCGATCGG", "variants": [{"pos": 5, "ref": "A", "alt": ["<DEL>"]}],
             "recipe": "next-token", "context": 12}),
        (8, {"sequence": "ACGTACGTTAGCATCGATCGG", "variants": ["5 A>C"], "recipe": "next-token", "context": 12}),
        (9, {"sequences": ["ACGTACGTACGTA"], "pool": "mean", "layer": 1, "strand": "both"}))
    for i, (endpoint, body) in enumerate(bodies):
        yield "%02d" % i, bytes([endpoint]) + compact(body)
    calls = (("score", {"sequences": ["ACGTAC"], "strand": "both"}), ("scan", {"regions": ["c1:3-20"], "context": 12}),
             ("variants", {"variants": ["c1:40 A>C", {"chrom": "c2", "pos": 3, "ref": "T", "alt": "<DEL>", "end": 9}], "window": 24}),
             ("generate", {"length": 12, "prompts": ["ACG"], "gc": [20, 80]}), ("reference", {"region": "c1:3-20"}), ("models", {}))
    messages = [{"jsonrpc": "2.0", "id": i, "method": "tools/call", "params": {"name": name, "arguments": arguments, "_meta": {"progressToken": i}}}
                for i, (name, arguments) in enumerate(calls)]
    messages += [{"jsonrpc": "2.0", "id": "a", "method": "initialize", "params": {"protocolVersion": "2025-06-18"}},
                 {"jsonrpc": "2.0", "id": "b", "method": "tools/list"},
                 {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}}]
    yield "messages", b"\x0a" + b"\n".join(compact(message) for message in messages)


# ---- plugins and reports -------------------------------------------------------------------------------------------


def haplotype_seeds():
    """Phased alleles of sequences() below, and the same with a scored group."""
    head = '##fileformat=VCFv4.2\n##contig=<ID=c1>\n##FORMAT=<ID=GT,Number=1,Type=String,Description="x">\n'
    head += '##FORMAT=<ID=PS,Number=1,Type=Integer,Description="x">\n'
    scored = '##INFO=<ID=CARBON_PARTS,Number=1,Type=String,Description="x">\n##INFO=<ID=CARBON_LLR,Number=A,Type=Float,Description="x">\n'
    scored += '##carbon_vepModel=<ID=CARBON_LLR,Phases=6>\n'
    names = "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ta\tb\n"
    first, last = "c1\t2\t.\tT\tC\t.\t.\t%s\tGT:PS\t0|1:4\t1/1:.\n", "c1\t4\t.\tGC\tG,GCA,*\t.\t.\t%s\tGT:PS\t2|1:4\t./.:.\n"
    group = "c1\t2\t.\tTGGC\tCGG\t.\t.\tCARBON_PARTS=2:T>C|4:GC>G;CARBON_LLR=-1\tGT\t.\t.\n"
    return (head + names + first % "." + last % ".",
            head + scored + names + first % "CARBON_LLR=-0.5" + group + last % "CARBON_LLR=-0.25,1,.")


def plugin_seeds():
    scores = HEAD + COLUMNS + "\n" + RECORDS
    bed, genes = "c1\t30\t60\tg1\nc2\t0\t20\n", next(gff3_seeds())[1]
    histogram = "##carbon_scanModel=<ID=CARBON_SCAN,Model=\"m\">\nTRI\tALT\tBIN\tCOUNT\nACG\tA\t-120\t3\n.\tT\t7\t1\n"
    model = "##carbon_vepModel=<ID=CARBON_LLR,Model=\"m\">\n"
    types = model + "#TAG\tTYPE\tBIN\tCOUNT\nCARBON_LLR\tsnv\t-120\t3\nCARBON_LLR\tdel:4-6\t7\t1\n"
    typed = HEAD + model + COLUMNS + "\n" + RECORDS
    sequences = b">c1\n" + b"ATGGCCAAGGACTTTGCAGGCATTACCGGA" * 4 + b"\n>c2\n" + b"ATGAAACCCGGGTTTTAA" * 3 + b"\n"
    phased, joined = haplotype_seeds()
    inputs = {
        "auroc": ("auroc\n--label\nCARBON_LLR>0\n--bootstrap\n10\n--json=x\n", "", scores),
        "auroc-by": ("auroc\n--label\nCARBON_LLR>0\n--by=type\n--min-class=1\n--thresholds=x\n--bootstrap\n10\n", "", scores),
        "combine": ("combine\n--scores\nCARBON_LLR:abs\n--by\nTYPE\n--tag=R\n", "", scores),
        "concord": ("concord\n--tags\nCARBON_LLR,CARBON_LLR\n--by\ntype\n--min-pearson\n0.5\n--json=x\n", "", scores),
        "gene-summary": ("gene-summary\n--regions\nx.bed\n--json=x\n", bed, scores),
        "genes": ("gene-summary\n--regions\nx.gff3\n--feature\ngene,exon\n--name\nName,ID\n", genes, scores),
        "haplotypes": ("haplotypes\n-f\nx\n--distance=20\n", "", phased),
        "haplotypes-compare": ("haplotypes\n--compare\n", "", joined),
        "mutagenesis": ("mutagenesis\n--regions\nc1:5-9\n--type\nindel\n--recipe\nanchored\n--horizon\n6,12\n", bed, scores),
        "mutagenesis-file": ("mutagenesis\n--regions-file=x.bed\n--matrix=x\n--strand=both\n--window=24\n", bed, scores),
        "niah": ("niah\n--context\n40\n--rows\n3\n--depths\n0,0.5,1\n--write-data=x\n", "", scores),
        "niah-given": ("niah\n--task=given\n", "key\tvalue\tprompt\tnegative\nACGTAC\tTTTTTT\tACGTACGTACGT\tGGGGGG\n", scores),
        "perturb": ("perturb\n--task\ntriplet\n--start-after=6\n--patch=6\n--write-pairs=x\n", "", scores),
        "perturb-given": ("perturb\n--task=given\n", "name\toriginal\tperturbed\na\tACGTACGT\tACGTACGA\n", scores),
        "rank": ("rank\n--background\nx\n--by\ntrinucleotide\n-f\nx\n", histogram, scores),
        "rank-types": ("rank\n--background\nx\n--by=type\n", types, typed),
        "recovery": ("recovery\n--length=12\n--context=12\n", "", scores),
        "recovery-given": ("recovery\n--task=given\n--group=kind\n", "name\tprompt\ttarget\tkind\na\tACGTAC\tACG\tk\n", scores)}
    for name, (words, text, records) in inputs.items():
        yield name, files(words, text, sequences, records)


def report_seeds():
    genes = next(gff3_seeds())[1]
    yield "variants", files(HEAD + COLUMNS + "\n" + RECORDS)
    yield "table", files("##carbon_vepVersion=1\n#CHROM\tPOS\tID\tREF\tALT\tCARBON_LLR\tCARBON_FLAG\n"
                         "c1\t40\trs1\tA\tC\t-0.5\t.\nc1\t50\t.\tA\t*\t.\tstar\n")
    line = "%s\t%d\tA\t-0.693147\t1.2\t0.5\t0.25\t0.125\t0.125\n"
    yield "score", files("#name\tpos\tbase\tlogp\tentropy\tA\tC\tG\tT\n" + "".join(line % ("c1", i) for i in range(1, 9)), genes)
    scan = "##carbon_scanVersion=1\n##carbon_scanModel=<ID=CARBON_SCAN>\n#CHROM\tPOS\tREF\tALT\tCARBON_SCAN\n"
    yield "scan", files(scan + "".join("c1\t%d\tC\t%s\t%s\n" % (i, alt, value) for i in (3, 4) for alt, value in
                                       (("A", "-1"), ("G", "-2"), ("T", "0.5"))), genes)
    yield "coding", files("#name\tpos\tbase\tplus\tminus\n" + "".join("c1\t%d\tN\t0.%d\t0\n" % (i, i) for i in range(1, 9)), genes)
    yield "annotation", files("##gff-version 3\n#!carbon_annotateVersion=1\n##sequence-region c1 1 90\n"
                              "c1\tcarbon\tgene\t1\t30\t0.9\t+\t.\tID=gene:c1_000001;min_exon_p=0.8\n"
                              "c1\tcarbon\tCDS\t1\t12\t0.8\t+\t0\tParent=t\nc1\tcarbon\tCDS\t22\t30\t0.9\t+\t0\tParent=t\n###\n")
    yield "matrix", files("#CHROM\tPOS\tREF\tdel\tA\tC\tG\tT\nc1\t1\tG\t-3\t-1\t-2.5\t0\t.\n", genes)
    yield "embeddings", files("##carbon_embedVersion=1\n##carbon_embedCommand=embed a.fa; Date=x\n"
                              "##carbon_embedModel=<ID=embeddings,Model=\"m\",Pool=mean>\n#name\te0\te1\te2\na\t0.5\t1\t-2\nb\t0.25\t1e-3\t2\nc\t1\t0\t7\n")
    npy = b"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }"
    npy = b"\x93NUMPY\1\0" + struct.pack("<H", 118) + npy + b" " * (117 - len(npy)) + b"\n"
    yield "npy", files(npy + struct.pack("<6f", 1, 2, 3, 4, 5, 7), "", "#name\na\nb\nc\n")
    values = {key: 0.5 for key in "pearson spearman mean_abs_diff max_abs_diff overlap_1 overlap_5".split()}
    values.update({key: 3 for key in "alleles n only_a only_b missing_a missing_b missing_both".split()}, name="all")
    yield "concord", files(compact({"a": {"file": "a.vcf", "tag": "A"}, "b": {"file": "b.vcf", "tag": "B"}, "all": values,
                                    "by": "type", "strata": [{**values, "name": "snv"}],
                                    "bounds": [{"option": "min-n", "bound": 3, "value": 3, "met": True}]}))
    yield "sequences", files("#name\tstart\tend\tstrand\tn_scored\tsum_logp\tmean_logp\tperplexity\na\t0\t9\t+\t3\t-4\t-1.3\t3.7\n")
    yield "regions", files("#contig\tstart\tend\tname\tstrand\tcount\tmissing\tmin\tmean\tmax\n1\t0\t9\tg\t+\t2\t0\t-2\t-1\t1\n")
    yield "histogram", files("#TAG\tTYPE\tBIN\tCOUNT\nCARBON_LLR\tsnv\t-12\t5\nCARBON_LLR\tdel:1\t3\t1\n")
    metric, part = {"value": 0.7, "low": 0.6, "high": 0.8}, {"name": "1", "positive": 3, "negative": 4}
    areas = ("auroc", "auprc", "average_precision")
    yield "auroc", files(compact({"score": "S", "label": "L", "negated": False, "bootstrap": 5, "seed": 0, "confidence": 0.95,
                                  "metrics": {area: metric for area in areas},
                                  "counts": dict.fromkeys("alleles used positive negative missing_score missing_label other_label".split(), 7),
                                  "by": "TYPE", "min_class": 1, "strata": [{**part, **{area: metric for area in areas}}],
                                  "chromosomes": [{**part, **dict.fromkeys(areas, 0.5)}]}))


def library_seeds():
    verbs = ("score", "variants", "scan", "embed", "predict", "generate")
    calls = (
        ("score", {"level": "bp", "window": 60, "stride": 30, "strand": "both", "probabilities": True}, ("ACGTACGTACGTA", "acgtn")),
        ("variants", {"sequence": "ACGTACGTTAGCATCGATCGG", "recipe": "centered", "window": 24},
         ({"pos": 5, "ref": "A", "alt": "C"}, {"pos": 6, "ref": "C", "alt": "<DEL>"})),
        ("scan", {"frames": 2, "context": 30, "strand": "+"}, ("ACGTACGTACGTACGTTAGCATCGATCGGCTAAG",)),
        ("embed", {"pool": "none", "layer": 1}, ("ACGTACGTACGT", "ACGTAC")),
        ("generate", {"length": 14, "n": 2, "sampler": "chain", "seed": 3, "probabilities": True}, ("ACGTAC", "")))
    for verb, options, inputs in calls:
        # new, add, end, next, an array, cancel, next
        operations = bytes([8 * verbs.index(verb)]) + b"\x01" * len(inputs) + b"\x03" + b"\x05" * 4 + b"\x06\x0e\xf7\x04"
        texts = [compact(options)] + [compact(i) if isinstance(i, dict) else i.encode() for i in inputs]
        yield verb, operations + b"\n\n" + b"\n".join(texts)
        yield verb + "-freed", operations[:3] + b"\xff\x04\x01\n\n" + b"\n".join(texts)


def bigwig(blocks, compressed=True):
    """A bigWig of the contigs c1 and c2 of the harness; `blocks` are (contig, begin, end, kind, step, span, items, count)."""
    contigs = struct.pack("<IIIIQQ", 0x78CA8C91, 2, 2, 8, 2, 0) + struct.pack("<BBH", 1, 0, 2)
    contigs += b"c1" + struct.pack("<II", 0, 120) + b"c2" + struct.pack("<II", 1, 60)
    at, data, items = 64 + len(contigs) + 8, b"", b""
    for contig, begin, end, kind, step, span, values, count in blocks:
        block = struct.pack("<IIIIIBBH", contig, begin, end, step, span, kind, 0, count) + values
        block = zlib.compress(block) if compressed else block
        items += struct.pack("<IIIIQQ", contig, begin, contig, end, at + len(data), len(block))
        data += block
    index = at + len(data)
    tree = struct.pack("<IIQIIIIQII", 0x2468ACE0, 256, len(blocks), 0, 0, 1, 60, index, 1, 0) + struct.pack("<BBH", 1, 0, len(blocks))
    head = struct.pack("<IHHQQQHHQQIQ", 0x888FFC26, 4, 0, 64, at - 8, index, 0, 0, 0, 0, 1024 if compressed else 0, 0)
    return head + contigs + struct.pack("<Q", len(blocks)) + data + tree + items


def tracks_seeds():
    fixed = (0, 0, 30, 3, 1, 1, struct.pack("<30f", *[0.875] * 15, *[0.125] * 15), 30)
    variable = (0, 40, 60, 2, 0, 4, struct.pack("<IfIf", 40, 0.75, 50, 1.0), 2)
    bedgraph = (1, 2, 40, 1, 0, 0, struct.pack("<IIfIIf", 2, 20, 0.5, 20, 40, 0.9375), 2)
    yield "kinds", bigwig([fixed, variable, bedgraph])
    yield "plain", bigwig([fixed, variable, bedgraph], False)
    yield "one", bigwig([bedgraph])


SEEDS = {"api": api_seeds, "bpe": bpe_seeds, "checkpoint": checkpoint_seeds, "config": config_seeds, "fai": fai_seeds,
         "fasta": fasta_seeds, "gff3": gff3_seeds, "gguf": gguf_seeds, "http": http_seeds, "label_scale": label_scale_seeds, "library": library_seeds,
         "lora": lora_seeds, "plugin": plugin_seeds, "regions": regions_seeds, "report": report_seeds, "safetensors": safetensors_seeds,
         "scan_state": scan_state_seeds, "score_cache": score_cache_seeds, "tags": tags_seeds, "tracks": tracks_seeds, "vcf": vcf_seeds,
         "vcf_index": index_seeds, "vcf_jump": jump_seeds, "vep_journal": vep_journal_seeds}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for target, seeds in SEEDS.items():
        folder = os.path.join(sys.argv[1], target)
        os.makedirs(folder, exist_ok=True)
        for name, content in seeds():
            with open(os.path.join(folder, name), "wb") as out:
                out.write(content if isinstance(content, bytes) else content.encode())


if __name__ == "__main__":
    main()
