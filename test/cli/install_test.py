"""make install, uninstall and dist: a tree that runs from where it lies, that leaves nothing, and a whole archive."""
# Left out while unchanged: build man models workflows python include

import os
import re
import shutil
import tarfile

from harness import CARBON, DATA, Skip, case, command, data, expect, expect_equal, fresh, main, read, write

SOURCE = os.path.dirname(os.path.dirname(DATA))
BUILD = os.path.dirname(CARBON)
VERSION = read(os.path.join(SOURCE, "VERSION")).decode().strip()
PREFIX = "/opt/carbon-of-a-test"


def make(*args):
    if shutil.which("make") is None:
        raise Skip("no make")
    # What is built stays as it is: the tests of one run are all of the same program.
    built = ["carbon", "models/carbon-tiny/model.safetensors"]
    built += [os.path.join(BUILD, "plugins", name) for name in os.listdir(os.path.join(BUILD, "plugins"))]
    settings = ["WITH_CUDA=no"] + [word for path in built for word in ("-o", path)]
    result = command(["make", "-s", "-C", SOURCE, *args, "BUILD=" + BUILD, *settings], env={"MAKEFLAGS": ""}, timeout=120)
    expect(result.rc == 0, "expected rc 0", result)
    return result


def copy_makefile(directory):
    os.mkdir(os.path.join(directory, "packaging"))
    for name in ("Makefile", "VERSION", "packaging/libraries"):
        shutil.copy(os.path.join(SOURCE, name), os.path.join(directory, name))
    shutil.copytree(os.path.join(SOURCE, "mk"), os.path.join(directory, "mk"))


def installed():
    if "sanitize" in os.path.basename(BUILD) or not os.path.exists(os.path.join(SOURCE, "carbon")):
        raise Skip("no ./carbon, or one with sanitizers, which is not installed")
    root = fresh()
    make("install", "DESTDIR=" + root, "prefix=" + PREFIX)
    return root


def files(root):
    return sorted(os.path.relpath(os.path.join(where, name), root) for where, _, names in os.walk(root) for name in names)


@case
def a_tree_that_runs_from_where_it_lies():
    root = installed()
    moved = os.path.join(fresh(), "elsewhere")
    for tree in (root + PREFIX, moved):
        if tree == moved:
            os.rename(root + PREFIX, moved)
        program = os.path.join(tree, "bin", "carbon")
        listed = command([program, "plugin", "-l"]).lines()
        expect_equal(listed[0], os.path.join(tree, "libexec", "carbon"), "directory of the plugins")
        expect(any(line.startswith("    +auroc ") for line in listed), "no plugins: %r" % listed)
        for model in ((), ("-m", "carbon-tiny")):
            result = command([program, "score", *model, data("mini.fa")])
            expect(result.rc == 0, "the bundled model was not found", result)
            expect_equal(len(result.messages("W")), 1, "warnings, of the demonstration model")
        expect(command([program, "+auroc", "--", "--help"]).rc == 0, "a plugin does not run")
        if os.path.exists(os.path.join(tree, "libexec", "carbon", "carbon-cuda.so")):
            expect("built without CUDA" not in command([program, "--version"]).text, "carbon-cuda.so was not found")
    os.rename(os.path.join(moved, "share"), os.path.join(moved, "away"))
    result = command([program, "score", data("mini.fa")])
    expect(result.rc == 1 and "is not installed" in result.err, "a model from another place", result)


def loader_of(program):
    if shutil.which("readelf") is None:
        raise Skip("no readelf")
    return re.search(r"program interpreter: (/\S+)\]", command(["readelf", "-lW", program]).text).group(1)


@case
def found_however_it_is_started():
    """Plugins and the bundled model are found beside the program, by whatever name, loader or file system it is started."""
    tree, d = os.path.join(fresh(), "tree"), fresh()
    os.rename(installed() + PREFIX, tree)
    program, link = os.path.join(tree, "bin", "carbon"), os.path.join(d, "dna")
    os.symlink(program, link)
    mounted = command(["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/proc"]).rc == 0 if shutil.which("unshare") else False
    without_proc = ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]
    # What the launcher of an archive does, with a name that leads nowhere.
    launched = [loader_of(program), "--argv0", "carbon", program]
    ways = [([link], {}), (["bin/carbon"], {}), (["env", "carbon"], {}), ([loader_of(program), "bin/carbon"], {}),
            (launched, {"CARBON_INTERNAL_PROGRAM": program}), ([link], {"CARBON_INTERNAL_PROGRAM": shutil.which("sh")}),
            ([link], {"CARBON_INTERNAL_PROGRAM": os.path.join(d, "none")})]
    for before in [[], without_proc] if mounted else [[]]:
        for words, settings in ways:
            env = {"PATH": os.path.join(tree, "bin") + ":" + os.environ["PATH"], **settings}
            listed = command([*before, *words, "plugin", "-l"], cwd=tree, env=env)
            expect_equal(listed.lines()[:1], [os.path.join(tree, "libexec", "carbon")], "directory of the plugins, by %r %r" % (before + words, settings))
            result = command([*before, *words, "score", "-@", "1", data("mini.fa")], cwd=tree, env=env)
            expect(result.rc == 0, "the bundled model was not found", result)
    if not mounted:
        raise Skip("/proc cannot be hidden here; the rest has passed")


@case
def what_is_installed():
    root = installed()
    found = set(files(root + PREFIX))
    for page in [name for name in os.listdir(os.path.join(SOURCE, "man")) if name.endswith((".1", ".5"))]:
        path = "share/man/man%s/%s" % (page[-1], page)
        expect(path in found, "not installed: " + page)
        title = read(os.path.join(root + PREFIX, path)).decode().split("\n", 1)[0]
        expect('"carbon-%s"' % VERSION in title, "%s has no version: %s" % (page, title))
    for path in ("include/carbon_plugin.h", "share/carbon/workflows/snakemake/Snakefile", "share/carbon/ensembl-vep/Carbon.pm",
                 "share/carbon/vcfanno/scan.toml"):
        expect(path in found, "not installed: " + path)
    for shell, path in (("bash", "share/bash-completion/completions/carbon"), ("zsh", "share/zsh/site-functions/_carbon")):
        wanted = command([os.path.join(SOURCE, "carbon"), "completion", shell]).out
        expect(wanted != b"" and read(os.path.join(root + PREFIX, path)) == wanted, "completion for " + shell)


@case
def uninstall_leaves_nothing():
    root = installed()
    expect(len(files(root)) > 20, "nothing was installed")
    make("uninstall", "DESTDIR=" + root, "prefix=" + PREFIX)
    expect_equal(files(root), [], "files left behind")
    own = [where for where, _, _ in os.walk(root + PREFIX) if os.path.basename(where) == "carbon"]
    expect_equal(own, [], "directories left behind")
    # Models that the user has put beside the bundled one are the user's.
    os.makedirs(os.path.join(root + PREFIX, "share/carbon/models/own"))
    make("uninstall", "DESTDIR=" + root, "prefix=" + PREFIX)
    expect(os.path.isdir(os.path.join(root + PREFIX, "share/carbon/models/own")), "a user's model was removed")


@case
def configure_writes_what_make_reads():
    if shutil.which("autoconf") is None:
        raise Skip("no autoconf")
    d = fresh()
    copy_makefile(d)
    for path in ("configure.ac", "config.mk.in", "src/cli/main.cpp"):
        os.makedirs(os.path.dirname(os.path.join(d, path)), exist_ok=True)
        shutil.copy(os.path.join(SOURCE, path), os.path.join(d, path))
    done = command(["bash", "-c", "autoconf && ./configure --prefix=/opt/x --with-cuda=no CXXFLAGS=-O0"], cwd=d, timeout=180)
    expect(done.rc == 0, "autoconf && ./configure", done)
    plan = command(["make", "-n", "uninstall"], cwd=d, env={"MAKEFLAGS": ""})
    expect("/opt/x/bin/carbon" in plan.text, "the prefix of ./configure does not reach make", plan)


@case
def dist_holds_the_last_commit():
    if shutil.which("git") is None or command(["git", "-C", SOURCE, "rev-parse", "HEAD"]).rc != 0:
        raise Skip("not a git repository")
    d = fresh()
    path = os.path.join(d, "carbon.tar.gz")
    make("dist", "DIST=" + path)
    with tarfile.open(path) as archive:
        archive.extractall(d)
    top = os.path.join(d, "carbon-" + VERSION)
    committed = command(["git", "-C", SOURCE, "ls-tree", "-r", "--name-only", "HEAD"]).lines()
    expect_equal(files(top), sorted(committed), "files of the archive")
    # All sources that the rules ask for are there: make says what it would do and finds nothing missing.
    plan = command(["make", "-n", "-C", top], env={"MAKEFLAGS": ""}, timeout=120)
    expect(plan.rc == 0 and re.search(r"-o build/src/cli/main\.o src/cli/main\.cpp", plan.text), "make -n in the archive", plan)
    # Whoever makes it, it has the same bytes; nobody but the owner may write the files.
    again = os.path.join(d, "again.tar.gz")
    make("dist", "DIST=" + again)
    expect_equal(read(again), read(path), "bytes of two archives of a commit")
    with tarfile.open(path) as archive:
        expect_equal({entry.mode & 0o022 for entry in archive}, {0}, "modes of the archive")


@case
def dist_needs_a_repository_of_its_own():
    """An unpacked archive inside somebody else's repository is not archived with it, and is checked without git."""
    if shutil.which("git") is None:
        raise Skip("no git")
    outer = fresh()
    command(["git", "init", "-q", outer])
    d = os.path.join(outer, "carbon")
    os.mkdir(d)
    copy_makefile(d)
    settings = ["WITH_CUDA=no", "WITH_SERVER=no"]
    result = command(["make", "-s", "dist", *settings], cwd=d, env={"MAKEFLAGS": ""})
    expect(result.rc == 2 and "no git repository here" in result.err, "an archive without a repository", result)
    expect_equal(sorted(os.listdir(d)), ["Makefile", "VERSION", "mk", "packaging"], "files")
    for name in ("build/a.cpp", "src/b.cpp", "src/c.txt", "d.hpp"):
        os.makedirs(os.path.dirname(os.path.join(d, name)), exist_ok=True)
        write(d, name, "")
    rule = "make -n --no-print-directory lint %s | head -n 1 | sed 's/xargs clang-format.*/sort/'" % " ".join(settings)
    listed = command(["bash", "-c", "eval \"$(%s)\"" % rule],
                     cwd=d, env={"MAKEFLAGS": ""})
    expect_equal(listed.lines(), ["./d.hpp", "./src/b.cpp"], "files that lint checks")


if __name__ == "__main__":
    main()
