"""vLLM in a process and environment of its own, asked for one round at a time."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from burnish.errors import RunError

VARIABLE = "BURNISH_VLLM_PYTHON"
"""Names the interpreter of an environment that has vLLM; nothing is measured without it."""


class Vllm:
    """A running vLLM."""

    def __init__(
        self, python: str, model: Path, prompts: Sequence[tuple[int, ...]], *, samples: int, tokens: int,
        dtype: str, threads: int,
    ):  # fmt: skip
        """Start it and wait until it is ready.

        Args:
            python: interpreter with vLLM.
            model: folder written by `save_pretrained`.
            prompts: token ids.
            samples: completions of each prompt.
            tokens: length of each completion.
            dtype: `bfloat16` or `float32`.
            threads: arithmetic threads.

        Raises:
            RunError: the interpreter does not start, or vLLM fails.
        """
        settings = {
            "model": str(model), "prompts": [list(p) for p in prompts], "samples": samples, "tokens": tokens,
            "dtype": dtype, "rows": samples * len(prompts), "max_model_len": max(map(len, prompts)) + tokens,
        }  # fmt: skip
        self.python = python
        self.tokens = 0
        self._said = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115 - closed on exit
        try:
            self._process = subprocess.Popen(
                [python, "-P", str(Path(__file__).with_name("vllm_child.py"))],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said, text=True,
                env=_environment(threads), start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise self._failed(error) from error
        self._ask(settings)

    def round(self) -> None:
        """Draw all completions once."""
        self.tokens = int(self._ask({})["tokens"])

    def _ask(self, message: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None and self._process.stdout is not None  # noqa: S101
        try:
            self._process.stdin.write(json.dumps(message) + "\n")
            self._process.stdin.flush()
            return json.loads(self._process.stdout.readline())
        except (OSError, ValueError) as error:
            raise self._failed(error) from error

    def _failed(self, error: Exception) -> RunError:
        self._said.seek(0)
        last = [line for line in self._said.read().splitlines() if line.strip()][-3:]
        return RunError(
            "vLLM cannot be measured",
            got=" / ".join(last) or f"{type(error).__name__}: {error}",
            expected=f"an interpreter with vLLM, {VARIABLE} = {self.python!r}",
            next_step=f"unset {VARIABLE} to leave vLLM out, or see benchmarks/README.md",
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None  # noqa: S101
        self._process.stdin.close()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._said.close()


def _environment(threads: int) -> dict[str, str]:
    return {
        **{k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "VIRTUAL_ENV"}},
        "VLLM_CPU_NUM_OF_RESERVED_CPU": "0",
        "VLLM_CPU_KVCACHE_SPACE": "2",
        "OMP_NUM_THREADS": str(threads),
        "VLLM_NO_USAGE_STATS": "1",
        "HF_HUB_OFFLINE": "1",
    }
