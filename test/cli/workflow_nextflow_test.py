"""workflows/nextflow: the shell of each module, taken out of main.nf and run as Nextflow runs it; Nextflow itself is not."""

import os
import re

from harness import DATA, Skip, case, command, data, expect, expect_equal, fresh, main, model, ok, read
from vep_support import MINI
from workflow_support import WORKFLOWS, environment

MODULES = os.path.join(WORKFLOWS, "nextflow", "carbon")
NAMES = sorted(os.listdir(MODULES))
VERSION = read(os.path.join(os.path.dirname(WORKFLOWS), "VERSION")).decode().strip()


def module(name):
    return read(os.path.join(MODULES, name, "main.nf")).decode()


def section(text, name):
    """The lines of a process behind `name:`, up to the next one."""
    return re.search(r"^    %s:\n(.*?)(?=^    \w+:\n|^\})" % name, text, re.M | re.S).group(1)


def variables(text, given):
    """What the Groovy in front of a script sets; each line is `name = value ?: default` or the choice of the device."""
    values = dict(given)
    for name, source, default in re.findall(r"^    (?:def )?(\w+) += task\.ext\.(\w+) \?: (.*)$", text, re.M):
        default = default[1:-1].replace("${meta.id}", values["meta.id"])
        values[name] = values.get("ext." + source, default)
    for name, yes, no in re.findall(r"^    def (\w+) += task\.accelerator \? '(\w+)' : '(\w+)'$", text, re.M):
        values[name] = yes if values.get("accelerator") else no
    return values


def filled(text, values):
    """Groovy's ${name} with its value; a name that the process does not set is an error there, too."""
    return re.sub(r"\$\{([\w.]+)\}", lambda m: str(values[m.group(1)]), text)


def shell(name, part, **given):
    """(what a script wrote, by name; the names that `output:` declares)."""
    text = module(name)
    body = section(text, part)
    values = variables(body, {"meta.id": "s1", "task.cpus": 2, "model": os.path.basename(model()), **given})
    script = filled(re.search(r'"""\n(.*?)"""', body, re.S).group(1), values).replace("\\\\", "\\")
    d = fresh()
    for path in (MINI, os.path.join(DATA, "mini.fa"), model()):
        os.symlink(path, os.path.join(d, os.path.basename(path)))
    before = set(os.listdir(d))
    # As Nextflow with nf-core's settings: the first failure of any command ends the task.
    result = command(["bash", "-euo", "pipefail", "-C", "-c", script], cwd=d, env=environment(CARBON_MODEL=""))
    declared = [filled(p, values) for p in re.findall(r'path\("([^"]+)"\)', section(text, "output"))]
    return result, {n: read(os.path.join(d, n)) for n in set(os.listdir(d)) - before}, declared


GIVEN = {"vep": {"variants": "mini.vcf", "fasta": "mini.fa", "ext.args": "-w 48 --no-version"},
         "scan": {"fasta": "mini.fa", "ext.args": "--level chain --no-version"},
         "score": {"fasta": "mini.fa"}, "generate": {"prompts": "mini.fa", "length": 50}, "embed": {"fasta": "mini.fa"}}


@case
def scripts_write_what_they_declare():
    expect_equal(NAMES, sorted(GIVEN), "modules")
    for name in NAMES:
        result, files, declared = shell(name, "script", **GIVEN[name])
        expect(result.rc == 0, "the script of %s fails" % name, result)
        # A reference without an index gets one, which the next process does not see.
        expect_equal(sorted(n for n in files if not n.endswith(".fai")), sorted(declared), "files of " + name)
        d = fresh()
        plain = {"vep": ["-f", data("mini.fa"), "-w", 48, "--no-version", MINI], "generate": ["-l", 50, data("mini.fa")],
                 "scan": ["-f", data("mini.fa"), "--level", "chain", "--no-version"]}
        out = os.path.join(d, declared[0])
        ok(name, "-m", model(), *plain.get(name, [data("mini.fa")]), "-o", out)
        expect_equal(files[declared[0]], read(out), "output of " + name)


@case
def settings_reach_the_command():
    result, files, declared = shell("score", "script", fasta="mini.fa", **{
        "ext.args": "-O bedgraph", "ext.prefix": "other", "ext.suffix": "bedgraph"})
    expect_equal((sorted(files), declared), (["other.bedgraph"], ["other.bedgraph"]), "files")
    expect(files["other.bedgraph"].startswith(b"c1\t0\t1\t"), "no bedGraph", result)
    # What this machine cannot do is an error of the task, never a run on something else.
    if not any(line.startswith("GPU ") for line in ok("--version").lines()):
        result, files, _ = shell("score", "script", fasta="mini.fa", accelerator=True)
        expect(result.rc == 1 and result.messages("E") and not files, "a GPU was asked for", result)


@case
def stubs_write_what_they_declare():
    for name in NAMES:
        result, files, declared = shell(name, "stub")
        expect(result.rc == 0, "the stub of %s fails" % name, result)
        expect_equal(sorted(files), sorted(declared), "files of the stub of " + name)


@case
def versions():
    for name in NAMES:
        program = re.search(r'eval\("(.*?)"\)', module(name)).group(1)
        result = command(["bash", "-c", program], env=environment())
        expect_equal(result.text.strip(), VERSION, "version that %s reports" % name)
        expect("carbon:%s'" % VERSION in module(name), "container of %s is of another version" % name)
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


if __name__ == "__main__":
    main()
