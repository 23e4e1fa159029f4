"""Small pieces of text: durations, numbers, and text from outside made safe to print."""

from __future__ import annotations

import math
import unicodedata


def duration(seconds: float) -> str:
    """A length of time as a person says it: `0.4s`, `45s`, `3m 10s`, `1h 02m`."""
    if not math.isfinite(seconds):
        return "?"
    seconds = max(seconds, 0.0)
    if seconds < 9.95:
        return f"{seconds:.1f}s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m {whole % 60:02d}s"
    minutes = round(whole / 60)
    return f"{minutes // 60}h {minutes % 60:02d}m"


def number(value: object) -> str:
    """A number with about three significant digits; anything else as text."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return clean(str(value))
    if isinstance(value, int):
        return f"{value:,}"
    if not math.isfinite(value):
        return str(value)
    if value == 0 or 1e-3 <= abs(value) < 1e3:
        return f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"
    return f"{value:,.0f}" if abs(value) >= 1e3 else f"{value:.1e}"


def percent(share: float | None) -> str:
    """A share in [0, 1] as a percentage with one decimal; `-` when there is none."""
    return "-" if share is None or not math.isfinite(share) else f"{100 * share:.1f}%"


def points(difference: float | None) -> str:
    """A difference of shares in percentage points, always signed."""
    if difference is None or not math.isfinite(difference):
        return "-"
    rounded = round(100 * difference, 1) + 0.0  # + 0.0 turns -0.0 into 0.0
    return f"{rounded:+.1f}" if rounded else "0.0"


def clean(text: str) -> str:
    """`text` that cannot steer a terminal: control and direction-changing characters are spelled out.

    Models write anything, escape sequences included. Line breaks and tabs stay.
    """
    return "".join(ch if ch in "\n\t" or not _steers(ch) else _spelled(ch) for ch in text)


def _steers(ch: str) -> bool:
    return unicodedata.category(ch) in {"Cc", "Cf", "Cs", "Zl", "Zp"}


def _spelled(ch: str) -> str:
    return ch.encode("unicode_escape").decode("ascii") if ord(ch) >= 0x80 else f"\\x{ord(ch):02x}"
