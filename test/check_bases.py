#!/usr/bin/env python3
"""Find rooms that know how many bases a token has, though they should ask the model's family (tokenizer/family.hpp).

`make lint` runs it.

    test/check_bases.py [FOLDER OF THE SOURCES]

A 6 or a constant for it in the code of such a room, and a 4096 in those that know about tokens at all, is an error unless the table
below has its line with a reason. Exit status 1 if there was any.
"""

import os
import re
import sys

# Rooms that work for any number of bases. The families themselves are in tokenizer and src/model; kernels compute 6-mers.
TOKEN_ROOMS = ("src/sampling", "src/transformer", "src/engine", "src/pooling", "src/embed",
               "src/generate", "src/score", "src/scan", "src/vep", "src/verbs")
OTHER_ROOMS = ("src/serve", "src/api", "src/bench", "src/plugin", "src/mcp", "src/cli", "plugins")
NUMBER = r"(?<![\w.'])(?:%s)(?:[uUlLzZ]*|\.0)(?![\w.'])"
CONSTANT = r"|\bkKmer(?:Length|Count)\b|\bops::k(?:Bases|Kmers|Marginals)\b"
KNOWS = {room: re.compile(NUMBER % ("6|4'?096" if room in TOKEN_ROOMS else "6") + CONSTANT) for room in TOKEN_ROOMS + OTHER_ROOMS}
# Literals and comments, of which only the code between them is looked at.
SKIPPED = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|//[^\n]*|/\*.*?\*/', re.S)

# (file, what the line contains, why it may)
ALLOWED = [
    # The most bases that a token of any family has.
    ("src/sampling/base_scores.hpp", "bases.substr(0, ops::kBases)", "ops::KnownBases has room for so many"),
    ("src/sampling/allowed_bases.hpp", "std::bitset<ops::kKmers>", "room for the longest tokens"),
    ("src/sampling/bounds.cpp", "std::array<Place, ops::kBases>", "room for the longest tokens"),
    ("src/sampling/samplers.cpp", "std::array<double, ops::kMarginals>", "room for the longest tokens"),
    ("src/sampling/samplers.cpp", ".range(1, ops::kKmers)", "top-k for the longest tokens"),
    ("src/scan/run.cpp", ".range(1, 6)", "frames of the longest tokens"),
    ("src/sampling/joint.hpp", "kNoKmer = ops::kKmers", "an index that no k-mer has"),
    ("src/sampling/allowed_bases.hpp", "size_t k = ops::kBases", "replaced by that of the model"),
    ("src/vep/recipe.hpp", "kMostPhases = ops::kBases", "the most phases"),
    ("src/engine/ordered_writer.hpp", "engine.pass_rows() * ops::kMarginals", "a limit of memory"),
    ("src/engine/draws.cpp", "kmers == ops::kKmers", "what a device draws"),
    ("src/transformer/head.cpp", "= ops::kKmers", "what a backend computes"),
    ("src/serve/completion_request.cpp", "static_cast<int64_t>(ops::kKmers)", "top-k for the longest tokens"),
    # Other sixes.
    ("src/sampling/samplers.cpp", "append_general(value, 6, text)", "digits"),
    ("src/transformer/head.cpp", "kSliceRows = 4096", "rows of a vocabulary"),
    ("src/engine/drafter.cpp", "kMemory = 4096", "drafts that are remembered"),
    ("src/api/call.cpp", "kLeastPieces = 6", "pieces that run at once"),
    ("src/scan/output.cpp", "2 + 2 + 6 + 6 + 12", "bytes of a record"),
    ("src/scan/run.cpp", "kLeastItems = 6", "windows that are planned ahead"),
    ("src/vep/planner.cpp", "kMostBases = 6", "between variants that are neighbours"),
    ("src/vep/recipes/next_token.cpp", "kSpelledOut = 4096", "bases of an allele"),
    ("src/serve/embeddings.cpp", "18 - 6 * j", "bits"),
    ("src/cli/options.cpp", ".range(0, 6)", "--verbosity"),
    ("plugins/carbon_plugin.h", "CARBON_MODEL_POSITIONS = 6", "a number of a list"),
    ("plugins/gene-summary.cpp", "to_text(value, 6)", "digits"),
    ("plugins/haplotypes.cpp", "kDistanceByDefault = 6", "between variants that are neighbours"),
    ("plugins/perturb.cpp", "int64_t{6}", "the least length of a sequence"),
]


def lines_that_know(path, knows):
    with open(path, encoding="utf-8") as source:
        text = source.read()
    code = SKIPPED.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)
    for number, (line, whole) in enumerate(zip(code.split("\n"), text.split("\n")), 1):
        if knows.search(line):
            yield number, whole


def main(root):
    problems, used = [], set()
    for room, knows in KNOWS.items():
        for folder, _, files in sorted(os.walk(os.path.join(root, room))):
            for name in sorted(files):
                path = os.path.relpath(os.path.join(folder, name), root)
                if not name.endswith((".cpp", ".hpp", ".h")):
                    continue
                for number, line in lines_that_know(os.path.join(root, path), knows):
                    allowed = [entry for entry in ALLOWED if entry[0] == path and entry[1] in line]
                    used.update(allowed)
                    if not allowed:
                        problems.append("%s:%d: knows how many bases a token has; ask TokenLayout (tokenizer/kmer.hpp): %s" %
                                        (path, number, line.strip()))
    for path, part, _ in sorted(set(ALLOWED) - used):
        problems.append("%s: the table of test/check_bases.py has '%s', which is not there any more" % (path, part))
    for problem in problems:
        print(problem)
    print("%d lines know how many bases a token has" % len(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")))
