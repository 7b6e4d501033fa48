"""The kit for a machine with a GPU and no compiler (bench/gpu): make_kit.sh, first.sh and commands.py, on the emulated GPU.

Where a check is to fail or to take too long, scripts stand in for the programs and write down how they were called."""
# Left out while unchanged: build cuda

import functools
import os
import shutil
import sys
import tarfile
import time

from cuda_support import EMULATED, FOLDER
from harness import DATA, ENV, MAKE_CHECKPOINT, Skip, case, command, expect, expect_equal, fresh, main, read, write

SOURCE = os.path.dirname(os.path.dirname(DATA))
BENCH = os.path.join(SOURCE, "bench", "gpu")
SWITCHES = ["CARBON_CUDA_OVERLAP", "CARBON_CUDA_GRAPHS", "CARBON_CUDA_LIBRARY"]
VARIANTS = {"bench_gpu-128B": "bench_gpu", "bench_gpu-256B": "bench_gpu", "check_gpu-sm_75": "check_gpu"}
PROGRAMS = ["carbon", "carbon-cuda.so", "check_gpu", "bench_gpu", "make_checkpoint", *VARIANTS]

# Of make check; a kit finds its own programs.
ENV.pop("BUILD", None)


def script(folder, name, text):
    os.chmod(write(folder, name, "#!/bin/bash\n" + text), 0o755)


def stand_ins(check_gpu="exit 0", carbon="exit 0", bench_gpu="exit 0"):
    """A folder of programs that note their arguments, and which switches are off, in the file `called`."""
    folder = fresh()
    note = 'echo "${0##*/} $*" $(env | grep "^CARBON_CUDA_" | sort) >> %s/called\n' % folder
    for name, text in (("check_gpu", check_gpu), ("carbon", carbon), ("bench_gpu", bench_gpu), ("make_checkpoint", "exit 0")):
        script(folder, name, note + text + "\n")
    for variant, name in VARIANTS.items():
        shutil.copy(os.path.join(folder, name), os.path.join(folder, variant))
    return folder


def called(folder, program="check_gpu"):
    return [line for line in read(os.path.join(folder, "called")).decode().splitlines() if line.startswith(program)]


def first(*words, build=None, root=SOURCE, seconds=150, env=None):
    """first.sh; the result, and the folder of its outputs."""
    out = os.path.join(fresh(), "out")
    result = command([os.path.join(root, "bench/gpu/first.sh"), *words], timeout=200,
                     env={"OUT": out, "SECONDS_LEFT": str(seconds), **({"BUILD": build} if build else {}), **(env or {})})
    return result, out


def lines_of(result, name):
    """The lines that first.sh printed of a part, the last of which says how it ended."""
    at = [i for i, line in enumerate(result.lines()) if line == "== " + name or line.startswith("== %s: " % name)]
    expect(len(at) > 0, "no part " + name, result)
    return result.lines()[at[0]:at[-1] + 1]


@functools.lru_cache
def linked():
    """The emulated programs under the names of the real ones."""
    folder = fresh()
    built = {**{name: os.path.join(EMULATED, name) for name in PROGRAMS}, "make_checkpoint": MAKE_CHECKPOINT,
             "check_gpu": os.path.join(FOLDER, "check_emulated")}
    for name, path in built.items():
        path = built[VARIANTS.get(name, name)]
        os.symlink(path, os.path.join(folder, name))
    return folder


def pack(build, *more):
    for name in ("xz", "strip"):
        if shutil.which(name) is None:
            raise Skip("no " + name)
    archive = os.path.join(fresh(), "kit.tar.xz")
    return command([os.path.join(BENCH, "make_kit.sh"), build, archive, *more], env={"XZ_OPT": "-0"}, timeout=120), archive


@case
def a_kit_runs_elsewhere():
    packed, archive = pack(linked())
    expect(packed.rc == 0 and " MiB" in packed.text, "a kit", packed)
    place = fresh()
    expect(command(["tar", "-xf", archive], cwd=place).rc == 0, "it unpacks")
    kit = os.path.join(place, "carbon-gpu-kit")
    libraries = os.listdir(os.path.join(kit, "libraries"))
    for name, there in (("libhts.so", True), ("libcrypto.so", True), ("libc.so", False), ("libstdc++.so", False), ("libcublasLt.so", False)):
        expect_equal(any(library.startswith(name) for library in libraries), there, name + " is in the kit")
    # A machine whose linker knows no library takes those of the kit.
    bare = fresh()
    script(bare, "ldconfig", "exit 0\n")
    result, out = first("faults", "stream", "commands", root=kit, env={"PATH": bare + ":" + os.environ["PATH"]})
    expect(result.rc == 0, "all is well", result)
    expect_equal(sorted(os.listdir(os.path.join(out, "libraries"))), sorted(libraries), "libraries that the machine lacks")
    environment = "\n".join(lines_of(result, "environment"))
    for words in ("GPU cuda:0 emulated GPU", "CUDA 13.0", kit + "/programs/check_gpu"):
        expect(words in environment, "the environment says " + words, result)
    for name, words in (("plan", " passed, 0 failed"), ("stream", " passed, 0 failed"), ("commands", "generate: 3 of 3 the same")):
        printed, kept = lines_of(result, name), read(os.path.join(out, name + ".log")).decode().splitlines()
        expect(": good" in printed[-1] and words in printed[-2], name, result)
        expect_equal(printed[1:-1], kept[-len(printed) + 2:], "the end of %s.log" % name)
    commands = [line for line in lines_of(result, "commands") if "3 of 3 the same" in line]
    expect_equal([line.split(":")[0] for line in commands], ["score", "vep", "vep", "embed", "scan", "generate"], "commands")
    expect("first.sh faults: the outputs are in " + out in result.text, "where they are", result)
    expect("linear" not in result.text, "no other part", result)


@case
def cublaslt_of_a_python_package():
    """What check_gpu would open is looked for where no linker looks, if carbon says that it is missing."""
    home = fresh()
    folder = os.path.join(home, "site-packages", "nvidia", "lib")
    os.makedirs(folder)
    write(folder, "libcublasLt.so.99", b"")
    missing = 'case $LD_LIBRARY_PATH in *nvidia*) exit 0;; esac\necho "CUDA 99.0; cannot load cuBLASLt: no such file"'
    for carbon, added in ((missing, True), ("exit 0", False)):
        build = stand_ins('echo "libraries $LD_LIBRARY_PATH" # libcublasLt.so.99', carbon)
        result, _ = first("faults", "stream", build=build, env={"HOME": home})
        expect_equal(any(line.startswith("libraries ") and line.endswith(":" + folder) for line in lines_of(result, "stream")), added,
                     "the folder is in LD_LIBRARY_PATH")
    shutil.rmtree(folder)
    result, _ = first("faults", "stream", build=stand_ins("# libcublasLt.so.99", missing), env={"HOME": home})
    expect("first.sh: libcublasLt.so.99 is nowhere on this machine" in result.err, "it says so", result)


@case
def a_kit_that_is_too_large():
    folder = fresh()
    for name in PROGRAMS:
        shutil.copy(shutil.which("true"), os.path.join(folder, name))
    result, archive = pack(folder, "1")  # the bundled model alone is larger
    expect(result.rc == 1 and "more than the 1 MiB" in result.err, "it is refused", result)
    expect_equal(os.listdir(os.path.dirname(archive)), [], "files")


@case
def make_says_that_cuda_is_missing():
    if shutil.which("make") is None:
        raise Skip("no make")
    make = lambda goal: command(["make", "-s", "-C", SOURCE, "WITH_CUDA=no", goal], env={"MAKEFLAGS": ""}).err.splitlines()[0]
    expect("make gpu-kit: built without CUDA" in make("gpu-kit"), make("gpu-kit"))
    expect_equal(make("gpu-kit").replace("gpu-kit", "check-gpu"), make("check-gpu"), "what make says")


@case
def other_words():
    programs = stand_ins()
    for words, said in (((), 'not ""'), (("A",), 'not "A"'), (("faults", "linea"), 'no part "linea"'), (("figures", "linear"), "no part"),
                        (("faults", ""), 'no part ""')):
        result, out = first(*words, build=programs)
        expect(result.rc == 1 and said in result.err and result.out == b"", "%r is refused" % (words,), result)
        expect(not os.path.exists(out), "nothing is made")
    os.remove(os.path.join(programs, "bench_gpu"))
    result, _ = first("faults", build=programs)
    expect(result.rc == 1 and "no program %s/bench_gpu" % programs in result.err, "a program is missing", result)


@case
def no_gpu():
    for build, env in ((linked(), {"CARBON_EMULATED_GPUS": "0"}), (stand_ins("exit 77"), {})):
        result, _ = first("faults", build=build, env=env)
        expect(result.rc == 77 and result.lines()[-1].startswith("first.sh: no GPU"), "exit status without a GPU", result)


@case
def all_parts():
    """In the order of the list in first.sh, but for those that run side by side."""
    programs, tools = stand_ins(), fresh()
    script(tools, "compute-sanitizer", 'echo "$*"\n[[ $* == *racecheck* ]] || exit 77\n')
    env = {"PATH": tools + ":" + os.environ["PATH"]}
    result, _ = first("faults", build=programs, env=env)
    ended = [line[3:].split(":")[0] for line in result.lines() if line.startswith("== ") and ":" in line]
    expect_equal(ended[:7], ["environment", "plan", "small", "commands", "memory", "bench-500M", "kernels-500M"], "one after the other")
    beside = ["stream", "rows", "linear", "attention", "heads", "draw", "letters", "decoder"]
    expect_equal(sorted(ended[7:]), sorted(beside + ["memcheck", "racecheck"]), "side by side")
    expect_equal(sorted(called(programs)), sorted("check_gpu " + name for name in ["plan", "--small", "memory", *beside]), "checks")
    expect("--tool racecheck" in lines_of(result, "racecheck")[1] and "check_gpu --small" in lines_of(result, "racecheck")[1],
           "what the sanitizer runs", result)
    expect("skipped" in lines_of(result, "memcheck")[-1] and result.rc == 0, "what is skipped is not a failure", result)
    script(tools, "compute-sanitizer", "exit 99\n")
    result, _ = first("faults", "racecheck", build=programs, env=env)
    expect("exit status 99" in lines_of(result, "racecheck")[-1] and result.rc == 1, "a race is a failure", result)
    if shutil.which("compute-sanitizer") is None and not os.path.exists("/usr/local/cuda/bin/compute-sanitizer"):
        result, _ = first("faults", "racecheck", build=programs)
        expect("skipped" in lines_of(result, "racecheck")[-1] and result.rc == 0, "without compute-sanitizer", result)


@case
def figures():
    programs = stand_ins()
    result, _ = first("figures", "bench", "CARBON_CUDA_GRAPHS=0", build=programs, env={"COMMIT": "abc"})
    expect(result.rc == 0, "expected rc 0", result)
    expect_equal(called(programs, "bench_gpu"),
                 ["bench_gpu --commit abc", "bench_gpu --model 500M --commit abc CARBON_CUDA_GRAPHS=0"], "calls of bench_gpu")


@case
def choices():
    """Whole commands, windows, hints, f16 and errors on the emulated GPU, with a nvidia-smi that has seen it half busy."""
    tools = fresh()
    script(tools, "nvidia-smi", "[[ $* == *-lms* ]] || exit 0\nprintf '%s\\n' 0 40 60 0\nexec sleep 100\n")
    result, out = first("choices", "whole", "windows", "hints", "f16", "error", "peer", build=linked(),
                        env={"PATH": tools + ":" + os.environ["PATH"]})
    expect(result.rc == 0, "expected rc 0", result)
    table = lambda name: [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines_of(result, name) if line.startswith("| tiny")]
    whole = table("whole")
    expect_equal([row[1] for row in whole[:5]], ["scan -O t", "score -O tsv", "score -O tsv, .gz", "vep anchored, horizon 96", "scan -O t"],
                 "commands")
    for row in whole[:5]:
        expect(float(row[3]) > 0 and float(row[5]) > 0 and row[6] == "0.50", "times, and how busy the GPU was: %r" % row)
    expect(whole[5][1] == "" and whole[6][1] == "tiny" and float(whole[6][4]) > 0 and float(whole[6][5]) > 0, "drafting: %r" % whole[5:])
    expect_equal([row[:3] for row in table("windows")[:2]], [["tiny", way, "prefill, 2 windows of 30"] for way in ("library", "own")], "windows")
    expect_equal(table("windows")[-1][2], "without events", "kernels")
    expect_equal([(row[1], len([ms for ms in row[2:] if float(ms) > 0])) for row in table("hints")],
                 [("decode, batch 1", 4), ("decode, batch 3", 4)], "hints")
    expect_equal({row[1] for row in table("f16")}, {"own, f16"}, "f16")
    expect("carbon, f16" in [row[1] for row in table("error")], "errors", result)
    expect_equal(len(table("peer")), 4, "rows for PyTorch")
    once_more = [line for line in result.lines()[result.lines().index("== once more: whole"):] if line.startswith("| tiny")]
    expect_equal(once_more, [line for name in ("whole", "windows", "hints", "f16", "error", "peer") for line in lines_of(result, name)
                             if line.startswith("| tiny")], "the tables, once more")


@case
def choices_with_stand_ins():
    """What is called for a GPU that is not emulated, and what a program that fails leaves out."""
    row = "| 500M | own | decode, batch 1 | 1 | 1 | 1 | 2.5 | 1 | 1 |"
    programs, tools = stand_ins(bench_gpu='[[ ${0##*/} != bench_gpu-256B ]] || exit 1\necho "%s"' % row), fresh()
    script(tools, "ncu", 'echo "    Duration us 3.5 of $*"\n')
    result, _ = first("choices", "bits", "hints", "f16", "ncu", "decoder", "attention", "linear", "sm_75", build=programs,
                      env={"PATH": tools + ":" + os.environ["PATH"], "COMMIT": "abc"})
    expect(result.rc == 1 and "exit status 1" in lines_of(result, "hints")[-1], "a program has failed", result)
    for shape in ("3B", "500M"):
        expect_equal(len([call for call in called(programs, "bench_gpu") if call.endswith("--decode --model " + shape)]), 4, "calls")
    expect("| 500M | decode, batch 1 | 2.5 | 2.5 |  | 2.5 |" in lines_of(result, "hints"), "no figure in its place", result)
    expect("bench_gpu --bits --commit abc" in called(programs, "bench_gpu"), "bits")
    expect("bench_gpu --dtype f16 --model 500M --commit abc" in called(programs, "bench_gpu"), "f16")
    profiled = [line for line in lines_of(result, "ncu") if "--clock-control none" in line]
    expect_equal([name in line for name, line in zip(("attention_mma_file", "attention_decode_file", "stream_kernel"), profiled)], [True] * 3,
                 "kernels")
    expect_equal(sorted(called(programs)), ["check_gpu attention", "check_gpu decoder", "check_gpu linear", "check_gpu plan",
                                            "check_gpu-sm_75 --small"], "checks")


@case
def bits():
    """What adds how: the emulated instructions all in the same way, the emulated library in another one."""
    run = lambda env=None: command([os.path.join(EMULATED, "bench_gpu"), "--bits", "--model", "tiny"], timeout=120,
                                   env={"CARBON_MAKE_CHECKPOINT": MAKE_CHECKPOINT, **(env or {})})
    result = run()
    expect(result.rc == 0, "expected rc 0", result)
    rows = {cells[1]: cells[2:-1] for cells in ([cell.strip() for cell in line.split("|")] for line in result.lines()) if len(cells) > 9}
    for name in ("mma.sync, one chain", "wgmma m64n8", "wgmma m64n64", "wgmma m64n64, rows in registers"):
        expect_equal(rows[name], ["0"] * 8 + ["16 terms, in double, to nearest"], name)
    expect_equal(rows["the library"][0] + rows["the library"][-1], "01 term, in double, to nearest", "the library")
    expect(all(int(differ) > 0 for differ in rows["the library"][1:-1]), "numbers that tell the ways apart", result)
    expect("the library has the bits of one chain of mma.sync in 0 of 12 products" in result.text, "products", result)
    result = run({"CARBON_EMULATED_ERROR": "4"})
    expect(result.rc == 1 and "FAILED: the library sums integers wrongly" in result.text, "a wrong result is a fault", result)
    result = run({"CARBON_EMULATED_SM": "80"})
    expect(result.rc == 0 and result.text.count("it cannot") == 3, "another kind of GPU has no wgmma", result)


@case
def a_check_that_fails_runs_again():
    programs = stand_ins('[[ $1 != stream ]] || { echo "not so"; [[ ${CARBON_CUDA_GRAPHS:-} == 0 ]]; }')
    result, out = first("faults", "stream", "rows", build=programs)
    expect(result.rc == 1, "expected rc 1", result)
    expect_equal(sorted(called(programs)),
                 sorted(["check_gpu plan", "check_gpu rows", "check_gpu stream"] + ["check_gpu stream %s=0" % name for name in SWITCHES]),
                 "calls of check_gpu")
    for name, end in (("stream", "exit status 1"), ("rows", "good"), *(("stream-%s=0" % name, "good" if "GRAPHS" in name else "exit status 1")
                                                                       for name in SWITCHES)):
        expect(end in lines_of(result, name)[-1], "the end of %s" % name, result)
        expect_equal(read(os.path.join(out, name + ".log")), b"" if name == "rows" else b"not so\n", "the output of " + name)


@case
def one_file_and_what_was_refused():
    """Outputs as one file, for machines from which few come back; and cuBLASLt's algorithms that were refused, last."""
    programs = stand_ins('[[ $1 != rows ]] || echo "q: 2 of 8 (cublaslt); refused 1: it sums in pieces"')
    archive = os.path.join(fresh(), "results.tar.gz")
    result, _ = first("faults", "rows", "stream", build=programs, env={"OUT": archive})
    expect_equal(result.rc, 0, "exit status")
    expect_equal(result.lines()[-3:], ["== refused algorithms", "q: 2 of 8 (cublaslt); refused 1: it sums in pieces",
                                       "first.sh faults: the outputs are in " + archive], "the last lines")
    with tarfile.open(archive) as packed:
        names = packed.getnames()
    expect("./rows.log" in names and "./stream.log" in names and "./environment.log" in names, "the logs: %r" % names)
    expect(not any("libraries" in name for name in names), "libraries are packed: %r" % names)


@case
def every_part_counts():
    parts = {"faults": (("plan", "check_gpu"), ("small", "check_gpu"), ("memory", "check_gpu"), ("decoder", "check_gpu"),
                        ("commands", "carbon"), ("bench-500M", "bench_gpu"), ("kernels-500M", "bench_gpu")),
             "figures": (("bench", "bench_gpu"), ("kernels", "bench_gpu"), ("CARBON_CUDA_LIBRARY=0", "bench_gpu")),
             "choices": (("bits", "bench_gpu"), ("whole", "carbon"), ("windows", "bench_gpu"), ("f16", "bench_gpu"),
                         ("error", "bench_gpu"), ("sm_75", "check_gpu-sm_75"))}
    for call, part, program in ((call, *each) for call in parts for each in parts[call]):
        programs = stand_ins()
        script(programs, program, "[[ $1 != plan ]]\n" if part == "plan" else "[[ $1 == plan ]]\n")
        result, _ = first(call, "stream" if part == "plan" else part, build=programs)
        expect(result.rc == 1 and "exit status 1" in lines_of(result, part)[-1], "a failure of " + part, result)


@case
def a_part_that_takes_too_long():
    programs = stand_ins('[[ $1 != memory ]] || { echo begun; exec sleep 100; }')
    start = time.monotonic()
    result, out = first("faults", "memory", "stream", build=programs, seconds=3)
    expect(time.monotonic() - start < 60, "it is ended", result)
    expect(result.rc == 1 and "ended after its limit of " in lines_of(result, "memory")[-1], "it says so", result)
    expect_equal(read(os.path.join(out, "memory.log")), b"begun\n", "the output until then")
    expect_equal([line for line in result.lines() if "stream" in line], ["== stream: not begun, the time is over"], "what comes after")
    expect_equal(called(programs), ["check_gpu plan", "check_gpu memory"], "what has run")
    # With time left it does not run again either. 124 is what `timeout` says of a program that it has ended.
    programs = stand_ins("[[ $1 != memory ]] || exit 124")
    result, _ = first("faults", "memory", build=programs)
    expect(result.rc == 1 and "ended after its limit of 20 s" in lines_of(result, "memory")[-1], "it says so", result)
    expect_equal(called(programs), ["check_gpu plan", "check_gpu memory"], "what has run with time left")


@case
def commands_that_differ():
    """The first line of an output says how it was made, and may differ; the others may not."""
    other = 'echo "## $$"\n[[ "$* $(env)" != *%s* ]] || { echo 0.25; exit 0; }\necho 0.5\n'
    for what, words, failed in (("nothing", None, 0), ("--batch-tokens", "with --batch-tokens 16", 6),
                                ("CARBON_CUDA_GRAPHS=0", "with CARBON_CUDA_GRAPHS=0", 6), ("[s]core*--batch", "score: other bytes", 1)):
        result = command([sys.executable, os.path.join(BENCH, "commands.py"), "--small", stand_ins(carbon=other % what)])
        expect_equal(result.rc, 1 if failed else 0, "exit status where %s differs" % what)
        expect_equal(sum("other bytes with" in line for line in result.lines()), failed, "outputs that differ for " + what)
        expect(words is None or words in result.text, "it says which", result)
    result = command([sys.executable, os.path.join(BENCH, "commands.py"), "--small",
                      stand_ins(carbon='[[ $1 != vep ]] || { echo "no such model" >&2; exit 3; }')])
    expect(result.rc == 1 and "exit status 3: no such model" in result.text, "a command that fails", result)


main()
