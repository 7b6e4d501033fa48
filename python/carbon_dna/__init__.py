"""DNA language models from Python, with the bits of the command ``carbon``.

>>> import carbon_dna
>>> with carbon_dna.Model("carbon-tiny") as model:
...     score = model.score(["ACGTACGTACGT"])[0]
>>> score.n_scored
12
"""

from ._errors import CarbonError
from ._files import Record, models, read_fasta
from ._library import version as _version
from ._model import Model
from ._results import Coding, Sample, Scan, Score, VariantScore, VariantScores

__version__ = _version()
__all__ = ["CarbonError", "Coding", "Model", "Record", "Sample", "Scan", "Score", "VariantScore", "VariantScores", "__version__", "models",
           "read_fasta"]
