"""What a program around carbon_dna may have set (its locale, how its threads round) changes no byte of a result."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from support import ROOT, SHAPE, SOURCE, checkpoint

CHILD = """
import ctypes, locale, sys
sys.path.insert(0, sys.argv[1])
import carbon_dna
name, mode, path, dtype = sys.argv[2], int(sys.argv[3]), sys.argv[4], sys.argv[5]
libm = ctypes.CDLL("libm.so.6")
locale.setlocale(locale.LC_ALL, name)
sequences = ["ACGTTAGCATCGATCGGCTAAGCTTAGCATTACGGA" * 3, "TTGACCATGGCATTCAGGATCC" * 5]
results, texts = [], []
assert libm.fesetround(mode) == 0
with carbon_dna.Model(path, dtype=dtype, threads=2, rope_scaling="yarn:1.5") as model:
    texts += [model.sha256, repr(model)]
    for score in model.score(sequences, probabilities=True):
        results += [score.logp, score.sum_logp, score.mean_logp, score.probabilities, score.entropy]
        texts.append(repr(score))
    results.append(model.embed(sequences))
    for sample in model.generate(["ACGT"], 24, seed=3, temperature=0.7, top_p=0.95, gc=(30.5, 70.25), gc_window=12):
        results.append(sample.logp)
        texts.append(repr(sample))
    results.append(model.scan(None, sequences[0]).logp)
    results.append(model.variants(None, [("", 14, "T", "G"), ("", 20, "A", "C")], sequence=sequences[0]).score)
    try:
        model.generate(["ACGT"], 24, temperature=-1.5)
    except carbon_dna.CarbonError as error:
        texts.append(str(error))
assert libm.fegetround() == mode
libm.fesetround(0)
print(*texts, sep="\\n")
for result in results:
    print(getattr(result, "tobytes", lambda: float.hex(result))())
print(locale.localeconv()["decimal_point"] == ".", file=sys.stderr)
"""
MODES = (0, 0x400, 0x800, 0xc00) if os.uname().machine == "x86_64" else (0, 0x800000, 0x400000, 0xc00000)


def locales():
    folder = tempfile.mkdtemp(dir=ROOT)
    for name in ("de_DE", "fa_IR", "tr_TR", "ps_AF"):  # the last has a decimal point of two bytes
        made = os.path.join(folder, name + ".UTF-8")
        if shutil.which("localedef"):
            subprocess.run(["localedef", "-i", name, "-f", "UTF-8", made], stderr=subprocess.DEVNULL)  # 1 is also for warnings
        if not os.path.exists(os.path.join(made, "LC_NUMERIC")):  # where it lacks its sources, it leaves an empty folder
            raise unittest.SkipTest("no localedef, or not the sources of its locales (Debian package locales)")
    return folder, ["C", "de_DE.UTF-8", "fa_IR.UTF-8", "tr_TR.UTF-8", "ps_AF.UTF-8"]


def test_locale_and_rounding_change_nothing():
    folder, names = locales()
    for dtype in ("bf16", "int8"):
        outputs, points = set(), set()
        for name, mode in zip(names, (*MODES, MODES[2])):
            done = subprocess.run([sys.executable, "-c", CHILD, os.path.join(SOURCE, "python"), name, str(mode), checkpoint(*SHAPE), dtype],
                                  env={**os.environ, "LOCPATH": folder}, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            assert len(done.stdout.splitlines()) == 6 + 14, done.stdout
            outputs.add(done.stdout)
            points.add(done.stderr.strip())
        assert len(outputs) == 1, "%d results of %s" % (len(outputs), dtype)
        assert points == {"True", "False"}, points
