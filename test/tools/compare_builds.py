#!/usr/bin/env python3
"""Shows that two builds of carbon write the same bytes.

A change that should alter no output, such as a rewritten engine, is checked by running the program before and after it
over one matrix of commands and comparing every file that came out. `run` executes the matrix with one program: models,
threads, batch sizes, data types and instruction sets, and for each of them vep, scan, score, embed, predict, generate,
report and the plugins with the options that matter. It makes its inputs itself, the same ones each time, and writes a folder for each case:
standard output, files of -o, the exit status, and standard error, which is not compared unless asked for. `compare`
reads two such trees and names each difference with its first differing line.

    test/tools/compare_builds.py run old/carbon /tmp/old
    test/tools/compare_builds.py run ./carbon /tmp/new
    test/tools/compare_builds.py compare /tmp/old /tmp/new

It does not test what is right: a run also says which cases ended in another way than they should, but looks at no
number. It needs samtools, bcftools, bgzip and make_checkpoint ($CARBON_MAKE_CHECKPOINT, or that of the program's own
build, or of this repository's). samtools' example reads and Qwen3's tokenizer ($CARBON_SHARED/qwen3) are used if they
are there.
"""
import argparse
import concurrent.futures
import gzip
import itertools
import math
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHARED = os.path.abspath(os.environ.get("CARBON_SHARED", os.path.join(REPOSITORY, "..", "shared")))
EXAMPLES = "/usr/share/doc/samtools/examples"
ISAS = ("avx512_amx", "avx512_bf16", "avx512_vnni", "avx512", "avx2", "generic")
MARK = "made_by_compare_builds"  # in a folder of results: how it was run, once that is complete
INPUT = "../../../input/"  # seen from the folder of a case

DNA = "--vocab=4224 --dna-start=0 "
MODELS = {  # gen32 has the vocabulary of the released models, and so metadata and words
    "gen16": DNA + "--hidden=64 --layers=3 --head-dim=32 --intermediate=128 --max-positions=4096 --dtype=bf16",
    "gen32": "--hidden=32 --layers=2 --heads=2 --kv-heads=1 --head-dim=16 --intermediate=64 --max-positions=4096 --dtype=f32",
    "odd": DNA + "--hidden=60 --layers=3 --heads=3 --kv-heads=3 --head-dim=20 --intermediate=100 --max-positions=2048 "
                 "--dtype=f16 --tied=0 --yarn=2 --shards=3 --seed=7",
    "head": "--hidden=32 --layers=2 --heads=2 --kv-heads=1 --head-dim=16 --intermediate=64 --max-positions=4096 --labels=3",
    "short": DNA + "--hidden=16 --layers=1 --heads=1 --kv-heads=1 --head-dim=16 --intermediate=32 --max-positions=64"}
LAYERS = {"tiny": "6", "head": "2", "gen16": "3", "gen32": "2", "odd": "3"}

# ---- cases -----------------------------------------------------------------------------------------------------------

# A line has a name, two spaces or more, and commands that run one after another in a folder of their own. The variants in
# [] in a name make a case each and stand for [1], [2] and so on behind it; one may be written label=value. A name with !
# is that of a run which must fail. @ is the folder of inputs, and words in capitals are explained by WORDS or the
# configuration. Of several -m, -f, -w, --context and --batch-tokens the last holds. Options follow after #: stdin of the
# first command and copy are inputs, model is used instead of the configuration's, needs is an optional input, equal are
# files that have to be the same, and the first command gets SIGTERM when the file stop has grown.
CASES = """
vep-[centered|next-token|both=centered,next-token]-[plus=+|minus=-|mean=both]  VEP --recipe [1] --strand [2] VARIANTS
vep-type-[v|z9|z0|b|u]                VEP -O [1] VARIANTS
vep-table                             VEP BOTH -O t VARIANTS
vep-file-[vcf|bcf|tsv|tsv.gz]         VEP BOTH -o out.[1] @variants.bcf
vep-index-[vcf.gz|bcf]                VEP -W -o out.[1] @variants.bcf
vep-index-tbi                         VEP -W=tbi -o out.vcf.gz @variants.bcf
vep-window-[12|50]                    VEP -w [1] VARIANTS
vep-window-512                        VEP -w 512 -t c1:1900-2400,c2,gap VARIANTS
vep-defaults                          vep MODEL --no-version -f @ref.fa @few.vcf
vep-defaults-both                     vep MODEL --no-version -f @ref.fa --recipe centered,next-token --strand both -t big:5000 @few.vcf
vep-context-[6|37|1000]               VEP --recipe next-token --strand both --context [1] -t c1:1900-2400,c2,gap,tiny VARIANTS
vep-check-ref                         VEP -c x VARIANTS
vep-prefix                            VEP BOTH --tag-prefix MINE -t c1:1-2200 VARIANTS
vep-again                             VEP -o a.vcf @few.vcf; VEP BOTH a.vcf; VEP --tag-prefix SECOND a.vcf
vep-names-[unify=--unify-chr-names -,chr|map=--chr-map @names.txt]  VEP -f @renamed.fa [1] VARIANTS
vep-packed-reference                  VEP -f @packed.fa.gz VARIANTS
vep-reference-without-index           VEP -f unindexed.fa VARIANTS  # copy=unindexed.fa
vep-stdin-[variants.vcf|variants.vcf.gz|variants.bcf]  VEP -Ou -  # stdin=[1]
vep-no-records                        VEP BOTH @none.vcf
vep-regions-[some=c1:2001-2101,c2,c1:150|variant=c1:2102-2103,gap:30 --regions-overlap variant]  VEP -r [1] @variants.vcf.gz
vep-regions-file-[record|pos]         VEP -R @regions.bed --regions-overlap [1] @variants.bcf
vep-targets-[some=c1:2001-2101,tiny|not=^c1]  VEP -t [1] VARIANTS
vep-targets-file                      VEP -T @regions.bed VARIANTS; VEP -T ^@regions.bed --targets-overlap 2 VARIANTS
vep-regions-and-targets               VEP -r c1 -t c1:2000-2200 @variants.vcf.gz
vep-shard-[1|2|3]                     VEP --shard [1]/3 -Ob @variants.vcf.gz
vep-cache                             VEP CACHE -t c1:1-400 VARIANTS; VEP CACHE -t c1:1-2500 VARIANTS; VEP CACHE -t c1:1-2500 VARIANTS; \
    VEP BOTH -t c1:1-2500 VARIANTS  # equal=stdout2,stdout3,stdout4
vep-resume                            VEP BOTH SMALL -W -o out.bcf -; VEP BOTH --resume -W -o out.bcf @pad.vcf; VEP BOTH -W -o plain.bcf @pad.vcf \
    # stdin=pad.vcf stop=out.bcf.partial equal=out.bcf,plain.bcf
vep-yarn                              VEP BOTH --rope-scaling yarn:4 @few.vcf
vep-odd                               VEP BOTH --strand both VARIANTS  # model=odd
vep-scan-tables                       scan MODEL --no-version -f @ref.fa -o t.tsv.gz -W --context 240 -r c1:1-2500; vep MODEL --no-version --table t.tsv.gz @few.vcf; vep MODEL --no-version -f @ref.fa --table t.tsv.gz --fill @few.vcf
vep-histogram                         VEP -O b --histogram counts.tsv VARIANTS
vep-embeddings                        VEP -o out.vcf --embeddings out.npy @few.vcf
vep-head-[plus=+|mean=both]           VEP --recipe head --strand [1] VARIANTS  # model=head
vep-tags                              VEP --species fungi VARIANTS  # model=gen32
vep-bigwig                            VEP -o out.bw VARIANTS
vep-ex1                               vep MODEL --no-version -f @ex1.fa -Ob BOTH -w 512 @ex1.vcf  # needs=ex1
vep-ex1-defaults                      vep MODEL --no-version -f @ex1.fa @ex1.vcf  # needs=ex1

scan-type-[t|v|z|z9|u|b|bedgraph]     SCAN -O [1]
scan-file-[tsv=out.tsv.gz -W|vcf=out.vcf.gz -W=tbi|bcf=out.bcf -W|bedgraph=out.bg.gz|bigwig=out.bw]  SCAN -o [1]
scan-hub                              SCAN -O bigwig -o hub/out --hub hub --hub-genome here
scan-level-[marginal|chain|first]-[plus=+|minus=-|mean=both]  SCAN --level [1] --strand [2]
scan-frames-[2|3|6]                   SCAN --frames [1] -O bedgraph
scan-selection-[file=-R @regions.bed|targets=-r c1 -t c1:2000-2200,c1:3|not=-T ^@regions.bed -r c1:1-3000]  scan MODEL --no-version -f @ref.fa --context 240 [1]
scan-shard-[1|2]                      SCAN --shard [1]/2
scan-histogram                        SCAN -o out.tsv --histogram counts.tsv
scan-tags                             SCAN --species fungi  # model=gen32

score-[summary|bedgraph|tsv]-[plus=+|minus=-|mean=both]  score MODEL --no-version -O [1] --strand [2] @seqs.fa
score-token-[summary|bedgraph]-[plus=+|minus=-]          score MODEL --no-version --level token -O [1] --strand [2] @seqs.fa
score-window-[96=96 --stride 48|60=60 --stride 60|6=6 --stride 6|300=300 --stride 66|600]  score MODEL --no-version -O bedgraph --strand both --window [1] @seqs.fa
score-token-window       score MODEL --no-version --level token -O bedgraph --strand - --window 96 @seqs.fa
score-contigs            score MODEL --no-version --strand both @ref.fa
score-regions            score MODEL --no-version -O tsv --window 120 -r c1:481-720 -r c2 -r gap:20- -r tiny:-4 -r c1:5,900-7,000 @ref.fa
score-regions-file       score MODEL --no-version -R @regions.bed --strand - @ref.fa
score-packed             score MODEL --no-version -o out.tsv.gz -O tsv @seqs.fa.gz
score-several            score MODEL --no-version -o out.txt @embed.fa @prompts.fa @embed.fa
score-stdin              score MODEL --no-version -O bedgraph -  # stdin=seqs.fa.gz
score-yarn               score MODEL --no-version --rope-scaling yarn:2 -O bedgraph @embed.fa
score-odd                score MODEL --no-version --strand both -O tsv @seqs.fa  # model=odd

embed-[separator|none]-[-1|1|LAST]   embed MODEL --no-version --pool [1] --layer [2] -o out.npy @seqs.fa
embed-[last|mean]-[-1|1|LAST]        embed MODEL --no-version --pool [1] --layer [2] -o out.npy @embed.fa
embed-[separator|last|mean|none]-[tsv=|f16=-o out.tsv.gz --dtype-out f16|minus=--strand - -O npy -o out|\
pad=--pad-tail -o out.npy|half=--dtype-out f16 -o out.safetensors]  embed MODEL --no-version --pool [1] [2] --layer 1 @embed.fa
embed-[separator|last|mean]-both     embed MODEL --no-version --pool [1] --strand both --pad-tail -o out.safetensors @embed.fa
embed-regions                        embed MODEL --no-version -r c1:481-720 -r c2 -r gap:25-90 --pool mean --strand both -o out.npy @ref.fa
embed-regions-file                   embed MODEL --no-version -R @regions.bed @ref.fa
embed-stdin                          embed MODEL --no-version -  # stdin=seqs.fa
embed-contigs                        embed MODEL --no-version --pool mean -o out.npy @ref.fa @embed.fa
embed-odd                            embed MODEL --no-version --pool none -o out.npy @seqs.fa  # model=odd

predict-[separator|last]-[plus=+|minus=-|mean=both]  predict MODEL --no-version --pool [1] --pad-tail --strand [2] @embed.fa  # model=head
predict-regions          predict MODEL --no-version -r c1:481-720 -r c2 --labels x,y,z --activation sigmoid -o out.tsv.gz @ref.fa  # model=head

generate-[kmer|marginal|chain]-[draw=-n 3 --seed 7|greedy=--greedy|hot=-T 1.8|top-p=--top-p 0.5|draft=--draft DRAFT --draft-tokens 3|\
constraint=--constraint NNNRYACGTNNSWKMBDHV|sharp=-n 2 -T 0.7 --top-k 3 --top-p 0.9 --seed 18446744073709551615]  \
    generate MODEL --no-version --sampler [1] [2] -l 47 @prompts.fa
generate-top-k             generate MODEL --no-version -l 30 -n 2 --top-k 20 @prompts.fa
generate-constraint-file   generate MODEL --no-version -l 40 -n 2 --constraint-file @constraint.fa @prompts.fa
generate-constraint-each   generate MODEL --no-version -l 40 --greedy --constraint-file @constraints.fa @prompts.fa
generate-include-prompt    generate MODEL --no-version -l 33 --include-prompt -L 0 @prompts.fa
generate-line-length       generate MODEL --no-version -l 200 -L 17 -o out.fa.gz --include-prompt @prompts.fa
generate-unconditional     generate MODEL --no-version -l 100 -n 5 --unconditional --seed 3
generate-many              generate MODEL --no-version -l 24 -n 40 --seed 5 -o out.fa @prompts.fa
generate-length-[1|5|6|7]  generate MODEL --no-version -l [1] -n 2 @prompts.fa
generate-stdin             generate MODEL --no-version -l 20 -  # stdin=prompts.fa
generate-draft-[1|auto]    generate MODEL --no-version -l 62 -n 3 --seed 2 --draft DRAFT --draft-tokens [1] @prompts.fa
generate-self-[3|auto]     generate MODEL --no-version -l 62 -n 3 -T 0.8 --draft SELF --draft-tokens [1] @prompts.fa
generate-draft-limited     generate MODEL --no-version -l 62 -n 3 --draft SELF --draft-tokens 2 --constraint NNNRYACGTNNSWKMBDHV @prompts.fa
generate-tags-[species=--species vertebrate_mammalian|card=--species fungi --gene-type pseudo_gene --tag-grammar card|\
eval=--species vertebrate_other --gene-type ribosomal_rna --tag-grammar eval|prefix=--prefix <mam>|\
draft=--species plant --draft SELF --draft-tokens 3]  generate MODEL --no-version -l 60 -n 2 [1] @prompts.fa  # model=gen32
generate-odd               generate MODEL --no-version -l 60 -n 2 @prompts.fa  # model=odd

mutagenesis-[snv=--type snv --window 96|next=--recipe next-token --context 60 --strand both]  \
    +mutagenesis MODEL --no-version -o out.vcf.gz @ref.fa -- [1] --regions-file @small.bed --matrix matrix.tsv
mutagenesis-indel          +mutagenesis MODEL --no-version @ref.fa -- --type indel --window 48 --strand + --regions c1:495-512 --regions c2:1-6 \
    --regions tiny --matrix matrix.tsv
niah-[niah|d4=neardup_d4 --sampler marginal|d2=neardup_d2 --sampler chain --seed 9|d1=neardup_d1 --likelihood --depths 0,0.5,1]  \
    +niah MODEL @hay.fa -- --context 110 --rows 6 --write-data data.tsv DETAILS --task [1]; \
    +niah MODEL data.tsv -- --task given --likelihood
perturb-[triplet|syn_human|syn_random]-[bp|token]  +perturb MODEL @cds.fa -- --task [1] --level [2] --write-pairs pairs.tsv DETAILS; \
    +perturb MODEL pairs.tsv -- --task given --max-length 150
recovery-[kmer|marginal|chain]  +recovery MODEL @seqs.fa -- --context 240 --sampler [1] DETAILS
recovery-given             +recovery MODEL -o out.tsv @recovery.tsv -- --task given --context 96 --length 12 --group type
"""
ONCE = """
vep-bundled     vep --threads 2 --progress never --no-version -f @ref.fa -w 96 VARIANTS
auroc-[flag=L --json out.json|words=SIG=Pathogenic,Likely_pathogenic/Benign --seed 4|number=X>0.5 --confidence 0.8]  \
    +auroc @labels.vcf -- --score S --bootstrap 200 --label [1]
auroc-selected  +auroc -o out.tsv -t c1 @labels.vcf -- --score S --label L --bootstrap 0
gene-summary-[bed=@regions.bed|gff=@genes.gff3|all=@genes.gff3 --feature all --name ID --json out.json]  \
    +gene-summary @labels.vcf -- --tag S --regions [1]
report-variants-[plain=--tags S,X|label=--label L --tags S|quick=--bootstrap 0 --label X>0.5 --tags S]  report --no-version --svg svg --multiqc multiqc [1] @labels.vcf
report-bases    scan -f @ref.fa -o t.tsv.gz --no-version --context 240 -r c1:1-900 --progress never; report --no-version --svg svg t.tsv.gz
report-points   embed --no-version --pool mean -o e.npy --progress never @embed.fa; report --no-version --svg svg e.npy
tokenize        tokenize @dna.jsonl; tokenize -m @models/gen16 @dna.jsonl; tokenize --auto-dna-tags -o out.gz @bare.jsonl; \
    tokenize --decode -m @models/gen16 @ids.jsonl; tokenize --decode --skip-special -m @models/gen16 @ids.jsonl
tokenize-text   tokenize -m @models/text @text.jsonl  # needs=qwen3
generate-words  generate -m @models/text --no-version --progress never -l 60 --prefix 'some words <mam>' @prompts.fa  # needs=qwen3
help-[vep|scan|score|embed|predict|annotate|generate|report|serve|models|tokenize|bench|plugin|+auroc|+gene-summary|+genes|+haplotypes|+mutagenesis|+niah|+perturb|+rank|+recovery]  [1] --help
completion-[bash|zsh]     completion [1]
!error-vep-[input=none_here|window-large=-w 99996 @few.vcf|window-odd=-w 97 @few.vcf|recipe=--recipe middle @few.vcf|\
context=--recipe next-token --context 99996 @few.vcf|cut=@cut.vcf.gz|shard=--shard 4/3 @few.vcf|shard-stdin=--shard 1/3 -|\
no-index=-r c1 @few.vcf|contigs=-f @renamed.fa @few.vcf|index=-W @few.vcf|assembly=-w 96 @labels.vcf|check-ref=-c e VARIANTS|\
reference=-f none_here @few.vcf|model=-m none_here @few.vcf|threads=--threads 0 @few.vcf]  vep GEN16 --no-version -f @ref.fa [1]
!error-scan-[type=-O parquet|index=-O bedgraph -W -o out|hub=--hub hub|resume=-O bigwig --resume -o out|shard=-O bigwig --shard 1/2 -o out|\
stream=-O bigwig|name=-o out.csv|other=-O t -o out.bg]  scan -m @models/gen16 --progress never --no-version -f @ref.fa [1]
!error-score-[bad=@bad.fa|window=--window 100 @seqs.fa|stride=--window 96 --stride 102 @seqs.fa|region=-r nowhere:1-10 @ref.fa|\
level=--level token --strand both @seqs.fa]  score GEN16 --no-version [1]
!error-embed-[layer=--layer 4|empty=--pool mean|none=--pool none --strand both]  embed GEN16 --no-version [1] @seqs.fa
!error-embed-stdout       embed -m @models/gen16 --no-version -O npy @seqs.fa
!error-embed-long         embed -m @models/short --no-version -o out.npy @seqs.fa
!error-generate-[length=-l 0|constraint=-l 6 --constraint-file @bad_constraint.fa|tags=-l 6 --species fungi|\
top-k=-l 6 --sampler chain --top-k 5|long=-l 30000]  generate GEN16 --no-version [1] @prompts.fa
!error-generate-empty     generate GEN16 --no-version -l 6 @seqs.fa
!error-plugin-[auroc=+auroc -o out @labels.vcf -- --score S|niah=+niah GEN16 @hay.fa -- --context 20|\
mutagenesis=+mutagenesis GEN16 @ref.fa -- --regions nowhere|none=+nothing]  [1]
!error-command            nothing
!error-tokenize           tokenize -o out @bad.fa
"""
WORDS = {"SCAN": "scan MODEL --no-version -f @ref.fa --context 240 -r c1:1-2500,c2,gap,tiny", "VEP": "vep MODEL --no-version -f @ref.fa -w 96", "VARIANTS": "@variants.vcf", "BOTH": "--recipe centered,next-token --context 120",
         "CACHE": "BOTH --cache scratch.cache", "DETAILS": "--details details.tsv --json out.json",
         "GEN16": "-m @models/gen16 --progress never -o out", "SMALL": "--batch-tokens 64"}
# Cases that run in every configuration, the others only in a few.
CORE = re.compile("vep-(both-|table|window-512|odd)|score-(tsv-mean|token-bedgraph-minus|window-96|contigs$|odd)|embed-(.*--1|last-both|odd)|"
                  "generate-(.*-greedy|.*-draw|kmer-draft|many|self-3|tags-species|tags-draft|odd)|mutagenesis-indel|niah-d1|perturb-triplet-token|"
                  "recovery-marginal")


def table(text, once):
    cases = []
    for line in filter(None, re.sub(r"\\\n *", "", text).split("\n")):
        name, commands, options = re.fullmatch(r"((?:\[[^]]*\]|[^ \[])+)  +(.*?)(?: +# (.*))?", line).groups()
        parts = re.split(r"\[(.*?)\]", name)
        for variant in itertools.product(*(part.split("|") for part in parts[1::2])):
            name, filled = parts[0], [commands, options or ""]
            for i, word in enumerate(variant, 1):
                label, found, value = word.partition("=")
                name += label + parts[2 * i]
                filled = [part.replace("[%d]" % i, value if found else label) for part in filled]
            case = SimpleNamespace(name=name.lstrip("!"), fails=name[0] == "!", steps=filled[0].split("; "), once=once, core=bool(CORE.match(name)),
                                   stdin=None, copy=None, model=None, needs=None, equal="", stop=None)
            vars(case).update(option.split("=", 1) for option in filled[1].split())
            cases.append(case)
    return cases


def configurations(isas, quick):
    """[(name, which cases, model, options, instruction set)]"""
    made = {"once/once": ("once/once", "once", "tiny", "", isas[0])}

    def add(which, isa, model, dtype, threads, batch):
        name = "%s/%s-%s-t%d-%s" % (isa, model, dtype, threads, "b%d" % batch if batch else "default")
        options = "-@ %d --progress never" % threads + (" --dtype " + dtype if dtype != "auto" else "") + (" --batch-tokens %d" % batch if batch else "")
        made.setdefault(name, (name, which, model, options, isa))

    for model, threads, batch in (("tiny", 2, 0), ("tiny", 2, 64), ("gen16", 1, 64), ("gen32", 1, 0))[:2 if quick else 4]:
        add("all", isas[0], model, "auto", threads, batch)
    for model, dtype in itertools.product(("tiny", "gen16", "gen32"), ("f32", "bf16")) if not quick else ():
        for threads, batch in itertools.product((1, 2), (0, 64)):
            add("core", isas[0], model, dtype, threads, batch)
        for isa in isas[1:]:
            add("core", isa, model, dtype, 2, 64 if model == "gen32" else 0)
    return list(made.values())


# ---- input files -----------------------------------------------------------------------------------------------------


def write(path, content):
    with open(path, "wb") as out:
        out.write(content.encode() if isinstance(content, str) else content)


def read(path):
    with open(path, "rb") as f:
        return f.read()


def bases(rng, length, letters="ACGT"):
    return "".join(letters[int(rng.random() * len(letters))] for _ in range(length))


def fasta(records):
    return "".join(">%s\n%s" % (name, "".join(sequence[i:i + 60] + "\n" for i in range(0, len(sequence), 60))) for name, sequence in records)


def other(base, step=1):
    return "ACGT"[("ACGT".index(base) + step) % 4]


HEAD = "##fileformat=VCFv4.2\n" + "".join('##INFO=<ID=%s,Number=%s,Type=%s,Description="%s">\n' % (*field.split(), field) for field in (
    "DP 1 Integer", "AF A Float", "END 1 Integer", "PAD 1 String", "S A Float", "L A Integer", "SIG . String", "X 1 Float"))
HEAD += """##FILTER=<ID=q10,Description="Quality below 10">
##FORMAT=<ID=GT,Number=1,Type=String,Description="Genotype">
##ALT=<ID=DEL,Description="Deletion">
##ALT=<ID=NON_REF,Description="Any other allele">
%s#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\tS1\tS2
"""
CONTIGS = ("c1", "c2", "gap", "tiny", "big", "absent")


def vcf(rows):
    """`rows` are (contig, pos, id, ref, alt, info)."""
    lines = ("%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\tGT\t0/1\t./.\n" % (*row[:5], "99.5" if row[1] % 3 else ".", "PASS" if row[1] % 2 else "q10", row[5]) for row in rows)
    return HEAD % "".join("##contig=<ID=%s>\n" % name for name in CONTIGS) + "".join(lines)


KINDS = (  # name, length of REF, ALT from REF
    ("snv", 1, lambda r: other(r)), ("lower", 1, lambda r: other(r).lower()), ("three", 1, lambda r: ",".join(other(r, s) for s in (1, 2, 3))),
    ("mnv2", 2, lambda r: other(r[0]) + other(r[1])), ("mnv6", 6, lambda r: "".join(map(other, r))), ("mnv3", 3, lambda r: r[0] + other(r[1]) + r[2]),
    ("ins1", 1, lambda r: r + "G"), ("ins6", 1, lambda r: r + "GATTAC"), ("ins13", 1, lambda r: r + "GATTACACATTAG"), ("ins0", 1, lambda r: "T" + r),
    ("del1", 2, lambda r: r[0]), ("del6", 7, lambda r: r[0]), ("del13", 14, lambda r: r[0]), ("del_snv", 4, lambda r: other(r[0])),
    ("mixed", 3, lambda r: "%s,%s,%sTT" % (r[0], r[:2] + other(r[2]), r)), ("complex", 5, lambda r: "TGA"), ("same", 1, lambda r: r),
    ("star", 1, lambda r: other(r) + ",*"), ("only_star", 1, lambda r: "*"), ("symbolic", 1, lambda r: "<DEL>"),
    ("any", 1, lambda r: other(r) + ",<NON_REF>"), ("breakend", 1, lambda r: r + "]c2:50]"), ("single_end", 1, lambda r: r + "."),
    ("alt_n", 1, lambda r: "N,%s,<DEL>" % other(r)), ("no_alt", 1, lambda r: "."), ("long", 1, lambda r: r + "ACGTTGCA" * 8), ("long_del", 60, lambda r: r[0]))


def variants(rng, genome):
    rows, c1 = [], genome["c1"].upper()

    def add(contig, pos, name, ref, alt, info="."):
        rows.append((contig, pos, name, ref, alt, info))

    for start in (101, 4001):
        for i, (name, length, alt) in enumerate(KINDS):
            pos = start + 41 * i
            ref = c1[pos - 1:pos - 1 + length]
            add("c1", pos, name, ref, alt(ref), "END=%d" % (pos + 40) if name == "symbolic" else "DP=%d" % (pos % 50))
    for pos in range(2001, 2014):
        add("c1", pos, "run", c1[pos - 1], other(c1[pos - 1], 1 + pos % 3), "AF=0.25")
    for name, step in (("split1", 1), ("split2", 2), ("split3", 3), ("twice", 3)):  # a site in several records
        add("c1", 2101, name, c1[2100], other(c1[2100], step))
    add("c1", 2101, "split_ins", c1[2100], c1[2100] + "AC")
    add("c1", 2101, "split_del", c1[2100:2104], c1[2100])
    for i in range(24):
        pos, length = 2300 + 20 * i + int(rng.random() * 12), int(rng.random() * 8) + 1
        add("c1", pos, "random", c1[pos - 1:pos - 1 + length], bases(rng, int(rng.random() * 8) + 1))
    add("c1", 0, "zero", "N", "<DEL>")
    add("c1", 2150, "mismatch", other(c1[2149]), c1[2149])
    add("c1", 2160, "iupac", "R", "C")
    add("c1", 2170, "ref_n", "N", "C")
    for contig, places in (("c1", (3001, 3010, 3041, 3052)), ("gap", (30, 31, 60, 271, 280, 300))):  # in and beside runs of N
        for pos in places:
            add(contig, pos, "at_n", genome[contig][pos - 1], "ACGT"[pos % 4] + ",C")
    for contig in ("c1", "c2", "tiny"):
        sequence = genome[contig].upper()
        last = len(sequence)
        for pos in (1, 2, 3, last - 1, last):
            add(contig, pos, "edge", sequence[pos - 1], other(sequence[pos - 1]) + "," + sequence[pos - 1] + "GG")
        add(contig, last - 2, "edge_del", sequence[-3:], sequence[-3])
        add(contig, last, "past", sequence[-1] + "A", "A")
        add(contig, last + 1, "beyond", "A", "C")
    add("absent", 5, "absent", "A", "C,G")
    add("absent", 9, "absent", "AT", "C")
    return sorted(rows, key=lambda row: (CONTIGS.index(row[0]), row[1]))


def labelled(rng):
    for i in range(240):
        alts = 1 + int(rng.random() * 3)
        scores = [round(rng.random() * 8 - 4, 2) for _ in range(alts)]
        labels = ["%d" % (rng.random() < 1 / (1 + math.exp(score))) for score in scores]
        shown = ["." if rng.random() < 0.05 else "%g" % score for score in scores]
        word = ("Benign", "Pathogenic", "Likely_pathogenic", "Uncertain")[int(rng.random() * 4)]
        yield ("c2" if i >= 150 else "c1", 10 + 2 * i, ".", "A" if i % 9 else "AAAA", ",".join("CGT"[:alts]),
               "S=%s;L=%s;SIG=%s;X=%.3f" % (",".join(shown), ",".join(labels), word, rng.random()))


def make_inputs(root, make_checkpoint):
    """The folder `root` with everything that the cases read; returns the names of optional parts that are there."""
    def tool(command):
        done = subprocess.run(["bash", "-o", "pipefail", "-ec", command], cwd=root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, "LC_ALL": "C"})
        if done.returncode:
            sys.exit("%s\n%s" % (command, done.stdout.decode("utf-8", "replace")))

    os.makedirs(os.path.join(root, "models", "tiny"))
    for name in ("config.json", "dna_config.json", "model.safetensors"):
        shutil.copy(os.path.join(REPOSITORY, "models", "carbon-tiny", name), os.path.join(root, "models", "tiny"))
    for name, shape in MODELS.items():
        tool("%s %s models/%s" % (shlex.quote(make_checkpoint), shape, name))

    rng = random.Random(20250101)
    c1, big, long = bases(rng, 6000), bases(rng, 10000), bases(rng, 1803)
    c1 = c1[:500] + c1[500:700].lower() + c1[700:3003] + "N" * 40 + c1[3043:3200] + "RYK" + c1[3203:]
    genome = {"c1": c1, "c2": bases(rng, 731), "gap": "N" * 30 + bases(rng, 241) + "N" * 7 + bases(rng, 22) + "acgtn", "tiny": "ACGTTGA", "big": big}
    rows = variants(rng, genome)
    few = [row for row in rows if row[0] == "c1" and 2010 <= row[1] <= 2011]
    few += [("big", p, "big", big[p - 1:p - 1 + n], other(big[p - 1], 1 + p % 3) + more, ".") for p, n, more in
            ((3, 1, ""), (5000, 1, ",TT"), (9999, 2, "A"))]
    sequences = [("s600", bases(rng, 600)), ("s601", bases(rng, 601)), ("lower", bases(rng, 203, "ACGTacgt")), ("repeat", bases(rng, 12) * 20 + "AC"),
                 ("unknown", bases(rng, 90) + "N" * 25 + bases(rng, 47, "ACGTNRYKM") + bases(rng, 65)), ("same1", long[:317]),
                 ("same2", long[:317]), ("same1", long[:317]), ("prefix", long[:204]), ("long", long), ("six", "acgtac"), ("n", "N" * 31)]
    prompts = [("p120", bases(rng, 120)), ("p77", bases(rng, 77)), ("mixed", "acgtnnRYACGTACGTACG"), ("short", "A"), ("p301", bases(rng, 301)), ("tail", "ACGTACGTRN")]
    cds = [("cds%d" % i, "ATG" + bases(rng, 80 + 37 * i)) for i in range(9)]
    files = {
        "ref.fa": fasta(genome.items()), "unindexed.fa": fasta(genome.items()), "renamed.fa": fasta(("chr" + name, s) for name, s in genome.items()),
        "names.txt": "".join("%s\tchr%s\n" % (name, name) for name in genome), "variants.vcf": vcf(rows), "few.vcf": vcf(few), "none.vcf": vcf([]),
        "pad.vcf": vcf([("c1", p, "pad", c1[p - 1], other(c1[p - 1]), "PAD=" + "x" * 1000) for p in range(3300, 3400)]),
        "labels.vcf": vcf(labelled(rng)), "small.bed": "c1\t495\t530\ta\nc2\t30\t60\tb\ngap\t20\t45\tc\n",
        "regions.bed": "c1\t100\t900\ta\t0\t+\nc2\t0\t300\tb\t0\t-\nc1\t2000\t2010\n",
        "genes.gff3": "##gff-version 3\n" + "".join("%s\tx\t%s\t%d\t%d\t.\t%s\t.\t%s\n" % line for line in (
            ("c1", "gene", 1, 120, "+", "ID=g1;Name=First"), ("c1", "mRNA", 10, 90, "+", "ID=t1;Parent=g1"), ("c1", "gene", 100, 301, "-", "ID=g2;gene=Second"),
            ("c2", "gene", 300, 500, ".", "ID=g3"), ("c3", "gene", 1, 9, "+", "ID=g4"))),
        "embed.fa": fasta(sequences[:8] + sequences[-2:]), "prompts.fa": fasta(prompts), "constraint.fa": fasta([("c", "RYNNNNACGTSWKMBDHVN")]),
        "seqs.fa": fasta(sequences + [("empty", ""), ("one", "G"), ("five", "ACGTA"), ("seven", "ACGTACG"), ("tail", "ACGTACNNN"), ("last_n", "ACGTACGTN")]),
        "constraints.fa": fasta((name, bases(rng, 3 + 7 * i, "ACGTRYSWKMBDHVN")) for i, (name, _) in enumerate(prompts)),
        "cds.fa": fasta(cds + [("n", cds[8][1][:80] + "NNRY" + cds[8][1][84:]), ("lower", cds[7][1].lower()), ("short", "ATGAAA")]),
        "hay.fa": fasta([("h1", bases(rng, 700) + "NN" + bases(rng, 1300)), ("h2", bases(rng, 400, "ACGTacgt")), ("h3", "ACGNNACGT")]),
        "recovery.tsv": "name\ttype\tsequence\tlabel\n" + "".join("r%d\t%s\t%s\t%s\n" % (i, "ab"[i % 2], bases(rng, 40 + 31 * i), bases(rng, 12)) for i in range(8)),
        "dna.jsonl": '"<dna>ACGTACgtacgtNACGTAC ACG</dna>"\n"<dna></dna>"\n"ACG</dna><dna>ttttttA"\n"<dna> ACGTAC "\n', "ids.jsonl": "[0,3,4,100,2,4098,1]\n[]\n[5]\n",
        "bare.jsonl": '"ACGTACG"\n"nnnnnnACGTAC"\n""\n', "text.jsonl": '"<plant_species><dna>ATCGAT</dna> some words, 42\\n"\n"caf\\u00e9 <dna>ACG"\n',
        "bad.fa": ">x\nACGT\nAC\x01GT\n", "bad_constraint.fa": fasta([("x", "AC*")])}
    for name, content in files.items():
        write(os.path.join(root, name), content)
    tool("samtools faidx ref.fa; samtools faidx renamed.fa; bgzip -c ref.fa > packed.fa.gz; samtools faidx packed.fa.gz; bgzip -c seqs.fa > seqs.fa.gz;"
         "bgzip -c variants.vcf > variants.vcf.gz; bcftools index variants.vcf.gz; head -c 1200 variants.vcf.gz > cut.vcf.gz;"
         "bcftools view --no-version -Ob -o variants.bcf variants.vcf; bcftools index variants.bcf")
    optional = set()
    if os.path.exists(EXAMPLES + "/ex1.fa") and os.path.exists(EXAMPLES + "/ex1.sam.gz"):
        optional.add("ex1")
        tool("cp %s/ex1.fa .; samtools faidx ex1.fa; samtools view -u -t ex1.fa.fai %s/ex1.sam.gz | samtools addreplacerg --no-PG -u -r 'ID:NA18507\\tSM:NA18507' - |"
             "bcftools mpileup --no-version -Ou -f ex1.fa - | bcftools call --no-version -mv -o ex1.vcf --ploidy 2" % (EXAMPLES, EXAMPLES))
    if os.path.exists(os.path.join(SHARED, "qwen3", "merges.txt")):
        optional.add("qwen3")
        tool("cp -r models/gen32 models/text; cp %s/qwen3/vocab.json %s/qwen3/merges.txt models/text" % (shlex.quote(SHARED), shlex.quote(SHARED)))
    return optional


# ---- running ---------------------------------------------------------------------------------------------------------


def finished(args, given, common):
    """Exit status of a run, 124 if it lasts too long."""
    with open(given, "rb") as stdin:
        try:
            return subprocess.run(args, stdin=stdin, timeout=300, **common).returncode
        except subprocess.TimeoutExpired:
            return 124


def interrupted(args, given, partial, common):
    """Exit status after SIGTERM, sent when some scores are in the partial file. The pipe stays open, so that the run cannot
    end by itself."""
    with subprocess.Popen(["bash", "-c", 'cat "$0"; exec sleep 100', given], stdout=subprocess.PIPE) as feeder:
        process = subprocess.Popen(args, stdin=feeder.stdout, **common)
        feeder.stdout.close()
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and process.poll() is None and not (os.path.exists(partial) and os.path.getsize(partial) > 1500):
            time.sleep(0.002)
        process.terminate()
        feeder.kill()
        try:
            return process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            return 124


class Runner:
    def __init__(self, program, out):
        self.program, self.out = os.path.abspath(program), os.path.abspath(out)
        scratch = os.path.join(self.out, "tmp")
        # What a user's environment holds must not change an output.
        self.env = {name: value for name, value in os.environ.items() if not name.startswith(("CARBON", "HF_", "XDG_"))}
        self.env.update(LC_ALL="C", TMPDIR=scratch, HOME=scratch, XDG_CACHE_HOME=scratch, XDG_DATA_HOME=scratch)
        os.makedirs(scratch)

    def supports(self, isa):
        return subprocess.run([self.program, "--version"], env={**self.env, "CARBON_FORCE_ISA": isa}, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode == 0

    def arguments(self, step, model, options):
        words = {**WORDS, "MODEL": "-m @models/%s %s" % (model, options.replace("-@", "--threads")), "SELF": "@models/" + model,
                 "DRAFT": "@models/" + ("tiny" if model == "gen16" else "gen16"), "LAST": LAYERS.get(model)}
        for _ in range(2):  # words may hold words
            step = re.sub("[A-Z]+[0-9]*", lambda word: words.get(word[0], word[0]), step)
        args = shlex.split(step.replace("@", INPUT))
        for flag in ("-m", "-f", "-w", "--context", "--batch-tokens"):
            while args.count(flag) > 1 and "--" not in args:  # the last one holds
                del args[args.index(flag):args.index(flag) + 2]
        return [self.program] + args

    def run(self, case, config):
        """Runs a case in its folder; returns what is wrong with how it ended, or ''."""
        name, _, model, options, isa = config
        folder = os.path.join(self.out, name, case.name)
        os.makedirs(folder)
        if case.copy:
            shutil.copy(os.path.join(self.out, "input", case.copy), folder)
        statuses = []
        for i, step in enumerate(case.steps):
            end = str(i + 1) if len(case.steps) > 1 else ""
            given = os.path.join(self.out, "input", case.stdin) if case.stdin and i == 0 else os.devnull
            with open(os.path.join(folder, "stdout" + end), "wb") as out, open(os.path.join(folder, "stderr" + end), "wb") as err:
                common = dict(cwd=folder, env={**self.env, "CARBON_FORCE_ISA": isa}, stdout=out, stderr=err)
                args = self.arguments(step, case.model or model, options)
                statuses.append(interrupted(args, given, os.path.join(folder, case.stop), common) if case.stop and i == 0 else finished(args, given, common))
        write(os.path.join(folder, "exit"), "".join("%d\n" % status for status in statuses))
        for left in os.listdir(folder):
            if left.startswith("scratch."):  # the bytes of a database depend on more than its content
                os.remove(os.path.join(folder, left))
        if statuses != ([1] if case.fails else [143] * bool(case.stop) + [0] * (len(case.steps) - bool(case.stop))):
            return "exit status %s" % " ".join(map(str, statuses))
        # What was computed before the error is kept in FILE.partial.
        if case.fails and any(left.startswith("out") and ".partial" not in left for left in os.listdir(folder)):
            return "an output of a run that failed"
        contents = {read(os.path.join(folder, same)) for same in filter(None, case.equal.split(","))}
        return case.equal + " differ" if len(contents) > 1 else ""


def command_run(options):
    folder = os.path.dirname(os.path.abspath(options.program))
    makers = [os.environ.get("CARBON_MAKE_CHECKPOINT", "")] + [os.path.join(where, "make_checkpoint") for where in (folder, folder + "/build", REPOSITORY + "/build")]
    maker = next((os.path.abspath(path) for path in makers if path and os.access(path, os.X_OK)), None)
    for there, what in ((os.access(options.program, os.X_OK), options.program), (maker, "make_checkpoint"), *((shutil.which(name), name) for name in ("samtools", "bcftools", "bgzip"))):
        if not there:
            sys.exit("%s is missing" % what)
    if os.path.isdir(options.out) and os.listdir(options.out):
        if not os.path.exists(os.path.join(options.out, MARK)):
            sys.exit("%s is there and was not made by this program" % options.out)
        shutil.rmtree(options.out)
    os.makedirs(os.path.join(options.out, "input"))
    write(os.path.join(options.out, MARK), "")
    begun = said = time.monotonic()
    runner = Runner(options.program, options.out)
    isas = options.isas.split(",") if options.isas else [isa for isa in ISAS if runner.supports(isa)]
    for isa in isas:
        if not runner.supports(isa):
            sys.exit("%s does not run with CARBON_FORCE_ISA=%s here" % (options.program, isa))
    optional = make_inputs(os.path.join(options.out, "input"), maker)
    tasks = []
    for config in configurations(isas, options.quick):
        for case in table(CASES, False) + table(ONCE, True):
            chosen = case.once if config[1] == "once" else not case.once and (config[1] == "all" or case.core)
            chosen = chosen and (not case.model or config[2] == "tiny")  # with a model of its own the others would repeat it
            if chosen and (not case.needs or case.needs in optional) and re.search(options.only, config[0] + "/" + case.name):
                tasks.append((case, config))
    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for number, ((case, config), trouble) in enumerate(zip(tasks, pool.map(lambda task: runner.run(*task), tasks)), 1):
            if trouble:
                wrong += 1
                print("UNEXPECTED %s/%s: %s" % (config[0], case.name, trouble), flush=True)
            if time.monotonic() > said + 20:
                said = time.monotonic()
                print("%d of %d cases, %.0f s" % (number, len(tasks), said - begun), file=sys.stderr, flush=True)
    shutil.rmtree(os.path.join(options.out, "tmp"))
    write(os.path.join(options.out, MARK), "%s %s %r\n" % ("quick" if options.quick else "full", ",".join(isas), options.only))
    print("%d cases, %d ended unexpectedly, %.0f s" % (len(tasks), wrong, time.monotonic() - begun))
    return 1 if wrong or not tasks else 0


# ---- comparing -------------------------------------------------------------------------------------------------------


def results(root):
    """{case: {file: path}}, the inputs being a case as well."""
    found = {}
    for where, _, files in os.walk(root):
        case = os.path.relpath(where, root)
        for name in files if case != "." else ():
            top = "input" if case.split(os.sep)[0] == "input" else case
            path = os.path.join(where, name)
            found.setdefault(top, {})[os.path.relpath(path, os.path.join(root, top))] = path
    return found


def difference(one, two):
    """Where two different contents differ first, in words."""
    note = ""
    if one[:2] == two[:2] == b"\x1f\x8b":
        try:
            unpacked = gzip.decompress(one), gzip.decompress(two)
        except (OSError, EOFError):
            unpacked = one, two
        if unpacked[0] == unpacked[1]:
            return "the same when decompressed"
        (one, two), note = unpacked, "decompressed, "
    at = next((i for i, (a, b) in enumerate(zip(one, two)) if a != b), min(len(one), len(two)))
    if b"\0" in one[:4096] or b"\0" in two[:4096]:
        return "%sbyte %d: %s and %s" % (note, at, one[at:at + 16].hex(" ") or "the end", two[at:at + 16].hex(" ") or "the end")
    start = one.rfind(b"\n", 0, at) + 1
    shown = max(start, at - 60)
    lines = [content[shown:].split(b"\n", 1)[0][:160].decode("utf-8", "replace") if start < len(content) else "(no such line)" for content in (one, two)]
    return "%sline %d\n    %s" % (note, one[:at].count(b"\n") + 1, "\n    ".join(("..." if shown > start else "") + line for line in lines))


def command_compare(options):
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # for a pipe into head
    roots = options.one, options.two
    for root in roots:
        if not os.path.exists(os.path.join(root, MARK)) or not read(os.path.join(root, MARK)):
            sys.exit("%s holds no complete run" % root)
    if len({read(os.path.join(root, MARK)) for root in roots}) > 1:
        print("The two were run with different options or instruction sets.")
    one, two = map(results, roots)
    same = different = missing = 0
    for case in sorted(one.keys() | two.keys()):
        if case not in one or case not in two:
            missing += 1
            print("MISSING %s in %s" % (case, roots[case in one]))
            continue
        good = True
        for name in sorted(one[case].keys() | two[case].keys()):
            if name.startswith("stderr") and not options.stderr:
                continue
            if name not in one[case] or name not in two[case]:
                what = "%s is in %s only" % (name, roots[name not in one[case]])
            else:
                contents = read(one[case][name]), read(two[case][name])
                what = "" if contents[0] == contents[1] else "%s, %s" % (name, difference(*contents))
            if what:
                good = False
                print("DIFFERENT %s: %s" % (case, what))
        same, different = same + good, different + (not good)
    print("%d same, %d different, %d missing" % (same, different, missing))
    return 1 if different or missing or not same else 0


def main():
    parser = argparse.ArgumentParser(description="Show that two builds of carbon write the same bytes")
    commands = parser.add_subparsers(required=True, metavar="run|compare")
    run = commands.add_parser("run", help="run the matrix with one program")
    run.add_argument("program", metavar="CARBON")
    run.add_argument("out", metavar="OUTDIR", help="made, or replaced if it was made by this program")
    run.add_argument("--quick", action="store_true", help="carbon-tiny, two threads and the first instruction set only")
    run.add_argument("--jobs", type=int, default=1, help="cases at a time (default: 1)")
    run.add_argument("--isas", help="instruction sets, the main one first (default: all that this machine has)")
    run.add_argument("--only", default="", metavar="PATTERN", help="regular expression to be found in CONFIGURATION/CASE")
    run.set_defaults(run=command_run)
    compare = commands.add_parser("compare", help="compare the files of two runs")
    compare.add_argument("one", metavar="DIR1")
    compare.add_argument("two", metavar="DIR2")
    compare.add_argument("--stderr", action="store_true", help="compare standard error as well")
    compare.set_defaults(run=command_compare)
    options = parser.parse_args()
    sys.exit(options.run(options))


if __name__ == "__main__":
    main()
