"""carbon vep --recipe anchored: header, table, tags of an earlier run, flags, the recipes together, refusals."""

import os
import random
import re

from harness import carbon, case, expect, expect_equal, expect_failure, fresh, info_of, main, model, ok, read, records, write
from vep_anchored_support import (CONTIGS, GENOME, SMALL_RUN, anchored_args, bcf, run, some_rows, tags_of, the_fasta, vcf_of)
from vep_reference_support import random_bases, upper
from vep_support import MINI, OTHER, reference, summary_of, values

# ---- what is written -----------------------------------------------------------------------------------------------


def header_of(text):
    return [line for line in text.splitlines() if line.startswith("#")]


def fields_of_model_line(text, tag=""):
    line = next(line for line in header_of(text) if line.startswith("##carbon_vepModel=<ID=" + (tag and "CARBON_%s," % tag)))
    return dict(item.partition("=")[::2] for item in re.findall(r'(?:[^,"]|"[^"]*")+', line.split("<", 1)[1].rstrip(">")))


@case
def the_header_says_what_was_run():
    path = vcf_of(some_rows(10, 86), CONTIGS)
    for args, names, wanted in (
            (anchored_args(), ["ALLR"], {"Context": "4098", "Horizon": "768", "Phases": "auto", "Strand": "both"}),
            (anchored_args([96, 0], 60, "-", "6"), ["ALLR_0", "ALLR_96"], {"Context": "60", "Phases": "6", "Strand": "-"}),
            (anchored_args(5, 6, "+", "1"), ["ALLR"], {"Context": "6", "Horizon": "5", "Phases": "1", "Strand": "+"})):
        text = run(path, *args).text
        fields = fields_of_model_line(text)
        expect_equal({key: fields.get(key) for key in wanted}, wanted, "fields of %r" % fields)
        expect_equal(fields["Recipe"], "anchored", "recipe")
        expect("Window" not in fields, "a window of a recipe that did not run")
        expect_equal(re.findall(r"##INFO=<ID=CARBON_(\w+),Number=(\w),Type=(\w+),", text),
                     [*((name, "A", "Float") for name in names), ("FLAG", "A", "String")], "definitions")
        expect("##carbon_vepCommand" not in text and "##carbon_vepVersion" not in text, "lines with --no-version")
    texts = [run(path, *anchored_args(horizons)).text for horizons in ([96, 0], [0, 96])]
    for text in texts:  # in whatever way they are joined
        horizons = re.split(r"\D+", fields_of_model_line(text)["Horizon"])
        expect_equal(sorted(horizons), ["0", "96"], "horizons of the model line")
    expect_equal(records(texts[1]), records(texts[0]), "records of horizons in another order")


@case
def the_table_has_the_values_of_the_vcf():
    path = vcf_of(some_rows(200, 87), CONTIGS)
    for args, tags in ((SMALL_RUN, ["ALLR", "FLAG"]), (anchored_args([96, 6], 60), ["ALLR_6", "ALLR_96", "FLAG"]),
                       (["--recipe", "next-token,anchored,centered", "-w", 48, "--horizon", "6,0"],
                        ["LLR", "NT", "ALLR_0", "ALLR_6", "FLAG"]),
                       (SMALL_RUN + ["--tag-prefix", "XY"], ["ALLR", "FLAG"])):
        prefix = "XY_" if "XY" in args else "CARBON_"
        plain, table = run(path, *args), run(path, *args, "-O", "t")
        wanted = []
        for line in records(plain.text):
            contig, pos, name, ref, alts = line.split("\t")[:5]
            columns = [info_of(line).get(prefix + tag, ".").split(",") for tag in tags]
            columns = [column if len(column) == alts.count(",") + 1 else column * (alts.count(",") + 1) for column in columns]
            wanted += ["\t".join((contig, pos, name, ref) + row) for row in zip(alts.split(","), *columns)]
        expect_equal(records(table.text), wanted, "lines with %r" % (args,))
        expect_equal(header_of(table.text)[-1].split("\t")[5:], [prefix + tag for tag in tags], "names of the columns")


ALONE = {"centered": (["--recipe", "centered", "-w", 48], ["LLR"]), "next-token": (["--recipe", "next-token"], ["NT"]),
         "anchored": (anchored_args([6, 0]), ["ALLR_0", "ALLR_6"])}


def ours(tags):
    return {tag[7:]: value for tag, value in tags.items() if tag.startswith("CARBON_")}


@case
def recipes_together_have_the_bits_of_each_alone():
    path = vcf_of(some_rows(250, 88), CONTIGS)
    single = {recipe: tags_of(bcf(path, *args)) for recipe, (args, _) in ALONE.items()}
    for recipes in ("centered,anchored", "anchored,next-token", "anchored,centered,next-token", "next-token,centered,anchored"):
        names = [recipe for recipe in ALONE if recipe in recipes.split(",")]
        window = ["-w", 48] if "centered" in names else []
        for i, found in enumerate(map(ours, tags_of(bcf(path, "--recipe", recipes, *window, "--horizon", "0,6")))):
            parts = [ours(single[recipe][i]) for recipe in names]
            wanted = {tag: value for part in parts for tag, value in part.items() if tag != "FLAG"}
            flags = [part["FLAG"].split(",") for part in parts if "FLAG" in part]
            if flags:  # the reason for the first tag that is missing
                wanted["FLAG"] = ",".join(next((flag for flag in of if flag != "."), ".") for of in zip(*flags))
            expect_equal(list(found.items()), list(wanted.items()), "tags of row %d with --recipe %s" % (i, recipes))
            expect(not found or [tag for tag in found if tag != "FLAG"] == [tag for recipe in names for tag in ALONE[recipe][1]],
                   "the order of the tags: %r" % found)


@case
def the_model_line_of_several_recipes():
    path = vcf_of(some_rows(5, 92), CONTIGS)
    for args, wanted in (
            (("--recipe", "anchored,centered", "-w", 48, "--context", 60, "--horizon", 30),
             {"LLR": {"Recipe": "centered", "Window": "48", "Phases": "auto", "Strand": "both"},
              "ALLR": {"Recipe": "anchored", "Context": "60", "Horizon": "30", "Phases": "auto", "Strand": "both"}}),
            (("--recipe", "anchored,centered", "-w", 48, "--strand", "-", "--phases", 6),
             {"LLR": {"Phases": "6", "Strand": "-"}, "ALLR": {"Context": "4098", "Phases": "6", "Strand": "-"}}),
            (("--recipe", "anchored,next-token"), {"NT": {"Recipe": "next-token", "Context": "24000", "Strand": "+"},
              "ALLR": {"Recipe": "anchored", "Horizon": "768", "Strand": "both"}})):
        text = run(path, *args).text
        expect_equal(sum(line.startswith("##carbon_vepModel=") for line in text.splitlines()), len(wanted), "model lines")
        for tag, settings in wanted.items():
            fields = fields_of_model_line(text, tag)
            expect_equal({key: fields.get(key) for key in settings}, settings, "model line of %s with %r" % (tag, args))


OLD = ("ALLR_96", "ALLR_1000000", "LLR", "NT")
KEPT = "CARBON_ALLRX=1;CARBON_ALLR_X=2;CARBON_ALLR_9x=3;CARBON_XALLR_9=4;XALLR=5"


def annotated_before(text):
    """The output of a run as one that also has the tags of OLD, and tags of other programs with names like ours."""
    names = ["CARBON_" + name for name in OLD] + [item.split("=")[0] for item in KEPT.split(";")]
    more = "".join('##INFO=<ID=%s,Number=.,Type=Float,Description="old">\n' % name for name in names)
    values_ = "".join(";CARBON_%s=9" % name for name in OLD) + ";" + KEPT
    lines = text.replace("##contig", more + "##contig", 1).splitlines(True)
    return "".join(line if line[0] == "#" else line.rstrip("\n") + values_ + "\n" for line in lines)


@case
def tags_of_an_earlier_run_are_replaced_with_one_warning():
    path = vcf_of(some_rows(40, 89, lambda row: row[0] != "absent" and row[3] != "."), CONTIGS)
    once = run(path, *SMALL_RUN)
    again = write(fresh(), "again.vcf", annotated_before(once.text))
    model_lines = lambda of: [line for line in of.lines() if line.startswith("##carbon_vepModel")]
    for args in (SMALL_RUN, anchored_args([0, 6], 60), ["-w", 48]):
        clean, result, what = run(path, *args), run(again, *args), " ".join(map(str, args))
        same = "<ID=CARBON_ALLR," in clean.text  # this run computes the tag of the first one anew; otherwise it is kept
        for line, wanted, first in zip(records(result.text), records(clean.text), records(once.text)):
            items = line.split("\t")[7].split(";")
            kept = KEPT.split(";")
            if not same:
                kept.insert(0, "CARBON_ALLR=" + info_of(first)["CARBON_ALLR"])
            new = [item for item in items if item not in kept]  # in another order: a tag of both runs stays where it was
            expect_equal(sorted(new), sorted(wanted.split("\t")[7].split(";")), "tags after " + what)
            expect_equal([item for item in items if item in kept], kept, "tags of other programs")
        defined, ours = (re.findall(r"##INFO=<ID=(CARBON_\w+|XALLR),", of.text) for of in (result, clean))
        expect_equal(sorted(defined), sorted(ours + [item.split("=")[0] for item in kept]), "definitions after " + what)
        expect_equal(sorted(model_lines(result)), sorted(model_lines(clean) + (model_lines(once) if not same else [])), "model lines")
        added = [line for line in result.messages("W") if line not in clean.messages("W")]
        expect(len(added) == 1 and "CARBON" in added[0] and "earlier run" in added[0], "expected one more warning", result)


@case
def one_old_horizon_is_enough_for_the_warning():
    path = vcf_of(some_rows(10, 91), CONTIGS)
    for name, warned in (("CARBON_ALLR_96", 1), ("CARBON_ALLR", 1), ("CARBON_ALLR_", 0), ("CARBON_ALLR_X", 0), ("OLD_ALLR_96", 0)):
        old = read(path).decode().replace("##contig", '##INFO=<ID=%s,Number=A,Type=Float,Description="old">\n##contig' % name, 1)
        result = run(write(fresh(), "old.vcf", old), *SMALL_RUN)
        expect_equal(sum("earlier run" in line for line in result.messages("W")), warned, "warnings about " + name)
    first = run(path, *anchored_args([6, 96], 60))
    second = run(write(fresh(), "first.vcf", first.text), *SMALL_RUN, "--tag-prefix", "SECOND")
    expect(not any("earlier run" in line for line in second.messages("W")), "a warning without a reason", second)
    expect_equal(sum(line.startswith("##carbon_vepModel") for line in second.lines()), 3, "model lines")
    for line, before in zip(records(second.text), records(first.text)):
        items = [item for item in line.split("\t")[7].split(";") if not item.startswith("SECOND_")]
        expect_equal(items, before.split("\t")[7].split(";"), "tags of the first run")


@case
def flags_and_the_summary():
    bases = upper(GENOME)["main"]
    base, other = bases[99], OTHER[bases[99]]
    wanted = (
        ((base, other), None), ((base, "<NON_REF>"), ["symbolic"]), ((base, "*"), ["star"]), ((base, "N"), ["non_acgt"]),
        ((other, base), ["ref_mismatch"]), ((base, base + "ACG" * 40), ["too_long"]), (("N", "<DEL>", "SVLEN=130"), ["too_long"]),
        ((base, "A" * 130 + ",%s,*" % other), ["too_long", None, "star"]), ((bases[99:102], bases[99:101] + OTHER[bases[101]]), None))
    rows = [("main", 100, *row) for row, _ in wanted] + [("absent", 5, "A", "C"), ("main", 0, "A", "C")]
    flags = [of for _, of in wanted] + [["no_contig"], ["edge"]]
    small = model(max_positions=40)  # 234 bases after <dna>
    args = ("vep", "-m", small, "-f", the_fasta(), "--max-ref-mismatch", 1)
    result = ok(*args, *SMALL_RUN, vcf_of(rows, CONTIGS))
    expect_equal([values(line, "CARBON_FLAG") for line in records(result.text)], flags, "flags")
    found = [flag for of in flags for flag in of or []]
    expect_equal(summary_of(result), {"total": len(rows), "scored": 3, **{flag: found.count(flag) for flag in found if flag}}, "summary")
    # 1 + ceil((120 + 30 + 85 - 1) / 6) = 40: an allele of 85 letters is the longest, whatever smaller horizons there are.
    for size, flag in ((84, None), (85, None), (86, ["too_long"])):
        alt = other + random_bases(random.Random(90), size - 2) + OTHER[base]
        for horizons in (30, [0, 30]):
            line = records(ok(*args, *anchored_args(horizons, 60), vcf_of([("main", 100, base, alt)], CONTIGS)).text)[0]
            expect_equal(values(line, "CARBON_FLAG"), flag, "flag of %d letters, horizons %r" % (size, horizons))


# ---- refusals ------------------------------------------------------------------------------------------------------


ANCHORED = ["--recipe", "anchored"]
HORIZONS = ("x", "-1", "", "96,", ",96", "96,,5", "5.5", "9 6", "96,768,96", "5,05", "99999999999999999999")
# The model of these tests has 4,096 positions: 6 * 4095 - 2 * 4098 = 16374
REFUSED = [([*ANCHORED, "--horizon", text], ["--horizon"]) for text in HORIZONS] + [
    ([*ANCHORED, "--horizon=-1"], ["--horizon"]), (["--horizon", "96"], ["--horizon", "anchored"]),
    (["--recipe", "centered,next-token", "--horizon", "96"], ["--horizon", "anchored"]),
    ([*ANCHORED, "--horizon", "16375"], ["16375", "16374"]), ([*ANCHORED, "--horizon", "0,16375"], ["16375", "16374"]),
    ([*ANCHORED, "--horizon", "1000000000"], ["1000000000", "16374"]),
    ([*ANCHORED, "--context", "60", "--horizon", "24451"], ["24451", "24450"]),
    ([*ANCHORED, "--context", "61"], ["--context", "61"]), ([*ANCHORED, "--context", "0"], ["--context"]),
    ([*ANCHORED, "--context", "5"], ["--context"]), ([*ANCHORED, "--context", "-6"], ["--context"]),
    ([*ANCHORED, "--context", "12288"], ["12288"]), ([*ANCHORED, "--context", "600000000"], ["600000000"]),
    (["--recipe", "centered,anchored", "--context", "61"], ["--context", "61"]),
    (["--recipe", "next-token,anchored", "--context", "60"], ["--context"]),
    (["--recipe", "anchored,centered,next-token", "--context", "60"], ["--context"]),
    (["--recipe", "anchored,anchored"], ["--recipe"]), (["--recipe", "anchored,centered,anchored"], ["--recipe"]),
    (["--recipe", "anchor"], ["--recipe", "anchored"]),
    ([*ANCHORED, "--phases", "2"], ["--phases"]), ([*ANCHORED, "--strand", "x"], ["--strand"])]

for arguments, words in REFUSED:
    @case(name="refused: " + " ".join(arguments))
    def refused(arguments=arguments, words=words):
        out = os.path.join(fresh(), "out.vcf")
        expect_failure(carbon("vep", "-m", model(), "-f", reference(), *arguments, "-o", out, MINI), *words)
        expect_equal(os.listdir(os.path.dirname(out)), [], "files after the refusal")


@case
def the_largest_settings_that_fit_are_taken():
    for args in (("--horizon", "16374"), ("--context", "60", "--horizon", "24450"), ("--context", "11898")):
        expect_equal(len(records(run(MINI, *ANCHORED, *args, fasta=reference()).text)), 36, "records with " + " ".join(args))


if __name__ == "__main__":
    main()
