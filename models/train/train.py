#!/usr/bin/env python3
"""Trains carbon-tiny: next-k-mer cross-entropy, then a short phase with the FNS loss. README.md beside this file."""
import argparse
import os
import time

import numpy as np
import torch
import torch.nn.functional as F

import corpus as corpora
import markov
from model import SHAPE, Carbon, HeadLoss, export, load_exported
from optim import Muon

SOFT_ORDER, SOFT_STRENGTH = 11, 64.0
SHORT, MEDIUM, LONG = 512, 1368, 4104  # row lengths in tokens: the last two hold the published recipes' windows


def arguments():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--corpus", required=True, help="folder of the nine KIND.fa.gz files")
    p.add_argument("--holdout", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "holdout.txt"))
    p.add_argument("--exclude", nargs="*", default=[], help="FASTA files that are not trained on")
    p.add_argument("--run", required=True, help="folder of the run: log, checkpoints, exported models")
    p.add_argument("--resume", action="store_true", help="go on from the last checkpoint in --run")
    p.add_argument("--init-from", metavar="DIR", help="start from the weights of an exported model")
    p.add_argument("--steps", type=int, default=3200, help="steps with cross-entropy")
    p.add_argument("--fns-steps", type=int, default=200, help="steps with the FNS loss after them")
    p.add_argument("--tokens", type=int, default=8192, help="tokens a step, about")
    p.add_argument("--muon-lr", type=float, default=0.02)
    p.add_argument("--adam-lr", type=float, default=0.002)
    p.add_argument("--fns-lr", type=float, default=0.05, help="peak of the FNS phase, a share of the other peaks")
    p.add_argument("--fns-share", type=float, default=0.5, help="share of the FNS loss in its phase")
    p.add_argument("--decay", type=float, default=0.01, help="weight decay of the matrices")
    p.add_argument("--soft", type=float, default=0.6, help="largest share of the Markov targets; 0 turns them off")
    p.add_argument("--power", type=float, default=0.75, help="kinds are drawn in proportion to bases ** POWER")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--device", default="cpu")
    p.add_argument("--compile", action="store_true", help="torch.compile the layers")
    p.add_argument("--save-every", type=float, default=300, metavar="SECONDS")
    p.add_argument("--stop-at", type=int, help="leave after this step, for trying settings out")
    return p.parse_args()


def ramp(x, start, end):
    """0 before start, 1 after end, straight between."""
    return min(1.0, max(0.0, (x - start) / (end - start)))


def schedule(step, args):
    """(learning rate as a share of the peak, share of soft targets, share of FNS, row length) of a step."""
    if step < args.steps:
        x = step / args.steps
        lr = ramp(step, -1, 64) * (1 - 0.98 * ramp(x, 0.35, 1.0))
        length = SHORT if x < 0.8 else LONG if step % 8 == 0 else MEDIUM
        return lr, args.soft * (1 - ramp(x, 0.35, 0.75)), 0.0, length
    x = (step - args.steps) / max(1, args.fns_steps)
    lr = args.fns_lr * ramp(x, -0.01, 0.1) * (1 - ramp(x, 0.1, 1.0))
    return lr, 0.0, args.fns_share, LONG if step % 8 == 0 else MEDIUM


class SoftTargets:
    """What an order-11 Markov model of the kind, counted on the training sequence, expects of the next 6-mer.

    The one-hot target of cross-entropy is a draw from a distribution of 8 nats; its noise is most of the gradient. Mixing
    in the conditional distribution of the training set itself leaves the aim as it is and takes much of the noise away.
    """

    def __init__(self, corpus, device):
        self.tables = []
        for kind in corpora.KINDS:
            tables = markov.smoothed(markov.count(corpus.segments[kind], SOFT_ORDER), SOFT_STRENGTH)
            self.tables.append(torch.from_numpy(tables[-1]).to(device))

    def of_batch(self, ids, kinds):
        """A function (first, last) -> (probabilities of 6-mers, 1 where they are known) of flat positions of a batch."""
        current = ids - corpora.FIRST_KMER
        previous = F.pad(current, (1, 0), value=-1)[:, :-1]
        known = ((current >= 0) & (previous >= 0)).reshape(-1)
        context = (previous.clamp_min(0) * corpora.KMERS + current.clamp_min(0)).reshape(-1)
        kind_of = kinds[:, None].expand_as(ids).reshape(-1)

        def rows(first, last):
            q = torch.empty(last - first, corpora.KMERS, device=ids.device)
            for kind in kind_of[first:last].unique().tolist():
                at = (kind_of[first:last] == kind).nonzero()[:, 0]
                total = None
                for j in range(corpora.K):
                    suffix = context[first:last][at] & (4 ** (SOFT_ORDER - j) - 1)
                    level = self.tables[kind].view(4 ** (SOFT_ORDER - j), 4 ** (j + 1))[suffix]
                    total = level if total is None else (total[:, :, None] + level.view(len(at), -1, 4)).flatten(1)
                q[at] = total.exp()
            return q, known[first:last].float()

        return rows


class Trainer:
    def __init__(self, args, corpus):
        self.args = args
        torch.manual_seed(args.seed)
        self.model = Carbon(SHAPE).to(args.device)
        if args.init_from:
            load_exported(self.model, args.init_from)
        self.trunk = torch.compile(self.model.trunk, dynamic=False) if args.compile else self.model.trunk
        matrices = [p for layer in self.model.layers for p in layer.parameters() if p.ndim == 2]
        own = set(map(id, matrices))
        self.muon = Muon(matrices)
        self.adam = torch.optim.AdamW([p for p in self.model.parameters() if id(p) not in own], betas=(0.9, 0.98),
                                      weight_decay=0.0, fused=True)
        self.sampler = corpora.Sampler(corpus, args.power, args.seed)
        self.soft = SoftTargets(corpus, args.device) if args.soft > 0 and not args.init_from else None
        self.holdout = {kind: corpora.holdout_rows(corpus, kind, args.tokens // SHORT, SHORT) for kind in corpora.KINDS}
        self.step = 0

    def hidden(self, ids):
        table = self.model.embedding.kmer_table()
        with torch.autocast(self.args.device, torch.bfloat16):
            x = F.embedding(ids, torch.cat([self.model.embedding.special, table])).bfloat16()
            return self.trunk(x).flatten(0, 1), table

    def train_step(self):
        """Mean cross-entropy of the step in nats a token."""
        args = self.args
        lr, soft_share, fns, length = schedule(self.step, args)
        ids, targets, kinds = (torch.from_numpy(a).to(args.device) for a in
                               self.sampler.batch(self.step, max(1, args.tokens // length), length))
        hidden, table = self.hidden(ids)
        soft = None
        flat = targets.reshape(-1)
        keep = (flat >= 0).nonzero()[:, 0]
        if soft_share > 0 and self.soft:
            # Positions without a target are rare: they stay in the batch with a share of zero of everything.
            soft = self.soft.of_batch(ids, kinds)
        if len(keep) < len(flat):
            hidden = hidden[keep]
            if soft:
                whole = soft
                soft = lambda first, last: tuple(  # noqa: E731
                    part[keep[first:last] - keep[first]] for part in whole(int(keep[first]), int(keep[last - 1]) + 1))
        loss, cross = HeadLoss.apply(hidden, table, flat[keep], fns, soft_share, soft)
        loss.backward()
        for group in self.adam.param_groups:
            group["lr"] = lr * args.adam_lr
        self.muon.step(lr * args.muon_lr, args.decay)
        self.adam.step()
        for p in self.model.parameters():
            p.grad = None
        self.step += 1
        return cross

    @torch.no_grad()
    def watch(self):
        """Bits a base of a few held-out rows of each kind, k-mer level."""
        bits = []
        for kind in corpora.KINDS:
            ids, targets = (torch.from_numpy(a).to(self.args.device) for a in self.holdout[kind])
            hidden, table = self.hidden(ids)
            _, cross = HeadLoss.apply(hidden, table, targets.reshape(-1), 0.0, 0.0, None)
            bits.append(cross / corpora.K / np.log(2))
        return bits

    def save(self, path):
        torch.save({"model": self.model.state_dict(), "muon": self.muon.state(), "adam": self.adam.state_dict(),
                    "step": self.step}, path + ".tmp")
        os.replace(path + ".tmp", path)

    def load(self, path):
        state = torch.load(path, map_location=self.args.device)
        self.model.load_state_dict(state["model"])
        self.muon.load_state(state["muon"])
        self.adam.load_state_dict(state["adam"])
        self.step = state["step"]


def main():
    args = arguments()
    torch.set_num_threads(args.threads)
    os.makedirs(args.run, exist_ok=True)
    log_file = open(os.path.join(args.run, "train.log"), "a")

    def log(text):
        print(text, flush=True)
        log_file.write(text + "\n")
        log_file.flush()

    corpus = corpora.load(args.corpus, args.holdout, args.exclude)
    trainer = Trainer(args, corpus)
    checkpoint = os.path.join(args.run, "checkpoint.pt")
    if args.resume:
        trainer.load(checkpoint)
        log(f"# resumed at step {trainer.step}")
    else:
        settings = {k: v for k, v in vars(args).items() if k not in ("corpus", "holdout", "exclude", "run", "resume")}
        log(f"# torch {torch.__version__}, {sum(len(s) for k in corpora.KINDS for s in corpus.segments[k])} bases of "
            f"training sequence\n# {settings}")
        for kind in corpora.KINDS:
            log(f"# {kind}: {corpus.bases(kind)} bases, drawn {trainer.sampler.share[corpora.KINDS.index(kind)]:.3f}, "
                f"held out {sum(len(r.bases) for r in corpus.holdout[kind])}, cut {corpus.cut[kind]}")
    end = args.stop_at or args.steps + args.fns_steps
    losses, tokens_from, started, saved = [], trainer.step, time.time(), time.time()
    while trainer.step < end:
        losses.append(trainer.train_step())
        step = trainer.step
        if step % 50 == 0:
            lr, soft, fns, length = schedule(step - 1, args)
            log(f"step {step} lr {lr:.3f} soft {soft:.2f} fns {fns:.1f} row {length} "
                f"bits/base {np.mean(losses) / corpora.K / np.log(2):.4f} "
                f"tokens/s {(step - tokens_from) * args.tokens / (time.time() - started):.0f}")
            losses, tokens_from, started = [], step, time.time()
        if step % 250 == 0 or step in (args.steps, end):
            log(f"held-out {step} " + " ".join(f"{k} {b:.3f}" for k, b in zip(corpora.KINDS, trainer.watch())))
        if time.time() - saved > args.save_every or step == end:
            trainer.save(checkpoint)
            saved = time.time()
        if step == args.steps:
            export(trainer.model, os.path.join(args.run, "cross-entropy"))
            trainer.save(os.path.join(args.run, "cross-entropy.pt"))
    export(trainer.model, os.path.join(args.run, "carbon-tiny"))


if __name__ == "__main__":
    main()
