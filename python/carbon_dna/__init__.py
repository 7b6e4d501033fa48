"""DNA language models from Python, with the bits of the command ``carbon``.

>>> import carbon_dna
>>> gene = "ACGTTAGCATCGATCGGCTAAG"
>>> with carbon_dna.Model("carbon-tiny") as model:
...     score = model.score([gene])[0]  # log-probabilities of its bases
...     scores = model.variants(None, [("", 5, "T", "A")], sequence=gene)  # or a FASTA, and a VCF or a frame
...     scan = model.scan(None, gene)  # of each letter at each base, also of a region of a FASTA
...     states = model.embed([gene])  # a row of hidden states for each sequence
...     sample = model.generate([gene], 60)[0]  # new bases after these
>>> score.n_scored, len(scores), scan.logp.shape, states.shape[0], len(sample.sequence)
(22, 1, (22, 4), 1, 60)

``help(carbon_dna.Model)`` has all methods and their parameters.
"""

from ._errors import CarbonError
from ._files import Record, models, read_fasta
from ._library import version as _version
from ._model import Model
from ._results import Coding, Sample, Scan, Score, VariantScore, VariantScores

__version__ = _version()
__all__ = ["CarbonError", "Coding", "Model", "Record", "Sample", "Scan", "Score", "VariantScore", "VariantScores", "__version__", "models",
           "read_fasta"]
