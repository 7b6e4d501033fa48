"""What score, embed and generate say in their output of the run that made it: program, command line and model."""

import json
import os
import re
import shutil
import signal
import struct
import subprocess

import numpy as np

from harness import (CARBON, DATA, ENV, SHARED, Skip, carbon, case, command, data, decompress, expect, expect_equal, expect_failure, fresh, main, model,
                     ok, read, tool, tree, write)

MINI = os.path.join(DATA, "mini.vcf")

# What each writes as text, and what of its settings changes values.
TABLES = {"score": (["score"], ["score", "-O", "tsv"], ["score", "-O", "bedgraph"]),
          "embed": (["embed"], ["embed", "--pool", "none"])}
CHANGES = {"score": (["--strand", "-"], ["--level", "token"], ["--window", "60"], ["--window", "60", "--stride", "18"], ["--dtype", "f32"],
                     ["--rope-scaling", "yarn:2"]),
           "embed": (["--pool", "mean"], ["--layer", "1"], ["--strand", "both"], ["--pad-tail"], ["--dtype-out", "f16"],
                     ["--dtype", "f32"]),
           "generate": (["--seed", "2"], ["-T", "0.7"], ["--top-k", "3"], ["--top-p", "0.5"], ["--greedy"], ["--sampler", "chain"],
                        ["--constraint", "RY"], ["--avoid", "GAATTC"], ["--gc", "40-60"], ["--max-homopolymer", "4"],
                        ["--no-stop", "1"], ["-l", "13"], ["--dtype", "f32"])}
DATE = re.compile(r"; Date=[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$")


def header(text):
    """The lines that begin with ##, which stand before all others."""
    lines = text.splitlines()
    count = next((i for i, line in enumerate(lines) if not line.startswith("##")), len(lines))
    expect(not any(line.startswith("##") for line in lines[count:]), "a header line after the first other line")
    return lines[:count]


def fields(line):
    """{name: value} of a line of a model, by its form: KEY=VALUE with commas between, values perhaps in quotation marks."""
    inside = re.fullmatch(r"##carbon_\w+Model=<(.*)>", line).group(1)
    found = re.findall(r'(\w+)=("(?:[^"\\]|\\.)*"|[^",<>\s]+)(?:,|$)', inside)
    expect_equal(",".join("%s=%s" % pair for pair in found), inside, "the form of the line")
    return {name: re.sub(r"\\(.)", r"\1", value[1:-1]) if value.startswith('"') else value for name, value in found}


def beside(name, *args, **options):
    """The JSON beside a matrix or a FASTA."""
    d = fresh()
    ok(*args, "-o", os.path.join(d, name), **options)
    return json.loads(read(os.path.join(d, "out.json")))


def generated(*args, **options):
    return beside("out.fa", "generate", "-m", model(), *([] if "-l" in args else ["-l", "12"]), *args, data("mini.fa"), **options)


@case
def tables_begin_with_program_command_and_model():
    for name, runs in TABLES.items():
        for run in runs:
            path = data("mini.fa")
            text = ok(*run, "-m", model(), "-q", path, dated=True).text
            version, line, of_model = header(text)
            number = ok("--version").lines()[0].split()[1]
            expect(re.fullmatch(r"##carbon_%sVersion=%s\+htslib-[\d.]+" % (name, re.escape(number)), version), version)
            said = " ".join([*run, "-m", model(), "-q", path])
            expect(line.startswith("##carbon_%sCommand=%s; Date=" % (name, said)) and DATE.search(line), line)
            expect(of_model.startswith("##carbon_%sModel=<ID=%s,Model=" % (name, {"score": "logp", "embed": "embeddings"}[name])), of_model)
            bare = ok(*run, "-m", model(), "-q", "--no-version", path, dated=True).text
            expect_equal(header(bare), [of_model], "with --no-version")
            expect_equal(bare.splitlines()[1:], text.splitlines()[3:], "the rest")
            named = os.path.join(fresh(), "x.gz")
            ok(*run, "-m", model(), "-o", named, path)
            expect_equal(decompress(read(named)).decode(), bare, "a file")


@case
def the_model_line_has_what_values_depend_on():
    path = data("mini.fa")
    lines = {name: lambda *more, n=name: header(ok(n, "-m", model(), *more, path).text)[0] for name in TABLES}
    lines["generate"] = lambda *more: json.dumps(generated(*more, "--no-version", dated=True)["carbon_generateModel"])
    for name, line in lines.items():
        plain = line()
        for more in ([], ["-@", "1"], ["--batch-tokens", "7"], ["-q"]):
            expect_equal(line(*more), plain, "%s with %s" % (name, more))
        seen = {plain}
        for more in CHANGES[name]:
            changed = line(*(more if name != "score" or "token" not in more else [*more, "-O", "bedgraph"]))
            expect(changed not in seen, "%s: %s gives %s again" % (name, more, changed))
            seen.add(changed)
    expect(header(ok("score", "-m", model(seed=3), path).text) != header(ok("score", "-m", model(), path).text), "another model")
    of_score = fields(header(ok("score", "-m", model(), "--window", "60", path).text)[0])
    expect_equal(list(of_score), ["ID", "Model", "SHA256", "Dtype", "Device", "Level", "Strand", "Window", "Stride"], "fields")
    expect_equal([of_score[n] for n in ("Dtype", "Level", "Strand", "Window", "Stride")], ["bf16", "bp", "+", "60", "30"], "values")
    of_embed = fields(header(ok("embed", "-m", model(), "--pad-tail", path).text)[0])
    expect_equal(list(of_embed)[5:], ["Pool", "Layer", "Strand", "PadTail", "DtypeOut"], "fields")
    of_generate = generated("--top-p", "0.9", "--seed", "7")["carbon_generateModel"]
    expect_equal(list(of_generate)[5:], ["Length", "Sampler", "Temperature", "TopK", "TopP", "Seed", "Constraint", "Bounds"], "fields")
    expect_equal((of_generate["TopP"], of_generate["Seed"]), ("0.9", "7"), "values")


@case
def npy_and_fasta_have_json_beside_them():
    for args in (["embed", "-m", model()], ["generate", "-m", model(), "-l", "12"]):
        name = args[0]
        d, out = fresh(), {"embed": "out.npy", "generate": "out.fa.gz"}[name]
        ok(*args, "-o", out, data("mini.fa"), dated=True, cwd=d)
        found = json.loads(read(d + "/out.json"))
        expect_equal(list(found), ["carbon_%s%s" % (name, end) for end in ("Version", "Command", "Model")], "keys")
        expect(found["carbon_%sCommand" % name].startswith("%s -m " % name) and DATE.search(found["carbon_%sCommand" % name]), "command")
        expect(found["carbon_%sModel" % name]["SHA256"] and found["carbon_%sModel" % name]["Dtype"] == "bf16", "model")
        expect_equal(sorted(os.listdir(d)), sorted([out, "out.json"] + ["out.names.tsv"] * (name == "embed")), "files")
        bare = beside(out, *args, "--no-version", data("mini.fa"), dated=True)
        expect_equal(bare, {"carbon_%sModel" % name: found["carbon_%sModel" % name]}, "with --no-version")
    # The same fields as in the table of the same run.
    line = header(ok("embed", "-m", model(), data("mini.fa")).text)[0]
    expect_equal(beside("out.npy", "embed", "-m", model(), data("mini.fa"))["carbon_embedModel"], fields(line), "matrix and table")
    for name in ("out", "out.fasta", "out.FNA.bgz", "out.fa"):
        expect_equal(beside(name, "generate", "-m", model(), "-l", "6", data("mini.fa"))["carbon_generateModel"]["Length"], "6", name)
    # A stream has no place for it, and the records are those of before.
    d = fresh()
    for output in ([], ["-o", "-"], ["-o", "/dev/stdout"]):
        text = ok("generate", "-m", model(), "-l", "6", *output, data("mini.fa"), cwd=d).text
        expect(text.startswith(">c1 sample=1 seed=0 length=6 logp=") and "carbon" not in text, "records")
    expect_equal(os.listdir(d), [], "files of a stream")


def metadata_of(content):
    length, = struct.unpack("<Q", content[:8])
    return json.loads(content[8:8 + length].decode())["__metadata__"], 8 + length


@case
def safetensors_have_it_as_metadata():
    d = fresh()
    ok("embed", "-m", model(), "-o", d + "/x.safetensors", data("mini.fa"), dated=True)
    found, begin = metadata_of(read(d + "/x.safetensors"))
    expect_equal(list(found), ["carbon_embedVersion", "carbon_embedCommand", "carbon_embedModel"], "keys")
    expect(all(isinstance(value, str) for value in found.values()), "a value that is no string")
    expect_equal("##carbon_embedModel=" + found["carbon_embedModel"], header(ok("embed", "-m", model(), data("mini.fa")).text)[0], "model")
    expect_equal(begin % 64, 0, "where the numbers begin")
    expect_equal(sorted(os.listdir(d)), ["x.names.tsv", "x.safetensors"], "files")
    ok("embed", "-m", model(), "-o", d + "/y.safetensors", data("mini.fa"))
    expect_equal(list(metadata_of(read(d + "/y.safetensors"))[0]), ["carbon_embedModel"], "with --no-version")
    ok("embed", "-m", model(), "-o", d + "/x.npy", data("mini.fa"))
    content = read(d + "/x.safetensors")
    expect(content[begin:] == np.load(d + "/x.npy").tobytes(), "the numbers")
    code = "import safetensors; f = safetensors.safe_open(%r, 'numpy'); print(sorted(f.metadata()), f.get_tensor('embeddings').shape)"
    if command(["python3", "-c", "import safetensors"]).rc != 0:
        raise Skip("the Python package safetensors is not installed; the file was read by the format's description")
    expect_equal(tool("python3", "-c", code % (d + "/x.safetensors")).text, "%s %s\n" % (sorted(found), np.load(d + "/x.npy").shape), "read")


@case
def hostile_command_lines():
    """Quotation marks, line breaks and bytes that are no UTF-8: one line of a table each, and JSON that can be read."""
    for odd in (b"a'b\"c\\d.fa", b"a\nb\r\x0b\x1cc\td.fa", b"\xff\xfe\xc3.fa", "\u00e9\u2028.fa".encode(), b"<a,b>=%0A.fa"):
        d = fresh().encode()
        shutil.copy(data("mini.fa"), os.path.join(d, odd))
        path = os.fsdecode(os.path.join(d, odd))
        lines = ok("score", "-m", model(), path, dated=True).out.split(b"\n")
        expect_equal([line.split(b"=")[0] for line in lines[:4]],
                     [b"##carbon_scoreVersion", b"##carbon_scoreCommand", b"##carbon_scoreModel",
                      b"#name\tstart\tend\tstrand\tn_scored\tsum_logp\tmean_logp\tperplexity"], "lines")
        expect(not any(byte < 32 and byte != 9 for line in lines for byte in line), "a control character in a line")
        shown = bytes(32 if byte < 32 and byte != 9 else byte for byte in os.fsencode(path))
        expect(shown in lines[1], "the path in %r" % lines[1])
        for command_line, name in ((["embed"], "x.npy"), (["embed"], "x.safetensors"), (["generate", "-l", "6"], "y.fa")):
            ok(*command_line, "-m", model(), "-o", name, path, dated=True, cwd=d)
            found = metadata_of(read(d + b"/x.safetensors"))[0] if "safe" in name else json.loads(read(os.path.join(d, name[:1].encode() + b".json")).decode())
            text = found["carbon_%sCommand" % command_line[0]]
            expect(shown.decode("utf-8", "replace") in text, "%r has no %r" % (text, shown))


@case
def hostile_metadata_texts():
    """A text that is said to the model stays on one line, and different texts give different lines."""
    if not os.path.isdir(os.path.join(SHARED, "qwen3")):
        raise Skip("../shared/qwen3 is not there")
    checkpoint, seen = model(vocab=155776, dna_start=-1), set()
    for name in ("vocab.json", "merges.txt"):
        shutil.copy(os.path.join(SHARED, "qwen3", name), checkpoint)
    for text in ("some words", 'a"b', "a\\b", 'a\\"b', "a\nb", "a\r\nb", "a b", "a%0Ab", "a,b=<c>", '">'):
        for args in (["score"], ["embed"], ["vep", "--no-version", "-w", "12", "-f", data("mini.fa")], ["generate", "-l", "6"]):
            if args[0] == "generate":
                d = fresh()
                ok(*args, "-m", checkpoint, "--prefix", text, "-o", d + "/x.fa", data("mini.fa"))
                given = json.loads(read(d + "/x.json"))["carbon_generateModel"]["Metadata"]
                line = args[0] + given
            else:
                lines = ok(*args, "-m", checkpoint, "--prefix", text, MINI if args[0] == "vep" else data("mini.fa")).text.split("\n")
                line, = [line for line in lines if line.startswith("##carbon_")]
                given = fields(line)["Metadata"]
            expect_equal(given, re.sub("[\n\r%]", lambda c: "%%%02X" % ord(c[0]), text), args[0])
            expect(line not in seen, "%r again" % line)
            seen.add(line)


@case
def a_failed_run_leaves_no_json():
    bad = write(fresh(), "in.fa", ">a\nACGTACGTAC\n>bad\nACG!AC\n")
    for args, name, left in ((["embed"], "x.npy", []), (["generate", "-l", "12"], "x.fa", ["x.fa.partial", "x.fa.partial.state"])):
        d = fresh()
        expect_failure(carbon(*args, "-m", model(), "-o", d + "/" + name, bad), "in.fa")
        expect(set(os.listdir(d)) <= set(left), "files: %s" % os.listdir(d))
    # What an earlier run has left stays as it was, with its output.
    for args, name in ((["embed"], "x.npy"), (["generate", "-l", "12"], "x.fa")):
        d = fresh()
        ok(*args, "-m", model(), "-o", d + "/" + name, data("mini.fa"))
        before = {file: read(os.path.join(d, file)) for file in os.listdir(d)}
        expect_failure(carbon(*args, "-m", model(), "--restart", "-o", d + "/" + name, bad), "in.fa")
        expect_equal({file: read(os.path.join(d, file)) for file in before}, before, "files of before")
    # A signal removes it, too.
    for args, name in ((["embed"], "x.npy"), (["generate", "-l", "12"], "x.fa")):
        d = fresh()
        process = subprocess.Popen([CARBON, *args, "-m", model(), "-q", "-o", d + "/" + name, "-"], stdin=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, env=ENV)
        while not os.listdir(d):
            expect(process.poll() is None, "the run ended")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        expect(not any("json" in file for file in os.listdir(d)), "files: %s" % os.listdir(d))


@case
def another_files_json_is_not_replaced():
    """x.json may be anything of the user's; only what carbon has written there gives way."""
    for args, name in ((["embed"], "x.npy"), (["generate", "-l", "12"], "x.fa")):
        for content in (b'{"sample": 1}', b"", b"[1]", b"not JSON", b'{"carbon_other": 1, "a": "b"}', b"\xff"):
            d = fresh()
            path = write(d, "x.json", content)
            before = tree(d)
            expect_failure(carbon(*args, "-m", model(), "-o", d + "/" + name, data("mini.fa")), "x.json exists", "-o")
            expect(read(path) == content and tree(d) == before, "files")
        d = fresh()
        os.mkdir(d + "/x.json")
        expect_failure(carbon(*args, "-m", model(), "-o", d + "/" + name, data("mini.fa")), "x.json exists")
        os.rmdir(d + "/x.json")
        os.mkfifo(d + "/x.json")
        expect_failure(carbon(*args, "-m", model(), "-o", d + "/" + name, data("mini.fa"), timeout=20), "x.json exists")
        os.remove(d + "/x.json")
        for more in ([], ["--dtype", "f32"]):
            ok(*args, "-m", model(), *more, "-o", d + "/" + name, data("mini.fa"))
            expect_equal(json.loads(read(d + "/x.json"))["carbon_%sModel" % args[0]]["Dtype"], "f32" if more else "bf16", "written anew")


@case
def a_resumed_table_keeps_the_header_of_its_first_run():
    """And has the bytes of an uninterrupted run; the JSON is that of the run that completes the output."""
    good = write(fresh(), "in.fa", ">a\n%s\n>b\n%s\n" % ("ACGTAC" * 20, "GGATTC" * 20))
    bad = write(fresh(), "in.fa", read(good) + b">c\nACG!AC\n")
    for args, name in ((["score", "-O", "tsv"], "x.tsv"), (["embed"], "x.tsv"), (["generate", "-l", "12", "-n", "3"], "x.fa")):
        d = fresh()
        expect_failure(carbon(*args, "-m", model(), "-o", d + "/" + name, bad, dated=True), "in.fa")
        begun = read(d + "/" + name + ".partial")
        ok(*args, "-m", model(), "-o", d + "/" + name, "--resume", "-q", good, dated=True)
        content = read(d + "/" + name)
        expect(content.startswith(begun) and not os.path.exists(d + "/" + name + ".partial"), "continued")
        whole = ok(*args, "-m", model(), good, dated=True).text
        lines = [[line for line in text.splitlines() if not line.startswith("##carbon_%sCommand" % args[0])]
                 for text in (content.decode(), whole)]
        expect_equal(lines[0], lines[1], "all but the command line")
        if args[0] == "generate":
            expect("--resume" in json.loads(read(d + "/x.json"))["carbon_generateCommand"], "the JSON")
        else:
            expect(bad in header(content.decode())[1] and "--resume" not in header(content.decode())[1], "the first run's command")


@case
def a_report_knows_the_model_of_each():
    d, path = fresh(), data("mini.fa")
    ok("score", "-m", model(), "-O", "tsv", "-o", d + "/s.tsv", path, dated=True)
    for name in ("e.tsv", "e.npy", "e.safetensors"):
        ok("embed", "-m", model(), "--pad-tail", "-o", d + "/" + name, path, dated=True)
    digest = fields(header(read(d + "/s.tsv").decode())[2])["SHA256"]
    for name in ("s.tsv", "e.tsv", "e.npy", "e.safetensors"):
        ok("report", "-o", d + "/r.html", d + "/" + name)
        page = read(d + "/r.html").decode()
        expect(digest in page and "Model " in page and "data type bf16" in page, "the model in the report of " + name)
        expect(("Pad tail" in page) == (name != "s.tsv"), "settings in the report of " + name)
        expect("carbon score" in page if name == "s.tsv" else "carbon embed" in page, "program in the report of " + name)
    # A table of carbon score says more of each sequence.
    ok("score", "-m", model(), "-o", d + "/g.tsv", path, dated=True)
    ok("report", "-o", d + "/r.html", "--groups", d + "/g.tsv", "--colour", "mean_logp", d + "/e.npy")
    expect("mean_logp" in read(d + "/r.html").decode(), "the colour")
    # The figures are those of a table without these lines.
    for name in ("s.tsv", "e.tsv"):
        lines = [line for line in read(d + "/" + name).decode().splitlines(True) if not line.startswith("##")]
        plain = write(fresh(), name, "".join(lines))
        pictures = []
        for source in (d + "/" + name, plain):
            folder = fresh()
            ok("report", "-o", folder + "/r.html", "--svg", folder + "/svg", source)
            pictures.append({file: read(os.path.join(folder, "svg", file)) for file in os.listdir(folder + "/svg")})
        expect(pictures[0] and pictures[0] == pictures[1], "pictures of " + name)


@case
def a_long_command_line_is_no_obstacle():
    """Thousands of names of files stand in one line, longer than the block by which the kind of a file is told."""
    d = fresh()
    shutil.copy(data("mini.fa"), d + "/in.fa")
    names = ["./" * i + "in.fa" for i in range(1, 400)]
    expect(sum(map(len, names)) > 100000, "length")
    ok("score", "-m", model(), "-q", "-O", "tsv", "-o", "x.tsv", *names, dated=True, cwd=d)
    expect(len(read(d + "/x.tsv").split(b"\n")[1]) > 100000, "the line")
    ok("report", "-o", d + "/r.html", d + "/x.tsv")
    ok("embed", "-m", model(), "-q", "-o", "x.safetensors", *names, dated=True, cwd=d)
    ok("report", "-o", d + "/r.html", d + "/x.safetensors")


@case
def other_programs_skip_the_lines():
    """bedGraph: lines that begin with # are comments."""
    d = fresh()
    ok("score", "-m", model(), "-O", "bedgraph", "-o", d + "/x.bedgraph", data("mini.fa"), dated=True)
    rows = [line for line in read(d + "/x.bedgraph").decode().splitlines(True) if not line.startswith("#")]
    tool("bgzip", d + "/x.bedgraph")
    tool("tabix", "-p", "bed", d + "/x.bedgraph.gz")
    expect_equal(tool("tabix", d + "/x.bedgraph.gz", "c1:3-5").text, "".join(rows[2:5]), "tabix")
    if shutil.which("bedtools"):
        expect_equal(tool("bedtools", "sort", "-i", d + "/x.bedgraph.gz").text, "".join(rows), "bedtools")


@case
def data_frames_are_read_as_the_manual_says():
    d = fresh()
    ok("score", "-m", model(), "-o", d + "/x.tsv", data("mini.fa"), dated=True)
    wanted = [line.split("\t")[5] for line in read(d + "/x.tsv").decode().splitlines()[4:]]
    calls = [(["python3", "-c", "import pandas; t = pandas.read_csv(%r, sep='\\t', skiprows=3); print(len(t), t['sum_logp'].sum())"], "pandas"),
             (["python3", "-c", "import polars; t = polars.read_csv(%r, separator='\\t', comment_prefix='##'); "
                                "print(len(t), t['sum_logp'].sum())"], "polars"),
             (["Rscript", "-e", "t <- read.delim(%r, skip = 3); cat(nrow(t), sum(t$sum_logp))"], "R")]
    tried = 0
    for (program, option, code), name in calls:
        if shutil.which(program) is None or (name != "R" and command([program, "-c", "import " + name]).rc != 0):
            continue
        count, total = tool(program, option, code % (d + "/x.tsv")).text.split()
        expect(int(count) == len(wanted) and abs(float(total) - sum(map(float, wanted))) < 1e-3, "%s: %s rows, %s" % (name, count, total))
        tried += 1
    if tried == 0:
        raise Skip("neither pandas nor polars nor R is installed")


if __name__ == "__main__":
    main()
