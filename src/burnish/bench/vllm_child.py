"""vLLM's CPU build on given prompts, one round for each line on standard input.

Runs as a script in an environment of its own: it imports nothing of this package.
"""

from __future__ import annotations

import json
import os
import sys
import time


def main() -> None:
    """Load, then answer every line with the seconds and tokens of one round."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what vLLM prints goes to standard error
    settings = json.loads(sys.stdin.readline())
    from vllm import LLM, SamplingParams  # noqa: PLC0415 # pyright: ignore[reportMissingImports]

    llm = LLM(
        model=settings["model"],
        dtype=settings["dtype"],
        max_model_len=settings["max_model_len"],
        max_num_seqs=settings["rows"],
        enable_prefix_caching=True,
        seed=0,
    )
    params = SamplingParams(
        n=settings["samples"], temperature=1.0, max_tokens=settings["tokens"],
        ignore_eos=True, detokenize=False,
    )  # fmt: skip
    prompts = [{"prompt_token_ids": ids} for ids in settings["prompts"]]
    print(json.dumps({"ready": True}), file=out, flush=True)
    while sys.stdin.readline():
        llm.reset_prefix_cache()  # every round computes its prompts anew, as the others do
        began = time.perf_counter()
        done = llm.generate(prompts, params, use_tqdm=False)
        seconds = time.perf_counter() - began
        tokens = sum(len(sample.token_ids) for request in done for sample in request.outputs)
        print(json.dumps({"seconds": seconds, "tokens": tokens}), file=out, flush=True)


if __name__ == "__main__":
    main()
