"""workflows/galaxy: the tests of each tool, run as Galaxy runs them: the macros are put in, the command is filled in, a shell runs it, and
what the test says of the outputs is true. Galaxy itself is not run."""
# Left out while unchanged: parts packaging

import os
import re
import xml.etree.ElementTree as ET

from annotate_support import annotator
from harness import case, command, expect, expect_equal, fresh, main, model, ok, read, write
from workflow_support import WORKFLOWS, environment

GALAXY = os.path.join(WORKFLOWS, "galaxy")
DATA = os.path.join(GALAXY, "test-data")
TOOLS = ("vep", "score", "annotate")


def expanded(name):
    """The tool with its macros in their places."""
    macros = ET.parse(os.path.join(GALAXY, "macros.xml")).getroot()
    tokens = {each.get("name"): each.text for each in macros.findall("token")}
    pieces = {each.get("name"): each for each in macros.findall("xml")}

    def filled(text, known):
        for token, value in known.items():
            text = text.replace(token, value) if text else text
        return text

    def copy(element, known):
        made = ET.Element(element.tag, {key: filled(value, known) for key, value in element.attrib.items()})
        made.text, made.tail = filled(element.text, known), element.tail
        for child in element:
            if child.tag == "expand":
                piece = pieces[child.get("macro")]
                given = {"@%s@" % key[len("token_"):].upper(): value for key, value in piece.attrib.items() if key.startswith("token_")}
                given.update(("@%s@" % key.upper(), value) for key, value in child.attrib.items() if key != "macro")
                made.extend(copy(piece, {**known, **given}))
            else:
                made.append(copy(child, known))
        return made
    tool = copy(ET.parse(os.path.join(GALAXY, "carbon_%s.xml" % name)).getroot(), tokens)
    expect("@" not in "".join(tool.find("command").itertext()).replace("-@", ""), "a token is left in the command of " + name)
    return tool


def table_of(name):
    """The lines of a data table: {value: {column: text}}"""
    tables = ET.parse(os.path.join(GALAXY, "tool_data_table_conf.xml.test")).getroot()
    entry = next(each for each in tables if each.get("name") == name)
    columns = entry.find("columns").text.split(", ")
    path = entry.find("file").get("path").replace("${__HERE__}", GALAXY)
    rows = [line.split("\t") for line in read(path).decode().replace("${__HERE__}", DATA).splitlines() if not line.startswith("#")]
    expect(all(len(row) == len(columns) for row in rows), "columns of " + path)
    return {row[0]: dict(zip(columns, row)) for row in rows}


class Value(str):
    """What a template sees of a parameter: its text, with the parameters of a conditional, or the columns of a data table, as members."""

    def __new__(cls, text, **members):
        made = super().__new__(cls, text)
        made.__dict__.update(members)
        return made


def name_of(param):
    return param.get("name") or param.get("argument").lstrip("-").replace("-", "_")


def value_of(param, given, models):
    """A parameter with what a test gives it, or with its default."""
    kind, text = param.get("type"), given
    if kind == "data":
        return Value(os.path.join(DATA, given) if given else "")
    options = param.find("options")
    if options is not None:
        rows = {**table_of(options.get("from_data_table")), **models}
        return Value(given, fields=Value("", **{key: Value(column) for key, column in rows[given].items()}))
    if kind == "select":
        words = [each.get("value") for each in param.findall("option")]
        chosen = [each.get("value") for each in param.findall("option") if each.get("selected") == "true"]
        if given is None:
            text = ",".join(chosen) or ("" if param.get("optional") == "true" else words[0])
        expect(not text or set(text.split(",")) <= set(words), "%s has no option %s" % (name_of(param), text))
    elif given is None:
        text = param.get("value", "")
    for validator in param.findall("validator"):
        if validator.get("type") == "regex":
            expect(re.match(validator.text, text), "%s refuses %r" % (name_of(param), text))
    return Value(text)


def values(inputs, test, models):
    """What the template knows: {name: Value}"""
    given = {each.get("name"): each for each in test}
    found = {}
    for each in inputs:
        if each.tag == "param":
            name = name_of(each)
            found[name] = value_of(each, given[name].get("value") if name in given else None, models)
        elif each.tag == "conditional":
            name, chooser = each.get("name"), each.find("param")
            inside = given[name] if name in given else ET.Element("conditional")
            members = values([chooser], inside, models)
            case_of = next(when for when in each.findall("when") if when.get("value") == members[name_of(chooser)])
            members.update(values(case_of, inside, models))
            unknown = {param.get("name") for param in inside} - set(members)
            expect(not unknown, "%s has no parameter %r" % (name, unknown))
            found[name] = Value("", **members)
    return found


def rendered(template, known):
    """The part of Cheetah that the tools use: #if, #elif, #else and #end if, and $name.member."""
    def evaluated(expression):
        return eval(re.sub(r"\$(\w)", r"\1", expression), {"__builtins__": {"str": str}}, dict(known))
    lines, states = [], []  # of each #if: whether this branch is taken, and whether any was
    for line in template.splitlines():
        directive = re.match(r"\s*#(if|elif|else|end if)\b\s*(.*)", line)
        outside = all(taken for taken, _ in (states[:-1] if directive and directive.group(1) != "if" else states))
        if directive is None:
            if outside:
                lines.append(re.sub(r"(?<!\\)\$(?:\{([\w.]+)\}|(\w+(?:\.\w+)*))", lambda m: str(evaluated(m.group(1) or m.group(2))), line))
        elif directive.group(1) == "end if":
            states.pop()
        elif directive.group(1) == "if":
            taken = outside and bool(evaluated(directive.group(2)))
            states.append((taken, taken))
        else:
            done = states.pop()[1]
            taken = outside and not done and (directive.group(1) == "else" or bool(evaluated(directive.group(2))))
            states.append((taken, done or taken))
    expect(not states, "an #if has no end")
    return "\n".join(lines).replace("\\$", "$")


class Ran:
    """A tool with the parameters of a test, in a folder of its own."""

    def __init__(self, name, test, models=None):
        tool, self.folder = expanded(name), fresh()
        known = values(tool.find("inputs"), test, models or {})
        filters = {key: value.__dict__ or str(value) for key, value in known.items()}
        self.paths = {}
        for data in tool.find("outputs"):
            wanted = data.find("filter")
            if wanted is None or eval(wanted.text, {"__builtins__": {}}, filters):
                self.paths[data.get("name")] = os.path.join(self.folder, data.get("from_work_dir") or "dataset_%s.dat" % data.get("name"))
        # Galaxy makes one line of the command.
        self.command = " ".join(rendered(tool.find("command").text, {**known, **{key: Value(path) for key, path in self.paths.items()}}).split())
        self.result = command(["bash", "-c", self.command], cwd=self.folder, env=environment(CARBON_MODEL="/nowhere"))

    def output(self, name):
        expect(self.result.rc == 0, "the command fails: " + self.command, self.result)
        return read(self.paths[name])


def check_output(where, text, assertions):
    for each in assertions:
        if each.tag == "has_text":
            expect(each.get("text") in text, "%s lacks %r:\n%s" % (where, each.get("text"), text))
        elif each.tag == "has_line":
            expect(each.get("line") in text.splitlines(), "%s lacks the line %r:\n%s" % (where, each.get("line"), text))
        elif each.tag == "has_text_matching":
            found = len(re.findall(each.get("expression"), text))
            expect(found == int(each.get("n")), "%s: %d are like %s:\n%s" % (where, found, each.get("expression"), text))
        else:
            expect(False, "%s: %s is not known here" % (where, each.tag))


@case
def their_own_tests_pass():
    for name in TOOLS:
        tests = expanded(name).find("tests").findall("test")
        expect(len(tests) >= 2, "tests of " + name)
        for number, test in enumerate(tests, 1):
            ran = Ran(name, test)
            expect_equal(len(ran.paths), int(test.get("expect_num_outputs")), "outputs of test %d of %s" % (number, name))
            for output in test.findall("output"):
                check_output("test %d of %s, %s" % (number, name, output.get("name")), ran.output(output.get("name")).decode(),
                             output.find("assert_contents"))


def parameters(**given):
    """A test that gives these parameters; a dict is a conditional."""
    test = ET.Element("test")
    for name, value in given.items():
        if isinstance(value, dict):
            inside = parameters(**value)
            inside.tag = "conditional"
            inside.set("name", name)
            test.append(inside)
        else:
            ET.SubElement(test, "param", name=name, value=value)
    return test


HISTORY = {"source": "history", "fasta": "genome.fa"}


@case
def outputs_are_those_of_the_command():
    """Every type of output of vep, but for the lines with the command and the date."""
    def scores(content):
        return [line for line in content.splitlines() if not re.match(rb"##(carbon_vep(Version|Command)|bcftools_)", line)]
    for kind in ("z", "v", "b", "t"):
        ran = Ran("vep", parameters(variants="variants.vcf", reference=HISTORY, model="carbon-tiny", output_type=kind, recipe={"window": "48"}))
        path = write(fresh(), "given", ran.output("output"))
        wanted = os.path.join(fresh(), "wanted")
        ok("vep", "-m", "carbon-tiny", "-w", "48", "-O", kind, "-o", wanted, "-f", os.path.join(DATA, "genome.fa"), os.path.join(DATA, "variants.vcf"))
        shown = [content if kind == "t" else command(["bcftools", "view", "--no-version", name]).out
                 for name, content in ((path, read(path)), (wanted, read(wanted)))]
        expect(len(scores(shown[0])) > 4, "the output of kind %s is empty" % kind, ran.result)
        expect_equal(*map(scores, shown), "output of kind " + kind)


@case
def annotate_runs_a_model_too():
    """And its tracks give the same genes again."""
    models = {"made": {"value": "made", "path": annotator(), "kind": "annotator"}}
    given = {"sequences": "genome.fa", "calls": {"gene_cost": "0", "min_cds": "3", "min_score": "0"}}
    ran = Ran("annotate", parameters(probabilities={"source": "model", "model": "made"}, **given), models)
    expect_equal(sorted(ran.paths), ["genes", "minus", "plus", "proteins"], "outputs")
    tracks = {name: ran.paths[name] for name in ("plus", "minus")}
    for name in tracks:
        expect(ran.output(name)[:4] in (b"\x26\xfc\x8f\x88", b"\x88\x8f\xfc\x26"), "no bigWig: " + name)
    again = Ran("annotate", parameters(probabilities={"source": "tracks", **tracks}, **given))
    for name in ("genes", "proteins"):
        found, wanted = ([line for line in each.output(name).splitlines() if not line.startswith(b"#")] for each in (again, ran))
        expect(wanted, "no " + name)
        expect_equal(found, wanted, name)


@case
def tags_reach_a_model_that_reads_them():
    models = {"made": {"value": "made", "path": model(vocab=155776, dna_start=-1), "kind": "language"}}
    ran = Ran("score", parameters(sequences="genome.fa", model="made", species="plant"), models)
    expect(b"plant" in ran.output("output"), "no tag of the plants", ran.result)


@case
def an_error_fails_the_job():
    other = write(fresh(), "other.fa", ">other\nACGT\n")
    ran = Ran("vep", parameters(variants="variants.vcf", reference={"source": "history", "fasta": other}, model="carbon-tiny"))
    expect(ran.result.rc == 1 and ran.result.messages("E"), "no error", ran.result)
    expect(not os.path.exists(ran.paths["output"]), "an output after an error")


@case
def a_gpu_is_the_choice_of_the_administrator():
    """Through a variable of the destination. What the machine cannot do is an error and never a run on something else."""
    tool = expanded("score").find("command").text
    expect('--device "\\${GALAXY_CARBON_DEVICE:-auto}"' in tool, "the device of the command")
    for name in TOOLS:
        expect("GALAXY_SLOTS" in expanded(name).find("command").text, "%s has no number of threads" % name)


@case
def samples_of_tables_have_their_columns():
    tables = ET.parse(os.path.join(GALAXY, "tool_data_table_conf.xml.sample")).getroot()
    for entry in tables:
        columns = len(entry.find("columns").text.split(", "))
        sample = read(os.path.join(GALAXY, entry.find("file").get("path") + ".sample")).decode()
        rows = [line.lstrip("#") for line in sample.splitlines() if "\t" in line]
        expect(rows and all(len(row.split("\t")) == columns for row in rows), "columns of " + entry.get("name"))


if __name__ == "__main__":
    main()
