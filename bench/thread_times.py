"""Runs a command and prints the CPU time of its threads by their names, for bench/host.sh.

    thread_times.py run COMMAND...     a line of JSON; the standard output of the command is thrown away
    thread_times.py table FILE GPU     rows of a table of medians; FILE has lines "NAME<tab>COUNT<tab>JSON", COUNT bases or SNVs
                                       each, for one of which a GPU takes GPU nanoseconds

The first thread is "main". Threads that have its name otherwise were started by a library, here htslib's threads that
compress: "library". The kernel's clocks are read every few milliseconds, so that a thread loses at most that at its end.
"""

import collections
import json
import os
import statistics
import subprocess
import sys
import time

EVERY = 0.01  # seconds
IDLE = 0.02  # a thread with less than this share of the longest of its group has done nothing that counts


def read(path):
    try:
        with open(path) as file:
            return file.read()
    except OSError:  # the thread has ended
        return ""


def run(command):
    start = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    tasks, names, seconds = "/proc/%d/task" % child.pid, {}, {}
    while child.poll() is None:
        try:
            threads = os.listdir(tasks)
        except OSError:
            threads = []
        for thread in threads:
            clock = read("%s/%s/schedstat" % (tasks, thread)).split()
            name = read("%s/%s/comm" % (tasks, thread)).strip()
            if len(clock) == 3 and name:
                seconds[thread], names[thread] = int(clock[0]) / 1e9, name
        time.sleep(EVERY)
    if child.returncode != 0:
        sys.exit("%s: exit status %d" % (" ".join(command), child.returncode))
    groups = collections.defaultdict(list)
    for thread, name in names.items():
        library = name == names.get(str(child.pid))
        group = "main" if thread == str(child.pid) else "library" if library else name.replace("carbon-", "")
        groups[group].append(seconds[thread])
    usage = os.times()
    print(json.dumps({"elapsed": time.monotonic() - start, "cpu": usage.children_user + usage.children_system, "threads": groups}))


def columns(line, gpu):
    """What one run took for each base or SNV, in nanoseconds."""
    count, threads = int(line[1]), json.loads(line[2])["threads"]
    times = {name: [1e9 * t / count for t in group if t > IDLE * max(group)] for name, group in threads.items()}
    # One thread each, but for those that share what they do among them. Of the threads that compress, one only collects.
    serial = {name: sum(times.get(name, ())) for name in ("read", "write")}
    shared = {name: sum(times.get(name, ())) for name in ("format", "library")}
    for name, spare in (("format", 0), ("library", 1)):
        if len(times.get(name, ())) - spare == 1:
            serial[name] = max(times[name])
    if gpu < 0:  # an emulated GPU: the first thread does what it does beside one, and no more
        serial["main"] = sum(times["main"])
    work = sum(shared.values()) + sum(t for name, t in serial.items() if name not in shared)
    return [*(sum(times.get(name, ())) for name in ("read", "write", "format", "library", "main")), max(serial.values()), work,
            1e9 * json.loads(line[2])["cpu"] / count, work / abs(gpu), 2 * work / abs(gpu)]


def table(path, gpu):
    rows = collections.defaultdict(list)
    with open(path) as file:
        for line in file:
            fields = line.rstrip("\n").split("\t")
            rows[fields[0]].append(columns(fields, gpu))
    for name, runs in rows.items():
        medians = [statistics.median(column) for column in zip(*runs)]
        print("| %s | %s | %s |" % (name, " | ".join("%.0f" % value for value in medians[:-2]),
                                    " | ".join("%.1f" % value for value in medians[-2:])))


if sys.argv[1] == "run":
    run(sys.argv[2:])
else:
    table(sys.argv[2], float(sys.argv[3]))
