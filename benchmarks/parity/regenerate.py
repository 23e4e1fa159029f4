"""Numbers of public implementations, for the tests of `tests/numerics` to match.

    python benchmarks/parity/regenerate.py

makes an environment of its own under `benchmarks/.venvs/parity` (once; CPU torch from the usual index, the
packages compared with without their dependencies on GPUs), runs the functions there and writes
`tests/numerics/fixtures/*.json`: inputs, outputs, gradients, and where they come from. No code is copied.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
FIXTURES = HERE.parents[1] / "tests" / "numerics" / "fixtures"
VENV = HERE.parent / ".venvs" / "parity"

NEEDED = [
    "torch==2.13.0", "transformers==5.24.0", "numpy", "omegaconf", "tensordict", "ray", "accelerate",
    "datasets", "hydra-core", "codetiming", "peft", "orjson",
]  # fmt: skip
COMPARED = ["trl==1.16.0", "verl==0.9.1"]
"""Installed without dependencies: verl asks for older releases of what is above and for a GPU stack."""
SIDES = ("verl_side.py", "trl_side.py")


def main() -> None:
    """Make the environment if it is missing, and have every side write its fixtures."""
    python = VENV / "bin" / "python"
    if not (VENV / ".ready").exists():
        subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True)
        pip = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
        subprocess.run([*pip, *NEEDED], check=True)
        subprocess.run([*pip, "--no-deps", *COMPARED], check=True)
        (VENV / ".ready").touch()
    FIXTURES.mkdir(exist_ok=True)
    for side in SIDES:
        subprocess.run([str(python), str(HERE / side), str(FIXTURES)], check=True)


if __name__ == "__main__":
    main()
