"""From weights by pattern to one weight per domain."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from burnish.errors import RecipeError, suggestion


def resolve_weights(domains: Iterable[str], weights: Mapping[str, float]) -> dict[str, float]:
    """Weight of each domain: that of the last pattern that matches its name, else 1.

    Raises:
        RecipeError: a weight is negative or not finite, a pattern matches no domain, all weights are 0.
    """
    resolved = dict.fromkeys(domains, 1.0)
    for pattern, weight in weights.items():
        _expect_weight(pattern, weight)
        matches = [name for name in resolved if fnmatchcase(name, pattern)]
        if not matches:
            raise _no_match(pattern, resolved)
        resolved.update(dict.fromkeys(matches, float(weight)))
    if resolved and not any(resolved.values()):
        raise RecipeError(
            "curriculum.weights leaves no domain to train on",
            got=", ".join(f"{pattern!r} = {weight:g}" for pattern, weight in weights.items()),
            expected="at least one domain with a weight above 0",
            next_step="raise a weight, or remove one to give its domains weight 1",
        )
    return resolved


def _expect_weight(pattern: str, weight: float) -> None:
    if math.isfinite(weight) and weight >= 0:
        return
    raise RecipeError(
        f"curriculum.weights.{pattern!r} is not a weight",
        got=weight,
        expected="a finite number, 0 or more; 0 leaves the domain out",
        next_step="change the value, or exclude the domain in [domains]",
    )


def _no_match(pattern: str, names: Iterable[str]) -> RecipeError:
    names = sorted(names)
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return RecipeError(
        f"curriculum.weights.{pattern!r} matches no training domain",
        got=pattern,
        expected=f"the name of a training domain or a pattern; there are {shown}",
        next_step=suggestion(pattern, names) or "correct the pattern or remove it",
    )
