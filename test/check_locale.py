#!/usr/bin/env python3
"""Find code whose results would depend on the process that libcarbon is in: on its locale, or on how its threads round.

`make lint` and test/run.sh run it.

    test/check_locale.py [FOLDER OF THE SOURCES]

A line for each use of a function that src/base/numbers.hpp, src/base/letters.hpp or src/base/threads.hpp replaces, unless the table below
has it with a reason. Exit status 1 if there was any.
"""

import os
import re
import sys

ROOMS = ("src", "plugins", "tokenizer", "kernels", "include")
# (what is looked for, in code without comments; what to use)
RULES = [
    (r"\b(?:s|sn|as|k|v|vf|vd|vs|vsn|vas)printf\s*\(", "fixed_text() and others of src/base/numbers.hpp"),
    (r"\b(?:f|d)?printf\s*\((?:[^;\"]|\"(?:\\.|[^\"\\])*\")*?%[-+ #0-9.*]*l?[aAeEfFgG]", "fixed_text() and others of src/base/numbers.hpp"),
    (r"\bstrto(?:d|f|ld)(?:_l)?\s*\(|\bato[fl]\s*\(|\bsto(?:d|f|ld)\s*\(|\b[fs]?scanf\s*\(", "parse_number() of src/base/numbers.hpp"),
    (r"\bis(?:alpha|alnum|digit|xdigit|space|blank|upper|lower|punct|print|graph|cntrl)\s*\(|\bto(?:upper|lower)\s*\(", "src/base/letters.hpp"),
    (r"\bstrn?casecmp\s*\(|\bstrcasestr\s*\(|\bstrcoll\s*\(|\bstrxfrm\s*\(", "equal_letters() of src/base/letters.hpp"),
    (r"\bstd::setprecision\b|\bo?stringstream\b|\bstd::format\b|\bstd::put_time\b|\bstrftime\s*\(", "src/base/numbers.hpp"),
    (r"\bstd::(?:basic_|w)?regex\b|\bstd::locale\b|\bsetlocale\s*\(|\b(?:use|new)locale\s*\(|\blocaleconv\s*\(", "OwnEnvironment (src/base/threads.hpp)"),
    (r"\bfeset(?:env|round)\s*\(|\b_mm_setcsr\b|\b_MM_SET_", "OwnEnvironment (src/base/threads.hpp)"),
    (r"\bstd::jthread\b|\bstd::async\b|\bpthread_create\b|\bstd::thread\s*[({]|\bstd::thread\s+\w+\s*[({]", "start_thread() or run_threads() of src/base/threads.hpp"),
]
# (file, what the line contains, why it may)
ALLOWED = [
    ("src/base/threads.cpp", "newlocale(", "it is what sets the environment"),
    ("src/base/threads.cpp", "uselocale(", "it is what sets the environment"),
    ("src/base/threads.cpp", "std::fesetenv(", "it is what sets the environment"),
    ("src/base/threads.hpp", "std::thread start_thread(", "it is what starts threads"),
    ("src/base/threads.hpp", "return std::thread(", "it is what starts threads"),
    ("src/model/lora.cpp", "std::regex", "with the locale C"),
    ("src/model/lora.cpp", "std::locale", "with the locale C"),
]
COMMENT = re.compile(r'("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\')|//[^\n]*|/\*.*?\*/', re.S)


def without_comments(text):
    return COMMENT.sub(lambda found: found.group(1) or re.sub(r"[^\n]", " ", found.group()), text)


def main(root):
    problems, used, count = [], set(), 0
    rules = [(re.compile(pattern), instead) for pattern, instead in RULES]
    for room in ROOMS:
        for folder, _, files in sorted(os.walk(os.path.join(root, room))):
            for name in sorted(files):
                path = os.path.relpath(os.path.join(folder, name), root)
                if not name.endswith((".cpp", ".hpp", ".h", ".inl", ".cu", ".cuh")):
                    continue
                count += 1
                with open(os.path.join(root, path), encoding="utf-8") as source:
                    text = source.read()
                lines = text.split("\n")
                code = without_comments(text)
                for rule, instead in rules:
                    for found in rule.finditer(code):
                        number = code.count("\n", 0, found.start())
                        allowed = [entry for entry in ALLOWED if entry[0] == path and entry[1] in lines[number]]
                        used.update(allowed)
                        if not allowed:
                            problems.append("%s:%d: depends on the locale or the rounding of the process; use %s: %s" %
                                            (path, number + 1, instead, lines[number].strip()))
    for path, part, _ in sorted(set(ALLOWED) - used):
        problems.append("%s: the table of test/check_locale.py has '%s', which is not there any more" % (path, part))
    for problem in problems:
        print(problem)
    print("%d files checked, %d places depend on the process" % (count, len(problems)))
    return 1 if problems or not count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")))
