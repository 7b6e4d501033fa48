"""packaging/: versions, dependencies and licences in the recipes are those of the program that was built; the conda recipe
renders; the scripts refuse what they cannot use."""
# Left out while unchanged: build packaging workflows bench/results models/carbon-tiny VERSION NEWS.md CITATION.cff docs

import glob
import os
import re
import shutil
import subprocess
import sys

from documentation_support import environment, run_block
from harness import CARBON, DATA, ENV, Skip, case, command, expect, expect_equal, fresh, main, read, tool, write

SOURCE = os.path.dirname(os.path.dirname(DATA))
sys.dont_write_bytecode = True  # the sources stay as they are
sys.path.insert(0, os.path.join(SOURCE, "packaging", "conda"))
import render  # noqa: E402
sys.path.insert(0, os.path.join(SOURCE, "packaging"))
from sbom import LIBRARIES  # noqa: E402


def text(*path):
    return read(os.path.join(SOURCE, *path)).decode()


VERSION = text("VERSION").strip()


@case
def one_version():
    """The program has the number of VERSION, and so have the copies that formats force; documents and manual pages do without it."""
    expect_equal(command([CARBON, "--version"]).lines()[0], "carbon " + VERSION, "carbon --version")
    result = command([os.path.join(SOURCE, "packaging", "version.py")])
    expect(result.rc == 0 and result.out == b"", "other versions", result)
    for pattern in ("README.md", "HACKING.md", "docs/*.md", "packaging/README.md", "packaging/portable/README.md", "workflows/README.md", "man/*"):
        for path in glob.glob(os.path.join(SOURCE, pattern)):
            expect(not re.search("carbon[-_: ]" + re.escape(VERSION), read(path).decode()), "%s has a copy of the version" % path)


@case
def another_version():
    """version.py finds every copy of an older version, and writes all but the changelogs."""
    d = fresh()
    for pattern in ("VERSION", "NEWS.md", "CITATION.cff", "packaging/Dockerfile", "packaging/carbon.def", "packaging/version.py",
                    "packaging/*/meta.yaml", "packaging/*/changelog", "workflows/galaxy/macros.xml",
                    "workflows/nextflow/modules/carbon/*/main.nf", "workflows/nextflow/modules/carbon/*/environment.yml",
                    "workflows/snakemake/wrappers/carbon/*/environment.yaml"):
        for path in glob.glob(pattern, root_dir=SOURCE):
            os.makedirs(os.path.dirname(os.path.join(d, path)), exist_ok=True)
            shutil.copy(os.path.join(SOURCE, path), os.path.join(d, path))
    write(d, "VERSION", "9.8.7\n")
    script = os.path.join(d, "packaging", "version.py")
    said = command([script])
    modules = len(glob.glob("workflows/nextflow/modules/carbon/*/main.nf", root_dir=d))
    expect(said.rc == 1 and len(said.lines()) == 8 + 2 * modules, "copies of another version", said)
    expect(all("has %s, not 9.8.7" % VERSION in line for line in said.lines() if "NEWS" not in line), "the lines", said)
    said = command([script, "--write"])
    expect_equal((said.rc, [line.split()[0] for line in said.lines()]), (1, ["packaging/debian/changelog", "NEWS.md"]), "not written")
    expect(command([script]).out == said.out, "written in vain", said)
    left = [path for path in glob.glob(d + "/**", recursive=True) if os.path.isfile(path) and VERSION in read(path).decode()]
    expect_equal(sorted(os.path.basename(path) for path in left), ["NEWS.md", "changelog"], "files with the older version")


@case
def citation():
    """CITATION.cff has what the format demands, and the date of the Debian packages, which is that of the release."""
    try:
        import yaml
    except ImportError:
        raise Skip("no python3-yaml") from None
    cited = yaml.safe_load(text("CITATION.cff"))
    expect({"cff-version", "message", "title", "authors"} <= set(cited) and cited["authors"], "fields are %r" % sorted(cited))
    expect_equal((cited["cff-version"], cited["type"], cited["license"]), ("1.2.0", "software", "Apache-2.0"), "the format and the licence")
    dated = re.search(r"^ -- .*>  \w+, (\d+ \w+ \d+) ", text("packaging/debian/changelog"), re.M).group(1)
    expect_equal(cited["date-released"].strftime("%d %b %Y"), dated, "date-released")


def recipe(cuda_compiler_version, machine="x86_64"):
    """The conda recipe of a variant."""
    try:
        return render.recipe(cuda_compiler_version, machine)
    except ImportError as missing:
        raise Skip("no " + missing.name)


@case
def conda_needs_the_libraries():
    """In the recipe, and in what install-deps.sh says where there is no apt-get."""
    libraries = {each.conda for each in LIBRARIES}
    programs = fresh()
    for name in ("bash", "env", "awk", "xargs", "echo", "dirname", "uname", "cat"):
        os.symlink(shutil.which(name), os.path.join(programs, name))
    said = command([os.path.join(SOURCE, "install-deps.sh")], env={"PATH": programs})
    line = re.search(r"conda install (.*?)\n\n", said.err, re.S).group(1).replace("\\\n", " ")
    others = {"-c", "conda-forge", "bioconda", "cxx-compiler", "make", "autoconf", "bcftools", "samtools", "numpy", "pysam", "pybigwig", "libbigwig"}
    expect_equal(sorted(set(line.split()) - others), sorted(libraries), "libraries of the command for conda")
    expect(said.rc == 1 and '-Wl,-rpath,$CONDA_PREFIX/lib"' in said.err, "what to do with conda", said)
    needs = recipe("None")["requirements"]
    expect_equal(sorted(needs["build"] + needs["host"]), sorted(libraries | {"make", "autoconf", "gxx", "sysroot"}), "packages of the recipe")


@case
def configure_looks_for_the_libraries():
    """With the Debian package that it names where one is missing, and the flag by which it is linked."""
    needs = re.findall(r"CARBON_NEEDS\(\[[^\]]*\], \[([^\]]*)\], \[([^\]]*)\]", text("configure.ac"))
    found = {(package, "".join(re.findall(r"-l\S+", flags)) or "-") for package, flags in needs} - {("g++", "-")}
    expect_equal(sorted(found), sorted((each.headers, each.linked_by) for each in LIBRARIES), "libraries of configure.ac")


@case
def installing_names_the_libraries():
    """The table of dependencies in docs/install.md says why each library is there, and its licence."""
    table = text("docs/install.md").split("\n## Dependencies\n")[1].split("\n## ")[0]
    for each in LIBRARIES:
        row = re.search(r"^\| .*`%s`.*\| ([^|]+) \|$" % re.escape(each.headers), table, re.M)
        expect(row is not None, "no row of " + each.headers)
        expect_equal(row.group(1), each.licence if each.licence != "-" else "not part of the program",
                     "licence of %s in docs/install.md" % each.headers)


@case
def conda_variants():
    versions = render.variants()
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


@case
def conda_on_aarch64():
    """The CPU's variant is built there too, with the same libraries; the other variant is not."""
    versions = render.variants()
    cpu, cuda = (recipe(version, "aarch64") for version in versions)
    expect("linux-aarch64" in cpu["extra"]["additional-platforms"], "bioconda is not asked for linux-aarch64")
    expect(not cpu["build"].get("skip") and cuda["build"].get("skip") is True, "which variants are skipped")
    expect_equal(cpu["requirements"], recipe(versions[0])["requirements"], "tools and libraries")


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
    for version in render.variants():
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
def images_have_the_libraries():
    for path in ("packaging/Dockerfile", "packaging/carbon.def"):
        listed = set(re.findall(r"\b(?:lib[a-z0-9+-]+\d|zlib1g)(?=\s)", text(path))) - {"libstdc++6"}
        expect_equal(sorted(listed), sorted(each.library for each in LIBRARIES if each.library != "-"), "libraries in " + path)


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
def no_library_but_those_of_the_table():
    """The program names the libraries of the table and what the compiler adds, and uses them all; docs/install.md has what they bring."""
    if "sanitize" in CARBON:
        raise Skip("a program with sanitizers has other libraries")
    compilers = {"libstdc++", "libgcc_s", "libm", "libc"}
    # The loader, which starts the program, has also what finds variables of a thread.
    named = {name for name in re.findall(r"NEEDED +(\S+?)[.]so", tool("objdump", "-p", CARBON).text) if not name.startswith("ld-linux")}
    table = {each.linked_by.replace("-l", "lib", 1) for each in LIBRARIES if each.linked_by != "-"}
    expect_equal(sorted(named - compilers), sorted(table), "libraries that the program names")
    unused = tool("ldd", "-u", CARBON)
    expect_equal(unused.text.strip(), "", "libraries that the program names and does not use")
    if 'VERSION_ID="12"' not in read("/etc/os-release").decode():
        raise Skip("docs/install.md lists the libraries of Debian 12")
    listed = text("docs/install.md").split("\n## Shared libraries\n")[1].split("\n\n")
    loaded = re.findall(r"^\s*(\S+?)[.]so\S* => /", tool("ldd", CARBON).text, re.M)
    rows = next(part for part in listed if part.startswith("| "))
    expect_equal(sorted(re.findall(r"`(lib[^`]+)`", rows)), sorted(loaded), "libraries of docs/install.md")


def installer(*options):
    return set(tool(os.path.join(SOURCE, "install-deps.sh"), *options, "--list").lines())


@case
def installed_scripts_need_no_interpreter_that_is_no_dependency():
    """carbon depends on no Python: what `make install` copies for workflows names none after #!, as lintian demands."""
    seen = 0
    for folder in ("workflows", "packaging/ensembl-vep", "packaging/vcfanno"):
        for path in glob.glob(os.path.join(SOURCE, folder, "**", "*"), recursive=True):
            first = read(path).split(b"\n")[0].decode(errors="replace") if os.path.isfile(path) else ""
            if first.startswith("#!"):
                seen += 1
                expect(re.fullmatch(r"#! ?(/usr/bin/env )?(/bin/)?(ba)?sh", first), "%s needs %s" % (path, first))
    expect(seen > 5, "%d scripts were seen" % seen)


@case
def debian_package_is_built_with_what_the_installer_names():
    """The Build-Depends are what install-deps.sh names, and of these the libraries are not only for the optional `make check`."""
    field = re.search(r"^Build-Depends:\n((?:[ #].*\n)+)", text("packaging/debian/control"), re.M).group(1)
    lines = [line.strip().rstrip(",") for line in field.splitlines() if not line.startswith("#")]
    always = {line.split(" ")[0].split(":")[0] for line in lines if "<pkg.carbon.check>" not in line} - {"debhelper-compat"}
    check = {line.split(" ")[0] for line in lines if "<pkg.carbon.check>" in line}
    expect_equal(always & check, set(), "named twice")
    # debhelper brings autoconf, and every Debian build make and g++.
    expect_equal(sorted(always | check), sorted(installer() - {"g++", "make", "autoconf"}), "packages")
    expect("doctest-dev" in check and "libhts-dev" in always, "which are for make check")


@case
def installed_files_have_a_package():
    """Each folder that `make install` fills is in a package's list; so is carbon-cuda.so, in its own."""
    lists = {os.path.basename(path): read(path).decode().split() for path in glob.glob(os.path.join(SOURCE, "packaging/debian/*.install"))}
    expect_equal(lists["carbon-cuda.install"], ["usr/libexec/carbon/carbon-cuda.so"], "package of CUDA")
    # Only packages of control have lists, and documents that exist are listed.
    packages = set(re.findall(r"^Package: (.*)", text("packaging/debian/control"), re.M))
    expect_equal({name.rsplit(".", 1)[0] for name in lists} - packages, set(), "lists of no package")
    for name in ("carbon.docs", "carbon.examples"):
        for path in text("packaging/debian", name).split():
            expect(path.startswith("debian/") or os.path.exists(os.path.join(SOURCE, path)), "%s: no %s" % (name, path))


def bill_of_materials(*arguments, **options):
    return command([os.path.join(SOURCE, "packaging", "sbom.py"), *arguments], **options)


@case
def licences():
    """sbom.py lists each library that the program names."""
    if "sanitize" in CARBON or shutil.which("dpkg-query") is None or shutil.which("readelf") is None:
        raise Skip("needs dpkg, binutils, and a program without sanitizers")
    if command(["dpkg-query", "-W", "libcli11-dev", "libboost-dev", "libeigen3-dev", "nlohmann-json3-dev"]).rc != 0:
        raise Skip("the headers are of no Debian package")
    result = bill_of_materials(CARBON, env={"SOURCE_DATE_EPOCH": "1700000000"})
    if "belongs to no Debian package" in result.err:
        raise Skip(result.err.strip())
    expect(result.rc == 0, "sbom.py fails", result)
    expect_equal(bill_of_materials(CARBON, env={"SOURCE_DATE_EPOCH": "1700000000"}).out, result.out, "another time")
    expect("Created: 2023-11-14T22:13:20Z" in result.lines(), "SOURCE_DATE_EPOCH is not the time")
    parts = [dict(line.split(": ", 1) for line in block.splitlines()) for block in result.text.split("\n\n")[1:-1]]
    expect_equal((parts[0]["PackageName"], parts[0]["PackageVersion"]), ("carbon", VERSION), "the program")
    known = {}
    for part in parts[1:]:
        expect("@" in part["ExternalRef"] and part["PackageVersion"], "no version of %r" % part)
        known[tool("dpkg-query", "-W", "-f", "${source:Package}", part["PackageName"]).text] = part["PackageLicenseDeclared"]
    expect({"htslib", "openssl", "sqlite3", "zlib", "cli11"} <= set(known), "libraries are %r" % sorted(known))
    for part in parts:
        relation = r"^Relationship: SPDXRef-(DOCUMENT DESCRIBES|carbon (DYNAMIC|STATIC)_LINK) %s$" % re.escape(part["SPDXID"])
        expect(re.search(relation, result.text, re.M), "no relation of " + part["SPDXID"])
    names = tuple(each.source for each in LIBRARIES) + ("gcc-", "glibc")
    expect_equal([source for source in known if not source.startswith(names)], [], "what is in no table")


@case
def notices_of_what_is_compiled_in():
    """sbom.py --notices writes what the licences of libraries without a library file ask for, and the packages and images have it."""
    compiled = [each for each in LIBRARIES if each.library == "-" != each.licence]
    if shutil.which("dpkg-query") is None or command(["dpkg-query", "-W", *(each.headers for each in compiled)]).rc != 0:
        raise Skip("the headers are of no Debian package")
    folder = os.path.join(fresh(), "licenses")
    result = bill_of_materials("--notices", folder)
    expect(result.rc == 0, "sbom.py fails", result)
    expect_equal([line.split("\t")[::2] for line in result.lines()], [[each.source, each.licence] for each in compiled], "lines")
    expect(all(line.split("\t")[1] for line in result.lines()), "versions", result)
    expect_equal(sorted(os.listdir(folder)), sorted(each.source for each in compiled), "notices")
    for name, words in (("cli11", ("University of Cincinnati", "must reproduce the above copyright")), ("eigen3", ("Gael Guennebaud", "MPL")),
                        ("nlohmann-json3", ("Niels Lohmann", "Bjoern Hoehrmann", "Permission is hereby granted")),
                        ("boost", ("Boost project contributors", "Boost Software License - Version 1.0"))):
        notice = text(folder, name)
        expect(all(word in notice for word in words) and len(notice) < 100000, "the notice of " + name)
    for path, words in (("debian/rules", "packaging/sbom.py --notices debian/licenses"), ("debian/carbon.docs", "debian/licenses"),
                        ("debian/libcarbon0.docs", "debian/licenses"), ("portable/toolchain.sh", '/sbom.py" --notices "$dir/share/licenses"'),
                        ("Dockerfile", "packaging/sbom.py --notices /out/"), ("carbon.def", "packaging/sbom.py --notices /out/")):
        expect(words in text("packaging", path), "no notices in packaging/" + path)


@case
def libraries_of_the_archive():
    """portable/toolchain.sh builds each library of the table, knows its licence by it, and links the headers of the others."""
    sources = {line.split()[0]: line.split()[2] for line in text("packaging/portable/sources").splitlines() if not line.startswith("#")}
    built = {each.source: each.licence for each in LIBRARIES if each.library != "-"}
    expect_equal(sorted(source for source, licence in sources.items() if licence == "-"), sorted(built), "what both tables have")
    script = text("packaging/portable/toolchain.sh")
    lines = re.search(r"^licence_of\(\).*$", script, re.M).group(0) + "\nfor each; do licence_of $each; done\n"
    lines += re.search(r"^done < <\((awk .*)\)$", script, re.M).group(1)
    said = tool("bash", "-euc", "here=$1; shift\n" + lines, "bash", os.path.join(SOURCE, "packaging/portable"), *built)
    expect_equal(said.lines(), [*built.values(), "CLI", "nlohmann", "boost", "eigen3"], "licences and headers")


@case
def licences_of_what_is_no_program():
    if shutil.which("readelf") is None:
        raise Skip("no readelf")
    for argument, says in ((write(fresh(), "text", "x"), "readelf"), ("absent", "No such file")):
        result = bill_of_materials(argument)
        expect(result.rc == 1 and says in result.err and result.out == b"", "a list of " + argument, result)


@case
def licences_of_an_archive():
    """The list of an archive has what its share/libraries has, and the words of licences that SPDX does not know."""
    d = fresh()
    share = os.path.join(d, "carbon-9.8.7-linux-x86_64", "share")
    os.makedirs(os.path.join(share, "licenses"))
    write(share, "libraries", "zig (libc++)\t0.1\tMIT AND Apache-2.0 WITH LLVM-exception\nxz-utils\t5.4\tLicenseRef-public-domain\n")
    write(share, "licenses/xz-utils", "Nobody owns this.\n")
    tool("tar", "-C", d, "--mtime=@1700000000", "-czf", os.path.join(d, "a.tar.gz"), "carbon-9.8.7-linux-x86_64")
    result = bill_of_materials("--archive", os.path.join(d, "a.tar.gz"))
    expect(result.rc == 0, "sbom.py fails", result)
    for line in ("Created: 2023-11-14T22:13:20Z", "DocumentName: carbon-9.8.7", "SPDXID: SPDXRef-zig--libc---", "PackageVersion: 0.1",
                 "PackageLicenseDeclared: MIT AND Apache-2.0 WITH LLVM-exception", "Relationship: SPDXRef-carbon STATIC_LINK SPDXRef-xz-utils",
                 "LicenseID: LicenseRef-public-domain", "ExtractedText: <text>Nobody owns this.</text>"):
        expect(line in result.lines(), "no line " + line, result)
    for path, says in ((write(d, "text", "x"), "is not an archive"), ("absent", "No such file")):
        refused = bill_of_materials("--archive", path)
        expect(refused.rc == 1 and says in refused.err and refused.out == b"", "a list of " + path, refused)


@case
def release_of_cheap_parts():
    """release.sh makes the source archive, the recipe with its sum, and the sums; it says what is not there; check-release.sh reads them."""
    if shutil.which("git") is None or command(["git", "-C", SOURCE, "rev-parse", "HEAD"]).rc != 0:
        raise Skip("no git repository here")
    d = fresh()
    script, out = os.path.join(SOURCE, "packaging", "release.sh"), os.path.join(d, "release")
    options = ["-o", out, "--work", os.path.join(d, "work")]
    early = command([script, *options, "conda"])
    expect(early.rc == 1 and "begin with the part source" in early.err, "a recipe without the archive", early)
    made = command([script, *options, "source", "conda", "sbom", "sums"])
    expect(made.rc == 0 and "left out  image: it was not asked for" in made.text, "release.sh fails", made)
    archive = "carbon-%s.tar.gz" % VERSION
    names = [line.split("  ")[1] for line in text(out, "SHA256SUMS").splitlines()]
    expect_equal([name for name in names if "rendered" not in name], ["NEWS-%s.md" % VERSION, archive, "conda/build.sh", "conda/conda_build_config.yaml", "conda/meta.yaml"], "files")
    digest = tool("sha256sum", os.path.join(out, archive)).text.split(" ")[0]
    expect("\n  sha256: %s\n" % digest in text(out, "conda", "meta.yaml"), "the sum in the recipe")
    expect("path: ../.." not in text(out, "conda", "meta.yaml"), "the recipe builds a checkout")
    expect(text(out, "NEWS-%s.md" % VERSION).startswith("## "), "release notes")
    # Files of other sources go; those of the same sources stay.
    for content, left in ((read(os.path.join(out, archive)), True), (b"other", False)):
        write(out, "carbon_dna.whl", "x")
        with open(os.path.join(out, archive), "wb") as file:
            file.write(content)
        expect(command([script, *options, "source"]).rc == 0, "release.sh fails the second time")
        expect_equal(os.path.exists(os.path.join(out, "carbon_dna.whl")), left, "a wheel of an earlier run")


@case
def check_of_a_release_finds_faults():
    """Sums that are wrong, files without one, and lists of libraries that lack something. Nothing is installed."""
    d = fresh()
    write(d, "SHA256SUMS", "%064d  given\n" % 0)
    for name in ("given", "more"):
        write(d, name, "x\n")
    write(d, "carbon-9.8.7.spdx", "SPDXVersion: SPDX-2.3\nPackageName: htslib\nPackageVersion: 1\n")
    result = command([os.path.join(SOURCE, "packaging", "check-release.sh"), d, sys.executable])
    expect_equal(result.rc, 1, "exit status of check-release.sh")
    for line in ("WRONG  SHA256SUMS", "WRONG  more is not in SHA256SUMS", "WRONG  carbon-9.8.7.spdx: no version or licence of htslib"):
        expect(line in result.lines(), "not found: " + line, result)


@case
def check_of_a_release_names_what_it_leaves_out():
    """Parts that the folder has not, and those that it has and that are for others to try."""
    d = fresh()
    machine = os.uname().machine
    names = ["carbon-9.8.7.tar.gz", "carbon-9.8.7-image.tar", "carbon-9.8.7-linux-%s.tar.gz" % machine, "conda/meta.yaml", "carbon_dna-9.8.7-py3-none-odd.whl",
             "debian-13/carbon_9.8.7-1_amd64.deb", "debian-13/carbon-cuda_9.8.7-1_amd64.deb"]
    for name in names:
        os.makedirs(os.path.dirname(os.path.join(d, name)), exist_ok=True)
        write(d, name, "x\n")
    write(d, "SHA256SUMS", tool("sha256sum", *names, cwd=d).text)
    result = command([os.path.join(SOURCE, "packaging", "check-release.sh"), d, sys.executable])
    expect_equal([line.split(": ")[0] for line in result.lines() if line.startswith("left out")],
                 ["left out  " + name for name in (names[4], "carbon-*-linux-%s.tar.gz" % machine, "carbon_dna-*_%s.whl" % machine,
                                                   "debian-12/carbon_*.deb", "debian-13/carbon_*.deb", names[0], names[1],
                                                   "debian-*/carbon-cuda_*.deb", "conda")], "left out")


@case
def smoke_test_finds_faults():
    """The test that packages run when they are built fails where the program does not compute, and passes where it does."""
    script = os.path.join(SOURCE, "packaging", "smoke.sh")
    result = command([script, CARBON])
    expect(result.rc == 0 and result.text.startswith("carbon %s works" % VERSION), "smoke.sh fails", result)
    d = fresh()
    for name, body in (("version", "[ $1 != --version ] || { echo carbon 9.9.9; exit; }"),
                       ("score", "[ $1 != score ] || { echo c1; exit; }"),
                       ("vep", "[ $1 != vep ] || exit 1"),
                       ("threads", '[ $1 != score ] || { printf "c1\\t0\\t84\\t%s\\n" $4; exit; }'),
                       ("plugins", "[ $1 != plugin ] || exit 0")):
        program = write(d, name, '#!/bin/sh\n%s\nexec %s "$@"\n' % (body, CARBON))
        os.chmod(program, 0o755)
        broken = command([script, program])
        expect(broken.rc == 1 and broken.err.startswith("smoke.sh: ") or "differ" in broken.err, "not found: " + name, broken)


@case
def scripts_refuse_what_they_cannot_use():
    d = fresh()
    write(d, "kept", "x")
    for script, arguments, says in (
            ("build-deb.sh", ["-o", d], "is not an earlier build"), ("build-deb.sh", ["-o"], "needs a folder"),
            ("build-image.sh", [], "OCI image"), ("build-image.sh", ["absent.deb"], "OCI image"),
            ("check-reproducible.sh", ["--against", d], "need --deb"), ("check-reproducible.sh", ["x"], "compares the bytes"),
            ("release.sh", ["-o", d], "is not an earlier release"), ("release.sh", ["x"], "there is no part x"),
            ("check-release.sh", [d], "has no SHA256SUMS")):
        result = command([os.path.join(SOURCE, "packaging", script), *arguments], cwd=d)
        if "is not installed" in result.err:
            continue
        expect(result.rc == 1 and says in result.err and result.out == b"", script, result)
    expect_equal(os.listdir(d), ["kept"], "files of somebody else")


def pages_of_an_archive():
    """A folder with what build-portable.sh puts into an archive next to the program."""
    root = os.path.join(fresh(), "carbon-9.8.7-linux-x86_64")
    for path, place in (("docs", "docs"), ("workflows", "share/carbon/workflows"), ("models/carbon-tiny", "share/carbon/models/carbon-tiny"),
                        ("packaging/vcfanno", "share/carbon/vcfanno"), ("packaging/ensembl-vep", "share/carbon/ensembl-vep")):
        shutil.copytree(os.path.join(SOURCE, path), os.path.join(root, place))
    os.makedirs(os.path.join(root, "bench", "results"))
    for path in glob.glob(os.path.join(SOURCE, "bench", "results", "*.md")):
        shutil.copy(path, os.path.join(root, "bench", "results"))
    for path in ("packaging/portable/README.md", "NEWS.md", "LICENSE"):
        shutil.copy(os.path.join(SOURCE, path), root)
    write(root, "share/libraries", "htslib\t1\tMIT\n")
    return root


def mend_links(root, *folder):
    return command([sys.executable, os.path.join(SOURCE, "packaging", "links.py"), root, *folder])


def good_links(root):
    """How many relative links the pages have. Each leads to a file."""
    links = 0
    for page in glob.glob(root + "/**/*.md", recursive=True):
        for target in re.findall(r"\]\(([^)#\s]+)", read(page).decode()):
            if not re.match(r"\w+:", target):
                links += 1
                expect(os.path.exists(os.path.join(os.path.dirname(page), target)), "%s links to %s" % (page, target))
    return links


@case
def links_of_the_debian_packages_lead_somewhere():
    """The documents of carbon-doc lie in another folder than what `make install` installs."""
    archive, root = pages_of_an_archive(), fresh()
    shutil.copytree(os.path.join(archive, "share"), os.path.join(root, "share"))
    for folder in ("docs", "bench"):
        shutil.copytree(os.path.join(archive, folder), os.path.join(root, "share/doc/carbon", folder))
    result = mend_links(root, "share/doc/carbon")
    expect(result.rc == 0 and result.err == "", "links.py fails", result)
    expect(good_links(root) > 60, "few links")
    expect("](../../../carbon/vcfanno/scan.toml)" in text(root, "share/doc/carbon/docs/recipes.md"), "no link to vcfanno/scan.toml")
    expect("](../../doc/carbon/docs/benchmark.md)" in text(root, "share/carbon/workflows/README.md"), "no link to docs/benchmark.md")


@case
def links_of_the_archive_lead_somewhere():
    """links.py changes or takes out those that would lead nowhere, and says so where it cannot."""
    root = pages_of_an_archive()
    result = mend_links(root)
    expect(result.rc == 0 and result.err == "", "links.py fails", result)
    expect(good_links(root) > 60, "few links")
    pages = {page: text(root, page) for page in ("README.md", "docs/recipes.md", "docs/install.md", "share/carbon/workflows/README.md")}
    expect_equal(pages["README.md"], text("packaging/portable/README.md"), "the README")
    for page, words in (("docs/recipes.md", "[scan.toml](../share/carbon/vcfanno/scan.toml)"),
                        ("docs/install.md", "\npackaging/README.md of the sources describes the packages"),
                        ("share/carbon/workflows/README.md", "[docs/benchmark.md](../../../docs/benchmark.md)")):
        expect(words in pages[page], "%s without %s" % (page, words))
    for page in glob.glob(root + "/docs/*.md"):
        words = read(page).decode()
        expect("./carbon " not in words, "%s runs a program that only a build has" % page)
        # What is in the sources alone is said to be there, in the same section.
        for section in re.split(r"^#+ ", words, flags=re.M):
            for named in re.findall(r"`(?:make [a-z-]+|(?:test|packaging|src|kernels|bench)/(?!results)[^`]*)`", section):
                expect("sources" in section, "%s names %s without saying that it is in the sources" % (page, named))
    result = mend_links(root)
    expect_equal((result.rc, [page for page in pages if text(root, page) != pages[page]]), (0, []), "a second time")
    page = "a [b](LICENSE)\n\n```\nx[1](none)\n```\n\nwrapped [in\ntwo](../NEWS.md#x) ![c](no.png) [d](../../out.md) [e](https://e.org/x)\n"
    write(root, "docs/usage.md", page)
    expect_equal((mend_links(root).rc, text(root, "docs/usage.md")),
                 (0, page.replace("[b](LICENSE)", "b").replace("![c](no.png)", "c").replace("[d](../../out.md)", "d")), "a page")
    write(root, "README.md", "[x](HACKING.md) [y](docs/usage.md)\n")
    result = mend_links(root)
    expect(result.rc == 1 and result.err == "links.py: README.md links to HACKING.md, which is not there\n", "a README", result)


@case
def commands_of_the_readme_of_the_archive():
    """They run as they stand, but for what pip installs."""
    root = pages_of_an_archive()
    os.mkdir(os.path.join(root, "bin"))
    os.symlink(CARBON, os.path.join(root, "bin", "carbon"))
    readme = text(root, "README.md")
    expect(len(readme.splitlines()) <= 45, "%d lines" % len(readme.splitlines()))
    blocks = re.findall(r"^```sh\n(.*?)^```$", readme, re.M | re.S)
    expect_equal(len(blocks), 3, "blocks")
    script = "".join(line for line in "".join(blocks).splitlines(True) if not re.match("python3 -m venv|pip install", line))
    run_block("README.md", script + "carbon vep -f $data/genome.fa $data/variants.vcf > again.vcf\n", root, environment(max_positions=8192))
    expect("CARBON_LLR" in text(root, "scores.html"), "no scores in the report")
    expect_equal(len(re.findall("CARBON_LLR=", text(root, "scored.vcf"))), 3, "scores")


@case
def image_is_made_of_the_list_of_the_dockerfile():
    """The line of build-image.sh that reads it finds what the Dockerfile and carbon.def install."""
    line = re.search(r"^list=\$\(.*?\| xargs \| tr ' ' ,\)$", text("packaging/build-image.sh"), re.M | re.S).group(0)
    read_list = tool("bash", "-c", "here=%s\n%s\necho $list" % (os.path.join(SOURCE, "packaging"), line)).text.strip().split(",")
    wanted = re.search(r"--no-install-recommends ([^&]*?)\n    rm -rf /var", text("packaging/carbon.def")).group(1)
    expect_equal(read_list, wanted.replace("\\\n", " ").split(), "packages of the image")


@case
def scripts_are_valid():
    paths = ["install-deps.sh", "packaging/conda/build.sh", "packaging/debian/tests/smoke", "packaging/debian/tests/demo",
             "packaging/debian/tests/library", "packaging/debian/tests/plugin", "packaging/debian/python3-carbon-dna.postinst",
             "packaging/debian/python3-carbon-dna.prerm"] + [os.path.relpath(path, SOURCE) for path in glob.glob(SOURCE + "/packaging/*.sh")]
    for path in paths:
        result = command(["bash", "-n", os.path.join(SOURCE, path)])
        expect(result.rc == 0, path, result)


if __name__ == "__main__":
    main()
