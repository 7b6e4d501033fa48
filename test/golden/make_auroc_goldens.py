#!/usr/bin/env python3
"""Writes auroc.json: the metrics of auroc_cases.py by scikit-learn and scipy. Needs both; run it when the cases change."""

import json
import os

import auroc_cases

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "auroc.json"), "w") as f:
    json.dump({name: auroc_cases.with_sklearn(case) for name, case in auroc_cases.CASES.items()}, f, indent=1)
    f.write("\n")
