"""The examples of the manual pages, run as they stand on small files of the names that they use.

An example is a block .EX ... .EE below .SH EXAMPLES. One that cannot run here has a comment before it that says why,
`.\\" not run by make check: ...`. C is left to plugin_api_test.py, but is there for the commands that compile it. The
examples of a page run one after the other in one directory.
"""

import json
import os
import re
import shutil
import sys

from annotate_support import tracks
from documentation_support import SOURCE, environment, need_server, run_block, write_fasta
from harness import SHARED, Skip, bgzip, case, expect, expect_equal, fresh, genome, main, model, read, tool, write
from vep_support import HEAD, OTHER

sys.path.insert(0, os.path.join(SOURCE, "test", "golden"))
from adapter_cases import write_adapter  # noqa: E402

BASES = genome()["c1"].upper().replace("N", "A") * 8  # 4,800 bp
TERT, BRCA1 = 1295100, 43044295


# ---- stand-ins for the files that examples name


def vcf(d, name, places, contigs, info=lambda i: ".", head=""):
    """An SNV at each (contig, position, reference base); the format follows the name."""
    text = HEAD % (head + "".join("##contig=<ID=%s>\n" % contig for contig in contigs))
    text += "".join("%s\t%d\t.\t%s\t%s\t.\t.\t%s\n" % (contig, pos, ref, OTHER[ref], info(i))
                    for i, (contig, pos, ref) in enumerate(places))
    plain = write(fresh(), "in.vcf", text)
    kind = {"f": "v", "z": "z"}[name[-1]] if not name.endswith(".bcf") else "b"
    tool("bcftools", "view", "--no-version", "-O", kind, "-o", os.path.join(d, name), plain)


def on_reference(d, name):
    """On chr1 and chr2 of ref.fa."""
    vcf(d, name, [(contig, pos, BASES[pos - 1]) for contig in ("chr1", "chr2") for pos in range(1500, 1512)], ("chr1", "chr2"))


def on_human(contig, start):
    def make(d, name):
        vcf(d, name, [(contig, start + i, BASES[i]) for i in range(20, 26)], (contig,))
        tool("bcftools", "index", os.path.join(d, name))
    return make


def clinvar(d, name):
    vcf(d, name, [("17", BRCA1 + i, BASES[i]) for i in range(600, 606)], ("17",),
        lambda i: "CLNSIG=" + ("Benign", "Pathogenic", "Likely_pathogenic")[i % 3], '##INFO=<ID=CLNSIG,Number=.,Type=String,Description="x">\n')
    tool("bcftools", "index", "-t", os.path.join(d, name))


def scored(d, name):
    """What vep wrote, with scores of other programs beside its own."""
    tags = {"CARBON_LLR": ("A", "Float", "Carbon log-likelihood ratio"), "SGE": ("A", "Float", "x"), "PHYLOP": ("A", "Float", "x"),
            "CADD": ("A", "Float", "x"), "CONSEQUENCE": ("1", "String", "x")}
    vcf(d, name, [("chr2", 100 + 50 * i, BASES[i]) for i in range(12)], ("chr2",),
        lambda i: "CARBON_LLR=%g;SGE=%g;PHYLOP=%g;CADD=%d;CONSEQUENCE=%s" % (i % 5 - 3, -i / 4, i % 3, i, ("missense", "intron")[i % 2]),
        "".join('##INFO=<ID=%s,Number=%s,Type=%s,Description="%s">\n' % (tag, *words) for tag, words in tags.items()))


def genes(d, name):
    lines = "".join("chr2\tx\tgene\t%d\t%d\t.\t+\t.\tID=g%d\n" % (1 + 200 * i, 200 + 200 * i, i) for i in range(3))
    os.rename(bgzip(write(fresh(), "genes.gff3", "##gff-version 3\n" + lines)), os.path.join(d, name))


def phased(d, name):
    """Two haplotypes of two samples on ref.fa, with SNVs that stand close together."""
    head = '##FORMAT=<ID=GT,Number=1,Type=String,Description="x">\n##contig=<ID=chr1,length=2400>\n'
    lines = "".join("chr1\t%d\t.\t%s\t%s\t.\t.\t.\tGT\t0|1\t1|0\n" % (p, BASES[p - 1], OTHER[BASES[p - 1]]) for p in (1001, 1003, 1100, 1106))
    text = (HEAD % head).replace("INFO\n", "INFO\tFORMAT\tS1\tS2\n")
    os.rename(bgzip(write(fresh(), "x.vcf", text + lines)), os.path.join(d, name))


def reads(d, name):
    """Over a place of chr1 that all of them have changed."""
    bases = BASES[1000:1050] + OTHER[BASES[1050]] + BASES[1051:1100]
    lines = "".join("r%d\t0\tchr1\t1001\t60\t100M\t*\t0\t0\t%s\t%s\n" % (i, bases, "I" * 100) for i in range(12))
    sam = write(fresh(), "reads.sam", "@SQ\tSN:chr1\tLN:2400\n@SQ\tSN:chr2\tLN:2400\n" + lines)
    tool("samtools", "view", "-b", "-o", os.path.join(d, name), sam)


def fasta(*lengths):
    def make(d, name):
        text = "".join(">s%d\n%s\n" % (i, BASES[100 * i:100 * i + length]) for i, length in enumerate(lengths))
        if name.endswith(".gz"):
            os.rename(bgzip(write(fresh(), "x.fa", text)), os.path.join(d, name))
        else:
            write(d, name, text)
    return make


def example_plugin(d, name):
    """The C of carbon-plugins(5), which the reader has saved."""
    source, = [text for _, text, _ in blocks("carbon-plugins.5") if text.startswith("#include")]
    write(d, name, source)


def tokenizer(d, name):
    if not os.path.isdir(os.path.join(SHARED, "qwen3")):
        raise Skip("no BPE files in %s" % os.path.join(SHARED, "qwen3"))
    os.symlink(os.path.join(SHARED, "qwen3"), os.path.join(d, name))


def malinois(d, name):
    """A model with labels, and the record of its training."""
    labels = ("K562", "HepG2", "SKNSH")
    path = model(labels=3, label_names=",".join(label + "_scaled" for label in labels), problem_type="regression")
    shutil.copytree(path, os.path.join(d, name.rstrip("/")))
    scale = {label: {"column": label, "center": 0.5, "scale": 1.5} for label in labels}
    write(os.path.join(d, name.rstrip("/")), "run_config.json", json.dumps({"dna_mode": "auto_dna_tags", "label_transform": scale}))


def adapter_with_head(d, name):
    path = os.path.join(d, name.rstrip("/"))
    os.mkdir(path)
    write_adapter(path, {"peft_type": "LORA", "r": 2, "lora_alpha": 4, "modules_to_save": ["classifier", "score"]},
                  {"base_model.model.score.weight": [1, 32], "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight": [2, 32],
                   "base_model.model.model.layers.0.self_attn.q_proj.lora_B.weight": [32, 2]})


def genome_with_tracks(d, name):
    """A sequence with a gene, and tracks that say so."""
    gene, around = "ATG" + "GCC" * 60 + "TAA", "CCT" * 40
    bases = around + gene + around
    values = [0.01] * len(around) + [0.99] * len(gene) + [0.01] * len(around)
    prefix = tracks([("chr2", bases)], {"chr2": values}, {"chr2": [0.01] * len(bases)})
    for strand in ("plus", "minus"):
        shutil.copy("%s.%s.bw" % (prefix, strand), os.path.join(d, "genome.%s.bw" % strand))
    write(d, name, ">chr2\n%s\n" % bases)


def coding_regions(d, name):
    text = "##gff-version 3\nchr2\tx\tCDS\t121\t306\t.\t+\t0\tID=c;Parent=t\n"
    if name.endswith(".gz"):
        os.rename(bgzip(write(fresh(), "x.gff3", text)), os.path.join(d, name))
    else:
        write(d, name, text)


FILES = {
    "genome.fa": genome_with_tracks, "genes.gff3": coding_regions, "refseq.gff3.gz": coding_regions,
    "GRCh38.fa": lambda d, name: write_fasta(os.path.join(d, name), [
        ("chr5", TERT - 600, BASES), ("chr17", BRCA1, BASES), ("chr22", 1, BASES)]),
    "ref.fa": lambda d, name: write_fasta(os.path.join(d, name), [("chr1", 1, BASES[:2400]), ("chr2", 1, BASES[:2400])]),
    "clinvar.vcf.gz": clinvar,
    "cohort.bcf": on_human("chr22", 1), "patients.vcf.gz": on_human("chr17", BRCA1),
    "in.bcf": on_reference, "in.vcf": on_reference, "sorted.vcf.gz": on_reference,
    "a.bcf": on_reference, "b.bcf": on_reference, "c.bcf": on_reference,
    "reads.bam": reads,
    "phased.vcf.gz": phased,
    "scored.bcf": scored, "brca2.bcf": scored, "genes.gff3.gz": genes,
    "transcripts.fa.gz": fasta(300, 421), "promoters.fa": fasta(90, 121), "upstream.fa": fasta(200), "left.fa": fasta(100),
    "starts.fa": fasta(60, 61),
    "plasmid.fa": fasta(40), "plasmids.fa": fasta(120, 240),
    "promoters.bed": lambda d, name: write(d, name, "chr17\t%d\t%d\nchr17\t%d\t%d\n" % (BRCA1, BRCA1 + 300, BRCA1 + 900, BRCA1 + 1300)),
    "cds.fa": lambda d, name: write(d, name, ">g\n" + "ATG" + "GCTGAACTGCGTTCT" * 60 + "TAA\n"),
    "eukaryote.tsv": lambda d, name: write(d, name, "sequence\tlabel\ttype\n%s\t%s\tfish\n%s\t%s\tbird\n" % (
        BASES[:600], BASES[600:630], BASES[700:1300], BASES[1300:1330])),
    "count-tag.c": example_plugin,
    "malinois/": malinois, "tuned/": adapter_with_head, "oligos.fa": fasta(200, 200, 183),
    "Qwen3/": lambda d, name: tokenizer(d, name.rstrip("/")),
}


# ---- pages


def plain(line):
    """A line of an example without the escapes of roff."""
    return re.sub(r"\\(\(aq|.)", lambda m: {"(aq": "'", "-": "-", "e": "\\"}[m.group(1)], line)


def blocks(page):
    """[(first line, text, the reason why it is not run or None)] below EXAMPLES."""
    lines, found, below = read(os.path.join(SOURCE, "man", page)).decode().splitlines(), [], False
    for i, line in enumerate(lines):
        if line.startswith(".SH"):
            below = line == ".SH EXAMPLES"
        elif line == ".EX" and below:
            text = "".join(plain(text) + "\n" for text in lines[i + 1:lines.index(".EE", i)])
            reason = re.fullmatch(r'\.\\" not run by make check: (.+)', lines[i - 1])
            found.append((i + 2, text, reason and reason.group(1)))
    return found


def names(text):
    """The stand-ins that a block names, as wholes: ref.fa is not in my-ref.fa."""
    words = text.replace("$s.bcf", "a.bcf b.bcf c.bcf")
    return [name for name in FILES if re.search(r"(?<![\w./-])%s(?![\w.])" % re.escape(name), words)]


def run_page(page, commands):
    if page == "carbon-serve.1":
        need_server()
    d, env = fresh(), environment(layers=16 if page == "carbon-embed.1" else 2)  # --layer 15
    env["CPATH"] = os.path.join(SOURCE, "plugins")  # where make install puts the header is where compilers look
    for line, text in commands:
        for name in re.findall(r"HuggingFaceBio/\S+", text):
            run_block(page, "hf download " + name, d, env)
        for name in names(text):
            if not os.path.exists(os.path.join(d, name)):
                FILES[name](d, name)
        for program in ("tabix", "cc"):
            if re.search(r"(^|\| *)%s " % program, text, re.M) and shutil.which(program) is None:
                raise Skip(program + " is not installed")
        for task in range(1, 11) if "$SLURM_ARRAY_TASK_ID" in text else [0]:
            run_block("man/%s:%d" % (page, line), text, d, {**env, "SLURM_ARRAY_TASK_ID": str(task)})
    return d


PAGES = sorted(name for name in os.listdir(os.path.join(SOURCE, "man")) if name.endswith((".1", ".5")))

for page in PAGES:
    runnable = [(line, text) for line, text, reason in blocks(page) if reason is None and not text.startswith("#include")]
    if runnable:
        @case(name="the examples of " + page)
        def examples(page=page, runnable=runnable):
            d = run_page(page, runnable)
            if page == "carbon-vep.1":
                count = [len(tool("bcftools", "view", "-H", os.path.join(d, name)).lines()) for name in ("in.bcf", "out.bcf")]
                expect_equal(count[1], count[0], "records of the ten tasks")


@case
def commands_stand_in_examples():
    """A block elsewhere on a page shows a format: no command escapes, and every command has an example."""
    for page in PAGES:
        text = read(os.path.join(SOURCE, "man", page)).decode()
        for body in re.findall(r"^\.EX\n(.*?)^\.EE", text.split(".SH EXAMPLES")[0], re.M | re.S):
            expect(not re.search(r"^(carbon|bcftools|hf|make) ", plain(body), re.M), "man/%s: a command above EXAMPLES:\n%s" % (page, body))
        if page not in ("carbon.1", "carbon-plugin.1"):
            expect(blocks(page), "man/%s has no example" % page)


if __name__ == "__main__":
    main()
