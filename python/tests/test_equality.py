"""Every function has the numbers of its command: texts by their bytes, arrays by theirs; for any threads and neighbours."""

import json
import os
import subprocess
import tempfile
import threading

import numpy as np
import support
from support import GENERATOR, ROOT, SHAPE, TINY, bases, carbon, checkpoint, embeddable, fasta, models, of_letters, raises, sequences

import carbon_dna

LETTERS = "ACGT"


def number(value, digits):
    """As the commands print it."""
    return "." if value != value else "%.*g" % (digits, value)


def score_texts(scores, names, lengths, strand):
    rows = "#name\tstart\tend\tstrand\tn_scored\tsum_logp\tmean_logp\tperplexity\n"
    for name, length, score in zip(names, lengths, scores):
        rows += "\t".join([name, "0", str(length), strand, str(score.n_scored), number(score.sum_logp, 10), number(score.mean_logp, 10),
                           number(score.perplexity, 10)]) + "\n"
    return rows


def test_score_is_carbon_score():
    all_bases = sequences()
    names = ["s%d" % i for i in range(len(all_bases))]
    path = fasta(zip(names, all_bases))
    for folder in models():
        for strand in ("+", "both"):
            wanted = carbon("score", "-m", folder, "--strand", strand, path)
            wanted_bases = carbon("score", "-m", folder, "--strand", strand, "-O", "tsv", path)
            for threads in (1, 2):
                with carbon_dna.Model(folder, threads=threads) as model:
                    scores = model.score(all_bases, strand=strand, probabilities=True)
                assert score_texts(scores, names, map(len, all_bases), strand) == wanted
                rows = "#name\tpos\tbase\tlogp\tentropy\tA\tC\tG\tT\n"
                for name, text, score in zip(names, all_bases, scores):
                    for i, letter in enumerate(text.upper()):
                        if letter in LETTERS:
                            values = [score.logp[i], score.entropy[i], *score.probabilities[i]]
                            rows += "\t".join([name, str(i + 1), letter, *(number(v, 6) for v in values)]) + "\n"
                assert rows == wanted_bases


def test_token_level_is_carbon_score():
    all_bases = [text for text in sequences() if len(text) >= 6]
    names = ["s%d" % i for i in range(len(all_bases))]
    wanted = carbon("score", "-m", TINY, "--level", "token", fasta(zip(names, all_bases)))
    with carbon_dna.Model(TINY) as model:
        scores = model.score(all_bases, level="token")
    assert score_texts(scores, names, map(len, all_bases), "+") == wanted


def variants_of(contig):
    rows = []
    for i in range(0, len(contig) - 60, 61):
        ref = contig[i:i + 1 + i % 3]
        alt = next(letter for letter in LETTERS if letter != ref[0]) if i % 2 else ref + "ACGT"[:1 + i % 4]
        rows.append(("c1", i + 1, ref, alt))
    return rows + [("c1", 9, "ACGTN", "A"), ("c1", 100000, "A", "C")]


def test_variants_are_carbon_vep():
    contig = bases(900, 11)
    path = fasta([("c1", contig)])
    rows = variants_of(contig)
    vcf = support.vcf(rows)
    for folder, recipe, tag in ((TINY, "centered", "CARBON_LLR"), (checkpoint(*SHAPE), "anchored", "CARBON_ALLR"),
                                (TINY, "next-token", "CARBON_NT"), (checkpoint(*support.LETTERS), "centered", "CARBON_LLR"),
                                (checkpoint(*support.LETTERS), "next-token", "CARBON_NT")):
        lines = carbon("vep", "-m", folder, "-f", path, "--recipe", recipe, "-O", "t", "--no-version", "--max-ref-mismatch", "1", vcf)
        head, *table = [line.split("\t") for line in lines.splitlines()]
        column, flags = head.index(tag), head.index("CARBON_FLAG")
        for threads, given in ((1, rows), (2, vcf)):
            with carbon_dna.Model(folder, threads=threads) as model:
                scores = model.variants(path, given, recipe=recipe)
            assert len(scores) == len(table) == len(rows)
            for row, score in zip(table, scores):
                assert row[:5] == [score.chrom, str(score.pos), ".", score.ref, score.alt]
                # A VCF has floats of 32 bits.
                assert row[column] == number(float(np.float32(score.score)), 6), (row, score)
                assert row[flags].replace(".", "") == score.flag, (row, score)


def test_alleles_of_a_record_are_those_of_carbon_vep():
    contig = bases(900, 14)
    path = fasta([("c1", contig)])
    others = [[letter for letter in LETTERS if letter != base] for base in contig]
    # The REF of a record is wrong once, however many alleles it has.
    rows = [("c1", i + 1, contig[i], ",".join(others[i][:n])) for i, n in ((100, 3), (200, 1), (300, 2))]
    rows += [("c1", 401, others[400][0], ",".join(letter for letter in LETTERS if letter != others[400][0])),
             ("c1", 501, contig[500], "*,%s" % others[500][0])]
    vcf = support.vcf(rows)
    for given in (vcf, support.vcf(rows[3:4])):
        lines = carbon("vep", "-m", TINY, "-f", path, "-w", "240", "-O", "t", "--no-version", given).splitlines()
        table = [line.split("\t") for line in lines[1:]]
        with carbon_dna.Model(TINY) as model:
            scores = model.variants(path, given, window=240)
        assert [[s.chrom, str(s.pos), s.ref, s.alt, number(float(np.float32(s.score)), 6), s.flag or "."] for s in scores] == [
            [*row[:2], *row[3:7]] for row in table]
    # Three records are enough, at both doors.
    wrong = support.vcf([("c1", i + 1, others[i][0], "<X>,%s" % contig[i]) for i in (100, 200, 300)])
    message = raises("input", lambda: carbon_dna.Model(TINY).variants(path, wrong))
    assert "REF differs from %s in 3 of 3 variants checked" % path in message, message
    refused = subprocess.run([support.CARBON, "vep", "-m", TINY, "-f", path, "-w", "240", wrong], capture_output=True)
    assert refused.returncode == 1 and b"in 3 of 3 records checked" in refused.stderr, refused.stderr


def test_measures_are_those_of_carbon_vep():
    contig = bases(900, 13)
    path = fasta([("c1", contig)])
    rows = variants_of(contig)
    vcf = support.vcf(rows)
    tags = {"llr": "CARBON_LLR", "l2": "CARBON_L2", "jsd": "CARBON_JSD"}
    for folder in (TINY, checkpoint(*support.LETTERS)):
        for measure in (["llr", "l2", "jsd"], ["jsd"], ["l2", "llr"]):
            lines = carbon("vep", "-m", folder, "-f", path, "--measure", ",".join(measure), "--horizon", "12", "-O", "t", "--no-version",
                           "--max-ref-mismatch", "1", vcf)
            head, *table = [line.split("\t") for line in lines.splitlines()]
            with carbon_dna.Model(folder) as model:
                scores = model.variants(path, rows, measure=iter(measure), horizon=12)
                one = next(model.iter_variants(path, rows, measure=measure, horizon=12))
            assert one == next(iter(scores))
            for row, score in zip(table, scores):
                for word, tag in tags.items():
                    value = score.score if word == "llr" else getattr(score, word)
                    if word in measure:
                        assert row[head.index(tag)] == number(float(np.float32(value)), 6), (row, score)
                    else:
                        assert value is None or value != value, (word, score)
                assert row[head.index("CARBON_FLAG")].replace(".", "") == score.flag, (row, score)
            for word in ("l2", "jsd"):
                assert (getattr(scores, word) is None) == (word not in measure)
    # Without a value there is still a column.
    with carbon_dna.Model(TINY) as model:
        scores = model.variants(path, [("c1", 5, contig[4], contig[4] + "A")], measure=["l2"])
    assert scores.flag.tolist() == ["changes_length"] and np.isnan(scores.l2).all() and scores.jsd is None
    try:
        import pandas  # noqa: F401
    except ImportError:
        return
    assert list(scores.to_pandas()) == ["chrom", "pos", "ref", "alt", "score", "l2", "flag"]


def test_structural_alleles_and_names_of_contigs_are_those_of_carbon_vep():
    contig = bases(900, 12)
    path = fasta([("chr1", contig)])
    ends = [("<DEL>", "END=56"), ("<DUP>", "SVLEN=9"), ("<INV>", "END=58;SVLEN=8"), ("<DEL>", "END=56;IMPRECISE"), ("<DEL>", "."),
            ("<DEL>,<DUP>,A", "SVLEN=-10,10,."), ("<DEL>,<DUP>", "END=56"), ("<DUP>", "SVLEN=7;SVINSSEQ=GAT")]
    lines = ["1\t50\t.\t%s\t%s\t.\t.\t%s" % (contig[49], alt, info) for alt, info in ends]
    head = ["##fileformat=VCFv4.2", "##contig=<ID=1>", "##INFO=<ID=END,Number=1,Type=Integer,Description=\"e\">",
            "##INFO=<ID=SVLEN,Number=A,Type=Integer,Description=\"l\">", "##INFO=<ID=SVINSSEQ,Number=A,Type=String,Description=\"s\">",
            "##INFO=<ID=IMPRECISE,Number=0,Type=Flag,Description=\"i\">",
            "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO"]
    vcf = os.path.join(support.ROOT, "structural.vcf")
    with open(vcf, "w") as file:
        file.write("\n".join(head + lines) + "\n")
    table = [line.split("\t") for line in carbon("vep", "-m", TINY, "-f", path, "-w", "240", "-O", "t", "--no-version",
                                                 "--unify-chr-names=-,chr", vcf).splitlines()[1:]]
    named = [{"chrom": "1", "pos": 50, "ref": contig[49], "alt": alt, "info": dict(part.partition("=")[::2] for part in info.split(";"))}
             for alt, info in ends[:5]]
    # A frame has real numbers where one is missing, and JSON does not tell 56.0 from 56.
    named[0]["info"]["END"] = 56.0
    named[3]["info"]["IMPRECISE"] = True
    short = [{"CHROM": "1", "POS": 50, "REF": contig[49], "ALT": "<DEL>", "END": 56}, {"chrom": "1", "pos": 50, "ref": contig[49],
             "alt": "<DUP>", "svlen": 9}]
    with carbon_dna.Model(TINY) as model:
        for given, wanted in ((vcf, table), (named, table[:5]), (short, table[:2])):
            scores = model.variants(path, given, window=240, unify_chr_names="-,chr")
            assert [(number(float(np.float32(s.score)), 6), s.flag) for s in scores] == [(r[5], r[6].replace(".", "")) for r in wanted], given


def test_scan_is_carbon_scan():
    contig = bases(5000, 12)
    contig = contig[:2000] + "N" * 20 + contig[2020:]
    path = fasta([("c0", "ACGT"), ("c1", contig)])
    for folder in models():
        wanted = carbon("scan", "-m", folder, "-f", path, "-r", "c1:1901-2200", "-O", "t", "--no-version")
        for threads in (1, 2):
            with carbon_dna.Model(folder, threads=threads) as model:
                scan = model.scan(path, "c1:1901-2200")
                whole = model.scan(None, contig)
            assert (scan.chrom, scan.begin, scan.bases) == ("c1", 1900, contig[1900:2200])
            assert scan.logp.tobytes() == whole.logp[1900:2200].tobytes()
            rows = "#CHROM\tPOS\tREF\tALT\tCARBON_SCAN\n"
            for i, letter in enumerate(scan.bases):
                for k, alt in enumerate(LETTERS):
                    if letter in LETTERS and alt != letter:
                        effect = float(np.float32(scan.effects[i, k]))  # as a VCF has them
                        rows += "c1\t%d\t%s\t%s\t%s\n" % (1901 + i, letter, alt, number(effect, 6))
            assert rows == wanted


def test_annotate_is_carbon_annotate():
    folder, contigs = checkpoint(*support.ANNOTATOR), [bases(2000, 5), bases(61, 6), "ACGTN"]
    path = fasta(("s%d" % i, text) for i, text in enumerate(contigs))
    settings = ["-m", folder, "--window", "360", "--overlap", "90", "--no-version"]
    tables = [line.split("\t") for line in carbon("annotate", *settings, "-O", "tsv", path).splitlines()[1:]]
    lines = carbon("annotate", *settings, "--genes", "runs", path).splitlines()
    found = []
    with carbon_dna.Model(folder) as model:
        for i, coding in enumerate(model.annotate(contigs, window=360, overlap=90, gff3=True, genes="runs")):
            assert len(coding.plus) == len(coding.minus) == len(contigs[i])
            rows = [row for row in tables if row[0] == "s%d" % i]
            assert [row[-2:] for row in rows] == [[number(float(value), 6) for value in pair] for pair in zip(coding.plus, coding.minus)]
            found += coding.gff3.replace("sequences%%5B%d%%5D" % i, "s%d" % i).splitlines()
    assert len(tables) == sum(map(len, contigs)) and found == [line for line in lines if line[:1] == "s"] != [], (found, lines)


def test_embed_is_carbon_embed():
    for folder in models():
        all_bases = embeddable(folder)
        path = fasta(("s%d" % i, text) for i, text in enumerate(all_bases))
        for pool, layer, strand in (("last" if of_letters(folder) else "separator", -1, "+"), ("mean", 1, "both"), ("none", -1, "-")):
            stem = os.path.join(tempfile.mkdtemp(dir=ROOT), "out.npy")
            carbon("embed", "-m", folder, "--pool", pool, "--layer", layer, "--strand", strand, "-o", stem, path)
            wanted = np.load(stem)
            for threads in (1, 2):
                with carbon_dna.Model(folder, threads=threads) as model:
                    rows = model.embed(all_bases, pool=pool, layer=layer, strand=strand)
                assert (rows.dtype, rows.shape) == (wanted.dtype, wanted.shape)
                assert rows.tobytes() == wanted.tobytes()
        stem = os.path.join(tempfile.mkdtemp(dir=ROOT), "out.npy")
        carbon("embed", "-m", folder, "-o", stem, path)
        with carbon_dna.Model(folder) as model:
            assert model.embed(all_bases).tobytes() == np.load(stem).tobytes()


def test_generate_is_carbon_generate():
    prompts = [bases(60, 21), bases(25, 22), "ACGT"]
    path = fasta(("p%d" % i, text) for i, text in enumerate(prompts))
    for folder in models():
        sampler = "kmer" if of_letters(folder) else "chain"
        for options in ({"sampler": "kmer"}, {"sampler": sampler, "temperature": 0.7, "top_p": 0.9}, {"greedy": True}):
            args = [word for name, value in options.items()
                    for word in (["--" + name.replace("_", "-")] + ([] if value is True else [value]))]
            wanted = carbon("generate", "-m", folder, "-l", 47, "-n", 2, "--seed", 5, "-L", 0, *args, path)
            for threads in (1, 2):
                with carbon_dna.Model(folder, threads=threads) as model:
                    samples = model.generate(prompts, 47, n=2, seed=5, **options)
                text = "".join(">p%d/%d sample=%d seed=5 length=47 logp=%s\n%s\n" % (
                    s.prompt, s.number + 1, s.number + 1, number(s.logp, 10), s.sequence) for s in samples)
                assert text == wanted, (text, wanted)


def test_metadata_of_a_model_stands_before_prompts_too():
    folder, prompt = checkpoint(*GENERATOR), bases(60, 21)
    path = fasta([("p", prompt)])
    wanted = [carbon("generate", "-m", folder, "-l", 24, "-L", 0, *args, path).splitlines()[1] for args in ((), ("--prefix", "<mam>"))]
    assert wanted[0] != wanted[1]
    with carbon_dna.Model(folder) as model:
        assert [model.generate([prompt], 24, prefix=prefix)[0].sequence for prefix in (None, "<mam>")] == wanted
    with carbon_dna.Model(folder, prefix="<mam>") as model:
        assert [model.generate([prompt], 24, prefix=prefix)[0].sequence for prefix in ("", None)] == wanted


def test_predict_is_carbon_predict():
    folder = checkpoint(*SHAPE, "--labels", "3", "--problem-type", "regression")
    all_bases = embeddable(folder)
    names = ["s%d" % i for i in range(len(all_bases))]
    path = fasta(zip(names, all_bases))
    labels = ["a", "b_scaled", "c"]
    scale = {label: {"mean": 1.25 * i, "std": 0.1 + i} for i, label in enumerate(labels)}
    scale_file = support.write("scale.json", json.dumps(scale))
    makers_file = support.write("run_config.json", json.dumps({"label_transform": {
        label.replace("_scaled", ""): {"center": own["mean"], "scale": own["std"]} for label, own in scale.items()}}))
    with carbon_dna.Model(folder) as model:
        named = ("--labels", ",".join(labels), "--label-scale")
        for args, options in (
                ((), {}), (("--activation", "softmax"), {"activation": "softmax"}),
                (("--strand", "-", "--pool", "last", "--pad-tail"), {"strand": "-", "pool": "last", "pad_tail": True}),
                ((*named, scale_file), {"labels": labels, "label_scale": scale}),
                ((*named, makers_file), {"labels": labels, "label_scale": makers_file})):
            wanted = carbon("predict", "-m", folder, *args, path)
            rows = model.predict(all_bases, **options)
            text = "#name\t" + "\t".join(options.get("labels", model.labels)) + "\n"
            for name, row in zip(names, rows):
                text += name + "".join("\t" + number(value, 9) for value in row) + "\n"
            assert text == wanted, (args, text, wanted)
        for wrong in ({"a": {"mean": 1, "std": 2}}, {label: {"mean": 0, "std": 0} for label in labels}):
            assert "label" in raises("setting", lambda wrong=wrong: model.predict(["ACGTAC"], labels=labels, label_scale=wrong))
        for text in ("nonsense", "[]"):
            path = support.write("scale.json", text)
            assert path in raises("setting", lambda path=path: model.predict(["ACGTAC"], label_scale=path))


def test_the_recipe_head_has_the_values_of_carbon_vep():
    folder = checkpoint(*SHAPE, "--labels", "2", "--problem-type", "regression")
    contig = bases(900, 11)
    path, labels = fasta([("c1", contig)]), ["x", "y"]
    rows = [("c1", i + 1, contig[i], next(letter for letter in LETTERS if letter != contig[i])) for i in range(50, 900, 170)]
    vcf = support.vcf(rows)
    scale = {"x": {"mean": 3, "std": 0.5}, "y": {"mean": -1, "std": 20}}
    lines = carbon("vep", "-m", folder, "-f", path, "--recipe", "head", "-w", "300", "--labels", "x,y", "--label-scale",
                   support.write("scale.json", json.dumps(scale)), "-O", "t", "--no-version", vcf)
    head, *table = [line.split("\t") for line in lines.splitlines()]
    with carbon_dna.Model(folder) as model:
        scores = model.variants(path, rows, recipe="head", window=300, labels=labels, label_scale=scale)
    assert scores.values.shape == (len(rows), 2) and len(table) == len(rows)
    for row, values in zip(table, scores.values):
        assert [row[head.index("CARBON_HEAD_" + label)] for label in labels] == [number(float(np.float32(v)), 6) for v in values]


def test_species_and_gene_type_are_those_of_the_commands():
    folder, prompt = checkpoint(*GENERATOR), bases(60, 21)
    path = fasta([("p", prompt)])
    args = carbon("score", "-m", folder, "--species", "vertebrate_mammalian", path)
    with carbon_dna.Model(folder, species="vertebrate_mammalian", batch_tokens=64) as model:
        score, = model.score([prompt])
    assert number(score.sum_logp, 10) == args.splitlines()[1].split("\t")[5]
    assert args != carbon("score", "-m", folder, path)
    raises("setting", lambda: carbon_dna.Model(folder, prefix="<mam>", species="fungi"))


def test_a_model_of_letters_refuses_by_name_what_it_has_not():
    contig = bases(300, 3)
    row = [("", 100, contig[99], "A" if contig[99] != "A" else "C")]
    with carbon_dna.Model(checkpoint(*support.LETTERS)) as model:
        assert model.description["bases_per_token"] == 1 and "predict" not in model.description["verbs"]
        for words, action in (
                ("recipe anchored", lambda: model.variants(None, row, sequence=contig, recipe="anchored")),
                ("level token", lambda: model.variants(None, row, sequence=contig, level="token")),
                ("phases 6", lambda: model.variants(None, row, sequence=contig, phases="6")),
                ("level chain", lambda: model.scan(None, contig, level="chain")),
                ("frames", lambda: model.scan(None, contig, frames=2)),
                ("level token", lambda: model.score([contig], level="token")),
                ("no token after a sequence", lambda: model.embed(["ACGT"], pool="separator")),
                ("pads no letter", lambda: model.embed(["ACGT"], pad_tail=True)),
                ("sampler chain", lambda: model.generate(["ACGT"], 4, sampler="chain")),
                ("metadata", lambda: model.generate(["ACGT"], 4, prefix="<mam>"))):
            said = raises(("setting", "input", "model"), action)
            assert words in said, (words, said)
        raises("model", lambda: model.predict(["ACGT"]))
        assert "255" in raises("input", lambda: model.embed([contig]))
        assert "215" in raises(("setting", "input"), lambda: model.generate([contig[:40]], 216))
        assert model.variants(None, row, sequence=contig, phases="1").flag[0] == ""


def test_eight_threads_get_what_each_gets_alone():
    all_bases = sequences()
    contig = bases(700, 31)
    path = fasta([("c1", contig)])
    for folder in models():
        with carbon_dna.Model(folder) as model:
            tasks = [lambda: [s.logp.tobytes() for s in model.score(all_bases, strand="both")],
                     lambda: model.variants(path, variants_of(contig)).score.tobytes(),
                     lambda folder=folder: model.embed(embeddable(folder)).tobytes(),
                     lambda: [s.sequence for s in model.generate(["ACGT", bases(70, 1)], 30, n=3)]]
            alone = [task() for task in tasks]
            together = [None] * 8

            def run(i, tasks=tasks, together=together):
                together[i] = tasks[i % 4]()

            threads = [threading.Thread(target=run, args=(i,)) for i in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            for i, got in enumerate(together):
                assert got == alone[i % 4], i
