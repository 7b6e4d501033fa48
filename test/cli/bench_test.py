"""carbon bench: the table and the JSON on small models, sizes that do not fit, wrong options. Speeds are not judged."""
# Left out while unchanged: src/bench src/cli/bench.cpp

import json
import os
import re

from harness import carbon, case, expect, expect_equal, expect_failure, fresh, main, model, ok, read

SMALL = ["-p", "20", "-n", "3", "-b", "1,3", "--batch-tokens", "50", "--rounds", "3"]


def report(*args):
    return json.loads(ok("bench", "-q", "-m", model(), *SMALL, "--json", *args, timeout=600).text)


def check_spread(value, what):
    expect_equal(set(value) - {"unit", "of_multiply_add"}, {"median", "min", "max"}, what)
    expect(0 < value["min"] <= value["median"] <= value["max"] < float("inf"), "%s: %r" % (what, value))


def check_report(got, dtype, limits):
    expect_equal((got["dtype"], got["threads"], got["rounds"]), (dtype, 2, 3), "the setting")
    with open("VERSION") as f:
        expect_equal(got["carbon"], f.read().strip(), "version")
    expect(got["device"].startswith("cpu:") and got["load_seconds"] > 0, "device and load time")
    expect(limits <= set(got["limits"]), "limits are %r" % list(got["limits"]))
    for name, value in got["limits"].items():
        check_spread(value, name)
        expect_equal(value["unit"], "bytes/s" if name in ("read", "copy") else "flop/s", "unit of " + name)
        expect_equal("of_multiply_add" in value, name.endswith("_product"), "a share of the rate on registers of " + name)
        if "of_multiply_add" in value:
            check_spread(value["of_multiply_add"], name + " of registers")
    expect_equal([(t["test"], t.get("batch"), t.get("alts")) for t in got["tests"][:7]],
                 [("prefill", 1, None), ("decode", 1, None), ("decode", 3, None), ("score", 2, None), ("scan", 2, None), ("vep", None, 1),
                  ("vep", None, 3)], "tests")
    # Windows of 20 6-mers: contexts of 60 bp, in which SNVs 50 bp apart are two, or one in each.
    expect_equal([(t["test"], t["distance"], t["horizon"]) for t in got["tests"][7:]],
                 [("anchored", distance, horizon) for distance in (50, 60) for horizon in (96, 768)], "anchored")
    for test in got["tests"]:
        what = test["test"]
        for key in ("seconds", "tokens_per_s", "bases_per_s", "flop_per_s", "bytes_per_s", "of_limit", "of_product"):
            check_spread(test[key], what + " " + key)
        # A third of a scanned window of 20 6-mers is context, and each base is read on two strands.
        expect_equal(test["bases"], 6 * 14 if what == "scan" else 6 * test["tokens"], "bases of " + what)
        for rate, amount in (("tokens_per_s", "tokens"), ("flop_per_s", "flop"), ("bytes_per_s", "bytes"),
                             ("variants_per_s", "variants")):
            if amount in test:
                ratio = test[rate]["median"] * test["seconds"]["median"] / test[amount]
                expect(abs(ratio - 1) < 1e-9, "%s of %s is off by %g" % (rate, what, ratio))
    return [t["tokens"] for t in got["tests"]]


def anchored_tokens(positions, length, horizon):
    """Tokens for SNVs that have a window of their own each, with contexts of 60 bp, on both strands."""
    total = 0
    for pos in positions + [length - 1 - pos for pos in positions]:
        first = pos // 6 * 6
        start = 60 * (first // 60 - 1)
        end = min(length, pos + 1 + horizon)
        total += -(-(end - start) // 6) + -(-(end - first) // 6) - 1
    return total


@case
def json_of_a_small_model():
    got = report("-@", "2")
    tokens = check_report(got, "bf16", {"read", "copy", "bf16_multiply_add", "bf16_product", "f32_multiply_add", "f32_product"})
    # A window of 20 6-mers and its variant in the middle one, on both strands; a site is all that fits 50 tokens.
    expect_equal(tokens[:7], [20, 3, 9, 40, 40, 2 * (20 + 10), 2 * (20 + 3 * 10)], "tokens")
    expect_equal([t.get("variants") for t in got["tests"]][4:], [3 * 6 * 14, 1, 3, 1, 1, 5, 5], "variants")
    dense, lone = ([145], 5 * 60), ([150 + 60 * i for i in range(5)], 9 * 60)
    expect_equal(tokens[7:], [anchored_tokens(*sites, horizon) for sites in (dense, lone) for horizon in (96, 768)],
                 "tokens of anchored")
    # embed 4224 x 32, two layers of 64 x 32 for q, o, k, v and 3 x 64 x 32, norms.
    hidden, layer = 32, 32 * (2 * 32 + 2 * 16) + 3 * 64 * 32 + 2 * 32
    expect_equal(got["parameters"], 4224 * hidden + 2 * layer + hidden, "parameters")


@case
def json_in_f32():
    got = report("-@", "2", "--dtype", "f32")
    check_report(got, "f32", {"read", "copy", "f32_multiply_add", "f32_product"})
    expect(not any(name.startswith("bf16") for name in got["limits"]), "limits of bf16 in an f32 run")


@case
def the_table_has_a_line_each():
    out = os.path.join(fresh(), "table.txt")
    result = ok("bench", "-q", "-m", model(), *SMALL, "-o", out, timeout=600)
    expect_equal(result.out, b"", "standard output")
    lines = read(out).decode().splitlines()
    for start in ("reading memory", "copying memory", "bf16 matrix product", "prefill", "decode, batch 1", "decode, batch 3", "score",
                  "vep, 1 alt", "vep, 3 alt", "anchored/50, H 96", "anchored/60, H 768"):
        expect(any(re.match(start + r" +[\d.]+ ", line) for line in lines), "no line begins with %r\n%s" % (start, lines))


@case
def it_runs_without_vector_instructions():
    got = json.loads(ok("bench", "-q", "-m", model(), *SMALL, "--json", "-@", "1", env={"CARBON_FORCE_ISA": "generic"},
                        timeout=600).text)
    expect(got["device"].startswith("cpu:generic"), got["device"])
    expect_equal(got["threads"], 1, "threads")


def refused(args, *words):
    def run():
        out = os.path.join(fresh(), "out")
        expect_failure(carbon("bench", *args, "-o", out), *words)
        expect(not os.path.exists(out), "the output of a failed run exists")
    return run


for bad, words in ((["-p", "4095"], ["4094", "-p"]), (["-n", "4097"], ["4095", "-n"]), (["-b", "1,"], ["-b 1,"]),
                   (["-b", "0"], ["-b 0"]), (["-b", "1;2"], ["-b 1;2"]), (["-b", "5000"], ["4096"])):
    case(refused(["-m", model()] + bad, *words), name="refused: " + " ".join(bad))
for bad in (["--synthetic", "1B"], ["--synthetic", "500M", "-m", "x"], ["-p", "2"], ["--rounds", "0"], ["-n", "x"], ["extra"]):
    case(refused(bad, "--help"), name="refused: " + " ".join(bad))
case(refused(["--synthetic", "500M", "-p", "8191"], "8190"), name="a window beyond a synthetic model's context")
case(refused(["-m", "/absent"], "/absent"), name="an absent model")


if __name__ == "__main__":
    main()
