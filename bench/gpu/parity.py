"""How far bf16 and f16 on the GPU are from the CPU backend in f32, beside transformers in bf16 on the same GPU.

    parity.py PROGRAM MAKE_CHECKPOINT [--device cuda:0|cpu] [--shape NAME:LAYERS]...

PROGRAM is bench_gpu, MAKE_CHECKPOINT build/make_checkpoint. For each shape, by default the published ones with four
layers and 500M with all, random weights and random 6-mers. Compared are natural logs of the marginals P_j(b), 24 a
token: root mean square and largest difference from the CPU's f32. Those of transformers come from its bf16 logits
by a softmax in float64; without PyTorch, or where that finds no GPU, these are left out. Exit status 1 if carbon's
error in bf16 is more than twice that of transformers, or in f16 above that in bf16.
"""
import argparse
import array
import os
import subprocess
import sys
import tempfile

from shapes import KMER0, KMERS, SHAPES, checkpoint_options, why_not

MOST = 2.0
DEFAULT = ["500M:4", "3B:4", "8B:4", "500M:28"]


def read_array(path, kind):
    values = array.array(kind)
    with open(path, "rb") as file:
        values.frombytes(file.read())
    return values


def log_marginals(logits):
    """[tokens, 6, 4] of logits [tokens, 4096], as a list."""
    import torch
    logp = torch.log_softmax(logits.double(), dim=-1)
    kmers = torch.arange(KMERS, device=logits.device)
    columns = []
    for base in range(6):
        letters = kmers // 4 ** (5 - base) % 4
        columns.append(torch.stack([torch.logsumexp(logp[:, letters == letter], dim=-1) for letter in range(4)], dim=-1))
    return torch.stack(columns, dim=1).flatten().tolist()


def by_transformers(path, tokens, device, dtype):
    import torch
    import transformers
    model = transformers.AutoModelForCausalLM.from_pretrained(path, dtype=dtype).to(device).eval()
    with torch.inference_mode():
        ids = torch.tensor(list(tokens), device=device)[None]
        return log_marginals(model(input_ids=ids, use_cache=False).logits[0, :, KMER0:KMER0 + KMERS])


def compare(name, layers, peers, options):
    """Prints the shape's lines; whether carbon's errors are small enough."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        subprocess.run([options.make_checkpoint, *checkpoint_options(dict(SHAPES[name], layers=layers)), path], check=True)
        number = options.device.split(":")[1] if ":" in options.device else "0"
        subprocess.run([options.program, "--marginals", path, "--output", folder, "--device", number], check=True)
        tokens = read_array(os.path.join(folder, "tokens"), "I")
        read = lambda way: read_array(os.path.join(folder, way), "d")
        reference = read("cpu_f32")
        ways = {}
        if peers:
            import torch
            ways["transformers, bf16"] = by_transformers(path, tokens, options.device, torch.bfloat16)
        ways.update({"carbon, bf16, library": read("gpu_library"), "carbon, bf16, own kernels": read("gpu_own"),
                     "carbon, f16": read("gpu_f16")})
        if peers:
            ways["transformers, f32, CPU"] = by_transformers(path, tokens, "cpu", torch.float32)
    errors = {way: [value - want for value, want in zip(values, reference)] for way, values in ways.items()}
    rms = {way: (sum(e * e for e in error) / len(error)) ** 0.5 for way, error in errors.items()}
    most = {"carbon, f16": rms["carbon, bf16, own kernels"]}
    if peers:
        most.update({way: MOST * rms["transformers, bf16"] for way in ways if way.startswith("carbon, bf16")})
    good = True
    for way, error in errors.items():
        ratio = "%.3g" % (rms[way] / rms["transformers, bf16"]) if peers else ""
        within = rms[way] <= most.get(way, float("inf"))  # false for NaN, too
        good = good and within
        print("| %s, %d layers | %s | %.3g | %.3g | %s | %s |" % (
            name, layers, way, rms[way], max(map(abs, error)), ratio, "" if within else "ABOVE %.3g" % most[way]), flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("make_checkpoint")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--shape", action="append", metavar="NAME:LAYERS")
    options = parser.parse_args()
    reason = why_not(options.device)
    if reason is not None:
        print("parity with transformers: SKIPPED: " + reason)
    print("| model | way | rms error, nats | largest | rms / transformers bf16 | |\n|---|---|---|---|---|---|")
    good = True
    for shape in options.shape or DEFAULT:
        name, layers = shape.split(":")
        good = compare(name, int(layers), reason is None, options) and good
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
