"""Writes what the benchmark clients need: prompts.jsonl with COUNT prompts of BASES bases (and "output_tokens"), and a tokenizer
of the 4,096 6-mers in the layout of transformers, with which clients count tokens. prompts.py FOLDER COUNT BASES OUTPUT_TOKENS"""

import itertools
import json
import sys

from tokenizers import Regex, Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from checks import random_bases

folder, count, bases, output = sys.argv[1], *map(int, sys.argv[2:])
with open(f"{folder}/prompts.jsonl", "w") as file:
    for i in range(count):
        file.write(json.dumps({"prompt": "<dna>" + random_bases(bases, i), "output_tokens": output, "output_tokens_count": output}) + "\n")

vocabulary = ["<unk>", "<dna>", "</dna>", *map("".join, itertools.product("ATCG", repeat=6))]
tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(vocabulary)}, unk_token="<unk>"))
tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex("</?dna>|[ACGT]{1,6}"), "isolated")
PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>").save_pretrained(f"{folder}/tokenizer")
