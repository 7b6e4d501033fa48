"""What the command-line tests share: a temporary directory, running the program, cases, counting, skipping.

Not a test. Environment: CARBON (the program, default build/carbon), CARBON_MAKE_CHECKPOINT (default
build/make_checkpoint), CARBON_SHARED (folder with public test data, default ../shared), CARBON_FORCE_ISA (handed on to the
program). Everything a test writes lies in one temporary directory that is removed at the end.
"""

import atexit
import gzip
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

# A background job or nohup hands down ignored signals; the programs under test start without that.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGTERM, signal.SIG_DFL)

CARBON = os.path.abspath(os.environ.get("CARBON", "build/carbon"))
MAKE_CHECKPOINT = os.path.abspath(os.environ.get("CARBON_MAKE_CHECKPOINT", "build/make_checkpoint"))
SHARED = os.path.abspath(os.environ.get("CARBON_SHARED", "../shared"))
DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data")

ROOT = os.path.realpath(tempfile.mkdtemp(prefix="carbon-cli-"))
atexit.register(shutil.rmtree, ROOT, ignore_errors=True)
_scratch = os.path.join(ROOT, "tmp")
os.mkdir(_scratch)

# What a user's environment may hold must not change a test; the instruction set to test is asked for on purpose.
ENV = {k: v for k, v in os.environ.items()
       if k == "CARBON_FORCE_ISA" or not k.startswith(("CARBON", "HF_"))}
ENV.update(LC_ALL="C", TMPDIR=_scratch, XDG_CACHE_HOME=os.path.join(ROOT, "cache"),
           XDG_DATA_HOME=os.path.join(ROOT, "data"))


class Skip(Exception):
    """Raised by a case that cannot run here; the reason is printed."""


class Result:
    def __init__(self, args, rc, out, err):
        self.args, self.rc, self.out, self.err = args, rc, out, err.decode("utf-8", "replace")

    @property
    def text(self):
        return self.out.decode()

    def lines(self):
        return self.text.splitlines()

    def table(self):
        """The line of columns and the rows: without the lines before them that say what made the table."""
        return [line for line in self.lines() if not line.startswith("##")]

    def messages(self, letter):
        return [line for line in self.err.splitlines() if line.startswith("[%s::" % letter)]

    def __str__(self):
        return "%s\n  rc %d, stdout %r\n  stderr:\n%s" % (
            " ".join(map(str, self.args)), self.rc, self.out[:300],
            "".join("    " + line + "\n" for line in self.err.splitlines()[:12]))


_cases = []


def case(function=None, *, name=None):
    """Registers a test case; `name` replaces the function's name where one function serves several cases."""
    def register(f):
        _cases.append((name or f.__name__, f))
        return f
    return register(function) if function else register


def main():
    """Runs the cases that were registered (only those whose name contains an argument, if there are any)."""
    for program in (CARBON, MAKE_CHECKPOINT):
        if not os.access(program, os.X_OK):
            sys.exit("%s is missing: build it, or set CARBON and CARBON_MAKE_CHECKPOINT" % program)
    passed = failed = skipped = 0
    for name, function in _cases:
        if len(sys.argv) > 1 and not any(word in name for word in sys.argv[1:]):
            continue
        started = time.monotonic()
        try:
            function()
            passed += 1
        except Skip as reason:
            skipped += 1
            print("SKIPPED %s: %s" % (name, reason))
        except Exception as e:
            failed += 1
            print("FAILED %s" % name)
            if not isinstance(e, AssertionError):
                traceback.print_exc(limit=-3, file=sys.stdout)
            else:
                where = traceback.extract_tb(e.__traceback__)
                print("  " + " < ".join("%s:%d" % (os.path.basename(f.filename), f.lineno) for f in reversed(where[1:])))
                print("  " + str(e).replace("\n", "\n  "))
        if time.monotonic() - started > 2:
            print("%7.1f s  %s" % (time.monotonic() - started, name))
        sys.stdout.flush()
    print("%d passed, %d failed, %d skipped" % (passed, failed, skipped))
    sys.exit(1 if failed else 0)


# ---- running -------------------------------------------------------------------------------------------------------


def command(args, stdin=b"", cwd=None, env=None, timeout=60):
    """Runs any program. `stdin` is bytes or an open file."""
    given = {"input": stdin} if isinstance(stdin, bytes) else {"stdin": stdin}
    done = subprocess.run([str(a) for a in args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd or ROOT,
                          env={**ENV, **(env or {})}, timeout=timeout, **given)
    return Result(args, done.returncode, done.stdout, done.stderr)


# Their output says when it was made, so that no two runs have the same bytes.
DATED = ("score", "embed", "predict", "generate")


def undated(args):
    """The arguments of carbon for an output that has the same bytes each time."""
    return [args[0], "--no-version", *args[1:]] if args and args[0] in DATED else list(args)


def carbon(*args, dated=False, **options):
    return command([CARBON, *(args if dated else undated(args))], **options)


def peak_memory(*args, rc=0):
    """KiB at most in use by a run of carbon that must end with `rc`, its output thrown away.

    The kernel counts for a process also what its parent had in use when it was started, which for a test with numpy is
    more than carbon needs. So a small process starts it.
    """
    small = "import resource, subprocess, sys\n" \
            "done = subprocess.run(sys.argv[2:], stdout=subprocess.DEVNULL)\n" \
            "if done.returncode != int(sys.argv[1]): sys.exit('rc %d' % done.returncode)\n" \
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    # A build with AddressSanitizer keeps freed memory aside, by default much of it.
    result = command([sys.executable, "-ISc", small, rc, CARBON, *args], timeout=120, env={"ASAN_OPTIONS": "quarantine_size_mb=1"})
    expect(result.rc == 0, "expected rc %d" % rc, result)
    return int(result.out)


def ok(*args, **options):
    """Runs carbon and expects success."""
    result = carbon(*args, **options)
    expect(result.rc == 0, "expected rc 0", result)
    return result


def tool(*args, **options):
    """Runs another program (bcftools, bgzip, samtools); a missing one skips the case, a failing one fails it."""
    if shutil.which(args[0]) is None:
        raise Skip(args[0] + " is not installed")
    result = command(args, **options)
    expect(result.rc == 0, "expected rc 0", result)
    return result


# ---- expectations --------------------------------------------------------------------------------------------------


def expect(condition, message, result=None):
    if not condition:
        raise AssertionError(message + ("\n%s" % result if result is not None else ""))


def expect_equal(got, wanted, what):
    if got == wanted:
        return
    if isinstance(got, (list, tuple)) and isinstance(wanted, (list, tuple)):
        for i, (a, b) in enumerate(zip(got, wanted)):
            if a != b:
                raise AssertionError("%s: item %d is\n%r, expected\n%r" % (what, i, a, b))
        raise AssertionError("%s: %d items, expected %d" % (what, len(got), len(wanted)))
    raise AssertionError("%s: got\n%r, expected\n%r" % (what, got, wanted))


def expect_close(got, wanted, tolerance, what):
    if not abs(got - wanted) <= tolerance:
        raise AssertionError("%s: got %r, expected %r within %g" % (what, got, wanted, tolerance))


def own_errors(result):
    """The [E::...] lines that are not htslib's (that there are none of those is a case of its own in faults_input_test.py)."""
    return [line for line in result.messages("E") if not re.match(r"\[E::(bgzf|fai|hts|bcf|vcf|hfile|hread|inflate)_", line)]


def expect_failure(result, *words):
    """Exit status 1 and one [E::...] line that holds every word (a tuple: one of its words)."""
    expect(result.rc == 1, "expected rc 1", result)
    errors = own_errors(result)
    expect(len(errors) == 1, "expected one [E::...] line, got %d" % len(errors), result)
    expect(result.err.splitlines()[-1] == errors[0], "the message is not the last line", result)
    for word in words:
        any_of = word if isinstance(word, tuple) else (word,)
        expect(any(w in errors[0] for w in any_of), "the message does not say %r" % (word,), result)


def tree(directory):
    """Every path under a directory, and under the directory for temporary files."""
    found = []
    for top in (directory, _scratch):
        for where, folders, files in os.walk(top):
            found += [os.path.join(where, name) for name in folders + files]
    return sorted(found)


# ---- files ---------------------------------------------------------------------------------------------------------


def fresh():
    """A new empty directory."""
    return tempfile.mkdtemp(dir=ROOT)


def write(directory, name, content):
    path = os.path.join(directory, name)
    with open(path, "wb") as f:
        f.write(content.encode() if isinstance(content, str) else content)
    return path


def read(path):
    with open(path, "rb") as f:
        return f.read()


def data(name, directory=None):
    """A copy of a file of test/data (an index is never written beside the original)."""
    return shutil.copy(os.path.join(DATA, name), directory or fresh())


def bgzip(path):
    """path.gz beside path."""
    write(os.path.dirname(path), os.path.basename(path) + ".gz", tool("bgzip", "-c", path).out)
    return path + ".gz"


SIZES = {"vocab": 4224, "dna-start": 0, "hidden": 32, "layers": 2, "heads": 2, "kv-heads": 1, "head-dim": 16,
         "intermediate": 64, "max-positions": 4096, "dtype": "bf16"}
_models = {}


def model(**changes):
    """A generated checkpoint, made once for each set of sizes; names as make_checkpoint's options, with _ for -."""
    options = dict(SIZES, **{k.replace("_", "-"): v for k, v in changes.items()})
    key = tuple(sorted(options.items()))
    if key not in _models:
        path = os.path.join(ROOT, "model%d" % len(_models))
        made = command([MAKE_CHECKPOINT, *["--%s=%s" % item for item in options.items()], path])
        expect(made.rc == 0, "make_checkpoint failed", made)
        _models[key] = path
    return _models[key]


def model_copy():
    """A checkpoint of its own directory, to be damaged."""
    return shutil.copytree(model(), os.path.join(fresh(), "model"))


# ---- failing runs --------------------------------------------------------------------------------------------------


def workplace():
    """A directory with an indexed reference, so that a run has no reason to add a file."""
    directory = fresh()
    data("mini.fa", directory)
    tool("samtools", "faidx", os.path.join(directory, "mini.fa"))
    return directory


def refused(args, *words, directory, output="out"):
    """The run fails as it should and leaves the directory as it was, except for what its message says is kept."""
    out = os.path.join(directory, output)
    before = tree(directory)
    result = carbon(*args, "-o", out, timeout=60)
    expect_failure(result, *words)
    kept = [path for path in (out + ".partial", out + ".partial.state") if os.path.exists(path)]
    expect(bool(kept) == ("continue with --resume, from %s.partial" % out in result.err), "what it says of %r" % kept, result)
    for path in kept:
        os.remove(path)
    expect_equal(tree(directory), before, "files after the failure")
    expect(len(own_errors(result)[0]) < 600, "the message is too long to be clear", result)
    return result


# ---- formats -------------------------------------------------------------------------------------------------------


COMPLEMENT = str.maketrans("ACGTURYKMBDHVSWN", "TGCAAYRMKVHDBSWN")


def reverse_complement(bases):
    return bases.upper().translate(COMPLEMENT)[::-1]


def parse_fasta(text):
    """[(name, bases)] in file order; duplicate names stay."""
    records = []
    for line in text.splitlines():
        if line.startswith(">"):
            records.append([line[1:].split()[0], ""])
        elif records:
            records[-1][1] += line.strip()
    return [(name, bases) for name, bases in records]


def to_fasta(records, width=60):
    lines = []
    for name, bases in records:
        lines.append(">" + name)
        lines += [bases[i:i + width] for i in range(0, len(bases), width)]
    return "\n".join(lines) + "\n"


def genome(name="mini.fa"):
    return dict(parse_fasta(read(os.path.join(DATA, name)).decode()))


def is_bgzf(content):
    """Starts with a BGZF block and ends with the empty one."""
    end = bytes.fromhex("1f8b08040000000000ff0600424302001b0003000000000000000000")
    return content[:4] == b"\x1f\x8b\x08\x04" and content[12:14] == b"BC" and content.endswith(end)


def open_bigwig(path, mode="r"):
    """A file of pyBigWig, without which the case is skipped."""
    try:
        import pyBigWig
    except ImportError:
        raise Skip("no pyBigWig")
    return pyBigWig.open(path, mode)


def records(text):
    return [line for line in text.splitlines() if not line.startswith("#")]


def info_of(line):
    """INFO of a VCF line as a dict; a flag's value is None."""
    column = line.split("\t")[7]
    return {} if column == "." else dict((item.split("=", 1) + [None])[:2] for item in column.split(";"))


def without_tags(line, prefix="CARBON"):
    """A VCF line with the tags of one prefix taken out of INFO."""
    fields = line.split("\t")
    kept = [item for item in fields[7].split(";") if not re.match(re.escape(prefix) + "_(LLR|NT|FLAG)(=|$)", item)]
    fields[7] = ";".join(kept) or "."
    return "\t".join(fields)


def decompress(content):
    return gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
