"""carbon vep --cache: the same bytes with no cache, an empty and a full one; shared files; files that are refused."""

import os
import resource
import signal
import sqlite3
import subprocess

from harness import (CARBON, ENV, carbon, case, expect, expect_equal, expect_failure, fresh, genome, main, model, ok,
                     read, to_fasta, write)
from vep_support import MINI, OTHER, WINDOW, reference, vcf, vep

ARGS = ("-w", WINDOW, "--no-version", "--recipe", "centered,next-token", "--context", "60")


def new_cache():
    return os.path.join(fresh(), "cache")


def cached(path, *args, **options):
    """Output, and (found, looked up) of one run with a cache."""
    result = vep(*ARGS, "-v", "4", "--cache", path, *args, **options)
    lines = [line for line in result.messages("I") if "cache: " in line]
    expect(len(lines) == 1, "no line of the cache", result)
    words = lines[0].split("cache: ")[1].split()
    expect(words[1] == "of" and words[3:] == ["allele", "scores", "found"], "an odd line", result)
    return result.out, int(words[0]), int(words[2])


def entries(path):
    """How many scores a run has written to the end."""
    database = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    try:
        return database.execute("SELECT count(*) FROM score").fetchone()[0]
    finally:
        database.close()


def snvs(begin, end):
    """All SNVs at positions [begin, end) of c1."""
    bases = genome()["c1"]
    return [("c1", p, bases[p - 1], a) for p in range(begin, end) for a in "ACGT" if a != bases[p - 1]]


@case
def no_cache_empty_cache_and_full_cache():
    for more in ((), ("--strand", "both"), ("--dtype", "f32"), ("--strand", "-", "--batch-tokens", "1")):
        plain, path = vep(*ARGS, *more, MINI).out, new_cache()
        out, found, looked_up = cached(path, *more, MINI)
        expect_equal(out, plain, "cold")
        expect(looked_up > 20 and found < looked_up, "%d of %d found in an empty cache" % (found, looked_up))
        for _ in range(2):
            out, found, again = cached(path, *more, MINI)
            expect_equal(out, plain, "warm")
            expect_equal((found, again), (looked_up, looked_up), "found and looked up")
    expect_equal(os.listdir(os.path.dirname(path)), ["cache"], "files of the cache after the run")


@case
def a_second_sample_runs_only_what_is_new():
    path = new_cache()
    first, second = vcf(snvs(100, 130)), vcf(snvs(115, 145))
    _, found, looked_up = cached(path, first)
    expect_equal(found, 0, "found in an empty cache")
    out, found, again = cached(path, second)
    expect_equal(out, vep(*ARGS, second).out, "second sample")
    expect_equal((found, again), (looked_up // 2, looked_up), "found and looked up")


@case
def alleles_of_one_record_are_cached_apart():
    path = new_cache()
    bases = genome()["c1"]
    letter = bases[199]
    others = [a for a in "ACGT" if a != letter]
    cached(path, vcf([("c1", 200, letter, others[1])]))
    whole = vcf([("c1", 200, letter, ",".join(others))])
    out, found, looked_up = cached(path, whole)
    expect_equal(out, vep(*ARGS, whole).out, "record with one known allele")
    expect_equal((found, looked_up), (3, 9), "found and looked up, two strands and one")


@case
def names_and_coordinates_do_not_count():
    path, rows = new_cache(), snvs(200, 210)
    cached(path, vcf(rows))
    moved = write(fresh(), "moved.fa", to_fasta([("chrX", "ACGTAC" * 30 + genome()["c1"])]))
    body = [("chrX", p + 180, r, a) for _, p, r, a in rows]
    _, found, looked_up = cached(path, vcf(body, contigs=("chrX",)), fasta=moved)
    expect_equal(found, looked_up, "found of the same bases in another place")


@case
def what_changes_a_score_changes_the_key():
    path, rows = new_cache(), vcf(snvs(300, 310))
    _, _, looked_up = cached(path, rows)
    _, found, _ = cached(path, "--dtype", "f32", rows)
    expect_equal(found, 0, "found with --dtype f32")
    result = vep("--recipe", "centered,next-token", "-w", 60, "--context", 72, "-v", 4, "--cache", path, rows)
    expect("cache: 0 of %d " % looked_up in result.err, "found with other windows", result)
    for other in (model(seed=5), model(yarn=4)):
        result = ok("vep", "-m", other, "-f", reference(), *ARGS, "-v", "4", "--cache", path, rows)
        expect("cache: 0 of %d " % looked_up in result.err, "another model finds scores", result)
        expect_equal(result.out, ok("vep", "-m", other, "-f", reference(), *ARGS, rows).out, "another model")
    changed = genome()["c1"]
    changed = changed[:290] + OTHER[changed[290]] + changed[291:]
    edited = write(fresh(), "edited.fa", to_fasta([("c1", changed)]))
    _, found, _ = cached(path, vcf(snvs(300, 310), contigs=("c1",)), fasta=edited)
    expect_equal(found, 0, "found after a change in the windows")
    _, found, _ = cached(path, rows)
    expect_equal(found, looked_up, "found of the first run")


@case
def a_model_in_shards_is_the_same_model():
    path, rows = new_cache(), vcf(snvs(300, 305))
    _, _, looked_up = cached(path, rows)
    result = ok("vep", "-m", model(shards=2), "-f", reference(), *ARGS, "-v", "4", "--cache", path, rows)
    expect("cache: %d of %d " % (looked_up, looked_up) in result.err, "not all found", result)


@case
def runs_that_share_a_cache():
    path = new_cache()
    inputs = [vcf(snvs(begin, begin + 260)) for begin in (50, 150, 250, 50)]
    wanted = [vep(*ARGS, name).out for name in inputs]
    reference()
    for expected_hits in (False, True):
        running = [subprocess.Popen([CARBON, "vep", "-m", model(), "-f", reference(), *map(str, ARGS), "-@", "1", "-v", "4",
                                     "--cache", path, name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV)
                   for name in inputs]
        done = [process.communicate(timeout=120) + (process.returncode,) for process in running]
        for (out, err, rc), right in zip(done, wanted):
            expect(rc == 0, "rc %d: %s" % (rc, err.decode()))
            expect_equal(out, right, "output of a run beside others")
            if expected_hits:
                expect(b"cache: 2340 of 2340 " in err, err.decode())
    # Of runs that end in the same moment, none may be the last to close the file. The next run tidies up.
    cached(path, inputs[0])
    expect_equal(os.listdir(os.path.dirname(path)), ["cache"], "files of the cache after the runs")


@case
def a_killed_run_leaves_a_cache_that_works():
    path, rows = new_cache(), vcf(snvs(10, 590))
    running = subprocess.Popen([CARBON, "vep", "-m", model(), "-f", reference(), *map(str, ARGS), "--cache", path, rows],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=ENV)
    while running.stdout.read(20000) and not entries(path):
        pass
    running.send_signal(signal.SIGKILL)
    running.communicate()
    out, found, looked_up = cached(path, rows)
    expect_equal(out, vep(*ARGS, rows).out, "after a killed run")
    expect(0 < found <= looked_up, "%d of %d found" % (found, looked_up))


@case
def refused_files():
    directory = fresh()
    good = os.path.join(directory, "good")
    cached(good, vcf(snvs(300, 400)))
    whole = read(good)
    expect(len(whole) > 3 * 4096, "a small cache: %d bytes" % len(whole))
    damaged = whole[:8192] + bytes(b ^ 0xff for b in whole[8192:8400]) + whole[8400:]
    for content, words in ((b"", "not a score cache"), (read(MINI), "not a score cache"), (whole[:-4096], "damaged"),
                           (damaged, "damaged"), (whole[:63] + b"\x09" + whole[64:], "layout 9"),
                           (whole[:71] + b"\x00" + whole[72:], "not a score cache")):
        path = write(fresh(), "cache", content)
        out = os.path.join(fresh(), "out.vcf")
        result = carbon("vep", "-m", model(), "-f", reference(), *ARGS, "-o", out, "--cache", path, MINI)
        expect_failure(result, path, words, "--cache")
        expect_equal(read(path), content, "the refused file")
        expect_equal(os.listdir(os.path.dirname(path)), ["cache"], "files beside the refused file")
        expect_equal(os.listdir(os.path.dirname(out)), [], "output of a refused run")
    args = ("vep", "-m", model(), "-f", reference(), *ARGS, MINI, "--cache")
    expect_failure(carbon(*args, directory), "not a regular file")
    expect_failure(carbon(*args, "/dev/null"), "not a regular file")
    expect_failure(carbon(*args, os.path.join(directory, "no", "cache")), "No such file or directory")
    expect_failure(carbon(*args, ""), "--cache")
    expect_equal(os.listdir(directory), ["good"], "files left")


@case
def odd_names_are_file_names():
    directory = fresh()
    for name in (":memory:", "file:a?mode=memory", "with space"):
        for _ in range(2):
            result = vep(*ARGS, "-v", "4", "--cache", name, vcf(snvs(300, 302)), cwd=directory)
        expect("cache: 18 of 18 " in result.err, "not found the second time", result)
    expect_equal(sorted(os.listdir(directory)), [":memory:", "file:a?mode=memory", "with space"], "files")


@case
def a_read_only_cache():
    path = new_cache()
    cached(path, MINI)
    os.chmod(path, 0o444)
    if os.access(path, os.W_OK):  # for the super-user every file can be written
        return expect_equal(cached(path, MINI)[0], vep(*ARGS, MINI).out, "as super-user")
    expect_failure(carbon("vep", "-m", model(), "-f", reference(), *ARGS, "--cache", path, MINI), "read-only")


@case
def a_full_disk():
    """A limit on the size of files stands in for the disk."""
    path, rows = new_cache(), vcf(snvs(10, 590))
    vep(*ARGS, MINI)  # the index of the FASTA and the model's digest are there
    for limit in (2000, 100000):
        if limit == 100000:
            cached(path, MINI)

        def limited():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        done = subprocess.run([CARBON, "vep", "-m", model(), "-f", reference(), *map(str, ARGS), "--cache", path, rows],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV, preexec_fn=limited, timeout=60)
        err = done.stderr.decode()
        last = err.splitlines()[-1]
        expect(done.returncode == 1 and last.startswith("[E::score_cache] ") and path in last and "disk" in last,
               "rc %d: %s" % (done.returncode, err))
    out, found, looked_up = cached(path, rows)
    expect_equal(out, vep(*ARGS, rows).out, "after the full disk")


if __name__ == "__main__":
    main()
