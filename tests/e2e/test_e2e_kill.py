"""A handful of SIGKILLs and resumes, compared bit for bit; `benchmarks/kill_resume.py` does fifty."""

import sys
from pathlib import Path

import pytest

from burnish.processes import script_hidden

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

from killing import PLACES, Case, Harness

KIND = "two steps ahead"
STRUCK = [
    "mid-rollout",
    "mid-grading",
    "mid-update",
    "mid-save, before the manifest",
    "after a step is recorded",
]


@pytest.fixture(scope="module")
def harness(tmp_path_factory):
    with script_hidden():
        yield Harness(tmp_path_factory.mktemp("killed"), [KIND])


@pytest.mark.parametrize("name", STRUCK)
def test_a_run_killed_there_ends_with_the_same_bits(harness, name):
    outcome = harness.do(Case(name, KIND, place=PLACES[name]))
    assert outcome.kills == 1
    assert outcome.problems == []


def test_a_run_killed_twice_at_any_instant_ends_with_the_same_bits(harness):
    outcome = harness.do(Case("random", KIND, instants=(0.55, 0.2)))
    assert outcome.kills >= 1
    assert outcome.problems == []
