"""The program for AArch64 beside that of this machine, on the bundled model in f32: `compare.py NATIVE EMULATED`.

With CARBON_FORCE_ISA=generic the arithmetic is the same, operation by operation, so outputs are compared byte by byte. Other
instruction sets add in another order. Their results differ by rounding; check_parity.py allows each of the two 2e-4 nats a base
and 2e-3 a window from double precision, so between them twice that is allowed. Largest differences are printed, beside those
between this machine's own instruction sets, which say what rounding makes of the same values.
"""
import os
import subprocess
import sys
import tempfile

LIMITS = {"score": 4e-4, "vep": 4e-3, "generate": 4e-3}
NATIVE, EMULATED = sys.argv[1:]
good = True


def random_bases(n, seed):
    """Letters of a linear congruential generator, so that inputs are the same everywhere."""
    state, letters = seed, []
    for _ in range(n):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        letters.append("ACGT"[state >> 62])
    return "".join(letters)


def inputs(folder):
    contig = random_bases(1200, 1)
    fasta, vcf, prompts = (os.path.join(folder, name) for name in ("ref.fa", "variants.vcf", "prompts.fa"))
    with open(fasta, "w") as out:
        out.write(f">c\n{contig}\n")
    with open(vcf, "w") as out:
        out.write("##fileformat=VCFv4.3\n##contig=<ID=c,length=1200>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n")
        for pos in range(200, 1000, 200):
            ref = contig[pos - 1]
            alt = "ACGT"[("ACGT".index(ref) + 1 + pos // 200 % 3) % 4]
            out.write(f"c\t{pos}\t.\t{ref}\t{alt}\t.\t.\t.\n")
        out.write(f"c\t1000\t.\t{contig[999:1002]}\t{contig[999]}\t.\t.\t.\n")
        out.write(f"c\t1100\t.\t{contig[1099]}\t{contig[1099]}GATTA\t.\t.\t.\n")
    with open(prompts, "w") as out:
        for i in range(2):
            out.write(f">p{i}\n{random_bases(60 + 7 * i, 10 + i)}\n")
    return {"score": ["score", "-q", "--no-version", "--dtype", "f32", "--level", "bp", "-O", "bedgraph", fasta],
            "vep": ["vep", "-q", "--no-version", "--dtype", "f32", "-w", "120", "--recipe", "centered,next-token", "-f", fasta, vcf],
            "generate": ["generate", "-q", "--dtype", "f32", "-l", "60", "--seed", "5", prompts]}


def run(program, isa, arguments):
    env = dict(os.environ)
    env.pop("CARBON_FORCE_ISA", None)
    if isa:
        env["CARBON_FORCE_ISA"] = isa
    return subprocess.run([program, *arguments], check=True, stdout=subprocess.PIPE, env=env).stdout.decode()


def has(program, isa):
    return subprocess.run([program, "--version"], env={**os.environ, "CARBON_FORCE_ISA": isa}, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 0


def parts(text):
    """(what must be equal, numbers): every field of the output that has a decimal point or an exponent is a number."""
    same, numbers = [], []
    for line in text.splitlines():
        if line.startswith("##"):
            continue
        for field in line.replace(";", "\t").replace(" ", "\t").split("\t"):
            name, _, values = field.rpartition("=")
            for value in values.split(","):
                try:
                    number = float(value)
                    whole = "." not in value and "e" not in value and not name
                except ValueError:
                    whole = True
                if whole:
                    same.append((name, value))
                else:
                    same.append((name, "number"))
                    numbers.append(number)
    return same, numbers


def difference(one, other):
    """The largest difference of two outputs' numbers, which are otherwise alike; None if they are not."""
    (same1, numbers1), (same2, numbers2) = parts(one), parts(other)
    if same1 != same2 or not numbers1:
        return None
    return max(abs(a - b) for a, b in zip(numbers1, numbers2))


def report(name, passes, text):
    global good
    good &= passes
    print(f"    {name}: {'' if passes else 'FAILED '}{text}")


def main():
    own = [isa for isa in ("generic", "avx2", "avx512") if has(NATIVE, isa)]
    others = [isa for isa in ("neon", "neon_dotprod", "neon_bf16") if has(EMULATED, isa)]
    with tempfile.TemporaryDirectory() as folder:
        for name, arguments in inputs(folder).items():
            outputs = {isa: run(NATIVE, isa, arguments) for isa in own}
            newest = outputs[own[-1]]
            generic = run(EMULATED, "generic", arguments)
            bodies = [[line for line in text.splitlines() if not line.startswith("##")] for text in (outputs["generic"], generic)]
            report(f"{name}, generic", bodies[0] == bodies[1], f"{len(bodies[0])} lines, byte by byte as on this machine")
            spread = max(difference(a, newest) for a in outputs.values())
            for isa in others:
                worst = difference(run(EMULATED, isa, arguments), newest)
                passes = worst is not None and worst <= LIMITS[name]
                text = "other letters or fields" if worst is None else (
                    f"{len(parts(newest)[1])} numbers, largest difference from {own[-1]} {worst:.1e} (limit {LIMITS[name]:.0e}; "
                    f"between this machine's {', '.join(own)}: {spread:.1e})")
                report(f"{name}, {isa}", passes, text)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
