"""The Python package carbon_dna: the tests of python/tests, each of which is a case here; pytest runs them as well."""

import glob
import importlib.util
import os
import sys
import unittest

from harness import CARBON, ENV, MAKE_CHECKPOINT, Skip, case, main

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIBRARY = os.path.join(os.path.dirname(CARBON), "libcarbon.so.0")


def skipped(name, reason):
    def skip():
        raise Skip(reason)
    case(skip, name=name)


def register(module):
    for name, function in vars(module).items():
        if not name.startswith("test_"):
            continue

        def run(function=function):
            try:
                function()
            except unittest.SkipTest as reason:
                raise Skip(str(reason)) from None
        case(run, name=module.__name__ + "." + name)


if not os.path.exists(LIBRARY):
    skipped("carbon_dna", "no %s; make library builds it" % LIBRARY)
elif importlib.util.find_spec("numpy") is None:
    skipped("carbon_dna", "%s has no numpy" % sys.executable)
else:
    # Nothing of the user's environment, as in all tests of commands.
    os.environ.clear()
    os.environ.update(ENV, CARBON=CARBON, CARBON_MAKE_CHECKPOINT=MAKE_CHECKPOINT)
    tests = os.path.join(SOURCE, "python/tests")
    sys.path.insert(0, tests)
    import support  # noqa: F401 (finds the package and the library)

    for path in sorted(glob.glob(os.path.join(tests, "test_*.py"))):
        register(importlib.import_module(os.path.splitext(os.path.basename(path))[0]))

main()
