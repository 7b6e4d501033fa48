"""The one exception of the package."""

#: The codes of carbon.h, by the words that :attr:`CarbonError.kind` has.
KINDS = {3: "argument", 4: "closed", 5: "setting", 6: "input", 7: "model", 8: "memory", 9: "cancelled", 10: "forked", 11: "failed"}


class CarbonError(Exception):
    """What carbon says is wrong, in a sentence.

    All methods keep to one rule: a file that is not there is a :class:`FileNotFoundError` with its name, an argument of the wrong type
    a :class:`TypeError` that says what to give, and everything else a ``CarbonError``, also what a file contains, whose name it has, and
    a model that is not found by its name.

    Attributes
    ----------
    kind : str
        ``"setting"`` (an option is unknown, or its value cannot be used), ``"input"`` (a sequence, variant or file),
        ``"model"`` (it cannot be opened, or not be used for this), ``"memory"``, ``"closed"``, ``"cancelled"``, ``"forked"``
        (this process is a child, by fork, of the one that opened the model), ``"failed"`` (the computation), or
        ``"argument"``.

    Examples
    --------
    >>> import carbon_dna
    >>> try:
    ...     carbon_dna.Model("no-such-model")
    ... except carbon_dna.CarbonError as error:
    ...     print(error.kind)
    model
    """

    def __init__(self, message: str, kind: str = "failed") -> None:
        super().__init__(message)
        self.kind = kind
