"""carbon vep --level: both levels of one run are those of two, whatever the batches; headers, cache, resuming, refusals."""

import os
import re

from harness import case, carbon, expect, expect_equal, expect_failure, fresh, genome, main, model, read, records, write
from vep_support import MINI, OTHER, WINDOW, reference, summary_of, vcf, vep

ARGS = ("-w", WINDOW, "--no-version", "--max-ref-mismatch", 1)


def tag(out, name):
    """The values of a tag, as printed, by line; and the lines without both tags."""
    lines = records(out.decode())
    found = [re.search(r"(?:^|;)%s=([^;]*)" % name, line.split("\t")[7]) for line in lines]
    return [match and match[1] for match in found]


def header(out, name):
    lines = [line for line in out.decode().splitlines() if line.startswith("##carbon_vepModel=<ID=%s," % name)]
    return lines[0] if len(lines) == 1 else lines


@case
def both_levels_of_one_run_are_those_of_two():
    for more in ((), ("--phases", 6, "--strand", "-"), ("--dtype", "f32", "--phases", 1)):
        bases, tokens = (vep(*ARGS, *more, *level, MINI).out for level in ((), ("--level", "token")))
        expect(tag(bases, "CARBON_LLR_TOKEN") == [None] * len(records(bases.decode())), "a tag that was not asked for")
        expect(tag(tokens, "CARBON_LLR") == [None] * len(records(bases.decode())), "a tag that was not asked for")
        for batch in ((), ("--batch-tokens", 1), ("--batch-tokens", 50, "-@", 1), ("-@", 2)):
            both = vep(*ARGS, *more, *batch, "--level", "token,bp", MINI).out
            expect_equal(tag(both, "CARBON_LLR"), tag(bases, "CARBON_LLR"), "level bp")
            expect_equal(tag(both, "CARBON_LLR_TOKEN"), tag(tokens, "CARBON_LLR_TOKEN"), "level token")
        expect_equal(header(both, "CARBON_LLR"), header(bases, "CARBON_LLR"), "model line of level bp")
        expect_equal(header(both, "CARBON_LLR_TOKEN"), header(tokens, "CARBON_LLR_TOKEN"), "model line of level token")
        expect("Level" not in header(bases, "CARBON_LLR") and ",Level=token," in header(tokens, "CARBON_LLR_TOKEN"),
               "Level stands where it should not, or not where it should: %s" % header(tokens, "CARBON_LLR_TOKEN"))


@case
def scores_do_not_depend_on_neighbours():
    bases = genome()["c1"]
    rows = [("c1", pos, bases[pos - 1], alt) for pos in (40, 41, 46, 300) for alt in "ACGT" if alt != bases[pos - 1]]
    rows += [("c1", pos, bases[pos - 1], bases[pos - 1] + "ACG") for pos in (40, 300)]
    together = vep(*ARGS, "--level", "bp,token", vcf(rows)).out
    alone = [vep(*ARGS, "--level", "bp,token", vcf([row])).out for row in rows]
    for name in ("CARBON_LLR", "CARBON_LLR_TOKEN"):
        expect_equal(tag(together, name), [tag(out, name)[0] for out in alone], name)
    merged = vcf([("c1", pos, bases[pos - 1], ",".join(row[3] for row in rows if row[1] == pos)) for pos in (40, 41, 46, 300)])
    expect_equal(",".join(tag(vep(*ARGS, "--level", "bp,token", merged).out, "CARBON_LLR_TOKEN")).split(","),
                 [text for pos in (40, 41, 46, 300) for row, text in zip(rows, tag(together, "CARBON_LLR_TOKEN")) if row[1] == pos],
                 "alleles of one record")


@case
def what_lies_behind_the_last_whole_6mer_has_the_flag_edge():
    bases = genome()["c1"]
    last = len(bases)
    rows = [("c1", pos, bases[pos - 1], OTHER[bases[pos - 1]]) for pos in (last, last - 1, last - 60)]
    result = vep(*ARGS, "--level", "bp,token", "--strand", "+", vcf(rows))
    tokens = tag(result.out, "CARBON_LLR_TOKEN")
    # The forward window begins 24 bases before the variant, so the last ones of the contig are its 25th and 26th.
    expect_equal([text == "." for text in tokens], [True, True, False], "values that are missing")
    expect_equal(tag(result.out, "CARBON_FLAG"), ["edge", "edge", None], "flags")
    expect("." not in tag(result.out, "CARBON_LLR"), "level bp has them all")
    expect_equal(summary_of(result)["edge"], 2, "edge in the summary")
    both = vep(*ARGS, "--level", "token", vcf(rows)).out
    expect_equal(tag(both, "CARBON_LLR_TOKEN")[0], tag(vep(*ARGS, "--level", "token", "--strand", "-", vcf(rows)).out,
                                                       "CARBON_LLR_TOKEN")[0], "the strand that has it stands for both")


@case
def a_cache_has_each_level_by_itself():
    path = os.path.join(fresh(), "cache")
    plain = {level: vep(*ARGS, "--level", level, MINI).out for level in ("bp", "token", "bp,token")}
    found = {}
    for level in ("bp", "bp,token", "token", "bp,token"):
        result = vep(*ARGS, "--level", level, "-v", 4, "--cache", path, MINI)
        expect_equal(result.out, plain[level], "level %s with a cache" % level)
        found[level] = [int(word) for word in re.search(r"cache: (\d+) of (\d+)", result.err).groups()]
    expect_equal(found["token"][0], found["token"][1], "found at level token, of those looked up")
    expect_equal(found["bp,token"][0], found["bp,token"][1], "found at both levels, of those looked up")


@case
def shares_and_continued_runs_have_the_same_bytes():
    args = ARGS + ("--level", "bp,token")
    whole = vep(*args, MINI).out
    shares = [records(vep(*args, "--shard", "%d/3" % i, MINI).text) for i in (1, 2, 3)]
    expect_equal([line for share in shares for line in share], records(whole.decode()), "records of three shares")
    d = fresh()
    out, given = os.path.join(d, "out.vcf"), read(MINI).decode()
    lines = given.splitlines(True)
    broken = write(d, "in.vcf", "".join(lines[:-12]) + "c1\tx\n")  # a run that ends with an error keeps its scores
    carbon("vep", "-m", model(), "-f", reference(), *args, "-o", out, broken)
    expect(os.path.exists(out + ".partial"), "no scores were kept")
    write(d, "in.vcf", given)
    other = carbon("vep", "-m", model(), "-f", reference(), *ARGS, "--resume", "-o", out, broken)
    expect_failure(other, "level")
    vep(*args, "--resume", "-o", out, broken)
    expect_equal(read(out), whole, "a continued run")


@case
def what_has_no_level_of_tokens_is_refused():
    for args, words in (((*ARGS, "--level", "token", "--recipe", "centered,next-token"), "centered alone"),
                        ((*ARGS, "--level", "token,bp", "--recipe", "anchored"), "centered"),
                        ((*ARGS, "--level", "kmer"), "bp"), ((*ARGS, "--level", "bp,bp"), "twice"),
                        ((*ARGS, "--level", "bp,"), "expected"), ((*ARGS, "--level", ""), "empty")):
        expect_failure(carbon("vep", "-m", model(), "-f", reference(), *args, MINI), words)


if __name__ == "__main__":
    main()
