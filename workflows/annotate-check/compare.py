"""python3 compare.py MODEL SEQUENCES.fa: probabilities of one window by Python code and by carbon annotate, and what differs.

MODEL is a folder with the released files of an annotator (config.json, model.safetensors or its shards, and for --code published the
Python files). The first sequence is read up to the length of a window. To be run once for a model that carbon has not met: carbon was
written without the released files. Prints the settings of config.json, whether carbon opens the model, and how far probabilities lie
apart; the exit status is 1 if a probability differs by more than --most.

--code published runs the makers' code (trust_remote_code: read it before). --code restated, the default, runs the Llama layers of
transformers without a mask, with the heads as docs/model.md, "Annotators", has them. Needs torch, transformers and safetensors.
"""

import argparse
import glob
import json
import os
import subprocess
import sys
import time

import torch
from safetensors import safe_open

K, CLASSES = 6, 2
LETTERS = {"A": 0, "T": 1, "C": 2, "G": 3}
FIRST_KMER, OOV = 32, 0
# What carbon reads of config.json; another key may mean something that it does not know.
KNOWN = {"architectures", "attention_bias", "attention_dropout", "bos_token_id", "dtype", "eos_token_id", "feature_layer", "head_dim",
         "hidden_act", "hidden_size", "id2label", "initializer_range", "intermediate_size", "k", "label2id", "label_weights",
         "mask_token_id", "max_position_embeddings", "mlp_bias", "model_type", "num_attention_heads", "num_hidden_layers",
         "num_key_value_heads", "num_prediction_heads", "pad_token_id", "pretraining_tp", "rms_norm_eps", "rope_parameters",
         "rope_scaling", "rope_theta", "tie_word_embeddings", "torch_dtype", "transformers_version", "use_cache",
         "use_mlp_classifier", "vocab_size", "auto_map", "_name_or_path", "_attn_implementation_autoset"}


def first_sequence(path):
    bases = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith(">"):
                if bases:
                    break
                continue
            bases.append(line.strip())
    return "".join(bases).upper().replace("U", "T")


def token_ids(bases):
    ids = []
    for begin in range(0, len(bases), K):
        kmer = bases[begin:begin + K]
        known = all(base in LETTERS for base in kmer)
        ids.append(FIRST_KMER + sum(LETTERS[base] * 4 ** (K - 1 - j) for j, base in enumerate(kmer)) if known else OOV)
    return ids


def tensors_of(model):
    found = {}
    for path in sorted(glob.glob(os.path.join(model, "*.safetensors"))):
        with safe_open(path, "pt") as file:
            for name in file.keys():
                found[name] = file.get_tensor(name)
    return found


def theta_of(config):
    return config.get("rope_theta") or (config.get("rope_parameters") or config.get("rope_scaling"))["rope_theta"]


class Restated(torch.nn.Module):
    """Llama layers without a mask, and the heads."""

    def __init__(self, config, tensors, dtype):
        from transformers import LlamaConfig, LlamaModel
        super().__init__()
        llama = LlamaConfig(
            vocab_size=config["vocab_size"], hidden_size=config["hidden_size"], intermediate_size=config["intermediate_size"],
            num_hidden_layers=config["num_hidden_layers"], num_attention_heads=config["num_attention_heads"],
            num_key_value_heads=config.get("num_key_value_heads", config["num_attention_heads"]),
            max_position_embeddings=config["max_position_embeddings"], rms_norm_eps=config["rms_norm_eps"],
            rope_theta=theta_of(config), attn_implementation="sdpa")
        if getattr(llama, "rope_parameters", None) is not None:
            llama.rope_parameters = {"rope_type": "default", "rope_theta": theta_of(config)}
        self.model = LlamaModel(llama)
        self.config = config
        state = {name[len("model."):]: value for name, value in tensors.items() if name.startswith("model.")}
        missing, unexpected = self.model.load_state_dict(state, strict=False)
        missing = [name for name in missing if not name.endswith("inv_freq")]
        unexpected = [name for name in unexpected if not name.endswith("inv_freq")]
        if missing or unexpected:
            sys.exit("tensors of the layers: %r are missing, %r are not known" % (missing, unexpected))
        self.model.to(dtype)
        self.heads = {name: value.to(dtype) for name, value in tensors.items() if name.startswith("score.")}
        half = config["hidden_size"] // config["num_attention_heads"] // 2
        self.frequencies = theta_of(config) ** (-torch.arange(half, dtype=torch.float64) / half)
        for layer in self.model.layers:
            layer.self_attn.is_causal = False

    @torch.no_grad()
    def forward(self, ids):
        """[2 strands, bases, 2 classes] as float64."""
        x = self.model.embed_tokens(ids[None])
        # Angles in double, as carbon has them: those in f32 lose digits in long windows.
        angles = torch.arange(ids.shape[0], dtype=torch.float64)[:, None] * self.frequencies
        angles = torch.cat([angles, angles], dim=-1)[None]
        rotary = (angles.cos().to(x.dtype), angles.sin().to(x.dtype))
        for layer in self.model.layers:
            x = layer(x, attention_mask=None, position_embeddings=rotary, position_ids=torch.arange(ids.shape[0])[None])
            x = x[0] if isinstance(x, tuple) else x
        x = self.model.norm(x)[0]
        logits = []
        for strand in "01":
            y, last = x, "score.%s.weight" % strand
            if self.config.get("use_mlp_classifier"):
                y = torch.nn.functional.linear(y, self.heads["score.%s.0.weight" % strand], self.heads["score.%s.0.bias" % strand])
                y, last = torch.nn.functional.gelu(y), "score.%s.3.weight" % strand
            logits.append(torch.nn.functional.linear(y, self.heads[last]).double().reshape(-1, CLASSES))
        return torch.stack(logits)


def published(model, dtype):
    """The makers' model as a function of ids; the two heads are read by hooks, because what it returns is packed."""
    from transformers import AutoModelForTokenClassification
    loaded = AutoModelForTokenClassification.from_pretrained(model, trust_remote_code=True, torch_dtype=dtype).eval()
    taken = {}
    for strand, head in enumerate(loaded.score):
        head.register_forward_hook(lambda _, __, out, strand=strand: taken.__setitem__(strand, out.detach()))

    @torch.no_grad()
    def run(ids):
        loaded(input_ids=ids[None], attention_mask=torch.ones_like(ids[None]))
        return torch.stack([taken[strand].double().reshape(-1, CLASSES) for strand in (0, 1)])
    return run


def by_carbon(args, bases, window):
    """[2 strands, bases] of P as carbon annotate prints them, and the seconds."""
    begin = time.monotonic()
    done = subprocess.run([args.carbon, "annotate", "-m", args.model, "--dtype", args.dtype, "-O", "tsv", "--no-version", "--window",
                           str(window), "--overlap", "0", "-"], input=(">window\n%s\n" % bases).encode(), stdout=subprocess.PIPE, check=False)
    if done.returncode:
        sys.exit("carbon annotate has failed")
    rows = [line.split("\t") for line in done.stdout.decode().splitlines() if not line.startswith("#")]
    values = torch.tensor([[float(row[3]) for row in rows], [float(row[4]) for row in rows]], dtype=torch.float64)
    return values, time.monotonic() - begin


def logit(p):
    p = p.clamp(1e-12, 1 - 1e-12)
    return torch.log(p / (1 - p))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("sequences")
    parser.add_argument("--code", choices=["restated", "published"], default="restated")
    parser.add_argument("--dtype", choices=["f32", "bf16"], default="f32")
    parser.add_argument("--window", type=int, default=98304, help="bases, a multiple of 6")
    parser.add_argument("--carbon", default="carbon", help="the program")
    parser.add_argument("--most", type=float, help="the largest difference of a probability (default: 1e-4; bf16: 0.1, or with --code "
                        "restated twice the error that Python's bf16 has against f32, also of the mean)")
    args = parser.parse_args()
    with open(os.path.join(args.model, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    print("config.json:\n%s" % json.dumps(config, indent=1))
    for key in sorted(set(config) - KNOWN):
        print("not known to carbon: %s = %r" % (key, config[key]))
    window = min(args.window, K * config["max_position_embeddings"])
    bases = first_sequence(args.sequences)[:window]
    bases = bases[:len(bases) // K * K]
    if not bases:
        sys.exit("%s: the first sequence is shorter than a token" % args.sequences)
    ids = torch.tensor(token_ids(bases))
    if args.code == "published":
        from transformers import AutoTokenizer
        theirs = AutoTokenizer.from_pretrained(args.model, trust_remote_code=True)(bases, add_special_tokens=False)["input_ids"]
        print("token ids: %s" % ("equal" if theirs == ids.tolist() else "THEY DIFFER"))
    dtype = torch.float32 if args.dtype == "f32" else torch.bfloat16
    tensors = tensors_of(args.model)
    print("tensors of the heads: %s" % {name: list(value.shape) for name, value in sorted(tensors.items()) if name.startswith("score.")})
    run = published(args.model, dtype) if args.code == "published" else Restated(config, tensors, dtype)
    begin = time.monotonic()
    z = run(ids)
    seconds = time.monotonic() - begin
    theirs = 1 / (1 + torch.exp(z[:, :, 0] - z[:, :, 1]))
    ours, ours_seconds = by_carbon(args, bases, window)
    difference = (ours - theirs).abs()
    print("%d tokens, %s, %s: Python %.1f s, carbon %.1f s with loading" % (len(ids), args.code, args.dtype, seconds, ours_seconds))
    # Above 2, the six digits of P that carbon prints say too little of 1 - P.
    known = (logit(theirs) > -8) & (logit(theirs) < 2)
    print("probabilities: worst difference %.3g, mean %.3g; of ln(P/(1-P)) between -8 and 2 worst %.3g" % (
        difference.max(), difference.mean(), (logit(ours) - logit(theirs)).abs()[known].max()))
    print("bases on the other side of 0.5: %d of %d" % (((ours > 0.5) != (theirs > 0.5)).sum(), ours.numel()))
    most = args.most if args.most is not None else 1e-4 if args.dtype == "f32" else 0.1
    wrong = not difference.max() <= most
    if args.dtype == "bf16" and args.code == "restated":
        exact = Restated(config, tensors, torch.float32)(ids)
        exact = 1 / (1 + torch.exp(exact[:, :, 0] - exact[:, :, 1]))
        print("against f32: Python's bf16 worst %.3g, mean %.3g; carbon's bf16 worst %.3g, mean %.3g" % (
            (theirs - exact).abs().max(), (theirs - exact).abs().mean(), (ours - exact).abs().max(), (ours - exact).abs().mean()))
        own, error = (theirs - exact).abs(), (ours - exact).abs()
        wrong = wrong and args.most is not None or not (error.max() <= 2 * own.max() and error.mean() <= 2 * own.mean())
    if wrong:
        sys.exit("a probability differs by more than %g, or in bf16 by more than twice the error of Python" % most)


if __name__ == "__main__":
    main()
