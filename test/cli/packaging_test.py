"""packaging/: versions and dependencies of the recipes are those of the program that was built."""

import os
import re
import subprocess

from harness import CARBON, DATA, Skip, case, command, expect, expect_equal, main, read, tool

SOURCE = os.path.dirname(os.path.dirname(DATA))


def text(*path):
    return read(os.path.join(SOURCE, *path)).decode()


VERSION = text("VERSION").strip()


@case
def one_version():
    for path, pattern in (("packaging/conda/meta.yaml", r'set version = "(.*?)"'), ("packaging/Dockerfile", r"carbon:([\d.]+\d)"),
                          ("packaging/Dockerfile", r'image\.version="(.*?)"'), ("packaging/carbon.def", r"image\.version (\S+)"),
                          ("packaging/README.md", r"carbon:([\d.]+\d)")):
        found = re.findall(pattern, text(path))
        expect(found, "%s names no version" % path)
        expect_equal(set(found), {VERSION}, "versions in " + path)
    for page in sorted(os.listdir(os.path.join(SOURCE, "man"))):
        expect('"carbon-%s"' % VERSION in text("man", page).split("\n", 1)[0], "man/%s is of another version" % page)


@case
def conda_needs_what_the_installer_names():
    line = re.search(r"conda install (.*?)\n\n", text("install-deps.sh"), re.S).group(1).replace("\\\n", " ")
    named = set(line.split()) - {"-c", "conda-forge", "bioconda", "cxx-compiler", "bcftools", "samtools", "numpy", "pysam"}
    recipe = re.search(r"^requirements:\n(.*?)^test:", text("packaging/conda/meta.yaml"), re.M | re.S).group(1)
    expect_equal(sorted(re.findall(r"^    - ([a-z]\w*)$", recipe, re.M)), sorted(named), "packages of the recipe")


@case
def images_hold_every_library():
    """The Debian packages of the libraries that the program names are installed in the last stage of both images."""
    if not os.path.exists("/etc/os-release") or 'VERSION_ID="12"' not in read("/etc/os-release").decode():
        raise Skip("not Debian 12, whose packages the images install")
    if "sanitize" in CARBON:
        raise Skip("a program with sanitizers has other libraries")
    wanted = re.findall(r"NEEDED +(\S+)", tool("objdump", "-p", CARBON).text)
    expect("libhts.so.3" in wanted, "libraries of the program: %r" % wanted)
    base = {"libc6", "libgcc-s1"}  # in every image
    packages = set()
    for line in command(["ldd", CARBON]).lines():
        name, _, path = line.strip().partition(" => ")
        if name not in wanted:
            continue
        path = path.split()[0]
        # dpkg knows the files below /usr or below /, whichever their package names.
        for known in (path, os.path.realpath(path), os.path.realpath(path).replace("/usr/lib", "/lib", 1)):
            found = subprocess.run(["dpkg-query", "-S", known], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()
            if found:
                packages.add(found.split(":")[0])
                break
        else:
            raise Skip("%s is of no Debian package" % path)
    for path in ("packaging/Dockerfile", "packaging/carbon.def"):
        listed = set(re.findall(r"\b(?:lib[a-z0-9+-]+\d|zlib1g|libstdc\+\+6)(?=\s)", text(path)))
        expect_equal(sorted(listed), sorted(packages - base), "libraries in " + path)


@case
def scripts_are_valid():
    for path in ("packaging/conda/build.sh", "install-deps.sh"):
        result = command(["bash", "-n", os.path.join(SOURCE, path)])
        expect(result.rc == 0, path, result)


if __name__ == "__main__":
    main()
