"""carbon models: what is listed, from where, and why something is not a model."""

import json
import os
import shutil

from gguf_support import convert
from harness import SIZES, carbon, case, data, expect, expect_equal, expect_failure, fresh, main, model, ok, read, write

HEADINGS = ["NAME", "FAMILY", "LAYERS", "HIDDEN", "PARAMETERS", "WEIGHTS", "SIZE", "LICENCE", "PLACE", "PATH"]
CARD = "---\nlicense: apache-2.0\ntags:\n- dna\n---\n# A model\nlicense: none of the card\n"


def places():
    """Directories of their own for every place, and the environment that names them."""
    root = fresh()
    names = {"CARBON_MODEL_PATH": "path", "XDG_DATA_HOME": "data", "HF_HUB_CACHE": "hub", "XDG_CACHE_HOME": "cache"}
    env = {variable: os.path.join(root, name) for variable, name in names.items()}
    for path in env.values():
        os.mkdir(path)
    return env


def listed(env, *args):
    """The JSON objects of all places that this test has made."""
    models = json.loads(ok("models", "--json", *args, env=env).text)
    return [m for m in models if m["place"] not in ("bundled", "installed")]


def parameters():
    c = {key: int(value) for key, value in SIZES.items() if key != "dtype"}
    q, kv = c["heads"] * c["head-dim"], c["kv-heads"] * c["head-dim"]
    layer = 2 * c["hidden"] + c["hidden"] * (2 * q + 2 * kv + 3 * c["intermediate"])
    return c["vocab"] * c["hidden"] + c["hidden"] + c["layers"] * layer


@case
def places_and_reasons():
    env = places()
    checkpoint = shutil.copytree(model(), os.path.join(env["CARBON_MODEL_PATH"], "Org", "a"))
    write(checkpoint, "README.md", CARD)
    convert(model(), os.path.join(env["CARBON_MODEL_PATH"], "b.gguf"), "Q8_0")
    other = shutil.copytree(model(), os.path.join(env["CARBON_MODEL_PATH"], "other"))
    os.rename(os.path.join(other, "model.safetensors"), os.path.join(other, "pytorch_model.bin"))
    os.makedirs(os.path.join(env["XDG_DATA_HOME"], "carbon", "models", "empty"))
    snapshots = os.path.join(env["HF_HUB_CACHE"], "models--Org--c", "snapshots")
    shutil.copytree(model(), os.path.join(snapshots, "one"))
    write(os.path.join(snapshots, "one"), "LICENSE", "\n   Apache License\n")
    broken = os.path.join(env["HF_HUB_CACHE"], "models--Org--d")
    shutil.copytree(model(), os.path.join(broken, "snapshots", "one"))
    os.mkdir(os.path.join(broken, "refs"))
    write(os.path.join(broken, "refs"), "main", "two")

    found = listed(env)
    expect_equal([(m["name"], m["place"], m.get("licence"), m.get("weights")) for m in found],
                 [("Org/a", "CARBON_MODEL_PATH", "apache-2.0", ["BF16"]),
                  ("b.gguf", "CARBON_MODEL_PATH", "apache-2.0", ["Q8_0"]), ("other", "CARBON_MODEL_PATH", None, None),
                  ("empty", "user", None, None), ("Org/c", "Hugging Face cache", "Apache License", ["BF16"]),
                  ("Org/d", "Hugging Face cache", None, None)], "what is listed")
    for m in found:
        words = {"other": "pytorch_model.bin", "empty": "no config.json and no .gguf file", "Org/d": "which is not there"}
        if m["name"] in words:
            expect(words[m["name"]] in m["error"], "the reason is " + m["error"])
            continue
        expect_equal((m["family"], m["layers"], m["hidden"], m["vocabulary"], m["parameters"]),
                     ("Carbon", SIZES["layers"], SIZES["hidden"], SIZES["vocab"], parameters()), m["name"])
        files = [m["path"]] if m["path"].endswith(".gguf") else [os.path.join(m["path"], "model.safetensors")]
        expect_equal(m["bytes"], sum(map(os.path.getsize, files)), "bytes of " + m["name"])
        expect("sha256" not in m, "a digest that nobody asked for")

    text = ok("models", env=env)
    table, reasons = text.text.split("\nNot models:\n")
    rows = [[cell.strip() for cell in line.split("  ") if cell] for line in table.splitlines()]
    expect_equal(rows[0], HEADINGS, "headings")
    by_name = {row[0]: row for row in rows[1:]}
    expect_equal(by_name["Org/a"][1:8], ["Carbon", "2", "32", "154K", "BF16", by_name["Org/a"][6], "apache-2.0"], "a row")
    starts = {line.index(row[-1]) for line, row in zip(table.splitlines(), rows)}
    expect_equal(len(starts), 1, "places at which the last column begins")
    for words in ("pytorch_model.bin", "no config.json and no .gguf file", "refs/main names the snapshot 'two'"):
        expect(words in reasons, "no reason with " + words, text)


@case
def named_models_and_digests():
    env = places()
    path = convert(model(), os.path.join(fresh(), "x.gguf"))
    a, b = listed(env, "--digest", model(), path)
    expect_equal((a["path"], b["path"], a["place"]), (model(), path, "named"), "paths")
    expect(len(a["sha256"]) == len(b["sha256"]) == 64 and a["sha256"] != b["sha256"], "digests", None)
    lines = ok("models", "--digest", model(), env=env).lines()
    expect(a["sha256"] in lines[1] and "SHA256" in lines[0] and len(lines) == 2, "the table lacks the digest")
    result = carbon("models", model(), os.path.join(fresh(), "none"), env=env)
    expect_failure(result, "not all that were named are models")
    expect("Not models:" in result.text and "no such file" in result.text and model() in result.text, "stdout", result)


@case
def nothing_is_read_but_headers():
    # A sparse file of weights: reading it would take long, and its digest is that of zeros.
    env = places()
    checkpoint = shutil.copytree(model(), os.path.join(env["CARBON_MODEL_PATH"], "m"))
    weights = os.path.join(checkpoint, "model.safetensors")
    size = os.path.getsize(weights)
    os.truncate(weights, 1 << 40)
    found = listed(env)
    expect_equal([(m["name"], m["bytes"]) for m in found], [("m", 1 << 40)], "a long file")
    os.truncate(weights, size // 2)
    expect("incomplete download" in listed(env)[0]["error"], "a file that was cut off")


@case
def a_name_without_its_organisation():
    env = places()
    shutil.copytree(model(), os.path.join(env["HF_HUB_CACHE"], "models--Org--Small", "snapshots", "one"))
    expect_failure(carbon("score", "-m", "Small", "-", env=env), "the Hugging Face cache has Org/Small; give that name")
    expect_failure(carbon("score", "-m", "Carbon-500M", "-", env=env), "'Carbon-500M' not found",
                   "fetch one first (hf download HuggingFaceBio/Carbon-500M), and give its whole name (HuggingFaceBio/Carbon-500M); 'carbon models' lists")
    expect_failure(carbon("score", "-m", "Org/Large", "-", env=env), "fetch it first: hf download Org/Large; 'carbon models' lists")


@case
def variables_that_the_shell_did_not_expand():
    home = fresh()
    snapshot = os.path.join(home, "hf", "hub", "models--Org--m", "snapshots", "one")
    shutil.copytree(model(), snapshot)
    env = {**places(), "HOME": home, "HF_HUB_CACHE": ""}
    for variable, value in (("HF_HOME", "~/hf"), ("HF_HOME", "${HOME}/hf"), ("HF_HUB_CACHE", "~/hf/hub"),
                            ("HUGGINGFACE_HUB_CACHE", "$HOME/hf/hub")):
        expect_equal([m["path"] for m in listed({**env, variable: value})], [snapshot], variable + "=" + value)


@case
def a_dna_config_to_fill_in():
    folder = shutil.copytree(model(), os.path.join(fresh(), "own"))
    path = os.path.join(folder, "dna_config.json")
    with open(path) as f:
        right = json.load(f)
    expect_failure(carbon("models", "--skeleton", folder), "is there already")
    os.remove(path)
    expect_failure(carbon("score", "-m", folder, data("mini.fa")), "'carbon models --skeleton %s'" % folder, "docs/model.md")
    expect("'carbon models --skeleton %s'" % folder in carbon("models", folder).text, "expected the reason with what to do")
    expect_failure(carbon("models", "--skeleton", folder, "other"), "leave out the others")
    made = ok("models", "--skeleton", folder)
    expect("fill in dna_start_id" in made.err and path in made.err and made.text == "", "expected what to do", made)
    with open(path) as f:
        skeleton = json.load(f)
    expect_equal(skeleton, {"k": 6, "dna_start_id": None, "dna_special_tokens": ["<dna>", "</dna>", "<oov>"], "dna_vocab_size": 4099}, "skeleton")
    expect_failure(carbon("score", "-m", folder, data("mini.fa")), "dna_start_id is missing (null); fill it in")
    write(folder, "dna_config.json", json.dumps({**skeleton, "dna_start_id": right["dna_start_id"]}))
    expect_equal(ok("score", "-m", folder, data("mini.fa")).table()[1:], ok("score", "-m", model(), data("mini.fa")).table()[1:], "scores")

    # The tokenizer knows the id of <dna>.
    os.remove(path)
    write(folder, "tokenizer.json", json.dumps({"added_tokens": [{"id": 0, "content": "<dna>"}], "model": {"vocab": {}}}))
    made = ok("models", "--skeleton", folder)
    with open(path) as f:
        expect_equal(json.load(f)["dna_start_id"], 0, "dna_start_id")
    expect("dna_start_id 0 is the id of <dna> in " in made.err, "expected where it is from", made)
    released = fresh()
    write(released, "config.json", json.dumps({**json.loads(read(os.path.join(model(), "config.json"))), "vocab_size": 155776}))
    expect_failure(carbon("models", "--skeleton", released), "needs no dna_config.json")
    expect_failure(carbon("models", "--skeleton", fresh()), "no config.json")


@case
def parts_of_a_model_without_the_first():
    env = places()
    write(env["CARBON_MODEL_PATH"], "big-00002-of-00003.gguf", b"GGUF")
    part = os.path.join(env["CARBON_MODEL_PATH"], "big-00002-of-00003.gguf")
    missing = "the first part of the model, %s, is missing" % part.replace("00002", "00001")
    expect(missing in next(m["error"] for m in listed(env) if m["path"] == part), "expected the part in the list")
    for name in (part, env["CARBON_MODEL_PATH"], "big-00002-of-00003"):
        expect_failure(carbon("score", "-m", name, data("mini.fa"), env=env), missing)


@case
def no_models_at_all():
    env = places()
    expect_equal(listed(env), [], "models")


if __name__ == "__main__":
    main()
