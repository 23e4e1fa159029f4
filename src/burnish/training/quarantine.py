"""Domains whose graders do nothing but fault are drawn no more, and tried again later: a circuit breaker.

    closed     drawn; `after` groups in a row without a single verdict open it
    open       not drawn for `wait` steps
    half open  drawn again; the next group decides: a verdict closes it, none opens it for twice as long

Faults never reach a loss whatever the breaker says; it only saves the prompts that would teach nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

from burnish.records import Faulted, Group

LONGEST_WAIT = 16
"""Most times the first wait that a domain is left alone."""


@dataclass(frozen=True, slots=True)
class Breaker:
    """One domain; `Breaker()` is closed and has seen no fault."""

    streak: int = 0
    """Groups in a row whose samples all faulted."""
    until: int | None = None
    """While open, the step of the stage before which it is tried again; None: not open, or for good."""
    waits: int = 0
    """How often it opened since it last worked."""
    open: bool = False

    @property
    def half_open(self) -> bool:
        """Whether the next group decides."""
        return self.waits > 0 and not self.open


@dataclass(frozen=True, slots=True)
class Opened:
    """A breaker that opened in this step."""

    domain: str
    reason: str


@dataclass(frozen=True, slots=True)
class Rule:
    """When a breaker opens, and for how long."""

    after: int
    """Groups in a row without a verdict."""
    wait: int
    """Steps until it is tried again the first time; 0 = never."""


@dataclass(frozen=True)
class Breakers:
    """Every domain that is not simply closed."""

    by_domain: Mapping[str, Breaker]

    @property
    def open(self) -> list[str]:
        """Domains that are not drawn, sorted."""
        return sorted(name for name, breaker in self.by_domain.items() if breaker.open)

    def due(self, step: int) -> list[str]:
        """Open domains to be tried again at this step, sorted."""
        return [n for n in self.open if (u := self.by_domain[n].until) is not None and u <= step]

    def tried_again(self, domains: Sequence[str]) -> Self:
        """The same with these half open."""
        half = {name: replace(self.by_domain[name], open=False, until=None) for name in domains}
        return replace(self, by_domain={**self.by_domain, **half})

    def after(self, groups: Sequence[Group], step: int, rule: Rule) -> tuple[Self, list[Opened], list[str]]:
        """Take in the graded groups of a step.

        Args:
            groups: in any order; one group with a verdict shows that its domain works.
            step: steps of the stage that are done, these groups' included.
            rule: of the recipe.

        Returns:
            The new state, the breakers that opened, and the domains that work again.
        """
        table, opened, mended = dict(self.by_domain), [], []
        for name, errors in _by_domain(groups).items():
            old = table.pop(name, Breaker())
            if None in errors:
                mended += [name] if old.waits else []
                continue
            table[name] = _broken(old, len(errors), step, rule)
            if table[name].open and not old.open:
                opened.append(Opened(name, _reason(table[name], str(errors[-1]), step)))
        return replace(self, by_domain=table), opened, mended

    def to_json(self) -> dict[str, Any]:
        """Plain data for `json.dumps`."""
        return {name: asdict(breaker) for name, breaker in sorted(self.by_domain.items())}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Inverse of `to_json`."""
        return cls({name: Breaker(**breaker) for name, breaker in data.items()})


NONE_OPEN = Breakers({})


def _fault(group: Group) -> str | None:
    """The last fault of a group that has no verdict but faults; None of any other group."""
    errors = [v.error for v in group.verdicts if isinstance(v, Faulted)]
    return errors[-1] if errors and len(errors) == len(group.verdicts) else None


def _by_domain(groups: Sequence[Group]) -> dict[str, list[str | None]]:
    """What broke in each group, by domain."""
    table: dict[str, list[str | None]] = {}
    for group in groups:
        table.setdefault(group.task.domain, []).append(_fault(group))
    return table


def _broken(breaker: Breaker, groups: int, step: int, rule: Rule) -> Breaker:
    """The breaker after some more groups without a verdict."""
    new = replace(breaker, streak=breaker.streak + groups)
    if new.open or (new.streak < rule.after and not new.half_open):
        return new
    wait = rule.wait * min(2**new.waits, LONGEST_WAIT)
    return replace(new, open=True, waits=new.waits + 1, until=step + wait if wait else None)


def _reason(breaker: Breaker, error: str, step: int) -> str:
    again = (
        "it is not tried again" if breaker.until is None else f"tried again in {breaker.until - step} steps"
    )
    return f"{breaker.streak} groups in a row without a verdict; {again}; the last fault: {error}"
