"""The model in PyTorch: a Llama decoder over 6-mers with a tied head, its two losses, and its export.

The embedding is trained as a sum over parts of the 6-mer (single bases, runs of 2 to 5 bases, the whole) and written out
as one plain table: k-mers that share bases share what was learnt of them from the first step on.
"""
import json
import math
import os
import struct

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from corpus import FIRST_KMER, K, KMERS

VOCAB = 4224  # <dna>, </dna>, <oov>, the 6-mers, unused: a multiple of 128
UNUSED_LOG_COUNT = math.log(VOCAB - FIRST_KMER - KMERS)
SHAPE = dict(hidden=256, layers=6, heads=4, kv_heads=2, head_dim=64, intermediate=704, theta=100000.0, eps=1e-6,
             positions=4104)


class Embedding(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.special = nn.Parameter(torch.randn(FIRST_KMER, hidden) * 0.02)
        self.unused = nn.Parameter(torch.zeros(1, hidden))  # all rows after the 6-mers
        self.parts = nn.ParameterDict()
        for width in range(1, K + 1):
            for at in range(K - width + 1):
                scale = 0.02 / (K * (K - width + 1)) ** 0.5
                self.parts[f"{at}_{width}"] = nn.Parameter(torch.randn(4 ** width, hidden) * scale)

    def kmer_table(self):
        total = 0
        hidden = self.special.shape[1]
        for width in range(K, 0, -1):
            for at in range(K - width + 1):
                part = self.parts[f"{at}_{width}"]
                shaped = part.view(1, 4 ** width, 1, hidden)
                if width == K:
                    total = part
                else:
                    total = (total.view(4 ** at, 4 ** width, 4 ** (K - at - width), hidden) + shaped).view(KMERS, hidden)
        return total

    def load_plain(self, embed):
        """Start from a released table: all of it in the part of whole k-mers."""
        table = embed[FIRST_KMER:FIRST_KMER + KMERS]
        with torch.no_grad():
            self.special.copy_(embed[:FIRST_KMER])
            self.unused.copy_(embed[-1:])
            for name, part in self.parts.items():
                part.copy_(table) if name == f"0_{K}" else part.zero_()


def rms_norm(x, weight, eps):
    return F.rms_norm(x, (x.shape[-1],), weight.to(x.dtype), eps)


def rotate(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)


class Layer(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.s = s
        h, d = s["hidden"], s["head_dim"]
        self.norm1 = nn.Parameter(torch.ones(h))
        self.norm2 = nn.Parameter(torch.ones(h))
        self.q = nn.Linear(h, s["heads"] * d, bias=False)
        self.k = nn.Linear(h, s["kv_heads"] * d, bias=False)
        self.v = nn.Linear(h, s["kv_heads"] * d, bias=False)
        self.o = nn.Linear(s["heads"] * d, h, bias=False)
        self.gate = nn.Linear(h, s["intermediate"], bias=False)
        self.up = nn.Linear(h, s["intermediate"], bias=False)
        self.down = nn.Linear(s["intermediate"], h, bias=False)
        for m in (self.q, self.k, self.v, self.gate, self.up):
            nn.init.normal_(m.weight, std=h ** -0.5 * 0.6)
        # A layer begins as the identity.
        nn.init.zeros_(self.o.weight)
        nn.init.zeros_(self.down.weight)

    def forward(self, x, cos, sin):
        s = self.s
        rows, n, _ = x.shape
        h = rms_norm(x, self.norm1, s["eps"])
        q = self.q(h).view(rows, n, s["heads"], s["head_dim"]).transpose(1, 2)
        k = self.k(h).view(rows, n, s["kv_heads"], s["head_dim"]).transpose(1, 2)
        v = self.v(h).view(rows, n, s["kv_heads"], s["head_dim"]).transpose(1, 2)
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        group = s["heads"] // s["kv_heads"]
        k, v = k.repeat_interleave(group, dim=1), v.repeat_interleave(group, dim=1)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.o(y.transpose(1, 2).reshape(rows, n, -1))
        h = rms_norm(x, self.norm2, s["eps"])
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


class Carbon(nn.Module):
    def __init__(self, shape=SHAPE):
        super().__init__()
        self.s = shape
        self.embedding = Embedding(shape["hidden"])
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape["layers"]))
        self.norm = nn.Parameter(torch.ones(shape["hidden"]))

    def angles(self, n, device, dtype):
        d = self.s["head_dim"]
        freq = self.s["theta"] ** (-torch.arange(0, d, 2, device=device, dtype=torch.float32) / d)
        phase = torch.outer(torch.arange(n, device=device, dtype=torch.float32), freq)
        return phase.cos().to(dtype), phase.sin().to(dtype)

    def trunk(self, x):
        """Hidden states after the final norm of rows of embedded tokens."""
        cos, sin = self.angles(x.shape[1], x.device, x.dtype)
        for layer in self.layers:
            x = layer(x, cos, sin)
        return rms_norm(x, self.norm, self.s["eps"])


def marginal_targets(p, targets):
    """q with d(FNS loss)/d(logits) = p - q, and the loss of each row: the mean over the six bases of -ln of the
    probability that the distribution p over 6-mers gives to the target's base in that place."""
    n = p.shape[0]
    shaped = p.reshape(n, *([4] * K))
    q = torch.zeros_like(shaped)
    loss = torch.zeros(n, device=p.device)
    for j in range(K):
        base = (targets >> (2 * (K - 1 - j))) & 3
        other = [1 + i for i in range(K) if i != j]
        at_base = shaped.sum(dim=other).gather(1, base[:, None])[:, 0].clamp_min(1e-30)
        loss -= at_base.log() / K
        chosen = F.one_hot(base, 4).to(p.dtype) / (K * at_base[:, None])
        q += chosen.view([n] + [4 if i == j else 1 for i in range(K)])
    return (q * shaped).view(n, KMERS), loss


class HeadLoss(torch.autograd.Function):
    """Loss and gradients of the tied head in one pass over chunks of rows, without keeping logits.

    `table` is the 6-mers, then the special tokens, then one row for all unused ids: the softmax is over the whole
    vocabulary, as `carbon score --level token` has it, so that what is never a target loses its share.
    Every loss here has the gradient p - q on the logits, p = softmax: q is the one-hot target for cross-entropy, a
    mixture of it with `soft` (log-probabilities of 6-mers for some rows) where that is given, or the FNS target.
    Returns the mean training loss and, detached, the mean cross-entropy."""

    CHUNK = 512

    @staticmethod
    def forward(ctx, hidden, table, targets, fns, soft_share, soft):
        n = hidden.shape[0]
        low = hidden.dtype
        table_low = table.to(low)
        d_hidden = torch.empty_like(hidden)
        d_table = torch.zeros_like(table)
        loss, cross = 0.0, 0.0
        for at in range(0, n, HeadLoss.CHUNK):
            h, t = hidden[at:at + HeadLoss.CHUNK], targets[at:at + HeadLoss.CHUNK]
            logits = (h @ table_low.T).float()
            logits[:, -1] += UNUSED_LOG_COUNT
            log_p = torch.log_softmax(logits, dim=-1)
            ce = -log_p.gather(1, t[:, None])[:, 0]
            cross += float(ce.sum())
            p = log_p.exp()
            share = torch.ones(len(t), device=p.device)
            if soft is not None:
                q, has = soft(at, at + len(t))
                share = 1 - soft_share * has
                loss += float(((1 - share) * -(q * log_p[:, :KMERS]).sum(-1)).sum())
                p[:, :KMERS] -= q * (1 - share)[:, None]
            if fns > 0:
                q, fns_loss = marginal_targets(p[:, :KMERS], t)
                loss += float((fns * fns_loss).sum())
                p[:, :KMERS] -= fns * q
                share = share * (1 - fns)
            loss += float((share * ce).sum())
            delta = (p.scatter_add_(1, t[:, None], -share[:, None]) / n).to(low)
            d_hidden[at:at + len(t)] = delta @ table_low
            d_table += (delta.T @ h).float()
        ctx.save_for_backward(d_hidden, d_table)
        return hidden.new_tensor(loss / n, dtype=torch.float32), cross / n

    @staticmethod
    def backward(ctx, d_loss, _):
        d_hidden, d_table = ctx.saved_tensors
        return d_hidden * d_loss.to(d_hidden.dtype), d_table * d_loss, None, None, None, None


def plain_tensors(model):
    """Tensors by their names in a released checkpoint, float32."""
    embed = model.embedding.unused.detach().cpu().repeat(VOCAB, 1)
    embed[:FIRST_KMER] = model.embedding.special.detach().cpu()
    embed[FIRST_KMER:FIRST_KMER + KMERS] = model.embedding.kmer_table().detach().cpu()
    tensors = {"model.embed_tokens.weight": embed}
    for i, layer in enumerate(model.layers):
        p = f"model.layers.{i}."
        tensors[p + "input_layernorm.weight"] = layer.norm1
        for name in "qkvo":
            tensors[p + f"self_attn.{name}_proj.weight"] = getattr(layer, name).weight
        tensors[p + "post_attention_layernorm.weight"] = layer.norm2
        for name in ("gate", "up", "down"):
            tensors[p + f"mlp.{name}_proj.weight"] = getattr(layer, name).weight
    tensors["model.norm.weight"] = model.norm
    return {name: t.detach().float().cpu().contiguous() for name, t in tensors.items()}


def export(model, directory):
    """A checkpoint in the released format, bf16."""
    s = model.s
    os.makedirs(directory, exist_ok=True)
    config = {
        "architectures": ["LlamaForCausalLM"], "attention_bias": False, "attention_dropout": 0.0, "bos_token_id": None,
        "eos_token_id": None, "head_dim": s["head_dim"], "hidden_act": "silu", "hidden_size": s["hidden"],
        "initializer_range": 0.02, "intermediate_size": s["intermediate"], "max_position_embeddings": s["positions"],
        "mlp_bias": False, "model_type": "llama", "num_attention_heads": s["heads"], "num_hidden_layers": s["layers"],
        "num_key_value_heads": s["kv_heads"], "pretraining_tp": 1, "rms_norm_eps": s["eps"], "rope_scaling": None,
        "rope_theta": s["theta"], "tie_word_embeddings": True, "torch_dtype": "bfloat16", "use_cache": True,
        "vocab_size": VOCAB}
    dna = {"k": K, "dna_start_id": 0, "dna_vocab_size": FIRST_KMER + KMERS + 8,
           "dna_special_tokens": ["<dna>", "</dna>", "<oov>"], "auto_dna_tags": False}
    for name, value in (("config.json", config), ("dna_config.json", dna)):
        with open(os.path.join(directory, name), "w") as out:
            out.write(json.dumps(value, indent=2) + "\n")
    header, blobs, at = {"__metadata__": {"format": "pt"}}, [], 0
    for name, tensor in plain_tensors(model).items():
        blob = tensor.to(torch.bfloat16).view(torch.int16).numpy().tobytes()
        header[name] = {"dtype": "BF16", "shape": list(tensor.shape), "data_offsets": [at, at + len(blob)]}
        blobs.append(blob)
        at += len(blob)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path = os.path.join(directory, "model.safetensors")
    with open(path + ".tmp", "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text + b"".join(blobs))
    os.replace(path + ".tmp", path)


def load_exported(model, directory):
    """Weights of an exported checkpoint into a model of the same shape."""
    with open(os.path.join(directory, "model.safetensors"), "rb") as file:
        data = file.read()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])

    def tensor(name):
        first, last = header[name]["data_offsets"]
        bits = np.frombuffer(data[8 + size + first:8 + size + last], np.uint16).astype(np.uint32) << 16
        return torch.from_numpy(bits.view(np.float32).copy()).view(header[name]["shape"])

    embed = tensor("model.embed_tokens.weight")
    model.embedding.load_plain(embed)
    own = plain_names(model)
    with torch.no_grad():
        for name, parameter in own.items():
            parameter.copy_(tensor(name))


def plain_names(model):
    """The parameters behind the released names, the embedding apart."""
    names = {"model.norm.weight": model.norm}
    for i, layer in enumerate(model.layers):
        p = f"model.layers.{i}."
        names[p + "input_layernorm.weight"] = layer.norm1
        names[p + "post_attention_layernorm.weight"] = layer.norm2
        for name in "qkvo":
            names[p + f"self_attn.{name}_proj.weight"] = getattr(layer, name).weight
        for name in ("gate", "up", "down"):
            names[p + f"mlp.{name}_proj.weight"] = getattr(layer, name).weight
    return names
