"""--rope-scaling: the same bytes as a checkpoint whose config.json says so."""

import json
import os

from harness import (carbon, case, data, expect, expect_equal, expect_failure, fresh, genome, main, model, model_copy,
                     ok, read, to_fasta, write)
from vep_support import MINI, WINDOW, reference

ORIGINAL = 4096  # of the harness's model


def edited(factor):
    """The harness's model with YaRN in its config.json; 0: without."""
    path = model_copy()
    name = os.path.join(path, "config.json")
    config = json.loads(read(name))
    config["rope_scaling"] = factor and {"rope_type": "yarn", "factor": factor, "original_max_position_embeddings": ORIGINAL}
    config["max_position_embeddings"] = int(ORIGINAL * (factor or 1))
    write(path, "config.json", json.dumps(config))
    return path


def score(*args):
    return ok("score", "-O", "tsv", *args, data("mini.fa")).table()


def vep(checkpoint, *args):
    return ok("vep", "-m", checkpoint, "-f", reference(), "-w", WINDOW, "--no-version", *args, MINI).text


@case
def score_as_with_an_edited_configuration():
    plain = score("-m", model())
    for factor in (1, 2.5, 4):
        wanted = score("-m", edited(factor))
        expect_equal(score("-m", model(), "--rope-scaling", "yarn:%g" % factor), wanted, "factor %g" % factor)
        expect(factor == 1 or wanted != plain, "YaRN changes nothing")
    expect_equal(score("-m", model(), "--rope-scaling", "none"), plain, "none")
    expect_equal(score("-m", edited(4), "--rope-scaling", "none"), plain, "none in the place of YaRN")
    expect_equal(score("-m", edited(4), "--rope-scaling", "yarn:2"), score("-m", edited(2)), "another factor")


@case
def the_line_of_the_model_says_it():
    plain = vep(model())
    expect("RopeScaling" not in plain, "RopeScaling without the option")
    configured = vep(edited(4))
    expect("RopeScaling" not in configured, "RopeScaling without the option")
    asked = vep(model(), "--rope-scaling", "yarn:4")
    line = next(line for line in asked.splitlines() if line.startswith("##carbon_vepModel"))
    expect(line.endswith(",RopeScaling=yarn:4>"), line)
    name = 'Model="%s"' % os.path.basename(model())
    expect_equal(asked.replace(",RopeScaling=yarn:4", "").replace(name, 'Model="model"'), configured,
                 "with an edited configuration: scores, digest and all else")
    expect_equal(vep(edited(4), "--rope-scaling", "yarn:4"), configured, "what config.json says anyway")
    expect(vep(edited(4), "--rope-scaling", "none").count("RopeScaling=none>") == 1, "RopeScaling=none")


@case
def the_cache_of_scores_knows_it():
    cache = os.path.join(fresh(), "cache")
    for args in ((model(),), (model(), "--rope-scaling", "yarn:4"), (model(),), (model(), "--rope-scaling", "yarn:2")):
        expect_equal(vep(*args, "--cache", cache), vep(*args), " ".join(args[1:]))


@case
def the_context_grows():
    path = write(fresh(), "long.fa", to_fasta([("long", genome()["c1"] * 45)]))  # 27,000 bp: 4,500 6-mers
    expect_failure(carbon("score", "-m", model(), "--window", "26994", path), "4096 tokens")
    ok("score", "-m", model(), "--rope-scaling", "yarn:1.25", "--window", "26994", path)
    expect_failure(carbon("score", "-m", model(), "--rope-scaling", "yarn:1.25", "--window", "30720", path),
                   "5120 tokens", "30714")
    expect_failure(carbon("score", "-m", edited(4), "--rope-scaling", "none", "--window", "26994", path), "4096 tokens")


for text in ("yarn", "yarn:0.5", "yarn:x", "linear:2", "yarn:99999999"):
    @case(name="refused: '%s'" % text)
    def refused(text=text):
        expect_failure(carbon("score", "-m", model(), "--rope-scaling", text, data("mini.fa")), "rope scaling", text)


if __name__ == "__main__":
    main()
