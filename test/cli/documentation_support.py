"""What the tests of documents and manual pages share: running a block of shell as it stands, where `hf` is a stand-in that
puts a generated checkpoint where `hf download` puts a real one. Not a test."""

import os
import shutil
import sys

from harness import CARBON, DATA, ENV, Skip, command, expect, fresh, model, ok, write

SOURCE = os.path.dirname(os.path.dirname(DATA))

HF = """#!/bin/bash
[[ $1 == download && $2 == */* ]] || exit 1
at="$HF_HOME/hub/models--${2/\\//--}"
mkdir -p "$at/snapshots/1" "$at/refs" && printf 1 > "$at/refs/main" && cp "$TEST_MODEL"/* "$at/snapshots/1"
"""


def environment(**sizes):
    """In which the commands run: `carbon` and `hf` on the path, a generated model for -m and one for `hf download`."""
    programs = fresh()
    os.symlink(CARBON, os.path.join(programs, "carbon"))
    python = write(programs, "python3", "#!/bin/sh\nexec %s \"$@\"\n" % sys.executable)  # the one that has numpy
    os.chmod(python, 0o755)
    os.chmod(write(programs, "hf", HF), 0o755)
    return {"PATH": programs + os.pathsep + ENV["PATH"], "HF_HOME": os.path.join(fresh(), "hf"),
            "TEST_MODEL": model(**{"max_positions": 8192, **sizes}), "CARBON_MODEL": model(**sizes)}


def no_server():
    """Why examples of carbon serve cannot be run, or None."""
    if "no carbon serve" in ok("--version").text:
        return "this carbon was built without its server"
    return None if shutil.which("curl") else "curl is not installed"


def need_server():
    if no_server():
        raise Skip(no_server())


def run_block(where, text, directory, env, timeout=240):
    """The block succeeds and says nothing of an error."""
    result = command(["bash", "-euo", "pipefail", "-c", text], cwd=directory, env=env, timeout=timeout)
    expect(result.rc == 0, "%s: the block fails:\n%s" % (where, text), result)
    expect(not result.messages("E"), "%s: an error message" % where, result)
    return result


def write_fasta(path, contigs):
    """`contigs` are (name, start, bases): N before `start`, which counts from 1. Lines of 60."""
    with open(path, "wb") as f:
        for name, start, bases in contigs:
            f.write(b">%s\n" % name.encode())
            for _ in range((start - 1) // 60):
                f.write(b"N" * 60 + b"\n")
            rest = b"N" * ((start - 1) % 60) + bases.encode()
            for i in range(0, len(rest), 60):
                f.write(rest[i:i + 60] + b"\n")
