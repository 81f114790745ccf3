"""A parser of DynamoDB's expressions: what they name, what they update, and how many operators they have.

It imports nothing but Python's own: it runs in the emulator's environment, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

type Path = tuple[str | int, ...]

_TOKEN = re.compile(r"\s*(?:(?P<word>[#:]?[A-Za-z0-9_]+)|(?P<sign><>|<=|>=|[=<>(),.\[\]+-]))")
_COMPARATORS = frozenset({"=", "<>", "<", "<=", ">", ">="})
_TESTS = {"attribute_exists": 1, "attribute_not_exists": 1, "attribute_type": 2, "begins_with": 2, "contains": 2}
"""Functions that are conditions, and how many arguments each has."""
_VALUES = {"if_not_exists": 2, "list_append": 2}
"""Functions that are values of a `SET`."""
_CLAUSES = frozenset({"SET", "REMOVE", "ADD", "DELETE"})


class Malformed(Exception):
    """An expression that DynamoDB would not parse."""


@dataclass
class Expression:
    """What an expression says.

    Attributes:
        words: attribute names that are written out.
        names: placeholders of names, with their `#`.
        values: placeholders of values, with their `:`.
        paths: all document paths, with placeholders as they stand.
        targets: those that an update changes.
        operators: operators and functions.
        longest_list: operands of the longest `IN`.
        redundant: something stands in two pairs of parentheses.
    """

    words: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    values: set[str] = field(default_factory=set)
    paths: list[Path] = field(default_factory=list)
    targets: list[Path] = field(default_factory=list)
    operators: int = 0
    longest_list: int = 0
    redundant: bool = False


def parse(kind: str, text: str) -> Expression:
    """Return what an expression says. `kind` is its field in a request, such as `UpdateExpression`.

    Raises:
        Malformed: it cannot be parsed.
    """
    parser = _Parser(text)
    if kind == "UpdateExpression":
        parser.update()
    elif kind == "ProjectionExpression":
        parser.several(parser.path)
    else:
        parser.condition()
    if parser.peek():
        raise Malformed(f"unexpected {parser.peek()!r}")
    return parser.found


def _tokens(text: str) -> list[str]:
    tokens, place = list[str](), 0
    while place < len(text.rstrip()):
        match = _TOKEN.match(text, place)
        if not match:
            raise Malformed(f"cannot read {text[place : place + 20]!r}")
        tokens.append(match["word"] or match["sign"])
        place = match.end()
    return tokens


class _Parser:
    """Reads tokens from left to right; each method reads one construct."""

    def __init__(self, text: str) -> None:
        self.found = Expression()
        self._tokens = _tokens(text)
        self._place = 0

    def peek(self, ahead: int = 0) -> str:
        place = self._place + ahead
        return self._tokens[place] if place < len(self._tokens) else ""

    def take(self, *wanted: str) -> str:
        token = self.peek()
        if not token or (wanted and token.upper() not in wanted):
            raise Malformed(f"{token!r} instead of {' or '.join(wanted) or 'something'}")
        self._place += 1
        return token

    def several(self, one: Callable[[], object]) -> int:
        one()
        count = 1
        while self.peek() == ",":
            self.take()
            one()
            count += 1
        return count

    def path(self) -> Path:
        path: list[str | int] = [self._element()]
        while self.peek() in {".", "["}:
            if self.take() == ".":
                path.append(self._element())
            else:
                path.append(int(self.take()))
                self.take("]")
        self.found.paths.append(tuple(path))
        return tuple(path)

    def _element(self) -> str:
        token = self.take()
        if token.startswith("#"):
            self.found.names.add(token)
        elif token[0].isalpha() or token[0] == "_":
            self.found.words.add(token)
        else:
            raise Malformed(f"{token!r} is no name")
        return token

    def condition(self) -> None:
        self._and()
        while self.peek().upper() == "OR":
            self._operator()
            self._and()

    def _and(self) -> None:
        self._not()
        while self.peek().upper() == "AND":
            self._operator()
            self._not()

    def _not(self) -> None:
        if self.peek().upper() == "NOT":
            self._operator()
            self._not()
        elif self.peek() == "(":
            self._parenthesised()
        elif self.peek().lower() in _TESTS and self.peek(1) == "(":
            self._function(_TESTS, self._operand)
        else:
            self._comparison()

    def _parenthesised(self) -> None:
        self.take("(")
        begins, start = self.peek() == "(", self._place
        self.condition()
        if begins and self._closes(start) == self._place - 1:
            self.found.redundant = True
        self.take(")")

    def _closes(self, start: int) -> int:
        depth = 0
        for place in range(start, len(self._tokens)):
            depth += {"(": 1, ")": -1}.get(self._tokens[place], 0)
            if depth == 0:
                return place
        raise Malformed("a parenthesis is not closed")

    def _comparison(self) -> None:
        self._operand()
        operator = self._operator()
        if operator == "BETWEEN":
            self._operand()
            self.take("AND")
            self._operand()
        elif operator == "IN":
            self.take("(")
            self.found.longest_list = max(self.found.longest_list, self.several(self._operand))
            self.take(")")
        elif operator in _COMPARATORS:
            self._operand()
        else:
            raise Malformed(f"{operator!r} is no comparison")

    def _operand(self) -> None:
        if self.peek().lower() == "size" and self.peek(1) == "(":
            self._function({"size": 1}, self.path)
        elif self.peek().startswith(":"):
            self.found.values.add(self.take())
        else:
            self.path()

    def _operator(self) -> str:
        self.found.operators += 1
        return self.take().upper()

    def _function(self, known: dict[str, int], argument: Callable[[], object]) -> None:
        name = self._operator().lower()
        self.take("(")
        if self.several(argument) != known[name]:
            raise Malformed(f"{name} takes {known[name]} arguments")
        self.take(")")

    def update(self) -> None:
        seen = set[str]()
        while self.peek():
            clause = self.take(*_CLAUSES - seen).upper()
            seen.add(clause)
            self.several({"SET": self._set, "REMOVE": self._remove}.get(clause, self._amount))
        if not seen:
            raise Malformed("it is empty")

    def _target(self) -> None:
        self.found.operators += 1
        self.found.targets.append(self.path())

    def _set(self) -> None:
        self._target()
        self.take("=")
        self._value()

    def _remove(self) -> None:
        self._target()

    def _amount(self) -> None:
        self._target()
        token = self.take()
        if not token.startswith(":"):
            raise Malformed(f"{token!r} is no value")
        self.found.values.add(token)

    def _value(self) -> None:
        self._set_operand()
        if self.peek() in {"+", "-"}:
            self._operator()
            self._set_operand()

    def _set_operand(self) -> None:
        if self.peek().lower() in _VALUES and self.peek(1) == "(":
            self._function(_VALUES, self._set_operand)
        elif self.peek() == "(":
            self.take()
            self._value()
            self.take(")")
        else:
            self._operand()
