"""carbon vep: records and fields as bcftools prints them, flags, checks of REF and of contig names, indexes."""

import os
import random
import re
import subprocess

from harness import (CARBON, DATA, ENV, bgzip, carbon, case, data, expect, expect_equal, expect_failure, fresh,
                     genome, info_of, is_bgzf, main, model, ok, read, records, to_fasta, tool, without_tags, write)
from vep_support import FLAGS, MINI, OTHER, WINDOW, mini, reference, summary_of, values, vcf, vep


# ---- what must not change ------------------------------------------------------------------------------------------


@case
def records_are_as_bcftools_prints_them():
    wanted = records(tool("bcftools", "view", "--no-version", MINI).text)
    got = records(vep("-w", WINDOW, MINI).text)
    expect_equal([without_tags(line) for line in got], wanted, "records without the new tags")
    expect_equal(len(got), 36, "number of records")


@case
def every_way_in_and_out_has_the_same_records():
    wanted = records(vep("-w", WINDOW, "--no-version", MINI).text)
    d = fresh()
    zipped, bcf = os.path.join(d, "in.vcf.gz"), os.path.join(d, "in.bcf")
    tool("bcftools", "view", "-Oz", "-o", zipped, MINI)
    tool("bcftools", "view", "-Ob", "-o", bcf, MINI)
    ubcf = write(d, "u.bcf", tool("bcftools", "view", "-Ou", MINI).out)
    gzipped = write(d, "gzip.vcf.gz", tool("gzip", "-c", MINI).out)
    for path in (zipped, bcf, ubcf, gzipped):
        expect_equal(records(vep("-w", WINDOW, path).text), wanted, "from " + os.path.basename(path))
        expect_equal(records(vep("-w", WINDOW, "-", stdin=read(path)).text), wanted, "from stdin: " + os.path.basename(path))
    expect_equal(records(vep("-w", WINDOW, stdin=read(MINI)).text), wanted, "without a file name")
    for kind in ("v", "z", "b", "u", "z1", "b9"):
        out = vep("-w", WINDOW, "-O", kind, MINI).out
        expect_equal(records(tool("bcftools", "view", "-", stdin=out).text), wanted, "-O " + kind)
        if kind[0] in "zb":
            expect(is_bgzf(out), "-O %s is not BGZF with its end marker" % kind)
        else:
            expect(out[:5] == (b"BCF\x02\x02" if kind == "u" else b"##fil"), "-O %s begins with %r" % (kind, out[:5]))
    for name in ("o.vcf", "o.vcf.gz", "o.bcf"):
        path = os.path.join(fresh(), name)
        expect_equal(vep("-w", WINDOW, "-o", path, MINI).out, b"", "stdout of a run with -o")
        expect_equal(os.listdir(os.path.dirname(path)), [name], "files of -o " + name)
        expect_equal(records(tool("bcftools", "view", path).text), wanted, "-o " + name)
        expect_equal(is_bgzf(read(path)), name != "o.vcf", "BGZF of " + name)
    path = os.path.join(fresh(), "o.vcf.gz")
    vep("-w", WINDOW, "-O", "v", "-o", path, MINI)
    expect(is_bgzf(read(path)), "the suffix does not override -O v")


@case
def bcf_needs_no_contig_lines():
    lines = [("c1", 100, "G", "T"), ("c2", 80, "T", "G")]
    wanted = records(vep("-w", WINDOW, vcf(lines)).text)
    out = vep("-w", WINDOW, "-O", "b", vcf(lines, contigs=())).out
    expect_equal(records(tool("bcftools", "view", "-", stdin=out).text), wanted, "BCF of a VCF without ##contig")


@case
def header_is_the_input_header_and_our_lines():
    old = [line for line in read(MINI).decode().splitlines() if line.startswith("#")]
    header = [line for line in vep("-w", WINDOW, MINI).lines() if line.startswith("#")]
    expect_equal([line for line in header if line in old], old, "lines of the input")
    new = [line for line in header if line not in old]
    for text in ("##INFO=<ID=CARBON_LLR,Number=A,Type=Float,", "##INFO=<ID=CARBON_FLAG,Number=A,Type=String,",
                 "##carbon_vepVersion=", "##carbon_vepCommand=vep -m ", "##carbon_vepModel=<ID="):
        expect(sum(line.startswith(text) for line in new) == 1, "not one line %r in %r" % (text, new))
    expect(not any("CARBON_NT" in line for line in new), "the next-token tag is defined without its recipe")
    line = next(line for line in new if line.startswith("##carbon_vepModel"))
    for text in ("SHA256=", "Dtype=bf16", "Device=", "Recipe=centered", "Window=48", "Strand=both"):
        expect(text in line, "%r is not in %r" % (text, line))
    expect("; Date=" in next(line for line in new if line.startswith("##carbon_vepCommand")), "no date")


@case
def without_version_lines_runs_are_the_same_bytes():
    first = vep("-w", WINDOW, "--no-version", MINI)
    expect_equal(vep("--no-version", "-@", "1", "-w", WINDOW, MINI).out, first.out, "second run")
    ours = [line for line in first.lines() if line.startswith("##carbon")]
    expect(len(ours) == 1 and ours[0].startswith("##carbon_vepModel="), "lines %r" % ours)
    z = [vep("-w", WINDOW, "--no-version", "-O", "z", "-@", n, MINI).out for n in ("1", "2")]
    expect_equal(z[0], z[1], "compressed")


@case
def input_without_records():
    head = "".join(line + "\n" for line in read(MINI).decode().splitlines() if line.startswith("#"))
    result = vep("-w", WINDOW, write(fresh(), "h.vcf", head))
    expect_equal(records(result.text), [], "records")
    expect("##INFO=<ID=CARBON_LLR," in result.text, "no definition", result)
    expect_equal(result.err.splitlines()[-1], "Records 0, scored 0", "summary")


# ---- flags, tags, messages -----------------------------------------------------------------------------------------


@case
def flags_say_why_a_value_is_missing():
    for identifier, line in mini().items():
        if identifier == "monomorphic":
            expect_equal(info_of(line), {"DP": "7"}, "INFO of a record without ALT")
            continue
        flags, scores = values(line, "CARBON_FLAG"), values(line, "CARBON_LLR")
        expect_equal(flags, FLAGS.get(identifier), "flag of " + identifier)
        for flag, score in zip(flags or [None] * len(scores), scores):
            expect((flag is None) == (score is not None), "score %r beside flag %r in %s" % (score, flag, line))


@case
def flags_in_the_documented_order():
    rows = [("absent", 5, "N", "<DEL>", "no_contig"), ("c1", 600, "AN", "<DEL>", "edge"), ("c1", 0, "A", "*", "edge"),
            ("c1", 310, "R", "<DEL>", "symbolic"), ("c1", 310, "A", "G]c2:5]", "symbolic"),
            ("c1", 310, "A", "[c2:5[G", "symbolic"),
            ("c1", 310, "A", "G.", "symbolic"), ("c1", 310, "A", ".G", "symbolic"), ("c1", 310, "A", "<NON_REF>", "symbolic"),
            ("c1", 310, "R", "*", "star"), ("c1", 310, "A", "N", "non_acgt"), ("c2", 93, "C", "A", "non_acgt"),
            ("c1", 310, "A", "C" * 30, "ref_mismatch"), ("c1", 309, "C", "G" * 30, "too_long"),
            ("c1", 309, "C", "CU", "non_acgt")]
    for c, p, r, a, flag in rows:
        line = records(vep("-w", WINDOW, vcf([(c, p, r, a), ("c1", 100, "G", "T")])).text)[0]
        expect_equal(values(line, "CARBON_FLAG"), [flag], "flag of " + line)
    line = records(vep("--recipe", "next-token", vcf([("c1", 309, "C", "G" * 30)])).text)[0]
    expect_equal(values(line, "CARBON_FLAG"), ["multibase"], "next-token alone has no too_long")


@case
def summary_line():
    result = vep("-w", WINDOW, MINI)
    expect(result.err.splitlines()[-1].startswith("Records 36, scored 24; alleles without a score: 2 no_contig (the FASTA lacks the contig), "),
           "last line on stderr", result)
    found = [flag for flags in FLAGS.values() for flag in flags if flag]
    expect_equal(summary_of(result), {"total": 36, "scored": 24, **{flag: found.count(flag) for flag in found}}, "counts")
    expect_equal(vep("-w", WINDOW, vcf([("c1", 100, "G", "T")])).err.splitlines()[-1], "Records 1, scored 1", "nothing is missing")


@case
def warnings_name_the_place_once():
    result = vep("-w", WINDOW, MINI)
    warnings = result.messages("W")
    expect(sum("c1:310" in line for line in warnings) == 1, "no warning about c1:310", result)
    expect(sum("absent" in line for line in warnings) == 1, "no warning about the contig", result)
    expect_equal(len(warnings), 2, "number of warnings")


@case
def contigs_that_the_fasta_lacks_are_told_once():
    rows = [("c1", 100, "G", "T")] + [("decoy%d" % i, 5, "A", "C") for i in range(7) for _ in range(2)]
    result = vep("-w", WINDOW, vcf(rows, contigs=()))
    told, = (line for line in result.messages("W") if "decoy" in line)
    expect("7 contigs, decoy0, decoy1, decoy2 and 4 more, are not in " in told and "their records, 14 in number" in told, "warning", result)
    result = carbon("vep", "-m", model(), "-f", reference(), "-o", os.path.join(fresh(), "out.vcf"), vcf(rows[1:], contigs=()))
    expect_failure(result, "no contig of the VCF", "decoy0")
    expect("reading ended early" not in result.err, "nothing was left to compute", result)
    expect_equal(len([line for line in result.err.splitlines() if "decoy" in line]), 1, "lines that name a contig")
    declared = vcf(rows[1:], contigs=["decoy%d" % i for i in range(7)])
    result = carbon("vep", "-m", model(), "-f", reference(), declared)
    expect_failure(result, "no contig of the VCF (decoy0, ...)")
    expect_equal(records(result.text), [], "records before the refusal")


@case
def tag_prefix():
    plain, other = mini(), mini("--tag-prefix", "XY")
    for identifier, line in plain.items():
        renamed = line.split("\t")
        renamed[7] = renamed[7].replace("CARBON_", "XY_")
        expect_equal(other[identifier], "\t".join(renamed), identifier)
    for bad in ("", "9A", "A-B", "A B", "A;B", "A=B"):
        expect_failure(carbon("vep", "-m", model(), "-f", reference(), "--tag-prefix", bad, MINI), "--tag-prefix")


@case
def annotating_again_replaces_with_one_warning():
    once = vep("-w", WINDOW, "--no-version", MINI)
    # An old value on a record that gets none now, and one of a recipe that does not run now, must go as well.
    old = once.text.replace("DP=7", "DP=7;CARBON_LLR=3;CARBON_NT=1").replace(
        "##contig=<ID=c1", "##INFO=<ID=CARBON_NT,Number=A,Type=Float,Description=\"old\">\n##contig=<ID=c1", 1)
    twice = vep("-w", WINDOW, "--no-version", write(fresh(), "again.vcf", old))
    expect_equal(records(twice.text), records(once.text), "records of the second run")
    for start in ("##INFO=<ID=CARBON_LLR", "##INFO=<ID=CARBON_FLAG", "##carbon_vepModel=<ID=CARBON_LLR,"):
        expect_equal(sum(line.startswith(start) for line in twice.lines()), 1, "lines " + start)
    expect("CARBON_NT" not in twice.text, "the old CARBON_NT is still defined")
    added = [line for line in twice.messages("W") if line not in once.messages("W")]
    expect(len(added) == 1 and "CARBON_LLR is computed anew; CARBON_NT is removed" in added[0] and "--tag-prefix" in added[0],
           "expected one more warning than the first run", twice)


@case
def a_second_recipe_keeps_the_tags_of_the_first():
    """Of the same weights and data type, in either order, and as if both recipes had run at once."""
    small = {"centered": ("-w", WINDOW), "next-token": ("--context", 60), "anchored": ("--context", 60, "--horizon", "6,96")}
    path = MINI
    for first, second in (("centered", "next-token"), ("anchored", "centered"), ("next-token", "centered")):
        once = vep("--recipe", first, *small[first], "--no-version", path)
        twice = vep("--recipe", second, *small[second], "--no-version", write(fresh(), "once.vcf", once.out))
        both = vep("--recipe", first + "," + second, *small[first], *small[second], "--no-version", path)
        info = lambda line: sorted(item for item in line.split("\t")[7].split(";") if "_FLAG=" not in item)
        expect_equal([info(line) for line in records(twice.text)], [info(line) for line in records(both.text)], "scores")
        flag = lambda line: info_of(line).get("CARBON_FLAG")
        expect_equal([bool(flag(line)) for line in records(twice.text)], [bool(flag(line)) for line in records(both.text)], "flags")
        expect(any(flag(line) for line in records(once.text)), "no flag that could be lost")
        ours = lambda text: sorted(line for line in text.splitlines() if line.startswith(("##carbon_vepModel", "##INFO=<ID=CARBON")))
        expect_equal(ours(twice.text), ours(both.text), "header lines")
        expect(not any("earlier run" in line for line in twice.messages("W")), "a warning without a reason", twice)


@case
def tags_of_another_model_or_data_type_are_removed():
    once = vep("-w", WINDOW, "--no-version", MINI)
    again = ("--recipe", "next-token", "--context", 60, "--no-version")
    for name, text in (("another data type", once.text.replace("Dtype=bf16", "Dtype=f32")),
                       ("another model", once.text.replace("SHA256=", "SHA256=0")),
                       ("no model line", "\n".join(line for line in once.lines() if not line.startswith("##carbon_vepModel")) + "\n"),
                       ("the line of a prefix", once.text.replace("##carbon_vepModel=<ID=CARBON_LLR,", "##carbon_vepModel=<ID=CARBON,"))):
        twice = vep(*again, write(fresh(), "once.vcf", text))
        expect("CARBON_LLR" not in twice.text.replace("carbon_vepCommand", ""), "the scores of %s are kept" % name)
        expect_equal(sum(line.startswith("##carbon_vepModel") for line in twice.lines()), 1, "model lines, " + name)
        said = "CARBON_LLR is removed" if name == "no model line" else "CARBON_LLR of model0 (%s) is removed" % ("f32" if "type" in name else "bf16")
        expect(any(said in line and "--tag-prefix" in line for line in twice.messages("W")), name, twice)


@case
def another_prefix_keeps_the_earlier_run():
    once = vep("-w", WINDOW, "--no-version", MINI)
    twice = vep("-w", WINDOW, "--no-version", "--tag-prefix", "SECOND", write(fresh(), "again.vcf", once.out))
    expect_equal([without_tags(line, "SECOND") for line in records(twice.text)], records(once.text), "earlier tags")
    expect_equal(sum(line.startswith("##carbon_vepModel") for line in twice.lines()), 2, "model lines")


# ---- REF against the FASTA -----------------------------------------------------------------------------------------


@case
def check_ref():
    args = ("vep", "-m", model(), "-f", reference(), "-w", WINDOW, "-c")
    expect_failure(carbon(*args, "e", MINI), "c1:310", "-c w")
    kept = records(ok(*args, "x", MINI).text)
    expect_equal([line for line in mini().values() if "\twrong_ref\t" not in line], kept, "-c x drops the one record")
    expect_equal(list(mini("-c", "w").values()), list(mini().values()), "-c w is the default")


def mismatches(matching, wrong, then=0):
    """Records of c1: first `wrong` whose REF differs and `matching` mixed, then `then` more that match."""
    bases, lines = genome()["c1"], []
    for i in range(matching + wrong + then):
        pos = i % 500 + 1
        letter = bases[pos - 1]
        lines.append(("c1", pos, OTHER[letter] if i < wrong else letter, OTHER[OTHER[letter]]))
    head = lines[:matching + wrong]
    random.Random(1).shuffle(head)
    return vcf(head + lines[matching + wrong:])


def assembly(path, *args):
    return carbon("vep", "-m", model(), "-f", reference(), "-w", "12", "--strand", "+", *args, path)


@case
def wrong_assembly_at_a_thousand_records():
    expect_failure(assembly(mismatches(949, 51, then=300)), "wrong assembly", "51 of 1000", "--max-ref-mismatch")
    result = assembly(mismatches(950, 50, then=10))
    expect(result.rc == 0 and len(records(result.text)) == 1010, "a share of 0.05 is not above 0.05", result)
    d = fresh()
    result = assembly(mismatches(949, 51), "-o", os.path.join(d, "o.vcf.gz"))
    expect_failure(result, "wrong assembly")
    expect("what was computed is kept: if what was read so far has changed, begin again with --restart, else continue with --resume" in result.err,
           "what it keeps", result)
    expect_equal(os.listdir(d), ["o.vcf.gz.partial"], "files left")
    # Whoever knows better continues.
    result = assembly(mismatches(949, 51), "-o", os.path.join(d, "o.vcf.gz"), "--resume", "--max-ref-mismatch", "1")
    expect(result.rc == 0 and os.listdir(d) == ["o.vcf.gz"], "the same with a larger share", result)
    # Whoever gives other files begins again.
    os.unlink(os.path.join(d, "o.vcf.gz"))
    expect_failure(assembly(mismatches(949, 51), "-o", os.path.join(d, "o.vcf.gz")), "wrong assembly")
    result = assembly(mismatches(1000, 0), "-o", os.path.join(d, "o.vcf.gz"), "--restart")
    expect(result.rc == 0 and os.listdir(d) == ["o.vcf.gz"], "a file that fits", result)


@case
def wrong_assembly_at_the_end():
    expect_failure(assembly(mismatches(10, 20)), "wrong assembly", "20 of 30")
    result = assembly(mismatches(57, 19))
    expect(result.rc == 0 and len(records(result.text)) == 76, "a quarter of few records is not enough", result)
    expect(len(result.messages("W")) < 19, "every mismatch has its own line", result)
    result = assembly(mismatches(10, 20), "--max-ref-mismatch", "0.7")
    expect(result.rc == 0, "20 of 30 are not above 0.7", result)
    expect_failure(assembly(mismatches(10, 20), "--max-ref-mismatch", "0.6"), "wrong assembly")


@case
def wrong_assembly_after_a_good_beginning():
    good, bad = (records(read(mismatches(*n)).decode()) for n in ((1000, 0), (0, 400)))
    lines = [tuple(line.split("\t")[i] for i in (0, 1, 3, 4)) for line in good + bad]
    expect_failure(assembly(vcf(lines)), "wrong assembly", "400 of 1400")


@case
def records_that_cannot_be_compared_do_not_count():
    odd = [("c2", 20, "A", "C")] * 30 + [("absent", 5, "A", "C")] * 30 + [("c1", 601, "A", "C")] * 30 + [("c1", 5, "N", "C")] * 30
    result = assembly(vcf(odd + [("c1", 310, "A", "C")] * 2))
    expect(result.rc == 0, "only 2 of the records mismatch", result)
    expect_failure(assembly(vcf(odd + [("c1", 310, "A", "C")] * 20)), "20 of 20")


# ---- contig names --------------------------------------------------------------------------------------------------


def renamed_reference(*names):
    return write(fresh(), "renamed.fa", to_fasta(list(zip(names, genome().values()))))


@case
def contig_names_that_do_not_match():
    wanted = [line.split("\t")[7] for line in records(vep("-w", WINDOW, MINI).text)]

    def check(fasta, option, *value):
        result = carbon("vep", "-m", model(), "-f", fasta, "-w", WINDOW, MINI)
        expect_failure(result, option)
        fixed = vep("-w", WINDOW, *value, MINI, fasta=fasta)
        expect_equal([line.split("\t")[7] for line in records(fixed.text)], wanted, "INFO with " + " ".join(value))
        expect_equal([line.split("\t")[0] for line in records(fixed.text)],
                     [line.split("\t")[0] for line in records(read(MINI).decode())], "contig names stay")

    check(renamed_reference("chrc1", "chrc2", "chrtiny"), "--unify-chr-names -,chr", "--unify-chr-names", "-,chr")
    names = write(fresh(), "map.txt", "c1\tfirst\nc2\tsecond\ntiny\tthird\n")
    check(renamed_reference("first", "second", "third"), "--chr-map", "--chr-map", names)
    prefixed = write(fresh(), "chr.vcf", read(MINI).replace(b"\nc1\t", b"\nchrc1\t").replace(b"ID=c1,", b"ID=chrc1,"))
    lone = write(fresh(), "one.vcf", b"".join(line for line in read(prefixed).splitlines(True)
                                              if line.startswith((b"#", b"chrc1"))))
    expect_failure(carbon("vep", "-m", model(), "-f", reference(), "-w", WINDOW, lone), "--unify-chr-names chr,-")
    fixed = vep("-w", WINDOW, "--unify-chr-names", "chr,-", lone)
    expect_equal([line.split("\t")[7] for line in records(fixed.text)], wanted[:len(records(fixed.text))], "chr,-")


@case
def name_options_are_checked():
    args = ("vep", "-m", model(), "-f", reference(), "-w", WINDOW, MINI)
    expect_failure(carbon(*args, "--unify-chr-names", "chr"), "chr")
    expect_failure(carbon(*args, "--chr-map", os.path.join(DATA, "absent.txt")), "absent.txt")
    expect_failure(carbon(*args, "--chr-map", write(fresh(), "short.txt", "c1\n")), "short.txt:1")
    expect_failure(carbon(*args, "--chr-map", write(fresh(), "empty.txt", "")), "empty.txt")


@case
def other_spellings_are_named_and_mapped():
    """As ClinVar on hg38: prefixes explain all names but that of the mitochondrion."""
    fasta = renamed_reference("chr1", "chrM", "chrUn")
    text = read(MINI).decode().replace("ID=c1,", "ID=1,").replace("\nc1\t", "\n1\t").replace("ID=c2,", "ID=MT,").replace("\nc2\t", "\nMT\t")
    path = write(fresh(), "in.vcf", text)
    values = lambda result: [line.split("\t")[7] for line in records(result.text) if not line.startswith("tiny")]
    wanted = values(vep("-w", WINDOW, MINI))
    part = vep("-w", WINDOW, "--unify-chr-names", "-,chr", path, fasta=fasta)
    told = [line for line in part.messages("W") if "the FASTA calls MT chrM" in line]
    expect(len(told) == 1 and "--chr-map" in told[0], "no other spelling", part)
    names = write(fresh(), "map.txt", "MT\tchrM\n")
    both = vep("-w", WINDOW, "--unify-chr-names", "-,chr", "--chr-map", names, path, fasta=fasta)
    expect_equal(values(both), wanted, "INFO by both rules")
    expect(values(part) != wanted, "MT was found without a rule")


# ---- the FASTA and its index ---------------------------------------------------------------------------------------


@case
def bgzip_reference():
    got = vep("-w", WINDOW, MINI, fasta=bgzip(data("mini.fa")))
    expect_equal(records(got.text), records(vep("-w", WINDOW, MINI).text), "bgzip")


@case
def index_is_built_beside_the_fasta():
    path = data("mini.fa")
    vep("-w", WINDOW, MINI, fasta=path)
    expect_equal(sorted(os.listdir(os.path.dirname(path))), ["mini.fa", "mini.fa.fai"], "files beside the FASTA")
    other = data("mini.fa")
    tool("samtools", "faidx", other)
    expect_equal(read(path + ".fai"), read(other + ".fai"), "index, beside that of samtools")


@case
def index_built_by_many_at_once():
    path = data("mini.fa")
    args = [CARBON, "vep", "-m", model(), "-f", path, "-w", "48", "--no-version", "-@", "1", MINI]
    running = [subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV) for _ in range(6)]
    done = [process.communicate(timeout=60) + (process.returncode,) for process in running]
    wanted = vep("-w", WINDOW, "--no-version", MINI)
    for out, err, rc in done:
        expect(rc == 0 and records(out.decode()) == records(wanted.text), "rc %d: %s" % (rc, err.decode()))
    expect_equal(sorted(os.listdir(os.path.dirname(path))), ["mini.fa", "mini.fa.fai"], "files beside the FASTA")


@case
def a_second_model_names_the_first():
    """Of tags that it replaces and of those that it removes, with --tag-prefix as the way to keep both."""
    once = vep("--recipe", "centered,next-token", "-w", WINDOW, "--context", 60, "--dtype", "bf16", "--no-version", MINI)
    other = vep("-w", WINDOW, "--dtype", "f32", "--no-version", write(fresh(), "once.vcf", once.out))
    name = re.search(r'##carbon_vepModel=<ID=CARBON_LLR,Model="([^"]*)".*Dtype=(\w+)', once.text)
    model_of_once = "%s (%s)" % (name[1], name[2])
    said, = (line for line in other.messages("W") if "earlier run" in line)
    for words in ("CARBON_LLR of %s is replaced" % model_of_once, "CARBON_NT of %s is removed" % model_of_once, "--tag-prefix"):
        expect(words in said, "%r is not in: %s" % (words, said))
    expect("CARBON_NT" not in "".join(records(other.text)), "a tag of another model is kept")
    beside = vep("-w", WINDOW, "--dtype", "f32", "--tag-prefix", "F32", "--no-version", write(fresh(), "once.vcf", once.out))
    expect(not any("earlier run" in line for line in beside.messages("W")), "a warning of tags that are kept", beside)


if __name__ == "__main__":
    main()
