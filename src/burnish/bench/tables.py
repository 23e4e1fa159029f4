"""Results of a benchmark as tables for people. A table is (title, columns, rows)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from burnish.bench.parts import PARTS
from burnish.observe.text import duration, number, percent

Table = tuple[str, list[str], list[list[str]]]

_NAMES = {
    "engine": "this engine", "transformers": "transformers.generate", "vllm": "vLLM",
    "ours": "this package", "recomputed": "this package, layers recomputed",
    "separate": "separate sequences", "full_logits": "separate, logits everywhere",
}  # fmt: skip


def tables(result: Mapping[str, Any]) -> list[Table]:
    """The tables of any benchmark's result."""
    return {"rollout": _rollout, "update": _update, "step": _step}[result["benchmark"]](result)


def facts(result: Mapping[str, Any]) -> str:
    """Machine and workload in one line."""
    m, w = result["machine"], result["workload"]
    words = ", ".join(f"{key} {value}" for key, value in w.items())
    return f"{m['processor']}, {m['threads']} threads, torch {m['versions'].get('torch')}; {words}"


def _rollout(result: Mapping[str, Any]) -> list[Table]:
    return [_limit(result), _race(result), _growth(result), _agreement(result)]


def _limit(result: Mapping[str, Any]) -> Table:
    rows = [
        [name, number(limit["tokens_per_second"]), number(limit["gflops"]), number(limit["rows"])]
        for name, limit in result["limit"].items()
    ]
    return "Limit of the matrix products alone", ["type", "tokens/s", "GFLOP/s", "rows"], rows


def _race(result: Mapping[str, Any]) -> Table:
    columns = ["who", "tokens/s", "seconds a round", "slower than this engine", "of the limit"]
    rows = []
    for name in ("engine", "transformers", "vllm"):
        if name in result:
            side = result[name]
            seconds = sum(side["seconds"]) / len(side["seconds"])
            share = percent(side.get("share_of_limit"))
            slower = f"{side['ratio']:.2f}x"
            rows.append([_NAMES[name], number(side["tokens_per_second"]), f"{seconds:.2f}", slower, share])
    engine = result["engine"]
    decode, share = number(engine["decode_tokens_per_second"]), percent(engine["decode_share_of_limit"])
    rows.append(["this engine, prompts not counted", decode, "", "", share])
    return "Drawing completions, prompts included", columns, rows


def _growth(result: Mapping[str, Any]) -> Table:
    rows = [
        [number(r["rows"]), f"{r['microseconds_per_token']:.0f}", number(r["tokens_per_second"])]
        for r in result["growth"]
    ]
    return "Cost of a token", ["rows under way", "microseconds a token", "tokens/s"], rows


def _agreement(result: Mapping[str, Any]) -> Table:
    bounds = {"bfloat16": 2e-2, "float32": 1e-5}
    rows = [
        [name, f"{gap['max']:.1e}", f"{gap['mean']:.1e}", f"{bounds[name]:.0e}", number(gap["tokens"])]
        for name, gap in result["agreement"].items()
    ]
    columns = ["type", "largest", "mean", "bound", "tokens"]
    return "Log-probs against a plain forward pass, absolute difference", columns, rows


def _update(result: Mapping[str, Any]) -> list[Table]:
    columns = ["completions", "who", "tokens/s", "slower", "peak memory", "ours is"]
    rows = [
        [
            number(case["completion_tokens"]),
            _NAMES[way],
            number(figures["tokens_per_second"]),
            f"{figures['speed_ratio']:.2f}x",
            f"{figures['peak_bytes'] / 1e9:.2f} GB",
            percent(figures["memory_ratio"]),
        ]
        for case in result["cases"]
        for way, figures in case["ways"].items()
    ]
    gap = result["gradients"]
    return [
        ("One update; tokens are those of separate sequences, for everybody", columns, rows),
        (
            "Gradients in float32, against separate sequences",
            ["largest difference", "largest gradient", "relative"],
            [[f"{gap['difference']:.1e}", f"{gap['largest']:.1e}", f"{gap['relative']:.1e}"]],
        ),
    ]


def _step(result: Mapping[str, Any]) -> list[Table]:
    loads = result["workloads"]
    columns = ["part", *loads]
    rows = [[part, *(_part(load, part) for load in loads.values())] for part in (*PARTS, "other")]
    rows.append(["whole step", *(duration(load["total"]) for load in loads.values())])
    rows.append(["outside model arithmetic", *(percent(load["share_outside"]) for load in loads.values())])
    rows.append(["peak memory", *(f"{load['peak_bytes'] / 1e9:.2f} GB" for load in loads.values())])
    return [("Seconds of a training step (means; one of the steps saves a checkpoint)", columns, rows)]


def _part(load: Mapping[str, Any], part: str) -> str:
    seconds = load["seconds"][part]
    return f"{seconds:.3f} ({percent(seconds / load['total'])})"
