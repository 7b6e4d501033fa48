"""Whole commands on a GPU: what they do in a second, and how busy the GPU is meanwhile.

    end_to_end.py PROGRAMS [--model 500M|3B|8B|tiny]...

PROGRAMS is a folder with carbon, carbon-cuda.so and make_checkpoint. For each model, by default 500M and 3B, random weights
are made, and scan runs on random bases, with the first model also score and vep, each for about five seconds of work; score
has records of a window each. From the times of a run those of a run over a few bases are taken away, in which the model is
loaded. Of the rest busy is the share in which a kernel ran, as nvidia-smi samples it from when the model is loaded to the
end, and CPU are seconds of the host in one.
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
RECORD = 8190  # bases of a record of score
# What is still in a buffer when the sampler is ended would be lost.
SAMPLER = ["stdbuf", "-oL", "nvidia-smi", "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits", "-lms", "100", "--id=0"]


class Commands:
    def __init__(self, programs, folder):
        self.programs, self.folder, self.failed = programs, folder, 0

    def model(self, name):
        path = os.path.join(self.folder, name)
        subprocess.run([os.path.join(self.programs, "make_checkpoint"), *checkpoint_options(SHAPES[name]), path], check=True)
        return path

    def run(self, *words):
        """Seconds, seconds of the CPU, the share in which the GPU was busy with a loaded model, and what was said; None if it failed."""
        used = lambda: sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
        before, start, said, sampler = used(), time.perf_counter(), "", None
        carbon = subprocess.Popen([os.path.join(self.programs, "carbon"), *words, "--device", "cuda", "-v", "4"],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for line in carbon.stderr:
            said += line
            if sampler is None and line.startswith("[I::engine] model "):
                sampler = subprocess.Popen(SAMPLER, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        code = carbon.wait()
        seconds, cpu, samples = time.perf_counter() - start, used() - before, []
        if sampler is not None:
            sampler.terminate()
            samples = [int(line) / 100 for line in sampler.communicate()[0].split() if line.isdigit()]
        if code == 0:
            return seconds, cpu, sum(samples) / len(samples) if samples else None, said
        print("%s: exit status %d: %s" % (" ".join(words), code, said[-600:].strip()), flush=True)
        self.failed += 1
        return None

    def write(self, bases, length, snvs=0):
        """A FASTA of random bases in records of a length, and a VCF of an SNV at each of the last ones."""
        fasta, vcf = os.path.join(self.folder, "in.fa"), os.path.join(self.folder, "in.vcf")
        sequence = random.Random(bases).randbytes(bases).translate(b"ACGT" * 64).decode()
        with open(fasta, "w") as file:
            file.writelines(">r%d\n%s\n" % (at // length, sequence[at:at + length]) for at in range(0, bases, length))
        with open(vcf, "w") as file:
            file.write("##fileformat=VCFv4.2\n##contig=<ID=r0,length=%d>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n" % bases)
            file.writelines("r0\t%d\t.\t%s\t%s\t.\t.\t.\n" % (at + 1, sequence[at], "ACGT"["ACGT".index(sequence[at]) - 1])
                            for at in range(bases - snvs, bases))
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
        fasta, vcf = self.write(96, 96)
        start = self.run(*self.words("score", fasta, vcf), "-m", path)
        if start is None:
            return
        for name in names:
            variants = name.startswith("vep")
            count = max(2 if variants else 96, WORK[name] // DIVISORS[shape])
            bases = CONTEXT + count if variants else count
            fasta, vcf = self.write(bases, RECORD if name.startswith("score") else bases, count if variants else 0)
            result = self.run(*self.words(name, fasta, vcf), "-m", path)
            if result is None:
                continue
            seconds, cpu, busy, _ = result
            work = max(seconds - start[0], 1e-9)
            print("| %s | %s | %d | %.2f | %.2f | %.4g | %s | %.2f |" % (
                shape, name, count, seconds, start[0], count / work, "" if busy is None else "%.2f" % busy,
                (cpu - start[1]) / work), flush=True)

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
