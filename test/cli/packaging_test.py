"""packaging/: versions and dependencies of the recipes are those of the program that was built; the conda recipe renders."""

import os
import re
import subprocess

from harness import CARBON, DATA, ENV, Skip, case, command, expect, expect_equal, fresh, main, read, tool, write

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


def recipe(cuda_compiler_version):
    """The conda recipe of a variant, as conda-build reads it: lines chosen by `# [condition]`, then jinja2, then YAML."""
    try:
        import jinja2
        import yaml
    except ImportError as missing:
        raise Skip("no " + missing.name)
    known = {"linux": True, "x86_64": True, "cuda_compiler_version": cuda_compiler_version}
    lines = []
    for line in text("packaging", "conda", "meta.yaml").splitlines():
        condition = re.search(r"# \[(.+)\]$", line)
        if condition is None or eval(condition.group(1), {}, known):
            lines.append(line[:condition.start()] if condition else line)
    names = {"cuda": "cuda-nvcc", "cxx": "gxx", "c": "sysroot"}
    rendered = jinja2.Environment(undefined=jinja2.StrictUndefined).from_string("\n".join(lines)).render(
        **known, PKG_HASH="1234567", compiler=lambda language: names[language], stdlib=lambda language: names[language],
        pin_subpackage=lambda name, **_: name)

    class Loader(yaml.SafeLoader):
        """Refuses a key that is there twice, of which YAML keeps the last."""

    def mapping(loader, node):
        keys = [loader.construct_object(key) for key, _ in node.value]
        expect_equal(len(keys), len(set(keys)), "keys of %r" % keys)
        return loader.construct_mapping(node, deep=True)
    Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, mapping)
    return yaml.load(rendered, Loader)


def variants():
    """The versions of CUDA that the recipe is built for, "None" without."""
    config = text("packaging", "conda", "conda_build_config.yaml")
    found = re.search(r"^cuda_compiler_version:\n((?:  - .*\n)+)", config, re.M).group(1)
    return re.findall(r'- "?([\w.]+)', found)


@case
def conda_needs_what_the_installer_names():
    line = re.search(r"conda install (.*?)\n\n", text("install-deps.sh"), re.S).group(1).replace("\\\n", " ")
    named = set(line.split()) - {"-c", "conda-forge", "bioconda", "cxx-compiler", "bcftools", "samtools", "numpy", "pysam", "pybigwig"}
    needs = recipe("None")["requirements"]
    expect_equal(sorted(needs["build"] + needs["host"]), sorted(named | {"gxx", "sysroot"}), "packages of the recipe")


@case
def conda_variants():
    versions = variants()
    expect(len(versions) == 2 and versions[0] == "None" and float(versions[1]) >= 12, "variants are %r" % versions)
    cpu, cuda = map(recipe, versions)
    added = [set(cuda["requirements"][part]) - set(cpu["requirements"][part]) for part in ("build", "host")]
    expect_equal(added, [{"cuda-nvcc"}, {"cuda-version %s.*" % versions[1], "cuda-cudart-dev", "libcublas-dev"}], "what CUDA adds")
    for part in ("build", "host"):
        expect(set(cpu["requirements"][part]) < set(cuda["requirements"][part]), "the variant with CUDA lacks something")
    expect_equal([cpu["build"]["string"], cuda["build"]["string"]], ["cpu_h1234567_100", "cuda130_h1234567_0"], "build strings")
    expect(cpu["build"]["number"] > cuda["build"]["number"], "the CPU's variant is not preferred")
    expect_equal(cuda["build"]["ignore_run_exports_from"], ["cuda-cudart-dev"], "the library that is linked statically")
    expect_equal(cpu["package"]["version"], VERSION, "version")


# Stand-ins for autoconf and make: what configure is called with, and whether the toolkit it was given is whole.
AUTOCONF = """#!/bin/sh
cat > configure <<'END'
#!/bin/sh
for word; do
  case $word in --with-cuda=*) cuda=${word#*=} ;; esac
  echo "$word"
done > called
[ "$cuda" = no ] || { "$cuda/bin/nvcc" --version && cat "$cuda/include/cublasLt.h" "$cuda/lib64/libcublasLt.so"; } >> called
END
chmod +x configure
"""


@case
def conda_build_script():
    """Without CUDA it says so, whatever the builder has; with it, it puts together the folder that the Makefile looks for."""
    for version in variants():
        d, programs, prefix, build_prefix = fresh(), fresh(), fresh(), fresh()
        for directory, name, content in ((programs, "autoconf", AUTOCONF), (programs, "make", "#!/bin/sh\necho make $* >> called\n"),
                                         (os.path.join(build_prefix, "bin"), "nvcc", "#!/bin/sh\necho the nvcc\n"),
                                         (os.path.join(prefix, "targets", "x86_64-linux", "include"), "cublasLt.h", "the header\n"),
                                         (os.path.join(prefix, "targets", "x86_64-linux", "lib"), "libcublasLt.so", "the library\n")):
            os.makedirs(directory, exist_ok=True)
            os.chmod(write(directory, name, content), 0o755)
        result = command(["bash", os.path.join(SOURCE, "packaging", "conda", "build.sh")], cwd=d, env={
            "PATH": programs + os.pathsep + ENV["PATH"], "PREFIX": prefix, "BUILD_PREFIX": build_prefix,
            "cuda_compiler_version": version, "CPU_COUNT": "3"})
        expect(result.rc == 0, "build.sh fails", result)
        called = read(os.path.join(d, "called")).decode().splitlines()
        expect("--prefix=" + prefix in called, "configure was called with %r" % called)
        expect_equal(called[-2:], ["make -j3", "make install"], "calls of make")
        if version == "None":
            expect("--with-cuda=no" in called, "configure was called with %r" % called)
        else:
            expect_equal(called[-5:-2], ["the nvcc", "the header", "the library"], "the toolkit")


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
