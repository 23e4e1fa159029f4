"""Groups to store, and a way to act without root's privileges."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from burnish.records import Group, Sample, Scored, Split, StopReason, Task, Verdict


def _make_group(
    ordinal: int = 0,
    domain: str = "toy/sum",
    verdicts: tuple[Verdict, ...] = (Scored(1.0, True), Scored(0.0, False)),
    texts: tuple[str, ...] | None = None,
    index: int = 0,
) -> Group:
    task = Task(domain, Split.TRAIN, 0, index, (), gold="4")
    texts = texts or tuple(f"answer {n}" for n in range(len(verdicts)))
    samples = tuple(
        Sample(text, n, (5, 6), (-0.5, -1.5), (3, 3), StopReason.LENGTH) for n, text in enumerate(texts)
    )
    return Group(ordinal, task, (1, 2), samples, verdicts)


@pytest.fixture
def make_group() -> Callable[..., Group]:
    """A group of one task of `toy/sum` with one sample for each verdict."""
    return _make_group


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can reach (pytest's own are private to their user)."""
    folder = Path(tempfile.mkdtemp(prefix="burnish-store-"))
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def unprivileged() -> Callable[[Callable[[], str]], str]:
    """Runs a function in a child that is not root (root may write anywhere) and returns its answer."""

    def run(action: Callable[[], str]) -> str:
        read_end, write_end = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                if os.geteuid() == 0:
                    os.setuid(65534)
                answer = action()
            except BaseException as error:
                answer = f"{type(error).__name__}: {error}"
            os.write(write_end, answer.encode()[:60_000])
            os._exit(0)
        os.close(write_end)
        with os.fdopen(read_end, "rb") as pipe:
            answer = pipe.read().decode()
        os.waitpid(pid, 0)
        return answer

    return run
