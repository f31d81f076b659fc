"""Arithmetic of job files: `+ - * / % ^` and parentheses over whole numbers with units."""

from __future__ import annotations

import re
from collections.abc import Callable

TOKENS_MOST = 64
"""Most numbers, operators and parentheses of an expression."""

VALUE_MOST = 1 << 128
"""Bound on every intermediate value, which keeps the numbers short."""

_TOKEN = re.compile(r"\s*([0-9][0-9a-z]*|[-+*/%^()])", re.IGNORECASE)


def evaluate(text: str, term: Callable[[str], int], expected: str) -> int:
    """Returns the value of an expression. `term` reads a number with its unit.

    Raises ValueError with `expected` for a text that is no expression, or whose value is below 0.
    """
    value = _Expression(text, term, expected).value()
    if value < 0:
        raise ValueError(expected)
    return value


class _Expression:
    """Tokens of an expression, which are read from left to right."""

    def __init__(self, text: str, term: Callable[[str], int], expected: str) -> None:
        self._term, self._expected, self._at = term, expected, 0
        self._tokens = _TOKEN.findall(text)
        if _TOKEN.sub("", text).strip() or len(self._tokens) > TOKENS_MOST:
            raise ValueError(expected)

    def value(self) -> int:
        value = self._sum()
        if self._peek():
            raise ValueError(self._expected)
        return value

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _take(self) -> str:
        token = self._peek()
        self._at += 1
        return token

    def _sum(self) -> int:
        value = self._product()
        while self._peek() in ("+", "-"):
            value = value + self._product() if self._take() == "+" else value - self._product()
        return value

    def _product(self) -> int:
        value = self._power()
        while self._peek() in ("*", "/", "%"):
            operator = self._take()
            other = self._power()
            if operator == "*":
                value *= other
            elif other == 0:
                raise ValueError(self._expected)
            else:
                value = value // other if operator == "/" else value % other
            self._check(value)
        return value

    def _power(self) -> int:
        base = self._factor()
        if self._peek() != "^":
            return base
        self._take()
        exponent = self._power()
        if not 0 <= exponent <= 128 or abs(base) > VALUE_MOST:
            raise ValueError(self._expected)
        value = int(base**exponent)
        self._check(value)
        return value

    def _factor(self) -> int:
        token = self._take()
        if token == "-":
            return -self._factor()
        if token == "(":
            value = self._sum()
            if self._take() != ")":
                raise ValueError(self._expected)
            return value
        if not token or token in "+*/%^)":
            raise ValueError(self._expected)
        return self._term(token)

    def _check(self, value: int) -> None:
        if abs(value) > VALUE_MOST:
            raise ValueError(self._expected)
