"""Keys that cannot be shown by accident."""

from __future__ import annotations

from typing import NoReturn

MASK = "***"


class Secret:
    """Holds a key; every way of showing it gives ``***``, and it cannot be pickled.

    Two secrets are equal when their values are; a secret has no usable hash of its value.
    """

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the value; called only where a request is signed."""
        return self._value

    def __bool__(self) -> bool:
        return bool(self._value.strip())

    def __repr__(self) -> str:
        return MASK

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return format(MASK, spec)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(Secret)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret cannot be pickled or copied out")

    def __copy__(self) -> Secret:
        return self

    def __deepcopy__(self, memo: object) -> Secret:
        return self
