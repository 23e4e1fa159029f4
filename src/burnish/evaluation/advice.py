"""The answer to "will post-training pay?", in plain sentences."""

from __future__ import annotations

from collections.abc import Sequence

from burnish.evaluation.cells import Cell, best_cells
from burnish.evaluation.cost import Cost
from burnish.evaluation.verdicts import Kind, percent

_NAMED = 5
"""Names spelled out in a sentence."""
_TRUNCATED = 0.2
"""Share of completions cut off from which a cell is mentioned."""


def recommend(cells: Sequence[Cell], cost: Cost) -> str:
    """The headline, then what to mind, one sentence a line."""
    best = best_cells(cells)
    kinds = {kind: [name for name, cell in best.items() if cell.kind is kind] for kind in Kind}
    lines = [_headline(kinds), *_minding(cells, kinds), _cost(cost)]
    return "\n".join(line for line in lines if line)


def _headline(kinds: dict[Kind, list[str]]) -> str:
    signal, sft = len(kinds[Kind.SIGNAL]), len(kinds[Kind.NEEDS_SFT])
    solved, no_gold = len(kinds[Kind.SOLVED]), len(kinds[Kind.NO_GOLD])
    total = signal + sft + solved + no_gold
    if total == 0:
        return "No answer: not one domain could be measured."
    unsolved = signal + sft + no_gold
    if signal and 2 * signal >= unsolved:
        return f"Yes: reinforcement learning has signal in {signal} of {total} domains and can start now."
    if sft:
        return (
            f"Probably, after supervised fine-tuning: {signal} of {total} domains have signal and {sft} more "
            "have gold answers to learn the form from. Fine-tune on some hundred of them, then probe again."
        )
    if signal:
        return f"Only in part: {signal} of {total} domains have signal; train on those."
    if 2 * solved >= total:
        return f"Little to gain here: {solved} of {total} domains are solved. Probe harder levels."
    return "No: this model has no success to reinforce and the domains have no gold answers to fine-tune on."


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _minding(cells: Sequence[Cell], kinds: dict[Kind, list[str]]) -> list[str]:
    guessing = sorted({cell.domain for cell in cells if cell.guessing and cell.kind is Kind.SIGNAL})
    cut = sorted({cell.domain for cell in cells if cell.truncated >= _TRUNCATED})
    unsure = sum(not cell.sure for cell in cells)
    said = [
        ("Faulty, leave out or mend: {}.", kinds[Kind.FAULTY]),
        ("Solved, nothing left to learn at these levels: {}.", kinds[Kind.SOLVED]),
        ("No success and no gold answers: {}.", kinds[Kind.NO_GOLD]),
        ("No better than a constant answer, so success may be guessing: {}.", guessing),
        (f"At least {percent(_TRUNCATED)} of the completions cut off, raise max_tokens: {{}}.", cut),
    ]
    lines = [sentence.format(_names(names)) for sentence, names in said if names]
    if unsure:
        lines.append(f"{unsure} of {len(cells)} results are unsure; more tasks would tell.")
    return lines


def _cost(cost: Cost) -> str:
    if cost.rollout_hours is None or cost.rollout_seconds_per_step is None:
        return ""
    step = f"{cost.groups_per_step} groups and {cost.completion_tokens_per_step:,.0f} tokens a step"
    hours = f"generation takes {cost.rollout_seconds_per_step:.1f} s of it, {cost.rollout_hours:.2f} h a run"
    total = "" if cost.total_hours is None else f", {cost.total_hours:.2f} h with the updates"
    without = "" if cost.total_hours is not None else " (updates come on top)"
    return f"A run: {step}; {hours}{total}{without}."
