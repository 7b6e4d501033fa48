#!/usr/bin/env python3
"""version.py [--write]: compares with the file VERSION the copies of it that other formats force; --write corrects them.

What differs is printed, and the exit status is then 1. The changelogs at the end are only compared: somebody has to write them.
"""

import glob
import os
import re
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COPIES = {
    "CITATION.cff": r"(?<=\nversion: ).*",
    "packaging/conda/meta.yaml": r'(?<=set version = ")[^"]*',
    "packaging/Dockerfile": r'(?<=image\.version=")[^"]*',
    "packaging/carbon.def": r"(?<=image\.version )\S+",
    "workflows/galaxy/macros.xml": r'(?<=name="@TOOL_VERSION@">)[^<]*',
    "workflows/nextflow/modules/carbon/*/main.nf": r"(?<=/carbon:)[^']*",
    "workflows/nextflow/modules/carbon/*/environment.yml": r"(?<=bioconda::carbon=).*",
    "workflows/snakemake/wrappers/carbon/*/environment.yaml": r"(?<=- carbon =).*",
}
CHANGELOGS = {
    "packaging/debian/changelog": r"(?<=\Acarbon \().*?(?=-\d+\))",
    "NEWS.md": r"(?<=\A# News\n\n## )(?:Since )?[\d.]+",  # "Since" until a release, a date after it
}


def text(path):
    with open(os.path.join(TOP, path), encoding="utf-8") as file:
        return file.read()


def main(write):
    version, wrong = text("VERSION").strip(), 0
    for pattern, where in {**COPIES, **CHANGELOGS}.items():
        for path in sorted(glob.glob(pattern, root_dir=TOP)) or [pattern]:
            found = re.findall(where, text(path))
            if found and {name.removeprefix("Since ") for name in found} == {version}:
                continue
            if write and found and pattern in COPIES:
                changed = re.sub(where, version, text(path))
                with open(os.path.join(TOP, path), "w", encoding="utf-8") as file:
                    file.write(changed)
                continue
            print("%s has %s, not %s" % (path, " and ".join(sorted(set(found))) or "no version", version))
            wrong = 1
    return wrong


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["--write"]):
        sys.exit(__doc__)
    sys.exit(main(write=len(sys.argv) > 1))
