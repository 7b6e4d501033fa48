"""libcarbon.so.0: what it exports and needs, the program of docs/score.c in C99, and that it is a quiet guest in a process."""

import os
import re
import shutil
import sys

from harness import CARBON, Skip, case, command, expect, expect_equal, fresh, main, model, ok, tool, write

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
def a_program_may_include_both_headers():
    """A plugin may use the library: the header of each defines no name of the other."""
    source = write(fresh(), "both.c", '#include "include/carbon/carbon.h"\n#include "plugins/carbon_plugin.h"\nint main(void) { return 0; }\n')
    for compiler in (("cc", "-std=c99"), ("c++", "-x", "c++")):
        result = command([*compiler, "-pedantic", "-Wall", "-Wextra", "-Werror", "-I", SOURCE, "-fsyntax-only", source])
        expect(result.rc == 0, "the headers clash", result)


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


# The digest of a model and the bytes of all results, computed while the process has a locale and a rounding mode of its own. Afterwards
# it still has them.
EVERYTHING = """
import ctypes, json, locale, sys
library, libm = ctypes.CDLL(sys.argv[1]), ctypes.CDLL("libm.so.6")
library.carbon_error_text.restype = ctypes.c_char_p
name, mode, dtype, path = sys.argv[2], int(sys.argv[3]), sys.argv[4], sys.argv[5]
numbers = ctypes.c_int64
sequences = [b"ACGTTAGCATCGATCGGCTAAGCTTAGCATTACGGA" * 3, b"TTGACCATGGCATTCAGGATCC" * 5]
calls = [(b"score", {"probabilities": True}, sequences), (b"embed", {"pool": "mean"}, sequences), (b"scan", {}, sequences),
         (b"generate", {"length": 24, "temperature": 0.7, "top_p": 0.95, "seed": 3, "gc": [30.5, 70.25], "gc_window": 12}, sequences),
         (b"variants", {"sequence": sequences[0].decode()}, [json.dumps({"pos": 14, "ref": "T", "alt": "G"}).encode()])]
calls = [(verb, json.dumps(options).encode(), inputs) for verb, options, inputs in calls]
settings = json.dumps({"model": path, "dtype": dtype, "threads": 2, "rope_scaling": "yarn:1.5"}).encode()
wrong = json.dumps({"model": path, "batch_tokens": 1.5}).encode()
locale.setlocale(locale.LC_ALL, name)
point = locale.localeconv()["decimal_point"]
out = []

def good(code, *allowed):
    assert code in (0, *allowed), (code, library.carbon_error_text())
    return code

def results(call, verb):
    while good(library.carbon_call_next(call, 60000), 2) == 0:
        assert library.carbon_call_array(call, b"?", ctypes.byref(ctypes.c_void_p()), None, None, None, None) == 3
        for array in library.carbon_error_text().split(b"it has ")[1].split(b", "):
            data, kind, dimensions = ctypes.c_void_p(), ctypes.c_int(), ctypes.c_int()
            shape, strides = ctypes.POINTER(numbers)(), ctypes.POINTER(numbers)()
            good(library.carbon_call_array(call, array, ctypes.byref(data), ctypes.byref(kind), ctypes.byref(dimensions),
                                           ctypes.byref(shape), ctypes.byref(strides)))
            size = shape[0] * strides[0] if dimensions.value else 8
            out.append((verb, array, ctypes.string_at(data, size).hex()))

assert libm.fesetround(mode) == 0
model, text = ctypes.c_void_p(), ctypes.c_char_p()
good(library.carbon_model_open(settings, ctypes.byref(model)))
good(library.carbon_model_describe(model, 1, ctypes.byref(text)))
for verb, options, inputs in calls:
    call = ctypes.c_void_p()
    good(library.carbon_call_new(model, verb, options, ctypes.byref(call)))
    for each in inputs:
        good(library.carbon_call_add(call, each, numbers(len(each))))
    good(library.carbon_call_end(call))
    results(call, verb)
    good(library.carbon_call_free(call))
assert library.carbon_model_open(wrong, ctypes.byref(ctypes.c_void_p())) == 5
out.append(library.carbon_error_text())
assert libm.fegetround() == mode, "the rounding mode of the host has changed"
assert locale.localeconv()["decimal_point"] == point and locale.setlocale(locale.LC_ALL) == name, "the locale of the host has changed"
print(text.value, point == ".")
print(*out, sep="\\n")
"""


def locales():
    """A folder with locales that write and fold letters otherwise, and their names."""
    folder, names = fresh(), []
    for name in ("de_DE", "fa_IR", "tr_TR", "ps_AF"):  # the last has a decimal point of two bytes
        names.append(name + ".UTF-8")
        if shutil.which("localedef"):
            command(["localedef", "-i", name, "-f", "UTF-8", os.path.join(folder, names[-1])])
    # Where it lacks its sources, localedef leaves an empty folder.
    if not all(os.path.exists(os.path.join(folder, name, "LC_NUMERIC")) for name in names):
        raise Skip("no localedef, or not the sources of its locales (Debian package locales)")
    return folder, names


@case
def what_the_host_sets_changes_no_byte():
    folder, names = locales()
    # To nearest, down, up, towards zero.
    modes = (0, 0x400, 0x800, 0xc00) if os.uname().machine == "x86_64" else (0, 0x800000, 0x400000, 0xc00000)
    hosts = [("C", modes[0]), *zip(names, (*modes[1:], modes[2]))]
    for dtype in ("bf16", "int8"):
        texts, points = [], set()
        for name, mode in hosts:
            result = command([sys.executable, "-c", EVERYTHING, library(), name, str(mode), dtype, model()], env={"LOCPATH": folder})
            expect(result.rc == 0, "failed under %s and mode %x" % (name, mode), result)
            first, *rest = result.lines()
            points.add(first.rsplit(" ", 1)[1])
            texts.append([first.rsplit(" ", 1)[0], *rest])
        expect_equal(points, {"True", "False"}, "points and commas")
        expect(len(texts[0]) > 15 and "sha256" in texts[0][0], "expected the digest and many results: %s" % str(texts[0])[:300])
        for host, text in zip(hosts, texts):
            expect_equal(text, texts[0], "results of %s under %s" % (dtype, host))


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
