"""SIGINT and SIGTERM in the middle of a pass, of a long sample and of a prompt's samples: every command ends within a
second, and keeps what is finished."""

import json
import os
import re
import signal
import subprocess
import time

from generate_support import random_bases
from harness import CARBON, ENV, case, command, expect, expect_equal, fresh, main, model, ok, read, to_fasta, write

# A second is promised; the machine may be busy with other tests.
SOON = 4
# With these kernels and one thread a full pass of the model below takes far longer than SOON.
SLOW = {**ENV, "CARBON_FORCE_ISA": "generic"}


def slow_model():
    return model(hidden=512, layers=8, heads=8, kv_heads=8, head_dim=64, intermediate=2048, max_positions=8192)


def started(*args, env=ENV):
    return subprocess.Popen([CARBON, *map(str, args)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)


def stopped(process, number):
    """Sends the signal. Returns stdout and the lines of stderr after the end, which must come soon, by that signal."""
    begin = time.monotonic()
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    seconds = time.monotonic() - begin
    lines = err.decode().splitlines()
    expect(seconds < SOON, "it took %.1f s: %r" % (seconds, lines))
    # A shell stops its loop only after a program that SIGINT has killed.
    expect_equal(process.returncode, -signal.SIGINT if number == signal.SIGINT else 128 + number, "status")
    return out, lines


def catches_sigterm(process):
    caught = re.search(rb"^SigCgt:\s*(\w+)", read("/proc/%d/status" % process.pid), re.M).group(1)
    return int(caught, 16) >> (signal.SIGTERM - 1) & 1


def wait_until_loaded(process):
    """Until the model is there; returns what was said. The first pass then begins."""
    lines = []
    while not any("model " in line and "[I::engine]" in line for line in lines):
        line = process.stderr.readline().decode()
        expect(line != "", "it ended: %r" % lines)
        lines.append(line)
    until = time.monotonic() + 60
    while not catches_sigterm(process):
        expect(process.poll() is None and time.monotonic() < until, "it watches no signals: %r" % lines)
        time.sleep(0.01)
    time.sleep(1)
    expect(process.poll() is None, "it ended: %r" % lines)


@case
def a_pass_is_not_waited_for():
    bases = write(fresh(), "long.fa", to_fasta([("c", random_bases(40000, 1))]))
    for args in (["score", bases], ["embed", bases], ["scan", "-f", bases], ["generate", "-l", 6, bases]):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = started(args[0], "-m", slow_model(), "-v", 4, "-@", 1, *args[1:], env=SLOW)
            wait_until_loaded(process)
            _, lines = stopped(process, number)
            said = [line for line in lines if line.startswith("[M::%s] %s: stopping" % (args[0], number.name))]
            expect(len(said) == 1 and "a second signal ends" in said[0], str(lines))
            expect(lines[-1].startswith("[W::%s] stopped by %s after 0 " % (args[0], number.name)), lines[-1])


@case
def a_long_sample_is_not_waited_for():
    for number in (signal.SIGINT, signal.SIGTERM):
        process = started("generate", "-m", slow_model(), "-v", 4, "-@", 1, "-l", 40000, "--unconditional", env=SLOW)
        wait_until_loaded(process)
        out, lines = stopped(process, number)
        expect_equal((out, lines[-1]), (b"", "[W::generate] stopped by %s after 0 samples; the output is not complete" % number.name), "end")


@case
def a_finished_sample_is_kept():
    """The first prompt's sample is finished; the second prompt takes long to read."""
    args = ["generate", "-m", slow_model(), "-@", 1, "-l", 60]
    whole = command([CARBON, *args, write(fresh(), "in.fa", to_fasta([("a", "ACGTAC")]))], env=SLOW).text
    for number in (signal.SIGINT, signal.SIGTERM):
        out = os.path.join(fresh(), "out.fa")
        for output in (["-o", out], []):
            process = started(*args, *output, "-", env=SLOW)
            process.stdin.write(b">a\nACGTAC\n>b " + b"x" * 70000 + b"\n")  # the reader takes blocks from the pipe
            process.stdin.flush()
            shown = b""
            if output:
                until = time.monotonic() + 60
                while not os.path.exists(out + ".partial.state") or json.loads(read(out + ".partial.state"))["done"] == 0:
                    expect(process.poll() is None and time.monotonic() < until, "no sample was kept")
                    time.sleep(0.01)
            else:
                shown = os.read(process.stdout.fileno(), 1)  # read(1) would keep more from communicate()
            process.stdin.write(random_bases(40000, 4).encode() + b"\n")
            process.stdin.close()
            process.stdin = None
            time.sleep(1)
            text, lines = stopped(process, number)
            last = "[W::generate] stopped by %s after 1 sample; " % number.name
            if output:
                expect_equal(lines[-1], last + "continue with --resume, from %s.partial" % out, "end")
                expect_equal(read(out + ".partial").decode(), whole, "what is kept")
            else:
                expect_equal(lines[-1], last + "the output is not complete", "end")
                expect_equal((shown + text).decode(), whole, "what is written")


@case
def samples_of_a_prompt_are_kept():
    """A run is stopped between the samples of its only prompt, again and again, and has the bytes of a run without a break."""
    args = ["generate", "-m", model(), "-l", 600, "-n", 1000, "--seed", 5]
    prompt = write(fresh(), "in.fa", to_fasta([("a", random_bases(100, 3))]))
    whole = ok(*args, prompt).out
    out = os.path.join(fresh(), "out.fa")
    done = 0
    for _ in range(2):
        process = started(*args, "--resume", "-o", out, prompt)
        until = time.monotonic() + 60
        while not os.path.exists(out + ".partial.state") or json.loads(read(out + ".partial.state"))["done"] <= done:
            expect(process.poll() is None and time.monotonic() < until, "no sample was kept")
            time.sleep(0.005)
        _, lines = stopped(process, signal.SIGTERM)
        state = json.loads(read(out + ".partial.state"))
        expect(done < state["done"] < 1000 and state["mark"]["parts"] == state["done"], str(state))
        done = state["done"]
        expect("stopped by SIGTERM after %d sample%s; continue" % (done, "s" if done > 1 else "") in lines[-1], lines[-1])
    ok(*args, "--resume", "-o", out, prompt)
    expect(read(out) == whole, "another output")


@case
def a_second_signal_ends_at_once():
    process = started("score", "-m", slow_model(), "-v", 4, "-@", 1, write(fresh(), "long.fa", to_fasta([("c", random_bases(40000, 1))])), env=SLOW)
    wait_until_loaded(process)
    process.send_signal(signal.SIGTERM)
    while b"stopping" not in process.stderr.readline():
        expect(process.poll() is None, "it ended before")
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    expect(process.returncode in (-signal.SIGTERM, 143), "status %d" % process.returncode)
    expect(process.returncode == 143 or b"stopped by" not in err, err.decode())


if __name__ == "__main__":
    main()
