"""libcarbon by ctypes: where it is, its functions, and what they return."""

import contextlib
import ctypes
import errno
import functools
import json
import logging
import math
import os
import re
from ctypes import POINTER, byref, c_char_p, c_int, c_int64, c_void_p
from typing import Any, Callable, Dict, Iterator, List, Mapping, Tuple

import numpy as np
from numpy.typing import NDArray

from ._errors import KINDS, CarbonError

OK, AGAIN, END = 0, 1, 2
#: What the library needs to be, CARBON_API_VERSION of carbon.h.
API_VERSION = 3
#: The files of the wheel: a tree as ``make install`` makes it.
FILES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_files")

_SONAME = "libcarbon.so.0"
_TYPES: Dict[int, "np.dtype[Any]"] = {
    1: np.dtype(np.float64), 2: np.dtype(np.float32), 3: np.dtype(np.int64), 4: np.dtype(np.uint8)}
#: What the types of JSON Schema are in Python.
_KINDS: Dict[str, Tuple[Tuple[type, ...], str]] = {
    "string": ((str,), "a text"), "integer": ((int, float), "a whole number"), "number": ((int, float), "a number"),
    "boolean": ((bool,), "True or False"), "array": ((list, tuple), "a list"), "object": ((Mapping,), "a dict")}
#: The parameters that the library calls otherwise.
_PARAMETERS = {"model": "name", "fasta_ref": "fasta", "num": "n"}
_LEVELS = {"error": logging.ERROR, "warning": logging.WARNING, "info": logging.DEBUG, "message": logging.INFO}
_log = logging.getLogger("carbon_dna")
_view = ctypes.pythonapi.PyMemoryView_FromMemory
_view.restype = ctypes.py_object
_view.argtypes = [c_void_p, ctypes.c_ssize_t, c_int]
_READ = 0x100


def _load() -> ctypes.CDLL:
    beside = os.path.join(FILES, "lib", _SONAME)
    path = os.environ.get("CARBON_DNA_LIBRARY") or (beside if os.path.exists(beside) else _SONAME)
    try:
        library = ctypes.CDLL(path)
    except OSError as problem:
        raise ImportError("carbon_dna cannot load its library %s: %s" % (path, problem)) from problem
    if library.carbon_api_version() < API_VERSION:
        raise ImportError("%s is older than this package; install both of one version" % path)
    strings = [POINTER(c_char_p), POINTER(c_void_p)]
    for name, arguments in {
            "model_open": [c_char_p, strings[1]], "model_describe": [c_void_p, c_int, strings[1]], "model_close": [c_void_p],
            "call_new": [c_void_p, c_char_p, c_char_p, strings[1]], "call_add": [c_void_p, c_char_p, c_int64],
            "call_end": [c_void_p], "call_next": [c_void_p, c_int],
            "call_array": [c_void_p, c_char_p, strings[1], POINTER(c_int), POINTER(c_int), POINTER(POINTER(c_int64)), c_void_p],
            "call_cancel": [c_void_p], "call_free": [c_void_p], "log_next": [strings[1]],
            "call_progress": [c_void_p, POINTER(c_int64), POINTER(c_int64)], "models": [strings[1]], "verbs": [strings[1]],
            "fasta_open": [c_char_p, strings[1]], "fasta_next": [c_void_p, strings[1], strings[1], POINTER(c_int64)],
            "fasta_close": [c_void_p], "vcf_open": [c_char_p, strings[1]], "vcf_next": [c_void_p, strings[0]],
            "vcf_close": [c_void_p]}.items():
        function = getattr(library, "carbon_" + name)
        function.argtypes, function.restype = arguments, c_int
    library.carbon_free.argtypes, library.carbon_free.restype = [c_void_p], None
    for name in ("carbon_version", "carbon_error_text"):
        getattr(library, name).restype = c_char_p
    return library


lib = _load()


def version() -> str:
    """The version of the library."""
    return str(lib.carbon_version().decode())


def check(code: int) -> int:
    """Returns the code, or raises what the library says of it."""
    if code <= END:
        return code
    # The text is that of this thread, so nothing may come between.
    raise CarbonError(lib.carbon_error_text().decode("utf-8", "replace"), KINDS.get(code, "failed"))


def _text(handed_out: c_void_p) -> str:
    try:
        return ctypes.string_at(handed_out.value or 0).decode("utf-8", "replace")
    finally:
        lib.carbon_free(handed_out)


def pass_on_messages() -> None:
    """Gives the messages of the library to the logger ``carbon_dna``."""
    message = c_void_p()
    while lib.carbon_log_next(byref(message)) == OK:
        entry = json.loads(_text(message))
        _log.log(_LEVELS.get(entry["level"], logging.INFO), "%s: %s", entry["where"], entry["text"])


def settings_text(settings: Dict[str, Any], schemas: Mapping[str, Any]) -> bytes:
    """Settings as JSON, without those that are None. A value of another type than its JSON Schema has is a TypeError."""
    plain: Dict[str, Any] = {}
    for name, value in settings.items():
        if value is not None:
            parameter = _PARAMETERS.get(name, name)
            schema = schemas.get(name, {})
            plain[name] = as_json(value, parameter, schema)
            _check_type(plain[name], parameter, schema)
    return json.dumps(plain).encode()


def _wrong_type(value: Any, name: str, schema: Mapping[str, Any]) -> TypeError:
    return TypeError("%s is of the type %s; give %s" % (name, type(value).__name__, _kinds_of(schema)[1]))


def _kinds_of(schema: Mapping[str, Any]) -> Tuple[Tuple[type, ...], str]:
    kinds, words = _KINDS.get(schema.get("type", ""), ((object,), "a text or a number"))
    if any(word.isdigit() for word in schema.get("enum", ())):
        kinds = (str, int)  # 6 for "6"
    return kinds, words


def _check_type(value: Any, name: str, schema: Mapping[str, Any]) -> None:
    if not isinstance(value, _kinds_of(schema)[0]) or (isinstance(value, bool) and schema.get("type", "boolean") != "boolean"):
        raise _wrong_type(value, name, schema)
    if schema.get("type") == "array":
        for i, entry in enumerate(value):
            _check_type(entry, "%s[%d]" % (name, i), schema["items"])


def as_json(value: Any, name: str, schema: Mapping[str, Any]) -> Any:
    """The value of a setting as JSON has it. What JSON cannot hold is refused here, in words of Python."""
    if isinstance(value, os.PathLike):
        value = os.fsdecode(value)
    elif isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if isinstance(value, str):
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise CarbonError("%s is %a, which is not UTF-8" % (name, value), "setting") from None
    elif isinstance(value, float) and not math.isfinite(value):
        raise CarbonError("%s is %r; it must be a finite number" % (name, value), "setting")
    elif isinstance(value, int) and not -2 ** 63 <= value < 2 ** 64:
        raise CarbonError("%s is a number of %d bits, which is too large" % (name, value.bit_length()), "setting")
    elif isinstance(value, (list, tuple)):
        return [as_json(entry, "%s[%d]" % (name, i), schema.get("items", {})) for i, entry in enumerate(value)]
    elif isinstance(value, Mapping):
        return {str(key): as_json(entry, "%s[%r]" % (name, key), {}) for key, entry in value.items()}
    elif not isinstance(value, (bool, int, float, type(None))):
        raise _wrong_type(value, name, schema)
    return value


def _by_parameter(error: CarbonError, where: str, settings: Dict[str, Any]) -> CarbonError:
    """An error of a setting, which the library calls `where`.NAME, by the name of its parameter."""
    text = str(error)
    named = re.match(where + r"\.(\w+)", text)
    if named is None or named[1] not in settings:
        return error
    return CarbonError(_PARAMETERS.get(named[1], named[1]) + text[named.end():], error.kind)


def read_json(path: Any) -> Dict[str, Any]:
    """The object that a file of JSON holds."""
    try:
        with open(path, "rb") as file:
            text = file.read()
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as problem:
        # The text of an OSError has the name, too.
        raise CarbonError("cannot read %s: %s" % (path, getattr(problem, "strerror", problem)), "setting") from None
    try:
        read = json.loads(text)
    except ValueError as problem:
        raise CarbonError("%s is not JSON: %s" % (path, problem), "setting") from None
    if not isinstance(read, dict):
        raise CarbonError("%s is not an object of JSON" % path, "setting")
    return read


@contextlib.contextmanager
def missing_file(path: Any) -> Iterator[None]:
    """Where the library has refused a file because it is not there, that is Python's own error."""
    try:
        yield
    except CarbonError:
        if isinstance(path, (str, os.PathLike)):
            file = os.fsdecode(path).split("##idx##")[0]
            if file not in ("", "-") and "://" not in file and "\0" not in file and not os.path.exists(file):
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), file) from None
        raise


def _path_of_model(name: Any) -> Any:
    """What can be nothing but a path; ORG/NAME is also the name of a model."""
    is_name = isinstance(name, str) and not name.startswith(("/", ".")) and name.count("/") < 2 and not name.endswith((".gguf", "/"))
    return None if is_name else name


def open_model(settings: Dict[str, Any]) -> int:
    handle = c_void_p()
    numbers = ("threads", "batch_tokens")
    text = settings_text(settings, {name: {"type": "integer" if name in numbers else "string"} for name in settings})
    try:
        with missing_file(_path_of_model(settings["model"])), missing_file(settings["lora"]):
            check(lib.carbon_model_open(text, byref(handle)))
    except CarbonError as error:
        raise _by_parameter(error, "settings", settings) from None
    finally:
        pass_on_messages()
    return handle.value or 0


def describe(model: int, digest: bool) -> Dict[str, Any]:
    text = c_void_p()
    check(lib.carbon_model_describe(model, int(digest), byref(text)))
    described: Dict[str, Any] = json.loads(_text(text))
    return described


class Arrays:
    """Reads the arrays of the result at hand of a call."""

    def __init__(self, call: int) -> None:
        self._call = call
        self._data, self._type, self._dimensions = c_void_p(), c_int(), c_int()
        self._shape = POINTER(c_int64)()
        self._places = (byref(self._data), byref(self._type), byref(self._dimensions), byref(self._shape), None)

    def get(self, name: bytes) -> NDArray[Any]:
        """A copy of an array."""
        check(lib.carbon_call_array(self._call, name, *self._places))
        dtype = _TYPES[self._type.value]
        shape = self._shape[:self._dimensions.value]
        size = dtype.itemsize
        for n in shape:
            size *= n
        if size == 0:
            return np.empty(shape, dtype)
        view: memoryview = _view(self._data, size, _READ)
        return np.frombuffer(view, dtype).reshape(shape).copy()

    def number(self, name: bytes) -> float:
        return float(self.get(name)[()])

    def text(self, name: bytes) -> str:
        return self.get(name).tobytes().decode("utf-8", "replace")


@functools.lru_cache(maxsize=None)
def verbs() -> Dict[str, Dict[str, Any]]:
    """The verbs by their names, each with what its inputs are called, and the JSON Schema of its options."""
    text = c_void_p()
    check(lib.carbon_verbs(byref(text)))
    return {verb["name"]: verb for verb in json.loads(_text(text))}


def begin(model: int, verb: str, options: Dict[str, Any]) -> int:
    handle = c_void_p()
    text = settings_text(options, verbs()[verb]["options"]["properties"])
    try:
        with missing_file(options.get("fasta_ref")):
            check(lib.carbon_call_new(model, verb.encode(), text, byref(handle)))
    except CarbonError as error:
        raise _by_parameter(error, "options", options) from None
    return handle.value or 0


def progress(call: int) -> Tuple[int, int]:
    """How many windows of a call are computed, and how many it has so far."""
    done, planned = c_int64(), c_int64()
    check(lib.carbon_call_progress(call, byref(done), byref(planned)))
    return done.value, planned.value


def list_models() -> List[Dict[str, Any]]:
    text = c_void_p()
    check(lib.carbon_models(byref(text)))
    found: List[Dict[str, Any]] = json.loads(_text(text))
    return found


def _opened(open_file: Callable[..., int], path: Any) -> c_void_p:
    """The handle of a file."""
    handle = c_void_p()
    try:
        encoded = os.fsencode(path)
    except UnicodeEncodeError:
        raise CarbonError("the path is %a, which is no name of a file" % path, "input") from None
    if not encoded:
        raise CarbonError("the path is empty; give the path of a file", "input")
    if b"\0" in encoded:
        raise CarbonError("the path %r has a character of the code 0" % path, "input")
    with missing_file(path):
        check(open_file(encoded, byref(handle)))
    return handle


def vcf_variants(path: Any) -> Iterator[Dict[str, Any]]:
    """The alternative alleles of a VCF or BCF file: chrom, pos, ref, alt, and svlen and info of a named one."""
    vcf, variant = _opened(lib.carbon_vcf_open, path), c_char_p()
    try:
        while check(lib.carbon_vcf_next(vcf, byref(variant))) == OK:
            yield json.loads(variant.value or b"")
    finally:
        lib.carbon_vcf_close(vcf)
        pass_on_messages()


def fasta_records(path: Any) -> Iterator[Tuple[str, str]]:
    """Names and bases."""
    fasta, name, bases, length = _opened(lib.carbon_fasta_open, path), c_void_p(), c_void_p(), c_int64()
    try:
        while check(lib.carbon_fasta_next(fasta, byref(name), byref(bases), byref(length))) == OK:
            yield (ctypes.string_at(name.value or 0).decode("utf-8", "replace"),
                   ctypes.string_at(bases.value or 0, length.value).decode("ascii"))
    finally:
        lib.carbon_fasta_close(fasta)
        pass_on_messages()


__all__ = ["AGAIN", "END", "FILES", "OK", "Arrays", "begin", "check", "describe", "fasta_records", "lib", "list_models", "open_model",
           "pass_on_messages", "progress", "read_json", "vcf_variants", "verbs", "version"]
