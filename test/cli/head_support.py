"""What the tests of classification heads share: models with a head, and the reference of test/reference/head_reference.py. Not a test."""

import json
import os
import struct
import sys

import numpy as np

from harness import fresh, model, read, write

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "reference"))
import head_reference  # noqa: E402

LABELS = ["K562_scaled", "Hep-G2", "SK N.SH"]
TAGS = ["CARBON_HEAD_K562_scaled", "CARBON_HEAD_Hep_G2", "CARBON_HEAD_SK_N.SH"]
PROBLEMS = {"none": "regression", "softmax": "single_label_classification", "sigmoid": "multi_label_classification"}
# As the f32 bound of the goldens.
TOLERANCE = 2e-4


def head_model(**changes):
    options = dict(labels=3, label_names=",".join(LABELS), problem_type="regression")
    options.update(changes)
    return model(**{name: value for name, value in options.items() if value != ""})


_references = {}


def reference_head(path):
    if path not in _references:
        _references[path] = head_reference.Head(path)
    return _references[path]


def changed_model(change_config=None, change_tensors=None, **options):
    """A model with a head of its own directory, whose config.json or tensors a function has changed.

    `change_tensors` gets and returns name -> [dtype, shape, bytes].
    """
    source = head_model(dtype="f32", **options)
    path = os.path.join(fresh(), "model")
    os.mkdir(path)
    config = json.loads(read(os.path.join(source, "config.json")))
    if change_config:
        change_config(config)
    write(path, "config.json", json.dumps(config))
    write(path, "dna_config.json", read(os.path.join(source, "dna_config.json")))
    content = read(os.path.join(source, "model.safetensors"))
    size, = struct.unpack("<Q", content[:8])
    header = json.loads(content[8:8 + size])
    header.pop("__metadata__", None)
    tensors = {name: [entry["dtype"], entry["shape"], content[8 + size + entry["data_offsets"][0]:8 + size + entry["data_offsets"][1]]]
               for name, entry in header.items()}
    if change_tensors:
        change_tensors(tensors)
    header, body = {}, b""
    for name, (dtype, shape, raw) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(body), len(body) + len(raw)]}
        body += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    write(path, "model.safetensors", struct.pack("<Q", len(text)) + text + body)
    return path


def table_of(text):
    """Names of the columns, and name -> values."""
    lines = [line.split("\t") for line in text.splitlines() if not line.startswith("##")]
    return lines[0], {line[0]: np.array([float(value) for value in line[1:]]) for line in lines[1:]}
