"""Reward shapes of code: their numbers, their order, and their place in [0, 1]."""

import pytest

from burnish.rewards.code import SHAPES, Marks, all_or_nothing, efficiency, pass_ratio


@pytest.mark.parametrize(
    ("passed", "total", "ratio", "all_of_them"),
    [(0, 4, -0.1, 0.0), (1, 4, 0.125, 0.0), (3, 4, 0.375, 0.0), (4, 4, 1.0, 1.0), (0, 0, -0.1, 0.0)],
)
def test_numbers(passed, total, ratio, all_of_them):
    marks = Marks(passed, total)
    assert pass_ratio(marks) == pytest.approx(ratio)
    assert all_or_nothing(marks) == all_of_them


@pytest.mark.parametrize("name", SHAPES)
def test_more_checks_passed_is_never_worth_less_and_stays_in_the_unit_interval(name):
    values = [SHAPES[name].unit(Marks(passed, 5)) for passed in range(6)]
    assert values == sorted(values)
    assert (values[0], values[-1]) == (0.0, 1.0)


def test_efficiency_falls_with_the_logarithm_of_cpu_time():
    def worth(cpu: float) -> float:
        return efficiency(Marks(3, 3, cpu_seconds=cpu, limit_seconds=2.0, reference_seconds=0.01))

    assert worth(0.0) == worth(0.02) == 1.0
    assert worth(0.2) == pytest.approx(0.75)
    assert worth(2.0) == worth(9.0) == pytest.approx(0.5)
    assert worth(0.05) > worth(0.5) > worth(1.5)
    assert efficiency(Marks(2, 3)) == 0.0
    assert efficiency(Marks(3, 3, cpu_seconds=0.5, limit_seconds=1.0, reference_seconds=1.0)) == 1.0
