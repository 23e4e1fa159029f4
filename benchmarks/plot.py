"""One picture of a results file.

python benchmarks/plot.py benchmarks/results/DATE.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def plot(results: dict[str, Any], path: Path) -> Path | None:
    """Draw what is there; None without matplotlib or without anything to draw."""
    try:
        import matplotlib
    except ImportError:
        return None
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    panels = [(name, draw) for name, draw in PANELS if "error" not in results.get(name, {"error": ""})]
    if not panels:
        return None
    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(5 * columns, 3.6 * rows), squeeze=False)
    flat = list(axes.flat)
    for axis, (name, draw) in zip(flat, panels, strict=False):
        draw(axis, results[name])
    for axis in flat[len(panels) :]:
        axis.axis("off")
    figure.tight_layout()
    figure.savefig(path)
    plt.close(figure)
    return path


def _rollout(axis: Any, result: dict[str, Any]) -> None:
    sides = [name for name in ("transformers", "vllm", "engine") if name in result]
    limit = next(iter(result["limit"].values()))["tokens_per_second"]
    axis.bar([*sides, "limit"], [*(result[s]["tokens_per_second"] for s in sides), limit])
    axis.set_title("drawing completions, tokens/s")


def _growth(axis: Any, result: dict[str, Any]) -> None:
    axis.plot(
        [r["rows"] for r in result["growth"]], [r["microseconds_per_token"] for r in result["growth"]], "o-"
    )
    axis.set_xscale("log", base=2)
    axis.set_ylim(bottom=0)
    axis.set_xlabel("rows under way")
    axis.set_title("microseconds a token")


def _update(axis: Any, result: dict[str, Any]) -> None:
    cases = result["cases"]
    for way in cases[0]["ways"]:
        axis.plot(
            [c["completion_tokens"] for c in cases],
            [c["ways"][way]["tokens_per_second"] for c in cases],
            "o-", label=f"{way} ({max(c['ways'][way]['peak_bytes'] for c in cases) / 1e9:.1f} GB)",
        )  # fmt: skip
    axis.set_ylim(bottom=0)
    axis.set_xlabel("completion tokens")
    axis.set_title("update, tokens/s and peak memory")
    axis.legend()


def _step(axis: Any, result: dict[str, Any]) -> None:
    loads = result["workloads"]
    bottom = [0.0] * len(loads)
    for part in next(iter(loads.values()))["seconds"]:
        heights = [load["seconds"][part] for load in loads.values()]
        if max(heights) > 0.005 * max(load["total"] for load in loads.values()):
            axis.bar(list(loads), heights, bottom=bottom, label=part)
            bottom = [b + h for b, h in zip(bottom, heights, strict=True)]
    axis.set_title("seconds of a step")
    axis.legend()


def _against_trl(axis: Any, result: dict[str, Any]) -> None:
    loads = result["workloads"]
    places = range(len(loads))
    for shift, side in ((-0.2, "trl"), (0.2, "ours")):
        axis.bar(
            [p + shift for p in places],
            [w[side]["seconds_per_step"] for w in loads.values()],
            0.4,
            label=side,
        )
    labels = [f"{name}\n{load['speed_ratio']:.1f}x" for name, load in loads.items()]
    axis.set_xticks(list(places), labels)
    axis.set_title("seconds of a step, against TRL")
    axis.legend()


def _memory(axis: Any, result: dict[str, Any]) -> None:
    for stage, values in result["resident_bytes"].items():
        axis.plot([v / 1e9 for v in values], label=stage)
    axis.axhline(result["limit_bytes"] / 1e9, linestyle=":")
    axis.set_ylim(bottom=0)
    axis.set_xlabel("step")
    axis.set_title("resident memory, GB")
    axis.legend()


PANELS = (
    ("rollout", _rollout),
    ("rollout", _growth),
    ("update", _update),
    ("step", _step),
    ("against_trl", _against_trl),
    ("memory", _memory),
)


if __name__ == "__main__":
    source = Path(sys.argv[1])
    print(plot(json.loads(source.read_text()), source.with_suffix(".svg")))
