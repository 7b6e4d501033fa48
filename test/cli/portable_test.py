"""The archive that runs everywhere: how its launcher starts the program, with the system's loader and with the archive's own.

CARBON_PORTABLE names an archive that packaging/build-portable.sh has made, unpacked. Without it, one is put together here, of the
launcher and of the program and the libraries of this build: it starts in the same way, and what it needs of a system is not that of
the real one. The cases of the empty root directory and of noexec need root.
"""
# Left out while unchanged: build packaging src/base kernels/cuda/loader.cpp

import glob
import os
import re
import shutil
import subprocess
import sys

from harness import CARBON, DATA, ENV, Skip, case, command, data, expect, expect_equal, expect_failure, fresh, main, ok, read, write
from serve_support import Server

SOURCE = os.path.dirname(os.path.dirname(DATA))
BUILD = os.path.dirname(CARBON)
LIBRARIES = os.path.join("libexec", "carbon", "glibc")
LOADER = os.path.join(LIBRARIES, "ld-linux-x86-64.so.2")
# What the program of the archive may need of a system: glibc, and no symbol that is newer than this.
MAY_NEED = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "ld-linux-x86-64.so.2"}
NEWEST = (2, 28)
CUDA_LIBRARY = os.path.join(BUILD, "carbon-cuda.so")
GIVEN = os.environ.get("CARBON_PORTABLE", "")
if GIVEN and not all(os.path.exists(os.path.join(GIVEN, path)) for path in (LIBRARIES, os.path.join("bin", "carbon"))):
    sys.exit("CARBON_PORTABLE=%s is not the folder of an unpacked archive of packaging/build-portable.sh" % GIVEN)
_made = {}


def made_up(root):
    """An archive of this build."""
    if "sanitize" in os.path.basename(BUILD):
        raise Skip("a program with sanitizers does not start by another loader")
    if os.uname().machine != "x86_64" or shutil.which("gcc") is None or shutil.which("ldd") is None:
        raise Skip("needs x86-64, gcc and ldd")
    home = os.path.join(root, "libexec", "carbon")
    for folder in (os.path.join(root, "bin"), os.path.join(root, LIBRARIES), os.path.join(home, "plugins"), os.path.join(home, "models")):
        os.makedirs(folder)
    launcher = os.path.join(SOURCE, "packaging", "portable", "launcher.c")
    built = command(["gcc", "-static", "-O2", "-Wall", "-Wextra", "-Werror", "-o", os.path.join(root, "bin", "carbon"), launcher])
    if "cannot find -lc" in built.err:
        raise Skip("no static C library")
    expect(built.rc == 0, "the launcher does not compile", built)
    shutil.copy(CARBON, os.path.join(home, "carbon"))
    for plugin in glob.glob(os.path.join(BUILD, "plugins", "*.so")):
        shutil.copy(plugin, os.path.join(home, "plugins"))
    shutil.copytree(os.path.join(SOURCE, "models", "carbon-tiny"), os.path.join(home, "models", "carbon-tiny"))
    if os.path.exists(CUDA_LIBRARY):
        shutil.copy(CUDA_LIBRARY, home)
    for path in re.findall(r"(/\S+) \(0x", command(["ldd", CARBON]).text):
        shutil.copy(os.path.realpath(path), os.path.join(root, LIBRARIES, os.path.basename(path)))


def archive():
    """The folder of an archive of this test's own, which may be moved."""
    if "root" not in _made:
        _made["root"] = os.path.join(fresh(), "carbon")
        try:
            shutil.copytree(GIVEN, _made["root"], symlinks=True) if GIVEN else made_up(_made["root"])
        except Skip as reason:
            _made["reason"] = reason
    if "reason" in _made:
        raise _made["reason"]
    return _made["root"]


def start(program, *args, loader="", **options):
    env = {"CARBON_LOADER": loader, **options.pop("env", {})}
    return command([program, *args], env=env, **options)


def expect_scores(result, what):
    expect(result.rc == 0, what, result)
    wanted = ok("score", "-m", os.path.join(SOURCE, "models", "carbon-tiny"), data("mini.fa"))
    expect_equal(result.table(), wanted.table(), what)


SCORE = ("score", "--no-version", data("mini.fa"))
NAMED = ("--host", "localhost", "-m", "carbon-tiny")


@case
def every_way_to_start():
    root = archive()
    program = os.path.join(root, "bin", "carbon")
    elsewhere = fresh()
    link = os.path.join(elsewhere, "linked")
    os.symlink(program, link)
    os.symlink(link, os.path.join(elsewhere, "again"))
    for loader in ("host", "own", ""):
        for way, name, cwd, env in (("its path", program, None, {}), ("a symbolic link", link, None, {}),
                                    ("a link to a link", "./again", elsewhere, {}), ("a relative path", "../bin/carbon", os.path.join(root, "bin"), {}),
                                    ("PATH", "carbon", elsewhere, {"PATH": os.path.join(root, "bin") + ":" + ENV["PATH"]})):
            words = ["/usr/bin/env", name] if way == "PATH" else [name]
            result = command([*words, *SCORE], cwd=cwd, env={"CARBON_LOADER": loader, **env})
            expect_scores(result, "%s, loader '%s'" % (way, loader))
    moved = root + " moved"
    os.rename(root, moved)
    try:
        for loader in ("host", "own"):
            expect_scores(start(os.path.join(moved, "bin", "carbon"), *SCORE, loader=loader), "after moving, loader " + loader)
    finally:
        os.rename(moved, root)


@case
def both_loaders_give_the_same_bytes():
    program = os.path.join(archive(), "bin", "carbon")
    vcf = write(fresh(), "in.vcf", b"##fileformat=VCFv4.2\n##contig=<ID=c1>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n" +
                b"c1\t60\t.\t" + read(data("mini.fa")).split(b"\n")[1][59:60] + b"\tTTT\t.\t.\t.\n")
    outputs = [[start(program, *words, loader=loader) for loader in ("host", "own")]
               for words in (SCORE, ("vep", "--no-version", "-w", "96", "-f", data("mini.fa"), vcf), ("embed", "--no-version", data("mini.fa")),
                             ("generate", "--no-version", "-l", "24", "--seed", "3", data("mini.fa")))]
    for host, own in outputs:
        expect(host.rc == 0 and own.rc == 0 and host.out, "a command fails", host if host.rc else own)
        expect_equal(own.out, host.out, "bytes of " + host.args[1])


@case
def plugins_and_models_are_found():
    program = os.path.join(archive(), "bin", "carbon")
    for loader in ("host", "own"):
        listed = start(program, "plugin", "-l", loader=loader)
        expect("+auroc" in listed.text, "no plugins", listed)
        expect("carbon-tiny" in start(program, "models", loader=loader).text, "no model")


@case
def settings_that_cannot_be():
    root = archive()
    result = start(os.path.join(root, "bin", "carbon"), "--version", loader="mine")
    expect(result.rc == 1 and result.err == 'carbon: CARBON_LOADER is "mine"; it may be host or own\n', "no clear error", result)
    for letter in ":$":
        odd = os.path.join(os.path.dirname(root), "a" + letter + "b")
        os.rename(root, odd)
        try:
            program = os.path.join(odd, "bin", "carbon")
            own, host = (start(program, "--version", loader=loader) for loader in ("own", "host"))
        finally:
            os.rename(odd, root)
        expect(own.rc == 1 and own.err.count("\n") == 1 and "a : or $ in its name" in own.err, "no clear error", own)
        expect(host.rc == 0, "the system's loader takes any name", host)


@case
def a_launcher_without_its_archive():
    alone = os.path.join(fresh(), "carbon")
    shutil.copy(os.path.join(archive(), "bin", "carbon"), alone)
    result = start(alone, "--version")
    expect(result.rc == 1 and "keep the files of the archive together" in result.err, "no clear error", result)


def for_a_newer_system(directory, source):
    """A library that needs a symbol which no glibc has yet, so that no loader can load it."""
    newest = os.path.join(directory, "newest")
    os.mkdir(newest)
    fake, versions = write(newest, "fake.c", b"void newest(void) {}\n"), write(newest, "versions", b"GLIBC_2.999 { newest; };\n")
    asks = write(newest, "asks.c", read(source) + b"void newest(void);\nvoid ask(void) { newest(); }\n")
    libc, library = os.path.join(newest, "libc.so.6"), os.path.join(newest, "loud.so")
    for args in (["-nostdlib", "-Wl,--version-script=" + versions, "-Wl,-soname=libc.so.6", "-o", libc, fake], ["-o", library, asks, libc]):
        expect(command(["gcc", "-shared", "-fPIC", *args]).rc == 0, "a library for a newer system cannot be linked")
    refused = command(["/bin/true"], env={"LD_PRELOAD": library})
    expect("GLIBC_2.999" in refused.err, "the system's loader takes it", refused)
    return library


@case
def libraries_of_the_user():
    root = archive()
    program = os.path.join(root, "bin", "carbon")
    directory = fresh()
    source = write(directory, "loud.c", b'#include <unistd.h>\n__attribute__((constructor)) static void loud(void) '
                   b'{ (void)!write(2, "preloaded\\n", 10); }\n')
    library = os.path.join(directory, "loud.so")
    if shutil.which("gcc") is None:
        raise Skip("no gcc")
    expect(command(["gcc", "-shared", "-fPIC", "-o", library, source]).rc == 0, "the library does not compile")
    # A library for the system's C library is for the system's loader alone.
    expect("preloaded" in start(program, "--version", loader="host", env={"LD_PRELOAD": library}).err, "the system's loader preloads")
    own = start(program, "--version", loader="own", env={"LD_PRELOAD": library})
    expect(own.rc == 0 and "preloaded" not in own.err, "LD_PRELOAD reached the own loader", own)
    newer = for_a_newer_system(directory, source)
    own = start(program, "--version", loader="own", env={"LD_PRELOAD": newer})
    expect(own.rc == 0 and not own.err, "LD_PRELOAD of a library for a newer system", own)
    # A C library in LD_LIBRARY_PATH comes after the archive's.
    write(directory, "libc.so.6", b"no library")
    expect_scores(start(program, *SCORE, loader="own", env={"LD_LIBRARY_PATH": directory}), "LD_LIBRARY_PATH with another libc.so.6")


@case
def kernels_know_no_cpp_library():
    """What nvcc compiles is linked with the C++ library of another compiler, so that it may need none."""
    objects = glob.glob(os.path.join(BUILD, "cuda", "kernels", "cuda", "*.cu.o"))
    if not objects or shutil.which("nm") is None:
        raise Skip("built without CUDA, or no nm")
    for path in objects:
        needed = re.findall(r"^ +U (.*)$", command(["nm", "-u", path]).text, re.M)
        library = [name for name in needed if re.match(r"_ZN?K?St|_ZTI|_ZTV|_Zn|_Zd|__cxa_(throw|allocate)|__libc_single", name)]
        expect("_ZN6carbon4cuda3putERNS0_6StreamERKNS0_10KernelCallEPKSt4bytem" in needed and not library, "%s needs %s" % (path, library))


# A driver as far as the run-time library of CUDA looks at it when it starts: which result it begins with, and its version.
DRIVER = b"""
#include <string.h>
static int nothing(void) { return 801; }
int cuInit(unsigned flags) { (void)flags; return INIT; }
int cuDriverGetVersion(int* version) { *version = VERSION; return 0; }
int cuGetExportTable(const void** table, const void* name) { (void)name; *table = 0; return 500; }
int cuGetProcAddress_v2(const char* name, void** function, int version, unsigned long long flags, int* status) {
  (void)version, (void)flags;
  if (status) *status = 0;
  *function = (void*)nothing;
  if (strcmp(name, "cuInit") == 0) *function = (void*)cuInit;
  if (strcmp(name, "cuDriverGetVersion") == 0) *function = (void*)cuDriverGetVersion;
  if (strcmp(name, "cuGetExportTable") == 0) *function = (void*)cuGetExportTable;
  if (strcmp(name, "cuGetProcAddress") == 0) *function = (void*)cuGetProcAddress_v2;
  return 0;
}
"""


def library(name, source, *flags):
    """A folder with a shared library of this C source."""
    folder = fresh()
    built = command(["gcc", "-shared", "-fPIC", *flags, "-o", os.path.join(folder, name), write(folder, "source.c", source)])
    expect(built.rc == 0, name + " does not compile", built)
    return folder


def with_cuda():
    """The program of an archive that has the CUDA backend, and which version of cuBLASLt that opens."""
    program = os.path.join(archive(), "bin", "carbon")
    if shutil.which("gcc") is None or "built without CUDA" in start(program, "--version").text:
        raise Skip("needs gcc and a program with CUDA")
    home = os.path.join(archive(), "libexec", "carbon")
    library = os.path.join(home, "carbon-cuda.so")
    backend = read(library if os.path.exists(library) else os.path.join(home, "carbon"))
    return program, re.search(rb"libcublasLt\.so\.(\d+)\0", backend).group(1).decode()


def missing(program, folder, *words, env=None):
    """By both loaders, with this folder in LD_LIBRARY_PATH: --device cuda and --version say what is missing, and the CPU computes."""
    env = {"LD_LIBRARY_PATH": folder, **(env or {})}
    for loader in ("host", "own"):
        run = lambda *args, loader=loader: start(program, *args, loader=loader, env=env)
        refused = run(*SCORE, "-q", "--device", "cuda")
        expect_failure(refused, *words, "use --device cpu")
        expect(refused.out == b"" and len(refused.err.splitlines()) == 1, "more than one line", refused)
        version = run("--version")
        told = [line for line in version.lines() if line.startswith("CUDA ")]
        expect(version.rc == 0 and not version.err and len(told) == 1 and all(word in told[0] for word in words), "--version", version)
        for device in ("cpu", "auto"):
            expect_scores(run(*SCORE, "--device", device), "--device %s beside it, loader %s" % (device, loader))
        auto = run(*SCORE, "--device", "auto", "-v", "4")
        expect("--device auto is the CPU" in auto.err, "--device auto does not say what it is", auto)


@case
def a_driver_of_the_host():
    program, _ = with_cuda()
    if not os.path.exists("/dev/nvidiactl"):
        missing(program, fresh(), "there is no NVIDIA driver; install version")
    for init, version, words in ((0, 11040, "the NVIDIA driver is one for CUDA 11.4, which is too old; install version"), (100, 99000, "the NVIDIA driver finds no GPU"),
                                 (999, 99000, "the NVIDIA driver does not work: unknown error (cudaErrorUnknown); see nvidia-smi"),
                                 (803, 99000, "(cudaErrorSystemDriverMismatch)"), (0, 99000, "(cudaErrorSymbolNotFound)")):
        missing(program, library("libcuda.so.1", DRIVER, "-DINIT=%d" % init, "-DVERSION=%d" % version), words)


@case
def cublaslt_of_the_host():
    """CARBON_CUDA_LIBRARY=1 has it looked for before a driver, so that no GPU is needed."""
    program, major = with_cuda()
    file, asked = "libcublasLt.so." + major, {"CARBON_CUDA_LIBRARY": "1"}
    functions = re.findall(rb'"(cublasLt[A-Z]\w+)"', read(os.path.join(SOURCE, "kernels", "cuda", "cublaslt.cpp")))
    expect(len(functions) > 10, "functions of cuBLASLt in the source")

    def made_up(lacks=b"", version=int(major) * 10000 + 100):
        bodies = {f: b"int %s(void) { return 15; }\n" % f for f in functions}
        bodies[b"cublasLtGetVersion"] = b"unsigned long cublasLtGetVersion(void) { return %d; }\n" % version
        return library(file, b"".join(body for function, body in bodies.items() if function != lacks))

    advice = ("install cuBLASLt " + major, "LD_LIBRARY_PATH", "CARBON_CUDA_LIBRARY=0")
    for lacks in functions:
        words = file + " is no cuBLASLt %s: it has no %s;" % (major, lacks.decode())
        if lacks == b"cublasLtMatmul":
            missing(program, made_up(lacks), words, *advice, env=asked)
        told = start(program, "--version", env={"LD_LIBRARY_PATH": made_up(lacks), **asked})
        expect(words in told.text, "it does not say what is missing", told)
    older = (int(major) - 1) * 10000 + 903
    missing(program, made_up(version=older), "%s is cuBLASLt %d.9.3, and this carbon needs version %s" % (file, int(major) - 1, major), *advice,
            env=asked)
    broken = fresh()
    write(broken, file, b"no library")
    missing(program, broken, "cannot load cuBLASLt: ", file, *advice, env=asked)
    # Of a system that has one, the loader finds it; so does a library of this build where it was compiled.
    if GIVEN and file not in command(["/sbin/ldconfig", "-p"]).text:
        missing(program, fresh(), "cannot load cuBLASLt: " + file, *advice, env=asked)
    if not os.path.exists("/dev/nvidiactl"):
        missing(program, made_up(), "no NVIDIA driver", env=asked)
        missing(program, broken, "no NVIDIA driver")
    missing(program, library("libcuda.so.1", DRIVER, "-DINIT=100", "-DVERSION=99000"), "finds no GPU", env={"CARBON_CUDA_LIBRARY": "0"})


@case
def a_server_with_a_name():
    program = os.path.join(archive(), "bin", "carbon")
    for loader in ("host", "own"):
        with Server(*NAMED, program=program, env={"CARBON_LOADER": loader}) as server:
            expect_equal(server.ask("GET", "/health").status, 200, "answer")
            expect_equal(read("/proc/%d/comm" % server.process.pid), b"carbon\n", "name of the process, loader " + loader)


def in_empty_root():
    """A folder with the archive in it, a FASTA and a VCF with labels, and nothing else."""
    if os.geteuid() != 0:
        raise Skip("only root can change the root directory")
    root = fresh()
    shutil.copytree(archive(), os.path.join(root, "carbon"), symlinks=True)
    shutil.copy(data("mini.fa"), os.path.join(root, "ref.fa"))
    bases = read(data("mini.fa")).split(b"\n")[1]
    lines = [b"##fileformat=VCFv4.2", b"##contig=<ID=c1>", b'##INFO=<ID=LABEL,Number=1,Type=Integer,Description="1 is harmful">',
             b"#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO"]
    for i in range(6):
        ref = bases[40 + i:41 + i].upper()
        lines.append(b"c1\t%d\t.\t%s\t%s\t.\t.\tLABEL=%d" % (41 + i, ref, b"A" if ref != b"A" else b"C", i % 2))
    write(root, "in.vcf", b"\n".join(lines) + b"\n")
    os.mkdir(os.path.join(root, "tmp"))
    return root


def chroot(root, loader):
    def change():
        os.chroot(root)
        os.chdir("/")
    return lambda *args: subprocess.run(["/carbon/bin/carbon", *args], preexec_fn=change, env={"CARBON_LOADER": loader, "HOME": "/tmp"}, timeout=120,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@case
def an_empty_root_directory():
    root = in_empty_root()
    for loader in ("", "own"):
        run = chroot(root, loader)
        for words in (("--version",), ("score", "ref.fa"), ("vep", "-w", "96", "-f", "ref.fa", "-o", "out.vcf", "in.vcf"),
                      ("+auroc", "out.vcf", "--", "--label", "LABEL"), ("scan", "-f", "ref.fa", "-o", "scan.tsv"), ("models",), ("plugin", "-l"),
                      ("generate", "-l", "24", "ref.fa"), ("report", "-o", "report.html", "out.vcf")):
            done = run(*words)
            expect(done.returncode == 0, "%s: %d, %s" % (" ".join(words), done.returncode, done.stderr.decode()))
        for name in ("out.vcf", "scan.tsv", "report.html"):
            expect(os.path.getsize(os.path.join(root, name)) > 0, name + " is empty")
            os.remove(os.path.join(root, name))
        with Server(*NAMED, program="/carbon/bin/carbon", env={"CARBON_LOADER": loader, "HOME": "/tmp"}, root=root) as server:
            expect_equal(server.ask("GET", "/health").status, 200, "answer in an empty root directory")
    # A system with an older C library: it has a loader, and no symbols that are new enough.
    for folder in ("lib64", "lib/x86_64-linux-gnu"):
        os.makedirs(os.path.join(root, folder))
    write(root, "lib64/ld-linux-x86-64.so.2", b"a loader")
    os.chmod(os.path.join(root, "lib64", "ld-linux-x86-64.so.2"), 0o755)
    write(root, "lib/x86_64-linux-gnu/libc.so.6", b"\x7fELF\x02\x01\x01" + bytes(11) + b"\x3e" + bytes(60) + b"GLIBC_2.27\0GLIBC_2.2\0")
    done = chroot(root, "")("score", "ref.fa")
    expect(done.returncode == 0, "an older C library: %s" % done.stderr)
    shutil.rmtree(os.path.join(root, "lib64"))
    done = chroot(root, "host")("--version")
    expect(done.returncode == 1 and b"has no loader" in done.stderr, "no clear error: %s" % done.stderr)


@case
def programs_that_may_not_run():
    root = archive()
    mounted = os.path.join(root, "libexec")
    if os.geteuid() != 0 or command(["mount", "--bind", mounted, mounted]).rc != 0:
        raise Skip("cannot mount here")
    try:
        if command(["mount", "-o", "remount,bind,noexec", mounted]).rc != 0:
            raise Skip("cannot mount here with noexec")
        for loader in ("host", "own"):
            result = start(os.path.join(root, "bin", "carbon"), "--version", loader=loader)
            expect(result.rc == 1 and result.err.count("\n") == 1 and "mounted with noexec" in result.err, "no clear error", result)
    finally:
        command(["umount", mounted])


@case
def another_folder_than_that_of_an_archive():
    for folder in (fresh(), "/no/such/folder"):
        refused = command([sys.executable, __file__], env={"CARBON_PORTABLE": folder})
        words = "CARBON_PORTABLE=%s is not the folder of an unpacked archive" % folder
        expect(refused.rc == 1 and refused.out == b"" and refused.err.count("\n") == 1 and words in refused.err, "no clear error", refused)


@case
def what_the_archive_needs_of_a_system():
    if not GIVEN:
        raise Skip("CARBON_PORTABLE names no archive of packaging/build-portable.sh")
    home = os.path.join(GIVEN, "libexec", "carbon")
    for path in [os.path.join(home, "carbon"), *glob.glob(os.path.join(home, "*.so"))]:
        needed = set(re.findall(r"\(NEEDED\).*\[(.+)\]", command(["readelf", "-d", path]).text))
        expect(needed <= MAY_NEED, "%s needs %s" % (path, needed - MAY_NEED))
        versions = {tuple(map(int, v.split("."))) for v in re.findall(r"GLIBC_(\d+(?:\.\d+)+)", command(["readelf", "-V", path]).text)}
        expect(versions and max(versions) <= NEWEST, "%s needs symbols of glibc %s" % (path, max(versions, default=None)))
    launcher = command(["readelf", "-ld", os.path.join(GIVEN, "bin", "carbon")]).text
    expect("INTERP" not in launcher and "NEEDED" not in launcher, "the launcher is not static")
    expect("portable build" in start(os.path.join(GIVEN, "bin", "carbon"), "--version").text, "--version does not say what it is")
    url = start(os.path.join(GIVEN, "bin", "carbon"), "score", "https://127.0.0.1/x.fa")
    expect(url.rc == 1 and "is a URL" in url.err and "download the file first" in url.err, "a URL is not refused by name", url)


if __name__ == "__main__":
    main()
