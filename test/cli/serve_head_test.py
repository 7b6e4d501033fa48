"""carbon serve with a classification head: the values of carbon predict and of vep --recipe head, and what is refused."""

import json

import numpy as np

from generate_support import random_bases
from harness import case, expect, expect_close, expect_equal, fresh, info_of, main, model, ok, records, to_fasta, write
from head_support import LABELS, TAGS, head_model, table_of
from serve_support import Server, need_server
from vep_support import HEAD, OTHER

SEQUENCES = [random_bases(length, length) for length in (60, 203, 66)]


@case
def values_are_those_of_predict():
    scale = {"K562_scaled": {"mean": 1, "std": 2}, "Hep-G2": {"mean": -1, "std": 3}, "SK N.SH": {"mean": 0, "std": 1}}
    fasta = write(fresh(), "in.fa", to_fasta([("s%d" % i, bases) for i, bases in enumerate(SEQUENCES)]))
    file = write(fresh(), "scale.json", json.dumps(scale))
    with Server("-m", head_model()) as server:
        for fields, options in (({}, []), ({"strand": "both", "pad_tail": True}, ["--strand", "both", "--pad-tail"]),
                                ({"pool": "last", "strand": "-"}, ["--pool", "last", "--strand", "-"]),
                                ({"label_scale": scale}, ["--label-scale", file]), ({"activation": "softmax"}, ["--activation", "softmax"])):
            answer = server.good("/v1/dna/predict", {"sequences": SEQUENCES, **fields})
            _, rows = table_of(ok("predict", "-m", head_model(), *options, fasta).text)
            expect_equal(answer["labels"], LABELS, "labels")
            expect_equal([["%.9g" % value for value in result["values"]] for result in answer["results"]],
                         [["%.9g" % value for value in row] for row in rows.values()], str(fields))
        expect_equal(server.good("/v1/dna/predict", {"sequences": SEQUENCES[:1], "labels": ["a", "b", "c"]})["labels"], ["a", "b", "c"], "names")
        expect_equal(server.good("/v1/dna/predict", {"sequences": SEQUENCES[:1], "labels": []})["labels"], LABELS, "no names")
        expect_equal(server.get("/v1/models").json["data"][0]["labels"], LABELS, "labels of the model")
        embedded = server.post("/v1/embeddings", {"input": "<dna>" + SEQUENCES[0]})
        expect_equal(embedded.status, 200, "embeddings")
        for fields, words in (({"sequences": ["ACG"], "pool": "mean"}, "pool"), ({"sequences": ["ACG"], "labels": ["a", "b", ""]}, "labels"),
                              ({"sequences": ["ACG"], "labels": ["a"]}, "has 3"), ({"sequences": ["ACG"], "label_scale": 5}, "label_scale"),
                              ({"sequences": ["ACG"], "label_scale": {"Hep-G2": {"mean": 1, "std": 1}}}, "K562_scaled"),
                              ({"sequences": ["ACG"], "pool": "last"}, "6-mer"), ({"sequences": ["ACG"], "window": 5}, "window")):
            answer = server.post("/v1/dna/predict", fields)
            expect(answer.status == 400 and words in answer.json["error"]["message"], "%s: %s" % (fields, answer.body))
        for path, body in (("/v1/completions", {"prompt": "<dna>ACG"}), ("/v1/dna/score", {"sequences": ["ACGTAC"]}),
                           ("/v1/dna/generate", {"length": 6}), ("/v1/dna/scan", {"sequence": "ACGTAC"}),
                           ("/v1/dna/variants", {"sequence": SEQUENCES[0], "variants": []})):
            answer = server.post(path, body)
            expect(answer.status == 400 and "classification head" in answer.json["error"]["message"], "%s: %s" % (path, answer.body))


@case
def variants_are_those_of_vep():
    contig = random_bases(400, 8)
    places = [(pos, contig[pos - 1], OTHER[contig[pos - 1]]) for pos in (1, 50, 133, 200, 201, 399)]
    d = fresh()
    vcf = write(d, "in.vcf", HEAD % "##contig=<ID=c>\n" + "".join("c\t%d\t.\t%s\t%s\t.\t.\t.\n" % place for place in places))
    fasta = write(d, "ref.fa", to_fasta([("c", contig)]))
    with Server("-m", head_model()) as server:
        for fields, options in (({}, []), ({"strand": "+", "pool": "last"}, ["--strand", "+", "--pool", "last"]), ({"pad_tail": True}, ["--pad-tail"])):
            lines = records(ok("vep", "--recipe", "head", "--window", 61, "-m", head_model(), "-f", fasta, *options, vcf).text)
            answer = server.good("/v1/dna/variants", {"sequence": contig, "recipe": "head", "window": 61, **fields, "variants": [
                {"pos": pos, "ref": ref, "alt": alt} for pos, ref, alt in places]})
            expect_equal(answer["labels"], LABELS, "labels")
            for line, result in zip(lines, answer["results"]):
                for tag, value in zip(TAGS, result["values"]):
                    expect_close(np.float32(value), float(info_of(line)[tag]), 6e-6 * abs(value) + 1e-9, line)
        answer = server.post("/v1/dna/variants", {"sequence": contig, "recipe": "head", "variants": []})
        expect(answer.status == 400 and "window" in answer.json["error"]["message"], answer.body)
    with Server("-m", model()) as server:
        for path, body in (("/v1/dna/predict", {"sequences": ["ACGTAC"]}),
                           ("/v1/dna/variants", {"sequence": contig, "recipe": "head", "window": 61, "variants": []})):
            answer = server.post(path, body)
            expect(answer.status == 400 and "no classification head" in answer.json["error"]["message"], "%s: %s" % (path, answer.body))
        expect("labels" not in server.get("/v1/models").json["data"][0], "labels of another model")


if __name__ == "__main__":
    need_server()
    main()
