"""Every option of the commands that changes a value has a parameter here, or docs/python.md says why not."""

import ctypes
import inspect
import json
import os
import re

from support import SOURCE, carbon

import carbon_dna
from carbon_dna import _library

COMMANDS = {"score": "iter_score", "vep": "iter_variants", "scan": "iter_scan", "embed": "iter_embed", "predict": "iter_predict",
            "generate": "iter_generate", "annotate": "iter_annotate"}
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
        here |= {"strand"} if command == "annotate" else set()  # of a file with room for one; here are both
        assert of_command - here <= explained, (command, of_command - here - explained)
        assert not explained & here, (command, explained & here)
    assert explained <= options, explained - options


def declared():
    """Of each verb, the JSON Schema of its options."""
    text = ctypes.c_void_p()
    _library.check(_library.lib.carbon_verbs(ctypes.byref(text)))
    verbs = json.loads(ctypes.string_at(text.value))
    _library.lib.carbon_free(text)
    return {verb["name"]: verb["options"] for verb in verbs}


def test_parameters_and_their_defaults_are_those_of_the_library():
    inputs = {"fasta", "rows", "regions", "sequences", "prompts", "progress", "self"}
    names = {"fasta_ref": "fasta", "num": "n"}
    for verb, schema in declared().items():
        of_method = inspect.signature(getattr(carbon_dna.Model, "iter_" + verb)).parameters
        options = {names.get(name, name): option for name, option in schema["properties"].items()}
        assert set(of_method) - inputs == set(options) - {"fasta"}, verb
        for name, option in options.items():
            default = of_method[name].default
            if name in schema.get("required", ()):
                assert default is inspect.Parameter.empty, (verb, name)
            elif default is not None and default is not inspect.Parameter.empty and "default" in option:
                assert default == option["default"], (verb, name, default, option)


def test_a_list_has_the_parameters_of_its_iterator():
    for method in ("score", "scan", "embed", "predict", "variants", "generate", "annotate"):
        whole, one = (inspect.signature(getattr(carbon_dna.Model, name)).parameters for name in (method, "iter_" + method))
        same = [(p.name, p.default) for p in list(whole.values())[1:] if p.name not in ("region",)]
        assert same == [(p.name, p.default) for p in list(one.values())[1:] if p.name not in ("regions",)], method
