"""Mathematics over rows: the columns of GSM8K, graded by math-verify.

[[domains.rows]]
name = "math/gsm8k"
path = "gsm8k_train.jsonl"
adapter = "gsm8k"
"""

from __future__ import annotations

MARK = "####"


def gsm8k_answer(solution: str) -> str:
    """The final answer of a GSM8K solution: what follows the last `####`, without thousands separators."""
    return solution.rpartition(MARK)[2].strip().replace(",", "")
