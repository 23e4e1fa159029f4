"""Agents that know nothing, scored on a domain: what they earn, a grader pays for nothing.

`blank`, `echo` and `dont_know` should earn next to nothing everywhere. `constant` gives the most frequent
gold answer of the other half of the tasks (of its own half it would look better than it is), so what it
earns is the level of guessing: about a half where answers are yes or no.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from burnish.domains.base import Domain
from burnish.evaluation.intervals import Interval, wilson
from burnish.evaluation.plan import Judge
from burnish.records import Faulted, Sample, Scored, Task

ALARM = 0.1
"""Share of tasks passed from which an agent other than `constant` is alarming."""
CONSTANT_ALARM = 0.9
"""The same for `constant`."""

Agent = Callable[[int, Sequence[Task]], str]
"""(number of the task, all tasks) to a completion."""


@dataclass(frozen=True, slots=True)
class TrivialScore:
    """What one agent earned on a domain."""

    agent: str
    passed: Interval
    """Share of the judged tasks it passed."""
    value: float
    """Mean reward over the judged tasks, 0 when none was judged."""
    faults: int
    """Completions whose grading broke."""

    @property
    def alarming(self) -> bool:
        """Whether the grader pays this agent for nothing; true also when only its reward is high."""
        bound = CONSTANT_ALARM if self.agent == "constant" else ALARM
        return self.earned >= bound

    @property
    def earned(self) -> float:
        """The larger of pass rate and mean reward, 0 when nothing was judged."""
        return max(_or_zero(self.passed.value), self.value)

    @property
    def complaint(self) -> str:
        """What is wrong with the domain, when the agent is alarming."""
        if self.agent == "constant":
            return f"one constant answer earns {self.earned:.0%}"
        return f"the agent {self.agent!r}, which knows nothing, earns {self.earned:.0%}"


def _blank(number: int, tasks: Sequence[Task]) -> str:
    return ""


def _dont_know(number: int, tasks: Sequence[Task]) -> str:
    return "I don't know"


def _echo(number: int, tasks: Sequence[Task]) -> str:
    return tasks[number].messages[-1].content


def _constant(number: int, tasks: Sequence[Task]) -> str:
    half = len(tasks) // 2
    others = tasks[half:] if number < half else tasks[:half]
    golds = Counter(other.gold for other in others if other.gold is not None)
    return golds.most_common(1)[0][0] if golds else "0"


AGENTS: Mapping[str, Agent] = {
    "blank": _blank,
    "constant": _constant,
    "echo": _echo,
    "dont_know": _dont_know,
}


def trivial_scores(
    domain: Domain, tasks: Sequence[Task], judge: Judge, confidence: float = 0.95
) -> list[TrivialScore]:
    """What every agent earns on the tasks, each answer bare and inside answer tags, whichever pays more."""
    score = partial(_score, judge=judge, confidence=confidence)
    found = []
    for name, agent in AGENTS.items():
        bare = [agent(number, tasks) for number in range(len(tasks))]
        tagged = [f"<answer>{answer}</answer>" for answer in bare]
        tried = [score(name, domain, tasks, answers) for answers in (bare, tagged)]
        found.append(max(tried, key=lambda one: (_or_zero(one.passed.value), one.value)))
    return found


def _score(
    agent: str,
    domain: Domain,
    tasks: Sequence[Task],
    answers: Sequence[str],
    *,
    judge: Judge,
    confidence: float,
) -> TrivialScore:
    samples = [Sample(text=answer) for answer in answers]
    verdicts = [judge(domain, task, sample) for task, sample in zip(tasks, samples, strict=True)]
    scored = [verdict for verdict in verdicts if isinstance(verdict, Scored)]
    value = sum(verdict.value for verdict in scored) / len(scored) if scored else 0.0
    passed = wilson(sum(verdict.passed for verdict in scored), len(scored), confidence)
    return TrivialScore(agent, passed, value, sum(isinstance(verdict, Faulted) for verdict in verdicts))


def _or_zero(value: float) -> float:
    return 0.0 if math.isnan(value) else value


def best_trivial(scores: Sequence[TrivialScore]) -> TrivialScore | None:
    """The agent that passes most often; None when nothing could be judged."""
    judged = [score for score in scores if not math.isnan(score.passed.value)]
    return max(judged, key=lambda score: score.passed.value, default=None)
