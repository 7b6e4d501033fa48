"""How far a call is, told to a function or shown by tqdm."""

import logging
import time
from typing import Any, Callable, Optional, Tuple, Union

#: A function that takes how much is done and of how much (None where that is not known); True: a bar of tqdm.
Progress = Union[bool, Callable[[int, Optional[int]], object], None]

# Ten times a second is enough for whoever looks at it.
_SECONDS = 0.1


class Teller:
    """Tells of one call. `total` is the number of its results, if that is known before."""

    def __init__(self, progress: Progress, total: Optional[int]) -> None:
        if not (progress is None or isinstance(progress, bool) or callable(progress)):
            raise TypeError("progress is of the type %s; give True, or a function that takes (done, total)" % type(progress).__name__)
        self._tell = progress if callable(progress) else None
        self._shows = progress is True
        self._total = total
        self._bar: Any = None
        self._next = 0.0

    def begin(self) -> None:
        """Shows the bar, if there shall be one."""
        if not self._shows:
            return
        try:
            from tqdm.auto import tqdm
        except ImportError:
            logging.getLogger("carbon_dna").warning("progress=True shows nothing here, because the package tqdm is not installed")
            return
        self._bar = tqdm(total=self._total, unit=" windows" if self._total == 1 else " results")

    def at(self, done: int, windows: Callable[[], Tuple[int, int]], last: bool = False) -> None:
        """So many results are done. Of a single one, `windows` says how many windows are, and of how many."""
        if self._tell is None and self._bar is None:
            return
        now = time.monotonic()
        if now < self._next and not last:
            return
        self._next = now + _SECONDS
        total = self._total
        if total == 1:
            done, total = windows()
            if total == 0:
                return
        if self._tell is not None:
            self._tell(done, total)
        else:
            self._bar.total = total
            self._bar.update(done - self._bar.n)

    def end(self) -> None:
        """Lets go of the bar."""
        if self._bar is not None:
            self._bar.close()
