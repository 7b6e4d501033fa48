"""One call of a model: inputs go in, results come out, in their order."""

from collections import deque
from typing import Any, Callable, Deque, Dict, Iterator, Optional, Tuple, TypeVar

from . import _library
from ._errors import CarbonError
from ._library import AGAIN, END, OK, Arrays, check, lib
from ._progress import Teller

_Given = TypeVar("_Given")
_Result = TypeVar("_Result")

# Between two of these waits Python handles signals, so that Ctrl-C ends a call.
_WAIT_MS = 100


def results(opened: Callable[[], int], verb: str, options: Dict[str, Any], inputs: Iterator[Tuple[bytes, str, _Given]],
            read: Callable[[Arrays, _Given], _Result], teller: Teller, each: int = 1) -> Iterator[_Result]:
    """Reads the inputs as the results are taken.

    `opened` gives the handle of a model, which it keeps alive. An input is its text, what errors call it, and what `read` is given with
    each of its results, of which it has `each`.
    """
    call = _library.begin(opened(), verb, options)
    known = _library.verbs()[verb]["inputs"]
    added = 0
    arrays = Arrays(call)
    given: Deque[_Given] = deque()  # those with results still to come
    waiting: Optional[Tuple[bytes, str, _Given]] = None
    ended = False
    done = 0

    def windows() -> Tuple[int, int]:
        return _library.progress(call)

    try:
        teller.begin()
        while True:
            while not ended:
                if waiting is None:
                    waiting = next(inputs, None)
                if waiting is None:
                    check(lib.carbon_call_end(call))
                    ended = True
                elif _add(call, "%s[%d]" % (known, added), *waiting) == AGAIN:
                    break
                else:
                    added += 1
                    given.append(waiting[2])
                    waiting = None
            code = check(lib.carbon_call_next(call, _WAIT_MS))
            done += code == OK
            teller.at(done, windows, last=code == END)
            if code == END:
                return
            if code == OK:
                yield read(arrays, given[0] if done % each else given.popleft())
    finally:
        lib.carbon_call_free(call)
        teller.end()
        _library.pass_on_messages()


def _add(call: int, known: str, text: bytes, place: str, given: Any) -> int:
    """Adds an input, which the library calls `known`. An error says which one of several it is, and the name of a record."""
    try:
        return check(lib.carbon_call_add(call, text, len(text)))
    except CarbonError as error:
        if error.kind != "input":
            raise
        named = "%s (%s)" % (place, given) if isinstance(given, str) and given else place
        said = str(error).replace(known, named, 1)
        if said == str(error) and place.endswith("]") and known not in said:
            said = "%s: %s" % (named, said)
        raise CarbonError(said, error.kind) from None
