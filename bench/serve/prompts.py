"""Writes what the benchmark clients need: prompts.jsonl with COUNT prompts of BASES bases for guidellm and vllm,
conversations.jsonl with the same for sglang, and a tokenizer of the 4,096 6-mers in the layout of transformers, with which they
count tokens. prompts.py FOLDER COUNT BASES OUTPUT_TOKENS"""

import itertools
import json
import sys

from tokenizers import Regex, Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from checks import random_bases

folder, count, bases, output = sys.argv[1], *map(int, sys.argv[2:])
with open(f"{folder}/prompts.jsonl", "w") as file, open(f"{folder}/conversations.jsonl", "w") as conversations:
    for i in range(count):
        prompt = "<dna>" + random_bases(bases, i)
        file.write(json.dumps({"prompt": prompt, "output_tokens": output, "output_tokens_count": output}) + "\n")
        turns = [{"content": prompt}, {"content": "<dna>" + random_bases(6 * output, count + i)}]
        conversations.write(json.dumps({"conversations": turns}) + "\n")

vocabulary = ["<unk>", "<dna>", "</dna>", *map("".join, itertools.product("ATCG", repeat=6))]
tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(vocabulary)}, unk_token="<unk>"))
tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex("</?dna>|[ACGT]{1,6}"), "isolated")
PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>").save_pretrained(f"{folder}/tokenizer")
