"""An engine without a model, whose completions are a function of request and weights; it can be slow."""

import os
import time
from dataclasses import dataclass, field
from pathlib import Path

import torch

from burnish.models.checksums import checksums
from burnish.randomness import integer
from burnish.records import Sample
from burnish.rollout.engine import Request, Unit


@dataclass
class FakeEngine:
    """Draws numbers; writes its process id to `diary` whenever it begins a unit."""

    seconds: float = 0.0
    diary: Path | None = None
    dies: bool = False
    weights: dict = field(default_factory=dict)
    version: int = -1

    def load(self, weights, version):
        self.weights = {n: t.clone() for n, t in weights.items()}
        self.version = version

    def checksums(self):
        return checksums(self.weights)

    def score(self, prompt_ids, completion_ids):
        return [-1.0] * len(completion_ids)

    def generate(self, requests, on_done=None):
        if self.diary is not None:
            with self.diary.open("a") as file:
                file.write(f"{os.getpid()}\n")
        if self.dies:
            os.kill(os.getpid(), 9)
        time.sleep(self.seconds)
        return [self._draw(r) for r in requests]

    def _draw(self, request):
        salt = int(sum(float(t.sum()) for t in self.weights.values()))
        return tuple(
            Sample("x", i, (integer(1000, *request.stream, i, salt),), (-1.0,), (self.version,))
            for i, _ in enumerate(request.temperatures)
        )


@dataclass
class ForgetfulEngine(FakeEngine):
    """Never takes over new weights but says so."""

    def load(self, weights, version):
        super().load(weights if not self.weights else self.weights, version)


def unit(step, number=0, version=0, groups=2):
    requests = tuple(Request((1, 2), (1.0,) * 3, 4, ("t", step, number, g)) for g in range(groups))
    return Unit(step, number, 0, version, requests)


def weights(value):
    return {"a": torch.full((3,), float(value)), "b": torch.zeros(2, dtype=torch.bfloat16)}
