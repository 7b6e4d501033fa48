"""What `make` makes anew when sources, flags or the Makefile change, `make help`, and test/check_includes.py.

Empty sources in a tree of their own, and a compiler, an archiver and an nvcc that only say what they were to make.
"""
# Left out while unchanged: build test/check_includes.py

import glob
import os
import re
import shutil
import sys

from harness import DATA, Skip, case, command, expect, expect_equal, fresh, main, read, write

SOURCE = os.path.dirname(os.path.dirname(DATA))
# It makes the file after -o, or the archive, and adds the command to the file `made`.
TOOL = """#!/bin/bash
case $1 in
  -dumpmachine) echo x86_64-linux-gnu; exit;;
  -dumpfullversion) echo 12.2.0; exit;;
  rcs) out=$2;;
esac
for ((i = 1; i < $#; i++)); do [[ ${!i} != -o ]] || { i=$((i + 1)); out=${!i}; }; done
echo "$out: $*" >> made
mkdir -p "$(dirname "$out")" && : > "$out"
"""
FILES = """
    src/cli/main.cpp src/cli/vep.cpp src/base/installed.cpp src/base/random.hpp src/base/error.hpp
    src/vep/run.cpp src/vep/plan.cpp tokenizer/kmer.cpp kernels/ops.hpp kernels/tensor.hpp kernels/draw_math.hpp
    kernels/cpu/isa.cpp kernels/cuda/library.hpp
    kernels/cuda/loader.cpp kernels/cuda/plan.cpp kernels/cuda/residual.cpp kernels/cuda/rows.cu kernels/cuda/draw.cu
    test/unit/main.cpp test/unit/plan_test.cpp test/reference/llama.cpp test/tools/make_checkpoint.cpp
    test/cuda_emulation/planted.cu test/cuda_emulation/runtime.cpp test/cuda_emulation/choice_checks.cpp test/gpu/check_gpu.cpp test/gpu/rows_checks.cpp
    bench/gpu/bench_gpu.cpp bench/gpu/work.cpp plugins/auroc.cpp
    src/serve/api.cpp src/serve/page/index.html src/report/figures/figure.js src/report/figures/logo.js test/unit/http_test.cpp
""".split()
GOALS = ["all"] + ["build/" + name for name in ("unit", "make_checkpoint", "check_gpu", "bench_gpu", "check_emulated",
                                                "emulated/bench_gpu", "emulated/carbon")]
ARCHIVE = {"libcarbon.a"}
PROGRAMS = {"carbon", "unit", "check_gpu", "bench_gpu", "check_emulated", "emulated/bench_gpu"}  # they link the archive
CUDA = {"carbon-cuda.so", "check_gpu", "bench_gpu"}
EMULATED = {"emulated/carbon-cuda.so", "check_emulated", "emulated/bench_gpu"}
INNER_GOALS = {"all", "test", "FORCE", "fuzz-programs", "emulated-programs", "syntax", "syntax-objects"}
LINKED = PROGRAMS | CUDA | EMULATED | {"make_checkpoint"}
_tree = []


def make(tree, *settings, rc=0):
    """Runs make; what was made, as paths in the build folder, each with its command."""
    made = os.path.join(tree, "made")
    write(tree, "made", "")
    tools = ("CXX=./cxx", "AR=./cxx", "OBJCOPY=true", "WITH_CUDA=cuda", "WITH_SERVER=yes")
    result = command(["make", "-s", "-j2", *GOALS, *tools, *settings],
                     cwd=tree, env={"MAKEFLAGS": ""}, timeout=120)
    expect(result.rc == rc, "expected rc %d" % rc, result)
    return {out.removeprefix("build/"): words for out, words in (line.split(": ", 1) for line in read(made).decode().splitlines())}


def built():
    """A tree of its own in which everything was built."""
    if shutil.which("make") is None:
        raise Skip("no make")
    if not _tree:
        tree = fresh()
        for path in FILES:
            os.makedirs(os.path.dirname(os.path.join(tree, path)), exist_ok=True)
            write(tree, path, "")
        for name in ("cxx", "cuda/bin/nvcc"):
            os.makedirs(os.path.dirname(os.path.join(tree, name)), exist_ok=True)
            os.chmod(write(tree, name, TOOL), 0o755)
        for name in ("Makefile", "VERSION"):
            shutil.copy(os.path.join(SOURCE, name), os.path.join(tree, name))
        shutil.copytree(os.path.join(SOURCE, "mk"), os.path.join(tree, "mk"))
        os.mkdir(os.path.join(tree, "packaging"))
        shutil.copy(os.path.join(SOURCE, "packaging/libraries"), os.path.join(tree, "packaging/libraries"))
        made = make(tree)
        expect(LINKED | ARCHIVE <= set(made), "made only %r" % sorted(made))
        _tree.append(tree)
    return shutil.copytree(_tree[0], os.path.join(fresh(), "tree"))


def objects(*folders, end=".o"):
    """The objects in folders of the build folder, which are all made by the first make."""
    top = os.path.join(_tree[0], "build")
    found = {os.path.relpath(os.path.join(where, name), top) for where, _, names in os.walk(top) for name in names}
    return {path for path in found if path.endswith(end) and path.startswith(folders or "")}


def edited(tree, old, new):
    """One place of the Makefile, its parts or its table of libraries changed."""
    paths = [path for pattern in ("Makefile", "mk/*.mk", "packaging/libraries") for path in glob.glob(os.path.join(tree, pattern))]
    texts = {path: read(path).decode() for path in paths}
    expect_equal(sum(text.count(old) for text in texts.values()), 1, "places in the Makefile that hold " + old)
    path = next(path for path, text in texts.items() if old in text)
    write(os.path.dirname(path), os.path.basename(path), texts[path].replace(old, new))


@case
def no_change_makes_nothing():
    tree = built()
    expect_equal(make(tree), {}, "made again without a change")
    expect_equal(make(tree, "-q"), {}, "make -q")
    edited(tree, "\n# CUDA 12 is the first", "\n# A comment.\n# CUDA 12 is the first")
    expect_equal(make(tree), {}, "made because the Makefile has another comment")


@case
def a_dry_run_changes_no_stamp():
    tree = built()
    before = {path: read(os.path.join(tree, "build", path)) for path in objects(end=".stamp")}
    expect(len(before) > 15, "stamps are %r" % sorted(before))
    make(tree, "-n", "CPPFLAGS=-DX", "LDFLAGS=-s", "prefix=/opt")
    make(tree, "-q", "CPPFLAGS=-DX", rc=1)
    expect_equal(make(tree), {}, "made after dry runs")
    expect_equal({path: read(os.path.join(tree, "build", path)) for path in before}, before, "texts of the stamps")


@case
def a_source_that_is_gone_leaves_no_object():
    for source, wanted in (
            ("src/vep/plan.cpp", ARCHIVE | PROGRAMS),
            ("test/unit/plan_test.cpp", {"unit"}),
            ("kernels/cuda/residual.cpp", CUDA | EMULATED),
            ("kernels/cuda/draw.cu", CUDA | EMULATED),
            ("test/cuda_emulation/runtime.cpp", EMULATED),
            ("test/gpu/rows_checks.cpp", {"check_gpu", "check_emulated"}),
            ("bench/gpu/work.cpp", {"bench_gpu", "emulated/bench_gpu"})):
        tree = built()
        os.remove(os.path.join(tree, source))
        made = make(tree)
        expect_equal(sorted(made), sorted(wanted), "made without " + source)
        stem = os.path.splitext(source)[0] + "."
        for product, words in made.items():
            expect(stem not in words, "%s still has %s: %s" % (product, source, words))
        expect_equal(make(tree), {}, "made again")


@case
def a_source_that_is_new_is_compiled_and_linked():
    tree = built()
    write(tree, "src/vep/more.cpp", "")
    made = make(tree)
    expect_equal(sorted(made), sorted({"src/vep/more.o"} | ARCHIVE | PROGRAMS), "made with one source more")
    expect("build/src/vep/more.o" in made["libcarbon.a"], "the archive lacks it: " + made["libcarbon.a"])


@case
def the_page_is_made_anew():
    tree = built()
    write(tree, "src/serve/page/index.html", "<p>\\n\n")
    expect_equal(sorted(make(tree)), sorted({"src/serve/api.o"} | ARCHIVE | PROGRAMS), "made with another page")
    table = '{"/index.html", R"page(<p>\\n\n)page"sv},\n{"/figure.js", R"page()page"sv},\n{"/logo.js", R"page()page"sv},\n'
    expect_equal(read(os.path.join(tree, "build/serve_page.h")).decode(), table, "the table")
    write(tree, "src/serve/page/a.css", "")
    make(tree)
    os.remove(os.path.join(tree, "src/serve/page/a.css"))
    expect("src/serve/api.o" in make(tree), "the table keeps a file that is gone")


@case
def without_the_server():
    tree = built()
    made = make(tree, "WITH_SERVER=no")
    expect("unit" in made and "libcarbon.a" in made, "made only %r" % sorted(made))
    for product, words in made.items():
        expect("src/serve" not in words and "http_test" not in words and "-DCARBON_SERVER" not in words, "%s has it: %s" % (product, words))


@case
def flags_make_anew_what_has_them():
    built()
    host = objects("src/", "tokenizer/", "kernels/", "test/")
    plugins = {"plugins/auroc.so"}
    device = objects("cuda/", end=".cu.o")
    everything = objects() | LINKED | ARCHIVE | plugins
    compiled_for_gpu = objects("cuda/", end=".o")
    for settings, wanted in (
            ("LIBS=-lfoo", {"carbon", "unit"}),
            ("LDFLAGS=-s", LINKED | plugins),
            ("NVCCFLAGS=-O1", device | CUDA),
            ("CUDA_ARCH=90", compiled_for_gpu | CUDA),
            ("HTSLIB_CPPFLAGS=-Ihts", host | ARCHIVE | PROGRAMS | plugins | {"make_checkpoint"}),
            ("HTSLIB_LDFLAGS=-Lhts", {"carbon", "unit"}),
            ("prefix=/opt", {"src/base/installed.o"} | ARCHIVE | PROGRAMS),
            ("CPPFLAGS=-DX", everything),
            ("CXXFLAGS=-O2 -g", everything - device)):
        tree = built()
        expect_equal(sorted(make(tree, settings)), sorted(wanted), "made with " + settings)
        expect_equal(make(tree, settings), {}, "made again with " + settings)


@case
def flags_in_the_makefile_do_so_too():
    built()
    emulated = objects("emulated/")
    quick = objects("src/cli/", "test/unit/", "test/tools/")
    for old, new, wanted in (
            ("$(isa_optimisation) -mavx2 ", "$(isa_optimisation) -mavx2 -mbmi ", {"kernels/cpu/isa-avx2.o"} | ARCHIVE | PROGRAMS),
            ("isa_generic.file_flags     = $(isa_optimisation)\n", "\n", {"kernels/cpu/isa-generic.o"} | ARCHIVE | PROGRAMS),
            ("-DCARBON_EMULATION_WATCHES=1", "-DCARBON_EMULATION_WATCHES=2", emulated | EMULATED),
            ("-fsanitize=thread,alignment", "-fsanitize=thread", objects("emulated/", end=".cu.o") | EMULATED),
            (" -fmad=false --expt", " --expt", objects("cuda/", end=".cu.o") | CUDA),
            (",-O1)", ",-Og)", quick | ARCHIVE | PROGRAMS | {"make_checkpoint"}),
            ("$(if $(fast_flags),-O0)", "-O0 -g", objects("test/unit/") | {"unit"}),
            (" -lsqlite3", "", {"carbon", "unit"}),
            (" -Wl,--no-undefined", "", {"carbon-cuda.so"})):
        tree = built()
        edited(tree, old, new)
        expect_equal(sorted(make(tree)), sorted(wanted), "made with %r for %r" % (new, old))
        expect_equal(make(tree), {}, "made again with %r" % new)


@case
def the_backend_can_be_a_part_of_the_program():
    tree = built()
    made = make(tree, "LINK_CUDA=yes")
    expect_equal(sorted(made), ["carbon"], "made with LINK_CUDA=yes")
    expect(all(word in made["carbon"].split() for word in ("build/cuda/kernels/cuda/plan.cpp.o", "build/cuda/kernels/cuda/rows.cu.o", "-lcudart_static")),
           "it has no backend: " + made["carbon"])
    without = command(["make", "-n", "-W", "src/cli/main.cpp", "build/carbon", "CXX=./cxx", "LINK_CUDA=yes", "WITH_CUDA=no"], cwd=tree)
    expect(without.rc == 0 and "build/src/cli/main.o" in without.text and "cudart" not in without.text, "without a toolkit", without)


@case
def another_compiler_is_another_build():
    tree = built()
    shutil.copy(os.path.join(tree, "cxx"), os.path.join(tree, "c++"))
    before = os.stat(os.path.join(tree, "build/backend_stamp.h")).st_mtime_ns
    made = make(tree, "CXX=./c++")
    expect({"src/cli/main.o", "cuda/kernels/cuda/plan.cpp.o", "carbon", "carbon-cuda.so"} <= set(made), "made %r" % sorted(made))
    expect(os.stat(os.path.join(tree, "build/backend_stamp.h")).st_mtime_ns != before, "the old stamp of the backend")


@case
def help_names_every_goal():
    """`make help` prints a line for each goal that is no file, and for no other."""
    result = command(["make", "-s", "-C", SOURCE, "help"], env={"MAKEFLAGS": ""})
    expect(result.rc == 0, "make help fails", result)
    makefiles = [os.path.join(SOURCE, "Makefile")] + glob.glob(os.path.join(SOURCE, "mk", "*.mk"))
    goals = {goal for path in makefiles for names in re.findall(r"^\.PHONY: (.*)", read(path).decode(), re.M) for goal in names.split()}
    # Without a goal, make takes `all`; `test` is `check`; the others are for scripts and other goals.
    named = re.findall(r"^  make (\S*) +\S", result.text, re.M)
    expect_equal(sorted(named), sorted(goals - INNER_GOALS | {""}), "goals of make help")


@case
def includes_in_the_wrong_direction():
    for file, header, words in (
            ("src/vep/a.cpp", '"src/score/a.hpp"', "side by side"),
            ("src/engine/a.hpp", '"src/vep/a.hpp"', "src/vep stands above it"),
            ("src/engine/a.cpp", '"src/formats/a.hpp"', "stands too low"),
            ("src/base/a.hpp", '"src/model/a.hpp"', "src/model stands above it"),
            ("src/formats/a.hpp", '"src/model/a.hpp"', "may include only"),
            ("src/vep/a.cpp", "<htslib/vcf.h>", "only src/formats and src/files may"),
            ("src/plugin/a.cpp", "<CLI/CLI.hpp>", "only src/cli may"),
            ("src/cli/a.cpp", "<boost/beast.hpp>", "only src/serve may"),
            ("tokenizer/a.cpp", '"kernels/ops.hpp"', "side by side"),
            ("kernels/cuda/a.cu", '"kernels/cpu/a.hpp"', "side by side"),
            ("kernels/ops.hpp", '"kernels/cpu/a.hpp"', "side by side"),
            ("plugins/a.cpp", '"src/base/error.hpp"', "share nothing"),
            ("src/cli/a.cpp", '"plugins/carbon_plugin.h"', "share nothing"),
            ("src/cli/a.cpp", '"a.hpp"', "in no folder"),
            ("src/vep/a.cpp", '"src/score/a.hpp"  // why', "side by side"),
            ("src/odd/a.cpp", "<vector>", "lacks"),
            ("src/statistics/a.hpp", '"src/formats/a.hpp"', "may include only src/base"),
            ("src/statistics/a.hpp", '"plugins/carbon_plugin.h"', "may include only src/base"),
            ("src/base/a.hpp", '"src/statistics/a.hpp"', "stands too low"),
            ("src/formats/a.hpp", '"src/statistics/a.hpp"', "may include only"),
            ("src/plugin/a.cpp", '"plugins/carbon_plugin.h"', None),
            ("plugins/a.cpp", '"src/statistics/a.hpp"', None),
            ("plugins/a.hpp", '"src/base/help_lines.hpp"', None),
            ("plugins/a.cpp", '"src/formats/contig_spelling.hpp"', None),
            ("plugins/a.cpp", '"src/formats/carbon_scores.hpp"', None),
            ("src/report/a.cpp", '"src/statistics/a.hpp"', None),
            ("src/report/a.cpp", '"src/report/sections/a.hpp"', None),
            ("src/report/sections/a.cpp", '"src/report/a.hpp"', "src/report stands above it"),
            ("src/report/sections/a.cpp", '"src/report/drawing/a.hpp"', None),
            ("src/report/sections/a.cpp", '"src/report/sources/a.hpp"', None),
            ("src/report/sources/a.cpp", '"src/formats/a.hpp"', None),
            ("src/report/sources/a.cpp", '"src/report/drawing/a.hpp"', "may include only"),
            ("src/report/drawing/a.cpp", '"src/report/sources/a.hpp"', "may include only src/base"),
            ("src/report/drawing/a.cpp", '"src/files/a.hpp"', "may include only src/base"),
            ("src/serve/a.cpp", '"src/report/drawing/a.hpp"', "stands too low"),
            ("src/statistics/a.hpp", '"src/base/a.hpp"', None),
            ("src/vep/a.cpp", '"src/formats/a.hpp"', None),
            ("src/formats/a.cpp", "<htslib/vcf.h>", None),
            ("src/files/a.cpp", "<htslib/bgzf.h>", None),
            ("src/formats/a.cpp", '"src/files/a.hpp"', None),
            ("src/files/a.cpp", '"src/formats/a.hpp"', "may include only src/base"),
            ("kernels/cpu/a.inl", '"kernels/ops.hpp"', None),
            ("src/base/a.cpp", "<string_view>", None),
            ("src/base/a.cpp", "<sys/stat.h>", None),
            ("src/base/a.cpp", "<zlib.h>", None),
            ("src/base/a.cpp", "<zstd.h>", "whose library is not in packaging/libraries"),
            ("src/base/a.cpp", "<fmt/core.h>", "whose library is not in packaging/libraries"),
            ("src/bench/a.cpp", '"version.h"', None)):
        tree = fresh()
        os.makedirs(os.path.dirname(os.path.join(tree, file)))
        write(tree, file, "// A file.\n  #  include %s\n" % header)
        result = command([sys.executable, os.path.join(SOURCE, "test/check_includes.py"), tree])
        lines = result.lines()
        expect_equal(lines[-1], "1 files checked, %d wrong includes or names of types" % (words is not None), "last line for %s in %s" % (header, file))
        expect_equal(result.rc, int(words is not None), "exit status for %s in %s" % (header, file))
        if words is not None:
            expect(re.match(re.escape(file) + r":[12]: .*\.$", lines[0]) and words in lines[0], "the line is " + lines[0])


@case
def a_type_has_a_name_of_its_own():
    for first, second, wrong in (("struct A {", "class A final : B {", 1), ("struct A {", "enum class A {", 1), ("struct A {", "struct A;", 0),
                                 ("struct A {", "struct A::Part {", 0), ("struct A {", "}\nnamespace carbon::api {\nstruct A {", 0)):
        tree = fresh()
        for folder, text in (("src/base", first), ("src/model", second)):
            os.makedirs(os.path.join(tree, folder))
            write(tree, folder + "/a.hpp", "namespace carbon {\n%s\n" % text)
        result = command([sys.executable, os.path.join(SOURCE, "test/check_includes.py"), tree])
        expect_equal(result.lines()[-1], "2 files checked, %d wrong includes or names of types" % wrong, second)
        expect(not wrong or "src/base/a.hpp has a type carbon::A, too" in result.text, result.text)


if __name__ == "__main__":
    main()
