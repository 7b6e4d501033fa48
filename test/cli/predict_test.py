"""carbon predict: against an independent float64 reading of its definition, the same bytes however it runs, and what it refuses."""

import json
import os

import numpy as np

from generate_support import random_bases
from harness import carbon, case, data, decompress, expect, expect_equal, expect_failure, fresh, main, model, ok, read, reverse_complement, to_fasta, write
from head_support import LABELS, PROBLEMS, TOLERANCE, changed_model, head_model, reference_head, table_of

SEQUENCES = [("plain", random_bases(300, 1)), ("partial", random_bases(203, 2)), ("noisy", random_bases(50, 3) + "NNRYn" + random_bases(64, 4)),
             ("lower", random_bases(60, 5).lower()), ("short", "ACGTAC")]
SCALE = {"K562_scaled": {"mean": 1.5, "std": 2.0}, "Hep-G2": {"mean": -3, "std": 0.25}, "SK N.SH": {"mean": 0, "std": 1}}
NUMBERS = [(SCALE[label]["mean"], SCALE[label]["std"]) for label in LABELS]


def fasta(sequences=SEQUENCES):
    return write(fresh(), "in.fa", to_fasta(sequences))


def scale_file(content):
    return write(fresh(), "scale.json", content if isinstance(content, str) else json.dumps(content))


def predicted(*args, **options):
    return table_of(ok("predict", *args, **options).text)


def compare(path, arguments, how, sequences=SEQUENCES):
    names, rows = predicted("-m", path, "--dtype", "f32", *arguments, fasta(sequences))
    expect_equal(list(rows), [name for name, _ in sequences], "sequences")
    for name, bases in sequences:
        want = reference_head(path).values(bases, **how)
        error = np.abs(rows[name] - want).max()
        expect(error <= TOLERANCE, "%s, %s: off by %.2e" % (name, arguments, error))
    return names


@case
def both_pools_tails_and_all_strands():
    path = head_model(dtype="f32")
    for pool in ("separator", "last"):
        for pad in (False, True):
            for strand in ("+", "-", "both"):
                names = compare(path, ["--pool", pool, "--strand", strand, *(["--pad-tail"] if pad else [])],
                                dict(pool=pool, pad=pad, strand=strand))
                expect_equal(names, ["#name", *LABELS], "columns")


@case
def activations_by_the_problem_type_and_by_choice():
    for activation, problem in PROBLEMS.items():
        path = head_model(dtype="f32", problem_type=problem)
        compare(path, ["--strand", "both"], dict(activation=activation, strand="both"))
        for other in PROBLEMS:
            compare(path, ["--activation", other], dict(activation=other))
    result = ok("predict", "-m", head_model(dtype="f32", problem_type=""), fasta())
    expect("no problem_type" in result.err and "--activation" in result.err, "no warning", result)
    typed = ok("predict", "-m", head_model(dtype="f32"), "--activation", "none", fasta()).text
    expect_equal([list(row) for row in table_of(result.text)[1].values()], [list(row) for row in table_of(typed)[1].values()], "values")


@case
def scales_in_every_form():
    path = head_model(dtype="f32")
    forms = [SCALE,
             {"lr": 1, "label_transform": {name.replace("_scaled", ""): {"column": "x", "center": own["mean"], "scale": own["std"]}
                                           for name, own in SCALE.items()}},
             {"label_transform": {name: {"center": own["mean"], "scale": own["std"]} for name, own in SCALE.items()}},
             {"label_stats": {key: own[part] for name, own in SCALE.items()
                              for key, part in ((name.replace("_scaled", "") + "_mean", "mean"), (name.replace("_scaled", "") + "_std", "std"))}}]
    texts = set()
    for form in forms:
        file = scale_file(form)
        compare(path, ["--label-scale", file, "--strand", "both"], dict(scale=NUMBERS, strand="both"))
        texts.add(ok("predict", "-m", path, "--label-scale", file, fasta()).text)
    expect_equal(len(texts), 1, "different outputs for the same numbers")


@case
def the_same_bytes_however_it_runs():
    for path in (head_model(), head_model(dtype="f32")):
        many = [("s%d" % i, random_bases(40 + 37 * i, 50 + i)) for i in range(20)]
        plain = ok("predict", "-m", path, "-@", 1, "--strand", "both", fasta(many)).text
        for more in (("-@", 2), ("-@", 2, "--batch-tokens", 1), ("-@", 1, "--batch-tokens", 100), ("-@", 3, "--batch-tokens", 7)):
            expect_equal(ok("predict", "-m", path, "--strand", "both", *more, fasta(many)).text, plain, str(more))
        backwards = ok("predict", "-m", path, "--strand", "both", fasta(many[::-1])).lines()
        whole = plain.splitlines()
        first = next(i for i, line in enumerate(whole) if line.startswith("#name"))
        expect_equal(backwards[first + 1:][::-1], whole[first + 1:], "lines in the other order")
        for name, bases in many[:3]:
            alone = ok("predict", "-m", path, "--strand", "both", fasta([(name, bases)])).lines()
            expect(alone[-1] in whole, "a sequence alone")


@case
def regions_and_the_reverse_strand():
    path, genome = head_model(), data("mini.fa")
    _, whole = predicted("-m", path, "-r", "c1:1-120", "-r", "c2:31-90", "--strand", "-", genome)
    expect_equal(list(whole), ["c1:1-120", "c2:31-90"], "names")
    bases = "".join(read(genome).decode().split(">c1")[1].split("\n>")[0].split("\n")[1:])[:120]
    _, turned = predicted("-m", path, fasta([("x", reverse_complement(bases))]))
    expect_equal(list(turned["x"]), list(whole["c1:1-120"]), "values of the reverse complement")


@case
def names_of_labels():
    path = head_model()
    names, _ = predicted("-m", path, "--labels", "a,b b,c", fasta())
    expect_equal(names, ["#name", "a", "b b", "c"], "columns")
    names, _ = predicted("-m", head_model(label_names=""), fasta())
    expect_equal(names, ["#name", "LABEL_0", "LABEL_1", "LABEL_2"], "without id2label")
    odd = changed_model(lambda config: config.update(id2label={"0": "tab\there", "1": "line\nfeed", "2": "\u00e4"}))
    names, _ = predicted("-m", odd, fasta())
    expect_equal(names, ["#name", "tab_here", "line_feed", "\u00e4"], "odd names")
    many = {str(i): "L%d" % i for i in range(12)}
    names, _ = predicted("-m", head_model(labels=12, label_names=",".join(many.values())), fasta())
    expect_equal(names[1:], list(many.values()), "numbers are sorted as numbers")
    expect_failure(carbon("predict", "-m", path, "--labels", "a,b", fasta()), "2 labels are named", "has 3", "--labels")
    expect_failure(carbon("predict", "-m", path, "--labels", "a,,b", fasta()), "--labels", "none of them empty")
    expect_failure(carbon("predict", "-m", path, "--labels", "a,b,a", fasta()), "labels a and a")


@case
def models_that_are_refused():
    in_fa = fasta()
    expect_failure(carbon("predict", in_fa, env={"CARBON_MODEL": ""}), "no model is named, and none with a classification head is bundled")
    expect_failure(carbon("predict", "-m", model(), in_fa), "has no classification head", "--lora")
    for command in (["score"], ["generate", "-l", 6], ["scan", "-f", in_fa], ["vep", "-f", in_fa]):
        result = carbon(*command, "-m", head_model(), *([] if "-f" in command else [in_fa]), stdin=b"##fileformat=VCFv4.2\n")
        expect_failure(result, "has a classification head", "K562_scaled", "carbon predict")
    refusals = (
        (dict(change_tensors=lambda t: t.pop("score.weight")), ("score.weight", "missing")),
        (dict(change_tensors=lambda t: t.update({"score.weight": ["F32", [3, 31], b"\0" * 372]})), ("[3,31]", "32")),
        (dict(change_tensors=lambda t: t.update({"score.weight": ["F32", [96], b"\0" * 384]})), ("[96]",)),
        (dict(change_tensors=lambda t: t.update({"score.weight": ["F32", [2, 32], b"\0" * 256]})), ("id2label", "3 labels", "2 rows")),
        (dict(change_tensors=lambda t: t.update({"score.bias": ["F32", [3], b"\0" * 12]})), ("score.bias",)),
        (dict(change_tensors=lambda t: t["score.weight"].__setitem__(2, t["score.weight"][2][:4 * 33] + b"\0\0\xc0\x7f" + t["score.weight"][2][4 * 34:])),
         ("score.weight", "row 1, column 1", "not finite")),
        (dict(change_config=lambda c: c.update(id2label={"0": "a", "2": "b", "3": "c"})), ("id2label", "none for number 1")),
        (dict(change_config=lambda c: c.update(id2label={"0": "a", "1": [7], "2": "b"})), ("id2label", "number 1")),
        (dict(change_config=lambda c: c.update(id2label=["a", "b", "c"])), ("id2label",)),
        (dict(change_config=lambda c: c.update(id2label={"0": "a\t", "1": "a\n", "2": "b"})), ("a_", "--labels")),
        (dict(change_config=lambda c: c.update(id2label={"0": "", "1": "a", "2": "b"})), ("has no name", "--labels")),
        (dict(change_config=lambda c: c.update(problem_type="ranking")), ("problem_type", "regression")),
    )
    for changes, words in refusals:
        expect_failure(carbon("predict", "-m", changed_model(**changes), in_fa), *words)
    for place in ("", ".."):
        path = changed_model()
        write(os.path.join(path, place), "run_config.json", json.dumps({"dna_mode": "plain", "loss": None}))
        expect_failure(carbon("predict", "-m", path, in_fa), "run_config.json", "plain")
        write(os.path.join(path, place), "run_config.json", json.dumps({"dna_mode": "auto_dna_tags"}))
        ok("predict", "-m", path, in_fa)


@case
def an_output_matrix_beside_a_head_is_not_read():
    path = changed_model(change_tensors=lambda t: t.update({"lm_head.weight": ["F32", [7, 3], b"\0" * 84]}))
    result = ok("predict", "-m", path, fasta())
    expect("ignoring 1 unknown tensors, such as 'lm_head.weight'" in result.err, "what is said", result)
    expect_equal(table_of(result.text)[1].keys(), dict(SEQUENCES).keys(), "sequences")
    untied = changed_model(lambda config: config.update(tie_word_embeddings=False))
    expect_equal(ok("predict", "-m", untied, fasta()).lines()[-5:], result.lines()[-5:], "tied or not")
    expect_equal(ok("embed", "-m", untied, fasta()).lines()[-1], ok("embed", "-m", path, fasta()).lines()[-1],
                 "hidden states")


@case
def scales_that_are_refused():
    path = head_model()
    lacking = {name: own for name, own in SCALE.items() if name != "Hep-G2"}
    for content, words in (
            (lacking, ("Hep-G2",)), ({"label_stats": {"K562_mean": 1, "K562_std": 2}}, ("Hep-G2", "label_stats")),
            ({"label_transform": {}}, ("K562_scaled",)), ({**SCALE, "Hep-G2": {"mean": 1}}, ("Hep-G2", "std is missing")),
            ({**SCALE, "Hep-G2": {"mean": 1, "std": 0}}, ("Hep-G2", "positive")), ({**SCALE, "Hep-G2": {"mean": "1", "std": 2}}, ("Hep-G2", "mean")),
            ({**SCALE, "Hep-G2": 5}, ("Hep-G2",)), ([], ("JSON object",)), ("{", ("scale.json",)), ('{"a": 1e999}', ("scale.json",))):
        expect_failure(carbon("predict", "-m", path, "--label-scale", scale_file(content), fasta()), *words)
    expect_failure(carbon("predict", "-m", path, "--activation", "sigmoid", "--label-scale", scale_file(SCALE), fasta()), "sigmoid", "--activation")
    expect_failure(carbon("predict", "-m", path, "--label-scale", "/absent.json", fasta()), "/absent.json")


@case
def sequences_that_are_refused():
    path = head_model(max_positions=64)
    longest = 6 * 62
    ok("predict", "-m", path, fasta([("x", "A" * longest)]))
    expect_failure(carbon("predict", "-m", path, fasta([("x", "A" * (longest + 6))])), "sequence x", "%d bp" % longest)
    expect_failure(carbon("predict", "-m", path, "--pool", "last", fasta([("x", "ACGTA")])), "sequence x", "--pad-tail")
    expect_failure(carbon("predict", "-m", path, "--pool", "mean", fasta()), "--pool", "separator")
    ok("predict", "-m", path, "--pool", "last", "--pad-tail", fasta([("x", "ACGTA")]))


@case
def the_header_says_what_made_it():
    path, out = head_model(), os.path.join(fresh(), "out.tsv.gz")
    ok("predict", "-m", path, "--pad-tail", "-o", out, fasta(), dated=True)
    lines = decompress(read(out)).decode().splitlines()
    expect_equal([line.split("=")[0] for line in lines[:3]], ["##carbon_predict" + what for what in ("Version", "Command", "Model")], "lines")
    expect(lines[2].endswith(",Pool=separator,Tail=pad,Activation=none,Scale=none,Strand=+>"), lines[2])
    digest = json.loads(ok("models", "--json", "--digest", path).text)[0]["sha256"]
    expect("SHA256=%s," % digest in lines[2], "the digest of the model")
    plain = ok("predict", "-m", path, "--pad-tail", fasta()).lines()
    expect_equal(plain, lines[2:], "without the version")
    expect_failure(carbon("predict", "-m", path, "-o", os.path.join(fresh(), "x.csv"), fasta()), "x.csv", ".tsv")


@case
def models_are_told_apart():
    path, causal = head_model(), model()
    listed = json.loads(ok("models", "--json", "--digest", path, causal).text)
    expect_equal([entry["labels"] for entry in listed], [LABELS, None], "labels")
    expect(listed[0]["sha256"] != listed[1]["sha256"], "digests")
    text = ok("models", path).text
    expect("LABELS" in text and ",".join(LABELS) in text, "labels in the table: " + text)
    expect("LABELS" not in ok("models", causal).text, "labels of a causal model")
    # The same decoder with another head.
    other = changed_model(change_tensors=lambda t: t["score.weight"].__setitem__(2, b"\0" * len(t["score.weight"][2])))
    digests = {entry["sha256"] for entry in json.loads(ok("models", "--json", "--digest", other, changed_model()).text)}
    expect_equal(len(digests), 2, "digests of two heads")


if __name__ == "__main__":
    main()
