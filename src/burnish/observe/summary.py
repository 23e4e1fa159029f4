"""`summary.json` read with care: a run may have stopped early, and any part may be missing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

Mode = Literal["sampled", "greedy"]
MODES: tuple[Mode, ...] = ("sampled", "greedy")

_LABELS = {"before": "before", "sft": "after SFT", "rl": "after RL"}
_ABBREVIATIONS = {"before": "before", "sft": "SFT", "rl": "RL"}


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its 95% interval; the bounds are None when they are not known."""

    value: float
    low: float | None = None
    high: float | None = None

    @property
    def is_gain(self) -> bool:
        """The whole interval lies above zero."""
        return self.low is not None and self.low > 0

    @property
    def is_loss(self) -> bool:
        """The whole interval lies below zero."""
        return self.high is not None and self.high < 0


@dataclass(frozen=True, slots=True)
class Pair:
    """Two evaluations that are compared."""

    start: str
    end: str

    @property
    def label(self) -> str:
        """For a column: `RL - SFT`."""
        return f"{abbreviation(self.end)} - {abbreviation(self.start)}"


@dataclass(frozen=True, slots=True)
class Loss:
    """A domain that ended significantly worse."""

    domain: str
    mode: Mode
    pair: Pair
    difference: Interval


class Summary:
    """The figures of a run; every look-up returns None when the summary does not have it."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data
        self._evaluations = {str(e["name"]): e for e in _dicts(data.get("evaluations")) if "name" in e}
        self._differences = {
            Pair(str(d["from"]), str(d["to"])): d
            for d in _dicts(data.get("differences"))
            if "from" in d and "to" in d
        }

    @property
    def names(self) -> list[str]:
        """Evaluations in the order they were made."""
        return list(self._evaluations)

    @property
    def modes(self) -> list[Mode]:
        """Modes that at least one evaluation has."""
        return [mode for mode in MODES if any(_dict(e.get(mode)) for e in self._evaluations.values())]

    @cached_property
    def pairs(self) -> list[Pair]:
        """Comparisons with the last evaluation, the nearest start first; any others after them."""
        order = {name: place for place, name in enumerate(self.names)}
        known = sorted(self._differences, key=lambda p: (-order.get(p.end, -1), -order.get(p.start, -1)))
        last = self.names[-1] if self.names else None
        return [p for p in known if p.end == last] or known

    @cached_property
    def domains(self) -> list[str]:
        """All domains: trained ones first, then held-out ones, each by name."""
        found = {domain for e in self._evaluations.values() for mode in MODES for domain in _domains(e, mode)}
        return sorted(found, key=lambda domain: (self.is_held_out(domain), domain))

    @property
    def trained(self) -> list[str]:
        """Domains that were trained on."""
        return [domain for domain in self.domains if not self.is_held_out(domain)]

    @property
    def held_out(self) -> list[str]:
        """Domains that were only evaluated."""
        return [domain for domain in self.domains if self.is_held_out(domain)]

    def is_held_out(self, domain: str) -> bool:
        """Whether the domain was only evaluated."""
        return any(
            bool(_dict(_domains(e, mode).get(domain)).get("held_out"))
            for e in self._evaluations.values()
            for mode in MODES
        )

    def tasks(self, domain: str) -> int | None:
        """Evaluated tasks of a domain."""
        counts = [
            _dict(_domains(e, mode).get(domain)).get("tasks")
            for e in self._evaluations.values()
            for mode in MODES
        ]
        return next((int(count) for count in counts if isinstance(count, int | float)), None)

    def accuracy(self, name: str, mode: Mode, domain: str | None = None) -> Interval | None:
        """Accuracy in an evaluation; the macro average when `domain` is None."""
        return _figure(self._evaluations.get(name), mode, domain)

    def difference(self, pair: Pair, mode: Mode, domain: str | None = None) -> Interval | None:
        """Change between two evaluations; of the macro average when `domain` is None."""
        return _figure(self._differences.get(pair), mode, domain)

    def held_out_mean(self, name: str, mode: Mode) -> float | None:
        """Plain mean over the held-out domains; it has no interval of its own."""
        found = [self.accuracy(name, mode, domain) for domain in self.held_out]
        values = [figure.value for figure in found if figure is not None]
        return sum(values) / len(values) if values else None

    @property
    def losses(self) -> list[Loss]:
        """Domains whose accuracy fell by more than chance explains, worst first within a comparison."""
        found = [
            Loss(domain, mode, pair, difference)
            for pair in self.pairs
            for mode in MODES
            for domain in self.domains
            if (difference := self.difference(pair, mode, domain)) is not None and difference.is_loss
        ]
        order = {pair: place for place, pair in enumerate(self.pairs)}
        return sorted(found, key=lambda loss: (order[loss.pair], loss.difference.value))

    @property
    def seconds(self) -> dict[str, float]:
        """Seconds of each stage."""
        found = _dict(self._data.get("seconds"))
        return {str(stage): float(s) for stage, s in found.items() if isinstance(s, int | float)}

    @property
    def tokens(self) -> dict[str, float]:
        """Tokens of each stage; generated and trained ones together where they are given apart."""
        return {str(stage): _total(count) for stage, count in _dict(self._data.get("tokens")).items()}


def label(name: str) -> str:
    """An evaluation in words: `after SFT`."""
    return _LABELS.get(name, name)


def abbreviation(name: str) -> str:
    """An evaluation in one word: `SFT`."""
    return _ABBREVIATIONS.get(name, name)


def short_names(domains: list[str]) -> dict[str, str]:
    """The last part of each domain's name, where no other domain shares it; else the whole name."""
    lasts = [domain.rsplit("/", 1)[-1] for domain in domains]
    return {
        domain: last if lasts.count(last) == 1 else domain
        for domain, last in zip(domains, lasts, strict=True)
    }


def _figure(record: object, mode: Mode, domain: str | None) -> Interval | None:
    part = _dict(_dict(record).get(mode))
    figure = _dict(part.get("macro") if domain is None else _dict(part.get("domains")).get(domain))
    value = _number(figure.get("value"))
    return None if value is None else Interval(value, _number(figure.get("low")), _number(figure.get("high")))


def _domains(record: object, mode: Mode) -> Mapping[str, Any]:
    return _dict(_dict(_dict(record).get(mode)).get("domains"))


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


def _total(count: object) -> float:
    if isinstance(count, Mapping):
        return sum(_number(part) or 0.0 for part in count.values())
    return _number(count) or 0.0


def _dict(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _dicts(value: object) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []
