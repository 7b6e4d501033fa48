#!/usr/bin/env python3
"""links.py ROOT [FOLDER]: makes the relative links of the Markdown pages of an unpacked archive or package lead to files in it.

The pages are those of the sources, below FOLDER of ROOT (default: ROOT itself). A link to what lies elsewhere in ROOT is changed, and a
link to what is not there becomes its text. A README at the top is written for the archive: it is only checked. The exit status is 1,
with a line for each, if a link leads nowhere."""

import os
import re
import sys

# Where `make install` puts folders of the sources; the others have their place below FOLDER.
PLACES = {name + "/": "share/carbon/" + name.rsplit("/", 1)[-1] + "/"
          for name in ("workflows", "models", "packaging/vcfanno", "packaging/ensembl-vep")}
LINK = re.compile(r"!?\[((?:[^\[\]\n]|\n(?!\n))*)\]\(([^)\s]+)\)")
BLOCK = re.compile(r"(^```.*?^```$)", re.M | re.S)


def place_of(path, base):
    """Where a file of the sources lies."""
    for old, new in PLACES.items():
        if (path + "/").startswith(old):
            return (new + path[len(old):]).rstrip("/")
    return os.path.normpath(os.path.join(base, path))


def source_of(page, base):
    """The path that a page has in the sources."""
    for old, new in PLACES.items():
        if page.startswith(new):
            return old + page[len(new):]
    return os.path.relpath(page, base)


def relative(target):
    return not re.match(r"\w+:|#", target)


def is_in(root, path):
    return not path.startswith("..") and os.path.exists(os.path.join(root, path))


def mend(root, base, page, text):
    """The text of a page with its links mended. `page` is its path in `root`."""
    folder = os.path.dirname(page)
    in_sources = os.path.dirname(source_of(page, base))

    def mended(link):
        words, target = link.groups()
        name, mark, anchor = target.partition("#")
        if not relative(target) or is_in(root, os.path.normpath(os.path.join(folder, name))):
            return link.group()
        place = place_of(os.path.normpath(os.path.join(in_sources, name)), base)
        if not is_in(root, place):
            return words
        for old, new in PLACES.items():
            if words.startswith(old):
                words = new + words[len(old):]
        return "%s[%s](%s)" % ("!" * link.group().startswith("!"), words, os.path.relpath(place, folder or ".") + mark + anchor)

    parts = BLOCK.split(text)
    return "".join(part if part.startswith("```") else LINK.sub(mended, part) for part in parts)


def broken(root, page, text):
    """The relative links of a page that lead nowhere, or out of `root`."""
    for target in re.findall(r"\]\(([^)\s]+)\)", BLOCK.sub("", text)):
        if relative(target):
            place = os.path.normpath(os.path.join(os.path.dirname(page), target.partition("#")[0]))
            if not is_in(root, place):
                yield target


def main(root, base="."):
    wrong = False
    for where, folders, names in os.walk(root):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(where, name)
            if not name.endswith((".md", ".ipynb")):
                continue
            page = os.path.relpath(path, root)
            with open(path, encoding="utf-8", newline="") as file:
                text = file.read()
            if page != "README.md" and name.endswith(".md"):
                new = mend(root, base, page, text)
                if new != text:
                    with open(path, "w", encoding="utf-8", newline="") as file:
                        file.write(new)
                text = new
            for target in broken(root, page, text):
                print("links.py: %s links to %s, which is not there" % (page, target), file=sys.stderr)
                wrong = True
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or not os.path.isdir(os.path.join(*sys.argv[1:])):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
