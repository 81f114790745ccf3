"""A DynamoDB client that answers as it is told, and a clock that no test waits for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from botocore.exceptions import ClientError
from mypy_boto3_dynamodb import DynamoDBClient

from fencepost.kernel.aws.calls import Observer, RetryPolicy
from fencepost.kernel.aws.table import Table
from fencepost.kernel.errors import ErrorCode

type Answer = Mapping[str, Any] | Exception | Callable[[Mapping[str, Any]], Mapping[str, Any]]


def refusal(code: str, **details: Any) -> ClientError:
    """Return an error as the SDK raises it where the service answers one."""
    response: Any = {"Error": {"Code": code, "Message": "of table secret-name"}, **details}
    return ClientError(response, "Operation")


@dataclass
class ScriptedClient:
    """Answers each request with the next answer, and with the last one again and again."""

    answers: list[Answer]
    sent: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def __getattr__(self, operation: str) -> Callable[..., Mapping[str, Any]]:
        def call(**request: Any) -> Mapping[str, Any]:
            self.sent.append((operation, request))
            answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
            if isinstance(answer, Exception):
                raise answer
            return answer(request) if callable(answer) else answer

        return call

    @property
    def request(self) -> dict[str, Any]:
        """The last request."""
        return self.sent[-1][1]


@dataclass
class Time:
    """A clock that moves when it is slept on, and by `tick` seconds whenever it is read."""

    now: float = 0.0
    tick: float = 0.0
    pauses: list[float] = field(default_factory=list)

    def read(self) -> float:
        self.now += self.tick
        return self.now

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds

    def policy(self, deadline: float = 2.0, jitters: Iterator[float] | None = None) -> RetryPolicy:
        """Return a retry policy on this clock; without jitter, each pause is half its step."""
        draw = (lambda: 0.0) if jitters is None else (lambda: next(jitters))
        return RetryPolicy(deadline, clock=self.read, sleep=self.sleep, jitter=draw)


@dataclass
class Bench:
    """A table on a scripted client and a clock of its own."""

    client: ScriptedClient
    time: Time
    table: Table


def bench(*answers: Answer, observer: Observer | None = None, deadline: float = 2.0) -> Bench:
    """Return a table whose client gives these answers."""
    client, time = ScriptedClient(list(answers)), Time()
    table = Table(
        "things",
        lambda: cast("DynamoDBClient", client),
        ErrorCode.LEDGER_UNAVAILABLE,
        retries=time.policy(deadline),
        observer=observer,
    )
    return Bench(client, time, table)
