"""workflows/nextflow: the shell of each module, taken out of main.nf and run as Nextflow runs it; Nextflow itself is not."""
# Left out while unchanged: parts packaging

import gzip
import os
import re

from harness import (DATA, Skip, bgzip, case, command, data, decompress, expect, expect_equal, fresh, is_bgzf, main, model, ok,
                     read, tool, write)
from vep_support import MINI
from workflow_support import WORKFLOWS, environment

MODULES = os.path.join(WORKFLOWS, "nextflow", "modules", "carbon")
NAMES = sorted(os.listdir(MODULES))
VERSION = read(os.path.join(os.path.dirname(WORKFLOWS), "VERSION")).decode().strip()
FASTA = os.path.join(DATA, "mini.fa")


def module(name):
    return read(os.path.join(MODULES, name, "main.nf")).decode()


def section(text, name):
    """The lines of a process behind `name:`, up to the next one."""
    return re.search(r"^    %s:\n(.*?)(?=^    \w+:\n|^\})" % name, text, re.M | re.S).group(1)


class Groovy:
    """The expressions in front of a script: strings, names, ?:, ? :, and three kinds of condition."""

    TOKEN = re.compile(r"""\s*(?:(?P<plain>'[^']*')|(?P<filled>"[^"]*")|(?P<matches>\(\w+ =~ /.*?/\))|(?P<sign>\?:|\?|:)"""
                       r"""|(?P<ends>\w+\.endsWith\('[^']*'\))|(?P<equals>\w+ == '[^']*')|(?P<name>[\w.]+))""")

    def __init__(self, values):
        self.values = values

    def run(self, text):
        # A choice goes on in the next line behind its colon.
        for line in re.sub(r":\n\s+", ": ", text).splitlines():
            if line.strip():
                name, expression = re.match(r"\s*(?:def )?(\w+) += (.*)$", line).groups()
                self.tokens = self.split(expression)
                self.values[name] = self.value()
                expect_equal(self.tokens, [], "rest of " + line)

    def split(self, text):
        tokens = []
        while text.strip():
            match = self.TOKEN.match(text)
            expect(match, "not read: " + text)
            tokens.append((match.lastgroup, match.group().strip()))
            text = text[match.end():]
        return tokens

    def value(self):
        left = self.primary(*self.tokens.pop(0))
        sign = self.tokens[0][1] if self.tokens else ""
        if sign not in ("?:", "?"):
            return left
        self.tokens.pop(0)
        if sign == "?:":
            right = self.value()
            return left or right
        yes = self.value()
        expect_equal(self.tokens.pop(0)[1], ":", "choice")
        no = self.value()
        return yes if left else no

    def primary(self, kind, word):
        if kind == "plain":
            return word[1:-1]
        if kind == "filled":
            return filled(word[1:-1], self.values)
        if kind == "matches":
            name, pattern = re.match(r"\((\w+) =~ /(.*)/\)", word).groups()
            return bool(re.search(pattern, self.values[name]))
        if kind == "ends":
            name, suffix = re.match(r"(\w+)\.endsWith\('(.*)'\)", word).groups()
            return self.values[name].endswith(suffix)
        if kind == "equals":
            name, other = re.match(r"(\w+) == '(.*)'", word).groups()
            return self.values[name] == other
        # What no setting gives is null, as task.ext.args.
        return self.values.get(word, None if word.startswith("task.") else word)


def filled(text, values):
    """Groovy's ${name} with its value; a name that the process does not set is an error there, too."""
    return re.sub(r"\$\{([\w.]+)\}", lambda m: str(values[m.group(1)]), text)


class Ran:
    """The shell of a module in a directory that has only the inputs that it declares, with links to them as Nextflow makes them."""

    def __init__(self, name, part, inputs, settings):
        text = module(name)
        body = section(text, part)
        values = {"meta.id": "s1", "task.cpus": 2, **settings}
        self.directory = fresh()
        declared = re.findall(r"path\((\w+)\)", section(text, "input"))
        expect(set(inputs) <= set(declared) | {"length"}, "%s has no such input: %s" % (name, sorted(inputs)))
        values.update((n, v) for n, v in inputs.items() if n not in declared)
        for one in declared:
            path = inputs.get(one)
            values[one] = os.path.basename(path) if path else ""
            if path:
                os.symlink(path, os.path.join(self.directory, values[one]))
        before = set(os.listdir(self.directory))
        front, script = re.match(r'(.*?)"""\n(.*?)"""', body, re.S).groups()
        Groovy(values).run(front)
        # As Nextflow with nf-core's settings: the first failure of any command ends the task.
        self.result = command(["bash", "-euo", "pipefail", "-C", "-c", filled(script, values).replace("\\\\", "\\")],
                              cwd=self.directory, env=environment(CARBON_MODEL=""))
        self.files = {n: read(os.path.join(self.directory, n)) for n in set(os.listdir(self.directory)) - before}
        self.outputs = [(emit, filled(path, values), bool(rest)) for path, emit, rest in
                        re.findall(r'path\("([^"]+)"\), emit: (\w+)(, optional: true)?', section(text, "output"))]

    def check(self, what):
        """Every declared output is there, and nothing else but indices that the run made of inputs; returns the emitted names."""
        expect(self.result.rc == 0, "%s fails" % what, self.result)
        found = {}
        for emit, pattern, optional in self.outputs:
            glob = re.sub(r"\\{(.*?)\\}", lambda m: "(%s)" % m.group(1).replace(",", "|"), re.escape(pattern).replace(",", ","))
            names = [n for n in self.files if re.fullmatch(glob, n)]
            expect(optional or names, "%s: no %s" % (what, pattern), self.result)
            expect(len(names) < 2, "%s: several files are %s" % (what, pattern))
            found.update((n, emit) for n in names)
        others = [n for n in self.files if n not in found and not n.endswith((".fai", ".gzi"))]
        expect_equal(others, [], "files that %s does not declare" % what)
        return found


def inputs_of(name):
    first = {"vep": {"variants": sorted_variants(), "fasta": FASTA}, "generate": {"prompts": FASTA, "length": 50}}
    return {"model": model(), **first.get(name, {"fasta": FASTA})}


def sorted_variants():
    """The records of mini.vcf in order, which an index of the output needs."""
    head, records = [], []
    for line in read(MINI).decode().splitlines():
        (head if line.startswith("#") else records).append(line)
    contigs = re.findall(r"##contig=<ID=(\w+)", "\n".join(head))
    records.sort(key=lambda r: (contigs.index(r.split("\t")[0]), int(r.split("\t")[1])))
    return write(fresh(), "sorted.vcf", "\n".join(head + records) + "\n")


WINDOW = "-w 48 --no-version"
LEVEL = "--level chain --no-version"
# ext.args, and the names of what is emitted.
FORMATS = {
    "vep": [(WINDOW, ["s1.carbon.vcf.gz"]), (WINDOW + " -O z1 -W", ["s1.carbon.vcf.gz", "s1.carbon.vcf.gz.csi"]),
            ("-Oz -W=tbi " + WINDOW, ["s1.carbon.vcf.gz", "s1.carbon.vcf.gz.tbi"]),
            (WINDOW + " --output-type=b --write-index", ["s1.carbon.bcf", "s1.carbon.bcf.csi"]), (WINDOW + " -Ou", ["s1.carbon.bcf"]),
            (WINDOW + " -O v", ["s1.carbon.vcf"]), ("--output-type t " + WINDOW, ["s1.carbon.tsv.gz"])],
    "scan": [(LEVEL, ["s1.scan.tsv.gz"]), (LEVEL + " -O t -W", ["s1.scan.tsv.gz", "s1.scan.tsv.gz.csi"]),
             (LEVEL + " -Oz --write-index=tbi", ["s1.scan.vcf.gz", "s1.scan.vcf.gz.tbi"]), ("-Ob " + LEVEL, ["s1.scan.bcf"]),
             (LEVEL + " -O v", ["s1.scan.vcf"]), (LEVEL + " -O bedgraph", ["s1.scan.bedgraph.gz"])],
    "score": [("--no-version", ["s1.scores.tsv.gz"]), ("-O tsv --no-version", ["s1.scores.tsv.gz"]),
              ("--no-version -O bedgraph", ["s1.scores.bedgraph.gz"])],
    "generate": [(args, ["s1.generated.fa.gz", "s1.generated.json"]) for args in ("--no-version", "--num 2 --no-version")],
    "embed": [("--no-version", ["s1.embedding.json", "s1.embedding.names.tsv", "s1.embedding.npy"]), ("-O tsv --no-version", ["s1.embedding.tsv"]),
              ("--no-version --output-type=safetensors", ["s1.embedding.names.tsv", "s1.embedding.safetensors"])],
}


@case
def scripts_write_what_they_declare():
    expect_equal(NAMES, sorted(FORMATS), "modules")
    for name in NAMES:
        inputs = inputs_of(name)
        for args, wanted in FORMATS[name]:
            what = "the script of %s %s" % (name, args)
            ran = Ran(name, "script", inputs, {"task.ext.args": args})
            expect_equal(sorted(ran.check(what)), wanted, "output of " + what)
            plain = {"vep": ["-f", data("mini.fa"), inputs.get("variants")], "generate": ["-l", 50, data("mini.fa")],
                     "scan": ["-f", data("mini.fa")]}.get(name, [data("mini.fa")])
            d = fresh()
            main_file = next(n for n in wanted if ".names." not in n and not n.endswith(".json"))
            ok(name, "-m", model(), *args.split(), *plain, "-o", os.path.join(d, main_file))
            for n in wanted:
                expect_equal(ran.files[n], read(os.path.join(d, n)), "%s of %s" % (n, what))
            for n in wanted:
                expect(is_bgzf(ran.files[n]) or not n.endswith(".gz"), "%s of %s is not compressed" % (n, what))


@case
def stubs_write_what_scripts_write():
    for name in NAMES:
        for args, wanted in FORMATS[name]:
            what = "the stub of %s %s" % (name, args)
            ran = Ran(name, "stub", inputs_of(name), {"task.ext.args": args})
            expect_equal(sorted(ran.check(what)), wanted, "output of " + what)
            for n in wanted:
                if n.endswith(".gz"):
                    expect_equal(gzip.decompress(ran.files[n]), b"\n", "%s of %s" % (n, what))


@case
def settings_reach_the_command():
    ran = Ran("score", "script", inputs_of("score"), {"task.ext.args": "-O bedgraph", "task.ext.prefix": "other"})
    expect_equal(list(ran.check("score with a prefix")), ["other.bedgraph.gz"], "files")
    expect(b"\nc1\t0\t1\t" in decompress(ran.files["other.bedgraph.gz"]), "no bedGraph", ran.result)
    # What this machine cannot do is an error of the task, never a run on something else.
    if not any(line.startswith("GPU ") for line in ok("--version").lines()):
        ran = Ran("score", "script", inputs_of("score"), {"task.accelerator": True})
        expect(ran.result.rc == 1 and ran.result.messages("E") and not ran.files, "a GPU was asked for", ran.result)


@case
def indices_are_inputs():
    """With the indices among the inputs nothing is built, and regions are read; without an index of the variants they are not."""
    fasta = bgzip(data("mini.fa"))
    tool("samtools", "faidx", fasta)
    indexed = {"fasta": fasta, "fai": fasta + ".fai", "gzi": fasta + ".gzi", "model": model()}
    region = " -r c1:100-400"
    for name, args in (("scan", LEVEL), ("score", "--no-version"), ("embed", "--no-version")):
        ran = Ran(name, "script", indexed, {"task.ext.args": args + region})
        emitted = ran.check(name + " with indices")
        expect_equal(sorted(ran.files), sorted(emitted), "files of %s with indices" % name)
        plain = Ran(name, "script", inputs_of(name), {"task.ext.args": args + region})
        expect_equal({n: ran.files[n] for n in emitted}, {n: plain.files[n] for n in plain.check(name)}, name + " with indices")
        expect([n for n in plain.files if n.endswith(".fai")], "%s built no index" % name)

    variants = bgzip(sorted_variants())
    for suffix, options in (("tbi", ["-t"]), ("csi", [])):
        tool("bcftools", "index", "-f", *options, variants)
        inputs = {"variants": variants, **indexed}
        with_index = Ran("vep", "script", {**inputs, "variants_index": variants + "." + suffix}, {"task.ext.args": WINDOW + region})
        expect_equal(sorted(with_index.files), sorted(with_index.check("vep with " + suffix)), "files of vep with " + suffix)
        positions = [int(line.split(b"\t")[1]) for line in decompress(with_index.files["s1.carbon.vcf.gz"]).splitlines()
                     if not line.startswith(b"#")]
        expect(positions and max(positions) <= 400, "vep with %s read other records" % suffix, with_index.result)
        without = Ran("vep", "script", inputs, {"task.ext.args": WINDOW + region})
        expect(without.result.rc == 1 and without.result.messages("E"), "regions without an index", without.result)
        os.remove(variants + "." + suffix)


@case
def versions_and_containers():
    for name in NAMES:
        text = module(name)
        program = re.search(r'eval\("(.*?)"\)', text).group(1)
        result = command(["bash", "-c", program], env=environment())
        expect_equal(result.text.strip(), VERSION, "version that %s reports" % name)
        # One for Singularity, a file behind a URL, and one for Docker.
        expect_equal(re.findall(r"^ +'(https://)?registry.example.org/(?:singularity/)?carbon:([^']+)'", text, re.M),
                     [("https://", VERSION), ("", VERSION)], "containers of " + name)
        environment_file = read(os.path.join(MODULES, name, "environment.yml")).decode()
        expect("carbon=%s\n" % VERSION in environment_file, "environment of %s is of another version" % name)


@case
def descriptions_are_complete():
    """meta.yml names the inputs and outputs of main.nf, in their order."""
    try:
        import yaml
    except ImportError:
        raise Skip("no python3-yaml") from None
    for name in NAMES:
        text = module(name)
        described = yaml.safe_load(read(os.path.join(MODULES, name, "meta.yml")).decode())
        expect_equal(described["name"], re.search(r"process (\w+)", text).group(1).lower(), "name")
        wanted = [re.findall(r"(?:val|path)[( ](\w+)", line) for line in section(text, "input").splitlines() if line.strip()]
        found = [[next(iter(part)) for part in (entry if isinstance(entry, list) else [entry])] for entry in described["input"]]
        expect_equal(found, wanted, "inputs of " + name)
        expect_equal(list(described["output"]), re.findall(r"emit: (\w+)", text), "outputs of " + name)
        for output, path in re.findall(r'path\("([^"]+)"\), emit: (\w+)', text):
            expect_equal([next(iter(part)) for part in described["output"][path][0]], ["meta", output], "output " + path)
        expect_equal(described["topics"]["versions"], described["output"]["versions_carbon"], "versions of " + name)


def check_element(name, described, where):
    """An input or output of meta.yml, by the rules of nf-core's meta-schema.json."""
    types = {"map", "file", "directory", "string", "integer", "float", "boolean", "list", "eval"}
    expect(described.get("type") in types, "%s: type of %s" % (where, name))
    expect(isinstance(described.get("description"), str), "%s: no description of %s" % (where, name))
    expect(set(described) <= {"type", "description", "pattern", "enum", "ontologies"}, "%s: fields of %s" % (where, name))
    for ontology in described.get("ontologies", []):
        expect(all(re.match("https?://", term) for term in ontology.values()), "%s: ontologies of %s" % (where, name))
    if described["type"] == "file":
        expect("ontologies" in described and "pattern" in described, "%s: the file %s lacks a pattern or ontologies" % (where, name))


@case
def descriptions_keep_the_schemas():
    """What meta-schema.json and environment-schema.json of nf-core's repository demand, restated: the schemas are not here."""
    try:
        import yaml
    except ImportError:
        raise Skip("no python3-yaml") from None
    for name in NAMES:
        described = yaml.safe_load(read(os.path.join(MODULES, name, "meta.yml")).decode())
        missing = {"name", "description", "keywords", "authors", "output", "tools"} - set(described)
        expect(not missing, "%s: no %s" % (name, missing))
        words = described["keywords"]
        expect(len(words) >= 3 and len(set(words)) == len(words) and "example" not in words, "%s: keywords %r" % (name, words))
        for tools in described["tools"]:
            for tool_name, about in tools.items():
                where = "%s: tool %s" % (name, tool_name)
                expect(isinstance(about["description"], str) and re.match("https?://", about["homepage"]), where)
                expect(re.match(r"10\.\d{4,9}/[^,]+$|no DOI available$", about["doi"]), where + ": doi")
                expect(about["licence"] and len(set(about["licence"])) == len(about["licence"]), where + ": licence")
                expect(re.match("(biotools:.*)?$", about["identifier"]), where + ": identifier")
        for channel in described["input"]:
            for element in channel if isinstance(channel, list) else [channel]:
                for one, about in element.items():
                    check_element(one, about, name)
        for channels in described["output"].values():
            for channel in channels:
                for element in channel if isinstance(channel, list) else [channel]:
                    for one, about in element.items():
                        check_element(one, about, name)
        environment_file = yaml.safe_load(read(os.path.join(MODULES, name, "environment.yml")).decode())
        expect_equal(sorted(environment_file), ["channels", "dependencies"], "environment of " + name)
        expect(set(environment_file["channels"]) <= {"conda-forge", "bioconda"}, "channels of " + name)
        for package in environment_file["dependencies"]:
            expect(re.fullmatch(r"(conda-forge|bioconda)::[\w.-]+=[\w.]+", package), "%s: package %s" % (name, package))


if __name__ == "__main__":
    main()
