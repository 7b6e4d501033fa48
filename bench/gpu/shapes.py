"""The shapes of bench_gpu.cpp and their models in transformers."""

VOCABULARY, DNA, KMERS = 4224, 0, 4096  # make_checkpoint --vocab 4224 --dna-start 0: <dna>, </dna>, <oov>, then the 6-mers
KMER0 = DNA + 3

SHAPES = {
    "500M": dict(layers=28, hidden=1024, heads=16, kv_heads=8, head_dim=64, intermediate=3072, max_positions=8192, tied=1),
    "3B": dict(layers=30, hidden=3072, heads=32, kv_heads=4, head_dim=96, intermediate=8448, max_positions=32768, tied=1),
    "8B": dict(layers=32, hidden=4096, heads=32, kv_heads=8, head_dim=128, intermediate=14336, max_positions=32768, tied=0),
    "tiny": dict(layers=1, hidden=64, heads=2, kv_heads=1, head_dim=64, intermediate=64, max_positions=8192, tied=1),
}


def checkpoint_options(shape):
    """Options of make_checkpoint."""
    options = dict(shape, vocab=VOCABULARY, dna_start=DNA, dtype="bf16")
    return [word for name, value in options.items() for word in ("--" + name.replace("_", "-"), str(value))]


def config(shape):
    import transformers
    return transformers.LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=shape["hidden"], num_hidden_layers=shape["layers"],
        num_attention_heads=shape["heads"], num_key_value_heads=shape["kv_heads"], head_dim=shape["head_dim"],
        intermediate_size=shape["intermediate"], tie_word_embeddings=bool(shape["tied"]), max_position_embeddings=shape["max_positions"],
        bos_token_id=None, eos_token_id=None)


def why_not(device):
    """Why transformers cannot run on a device, or None."""
    try:
        import torch
        import transformers
    except ImportError as error:
        return "no %s" % error.name
    if device != "cpu" and not torch.cuda.is_available():
        return "torch %s, transformers %s: torch finds no GPU" % (torch.__version__, transformers.__version__)
    return None
