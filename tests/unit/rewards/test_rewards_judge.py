"""Whatever breaks inside a grader is a fault that names the domain, never a wrong answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from burnish.records import Abstained, Boundary, Faulted, Sample, Scored, Split, Task
from burnish.rewards.judge import judge

TASK = Task("mine/x", Split.TRAIN, 0, 0, ())


@dataclass
class Grader:
    outcome: Any
    name: str = "mine/x"

    def grade(self, task: Task, sample: Sample) -> Any:
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        return self.outcome


@pytest.mark.parametrize(
    "verdict",
    [Scored(0.0, passed=False), Scored(1.0, passed=True), Abstained("?"), Faulted(Boundary.SANDBOX, "down")],
)
def test_verdicts_stay_as_they_are(verdict: object) -> None:
    assert judge(Grader(verdict), TASK, Sample("")) is verdict


def test_an_exception_is_a_fault_with_type_message_and_place() -> None:
    verdict = judge(Grader(KeyError("column")), TASK, Sample(""))
    assert isinstance(verdict, Faulted)
    assert verdict.boundary is Boundary.DOMAIN
    assert "mine/x: KeyError: 'column' (test_rewards_judge.py:" in verdict.error


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan"), float("inf")])
def test_rewards_outside_the_range_are_faults(value: float) -> None:
    verdict = judge(Grader(Scored(value, passed=True)), TASK, Sample(""))
    assert isinstance(verdict, Faulted)
    assert "mine/x" in verdict.error


@pytest.mark.parametrize("steps", [(1.1,), (0.5, -0.1), (float("nan"), 0.0)])
def test_steps_outside_the_range_are_faults(steps: tuple[float, ...]) -> None:
    verdict = judge(Grader(Scored(1.0, passed=True, steps=steps)), TASK, Sample(""))
    assert isinstance(verdict, Faulted)
    assert "step" in verdict.error


@pytest.mark.parametrize("outcome", [None, True, 1.0, "right"])
def test_what_is_no_verdict_is_a_fault(outcome: object) -> None:
    assert isinstance(judge(Grader(outcome), TASK, Sample("")), Faulted)


def test_an_interrupt_is_no_fault() -> None:
    with pytest.raises(KeyboardInterrupt):
        judge(Grader(KeyboardInterrupt()), TASK, Sample(""))
