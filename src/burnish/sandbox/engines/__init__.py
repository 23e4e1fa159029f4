"""Hand-off: other programs build the wall, behind the same interface and the same conformance suite."""

from __future__ import annotations

from burnish.sandbox.engines.open import ENGINES, open_engine

__all__ = ["ENGINES", "open_engine"]
