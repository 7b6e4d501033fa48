"""The scores and flags of carbon vep computed a second time, from the written definitions alone.

numpy in float64, whole windows, one forward a sequence: no shared prefixes, no cancelled rows, none of the program's
code. Slow and plain on purpose. Reads generated checkpoints (safetensors of F32 or BF16) and plain lists of variants.
"""

import json
import os

import numpy as np

K = 6
KMERS = 4096
DIGITS = {base: digit for digit, base in enumerate("ATCG")}
COMPLEMENT = str.maketrans("ACGT", "TGCA")
QUERY_BLOCK = 512  # rows of the attention matrix at a time
HEAD_ROWS = 128  # rows of logits at a time: what fits a core's cache
BATCH_TOKENS = 4096
KMER_NUMBERS = {"".join("ATCG"[v // 4 ** (K - 1 - j) % 4] for j in range(K)): v for v in range(KMERS)}


def rc(bases):
    """Reverse complement; letters that are no base stay, and stay unscored."""
    return bases.translate(COMPLEMENT)[::-1]


def whole(bases):
    return bases[:len(bases) // K * K]


# ---- the model -----------------------------------------------------------------------------------------------------


def load_tensors(path):
    with open(path, "rb") as f:
        header = json.loads(f.read(int.from_bytes(f.read(8), "little")))
        body = f.read()
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        if entry["dtype"] == "F32":
            values = np.frombuffer(body[begin:end], "<f4")
        elif entry["dtype"] == "BF16":
            values = (np.frombuffer(body[begin:end], "<u2").astype(np.uint32) << np.uint32(16)).view(np.float32)
        else:
            raise ValueError("tensor %s has dtype %s" % (name, entry["dtype"]))
        tensors[name] = values.astype(np.float64).reshape(entry["shape"])
    return tensors


def rms_norm(x, weight, eps):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps) * weight


def exponentials(z):
    """Replaces z by exp(z - its largest in the row). Returns these largest ones and the sums of the rows."""
    largest = z.max(axis=-1)
    z -= largest[..., None]
    np.exp(z, out=z)
    return largest, z.sum(axis=-1)


def of_bases(kmers):
    """Sums over 6-mers, [rows, 4096], by their base at each place: [rows, 6, 4]."""
    halves = kmers.reshape(-1, 64, 64)
    thirds = [half.reshape(-1, 4, 4, 4) for half in (halves.sum(axis=2), halves.sum(axis=1))]
    return np.stack([third.sum(axis=axes) for third in thirds for axes in ((2, 3), (1, 3), (1, 2))], 1)


class Model:
    """A Llama checkpoint in one file, without rope scaling."""

    def __init__(self, directory):
        with open(os.path.join(directory, "config.json")) as f:
            self.config = json.load(f)
        with open(os.path.join(directory, "dna_config.json")) as f:
            self.dna_begin = json.load(f)["dna_start_id"]
        if self.config["rope_scaling"] is not None:
            raise ValueError("rope scaling is not part of this reference")
        self.oov, self.first_kmer = self.dna_begin + 2, self.dna_begin + 3
        self.w = load_tensors(os.path.join(directory, "model.safetensors"))
        head = self.w["model.embed_tokens.weight" if self.config["tie_word_embeddings"] else "lm_head.weight"]
        self.head = head
        self.kmer_head = head[self.first_kmer:self.first_kmer + KMERS]
        self.known = {}

    def tokens(self, bases):
        """<dna> and the 6-mers, the last one filled up with A."""
        bases += "A" * (-len(bases) % K)
        numbers = [KMER_NUMBERS.get(bases[i:i + K]) for i in range(0, len(bases), K)]
        return [self.dna_begin, *(self.oov if number is None else self.first_kmer + number for number in numbers)]

    def rotate(self, x):
        """Rotary positions from 0, half-split layout; x is [batch, positions, heads, head_dim]."""
        half = x.shape[-1] // 2
        angle = np.arange(x.shape[1])[:, None] * self.frequencies(half)
        cos, sin = np.cos(angle)[:, None, :], np.sin(angle)[:, None, :]
        a, b = x[..., :half], x[..., half:]
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)

    def normed(self, heads, _):
        """What becomes of the heads of q or k before they are rotated: nothing in a Llama."""
        return heads

    def frequencies(self, half):
        return float(self.config["rope_theta"]) ** (-np.arange(half) / half)

    def attention(self, x, layer):
        c, w = self.config, self.w
        heads, kv_heads, d = c["num_attention_heads"], c["num_key_value_heads"], c["head_dim"]
        batch, n, _ = x.shape
        prefix = "model.layers.%d.self_attn." % layer
        q = self.rotate(self.normed((x @ w[prefix + "q_proj.weight"].T).reshape(batch, n, heads, d), prefix + "q_norm.weight"))
        k = self.rotate(self.normed((x @ w[prefix + "k_proj.weight"].T).reshape(batch, n, kv_heads, d), prefix + "k_norm.weight"))
        v = (x @ w[prefix + "v_proj.weight"].T).reshape(batch, n, kv_heads, d)
        out = np.empty((batch, n, heads, d))
        for head in range(heads):
            shared = head // (heads // kv_heads)
            for begin in range(0, n, QUERY_BLOCK):
                end = min(n, begin + QUERY_BLOCK)
                scores = q[:, begin:end, head] @ k[:, :end, shared].transpose(0, 2, 1) / np.sqrt(d)
                np.copyto(scores, -np.inf, where=np.arange(end) > np.arange(begin, end)[:, None])
                sums = exponentials(scores)[1]
                out[:, begin:end, head] = scores @ v[:, :end, shared] / sums[..., None]
        return out.reshape(batch, n, heads * d) @ w[prefix + "o_proj.weight"].T

    def hidden(self, ids):
        """[batch, positions, hidden] after the final norm."""
        w, eps = self.w, self.config["rms_norm_eps"]
        x = w["model.embed_tokens.weight"][ids]
        for layer in range(self.config["num_hidden_layers"]):
            prefix = "model.layers.%d." % layer
            x = x + self.attention(rms_norm(x, w[prefix + "input_layernorm.weight"], eps), layer)
            h = rms_norm(x, w[prefix + "post_attention_layernorm.weight"], eps)
            gate = h @ w[prefix + "mlp.gate_proj.weight"].T
            up = h @ w[prefix + "mlp.up_proj.weight"].T
            x = x + (gate / (1 + np.exp(-gate)) * up) @ w[prefix + "mlp.down_proj.weight"].T
        return rms_norm(x, w["model.norm.weight"], eps)

    def marginals(self, hidden):
        """ln P_j(b): [rows, 6, 4], the softmax being over the 4,096 6-mers only."""
        out = np.empty((len(hidden), K, 4))
        for i in range(0, len(hidden), HEAD_ROWS):
            z = hidden[i:i + HEAD_ROWS] @ self.kmer_head.T
            sums = exponentials(z)[1]
            out[i:i + HEAD_ROWS] = np.log(of_bases(z)) - np.log(sums)[:, None, None]
        assert np.isfinite(out).all(), "a group's probability is too small for this reference"
        return out

    def token_logs(self, hidden, ids):
        """For each row of hidden states the ln P of its token of `ids`, the softmax being over the whole vocabulary."""
        out = np.empty(len(hidden))
        for i in range(0, len(hidden), HEAD_ROWS):
            z = hidden[i:i + HEAD_ROWS] @ self.head.T
            chosen = z[np.arange(len(z)), ids[i:i + HEAD_ROWS]]
            largest, sums = exponentials(z)
            out[i:i + HEAD_ROWS] = chosen - largest - np.log(sums)
        return out

    def batches(self, sequences):
        """(sequences, their final hidden states) in groups of one token count."""
        by_length = {}
        for bases in sequences:
            by_length.setdefault(len(self.tokens(bases)), []).append(bases)
        for length, group in by_length.items():
            step = max(1, BATCH_TOKENS // length)
            for i in range(0, len(group), step):
                part = group[i:i + step]
                yield part, self.hidden(np.array([self.tokens(bases) for bases in part]))

    def base_logps(self, sequences):
        """For each sequence ln P of its every base, those that are not A/C/G/T left out. They are kept for the next call."""
        for part, hidden in self.batches([bases for bases in sequences if bases not in self.known]):
            tables = self.marginals(np.concatenate(hidden[:, :-1])).reshape(len(part), -1, 4)  # <dna> predicts the first 6-mer
            for bases, table in zip(part, tables):
                self.known[bases] = np.array([table[i, DIGITS[b]] for i, b in enumerate(bases) if b in DIGITS])
        return self.known

    def kmer_logps(self, sequences):
        """For each sequence ln P of its every whole 6-mer of bases, the softmax being over the whole vocabulary."""
        out = {}
        for part, hidden in self.batches(dict.fromkeys(map(whole, sequences))):
            ids = np.array([self.tokens(bases)[1:] for bases in part])
            logs = self.token_logs(np.concatenate(hidden[:, :-1]), ids.reshape(-1).astype(int)).reshape(ids.shape)
            out.update((bases, of_one[tokens != self.oov]) for bases, of_one, tokens in zip(part, logs, ids))
        return out

    def means(self, sequences):
        """For each sequence the mean final hidden state of its whole 6-mers."""
        out = {}
        for part, hidden in self.batches([whole(bases) for bases in sequences]):
            out.update((bases, rows[1:].mean(axis=0)) for bases, rows in zip(part, hidden))
        return out

    def next_base(self, contexts):
        """For each context, whose length is a multiple of 6, ln P_0 of the base after it."""
        out = {}
        for part, hidden in self.batches(contexts):
            for bases, row in zip(part, self.marginals(hidden[:, -1])):
                out[bases] = {base: row[0, DIGITS[base]] for base in DIGITS}
        return out


# ---- variants ------------------------------------------------------------------------------------------------------

STRUCTURAL = ("<DEL>", "<DUP>", "<DUP:TANDEM>", "<INV>")


def is_acgt(bases):
    return bases != "" and set(bases) <= set("ACGT")


def is_symbolic(alt):
    """Also breakends; those without a mate are letters and a dot. A dot alone is a missing allele, not a breakend."""
    return alt.startswith("<") or "[" in alt or "]" in alt or (len(alt) > 1 and "." in (alt[0], alt[-1]))


def normalise(bases, p, ref, alt):
    """The form (p, REF, ALT) that `bcftools norm -f` gives an allele that is alone; p is 0-based, letters in upper case.

    While REF and ALT end in the same letter, it is taken off both; where one of them would become empty, both first get
    the preceding base of the FASTA. That ends at the start of the contig (the allele then keeps the base after it as its
    anchor), and after a letter other than A, C, G, T was put in front (which stays as the anchor). Then equal first
    letters are taken off as long as both keep one. So the shared end goes first, then the shared beginning.

    A letter that is no base thus ends the shift by itself: it stands at the end of the shorter allele, and the longer
    one, which has only bases of the record, ends otherwise. ALT = REF, which bcftools refuses, is cut to its first base.
    """
    if ref == alt:
        return p, ref[0], alt[0]
    while ref[-1] == alt[-1] and bases[p] in DIGITS:
        if min(len(ref), len(alt)) == 1:
            if p == 0:
                break
            p -= 1
            ref, alt = bases[p] + ref, bases[p] + alt
        ref, alt = ref[:-1], alt[:-1]
    while min(len(ref), len(alt)) > 1 and ref[0] == alt[0]:
        p, ref, alt = p + 1, ref[1:], alt[1:]
    return p, ref, alt


def integers(info, key):
    """The numbers of an INFO field, None for a missing one; none at all where the field is absent or '.'."""
    text = info.get(key) or "."
    return [] if text == "." else [None if item == "." else int(item) for item in text.split(",")]


def nth(values, i, default):
    """Of a field with a value an ALT that of ALT i; of a field with a single value this one, for the only ALT."""
    return values[i] if i < len(values) and values[i] is not None else default


def structural_length(pos, alts, i, info):
    """L of a structural ALT, None where the record does not say it precisely. `info`: the texts of INFO by key."""
    end, svlen = nth(integers(info, "END"), 0, None), abs(nth(integers(info, "SVLEN"), i, 0))
    if len(alts) == 1 and end is not None:
        length = end - pos
        if svlen not in (0, length):
            return None
    else:
        length = svlen
    if length < 1 or "IMPRECISE" in info:
        return None
    homology = nth(integers(info, "HOMLEN"), i, 0)
    for key in ("CIPOS", "CIEND") if "PRECISE" not in info else ():
        interval = integers(info, key)
        if len(interval) == 2 * len(alts):
            interval = interval[2 * i:2 * i + 2]
        if interval and interval[1] - interval[0] > homology:
            return None
    return length


def spelled_out(bases, pos, alt, length):
    """(p, REF, ALT) in letters of a structural ALT, with the base at POS, which is the one before, as the anchor."""
    anchor, body = bases[pos - 1], bases[pos:pos + length]
    if alt == "<INV>":
        return pos - 1, anchor + body, anchor + rc(body)
    return pos - 1, anchor + body, anchor if alt == "<DEL>" else anchor + body + body


def classify(genome, variant, i, recipe, window):
    """Of ALT i (why it has no score, None): the first reason that applies; or (None, its normalised form).

    `variant` is (contig, pos, REF, [ALT, ...]) in upper case and, if there is INFO, a dict of its texts.
    """
    contig, pos, ref, alts, *info = variant
    alt, length = alts[i], None
    # The record as written.
    if contig not in genome:
        return "no_contig", None
    bases = genome[contig]
    if pos < 1 or pos > len(bases) or pos - 1 + len(ref) > len(bases):
        return "edge", None
    if is_symbolic(alt):
        length = structural_length(pos, alts, i, info[0] if info else {}) if alt in STRUCTURAL else None
        if length is None:
            return "symbolic", None
        if pos + length > len(bases):
            return "edge", None
    if alt == "*":
        return "star", None
    under = bases[pos - 1:pos - 1 + len(ref)]
    unnamed = length is not None and ref == "N"
    if not (is_acgt(under) and (is_acgt(ref) or unnamed) and (is_acgt(alt) or length is not None)):
        return "non_acgt", None
    if ref != under and not unnamed:
        return "ref_mismatch", None
    # What it means.
    form = pos - 1, ref, alt
    if length is not None:
        if length > window // 2:
            return "too_long" if recipe == "centered" else "multibase", None
        form = spelled_out(bases, pos, alt, length)
        if not is_acgt(form[1]):
            return "non_acgt", None
    p, ref, alt = normalise(bases, *form)
    if recipe == "centered" and max(len(ref), len(alt)) > window / 2:
        return "too_long", None
    if recipe == "next-token" and not len(ref) == len(alt) == 1:
        return "multibase", None
    return None, (p, ref, alt)


# ---- the definitions -----------------------------------------------------------------------------------------------


def centered_windows(bases, p, ref, alt, window, strand, f):
    """(A, R) of phase f in reading direction, None where the phase is left out. A is cut on the far side."""
    after, half = p + len(ref), window // 2
    if strand == "+":
        start, end = max(0, p - half) + f, min(len(bases), p - half + f + window)
        if start > p:
            return None
        r = bases[start:end]
        a = bases[start:p] + alt + bases[after:after + window]
    else:
        q0 = after - 1 + window - half
        q = min(len(bases), q0) - f
        if q < after:
            return None
        r = rc(bases[max(0, q0 - window - f):q])
        a = rc(bases[max(0, p - window):p] + alt + bases[after:q])
    size = min(len(a), len(r))
    return a[:size], r[:size]


def phases_of(option, ref, alt):
    """The phases of an allele under `--phases` auto, 1 or 6."""
    return range(6) if option == "6" or (option == "auto" and len(ref) != len(alt)) else range(1)


def next_token_context(bases, p, size, strand):
    left = bases[max(0, p - size):p] if strand == "+" else rc(bases[p + 1:p + 1 + size])
    left = left.lstrip("N")
    return left[len(left) % K:]


def strands(recipe, option):
    if option is None:
        option = "both" if recipe == "centered" else "+"
    return "+-" if option == "both" else option


def mean(values):
    return sum(values) / len(values)


def upper(variant):
    contig, pos, ref, alts, *info = variant
    return (contig, pos, ref.upper(), [alt.upper() for alt in alts], *info)


def says_something(pair, same):
    """Whether whole 6-mers of the two windows differ, as far as the alleles do."""
    return same or whole(pair[0]) != whole(pair[1])


def annotate(model, genome, variants, recipes=("centered",), window=8192, context=24000, strand=None, phases="auto",
             levels=("bp",)):
    """For each (contig, pos, ref, [alt, ...]) or (contig, pos, ref, [alt, ...], {INFO}) a dict of lists, a value an ALT:
    LLR, LLR_TOKEN, NT (those asked for; None is a missing value) and FLAG (None where nothing is missing). `genome`:
    upper-case bases by name."""
    windows, contexts, plans = {}, {}, []
    for variant in map(upper, variants):
        plan = []
        for i in range(len(variant[3])):
            reasons, needs = {}, {}
            for recipe in recipes:
                reasons[recipe], form = classify(genome, variant, i, recipe, window)
                if form is None:
                    continue
                p, ref, alt = form
                bases, needs[recipe] = genome[variant[0]], []
                for s in strands(recipe, strand):
                    if recipe == "centered":
                        pairs = [centered_windows(bases, p, ref, alt, window, s, f) for f in phases_of(phases, ref, alt)]
                        needs[recipe].append([(*pair, ref == alt) for pair in pairs if pair is not None])
                        for *pair, _ in needs[recipe][-1]:
                            windows.update(dict.fromkeys(pair))
                    else:
                        text = next_token_context(bases, p, context, s)
                        needs[recipe].append((text, alt, ref) if s == "+" else (text, rc(alt), rc(ref)))
                        contexts[text] = None
            plan.append((reasons, needs))
        plans.append(plan)
    logps, following = model.base_logps(windows), model.next_base(contexts)
    tokens = model.kmer_logps(windows) if "token" in levels else {}

    def difference(pair):
        return smaller(*(logps[bases] for bases in pair[:2]))

    def token_score(strands_of_pairs):
        """As `score`, without the phases that say nothing, and without strands that have none left."""
        left = [[pair for pair in pairs if says_something(pair[:2], pair[2])] for pairs in strands_of_pairs]
        return mean([mean([smaller(*(tokens[whole(bases)] for bases in pair[:2])) for pair in pairs])
                     for pairs in left if pairs]) if any(left) else None

    def smaller(a, r):
        n = min(len(a), len(r))
        return a[:n].sum() - r[:n].sum()

    def score(recipe, needs):
        if recipe not in needs:
            return None
        if recipe == "centered":  # the mean over the phases of a strand, then over the strands
            return mean([mean([difference(pair) for pair in pairs]) for pairs in needs[recipe]])
        return mean([following[text][alt] - following[text][ref] for text, alt, ref in needs[recipe]])

    out = []
    for plan in plans:
        values = {"LLR" if recipe == "centered" else "NT": [score(recipe, needs) for _, needs in plan] for recipe in recipes}
        ordered = [recipe for recipe in ("centered", "next-token") if recipe in recipes]
        values["FLAG"] = [next((reasons[recipe] for recipe in ordered if reasons[recipe]), None) for reasons, _ in plan]
        if "token" in levels:
            values["LLR_TOKEN"] = [token_score(needs["centered"]) if "centered" in needs else None for _, needs in plan]
            values["FLAG"] = [flag or ("edge" if value is None else None)
                              for flag, value in zip(values["FLAG"], values["LLR_TOKEN"])]
        if "bp" not in levels:
            del values["LLR"]
        out.append(values)
    return out


def mean_states(model, genome, variants, window=8192, strand=None, phases="auto"):
    """For each ALT of the variants (mean state of R, mean state of A), the mean over strands of the means over phases; None
    where there is no score, or no window with a whole 6-mer."""
    pairs_of = []
    for variant in map(upper, variants):
        for i in range(len(variant[3])):
            _, form = classify(genome, variant, i, "centered", window)
            if form is None:
                pairs_of.append([])
                continue
            pairs = [[centered_windows(genome[variant[0]], *form, window, s, f) for f in phases_of(phases, *form[1:])]
                     for s in strands("centered", strand)]
            pairs = [[pair for pair in of_strand if pair and len(pair[0]) >= K] for of_strand in pairs]
            pairs_of.append([of_strand for of_strand in pairs if of_strand])
    states = model.means({bases: None for pairs in pairs_of for of_strand in pairs for pair in of_strand for bases in pair})
    return [tuple(mean([mean([states[whole(pair[side])] for pair in of_strand]) for of_strand in pairs]) for side in (1, 0))
            if pairs else None for pairs in pairs_of]
