from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import burnish
from burnish.cli import main


@dataclass(frozen=True)
class Done:
    """What a command left behind."""

    code: int
    out: str
    err: str


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Run a command in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def _cli(*argv: str) -> Done:
        capsys.readouterr()
        code = main(argv)
        out, err = capsys.readouterr()
        return Done(code, out, err)

    return _cli


@pytest.fixture
def recipe(tmp_path: Path) -> str:
    """A recipe file in the folder where commands run."""
    (tmp_path / "quick.toml").write_text('[domains]\ntrain = ["reasoning-gym/arithmetic/chain_sum"]\n')
    return "quick.toml"


@pytest.fixture
def pipeline(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[dict[str, Any]]]:
    """Stand in for functions of `burnish.pipeline`; returns the list of calls made to them."""

    def _replace(**functions: Callable[..., Any]) -> list[dict[str, Any]]:
        calls: list[dict[str, Any]] = []
        fake = ModuleType("burnish.pipeline")
        for name, function in functions.items():

            def _record(
                *args: Any, _name: str = name, _function: Callable[..., Any] = function, **named: Any
            ):
                calls.append({"name": _name, "args": args, **named})
                return _function(*args, **named)

            setattr(fake, name, _record)
        monkeypatch.setitem(sys.modules, "burnish.pipeline", fake)
        monkeypatch.setattr(burnish, "pipeline", fake, raising=False)
        return calls

    return _replace
