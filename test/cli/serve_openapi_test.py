"""GET /openapi.json describes /v1/dna/*: the requests of docs/serving.md and the server's answers fit it, wrong fields do not."""

import json
import os
import re

from harness import case, expect, expect_equal, fresh, main, write
from serve_support import Server, need_server

DOCUMENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "serving.md")
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float), "null": type(None)}


def problem(schema, value, where):
    """What is wrong with a value by the part of JSON Schema that the file uses; None if nothing is."""
    known = {"type", "properties", "required", "items", "enum", "minimum", "maximum", "default", "description", "additionalProperties",
             "oneOf", "minLength"}
    expect(set(schema) <= known, "%s: %s" % (where, schema))
    if "oneOf" in schema:
        fitting = [one for one in schema["oneOf"] if problem(one, value, where) is None]
        if len(fitting) != 1:
            return "%s fits %d of oneOf" % (where, len(fitting))
    kinds = schema.get("type", list(TYPES))
    kinds = kinds if isinstance(kinds, list) else [kinds]
    if not any(isinstance(value, TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool)) for kind in kinds):
        return "%s is no %s" % (where, kinds)
    if "enum" in schema and value not in schema["enum"]:
        return "%s is none of %s" % (where, schema["enum"])
    if isinstance(value, (int, float)) and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        return "%s is out of bounds" % where
    if isinstance(value, str) and len(value) < schema.get("minLength", 0):
        return "%s is too short" % where
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        missing = [name for name in schema.get("required", ()) if name not in value]
        unknown = [name for name in value if name not in properties] if schema.get("additionalProperties") is False else []
        if missing or unknown:
            return "%s lacks %s, and has %s too many" % (where, missing, unknown)
        return next((found for name, one in value.items() if name in properties
                     for found in [problem(properties[name], one, where + "." + name)] if found), None)
    if isinstance(value, list) and "items" in schema:
        return next((found for i, one in enumerate(value) for found in [problem(schema["items"], one, "%s[%d]" % (where, i))] if found), None)
    return None


def examples():
    """(path, body) of each request of docs/serving.md to /v1/dna whose body is in the command."""
    with open(DOCUMENT, encoding="utf-8") as file:
        text = file.read()
    found = re.findall(r"\$url(/v1/dna/[a-z]+) -d '(\{.*?\})'", text, re.S)
    expect(len(found) > 7, found)
    return [(path, json.loads(body)) for path, body in found]


@case
def requests_and_answers_fit_the_description():
    need_server()
    fasta = write(fresh(), "ref.fa", ">c\n" + "ACGTTAGCAT" * 30 + "\n")
    with Server("-f", fasta) as server:
        document = server.get("/openapi.json").json
        expect_equal(document["openapi"], "3.1.0", "version")
        paths = document["paths"]
        verbs = ["embed", "generate", "scan", "score", "variants"]  # no label is predicted by this model
        expect_equal(sorted(paths), ["/health", *("/v1/dna/" + verb for verb in verbs), "/version"], "paths")
        schema = {path: paths[path]["post"]["requestBody"]["content"]["application/json"]["schema"] for path in paths if "post" in paths[path]}
        answers = {path: paths[path]["post"]["responses"]["200"]["content"]["application/json"]["schema"] for path in schema}
        own = [("/v1/dna/variants", {"variants": ["c:5 T>A", {"chrom": "c", "pos": 20, "ref": "T", "alt": "<DEL>", "end": 24}]}),
               ("/v1/dna/scan", {"region": "c:11-40", "strand": "+"}), ("/v1/dna/embed", {"sequences": ["ACGTACGT"], "pool": "mean"}),
               ("/v1/dna/score", {"sequences": ["ACGTNACGT"], "probabilities": True}),
               ("/v1/dna/scan", {"sequence": "ACGTAC", "context": None}),
               ("/v1/dna/generate", {"length": 12, "gc": [20, 80], "no_stop": ["prompt", 1], "greedy": False, "num": 2})]
        for path, body in examples() + own:
            expect_equal(problem(schema[path], body, path), None, body)
            expect_equal(problem(answers[path], server.good(path, body), path), None, body)
        region = server.good("/v1/dna/scan", {"region": "c:11-40", "context": 60})
        expect_equal([region["chrom"], region["pos"], region["sequence_length"], region["sequence"]], ["c", 11, 30, "ACGTTAGCAT" * 3], "region")
        scored = server.good("/v1/dna/variants", {"variants": ["c:5 T>A", "c:20 T>G"]})["results"]
        objects = [{"chrom": "c", "pos": 5, "ref": "T", "alt": "A"}, {"chrom": "c", "pos": 20, "ref": "T", "alt": "G"}]
        expect_equal(scored, server.good("/v1/dna/variants", {"variants": objects})["results"], "texts and objects")


@case
def the_table_has_the_fields_of_the_description():
    """docs/serving.md lists the fields that the declarations of the verbs have, with their defaults, and no others."""
    need_server()
    with open(DOCUMENT, encoding="utf-8") as file:
        rows = dict(re.findall(r"^\| `(/v1/dna/[a-z]+)` \| (.*?) \| ", file.read(), re.M))
    with Server() as server:
        paths = server.get("/openapi.json").json["paths"]
    parts = {"chrom", "pos", "ref", "alt", "end", "svlen", "info"}  # of an object that is a variant
    seen = 0
    for path in (path for path in paths if "post" in paths[path]):
        schema = paths[path]["post"]["requestBody"]["content"]["application/json"]["schema"]["properties"]
        cell = rows[path] + (rows["/v1/dna/predict"] if path == "/v1/dna/variants" else "")
        words = {word for one in schema.values() for word in one.get("enum", ())} | {"head", "centered"}
        named = set(re.findall(r"`([a-z_]+)`", re.sub(r"\([^)]*\)", "", cell))) - words
        expect_equal(sorted(named - parts - {"sequences"}), sorted(set(schema) - {"model", "sequences"}), "fields of " + path)
        for name, one in schema.items():
            if "default" in one:
                default = one["default"]
                if not isinstance(default, str):
                    default = "%g" % default if type(default) is float else json.dumps(default)
                shown = re.search(r"`%s`(?: or `\w+`)? \(`?([^`,)]+)" % name, cell)
                expect(shown and shown[1] == default, "the default of %s of %s is %s: %s" % (name, path, default, shown and shown[0]))
                seen += 1
    expect(seen > 12, "%d defaults" % seen)


@case
def what_the_server_refuses_does_not_fit():
    need_server()
    with Server() as server:
        paths = server.get("/openapi.json").json["paths"]
        for path, body in (("/v1/dna/score", {}), ("/v1/dna/score", {"sequences": "ACGT"}), ("/v1/dna/score", {"sequences": ["A"], "level": "x"}),
                           ("/v1/dna/score", {"sequences": ["A"], "window": 0}), ("/v1/dna/score", {"sequences": ["A"], "windows": 6}),
                           ("/v1/dna/generate", {}), ("/v1/dna/generate", {"length": 6, "top_k": 4097}),
                           ("/v1/dna/generate", {"length": 6, "avoid": "GAATTC"}), ("/v1/dna/embed", {"sequences": ["A" * 60], "layer": -2}),
                           ("/v1/dna/scan", {}), ("/v1/dna/scan", {"sequence": "ACGT", "region": "c:1-2"}),
                           *(("/v1/dna/variants", {"variants": [one], "sequence": "ACGT"})
                             for one in (5, {"pos": 2, "ref": "", "alt": "A"}, {"pos": 2, "ref": "C", "alt": "A", "id": "x"}))):
            schema = paths[path]["post"]["requestBody"]["content"]["application/json"]["schema"]
            expect(problem(schema, body, path) is not None, body)
            expect_equal(server.post(path, body).status, 400, body)


main()
