"""Batches under way as plain data, so that a checkpoint can hold them and a resume needs no old weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from burnish.records import Abstained, Boundary, Faulted, Group, Sample, Scored, Split, StopReason, Verdict
from burnish.training.stage import Place


def place_of(data: Mapping[str, Any]) -> Place:
    """Position of a group's task."""
    domain, split, level, index = data["place"]
    return domain, Split(split), level, index


def group_to_json(group: Group) -> dict[str, Any]:
    """A group as drawn so far; its task is named by its place only."""
    task = group.task
    return {
        "ordinal": group.ordinal,
        "place": [task.domain, str(task.split), task.level, task.index],
        "samples": [_sample_to_json(s) for s in group.samples],
        "verdicts": [_verdict_to_json(v) for v in group.verdicts],
    }


def group_from_json(data: Mapping[str, Any], group: Group) -> Group:
    """Inverse of `group_to_json`, given a group with the same task and prompt."""
    return Group(
        data["ordinal"],
        group.task,
        group.prompt_ids,
        tuple(_sample_from_json(row, i) for i, row in enumerate(data["samples"])),
        tuple(_verdict_from_json(row) for row in data["verdicts"]),
    )


def _sample_to_json(sample: Sample) -> dict[str, Any]:
    return {
        "text": sample.text,
        "token_ids": list(sample.token_ids),
        "logprobs": list(sample.logprobs),
        "versions": list(sample.versions),
        "stop": str(sample.stop),
    }


def _sample_from_json(row: Mapping[str, Any], index: int) -> Sample:
    return Sample(
        row["text"],
        index,
        tuple(row["token_ids"]),
        tuple(row["logprobs"]),
        tuple(row["versions"]),
        StopReason(row["stop"]),
    )


def _verdict_to_json(verdict: Verdict) -> dict[str, Any]:
    match verdict:
        case Scored(value, passed, parts, steps):
            return {"value": value, "passed": passed, "parts": dict(parts), "steps": list(steps)}
        case Abstained(reason):
            return {"reason": reason}
        case Faulted(boundary, error):
            return {"boundary": str(boundary), "error": error}


def _verdict_from_json(row: Mapping[str, Any]) -> Verdict:
    if "value" in row:
        return Scored(row["value"], row["passed"], row["parts"], tuple(row["steps"]))
    if "reason" in row:
        return Abstained(row["reason"])
    return Faulted(Boundary(row["boundary"]), row["error"])
