"""A Python with the packages of notebooks, for tests of carbon_dna beside them: the one that CARBON_NOTEBOOK names, else this one.

Not a test. The tests say what they need of it; all of that but ruff and torch are packages of Debian.
"""

import os
import subprocess
import sys

from harness import CARBON, ENV, Skip, expect, fresh

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIBRARY = os.path.join(os.path.dirname(CARBON), "libcarbon.so.0")
PYTHON = os.environ.get("CARBON_NOTEBOOK", sys.executable)


def missing(*modules):
    """Those that this Python does not have."""
    code = "import importlib.util, sys; print(' '.join(m for m in sys.argv[1:] if importlib.util.find_spec(m) is None))"
    return subprocess.run([PYTHON, "-c", code, *modules], stdout=subprocess.PIPE, check=True).stdout.decode().split()


def need(*modules):
    names = missing(*modules)
    if names:
        raise Skip("%s has no %s; CARBON_NOTEBOOK may name a Python that has" % (PYTHON, ", ".join(names)))


def need_library():
    if not os.path.exists(LIBRARY):
        raise Skip("no %s; make library builds it" % LIBRARY)


def run(*args, cwd=None, timeout=600):
    """Its output; both streams as one."""
    env = dict(ENV, CARBON_DNA_LIBRARY=LIBRARY, PYTHONPATH=os.path.join(SOURCE, "python"), MPLCONFIGDIR=fresh(), PYTHONDONTWRITEBYTECODE="1",
               HOME=fresh())
    done = subprocess.run([PYTHON, *args], cwd=cwd or SOURCE, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout)
    expect(done.returncode == 0, "rc %d:\n%s" % (done.returncode, done.stdout.decode()[-3000:]))
    return done.stdout.decode()
