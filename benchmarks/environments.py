"""Environments of the programs that are measured against: made once under `.venvs/`, never the own one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
REMOVED = {"vllm": ["torchvision", "torchaudio", "torchcodec"]}
"""Packages taken out after the installation."""


def python_of(name: str) -> str:
    """Interpreter of the environment `name`; makes it from `requirements/NAME.txt` if it is missing."""
    folder = HERE / ".venvs" / name
    python, ready = folder / "bin" / "python", folder / ".ready"
    if not ready.exists():
        say(f"making the environment {folder} (once, a few minutes)")
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        pip = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "install", "-r", str(HERE / "requirements" / f"{name}.txt")], check=True)
        for package in REMOVED.get(name, []):
            subprocess.run([*pip, "uninstall", "--yes", package], check=True)
        ready.touch()
    return str(python)


def say(text: str) -> None:
    """A line for people, on standard error."""
    print(text, file=sys.stderr, flush=True)
