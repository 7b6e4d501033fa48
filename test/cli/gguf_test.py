"""Models in GGUF files: the same results as the checkpoint from which the file was written, and clear refusals."""

import os
import shutil
import subprocess
import time

from gguf_support import (convert, dna_tokens, from_q8_0, integers, q8_0, read_safetensors, string, strings,
                          write_safetensors)
from harness import (CARBON, ENV, carbon, case, data, expect, expect_equal, expect_failure, fresh, main, model, ok, read,
                     refused, write)

COMMANDS = (("score", "-O", "tsv"), ("score", "--strand", "both", "--dtype", "f32"), ("embed", "-O", "tsv"),
            ("generate", "-l", "60", "--seed", "3"))


def gguf(checkpoint, *args, name="m.gguf", **options):
    return convert(checkpoint, os.path.join(fresh(), name), *args, **options)


@case
def same_bits_as_the_checkpoint():
    for dtype in ("bf16", "f16", "f32"):
        checkpoint = model(dtype=dtype, heads=4, kv_heads=2)
        path = gguf(checkpoint)
        for command in COMMANDS:
            expected, got = (ok(*command, "-m", m, data("mini.fa")) for m in (checkpoint, path))
            expect_equal(got.table(), expected.table(), "%s of %s" % (" ".join(command), dtype))
            expect(len(got.out) > 100, "little output", got)


@case
def q8_0_is_the_numbers_that_it_stands_for():
    checkpoint = model(dtype="f32", heads=4, kv_heads=2)
    path = gguf(checkpoint, "Q8_0")
    widened = shutil.copytree(checkpoint, os.path.join(fresh(), "widened"))
    tensors = {}
    for name, (_, array) in read_safetensors(os.path.join(checkpoint, "model.safetensors")).items():
        tensors[name] = array if array.ndim == 1 else from_q8_0(q8_0(array), array.shape)
    write_safetensors(os.path.join(widened, "model.safetensors"), tensors)
    for command in COMMANDS:
        expected, got = (ok(*command, "--dtype", "f32", "-m", m, data("mini.fa")) if "--dtype" not in command
                         else ok(*command, "-m", m, data("mini.fa")) for m in (widened, path))
        expect_equal(got.table(), expected.table(), " ".join(command))


@case
def named_as_a_folder_or_by_name():
    checkpoint = model()
    folder = os.path.join(fresh(), "small")
    os.mkdir(folder)
    path = convert(checkpoint, os.path.join(folder, "weights.gguf"))
    expected = ok("score", "-m", path, data("mini.fa")).table()
    expect_equal(ok("score", "-m", folder, data("mini.fa")).table(), expected, "a folder")
    place = {"CARBON_MODEL_PATH": os.path.dirname(folder)}
    for name in ("small", "small/weights", "small/weights.gguf"):
        expect_equal(ok("score", "-m", name, data("mini.fa"), env=place).table(), expected, name)
    snapshot = os.path.join(fresh(), "hub", "models--Org--Small-GGUF", "snapshots", "abc")
    os.makedirs(snapshot)
    os.symlink(path, os.path.join(snapshot, "small-bf16.gguf"))
    cache = {"HF_HUB_CACHE": os.path.dirname(os.path.dirname(os.path.dirname(snapshot)))}
    result = ok("score", "-v", "4", "-m", "Org/Small-GGUF", data("mini.fa"), env=cache)
    expect_equal(result.table(), expected, "the cache")
    expect("model Org/Small-GGUF" in result.err, "the name of the model is not that of the repository", result)
    convert(checkpoint, os.path.join(folder, "other.gguf"))
    expect_failure(carbon("score", "-m", folder, data("mini.fa")), "several models in GGUF files", "other.gguf, weights.gguf")


@case
def text_by_the_vocabulary_of_the_file():
    # A vocabulary of all bytes and one merge; then an added token; then the DNA tokens.
    def letter(byte):
        itself = 0x21 <= byte <= 0x7E or 0xA1 <= byte <= 0xAC or byte >= 0xAE
        others = [b for b in range(256) if not (0x21 <= b <= 0x7E or 0xA1 <= b <= 0xAC or b >= 0xAE)]
        return chr(byte if itself else 0x100 + others.index(byte))

    checkpoint = model(vocab=4480, dna_start=260)
    tokens = dna_tokens(4480, 260)
    tokens[:256] = map(letter, range(256))
    tokens[256:259] = "ab", "<|x|>", "<|y|>"
    kinds = [1] * 257 + [3, 4, 5] + [1] * 4220
    more = {"tokenizer.ggml.pre": string("qwen2"), "tokenizer.ggml.tokens": strings(tokens),
            "tokenizer.ggml.token_type": integers(kinds), "tokenizer.ggml.merges": strings(["a b"])}
    path = gguf(checkpoint, more=more)
    lines = write(fresh(), "in.jsonl", '"cab<|x|><dna>ACGTAC</dna><|y|>"\n')
    result = ok("tokenize", "-m", path, lines)
    expect('"ids":[99,256,257,260,' in result.text.replace(" ", "") and ",261,258]" in result.text.replace(" ", ""),
           "the ids are others", result)
    ids = write(fresh(), "ids.jsonl", "[99,256,257,258]\n")
    expect_equal(ok("tokenize", "--decode", "-m", path, ids).text, '"cab<|x|><|y|>"\n', "text of ids")
    for prefix in ("cab", "<|y|>cab"):
        ok("generate", "-l", "12", "--prefix", prefix, "-m", path, data("mini.fa"))
    without = gguf(checkpoint)
    expect_failure(carbon("generate", "-l", "12", "--prefix", "cab", "-m", without, data("mini.fa")), "has no tokenizer files")
    for change, words in (({"tokenizer.ggml.pre": string("llama-bpe")}, "only 'qwen2' is supported"),
                          ({"tokenizer.ggml.merges": strings(["a zz"])}, "is not in the vocabulary"),
                          ({"tokenizer.ggml.token_type": integers([1])}, "as many whole numbers as there are tokens")):
        damaged = gguf(checkpoint, more={**more, **change})
        expect_failure(carbon("tokenize", "-m", damaged, lines), damaged, words)


@case
def refused_files_leave_no_output():
    directory = fresh()
    good = read(gguf(model()))
    sequences = data("mini.fa", directory)
    damaged = {"cut.gguf": (good[:len(good) // 2], "incomplete download"), "empty.gguf": (b"", "too short"),
               "other.gguf": (b"PK" + good[2:], "does not begin with GGUF")}
    for name, (content, words) in damaged.items():
        path = write(directory, name, content)
        refused(["score", "-m", path, sequences], name, words, directory=directory)
    os.mkfifo(os.path.join(directory, "pipe.gguf"))
    refused(["score", "-m", os.path.join(directory, "pipe.gguf"), sequences], "not a regular file", directory=directory)
    os.mkdir(os.path.join(directory, "folder.gguf"))
    refused(["score", "-m", os.path.join(directory, "folder.gguf"), sequences], "no .gguf file", directory=directory)


@case
def weights_of_another_format():
    directory = fresh()
    sequences = data("mini.fa", directory)
    checkpoint = shutil.copytree(model(), os.path.join(directory, "m"))
    os.rename(os.path.join(checkpoint, "model.safetensors"), os.path.join(checkpoint, "pytorch_model.bin"))
    refused(["score", "-m", checkpoint, sequences], "pytorch_model.bin", "save_pretrained()", directory=directory)


@case
def a_file_that_shrinks():
    # Rows of the embedding are read from the file when a sequence needs them: here after the file was cut.
    path = gguf(model())
    out = os.path.join(fresh(), "out.txt")
    run = subprocess.Popen([CARBON, "score", "-m", path, "-o", out, "-"], env=ENV, stdin=subprocess.PIPE,
                           stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    try:
        mapped = "/proc/%d/maps" % run.pid
        for _ in range(200):
            if path in read(mapped).decode() and "carbon-weights" in read(mapped).decode():
                break
            time.sleep(0.05)
        time.sleep(0.5)
        os.truncate(path, 4096)
        err = run.communicate(b">a\n" + b"ACGTTGCA" * 400 + b"\n", timeout=60)[1].decode()
    finally:
        run.kill()
    expect(run.returncode == 1 and "was truncated while in use" in err, "rc %d: %s" % (run.returncode, err))
    expect_equal(os.listdir(os.path.dirname(out)), [], "files after the failure")


if __name__ == "__main__":
    main()
