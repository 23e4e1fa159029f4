"""The sandbox that tests of judging share."""

from collections.abc import Iterator

import pytest

from burnish.sandbox import Policy, Sandbox


@pytest.fixture(scope="session")
def engine() -> Iterator[Sandbox]:
    with Sandbox(Policy()) as sandbox:
        yield sandbox
