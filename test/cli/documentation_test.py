"""Every shell block of the README, docs/ and workflows/README.md, run as it stands on small files of the names that it uses.

A block that cannot run here is marked in the document, with the reason, by `<!-- not run by make check: ... -->` before it.
The blocks of a document run one after the other in one directory. Examples of manual pages: manual_examples_test.py.
"""

import os
import re
import shutil
import signal

from annotate_support import tracks
from documentation_support import SOURCE, environment, need_server, no_server, run_block, write_fasta
from harness import CARBON, Skip, bgzip, case, expect, expect_equal, fresh, genome, main, model, read, tool, write
from vep_support import OTHER
from workflow_support import WORKFLOWS, study

BRCA1 = 43044295 + 8000  # a place in the region of the examples of README.md and docs/usage.md

# Without lines ##contig, and with ##ID, as ClinVar's monthly files have it.
CLINVAR_HEAD = """##fileformat=VCFv4.1
##fileDate=2026-11-16
##source=ClinVar
##reference=GRCh38
##ID=<Description="ClinVar Variation ID">
##INFO=<ID=ALLELEID,Number=1,Type=Integer,Description="the ClinVar Allele ID">
##INFO=<ID=CLNSIG,Number=.,Type=String,Description="Aggregate germline classification for this single variant; multiple values are separated by a vertical bar">
##INFO=<ID=RS,Number=.,Type=String,Description="dbSNP ID (i.e. rs number)">
#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO
"""


def blocks(path):
    """[(first line of the block, its text, the reason why it is not run or None)]"""
    lines, found = read(path).decode().splitlines(), []
    for i, line in enumerate(lines):
        if line == "```sh":
            end = lines.index("```", i)
            reason = re.fullmatch(r"<!-- not run by make check: (.+) -->", lines[i - 1])
            found.append((i + 2, "\n".join(lines[i + 1:end]) + "\n", reason and reason.group(1)))
    return found


def documents():
    docs = os.path.join(SOURCE, "docs")
    return ["README.md", "HACKING.md", "CONTRIBUTING.md", "workflows/README.md", "packaging/README.md", "packaging/RELEASING.md"] + \
        ["docs/" + name for name in sorted(os.listdir(docs)) if name.endswith(".md")]


def directory():
    """A directory with the files that the documents name, and the environment in which their commands run."""
    d = fresh()
    study(d, count=40)  # cohort.bcf, cohort.vcf and ref.fa
    os.symlink(CARBON, os.path.join(d, "carbon"))
    os.symlink(WORKFLOWS, os.path.join(d, "workflows"))
    bases = genome()["c1"].upper()
    write(d, "promoters.fa", ">p1\n%s\n>p2\n%s\n" % (bases[:90], bases[90:211]))
    write(d, "seqs.fa", ">s1\n%s\n>s2\n%s\n" % (bases[:300], bases[200:523]))
    small_tracks(d)
    tool("bcftools", "view", "-Ov", "-o", os.path.join(d, "in.vcf"), os.path.join(d, "cohort.bcf"))
    # A fine-tuned model with one label.
    os.symlink(model(labels=1, label_names="activity", problem_type="regression"), os.path.join(d, "fine-tuned"))
    env = environment()
    return d, env


def small_tracks(d):
    """tiny.fa with its tracks: P is 0.95 in the one gene that there is room for, and 0.05 elsewhere."""
    bases = "CCATGGCCTAACC"
    values = [0.05] * 2 + [0.95] * 9 + [0.05] * 2
    prefix = tracks([("tiny", bases)], {"tiny": values}, {"tiny": [0.05] * len(bases)})
    for strand in ("plus", "minus"):
        shutil.copy("%s.%s.bw" % (prefix, strand), os.path.join(d, "tiny.%s.bw" % strand))
    write(d, "tiny.fa", ">tiny\n%s\n" % bases)


def human(d):
    """GRCh38.fa, Ns but for a piece of chr17, and clinvar.vcf.gz on it, whose contigs have no chr, and whose header is ClinVar's."""
    piece = (genome()["c1"].upper().replace("N", "A") * 30)[:16000]
    write_fasta(os.path.join(d, "GRCh38.fa"), [("chr17", BRCA1 - 8000, piece)])
    lines = ""
    for i, label in enumerate(("Pathogenic", "Benign", "Likely_pathogenic", "Likely_benign", "Uncertain_significance")):
        ref = piece[8000 + i]
        lines += "17\t%d\t%d\t%s\t%s\t.\t.\tALLELEID=%d;CLNSIG=%s;RS=%d\n" % (BRCA1 + i, 55000 + i, ref, OTHER[ref], 69000 + i, label, 8017 + i)
    tool("tabix", "-p", "vcf", bgzip(write(d, "clinvar.vcf", CLINVAR_HEAD + lines)))


def run_document(name):
    d, env = directory()
    if name in ("README.md", "docs/usage.md"):
        human(d)
    if name == "docs/serving.md":
        need_server()
    if name == "workflows/README.md":
        if shutil.which("snakemake") is None:
            raise Skip("snakemake is not installed")
        text = read(os.path.join(WORKFLOWS, "snakemake", "config.yaml")).decode()
        os.rename(os.path.join(d, "ref.fa"), os.path.join(d, "GRCh38.fa"))
        write(d, "my.yaml", text.replace("HuggingFaceBio/Carbon-500M", model()).replace("shards: 20", "shards: 2"))
    run = 0
    try:
        for line, text, reason in blocks(os.path.join(SOURCE, name)):
            # docs/usage.md has a block with a server among others without.
            if reason is None and not ("carbon serve" in text and no_server()):
                run_block("%s:%d" % (name, line), text, d, env)
                run += 1
    finally:
        end_server(d)
    return d, run


def end_server(d):
    """Ends the server of docs/serving.md if one of its blocks has failed. The last one ends it otherwise."""
    if os.path.exists(os.path.join(d, "port")) and os.path.exists(os.path.join(d, "serve.pid")):
        os.kill(int(read(os.path.join(d, "serve.pid"))), signal.SIGTERM)


for document in documents():
    if any(reason is None for _, _, reason in blocks(os.path.join(SOURCE, document))):
        @case(name="the commands of " + document)
        def commands(document=document):
            d, run = run_document(document)
            expect(run > 0, "nothing was run")
            if document in ("README.md", "docs/usage.md"):
                lines = tool("bcftools", "query", "-f", "%CARBON_LLR\n", os.path.join(d, "brca1.carbon.vcf.gz")).lines()
                expect(len(lines) == 5 and "." not in lines, "scores of the example: %r" % lines)
                expect("CARBON_LLR" in read(os.path.join(d, "brca1.html")).decode(), "no scores in the report")
            if document == "docs/usage.md":
                expect_equal(len(re.findall("^>", read(os.path.join(d, "continued.fa")).decode(), re.M)), 20, "generated sequences")
            if document == "workflows/README.md":
                expect(os.path.exists(os.path.join(d, "cohort.carbon.bcf")), "no output of the workflow")


@case
def commands_stand_in_blocks_that_are_run():
    """A fenced block of another kind holds no command, so that none escapes."""
    seen = 0
    for document in documents():
        text = read(os.path.join(SOURCE, document)).decode()
        for kind, body in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S):
            seen += 1
            found = re.search(r"^(?:\$ )?(?:\./)?(?:carbon (?!NAME)[a-z+]+ .*(?:\.fa|\.vcf|\.bcf)|make |hf |sbatch |snakemake ).*", body, re.M)
            expect(kind == "sh" or not found, "%s: a command in a block of kind %r: %s" % (document, kind, found and found.group()))
    expect(seen > 5, "%d blocks" % seen)


def anchors(path):
    """The parts of a document that a link can name, as GitHub names them: headings in small letters, with - for a space."""
    headings = re.findall(r"^#+ (.*)", re.sub(r"^```.*?^```$", "", read(path).decode(), flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@case
def links_lead_somewhere():
    """The files that documents link to exist, and so do the headings."""
    seen = 0
    for document in documents():
        path = os.path.join(SOURCE, document)
        for target in re.findall(r"\]\(([^)\s]+)\)", read(path).decode()):
            if re.match(r"\w+:", target):
                continue
            seen += 1
            name, _, anchor = target.partition("#")
            linked = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
            expect(os.path.exists(linked), "%s links to %s" % (document, target))
            expect(not anchor or anchor in anchors(linked), "%s links to the heading %s" % (document, target))
    expect(seen > 30, "%d links" % seen)


@case
def the_readme_is_short():
    """What it is and how it looks, in 150 lines; the rest is in docs/, to each file of which it links."""
    text = read(os.path.join(SOURCE, "README.md")).decode()
    expect(len(text.splitlines()) <= 150, "%d lines" % len(text.splitlines()))
    for document in documents():
        if document.startswith("docs/"):
            expect("(%s)" % document in text, "the README has no link to " + document)
    picture = read(os.path.join(SOURCE, "docs", "picture.png"))
    expect(picture.startswith(b"\x89PNG\r\n") and len(picture) < 150000, "docs/picture.png: %d bytes" % len(picture))


@case
def hacking_names_what_there_is():
    """The files and folders that it names exist, and every folder of the sources has its line."""
    text = read(os.path.join(SOURCE, "HACKING.md")).decode()
    tops = sorted(name for name in os.listdir(SOURCE) if os.path.isdir(os.path.join(SOURCE, name)) and not name.startswith((".", "build")))
    folders = tops + ["src/" + name for name in sorted(os.listdir(os.path.join(SOURCE, "src"))) if "." not in name]
    for folder in set(folders) - {"src", "autom4te.cache"}:
        expect(re.search(r"^%s/ " % re.escape(folder), text, re.M), "HACKING.md has no line of " + folder)
    named = re.findall(r"`([\w./-]+/[\w.-]+\.\w+|[\w.-]+\.(?:cpp|hpp|inl|cuh|py|sh))`", text)
    expect(len(named) > 20, "it names %r" % named)
    everywhere = {name for _, _, names in os.walk(SOURCE) for name in names}
    for path in named:
        if "NAME" not in path and not path.startswith("build"):
            expect(os.path.exists(os.path.join(SOURCE, path)) if "/" in path else path in everywhere, "HACKING.md names " + path)
    code = "".join(read(os.path.join(where, name)).decode() for top in ("src", "kernels", "plugins", "test/unit")
                   for where, _, names in os.walk(os.path.join(SOURCE, top)) for name in names if name.endswith(("pp", ".inl", ".h", ".cuh")))
    for word in re.findall(r"`([a-z_]+_[a-z_]+|k[A-Z]\w+|ways)(?:\(\))?`", text):
        expect(re.search(r"\b%s\b" % word, code) or word == "file_flags", "HACKING.md names " + word)


if __name__ == "__main__":
    main()
