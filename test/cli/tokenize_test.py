"""carbon tokenize on DNA regions, which need no tokenizer files, against an independent encoder."""

import json
import os
import random

from harness import bgzip, case, decompress, expect, expect_equal, fresh, is_bgzf, main, model, ok, read, write

RELEASED = 151669  # id of <dna>; </dna>, <oov> and the 6-mers follow


def kmer_id(kmer, start):
    number = 0
    for base in kmer:
        number = number * 4 + "ATCG".index(base)
    return start + 3 + number


def encode(region, start=RELEASED):
    """Ids and mask of one DNA region as it stands in the text, with or without its tags."""
    ids, mask = [], []
    if region.startswith("<dna>"):
        ids, mask, region = [start], [0], region[5:]
    closed = region.endswith("</dna>")
    content = (region[:-6] if closed else region).strip().upper()
    for i in range(0, len(content), 6):
        chunk = content[i:i + 6]
        padded = chunk + "A" * (6 - len(chunk))
        good = set(padded) <= set("ACGT")
        ids.append(kmer_id(padded, start) if good else start + 2)
        mask.append(len(chunk) if good else 0)
    if closed:
        ids.append(start + 1)
        mask.append(0)
    return {"ids": ids, "mask": mask}


def tokenize(values, *args, **options):
    given = "".join(json.dumps(v) + "\n" for v in values).encode()
    return [json.loads(line) for line in ok("tokenize", *args, stdin=given, **options).lines()]


REGIONS = ["<dna>ACGTAC</dna>", "<dna></dna>", "<dna>", "</dna>", "<dna>ACGT", "<dna>ACGTACG</dna>", "<dna>acgtnnacgtac</dna>",
           "ACGTAC</dna>", "<dna> \t\nACGTAC\n</dna>", "<dna>AC GTAC</dna>", "<dna>NNNNNN</dna>", "<dna>ACGTAN</dna>",
           "<dna>CCN</dna>", "<dna>TTTTTTCCCCCCGGGGGGAAAAAA</dna>", "<dna>ACG<dna>TAC</dna>", "<dna>\u00e9\u4e2d\U0001f9ec</dna>"]


@case
def regions():
    for text, got in zip(REGIONS, tokenize(REGIONS)):
        expect_equal(got, encode(text), repr(text))
    expect_equal(encode("<dna>AAAAATTTTTTT</dna>")["ids"], [151669, 151673, 153037, 151670], "the encoder of this test")


@case
def random_regions():
    rng = random.Random(11)
    texts = ["<dna>" + "".join(rng.choice("ACGTACGTacgtN") for _ in range(rng.randint(0, 60))) + "</dna>" for _ in range(300)]
    expect_equal(tokenize(texts), [encode(text) for text in texts], "ids and masks")


@case
def several_regions_in_one_text():
    parts = ["<dna>ACGTAC</dna>", "<dna>GGT</dna>", "TTT</dna>", "<dna>A"]
    whole = [encode(part) for part in parts]
    wanted = {key: sum((part[key] for part in whole), []) for key in ("ids", "mask")}
    expect_equal(tokenize(["".join(parts)]), [wanted], "concatenated regions")


@case
def automatic_tags():
    expect_equal(tokenize(["ACGTACGG", "<dna>ACG", ""], "--auto-dna-tags"),
                 [encode("<dna>ACGTACGG</dna>"), encode("<dna>ACG"), encode("<dna></dna>")], "ids and masks")


@case
def layout_of_a_model():
    expect_equal(tokenize(REGIONS, "-m", model()), [encode(text, 0) for text in REGIONS], "ids and masks")
    expect_equal(tokenize(["<dna>ACG"], env={"CARBON_MODEL": model()}), [encode("<dna>ACG")], "$CARBON_MODEL is ignored")


@case
def decoding_is_the_inverse():
    texts = ["<dna>ACGTAC</dna>", "<dna>ACGTACGGGGGG", "<dna></dna>", ""]
    ids = [encode(text)["ids"] for text in texts]
    expect_equal(tokenize(ids, "--decode"), texts, "text")
    expect_equal(tokenize(ids, "--decode", "--skip-special"), ["ACGTAC", "ACGTACGGGGGG", "", ""], "text without tags")
    expect_equal(tokenize([encode("<dna>ACGTACG</dna>")["ids"]], "--decode"), ["<dna>ACGTACGAAAAA</dna>"], "the padding shows")
    expect_equal(tokenize([[151669, 151671, 151670]], "--decode"), ["<dna><oov></dna>"], "an unknown 6-mer")
    expect_equal(tokenize([encode("<dna>GATTACA", 0)["ids"]], "--decode", "-m", model()), ["<dna>GATTACAAAAAA"], "a model's ids")


@case
def ways_in_and_out():
    directory = fresh()
    path = write(directory, "in.jsonl", '"<dna>ACGTAC</dna>"\n"<dna>G"\r\n"<dna>T"')
    wanted = ok("tokenize", path).out
    expect_equal(wanted.count(b"\n"), 3, "lines, with DOS line ends and no newline at the end")
    expect_equal(ok("tokenize", "-", stdin=read(path)).out, wanted, "-")
    expect_equal(ok("tokenize", bgzip(path)).out, wanted, "bgzip")
    for name in ("o.jsonl", "o.jsonl.gz"):
        out = os.path.join(directory, name)
        expect_equal(ok("tokenize", "-o", out, path).out, b"", "stdout of a run with -o")
        expect_equal(decompress(read(out)), wanted, name)
        expect_equal(is_bgzf(read(out)), name.endswith(".gz"), "BGZF of " + name)
    expect_equal(ok("tokenize", write(directory, "empty.jsonl", "")).out, b"", "no lines")


@case
def a_long_line():
    bases = "ACGTTGCAAGCT" * 50000
    got = tokenize(["<dna>" + bases])[0]
    expect(len(got["ids"]) == 100001 and got["ids"][1:3] == encode("<dna>" + bases[:12])["ids"][1:], "ids of 600,000 bases")


if __name__ == "__main__":
    main()
