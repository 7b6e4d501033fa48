"""What the tests of workflows share: records to annotate, a genome to scan, and a carbon that is stopped once. Not a test."""

import os
import random
import stat

from harness import CARBON, ENV, expect_equal, fresh, genome, model, ok, to_fasta, tool, write
from vep_support import HEAD, OTHER

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WORKFLOWS = os.path.join(ROOT, "workflows")
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


def one_scan(directory, *args):
    """What one process writes, as bytes."""
    return ok("scan", "-q", "-m", checkpoint(), "-f", os.path.join(directory, "genome.fa"), *SCAN, *args).out


def one_run(directory, *args):
    """Header and records of one process's output, as text."""
    return ok("vep", "-m", checkpoint(), "-f", os.path.join(directory, "ref.fa"), *VEP, *args,
              os.path.join(directory, "cohort.bcf")).text


def printed(path):
    return tool("bcftools", "view", "--no-version", path).text


def expect_same_file(path, wanted, what):
    """All that bcftools prints of a file, header and records, except lines on versions."""
    def lines(text):
        return [line for line in text.splitlines() if not line.startswith(("##bcftools_", "##carbon_vepVersion", "##carbon_vepCommand"))]
    # A BCF has the IDX fields and the PASS line that bcftools adds to any header; both sides go through it.
    again = tool("bcftools", "view", "--no-version", "-", stdin=wanted.encode()).text
    expect_equal(lines(printed(path)), lines(again), what)
