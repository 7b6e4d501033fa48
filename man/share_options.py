#!/usr/bin/env python3
"""share_options.py [--write]: compares with man/shared-options the copies of its paragraphs in the manual pages; --write renews them.

A paragraph of man/shared-options follows a comment with its name. In a page, the lines between `.\\" Shared options: NAME...` and
`.\\" End of shared options` are those paragraphs. What differs is printed, and the exit status is then 1.
"""

import glob
import os
import re
import sys

MAN = os.path.dirname(os.path.abspath(__file__))
COPY = re.compile(r'^(\.\\" Shared options: ([^\n]*)\n)(.*?)^(?=\.\\" End of shared options$)', re.M | re.S)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def main(write):
    parts = re.split(r'^\.\\" (\S+)\n', read(os.path.join(MAN, "shared-options")), flags=re.M)
    paragraphs, used, wrong = dict(zip(parts[1::2], parts[2::2])), [], []
    for path in sorted(glob.glob(os.path.join(MAN, "*.[15]"))):
        page, text = "man/" + os.path.basename(path), read(path)
        names = [name for _, line, _ in COPY.findall(text) for name in line.split()]
        used += names
        for name in set(names) - set(paragraphs):
            sys.exit("%s: man/shared-options has no paragraph %s" % (page, name))
        if text.count('\n.\\" Shared options:') != len(COPY.findall(text)):
            sys.exit("%s: shared options without their end" % page)
        wrong += ["%s: %s stands outside of the shared options" % (page, name) for name in paragraphs if paragraphs[name] in COPY.sub("", text)]
        new = COPY.sub(lambda found: found[1] + "".join(paragraphs[name] for name in found[2].split()), text)
        if new != text and write:
            with open(path, "w", encoding="utf-8") as file:
                file.write(new)
        elif new != text:
            wrong.append(page + " differs from man/shared-options; man/share_options.py --write renews it")
    wrong += ["man/shared-options: %s stands in fewer than two pages" % name for name in paragraphs if used.count(name) < 2]
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["--write"]):
        sys.exit(__doc__)
    sys.exit(main(write=len(sys.argv) > 1))
