#!/usr/bin/env python3
"""test/check_rooms.py [--write]: compares the list of rooms in HACKING.md with what each room says of itself; --write renews the list.

One header of a room begins with `// FOLDER/: TEXT`: what the room is, what comes in, what goes out. The text ends where the comment
has an empty line or ends. In HACKING.md the folder and the text are an entry of the list, in the place that the entry has there. What
differs is printed, and the exit status is then 1.
"""

import os
import re
import sys
import textwrap

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from check_includes import FOLDERS, PLUGINS  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HACKING = os.path.join(ROOT, "HACKING.md")
INDENT, WIDTH = 17, 128
ENTRY = re.compile(r"^(\S+/) +(\S.*\n(?: {%d}.*\n)*)" % INDENT, re.M)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def said(folder):
    """What the headers of a folder say of it: the texts, each with its file."""
    start, found = "// %s/: " % folder, []
    for name in sorted(os.listdir(os.path.join(ROOT, folder))):
        if name.endswith((".hpp", ".h", ".cuh")):
            lines = read(os.path.join(ROOT, folder, name)).splitlines()
            if lines and lines[0].startswith(start):
                end = next(i for i, line in enumerate(lines) if not line.startswith("// "))
                found.append((" ".join([lines[0][len(start):]] + [line[3:].strip() for line in lines[1:end]]), name))
    return found


def main(write):
    whole, wrong = read(HACKING), []
    text = whole
    entries = {}
    for found in ENTRY.finditer(whole):
        if found[1] in entries:
            wrong.append("HACKING.md has two entries %s" % found[1])
        entries[found[1]] = found[0]
    for folder in FOLDERS:
        if folder == PLUGINS:
            continue  # what is outside reads carbon_plugin.h, which has its own first words
        rooms = said(folder)
        if len(rooms) != 1:
            wrong.append("%s: %s headers begin with '// %s/: '; expected one" % (folder, len(rooms) or "no", folder))
            continue
        entry = textwrap.fill(rooms[0][0], WIDTH, initial_indent=(folder + "/").ljust(INDENT - 1) + " ", subsequent_indent=" " * INDENT,
                              break_long_words=False, break_on_hyphens=False) + "\n"
        if folder + "/" not in entries:
            wrong.append("HACKING.md has no entry %s/" % folder)
        elif entries[folder + "/"] != entry:
            text = text.replace(entries[folder + "/"], entry)
            if not write:
                wrong.append("HACKING.md: the entry of %s/ is not what %s/%s says; test/check_rooms.py --write renews it" % (
                    folder, folder, rooms[0][1]))
    if text != whole and write:
        with open(HACKING, "w", encoding="utf-8") as file:
            file.write(text)
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["--write"]):
        sys.exit(__doc__)
    sys.exit(main(write=len(sys.argv) > 1))
