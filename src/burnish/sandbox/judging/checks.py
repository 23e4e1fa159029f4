"""What is expected of a program, and what became of it: frozen records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from burnish.sandbox.judging.text import TextRule
from burnish.sandbox.judging.values import EXACT, Rule
from burnish.sandbox.records import Call, Plain, RunRequest, RunResult, State, Tier


class Engine(Protocol):
    """What runs programs: a `Sandbox`, or another engine behind the same method."""

    def run(self, request: RunRequest) -> RunResult:
        """Run a program on its cases."""
        ...

    def close(self) -> None:
        """End what it holds."""
        ...


@dataclass(frozen=True, slots=True)
class CallCheck:
    """A call and the value it should give."""

    name: str
    """Unique within a suite, for reports."""
    call: Call
    expected: Plain
    rule: Rule = EXACT
    truth: bool = False
    """Only the truth of the value is asked for, as in `assert f(x)`; `expected` is then a bool."""
    public: bool = False
    """Whether the prompt shows this check."""


@dataclass(frozen=True, slots=True)
class ProgramCheck:
    """What a program reads and what it should print."""

    name: str
    stdin: bytes
    expected: bytes
    rule: TextRule = "lines"
    checker: str = ""
    """Code with `check(stdin, output, expected) -> bool`, run in a jail of its own, instead of `rule`."""
    public: bool = False


@dataclass(frozen=True, slots=True)
class TestProgram:
    """Tests as code, for a jail of their own; each is a statement that passes when nothing is raised."""

    __test__ = False

    tests: tuple[str, ...]
    names: Mapping[str, Literal["call", "value"]] = field(hash=False)
    """What belongs to the candidate: what is only ever called, and what has to be looked at first."""
    setup: str = ""
    """Runs before each test."""
    modules: tuple[str, ...] = ()
    """Modules of the library that tests use without importing them."""
    module: str = "solution"
    """Name from which tests may import what belongs to the candidate."""
    labels: tuple[str, ...] = ()
    """Name of each test, for reports; without any, their numbers."""
    public: frozenset[int] = frozenset()

    def label(self, number: int) -> str:
        """Name of a test."""
        return self.labels[number] if self.labels else f"test {number + 1}"


@dataclass(frozen=True, slots=True)
class Suite:
    """Everything that is expected of one program."""

    calls: tuple[CallCheck, ...] = ()
    programs: tuple[ProgramCheck, ...] = ()
    tests: TestProgram | None = None

    def __len__(self) -> int:
        return len(self.calls) + len(self.programs) + (len(self.tests.tests) if self.tests else 0)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one check."""

    name: str
    right: bool
    state: State = State.OK
    """How the candidate's run ended; an answer exists only when it is ok."""
    reason: str = ""
    """Why it is not right, for people; may quote what the candidate wrote."""
    cpu_seconds: float = 0.0
    """Of the candidate, by the supervisor's clock."""
    public: bool = False


@dataclass(frozen=True, slots=True)
class Judgement:
    """What became of a program: one outcome a check, in the order of the suite."""

    outcomes: tuple[Outcome, ...]
    tier: Tier = Tier.NONE
    """The weakest wall that any run of it had."""
    digest: str = ""
    fault: str = ""
    """What of ours broke; the outcomes then say nothing about the program."""

    @property
    def passed(self) -> int:
        """How many checks came out right."""
        return sum(outcome.right for outcome in self.outcomes)

    @property
    def all_passed(self) -> bool:
        """Whether every check came out right, and there was one."""
        return bool(self.outcomes) and not self.fault and self.passed == len(self.outcomes)

    @property
    def public_only(self) -> bool:
        """Whether all checks that the prompt shows came out right, and none of the others."""
        shown = [o.right for o in self.outcomes if o.public]
        hidden = [o.right for o in self.outcomes if not o.public]
        return bool(shown and hidden) and all(shown) and not any(hidden)

    @property
    def cpu_seconds(self) -> float:
        """CPU time of the candidate over all checks."""
        return sum(outcome.cpu_seconds for outcome in self.outcomes)

    @property
    def states(self) -> Mapping[State, int]:
        """How often each state was seen."""
        found = [outcome.state for outcome in self.outcomes]
        return {state: found.count(state) for state in State if state in found}
