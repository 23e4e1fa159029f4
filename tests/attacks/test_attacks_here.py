"""Every attack, tried as whoever runs the tests."""

import pytest

from attacks.lab import ATTACKS, Lab
from attacks.ordinary import load_all

load_all()


@pytest.fixture(scope="module")
def lab():
    lab = Lab()
    yield lab
    lab.box.close()


def test_the_list_is_complete():
    assert sorted(ATTACKS) == list(range(1, 101))


@pytest.mark.parametrize("number", sorted(ATTACKS), ids=lambda n: f"{n}-{ATTACKS[n].title}")
def test_attack_is_answered(lab, number):
    ATTACKS[number].attempt(lab)
