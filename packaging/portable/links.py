#!/usr/bin/env python3
"""links.py ROOT: makes the relative links of the Markdown pages of an unpacked archive lead to files of this archive.

The pages are those of the sources. A link to what lies elsewhere in the archive is changed, and a link to what is not in the archive
becomes its text. The README at the top is written for the archive: it is only checked. The exit status is 1, with a line for each, if
a link leads nowhere."""

import os
import re
import sys

# Where `make install` puts folders of the sources; the others that are in the archive have their place.
PLACES = {name + "/": "share/carbon/" + name.rsplit("/", 1)[-1] + "/"
          for name in ("workflows", "models", "packaging/vcfanno", "packaging/ensembl-vep")}
LINK = re.compile(r"!?\[((?:[^\[\]\n]|\n(?!\n))*)\]\(([^)\s]+)\)")
BLOCK = re.compile(r"(^```.*?^```$)", re.M | re.S)


def moved(path, places):
    """The path with the first folder of `places` that it begins with replaced."""
    for old, new in places.items():
        if (path + "/").startswith(old):
            return (new + path[len(old):]).rstrip("/")
    return path


def relative(target):
    return not re.match(r"\w+:|#", target)


def is_in(root, path):
    return not path.startswith("..") and os.path.exists(os.path.join(root, path))


def mend(root, page, text):
    """The text of a page with its links mended. `page` is its path in the archive."""
    folder = os.path.dirname(page)
    in_sources = os.path.dirname(moved(page, {new: old for old, new in PLACES.items()}))

    def mended(link):
        words, target = link.groups()
        name, mark, anchor = target.partition("#")
        if not relative(target) or is_in(root, os.path.normpath(os.path.join(folder, name))):
            return link.group()
        place = moved(os.path.normpath(os.path.join(in_sources, name)), PLACES)
        if not is_in(root, place):
            return words
        for old, new in PLACES.items():
            if words.startswith(old):
                words = new + words[len(old):]
        return "%s[%s](%s)" % ("!" * link.group().startswith("!"), words, os.path.relpath(place, folder or ".") + mark + anchor)

    parts = BLOCK.split(text)
    return "".join(part if part.startswith("```") else LINK.sub(mended, part) for part in parts)


def broken(root, page, text):
    """The relative links of a page that lead nowhere, or out of the archive."""
    for target in re.findall(r"\]\(([^)\s]+)\)", BLOCK.sub("", text)):
        if relative(target):
            place = os.path.normpath(os.path.join(os.path.dirname(page), target.partition("#")[0]))
            if not is_in(root, place):
                yield target


def main(root):
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
                new = mend(root, page, text)
                if new != text:
                    with open(path, "w", encoding="utf-8", newline="") as file:
                        file.write(new)
                text = new
            for target in broken(root, page, text):
                print("links.py: %s links to %s, which is not in the archive" % (page, target), file=sys.stderr)
                wrong = True
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) != 2 or not os.path.isdir(sys.argv[1]):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
