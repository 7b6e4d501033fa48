"""What the tests of workflows share: records to annotate, a genome to scan, a carbon that is stopped once, and the versions of
Snakemake that are here. Not a test.

$CARBON_SNAKEMAKE names a second Snakemake, of another version than the one on PATH: the cases run under both.
"""

import os
import random
import shutil
import stat

from harness import CARBON, ENV, Skip, case, command, expect, expect_equal, fresh, genome, model, ok, to_fasta, tool, write
from vep_support import HEAD, OTHER

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WORKFLOWS = os.path.join(ROOT, "workflows")
RULES = os.path.join(WORKFLOWS, "snakemake")
# With a slow model and windows as long as a contig a run lasts long enough to be stopped on its way.
VEP = ("-w", "600", "--batch-tokens", "32", "--no-version")
SCAN = ("--context", "60", "--frames", "6", "--batch-tokens", "32", "--no-version")

# Stands in the place of carbon. The run that first makes the directory $ONCE gets a signal when it has written a part
# of its scores, as a scheduler that takes the machine away sends it; all others run through.
STOPPED_ONCE = """#!/bin/bash
[[ -n $ONCE && $1 =~ ^(vep|scan)$ ]] && mkdir "$ONCE" 2> /dev/null || exec %s "$@"
%s "$@" &
for word; do [[ $before == -o ]] && out=$word; before=$word; done
vep_has_scores() { (($(stat -c %%s "$out.partial" 2> /dev/null || echo 0) > 4000)); }
scan_has_scores() { grep -qs '"bytes":[1-9]' "$out.partial.state"; }
until ${1}_has_scores; do
  kill -0 $! || { echo "carbon ended before it could be stopped" >&2; exit 99; }
  sleep 0.01
done
kill -$SIGNAL $!
wait $!
"""


def checkpoint():
    """One that is slow for its size."""
    return model(layers=24)


def programs():
    """A directory for PATH with carbon in it."""
    directory = fresh()
    path = write(directory, "carbon", STOPPED_ONCE % (CARBON, CARBON))
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
    return directory


def environment(**more):
    return {"PATH": programs() + os.pathsep + ENV["PATH"], "CARBON_MODEL": checkpoint(), "ONCE": "", "SIGNAL": "", **more}


def study(directory, count=1200):
    """mini.fa's c1 and c2 and sorted records on them: SNVs, some of them with a deletion beside; cohort.bcf, indexed."""
    bases = genome()
    lines = []
    for contig, length in (("c1", 600), ("c2", 180)):
        for i in range(count * length // 780):
            pos = 1 + i * (length - 10) // (count * length // 780)
            ref = bases[contig][pos - 1:pos + 2].upper()
            if set(ref) <= set("ACGT"):
                lines.append((contig, pos, ref[0], OTHER[ref[0]]) if i % 5 else (contig, pos, ref, ref[0]))
    text = HEAD % "##contig=<ID=c1,length=600>\n##contig=<ID=c2,length=180>\n"
    path = write(directory, "cohort.vcf", text + "".join("%s\t%d\t.\t%s\t%s\t.\t.\t.\n" % line for line in lines))
    tool("bcftools", "view", "--no-version", "-Ob", "-o", os.path.join(directory, "cohort.bcf"), path)
    tool("bcftools", "index", os.path.join(directory, "cohort.bcf"))
    write(directory, "ref.fa", "".join(">%s\n%s\n" % (name, bases[name]) for name in ("c1", "c2")))
    return len(lines)


def genome_to_scan(directory, contigs=20, length=2000):
    """genome.fa, with a place at the end of each contig where a scan that was stopped can go on."""
    rng = random.Random(12)
    bases = [("c%d" % i, "".join(rng.choice("ACGT") for _ in range(length - i))) for i in range(contigs)]
    write(directory, "genome.fa", to_fasta(bases))


def one_scan(directory, *args, fasta="genome.fa"):
    """What one process writes, as bytes."""
    return ok("scan", "-q", "-m", checkpoint(), "-f", os.path.join(directory, fasta), *SCAN, *args).out


def one_run(directory, *args):
    """Header and records of one process's output, as text."""
    return ok("vep", "-m", checkpoint(), "-f", os.path.join(directory, "ref.fa"), *VEP, *args,
              os.path.join(directory, "cohort.bcf"), timeout=240).text


def printed(path):
    return tool("bcftools", "view", "--no-version", path).text


def expect_same_file(path, wanted, what):
    """All that bcftools prints of a file, header and records, except lines on versions."""
    def lines(text):
        return [line for line in text.splitlines() if not line.startswith(("##bcftools_", "##carbon_vepVersion", "##carbon_vepCommand"))]
    # A BCF has the IDX fields and the PASS line that bcftools adds to any header; both sides go through it.
    again = tool("bcftools", "view", "--no-version", "-", stdin=wanted.encode()).text
    expect_equal(lines(printed(path)), lines(again), what)


class Snakemake:
    """A version of Snakemake, and runs of it with two cores."""

    def __init__(self, program):
        self.program = program

    def version(self):
        return tool(self.program, "--version").text.strip()

    def __call__(self, directory, *args, env=None, rc=0):
        if shutil.which(self.program) is None:
            raise Skip(self.program + " is not installed")
        result = command([self.program, "--cores", "2", "--nocolor", *args], cwd=directory, env=env or environment(), timeout=240)
        expect(result.rc == rc, "expected rc %d" % rc, result)
        return result

    def annotate(self, directory, *settings, **options):
        """The workflow that annotates cohort.bcf in many jobs."""
        given = ("variants=cohort.bcf", "fasta=ref.fa", "output=out.bcf", "extra=" + " ".join(VEP), *settings)
        return self(directory, "-s", os.path.join(RULES, "Snakefile"), "--config", *given, **options)

    def scan(self, directory, outputs, *settings, **options):
        """The workflow that scans genome.fa in many jobs."""
        given = ("fasta=genome.fa", "outputs=" + outputs, "extra=" + " ".join(SCAN), *settings)
        return self(directory, "-s", os.path.join(RULES, "scan.Snakefile"), "--config", *given, **options)


def each_snakemake(function):
    """Registers a case for every Snakemake, which the function is given."""
    for program in filter(None, ("snakemake", os.environ.get("CARBON_SNAKEMAKE"))):
        name = function.__name__ + ("" if program == "snakemake" else "_by_another_snakemake")
        case(lambda program=program: function(Snakemake(program)), name=name)
    return function


def another_snakemake():
    """A case that shows whether there is a second one."""
    program = os.environ.get("CARBON_SNAKEMAKE")
    if not program:
        raise Skip("CARBON_SNAKEMAKE names no second version of Snakemake, such as one that pip has installed")
    versions = [Snakemake(name).version() for name in ("snakemake", program)]
    expect(versions[0] != versions[1], "CARBON_SNAKEMAKE is of the same version as the one on PATH: %s" % versions[0])
