"""Every option of the commands that changes a value has a parameter here, or docs/python.md says why not."""

import inspect
import os
import re

from support import SOURCE, carbon

import carbon_dna

COMMANDS = {"score": "iter_score", "vep": "iter_variants", "scan": "iter_scan", "embed": "iter_embed", "predict": "iter_predict",
            "generate": "iter_generate"}
# Where the names differ.
NAMES = {"name": "model", "fasta": "fasta-ref", "n": "num"}


def parameters(function):
    return {NAMES.get(name, name.replace("_", "-")) for name in inspect.signature(function).parameters}


def left_out():
    """The options in the table of docs/python.md."""
    with open(os.path.join(SOURCE, "docs/python.md")) as file:
        section = file.read().split("## Options\n")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `--")]
    return {name for row in rows for name in re.findall(r"`--([a-z-]+)`", row.split("|")[1])}


def test_every_option_is_here_or_is_explained():
    known, explained = parameters(carbon_dna.Model.__init__), left_out()
    options = set()
    for command, method in COMMANDS.items():
        of_command = set(re.findall(r"^ .*?--([a-z][a-z-]+)", carbon(command, "--help"), re.MULTILINE))
        assert len(of_command) > 12, of_command
        options |= of_command
        here = known | parameters(getattr(carbon_dna.Model, method)) - {"regions"}  # of scan, an input and no selection
        assert of_command - here <= explained, (command, of_command - here - explained)
        assert not explained & here, (command, explained & here)
    assert explained <= options, explained - options


def test_a_list_has_the_parameters_of_its_iterator():
    for method in ("score", "scan", "embed", "predict"):
        whole, one = (inspect.signature(getattr(carbon_dna.Model, name)).parameters for name in (method, "iter_" + method))
        same = [(p.name, p.default) for p in list(whole.values())[1:] if p.name not in ("region",)]
        assert same == [(p.name, p.default) for p in list(one.values())[1:] if p.name not in ("regions",)], method
