"""`burnish bench rollout` with vLLM's CPU build among the sides; makes vLLM's environment if it is missing.

python benchmarks/vllm_rollout.py --json            further flags are those of `burnish bench rollout`
"""

from __future__ import annotations

import os
import sys

from environments import python_of

from burnish.bench.vllm_process import VARIABLE
from burnish.cli import main

if __name__ == "__main__":
    os.environ[VARIABLE] = os.environ.get(VARIABLE) or python_of("vllm")
    sys.exit(main(["bench", "rollout", *sys.argv[1:]]))
