"""How far bf16 on the GPU is from the CPU backend in f32, beside transformers in bf16 on the same GPU.

    parity.py PROGRAM MAKE_CHECKPOINT [--device cuda:0|cpu] [--shape NAME:LAYERS]...

PROGRAM is bench_gpu, MAKE_CHECKPOINT build/make_checkpoint. For each shape, by default the published ones with four
layers and 500M with all, random weights and random 6-mers. Compared are natural logs of the marginals P_j(b), 24 a
token: root mean square and largest difference from the CPU's f32. Those of transformers come from its bf16 logits
by a softmax in float64. Exit status 1 if carbon's error is more than twice that of transformers; 77 without PyTorch
or a GPU.
"""
import argparse
import os
import subprocess
import sys
import tempfile

from shapes import KMER0, KMERS, SHAPES, checkpoint_options, why_not

MOST = 2.0
DEFAULT = ["500M:4", "3B:4", "8B:4", "500M:28"]


def log_marginals(logits):
    """[tokens, 6, 4] of logits [tokens, 4096]."""
    import torch
    logp = torch.log_softmax(logits.double(), dim=-1)
    kmers = torch.arange(KMERS, device=logits.device)
    columns = []
    for base in range(6):
        letters = kmers // 4 ** (5 - base) % 4
        columns.append(torch.stack([torch.logsumexp(logp[:, letters == letter], dim=-1) for letter in range(4)], dim=-1))
    return torch.stack(columns, dim=1).cpu().numpy()


def by_transformers(path, tokens, device, dtype):
    import torch
    import transformers
    model = transformers.AutoModelForCausalLM.from_pretrained(path, dtype=dtype).to(device).eval()
    with torch.inference_mode():
        ids = torch.tensor(tokens.astype("int64"), device=device)[None]
        return log_marginals(model(input_ids=ids, use_cache=False).logits[0, :, KMER0:KMER0 + KMERS])


def compare(name, layers, options):
    """Prints the shape's lines; whether carbon's errors are small enough."""
    import numpy
    import torch
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        subprocess.run([options.make_checkpoint, *checkpoint_options(dict(SHAPES[name], layers=layers)), path], check=True)
        number = options.device.split(":")[1] if ":" in options.device else "0"
        subprocess.run([options.program, "--marginals", path, "--output", folder, "--device", number], check=True)
        tokens = numpy.fromfile(os.path.join(folder, "tokens"), dtype="<u4")
        read = lambda way: numpy.fromfile(os.path.join(folder, way), dtype="<f8").reshape(len(tokens), 6, 4)
        reference = read("cpu_f32")
        ways = {"transformers, bf16": by_transformers(path, tokens, options.device, torch.bfloat16),
                "carbon, bf16, library": read("gpu_library"), "carbon, bf16, own kernels": read("gpu_own"),
                "transformers, f32, CPU": by_transformers(path, tokens, "cpu", torch.float32)}
    error = {way: values - reference for way, values in ways.items()}
    rms = {way: float(numpy.sqrt((e ** 2).mean())) for way, e in error.items()}
    peer = rms["transformers, bf16"]
    good = True
    for way, e in error.items():
        ratio = rms[way] / peer
        carbon = way.startswith("carbon")
        verdict = ("within" if ratio <= MOST else "ABOVE") + " %g" % MOST if carbon else ""
        good = good and (not carbon or ratio <= MOST)
        print("| %s, %d layers | %s | %.3g | %.3g | %.3g | %s |" % (name, layers, way, rms[way], abs(e).max(), ratio, verdict),
              flush=True)
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
        sys.exit(77)
    print("| model | way | rms error, nats | largest | rms / transformers bf16 | |\n|---|---|---|---|---|---|")
    good = True
    for shape in options.shape or DEFAULT:
        name, layers = shape.split(":")
        good = compare(name, int(layers), options) and good
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
