"""What the figures of a run mean, in sentences."""

from __future__ import annotations

from burnish.observe.summary import Interval, Loss, Mode, Pair, Summary, abbreviation, label, short_names
from burnish.observe.text import percent, points

_MODE_WORDS: dict[Mode, str] = {"sampled": "Sampled", "greedy": "Greedy"}


def headline(summary: Summary, mode: Mode) -> str:
    """One or two sentences on the macro average: where it stood, and whether the change is real."""
    stands = [
        f"{percent(figure.value)} {label(name)}"
        for name in summary.names
        if (figure := summary.accuracy(name, mode)) is not None
    ]
    if not stands:
        return f"{_MODE_WORDS[mode]} accuracy was not measured."
    first = f"{_MODE_WORDS[mode]} accuracy, averaged over domains: {', '.join(stands)}."
    changes = [
        change(pair, difference)
        for pair in summary.pairs
        if (difference := summary.difference(pair, mode)) is not None
    ]
    return " ".join([first, *changes])


def change(pair: Pair, difference: Interval) -> str:
    """A sentence on one difference, with a plain judgement of it."""
    if difference.low is None or difference.high is None:
        judgement = "its interval is not known"
    elif difference.is_gain:
        judgement = "a clear gain"
    elif difference.is_loss:
        judgement = "a clear loss"
    else:
        judgement = "no clear difference"
    start = "the start" if pair.start == "before" else abbreviation(pair.start)
    return f"{abbreviation(pair.end)} against {start}: {with_interval(difference)}: {judgement}."


def losses(summary: Summary) -> list[str]:
    """A sentence for each domain that ended significantly worse; one that says so when none did."""
    if not summary.pairs:
        return []
    names = short_names(summary.domains)
    found = [_loss(loss, names[loss.domain]) for loss in summary.losses]
    return found or ["No domain ended significantly worse."]


def with_interval(difference: Interval) -> str:
    """`+7.9 points (95% interval +4.1 to +11.2)`."""
    text = f"{points(difference.value)} points"
    if difference.low is None or difference.high is None:
        return text
    return f"{text} (95% interval {points(difference.low)} to {points(difference.high)})"


def _loss(loss: Loss, name: str) -> str:
    pair = f"{label(loss.pair.end)} than {label(loss.pair.start)}"
    return f"Significantly worse {pair}: {name}, {loss.mode}, {with_interval(loss.difference)}."
