"""workflows/slurm on a Slurm of one node, started here: tasks that were stopped go on, and the parts are one run's output."""
# Left out while unchanged: parts

import atexit
import concurrent.futures
import getpass
import os
import re
import shutil
import socket
import subprocess
import time

from harness import ENV, Skip, case, command, decompress, expect, expect_equal, fresh, main, read, write
from workflow_support import (SCAN, VEP, WORKFLOWS, environment, expect_same_file, genome_to_scan, one_run, one_scan,
                              study)

SCRIPTS = os.path.join(WORKFLOWS, "slurm")
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun")
PATH = ENV["PATH"] + ":/usr/sbin:/sbin"
CONFIGURATION = """
ClusterName=carbon
SlurmctldHost=%(host)s(127.0.0.1)
SlurmctldPort=%(port1)d
SlurmdPort=%(port2)d
SlurmUser=%(user)s
SlurmdUser=%(user)s
# A requeued job waits until its old credential has expired.
AuthInfo=socket=%(d)s/munge.socket,cred_expire=5
StateSaveLocation=%(d)s/state
SlurmdSpoolDir=%(d)s/spool
SlurmctldPidFile=%(d)s/slurmctld.pid
SlurmdPidFile=%(d)s/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=0,sched_interval=1
MpiDefault=none
ReturnToService=2
KillWait=5
NodeName=%(host)s NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""

_cluster = {}


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def stop(daemons):
    """Jobs first, then the daemons in the opposite order; each is a process that this test has started."""
    if "env" in _cluster:
        subprocess.run(["scancel", "--full", "--user=" + getpass.getuser()], env=_cluster["env"], timeout=20)
    for daemon in reversed(daemons):
        daemon.terminate()
        try:
            daemon.wait(timeout=20)
        except subprocess.TimeoutExpired:
            daemon.kill()
            daemon.wait()


def cluster():
    """The environment in which Slurm's programs find the cluster, which is started once."""
    if "reason" in _cluster:
        raise Skip(_cluster["reason"])
    if "env" in _cluster:
        return _cluster["env"]
    missing = [name for name in PROGRAMS if shutil.which(name, path=PATH) is None]
    if missing:
        _cluster["reason"] = ", ".join(missing) + ": not installed"
        raise Skip(_cluster["reason"])
    d = fresh()
    for name in ("state", "spool"):
        os.mkdir(os.path.join(d, name))
    write(d, "key", os.urandom(128))
    os.chmod(os.path.join(d, "key"), 0o600)
    names = dict(d=d, host=socket.gethostname().split(".")[0], user=getpass.getuser(), port1=free_port(), port2=free_port())
    write(d, "slurm.conf", CONFIGURATION % names)
    env = {**ENV, **environment(), "SLURM_CONF": os.path.join(d, "slurm.conf")}
    env["PATH"] += ":/usr/sbin:/sbin"
    munged = ["munged", "--foreground", "--force"] + ["--%s=%s/%s" % (option, d, name) for option, name in (
        ("key-file", "key"), ("socket", "munge.socket"), ("pid-file", "munge.pid"), ("seed-file", "munge.seed"))]
    daemons = []
    _cluster["env"] = env
    atexit.register(stop, daemons)
    for args in (munged, ["slurmctld", "-D"], ["slurmd", "-D"]):
        log = open(os.path.join(d, args[0] + ".log"), "wb")
        daemons.append(subprocess.Popen(args, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log))
        time.sleep(0.5)
    deadline = time.monotonic() + 60
    while "idle" not in (state := command(["sinfo", "-h", "-o", "%T"], env=env).text):
        dead = next((p.args[0] for p in daemons if p.poll() is not None), None)
        if dead or time.monotonic() > deadline:
            name = dead or "slurmd"
            said = read(os.path.join(d, name + ".log")).decode(errors="replace").strip().splitlines()[-3:]
            del _cluster["env"]
            _cluster["reason"] = "Slurm cannot be started here: node %r; %s: %s" % (state.strip(), name, " | ".join(said))
            raise Skip(_cluster["reason"])
        time.sleep(0.2)
    return env


def run(args, env, cwd):
    result = command(args, env=env, cwd=cwd)
    expect(result.rc == 0, "expected rc 0", result)
    return result.text.strip()


def submit(script, *args, env, cwd, options=()):
    return run(["sbatch", "--parsable", *options, os.path.join(SCRIPTS, script), *args], env, cwd)


def wait_for(reached, what, seconds=120):
    deadline = time.monotonic() + seconds
    while not (found := reached()):
        expect(time.monotonic() < deadline, what() if callable(what) else what)
        time.sleep(0.02)
    return found


def states(job, env):
    """State of each task of a job, as scontrol has it."""
    text = command(["scontrol", "show", "job", job, "-o"], env=env).text
    return [next(w[9:] for w in line.split() if w.startswith("JobState=")) for line in text.splitlines() if "JobState=" in line]


def logs(directory):
    return "".join("%s:\n%s\n" % (name, read(os.path.join(directory, name)).decode())
                   for name in sorted(os.listdir(directory)) if name.startswith("slurm-"))


def wait_for_end(job, env, directory):
    def ended():
        found = states(job, env)
        return found and all(s in ("COMPLETED", "FAILED", "CANCELLED", "NODE_FAIL") for s in found) and found
    return wait_for(ended, lambda: "job %s: %r\n%s" % (job, states(job, env), logs(directory)))


def stop_both(job, begun, env, d):
    """Stops task 1 as at the end of the time limit, the step alone, and task 2 as preemption does, the whole job. At the same
    time, so that neither task ends while the other is stopped."""
    def stop_on_its_way(task, *args):
        wait_for(lambda: begun(task), lambda: "task %d has no scores\n%s" % (task, logs(d)))
        run(args, env, d)

    with concurrent.futures.ThreadPoolExecutor() as pool:
        for done in [pool.submit(stop_on_its_way, 1, "scancel", "--signal=TERM", job + "_1"),
                     pool.submit(stop_on_its_way, 2, "scontrol", "requeue", job + "_2")]:
            done.result()


def expect_continued(job, join, env, d):
    """Both tasks went on from what they had when they were stopped, and the job that puts the parts together followed."""
    expect_equal(wait_for_end(job, env, d), ["COMPLETED"] * 2, "states of the tasks")
    expect_equal(wait_for_end(join, env, d), ["COMPLETED"], "state of the job that puts the parts together")
    for task in (1, 2):
        log = read(os.path.join(d, "slurm-%s_%d.out" % (job, task))).decode()
        expect("continuing: " in log, "task %d did not go on from its scores:\n%s" % (task, log))
    expect("goes back into the queue" in read(os.path.join(d, "slurm-%s_1.out" % job)).decode(), "task 1 did not ask for a turn")


@case
def tasks_that_are_stopped_and_requeued():
    env = cluster()
    d = fresh()
    study(d, count=4000)
    job = submit("vep.sbatch", "2", "cohort.bcf", "ref.fa", "out.bcf", *VEP, env=env, cwd=d, options=["--array=1-2"])
    gather = submit("gather.sbatch", "2", "out.bcf", env=env, cwd=d, options=["--dependency=afterok:" + job])

    def begun(task):
        path = os.path.join(d, "out.bcf.parts/%d.bcf.partial" % task)
        return os.path.exists(path) and os.path.getsize(path) > 2000

    stop_both(job, begun, env, d)
    expect_continued(job, gather, env, d)
    expect_same_file(os.path.join(d, "out.bcf"), one_run(d), "two tasks, stopped")
    expect(not os.path.exists(os.path.join(d, "out.bcf.parts")), "parts left behind")


@case
def tasks_of_a_scan_that_are_stopped_and_requeued():
    env = cluster()
    d = fresh()
    genome_to_scan(d, contigs=40)
    job = submit("scan.sbatch", "2", "genome.fa", "out.tsv.gz", *SCAN, env=env, cwd=d, options=["--array=1-2"])
    join = submit("../join-scan.sh", "out.tsv.gz", *["out.tsv.gz.parts/%d.tsv.gz" % task for task in (1, 2)], env=env, cwd=d,
                  options=["--dependency=afterok:" + job])

    def begun(task):
        path = os.path.join(d, "out.tsv.gz.parts/%d.tsv.gz.partial.state" % task)
        return os.path.exists(path) and re.search(rb'"bytes":[1-9]', read(path))

    stop_both(job, begun, env, d)
    expect_continued(job, join, env, d)
    expect_equal(decompress(read(os.path.join(d, "out.tsv.gz"))), one_scan(d), "two tasks, stopped")


@case
def a_process_for_each_memory_domain():
    """Each task of the array starts as many processes as --ntasks says, bound by srun, and each has a part of its own."""
    env = cluster()
    d = fresh()
    study(d, count=200)
    genome_to_scan(d, contigs=6)
    options = ["--array=1-2", "--nodes=1", "--ntasks=2"]
    job = submit("vep.sbatch", "2", "cohort.bcf", "ref.fa", "out.bcf", *VEP, env=env, cwd=d, options=options)
    expect_equal(wait_for_end(job, env, d), ["COMPLETED"] * 2, "states of the tasks of vep")
    expect_equal(sorted(os.listdir(os.path.join(d, "out.bcf.parts"))), ["%d.bcf" % part for part in (1, 2, 3, 4)], "parts of vep")
    scan = submit("scan.sbatch", "2", "genome.fa", "out.tsv.gz", *SCAN, env=env, cwd=d, options=options)
    gather = submit("gather.sbatch", "4", "out.bcf", env=env, cwd=d)
    expect_equal(wait_for_end(gather, env, d), ["COMPLETED"], "state of the job that puts the parts together")
    expect_same_file(os.path.join(d, "out.bcf"), one_run(d), "two tasks of two processes")
    expect_equal(wait_for_end(scan, env, d), ["COMPLETED"] * 2, "states of the tasks of scan")
    parts = [os.path.join(d, "out.tsv.gz.parts", "%d" % part) for part in (1, 2, 3, 4)]
    run([os.path.join(WORKFLOWS, "join-scan.sh"), "out.tsv.gz", *[part + ".tsv.gz" for part in parts]], env, d)
    expect_equal(decompress(read(os.path.join(d, "out.tsv.gz"))), one_scan(d), "two tasks of two processes")
    expect(all(os.path.exists(part + ".hist") for part in parts), "a histogram is missing")


@case
def names_of_outputs_choose_the_format():
    """The script of a task, with an srun that starts its command here."""
    d = fresh()
    genome_to_scan(d, contigs=2, length=200)
    srun = write(fresh(), "srun", '#!/bin/bash\nwhile [[ $1 == --* ]]; do shift; done\nexec "$@"\n')
    os.chmod(srun, 0o755)
    env = environment(SLURM_ARRAY_TASK_ID="2")
    env["PATH"] = os.path.dirname(srun) + os.pathsep + env["PATH"]
    for name, options in (("out.tsv.gz", ()), ("out.bedgraph.gz", ("-O", "bedgraph")), ("out.bcf", ("-O", "b")), ("out.vcf.gz", ("-O", "z"))):
        result = command(["bash", os.path.join(SCRIPTS, "scan.sbatch"), "3", "genome.fa", name, *SCAN], env=env, cwd=d)
        expect(result.rc == 0, "the task of " + name, result)
        found = read(os.path.join(d, name + ".parts", "2." + name.split(".", 1)[1]))
        expect_equal(decompress(found), decompress(one_scan(d, "--shard", "2/3", *options)), "share of " + name)
        expect(read(os.path.join(d, name + ".parts", "2.hist")).startswith(b"##carbon_scanModel="), "no histogram of " + name)


@case
def a_task_that_fails_is_submitted_again_alone():
    env = cluster()
    d = fresh()
    study(d, count=60)
    os.rename(os.path.join(d, "ref.fa"), os.path.join(d, "ref.away"))
    job = submit("vep.sbatch", "3", "cohort.bcf", "ref.fa", "out.vcf.gz", *VEP, env=env, cwd=d, options=["--array=2"])
    expect_equal(wait_for_end(job, env, d), ["FAILED"], "state without a reference")
    os.rename(os.path.join(d, "ref.away"), os.path.join(d, "ref.fa"))
    for tasks in ("1,3", "2"):
        job = submit("vep.sbatch", "3", "cohort.bcf", "ref.fa", "out.vcf.gz", *VEP, env=env, cwd=d, options=["--array=" + tasks])
        expect_equal(set(wait_for_end(job, env, d)), {"COMPLETED"}, "states of tasks " + tasks)
    gather = submit("gather.sbatch", "3", "out.vcf.gz", env=env, cwd=d)
    expect_equal(wait_for_end(gather, env, d), ["COMPLETED"], "state of the job that puts the parts together")
    expect_same_file(os.path.join(d, "out.vcf.gz"), one_run(d), "three tasks")


def expect_usage(script, args):
    result = command(["bash", os.path.join(SCRIPTS, script), *args], env={"SLURM_ARRAY_TASK_ID": "1"})
    expect(result.rc == 1 and result.err.startswith("usage:"), "expected the usage of " + script, result)


@case
def wrong_arguments():
    for args in ([], ["3", "in.bcf", "ref.fa", "out.vcf"], ["in.bcf", "ref.fa", "out.bcf", "-q"]):
        expect_usage("vep.sbatch", args)
    for args in ([], ["3", "ref.fa", "out.tsv"], ["ref.fa", "out.tsv.gz", "-q"]):
        expect_usage("scan.sbatch", args)


if __name__ == "__main__":
    main()
