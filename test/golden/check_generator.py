"""GENERator against Hugging Face transformers (generator.json, made by make_generator_goldens.py).

    python3 test/golden/check_generator.py [GOLDENS.json]

The ids of 500 texts are those of the tokenizer that generator_cases.py restates. In f32 every base and 6-mer lies within
2e-4 nats of the double-precision reference, a ratio of next-token within 2e-4, the sum over a centered window within 2e-3, a
value of an embedding within 1e-4; what is generated greedily is equal. Environment: CARBON, CARBON_MAKE_CHECKPOINT.
Prints the errors seen and `N passed, N failed`.
"""
import array
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(__file__))
import generator_cases as gen  # noqa: E402

CARBON = os.environ.get("CARBON", "build/carbon")
MAKE_CHECKPOINT = os.environ.get("CARBON_MAKE_CHECKPOINT", "build/make_checkpoint")
BASE, WINDOW, STATE = 2e-4, 2e-3, 1e-4

passed = failed = 0


def check(name, good, what):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    print(f"{'ok    ' if good else 'FAILED'} {name}: {what}")


def check_error(name, error, limit):
    check(name, error <= limit, f"error {error:.2e}, limit {limit:.2e}")


def carbon(*args, stdin=None):
    return subprocess.run([CARBON, *args], check=True, input=stdin, stdout=subprocess.PIPE).stdout.decode()


def sharpen(path):
    """Scales the final norm of a checkpoint in place, so that few greedy decisions are close."""
    index = json.load(open(os.path.join(path, "model.safetensors.index.json")))
    with open(os.path.join(path, index["weight_map"]["model.norm.weight"]), "r+b") as file:
        size = int.from_bytes(file.read(8), "little")
        begin, end = json.loads(file.read(size))["model.norm.weight"]["data_offsets"]
        file.seek(8 + size + begin)
        values = array.array("f", file.read(end - begin))
        file.seek(8 + size + begin)
        file.write(array.array("f", (gen.SHARPNESS * v for v in values)).tobytes())


def check_texts(name, model):
    texts = gen.texts()
    lines = "".join(json.dumps(text) + "\n" for text in texts).encode()
    got = [json.loads(line)["ids"] for line in carbon("tokenize", "-m", model, stdin=lines).splitlines()]
    wrong = [text for text, ids in zip(texts, got, strict=True) if ids != gen.text_ids(text)]
    check(f"{name} ids", not wrong, f"{len(texts)} texts, {len(wrong)} with other ids {wrong[:2]}")
    # What has no <oov> comes back.
    clean = [(text, ids) for text, ids in zip(texts, got) if gen.OOV not in ids]
    lines = "".join(json.dumps(ids) + "\n" for _, ids in clean).encode()
    back = [json.loads(line) for line in carbon("tokenize", "-m", model, "--decode", stdin=lines).splitlines()]
    check(f"{name} text of ids", back == [text for text, _ in clean], f"{len(clean)} texts")


def check_sequences(name, entry, model, directory):
    fasta = directory + "/sequences.fa"
    with open(fasta, "w") as out:
        out.writelines(f">{title}\n{bases}\n" for title, bases in gen.sequences().items())
    for level, key in (("bp", "base"), ("token", "token")):
        got = {}
        for line in carbon("score", "-m", model, "--dtype", "f32", "--level", level, "-O", "bedgraph", fasta).splitlines()[3:]:
            title, _, _, logp = line.split("\t")
            got.setdefault(title, []).append(float(logp))
        worst = 0
        for title, slot in entry["sequences"].items():
            want = [v for v in slot[key] if v is not None]
            assert len(got.get(title, [])) == len(want), f"{title}: other bases are scored"
            worst = max([worst, *(abs(a - b) for a, b in zip(got.get(title, []), want))])
        check_error(f"{name} score {level}", worst, BASE)


def check_variants(name, entry, model, directory):
    contig, vcf = directory + "/contig.fa", directory + "/variants.vcf"
    with open(contig, "w") as out:
        out.write(">c\n" + gen.CONTIG + "\n")
    with open(vcf, "w") as out:
        out.write("##fileformat=VCFv4.3\n##contig=<ID=c>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n")
        out.writelines(f"c\t{pos + 1}\t.\t{ref}\t{alt}\t.\t.\t.\n" for pos, ref, alt in gen.VARIANTS)
    text = carbon("vep", "-v", "0", "-m", model, "--dtype", "f32", "-f", contig, "--recipe", "centered,next-token", "-w",
                  str(gen.WINDOW), vcf)
    infos = [dict(f.split("=") for f in line.split("\t")[7].split(";")) for line in text.splitlines() if not line.startswith("#")]
    for column, (tag, limit) in enumerate((("CARBON_LLR", WINDOW), ("CARBON_NT", BASE))):
        error = max(abs(float(info[tag]) - want[column]) for info, want in zip(infos, entry["variants"], strict=True))
        check_error(f"{name} {tag}", error, limit)


def check_embeddings(name, entry, model, directory):
    fasta = directory + "/embedded.fa"
    with open(fasta, "w") as out:
        out.write(">s\n" + gen.sequences()[gen.EMBEDDED] + "\n")
    for pool, want in entry["embeddings"].items():
        lines = carbon("embed", "-m", model, "--dtype", "f32", "--pool", pool, fasta).splitlines()
        got = [float(v) for v in lines[-1].split("\t")[-len(want):]]
        check_error(f"{name} embed {pool}", max(abs(a - b) for a, b in zip(got, want, strict=True)), STATE)


def check_generated(name, entry, model, directory):
    sharpen(model)
    prompt = directory + "/prompt.fa"
    with open(prompt, "w") as out:
        out.write(">p\n" + gen.PROMPT.lower() + "\n")
    for sample in entry["generated"]:
        prefix = ["--prefix", sample["prefix"]] if sample["prefix"] else []
        got = carbon("generate", "-m", model, "--dtype", "f32", "--greedy", "-L", "0", "-l", str(len(sample["bases"])), *prefix,
                     prompt).splitlines()[1]
        check(f"{name} greedy {sample['prefix']}", got == sample["bases"], f"{len(got)} bases after {len(gen.PROMPT)}")


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "generator.json")
    for name, entry in json.load(open(path))["checkpoints"].items():
        with tempfile.TemporaryDirectory() as directory:
            model = directory + "/model"
            subprocess.run([MAKE_CHECKPOINT, *gen.checkpoint_args(name), model], check=True)
            check_texts(name, model)
            check_sequences(name, entry, model, directory)
            check_variants(name, entry, model, directory)
            check_embeddings(name, entry, model, directory)
            check_generated(name, entry, model, directory)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
