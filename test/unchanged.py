"""Which parts of the tests may be left out, because all that they test is as it was when they last passed.

    test/unchanged.py NAME WHAT...            exit status 0 if it is, 1 if it is not or was never noted
    test/unchanged.py --record NAME WHAT...   notes that NAME has passed with these files

WHAT is a file, a folder, or a name in GROUPS. A test file says what it tests on a line that begins with "# Left out while
unchanged:"; `--of FILE` in the place of NAME and WHAT reads it there. One without such a line is never left out (exit status 1), and
nothing is noted of it. The notes are in test/passed, a line for each part and release of Debian: test/run.sh and
test/other_release.sh ask for them, .ci/run writes them, and whoever has changed the files commits them.
"""

import hashlib
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NOTES = os.path.join(ROOT, "test", "passed")
MARK = "# Left out while unchanged:"

# What several parts test.
GROUPS = {
    # How the program is built, and by what: all of mk but the fuzz targets.
    "build": ["Makefile", "config.mk.in", "configure.ac", "install-deps.sh", "packaging/libraries",
              *("mk/" + name for name in os.listdir(os.path.join(ROOT, "mk")) if name != "fuzz.mk")],
    # The CUDA backend and what gives it its work.
    "cuda": ["kernels", "src/transformer", "src/engine", "src/sampling", "test/gpu", "test/cuda_emulation", "bench/gpu",
             "test/reference", "mk/emulated.mk", "mk/cuda.mk", "test/cli/cuda_support.py"],
    # Runs that are divided, stopped and continued.
    "parts": ["src/vep/options.cpp", "src/vep/resume.cpp", "src/vep/run.cpp", "src/scan/pieces.cpp", "src/scan/recorder.cpp",
              "src/scan/run.cpp", "src/files/resumable_output.cpp", "src/cli/vep.cpp", "src/cli/scan.cpp", "workflows",
              "test/cli/workflow_support.py"],
}


def release():
    """The system that it runs on: what passed on one has not passed on another."""
    with open("/etc/os-release") as f:
        words = dict(line.rstrip("\n").split("=", 1) for line in f if "=" in line)
    return words.get("VERSION_CODENAME", words.get("ID", "unknown")).strip('"')


def files(paths):
    """Every file at or below the paths that belongs to the sources, relative to the root; a path that does not exist is a mistake
    of the list. What git ignores was made by a build: a working tree has it and a clean checkout has not."""
    for path in paths:
        if not os.path.exists(os.path.join(ROOT, path)):
            sys.exit("test/unchanged.py: there is no %s" % path)
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *paths],
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if listed.returncode == 0:
        return [name for name in map(os.fsdecode, listed.stdout.split(b"\0")) if name and os.path.isfile(os.path.join(ROOT, name))]
    walked = [path for path in paths if not os.path.isdir(os.path.join(ROOT, path))]  # an archive that was unpacked
    for path in paths:
        for top, folders, names in os.walk(os.path.join(ROOT, path)):
            folders[:] = [name for name in folders if name != "__pycache__"]
            walked += [os.path.relpath(os.path.join(top, name), ROOT) for name in names if not name.endswith(".so")]
    return walked


def digest(paths):
    """SHA-256 of the names, modes and contents of the files, and of nothing that a checkout changes."""
    whole = hashlib.sha256()
    for path in sorted(set(files(paths))):
        full = os.path.join(ROOT, path)
        with open(full, "rb") as f:
            content = hashlib.sha256(f.read()).hexdigest()
        whole.update(("%s %d %s\n" % (path, bool(os.stat(full).st_mode & 0o100), content)).encode())
    return whole.hexdigest()[:16]


def notes():
    if not os.path.exists(NOTES):
        return {}
    with open(NOTES) as f:
        return {tuple(line.split()[:2]): line.split()[2] for line in f if not line.startswith("#")}


def write(known):
    new = NOTES + ".new"
    with open(new, "w") as f:
        f.write("# What has passed, on which release of Debian, and with which files (test/unchanged.py): .ci/run writes it.\n")
        f.writelines("%s %s %s\n" % (*key, value) for key, value in sorted(known.items()))
    os.replace(new, NOTES)


def of_file(path):
    """NAME and WHAT of a test file, or None."""
    with open(os.path.join(ROOT, path)) as f:
        words = [word for line in f if line.startswith(MARK) for word in line[len(MARK):].split()]
    return [path, path, *words] if words else None


def main(arguments):
    record = arguments[:1] == ["--record"]
    arguments = arguments[record:]
    if arguments[:1] == ["--of"]:
        arguments = of_file(arguments[1])
        if arguments is None:
            return 0 if record else 1
    name, what = arguments[0], arguments[1:]
    key = (name, release())
    value = digest([path for word in what for path in GROUPS.get(word, [word])])
    known = notes()
    if record and known.get(key) != value:
        write({**known, key: value})
    return 0 if record else int(known.get(key) != value)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
