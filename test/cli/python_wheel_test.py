"""The wheel of carbon_dna: what is in it, that it is made the same twice, and that it runs from where pip puts it.

CARBON_WHEEL names a wheel that packaging/build-portable.sh has made, for every Linux with glibc 2.28. Without it, what such a wheel
needs of a system is not tested.
"""
# Left out while unchanged: build python include packaging/portable

import base64
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import zipfile

from harness import CARBON, ENV, Skip, case, command, expect, expect_equal, fresh, main, ok, read, tool, write

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.dirname(CARBON)
PREFIX = "/opt/carbon-of-a-test"
VERSION = read(os.path.join(SOURCE, "VERSION")).decode().strip()
_made = {}


def tree():
    """What make install install-library makes of the programs that are built, which stay as they are."""
    if not os.path.exists(os.path.join(BUILD, "libcarbon.so.0")):
        raise Skip("no %s/libcarbon.so.0; make library builds it" % BUILD)
    if "sanitize" in os.path.basename(BUILD) or not os.path.exists(os.path.join(SOURCE, "carbon")):
        raise Skip("no ./carbon, or one with sanitizers, which is not installed")
    if not _made:
        root = fresh()
        built = ["carbon", "models/carbon-tiny/model.safetensors", os.path.join(BUILD, "libcarbon.so.0")]
        built += [os.path.join(BUILD, "plugins", name) for name in os.listdir(os.path.join(BUILD, "plugins"))]
        result = command(["make", "-s", "-C", SOURCE, "install", "install-library", "DESTDIR=" + root, "prefix=" + PREFIX,
                          "BUILD=" + BUILD, "WITH_CUDA=no"] + [word for path in built for word in ("-o", path)],
                         env={"MAKEFLAGS": ""}, timeout=120)
        expect(result.rc == 0, "make install failed", result)
        _made["files"] = root + PREFIX
    return _made["files"]


def wheel(**env):
    folder = fresh()
    result = command([sys.executable, os.path.join(SOURCE, "python/build_wheel.py"), folder],
                     env={"CARBON_WHEEL_FILES": tree(), "PYTHONDONTWRITEBYTECODE": "1", **env}, timeout=300)
    expect(result.rc == 0, "expected rc 0", result)
    return os.path.join(folder, result.text.strip())


@case
def it_has_what_it_lists():
    path = wheel(CARBON_WHEEL_TAG="manylinux_2_28_x86_64")
    expect_equal(os.path.basename(path), "carbon_dna-%s-py3-none-manylinux_2_28_x86_64.whl" % VERSION, "name")
    with zipfile.ZipFile(path) as archive:
        info = "carbon_dna-%s.dist-info/" % VERSION
        names = archive.namelist()
        for name in ("carbon_dna/__init__.py", "carbon_dna/py.typed", "carbon_dna/_files/bin/carbon", "carbon_dna/_files/lib/libcarbon.so.0",
                     "carbon_dna/_files/libexec/carbon/auroc.so", "carbon_dna/_files/share/carbon/models/carbon-tiny/config.json",
                     info + "METADATA", info + "WHEEL", info + "entry_points.txt", info + "licenses/LICENSE"):
            expect(name in names, "no %s in the wheel" % name)
        expect(not any("test" in name for name in names), "tests in the wheel")
        expect(archive.getinfo("carbon_dna/_files/bin/carbon").external_attr >> 16 & 0o111, "carbon is not executable")
        rows = [line.rsplit(",", 2) for line in archive.read(info + "RECORD").decode().splitlines()]
        expect_equal(sorted(row[0] for row in rows), sorted(names), "RECORD")
        for name, digest, size in rows:
            content = archive.read(name)
            wanted = "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            expect(name.endswith("RECORD") or (digest, size) == (wanted, str(len(content))), "RECORD is wrong on " + name)
        metadata = archive.read(info + "METADATA").decode()
        for words in ("Requires-Dist: numpy", "Project-URL: ", "Classifier: ", "pip install pandas", "pip install huggingface_hub", "carbon help"):
            expect(words in metadata, "no %s in the metadata" % words)


@case
def the_same_files_make_the_same_bytes():
    expect_equal(hashlib.sha256(read(wheel())).hexdigest(), hashlib.sha256(read(wheel())).hexdigest(), "wheels")


@case
def what_is_missing_is_named():
    for files in ("", fresh()):
        result = command([sys.executable, os.path.join(SOURCE, "python/build_wheel.py"), fresh()], env={"CARBON_WHEEL_FILES": files})
        expect(result.rc == 1 and "CARBON_WHEEL_FILES" in result.err, "expected what is missing", result)


USED = "import carbon_dna, sys\n" \
       "with carbon_dna.Model() as model:\n" \
       "    score, = model.score(['ACGTACGTACGT'])\n" \
       "    print('%d\\t%.10g' % (score.n_scored, score.sum_logp), carbon_dna.__file__)\n" \
       "    assert len(model.generate(['ACGT'], 30)[0].sequence) == 30\n"


@case
def it_runs_from_where_pip_puts_it():
    if importlib.util.find_spec("ensurepip") is None or importlib.util.find_spec("numpy") is None:
        raise Skip("%s has no ensurepip (Debian package python3-venv) or no numpy" % sys.executable)
    folder, path = fresh(), wheel()
    for args in ([sys.executable, "-m", "venv", "--system-site-packages", "venv"],
                 ["venv/bin/pip", "install", "--no-index", "--no-deps", "--no-cache-dir", path]):
        done = subprocess.run(args, cwd=folder, env=ENV, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
        expect(done.returncode == 0, "%s: %s" % (args, done.stdout.decode()))
    venv = os.path.join(folder, "venv/bin")
    result = command([os.path.join(venv, "python"), "-c", USED], cwd=folder)
    expect(result.rc == 0, "expected rc 0", result)
    rows = ok("score", write(folder, "in.fa", ">s\nACGTACGTACGT\n")).table()
    expect_equal(result.text.split(" ")[0], "\t".join(rows[1].split("\t")[4:6]), "score")
    expect(folder in result.text, "another carbon_dna: " + result.text)
    program = os.path.join(venv, "carbon")
    expect_equal(command([program, "--version"]).lines()[0], "carbon " + VERSION, "carbon --version")
    expect("+auroc" in command([program, "plugin", "-l"]).text, "no plugins")
    result = command([program, "score", "in.fa"], cwd=folder)
    expect(result.rc == 0 and len(result.messages("W")) == 1, "carbon score with the bundled model", result)
    expect(command([program, "score", "--nonsense"]).rc == 1, "the exit status is lost")


@case
def it_runs_unpacked():
    folder = fresh()
    shutil.unpack_archive(wheel(), folder, "zip")
    # Without numpy, because the program must start at once.
    result = command([sys.executable, "-S", "-m", "carbon_dna_program", "--version"], cwd=folder)
    expect_equal(result.lines()[0], "carbon " + VERSION, "carbon --version")


C_LIBRARY = {"libc.so.6", "libm.so.6", "libdl.so.2", "librt.so.1", "libpthread.so.0", "ld-linux-x86-64.so.2"}


@case
def a_wheel_for_every_linux_needs_the_c_library_alone():
    given = os.environ.get("CARBON_WHEEL", "")
    if not given:
        raise Skip("CARBON_WHEEL names no wheel of packaging/build-portable.sh")
    folder = fresh()
    shutil.unpack_archive(os.path.abspath(given), folder, "zip")
    files = os.path.join(folder, "carbon_dna/_files")
    programs = [os.path.join(where, name) for where, _, names in os.walk(files) for name in names
                if read(os.path.join(where, name))[:4] == b"\x7fELF"]
    expect(len(programs) > 5, "programs and libraries: %s" % programs)
    for path in programs:
        needed = set(re.findall(r"NEEDED.*\[(.*)\]", tool("readelf", "-d", path).text))
        expect(needed <= C_LIBRARY, "%s needs %s" % (path, needed - C_LIBRARY))
        versions = re.findall(r"\bGLIBC_([0-9.]+)", tool("readelf", "--dyn-syms", "-W", path).text)
        newest = max(tuple(map(int, version.split("."))) for version in versions)
        expect(newest <= (2, 28), "%s needs glibc %s" % (path, newest))
    lines = tool("nm", "-D", "--defined-only", os.path.join(files, "lib/libcarbon.so.0")).lines()
    header = read(os.path.join(SOURCE, "include/carbon/carbon.h")).decode()
    expect_equal(sorted(line.split()[-1] for line in lines), sorted(re.findall(r"CARBON_API [^;(]*\b(carbon_\w+)\(", header)), "symbols")


main()
