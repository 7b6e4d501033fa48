"""The commands on a GPU: the same bytes for any batch and with the switches that promise so, and how far from the CPU.

    commands.py PROGRAMS [--small]

PROGRAMS is a folder with carbon, carbon-cuda.so and make_checkpoint. A model of random weights is made, with sequences and
variants for it. score, vep, scan, embed and generate run on the GPU, then again with small batches and with each switch of
the backend off that does not change a bit; what they write must be the same but for the header lines. What they say on the
CPU in f32 is compared by its largest difference, which is bf16's rounding: a number to look at, and no check.
Exit status 1 if two outputs differ or a command fails.
"""
import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
import time

SHAPE = {False: "--layers 4 --hidden 1024 --heads 16 --kv-heads 8 --head-dim 64 --intermediate 3072",
         True: "--layers 1 --hidden 64 --heads 2 --kv-heads 1 --head-dim 64 --intermediate 64"}
BASES = "ACGT"


def write_inputs(folder, small):
    """Sequences of several lengths, and a record for every 37th base of the third, as a VCF."""
    rng = random.Random(7)
    lengths = [30, 95] if small else [30, 601, 1800, 4000, 9000]
    sequences = ["".join(rng.choices(BASES, k=length)) for length in lengths]
    with open(os.path.join(folder, "in.fa"), "w") as fasta:
        for i, sequence in enumerate(sequences):
            fasta.write(">r%d\n%s\n" % (i, sequence))
    contig = len(sequences[:3]) - 1
    bases = sequences[contig]
    with open(os.path.join(folder, "in.vcf"), "w") as vcf:
        vcf.write("##fileformat=VCFv4.2\n##contig=<ID=r%d,length=%d>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n" %
                  (contig, len(bases)))
        for at in range(20, len(bases) - 20, 37):
            alternative = BASES[(BASES.index(bases[at]) + 1) % 4]
            vcf.write("r%d\t%d\t.\t%s\t%s\t.\t.\t.\n" % (contig, at + 1, bases[at], alternative))
    with open(os.path.join(folder, "prompts.fa"), "w") as prompts:
        for i, sequence in enumerate(sequences[:2]):
            prompts.write(">p%d\n%s\n" % (i, sequence[:600]))


def values(text):
    """An output without the lines that say how it was made."""
    return "\n".join(line for line in text.split("\n") if not line.startswith(("##", "# ")))


def numbers(text):
    return [float(word) for word in re.findall(r"-?\d+\.\d+(?:e-?\d+)?", text)]


class Commands:
    def __init__(self, programs, folder, small):
        self.carbon = os.path.join(programs, "carbon")
        self.model = os.path.join(folder, "model")
        self.failed = 0
        options = "--vocab 4224 --dna-start 0 --max-positions 4096 --dtype bf16 --tied 1 " + SHAPE[small]
        subprocess.run([os.path.join(programs, "make_checkpoint"), *options.split(), self.model], check=True)

    def run(self, arguments, more=(), environment=()):
        """What the command writes, or None."""
        start = time.perf_counter()
        done = subprocess.run([self.carbon, *arguments, "-m", self.model, *more], env=dict(os.environ, **dict(environment)),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.seconds = time.perf_counter() - start
        if done.returncode == 0:
            return values(done.stdout)
        print("%s %s: exit status %d: %s" % (" ".join(arguments), " ".join(more), done.returncode, done.stderr[-600:].strip()))
        self.failed += 1
        return None

    def compare(self, arguments, small):
        cuda = ("--device", "cuda")
        want = self.run(arguments, cuda)
        if want is None:
            return
        seconds = self.seconds
        ways = [(("--batch-tokens", tokens), ()) for tokens in (("16",) if small else ("64", "700"))]
        ways += [((), ((switch, "0"),)) for switch in ("CARBON_CUDA_OVERLAP", "CARBON_CUDA_GRAPHS")]
        same = 0
        for more, environment in ways:
            got = self.run(arguments, (*cuda, *more), environment)
            if got == want:
                same += 1
            elif got is not None:
                print("%s: other bytes with %s" % (arguments[0], " ".join([*more, *("%s=%s" % e for e in environment)])))
                self.failed += 1
        line = "%s: %d of %d the same, %.1f s" % (arguments[0], same, len(ways), seconds)
        if arguments[0] != "generate":  # a sample follows its own way after the first draw that rounding changes
            cpu = self.run(arguments, ("--device", "cpu", "--dtype", "f32"))
            pairs = list(zip(numbers(want), numbers(cpu or "")))
            if pairs:
                line += "; %d numbers, at most %.3g from the CPU's, which are up to %.3g" % (
                    len(pairs), max(abs(a - b) for a, b in pairs), max(abs(b) for _, b in pairs))
        print(line, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", metavar="PROGRAMS")
    parser.add_argument("--small", action="store_true", help="in the sizes of emulation")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        write_inputs(folder, options.small)
        commands = Commands(options.programs, folder, options.small)
        fasta, vcf = os.path.join(folder, "in.fa"), os.path.join(folder, "in.vcf")
        prompts = os.path.join(folder, "prompts.fa")
        length = "18" if options.small else "600"
        for arguments in (["score", "-O", "tsv", fasta], ["vep", "-f", fasta, vcf], ["vep", "-f", fasta, "--recipe", "anchored", vcf],
                          ["embed", "-O", "tsv", fasta], ["scan", "-f", fasta],
                          ["generate", "-l", length, "-n", "3", "--seed", "5", prompts]):
            commands.compare(arguments, options.small)
    return 1 if commands.failed else 0


if __name__ == "__main__":
    sys.exit(main())
