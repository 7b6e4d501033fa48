"""A model of one base a token computed a second time: the plain decoder of vep_reference.py with what a Qwen3 adds, and the scoring
rule that the authors of MarinDNA published. numpy in float64, one forward a sequence, none of the program's code.
"""

import json
import os

import numpy as np

import vep_reference
from vep_reference import DIGITS, load_tensors, rc, rms_norm


class LetterModel(vep_reference.Model):
    """A Qwen3 checkpoint in one file; ids as its tokenizer.json has them."""

    def __init__(self, directory):  # pylint: disable=super-init-not-called
        with open(os.path.join(directory, "config.json"), encoding="utf-8") as f:
            self.config = json.load(f)
        with open(os.path.join(directory, "tokenizer.json"), encoding="utf-8") as f:
            self.ids = json.load(f)["model"]["vocab"]
        self.w = load_tensors(os.path.join(directory, "model.safetensors"))
        self.head = self.w["model.embed_tokens.weight" if self.config["tie_word_embeddings"] else "lm_head.weight"]

    def tokens(self, bases):
        return [self.ids["[BOS]"]] + [self.ids.get(base.lower(), self.ids["[UNK]"]) if base in DIGITS else self.ids["[UNK]"]
                                      for base in bases]

    def normed(self, heads, name):
        return rms_norm(heads, self.w[name], self.config["rms_norm_eps"])

    def frequencies(self, half):
        """Those of rope_type llama3."""
        plain, rope = super().frequencies(half), self.config["rope_scaling"]
        turns = rope["original_max_position_embeddings"] * plain / (2 * np.pi)
        low, high = rope["low_freq_factor"], rope["high_freq_factor"]
        s = np.clip((turns - low) / (high - low), 0, 1)
        return (1 - s) * plain / rope["factor"] + s * plain

    def states(self, bases):
        """[letters + 1, hidden] after the final norm: of [BOS] and of each letter."""
        return self.hidden(np.array([self.tokens(bases)]))[0]

    def letter_logs(self, bases):
        """{letter: ln P of it at each place}: [letters], given what stands before; the softmax is over the four letters only."""
        z = self.states(bases)[:-1] @ self.head[[self.ids[letter] for letter in "acgt"]].T
        z = z - z.max(axis=1, keepdims=True)
        logs = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
        return dict(zip("ACGT", logs.T))

    def logps(self, bases):
        """ln P of each letter that is A, C, G or T, in order."""
        logs = self.letter_logs(bases)
        return np.array([logs[base][i] for i, base in enumerate(bases) if base in DIGITS])


def difference(model, alternative, reference):
    """Sum of ln P over the first n scored letters of the alternative minus those of the reference."""
    ours, theirs = model.logps(alternative), model.logps(reference)
    n = min(len(ours), len(theirs))
    return float((ours[:n] - theirs[:n]).sum())


def centered(model, bases, pos, ref, alt, window, strand):
    """CARBON_LLR of one strand, from its definition; pos from 1, in normal form."""
    alternative, reference = vep_reference.centered_windows(bases, pos - 1, ref, alt, window, strand, 0)
    return difference(model, alternative, reference)


def published_llr(model, bases, pos, ref, alt):
    """The published score of an SNV whose window of 255 lies within the contig: the variant at index 127 on both strands."""
    total = 0
    for strand in "+-":
        window = bases[pos - 1 - 127:pos + 127]
        assert len(window) == 255 and window[127] == ref
        changed = window[:127] + alt + window[128:]
        if strand == "-":
            window, changed = rc(window), rc(changed)
        of_ref, of_alt = model.letter_logs(window), model.letter_logs(changed)
        total += of_alt[changed[127]][127] - of_ref[window[127]][127]
        total += sum(of_alt[base][i] - of_ref[base][i] for i, base in enumerate(window) if i > 127)
    return total / 2
