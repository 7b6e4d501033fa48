#!/usr/bin/env python3
"""Trains carbon-tiny: next-k-mer cross-entropy, then a short phase with the FNS loss. README.md beside this file."""
import argparse
import os
import time

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
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
    p.add_argument("--steps", type=int, default=3000, help="steps with cross-entropy")
    p.add_argument("--hold", type=int, default=1600, help="the first of them, before the learning rate falls")
    p.add_argument("--fns-steps", type=int, default=80, help="steps with the FNS loss after them")
    p.add_argument("--tokens", type=int, default=8192, help="tokens a step, about")
    p.add_argument("--muon-lr", type=float, default=0.02)
    p.add_argument("--adam-lr", type=float, default=0.002)
    p.add_argument("--fns-lr", type=float, default=0.05, help="peak of the FNS phase, a share of the other peaks")
    p.add_argument("--fns-share", type=float, default=0.5, help="share of the FNS loss in its phase")
    p.add_argument("--decay", type=float, default=0.01, help="weight decay of the matrices")
    p.add_argument("--soft", type=float, default=0.6, help="largest share of the Markov targets; 0 turns them off")
    p.add_argument("--power", type=float, default=0.5, help="kinds are drawn in proportion to bases ** POWER")
    p.add_argument("--weights", nargs="*", default=["celegans=2.5", "drosophila=1.5"], metavar="KIND=X", help="draw a kind X times as often")
    p.add_argument("--repeats", type=float, default=0.12, help="share of rows with a repeat made up in them")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--workers", type=int, default=2, choices=(1, 2), help="processes; each takes its half of every step")
    p.add_argument("--threads", type=int, default=1, help="of each process")
    p.add_argument("--device", default="cpu")
    p.add_argument("--compile", action="store_true", help="torch.compile the layers")
    p.add_argument("--save-every", type=float, default=300, metavar="SECONDS")
    p.add_argument("--stop-at", type=int, help="leave after this step, for trying settings out")
    return p.parse_args()


def ramp(x, start, end):
    """0 before start, 1 after end, straight between."""
    return min(1.0, max(0.0, (x - start) / (end - start)))


def schedule(step, args):
    """(learning rate as a share of the peak, share of soft targets, share of FNS, [(rows, length)]) of a step. A step
    has two parts of about as many tokens, so that two workers halve it."""
    short = [(max(1, args.tokens // (2 * SHORT)), SHORT)] * 2
    mixed = [(max(1, args.tokens // (2 * MEDIUM)), MEDIUM), (max(1, args.tokens // (2 * LONG)), LONG)]
    if step < args.steps:
        lr = ramp(step, -1, 64) * (1 - 0.98 * ramp(step, args.hold, args.steps))
        soft = args.soft * (1 - ramp(step, args.hold, args.hold + 0.6 * (args.steps - args.hold)))
        return lr, soft, 0.0, short if step < 0.8 * args.steps else mixed
    x = (step - args.steps) / max(1, args.fns_steps)
    lr = args.fns_lr * ramp(x, -0.01, 0.1) * (1 - ramp(x, 0.1, 1.0))
    return lr, 0.0, args.fns_share, mixed


class SoftTargets:
    """What an order-11 Markov model of the kind, counted on the training sequence, expects of the next 6-mer.

    The one-hot target of cross-entropy is a draw from a distribution of 8 nats; its noise is most of the gradient. Mixing
    in the conditional distribution of the training set itself leaves the aim as it is and takes much of the noise away.
    """

    def __init__(self, tables, device):
        self.tables = [torch.from_numpy(table).to(device) for table in tables]

    @staticmethod
    def count(corpus, path):
        """The tables, kept in a file for a run that is resumed."""
        if not os.path.exists(path):
            tables = [markov.smoothed(markov.count(corpus.segments[kind], SOFT_ORDER), SOFT_STRENGTH)
                      for kind in corpora.KINDS]
            with open(path + ".tmp", "wb") as out:
                np.save(out, np.stack(tables))
            os.replace(path + ".tmp", path)
        return np.load(path, mmap_mode="c")

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
    def __init__(self, args, corpus, soft_tables, worker):
        self.args, self.worker = args, worker
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
        weights = {kind: float(x) for kind, x in (w.split("=") for w in args.weights)}
        self.sampler = corpora.Sampler(corpus, args.power, args.seed, weights, args.repeats)
        self.soft = None if soft_tables is None else SoftTargets(soft_tables, args.device)
        rows = args.tokens // (2 * SHORT)
        self.holdout = {kind: corpora.holdout_rows(corpus, kind, rows, SHORT) for kind in corpora.KINDS}
        self.step = 0

    def hidden(self, ids):
        """Hidden states of all positions, and the table of the head."""
        embedding = self.model.embedding
        table = torch.cat([embedding.kmer_table(), embedding.special, embedding.unused])
        rows = torch.where(ids < corpora.FIRST_KMER, ids + corpora.KMERS, ids - corpora.FIRST_KMER)
        with torch.autocast(self.args.device, torch.bfloat16):
            return self.trunk(F.embedding(rows, table).bfloat16()).flatten(0, 1), table

    def backward(self, batch, share, soft_share, fns):
        """Gradients of `share` of the loss of some rows; their mean cross-entropy."""
        ids, targets, kinds = (torch.from_numpy(a).to(self.args.device) for a in batch)
        hidden, table = self.hidden(ids)
        flat = targets.reshape(-1)
        keep = (flat >= 0).nonzero()[:, 0]  # all positions but those before a new <dna>
        soft = None
        if soft_share > 0 and self.soft:
            of_all = self.soft.of_batch(ids, kinds)

            def soft(first, last):
                a, b = int(keep[first]), int(keep[last - 1]) + 1
                return tuple(part[keep[first:last] - a] for part in of_all(a, b))

        loss, cross = HeadLoss.apply(hidden[keep], table, flat[keep], fns, soft_share, soft)
        (loss * share).backward()
        return cross

    def train_step(self):
        """Mean cross-entropy of the step in nats a token."""
        args = self.args
        lr, soft_share, fns, shapes = schedule(self.step, args)
        total = sum(rows * length for rows, length in shapes)
        cross = 0.0
        for part in range(self.worker, len(shapes), args.workers):
            rows, length = shapes[part]
            share = rows * length / total
            batch = self.sampler.batch(2 * self.step + part, rows, length)
            cross += share * self.backward(batch, share, soft_share, fns)
        cross = self.add_up(cross)
        for group in self.adam.param_groups:
            group["lr"] = lr * args.adam_lr
        self.muon.step(lr * args.muon_lr, args.decay)
        self.adam.step()
        for p in self.model.parameters():
            p.grad = None
        self.step += 1
        return cross

    @torch.no_grad()
    def add_up(self, cross):
        """Gradients, and the cross-entropy, summed over the workers."""
        if self.args.workers == 1:
            return cross
        gradients = [p.grad for p in self.model.parameters()]
        flat = torch.cat([g.reshape(-1) for g in gradients] + [gradients[0].new_tensor([cross])])
        dist.all_reduce(flat)
        for gradient, summed in zip(gradients, flat[:-1].split([g.numel() for g in gradients])):
            gradient.copy_(summed.view_as(gradient))
        return float(flat[-1])

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


def run(worker, args, corpus, soft_tables, log_path):
    torch.set_num_threads(args.threads)
    if args.workers > 1:
        meeting = "file://" + os.path.abspath(os.path.join(args.run, "workers"))
        dist.init_process_group("gloo", init_method=meeting, rank=worker, world_size=args.workers)
    first = worker == 0
    log_file = open(log_path if first else os.devnull, "a")

    def log(text):
        log_file.write(text + "\n")
        log_file.flush()

    trainer = Trainer(args, corpus, soft_tables, worker)
    checkpoint = os.path.join(args.run, "checkpoint.pt")
    if args.resume:
        trainer.load(checkpoint)
        log(f"# resumed at step {trainer.step}, steps {args.steps}, hold {args.hold}, power {args.power}, weights "
            f"{args.weights}, repeats {args.repeats}")
    else:
        settings = {k: v for k, v in vars(args).items() if k not in ("corpus", "holdout", "exclude", "run", "resume")}
        log(f"# torch {torch.__version__}, {settings}")
        for kind, share in zip(corpora.KINDS, trainer.sampler.share):
            log(f"# {kind}: {corpus.bases(kind)} bases, drawn {share:.3f}, held out "
                f"{sum(len(r.bases) for r in corpus.holdout[kind])}, cut {corpus.cut[kind]}")
    end = args.stop_at or args.steps + args.fns_steps
    losses, tokens_from, started, saved = [], trainer.step, time.time(), time.time()
    while trainer.step < end:
        losses.append(trainer.train_step())
        step = trainer.step
        if not first:
            continue
        if step % 50 == 0:
            lr, soft, fns, shapes = schedule(step - 1, args)
            log(f"step {step} lr {lr:.3f} soft {soft:.2f} fns {fns:.1f} rows {'+'.join(f'{r}x{n}' for r, n in shapes)} "
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
    if first:
        export(trainer.model, os.path.join(args.run, "carbon-tiny"))


def main():
    args = arguments()
    os.makedirs(args.run, exist_ok=True)
    meeting = os.path.join(args.run, "workers")
    if os.path.exists(meeting):
        os.remove(meeting)  # of a run that was stopped
    corpus = corpora.load(args.corpus, args.holdout, args.exclude)
    soft_tables = None
    if args.soft > 0 and not args.init_from:
        soft_tables = SoftTargets.count(corpus, os.path.join(args.run, "soft.npy"))
    rest = (args, corpus, soft_tables, os.path.join(args.run, "train.log"))
    if args.workers == 1:
        run(0, *rest)
    else:  # forked, so that they share the tables
        mp.start_processes(run, args=rest, nprocs=args.workers, start_method="fork")


if __name__ == "__main__":
    main()
