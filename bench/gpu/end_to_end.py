"""Whole commands on a GPU: what they do in a second, and how busy the GPU is meanwhile.

    end_to_end.py PROGRAMS [--model 500M|3B|8B|tiny]...

PROGRAMS is a folder with carbon, carbon-cuda.so and make_checkpoint. For each model, by default 500M and 3B, random weights
are made, and scan runs on random bases, with the first model also score and vep, each for about five seconds of work. From
the time of a run that of a run over a few bases is taken away, in which the model is loaded. Busy is the share of time in
which a kernel ran, as nvidia-smi samples it from the first work to the last; CPU are seconds of the host in one of the run.
With two models or more, the second one then generates without and with proposals of the first one. The proposals of
random weights are hardly ever accepted: what is measured is the time of a step of each.
Prints Markdown. Exit status 1 if a command fails.
"""
import argparse
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time

from shapes import SHAPES, checkpoint_options

# How many bases, or SNVs, a command gets with the 500M, and by what that is divided for other models.
WORK = {"scan -O t": 2000000, "score -O tsv": 8000000, "score -O tsv, .gz": 4000000, "vep anchored, horizon 96": 20000}
DIVISORS = {"500M": 1, "3B": 5, "8B": 10, "tiny": 20000}
CONTEXT = 4200  # bases before the first SNV


class Busy:
    """Samples of nvidia-smi while a command runs."""

    def __enter__(self):
        query = ["nvidia-smi", "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits", "-lms", "100", "--id=0"]
        try:
            self.sampler = subprocess.Popen(query, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        except OSError:
            self.sampler = None
        self.share = None
        return self

    def __exit__(self, *_):
        if self.sampler is None:
            return
        self.sampler.terminate()
        samples = [int(line) for line in self.sampler.communicate()[0].split() if line.isdigit()]
        busy = [i for i, sample in enumerate(samples) if sample > 0]
        if busy:
            during = samples[busy[0]:busy[-1] + 1]
            self.share = sum(during) / len(during) / 100


class Commands:
    def __init__(self, programs, folder):
        self.programs, self.folder, self.failed = programs, folder, 0

    def model(self, name):
        path = os.path.join(self.folder, name)
        subprocess.run([os.path.join(self.programs, "make_checkpoint"), *checkpoint_options(SHAPES[name]), path], check=True)
        return path

    def run(self, *words):
        """Seconds, the share of them in which the GPU was busy, seconds of the CPU, and what was said; None if it failed."""
        used = lambda: sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
        with Busy() as busy:
            before, start = used(), time.perf_counter()
            done = subprocess.run([os.path.join(self.programs, "carbon"), *words, "--device", "cuda"], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True)
            seconds, cpu = time.perf_counter() - start, used() - before
        if done.returncode == 0:
            return seconds, busy.share, cpu, done.stderr
        print("%s: exit status %d: %s" % (" ".join(words), done.returncode, done.stderr[-600:].strip()), flush=True)
        self.failed += 1
        return None

    def write(self, bases):
        """A FASTA of random bases, and a VCF of an SNV at each base after the context."""
        fasta, vcf = os.path.join(self.folder, "in.fa"), os.path.join(self.folder, "in.vcf")
        sequence = "".join(random.Random(bases).choices("ACGT", k=bases))
        with open(fasta, "w") as file:
            file.write(">r\n%s\n" % sequence)
        with open(vcf, "w") as file:
            file.write("##fileformat=VCFv4.2\n##contig=<ID=r,length=%d>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n" % bases)
            file.writelines("r\t%d\t.\t%s\t%s\t.\t.\t.\n" % (at + 1, sequence[at], "ACGT"["ACGT".index(sequence[at]) - 1])
                            for at in range(CONTEXT, bases))
        if os.path.exists(fasta + ".fai"):
            os.remove(fasta + ".fai")
        return fasta, vcf

    def words(self, name, fasta, vcf):
        output = ["-o", os.path.join(self.folder, "out.gz" if ".gz" in name else "out")]
        if name.startswith("scan"):
            return ["scan", "-f", fasta, "-O", "t", *output]
        if name.startswith("score"):
            return ["score", "-O", "tsv", *output, fasta]
        return ["vep", "-f", fasta, "--recipe", "anchored", "--horizon", "96", *output, vcf]

    def measure(self, shape, path, names):
        fasta, vcf = self.write(96)
        start = self.run(*self.words("score", fasta, vcf), "-m", path)
        if start is None:
            return
        for name in names:
            snvs = name.startswith("vep")
            count = max(2 if snvs else 96, WORK[name] // DIVISORS[shape])
            fasta, vcf = self.write(CONTEXT + count if snvs else count)
            result = self.run(*self.words(name, fasta, vcf), "-m", path)
            if result is None:
                continue
            seconds, busy, cpu, _ = result
            print("| %s | %s | %d | %.2f | %.2f | %.4g | %s | %.2f |" % (
                shape, name, count, seconds, start[0], count / max(seconds - start[0], 1e-9),
                "" if busy is None else "%.2f" % busy, cpu / seconds), flush=True)

    def generate(self, draft, target):
        """Seconds of steps of both models."""
        length = "24" if draft[0] == target[0] == "tiny" else "6000"
        print("\n| model | draft | bases | s | ms per draft step | ms per round of the target |\n|---|---|---|---|---|---|")
        for with_draft in (False, True):
            more = ["--draft", draft[1], "--draft-tokens", "4"] if with_draft else []
            result = self.run("generate", "-m", target[1], "--unconditional", "-l", length, "--seed", "1", *more)
            if result is None:
                continue
            steps = re.search(r"([\d.]+) ms per draft step, ([\d.]+) ms per round", result[3])
            print("| %s | %s | %s | %.2f | %s | %s |" % (target[0], draft[0] if with_draft else "", length, result[0],
                                                         *(steps.groups() if steps else ("", ""))), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", metavar="PROGRAMS")
    parser.add_argument("--model", action="append", choices=sorted(DIVISORS))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        commands = Commands(options.programs, folder)
        print("| model | command | bases or SNVs | s | of them start | per s | GPU busy | CPU |\n|---|---|---|---|---|---|---|---|",
              flush=True)
        models = []
        for shape in options.model or ["500M", "3B"]:
            models.append((shape, commands.model(shape)))
            commands.measure(*models[-1], list(WORK)[:len(WORK) if len(models) == 1 else 1])
        if len(models) > 1:
            commands.generate(*models[:2])
    return 1 if commands.failed else 0


if __name__ == "__main__":
    sys.exit(main())
