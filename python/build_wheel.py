"""Builds the wheel of carbon_dna: python -m build --wheel, pip wheel ., or python3 build_wheel.py FOLDER.
With --metadata in place of FOLDER it prints the METADATA of the package alone.

From the environment:
  CARBON_WHEEL_FILES  the folder of the built files, a tree as make install install-library makes it: bin/carbon,
                      lib/libcarbon.so.0, libexec/carbon/*.so, share/carbon/models/carbon-tiny, and licences/ with the texts of
                      what is linked in, if anything is
  CARBON_WHEEL_TAG    the platform, e.g. manylinux_2_28_x86_64; default linux_ and the machine

A backend of PEP 517 that needs no other package. The same files give the same bytes.
"""

import base64
import hashlib
import os
import platform
import sys
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
# The first time that a zip file can hold.
TIME = (1980, 1, 1, 0, 0, 0)
METADATA = """Metadata-Version: 2.1
Name: carbon-dna
Version: %s
Summary: DNA language models (Carbon, GENERator): scores, variants, embeddings and generation, with the bits of the command carbon
Author: The carbon developers
Project-URL: Models, https://huggingface.co/HuggingFaceBio
Keywords: genomics,variant effect prediction,DNA language model,bioinformatics
Classifier: Environment :: Console
Classifier: Intended Audience :: Science/Research
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: C++
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: Scientific/Engineering :: Bio-Informatics
License: Apache-2.0
Requires-Python: >=3.9
Requires-Dist: numpy>=1.21
Description-Content-Type: text/markdown

%s"""


def version():
    with open(os.path.join(HERE, "..", "VERSION")) as file:
        return file.read().strip()


def read(path):
    with open(path, "rb") as file:
        return file.read()


def needed(folder):
    """What the wheel has of the built files, as (place in the tree, path). Ends with a message if something is missing."""
    if not folder:
        raise SystemExit("build_wheel.py: CARBON_WHEEL_FILES is not set: the folder of the built files, such as make wheel makes")
    found = {}
    for top in ("bin/carbon", "lib/libcarbon.so.0", "libexec/carbon", "share/carbon/models/carbon-tiny"):
        path = os.path.join(folder, top)
        if os.path.isdir(path):
            names = [os.path.join(top, name) for name in os.listdir(path)]
        elif os.path.exists(path):
            names = [top]
        else:
            raise SystemExit("build_wheel.py: CARBON_WHEEL_FILES=%s has no %s" % (folder, top))
        found.update((name, os.path.join(folder, name)) for name in names)
    return found


def licences(folder):
    """The licence of carbon, and those of what is linked in."""
    found = {"LICENSE": os.path.join(HERE, "..", "LICENSE")}
    others = os.path.join(folder, "licences")
    for where, _, names in os.walk(others):
        for name in names:
            path = os.path.join(where, name)
            found[os.path.relpath(path, others)] = path
    return found


def metadata():
    return METADATA % (version(), read(os.path.join(HERE, "README.md")).decode())


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Writes the wheel and returns its name (PEP 517)."""
    folder = os.environ.get("CARBON_WHEEL_FILES", "")
    tag = "py3-none-" + os.environ.get("CARBON_WHEEL_TAG", "linux_" + platform.machine())
    stem = "carbon_dna-" + version()
    info = stem + ".dist-info/"
    files = {"carbon_dna/_files/" + name: (read(path), os.access(path, os.X_OK)) for name, path in needed(folder).items()}
    package = os.path.join(HERE, "carbon_dna")
    for name in os.listdir(package):
        if name.endswith(".py") or name == "py.typed":
            files["carbon_dna/" + name] = read(os.path.join(package, name)), False
    files["carbon_dna_program.py"] = read(os.path.join(HERE, "carbon_dna_program.py")), False
    texts = {
        "METADATA": metadata(),
        "WHEEL": "Wheel-Version: 1.0\nGenerator: carbon\nRoot-Is-Purelib: false\nTag: %s\n" % tag,
        "entry_points.txt": "[console_scripts]\ncarbon = carbon_dna_program:main\n"}
    files.update((info + name, (text.encode(), False)) for name, text in texts.items())
    files.update((info + "licenses/" + name, (read(path), False)) for name, path in licences(folder).items())
    name = "%s-%s.whl" % (stem, tag)
    os.makedirs(wheel_directory, exist_ok=True)
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        record = ""
        for path, (content, executable) in sorted(files.items()):
            add(wheel, path, content, executable)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record += "%s,sha256=%s,%d\n" % (path, digest, len(content))
        add(wheel, info + "RECORD", (record + info + "RECORD,,\n").encode(), False)
    return name


def add(wheel, path, content, executable):
    entry = zipfile.ZipInfo(path, TIME)
    entry.external_attr = (0o100755 if executable else 0o100644) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    wheel.writestr(entry, content)


def build_sdist(sdist_directory, config_settings=None):
    raise SystemExit("build_wheel.py: the source of carbon_dna is that of carbon; build a wheel alone: python -m build --wheel")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if sys.argv[1] == "--metadata":
        sys.stdout.write(metadata())
    else:
        print(build_wheel(sys.argv[1]))
