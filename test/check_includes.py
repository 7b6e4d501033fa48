"""Do the includes of src, kernels, tokenizer and plugins go downwards only, does packaging/libraries have each library of others that they
include, and has every type of a header a name of its own? `make lint` and test/run.sh run it.

    test/check_includes.py [FOLDER OF THE SOURCES]

A line for each include that does not and each name that is taken, then how many files were checked. Exit status 1 if there was any.
"""

import os
import re
import sys

# The layers go from top to bottom. A folder includes itself and what stands on lines below its own, never a neighbour on its line;
# a folder inside another on the same line, such as kernels/cpu, also includes that one.
LAYERS = (
    ("src/cli",),
    ("src/mcp",),
    ("src/plugin", "src/bench", "src/serve", "src/report", "src/api"),
    ("src/report/sections",),
    ("src/verbs",),
    ("src/vep", "src/score", "src/embed", "src/generate", "src/scan", "src/annotate"),
    ("src/pooling",),
    ("src/engine",),
    ("src/sampling", "src/transformer"),
    ("src/model",),
    ("tokenizer", "kernels", "kernels/cpu", "kernels/cuda"),
    ("src/base",),
)
# A plugin is compiled without the program, which for its part knows plugins by the C interface alone. Both use the statistics, which
# are headers alone and stand beside the layers, too, and headers with rules that must not differ: the form of --help and of numbers, what
# letters are, how names of contigs are spelled, what a header says of the scores of carbon, and which alleles lie on one haplotype.
PLUGINS = "plugins"
PLUGIN_INTERFACE = ("src/plugin", "plugins/carbon_plugin.h")
# So do the library and the programs of others that use it.
LIBRARY_INTERFACE = ("src/api", "include/carbon/carbon.h")
PLUGIN_HEADERS = ("src/base/help_lines.hpp", "src/base/letters.hpp", "src/base/numbers.hpp", "src/formats/contig_spelling.hpp",
                  "src/formats/carbon_scores.hpp", "src/formats/haplotype.hpp")
# These stand beside the layers: what each may include, and who may include it.
USERS = sum(LAYERS[:6], ())
SECTIONS = ("src/report", "src/report/sections")
BESIDE = {
    # How a report draws knows no file, and how it reads knows no picture.
    "src/report/drawing": (("src/base",), SECTIONS),
    "src/report/sources": (("src/base", "src/files", "src/formats", "src/statistics", "src/model", "kernels"), SECTIONS),
    "src/formats": (("src/base", "tokenizer", "kernels", "src/files"), USERS),
    "src/files": (("src/base",), ("src/formats", *USERS)),
    "src/statistics": (("src/base",), (PLUGINS, *USERS)),
}
# One or two folders hide a library from all others; a library is known by the start of its headers' names.
HIDDEN = {"htslib/": ("src/formats", "src/files"), "bigWig": ("src/formats",), "bwCommon": ("src/formats",), "CLI/": ("src/cli",),
          "boost/": ("src/serve",), "eigen3/": ("src/report/sections",)}
# What the compiler, the C library and Linux bring. All else belongs to a library, whose licence goes with the program: packaging/libraries
# has it, or, for that of CUDA, packaging/build-portable.sh.
SYSTEM = re.compile(r"[a-z_0-9]+|(sys|linux|asm)/.*|(arm_neon|cpuid|dlfcn|fcntl|immintrin|link|nss|poll|pthread|pwd|sched|semaphore|signal|"
                    r"stddef|stdint|unistd)\.h")
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "packaging", "libraries"), encoding="ascii") as table:
    LIBRARIES = tuple(line.split()[5] for line in table if not line.startswith("#")) + ("cuda_runtime.h", "cublasLt.h")
# The Makefile writes these into the build folder.
GENERATED = ("version.h", "backend_stamp.h", "serve_page.h", "report_page.h", "figure_design.h")

LEVEL = {folder: level for level, layer in enumerate(LAYERS) for folder in layer}
FOLDERS = (*LEVEL, *BESIDE, PLUGINS)
INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^">]+)[">]')
NAMESPACE = re.compile(r"namespace ([\w:]+) \{")
TYPE = re.compile(r"(?:struct|class|enum(?: class)?) (\w+)(?: final)?(?: : .*)? \{")


def folder_of(path):
    """The folder of the table that holds a file, the inner one of two; None if none does."""
    return max((f for f in FOLDERS if path.startswith(f + "/")), key=len, default=None)


def wrong(file, quote, header):
    """What is wrong with an include, as a sentence, or None."""
    here, there = folder_of(file), folder_of(header)
    if quote == "<" and not SYSTEM.fullmatch(header) and not header.startswith(LIBRARIES):
        return "%s includes <%s>, whose library is not in packaging/libraries" % (file, header)
    for start, owners in HIDDEN.items():
        if header.startswith(start):
            return None if here in owners else "%s includes <%s>, but only %s may include headers of %s" % (
                here, header, " and ".join(owners), start)
    if (here, header) == LIBRARY_INTERFACE:
        return None
    if there is None:
        known = quote == "<" or header in GENERATED
        return None if known else '"%s" is in no folder that the table at the top of test/check_includes.py has' % header
    if here == there or (here, header) == PLUGIN_INTERFACE or (here == PLUGINS and header in PLUGIN_HEADERS):
        return None
    if here in BESIDE:
        allowed = BESIDE[here][0]
        return None if there in allowed else "%s includes %s, but may include only %s" % (here, header, " and ".join(allowed))
    if there in BESIDE:
        return None if here in BESIDE[there][1] else "%s includes %s, but stands too low to know %s" % (here, header, there)
    if PLUGINS in (here, there):
        return "%s includes %s, but plugins and program share nothing except %s, %s, and %s, for %s" % (
            here, header, "src/statistics", ", ".join(PLUGIN_HEADERS), *PLUGIN_INTERFACE[::-1])
    if LEVEL[here] < LEVEL[there] or (LEVEL[here] == LEVEL[there] and here.startswith(there + "/")):
        return None
    return "%s includes %s, but %s" % (here, header, "the two stand side by side" if LEVEL[here] == LEVEL[there] else "%s stands above it" % there)


def main():
    os.chdir(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    files = sorted(os.path.join(where, name) for top in ("src", "kernels", "tokenizer", "plugins") for where, _, names in os.walk(top)
                   for name in names if name.endswith((".cpp", ".hpp", ".h", ".inl", ".cu", ".cuh")))
    found, types = 0, {}
    for file in files:
        if folder_of(file) is None:
            found += 1
            print("%s:1: %s is a folder that the table at the top of test/check_includes.py lacks." % (file, os.path.dirname(file)))
            continue
        namespace = ""
        with open(file, encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if file.endswith((".hpp", ".h")) and not file.startswith(PLUGINS):
                    if opened := NAMESPACE.match(line):
                        namespace = opened[1]
                    # No compiler says that two files have different types of one name, and the program then takes either for the other.
                    if (named := TYPE.match(line)) and types.setdefault((namespace, named[1]), file) != file:
                        found += 1
                        print("%s:%d: %s has a type %s::%s, too." % (file, number, types[namespace, named[1]], namespace, named[1]))
                include = INCLUDE.match(line)
                sentence = include and wrong(file, *include.groups())
                if sentence:
                    found += 1
                    print("%s:%d: %s." % (file, number, sentence))
    print("%d files checked, %d wrong includes or names of types" % (len(files), found))
    sys.exit(1 if found or not files else 0)


if __name__ == "__main__":
    main()
