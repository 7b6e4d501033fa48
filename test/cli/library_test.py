"""libcarbon.so.0: what it exports and needs, the program of docs/score.c in C99, and that it is a quiet guest in a process."""

import os
import re
import shutil
import sys

from harness import CARBON, Skip, case, command, expect, expect_equal, fresh, main, ok, tool, write

LIBRARY = os.path.join(os.path.dirname(CARBON), "libcarbon.so.0")
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BASES = ["ACGTACGTACGT", "acgtn", "TTGACCATGGCATTCAGGATCC" * 40, ""]


def library():
    if not os.path.exists(LIBRARY):
        raise Skip("no %s; make library builds it" % LIBRARY)
    return LIBRARY


def functions_of_header():
    with open(os.path.join(SOURCE, "include/carbon/carbon.h")) as f:
        return sorted(re.findall(r"CARBON_API [^;(]*\b(carbon_\w+)\(", f.read()))


@case
def it_exports_the_functions_of_the_header_and_nothing_else():
    lines = tool("nm", "-D", "--defined-only", library()).lines()
    expect_equal(sorted(line.split()[-1] for line in lines), functions_of_header(), "symbols")


@case
def it_has_its_name_and_does_not_need_openmp():
    text = tool("readelf", "-d", library()).text
    expect_equal(re.findall(r"SONAME.*\[(.*)\]", text), ["libcarbon.so.0"], "SONAME")
    needed = re.findall(r"NEEDED.*\[(.*)\]", text)
    expect(not any("gomp" in name or "libomp" in name for name in needed), "needs OpenMP: %s" % needed)


def compiled(compiler, *flags):
    if shutil.which(compiler) is None:
        raise Skip(compiler + " is not installed")
    folder = fresh()
    program = os.path.join(folder, "score")
    os.symlink(library(), os.path.join(folder, "libcarbon.so"))
    result = command([compiler, *flags, "-Wall", "-Wextra", "-Werror", "-I", os.path.join(SOURCE, "include"),
                      os.path.join(SOURCE, "docs/score.c"), "-L", folder, "-lcarbon", "-Wl,-rpath," + os.path.dirname(LIBRARY),
                      "-Wl,--allow-shlib-undefined", "-o", program])
    expect(result.rc == 0, "docs/score.c does not compile", result)
    return program


def expect_scores(program):
    fasta = write(fresh(), "in.fa", "".join(">%d\n%s\n" % (i, bases) for i, bases in enumerate(BASES) if bases))
    rows = [line.split("\t") for line in ok("score", fasta).table()[1:]]
    wanted = ["\t".join(row[4:6]) for row in rows] + ["0\t0"]
    result = command([program, *BASES])
    expect(result.rc == 0, "expected rc 0", result)
    expect_equal(result.lines(), wanted, "scores")
    expect_equal(result.err, "", "standard error")
    result = command([program, "AC>GT"])
    expect(result.rc == 1 and "'>'" in result.err, "expected what is wrong", result)


@case
def the_example_compiles_as_c99_and_has_the_numbers_of_carbon_score():
    expect_scores(compiled("cc", "-std=c99", "-pedantic"))


@case
def the_header_is_also_cxx():
    expect_scores(compiled("c++", "-x", "c++", "-pedantic"))


# Everything that a process has and a library may not touch, before and after a call; and both descriptors as files.
GUEST = """
import ctypes, locale, os, signal, sys, threading
library = ctypes.CDLL(sys.argv[1])
handlers = lambda: [signal.getsignal(n) for n in range(1, signal.NSIG) if n not in (32, 33)]
def signals():  # but for 32 and 33, which the C library uses for its threads
    with open("/proc/self/status") as f:
        return [int(line.split()[1], 16) & ~(3 << 31) for line in f if line[:6] in ("SigIgn", "SigCgt", "SigBlk")]
caught = signals()
before = (os.getcwd(), dict(os.environ), locale.setlocale(locale.LC_ALL), handlers())
model, call = ctypes.c_void_p(), ctypes.c_void_p()
assert library.carbon_model_open(None, ctypes.byref(model)) == 0
assert library.carbon_call_new(model, b"score", None, ctypes.byref(call)) == 0
assert library.carbon_call_add(call, b"ACGT" * 500, ctypes.c_int64(2000)) == 0
assert library.carbon_call_new(model, b"variants", b'{"fasta_ref":"/no/such.fa"}', ctypes.byref(ctypes.c_void_p())) != 0
assert library.carbon_call_next(call, 60000) == 0
assert caught == signals(), caught
assert before == (os.getcwd(), dict(os.environ), locale.setlocale(locale.LC_ALL), handlers())
assert library.carbon_model_close(model) == 0
assert len(os.listdir("/proc/self/task")) == 1, "threads are left"
"""


@case
def it_writes_nothing_and_changes_nothing_of_the_process():
    result = command([sys.executable, "-c", GUEST, library()])
    expect(result.rc == 0, "expected rc 0", result)
    expect_equal((result.out, result.err), (b"", ""), "outputs")


@case
def a_process_may_end_while_a_model_is_open():
    text = GUEST.split("assert library.carbon_call_next")[0]
    for end in ("", "sys.exit(7)", "os._exit(7)"):
        result = command([sys.executable, "-c", text + end, library()])
        expect(result.rc == (7 if end else 0), "expected another rc", result)
        expect_equal(result.err, "", "standard error")


@case
def an_installed_library_finds_its_model_and_pkg_config_finds_it():
    root, prefix = fresh(), "/opt/carbon-of-a-test"
    # What is built stays as it is: the tests of one run are all of the same library.
    result = command(["make", "-s", "-C", SOURCE, "install-library", "DESTDIR=" + root, "prefix=" + prefix,
                      "BUILD=" + os.path.dirname(CARBON), "WITH_CUDA=no", "-o", library()], env={"MAKEFLAGS": ""}, timeout=120)
    expect(result.rc == 0, "make install-library failed", result)
    moved = os.path.join(fresh(), "elsewhere")
    shutil.move(root + prefix, moved)
    result = command([sys.executable, "-c", GUEST, os.path.join(moved, "lib/libcarbon.so.0")])
    expect(result.rc == 0, "expected rc 0", result)
    flags = tool("pkg-config", "--cflags", "--libs", "carbon", env={"PKG_CONFIG_PATH": os.path.join(moved, "lib/pkgconfig")})
    expect("-lcarbon" in flags.text, "expected -lcarbon", flags)


main()
