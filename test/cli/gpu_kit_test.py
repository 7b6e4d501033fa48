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
    expect_equal(ended[:5], ["environment", "plan", "small", "commands", "memory"], "one after the other")
    beside = ["stream", "rows", "linear", "attention", "heads", "draw", "letters", "decoder"]
    expect_equal(sorted(ended[5:]), sorted(beside + ["sm_75", "memcheck", "racecheck"]), "side by side")
    expect_equal(sorted(called(programs)),
                 sorted(["check_gpu-sm_75 --small"] + ["check_gpu " + name for name in ["plan", "--small", "memory", *beside]]), "checks")
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
def limits_of_a_call():
    """Together they are at most those of SECONDS_LEFT, where what runs side by side counts once."""
    for call, parts, one_by_one in (("faults", 16, 5), ("choices", 11, 11), ("figures", 5, 5)):
        programs, tools = stand_ins(), fresh()
        script(tools, "timeout", '[[ $1 != --kill-after=* ]] || { echo "$2" >> %s/limits; shift; }\nshift\nexec "$@"\n' % tools)
        script(tools, "compute-sanitizer", "exit 0\n")
        first(call, build=programs, seconds=10000, env={"PATH": tools + ":" + os.environ["PATH"]})
        limits = [int(line) for line in read(os.path.join(tools, "limits")).split()]
        expect_equal(len(limits), parts, "parts of " + call)
        expect(sum(limits[:one_by_one]) + max(limits[one_by_one:], default=0) <= 560, "limits of %s: %r" % (call, limits))


@case
def figures():
    """The speed of a shape, its kernels and PyTorch beside it."""
    programs = stand_ins()
    first("figures", build=programs, env={"COMMIT": "abc"})
    expect_equal(called(programs, "bench_gpu"), ["bench_gpu --kernels --model 8B --commit abc", "bench_gpu --model 8B --commit abc"], "calls")
    result, _ = first("figures", build=linked())
    expect(result.rc == 0, "expected rc 0", result)
    expect_equal([len([line for line in lines_of(result, name) if line.startswith("| tiny")]) for name in ("bench", "peer")], [8, 8], "rows")
    expect("without events" in "".join(lines_of(result, "kernels")), "kernels", result)


def table(lines):
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line.startswith("| tiny")]


@case
def choices():
    """All parts but the profiler on the emulated GPU, with a nvidia-smi that has seen it half busy."""
    tools = fresh()
    clock = write(tools, "clock", b"0")
    script(tools, "nvidia-smi", 'case $* in\n*-lms*) printf "%%s\\n" 0 100 40 60; exec sleep 100 ;;\n'
           '*clocks.sm*) n=$(($(cat %s) + 5)); echo $n > %s; echo "$n MHz" ;;\nesac\n' % (clock, clock))
    parts = ["bits", "whole", "windows", "hints", "CARBON_CUDA_OVERLAP=0", "CARBON_CUDA_GRAPHS=0", "error", "f16"]
    result, out = first("choices", *parts, build=linked(), env={"PATH": tools + ":" + os.environ["PATH"]})
    expect(result.rc == 0, "expected rc 0", result)
    rows = lambda name: table(lines_of(result, name))
    whole = rows("whole")
    expect_equal([row[1] for row in whole[:5]], ["scan -O t", "score -O tsv", "score -O tsv, .gz", "vep anchored, horizon 96", "scan -O t"],
                 "commands")
    for row in whole[:5]:
        expect(float(row[3]) > 0 and float(row[5]) > 0 and row[6] == "0.50", "times, and how busy the GPU was: %r" % row)
    expect(whole[5][1] == "" and whole[6][1] == "tiny" and float(whole[6][4]) > 0 and float(whole[6][5]) > 0, "drafting: %r" % whole[5:])
    expect_equal([row[:3] for row in rows("windows")[:2]], [["tiny", way, "prefill, 2 windows of 30"] for way in ("library", "own")], "windows")
    expect_equal([row[1] for row in rows("windows") if row[2] == "without events"],
                 ["prefill, 2 windows of 30", "prefill, 4 windows of 20", "decode, batch 3"], "kernels")
    expect_equal([(row[1], len([ms for ms in row[2:] if float(ms) > 0])) for row in rows("hints")],
                 [("decode, batch 1", 4), ("decode, batch 3", 4)], "hints")
    for switch in parts[4:6]:
        expect_equal([row[1:3] for row in rows(switch)], [["own", "decode, batch 1"], ["own", "decode, batch 3"]], "steps with " + switch)
        expect("switches: " + switch in read(os.path.join(out, switch + ".log")).decode(), "the switch")
    expect_equal([row[1:3] for row in rows("f16")], [["own, f16", "prefill, 2 windows of 30"]], "f16")
    expect("carbon, f16" in [row[1] for row in rows("error")], "errors", result)
    # At the end the tables once more: of kernels those that take long, and of bits the conclusions.
    again = [line.split()[3].rstrip(":") for line in result.lines() if line.startswith("== once more, ")]
    expect_equal(again, ["windows", "f16", "error", *parts[4:6], "whole", "hints", "bits"], "the order at the end")
    end = result.lines()[result.lines().index(next(line for line in result.lines() if line.startswith("== once more, whole"))):]
    expect_equal(table(end), rows("whole") + rows("hints"), "the tables, once more")
    expect_equal(end[-2], "the library has the bits of one chain of mma.sync in 0 of 12 products", "the last line")
    expect("a barrier of the whole grid cannot be measured here" in end and not any("64 x 64" in line for line in end), "bits", result)
    # The clocks before and after a part.
    clocks = read(os.path.join(out, "whole.log.clocks")).decode().split("\n")
    expect(clocks[0] != clocks[1] and lines_of(result, "whole")[-1].endswith(" s; " + clocks[1]), "clocks", result)


@case
def choices_with_stand_ins():
    """What is called for a GPU that is not emulated, and what a program that fails leaves out."""
    row = "| 500M | own | decode, batch 1 | 1 | 1 | 1 | 2.5 | 1 | 1 |"
    programs, tools = stand_ins(bench_gpu='[[ ${0##*/} != bench_gpu-256B ]] || exit 1\necho "%s"' % row), fresh()
    script(tools, "ncu", '[[ $* == *stream_kernel* ]] && exit 0\necho "    Duration us 3.5 of $*"\nexit 9\n')
    result, _ = first("choices", build=programs, env={"PATH": tools + ":" + os.environ["PATH"], "COMMIT": "abc"})
    expect(result.rc == 1 and "exit status 1" in lines_of(result, "hints")[-1], "a program has failed", result)
    for shape in ("3B", "500M"):
        expect_equal(len([call for call in called(programs, "bench_gpu")
                          if call.endswith("--decode --batch 1 --batch 16 --batch 64 --model " + shape)]), 4, "calls")
    expect_equal(lines_of(result, "hints").count("| 500M | decode, batch 1 | 2.5 | 2.5 |  | 2.5 |"), 2, "no figure in its place")
    for words in ("--bits", "--dtype f16 --window 1366 --model 500M",
                  "--decode --batch 1 --batch 16 --batch 64 --model 500M"):
        expect(any(call.startswith("bench_gpu %s --commit abc" % words) for call in called(programs, "bench_gpu")), words)
    expect("bench_gpu --kernels --batch 64 --batch 256 --model 3B" in called(programs, "bench_gpu"), "kernels of steps")
    profiled = [line.split("--kernel-name ")[1].split()[0] + " " + line.split("bench_gpu ")[1]
                for line in lines_of(result, "ncu") if "--clock-control none" in line]
    expect_equal(profiled, ["regex:attention_mma_file --kernels --window 8191 --model 500M",
                            "regex:attention_decode_file --kernels --batch 64 --model 500M"], "kernels")
    expect("exit status 1" in lines_of(result, "ncu")[-1], "a kernel was not found", result)


@case
def hints_that_take_too_long():
    """What has been measured is in the table of a call that is ended."""
    slow = ('[[ $* != *500M || ${0##*/} == bench_gpu ]] || exec sleep 100\n'
            'echo "| ${*: -1} | own | decode, batch 1 | 1 | 1 | 1 | 2.5 | 1 | 1 |"')
    result, _ = first("choices", "hints", build=stand_ins(bench_gpu=slow), seconds=5)
    expect(result.rc == 1 and "ended after its limit" in lines_of(result, "hints")[-1], "it is ended", result)
    rows = [line for line in lines_of(result, "hints") if "decode" in line]
    expect_equal(rows, ["| 3B | decode, batch 1 | 2.5 | 2.5 | 2.5 | 2.5 |", "| 500M | decode, batch 1 | 2.5 |  |  |  |"], "the tables")


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
    expect("a barrier of the whole grid cannot be measured here" in result.text, "the barrier", result)
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
    expect_equal(os.listdir(os.path.dirname(archive)), ["results.tar.gz"], "files")


@case
def a_call_that_is_killed():
    """What ends the call leaves the parts before in the archive, here in a folder that is there already."""
    folder = fresh()
    programs = stand_ins('[[ $1 != memory ]] || kill -KILL "$(cut -d" " -f4 "/proc/$PPID/stat")"')
    result, _ = first("faults", "small", "memory", build=programs, env={"OUT": folder})
    expect_equal(result.rc, -9, "exit status")
    expect_equal(os.listdir(folder), ["first-faults.tar.gz"], "files")
    with tarfile.open(os.path.join(folder, "first-faults.tar.gz")) as packed:
        expect("./small.log" in packed.getnames(), "the logs: %r" % packed.getnames())


@case
def every_part_counts():
    parts = {"faults": (("plan", "check_gpu"), ("small", "check_gpu"), ("memory", "check_gpu"), ("decoder", "check_gpu"),
                        ("commands", "carbon"), ("sm_75", "check_gpu-sm_75")),
             "figures": (("bench", "bench_gpu"), ("kernels", "bench_gpu"), ("peer", "bench_gpu")),
             "choices": (("bits", "bench_gpu"), ("whole", "carbon"), ("windows", "bench_gpu"), ("CARBON_CUDA_GRAPHS=0", "bench_gpu"),
                         ("f16", "bench_gpu"), ("error", "bench_gpu"))}
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
    expect(result.rc == 1 and "ended after its limit of 10 s" in lines_of(result, "memory")[-1], "it says so", result)
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
