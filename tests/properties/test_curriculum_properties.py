import json
from collections import Counter
from math import ceil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.curriculum.mixture import Mixture, MixtureState
from burnish.randomness import permutation

weights_of_domains = st.lists(st.floats(0.01, 100.0) | st.integers(1, 9).map(float), min_size=1, max_size=24)
counts_of_steps = st.lists(st.integers(0, 40), min_size=1, max_size=8)


def mixture_of(weights, seed=0):
    named = {f"d{i}": w for i, w in enumerate(weights)}
    return Mixture(dict.fromkeys(named, 0), named, seed)


def run(mixture, state, counts):
    steps = []
    for count in counts:
        draws, state = mixture.draw(state, count)
        steps.append(draws)
    return steps, state


@given(weights=weights_of_domains, seed=st.integers(0, 2**32))
@settings(max_examples=50, deadline=None)
def test_shares_sum_to_one(weights, seed):
    assert sum(mixture_of(weights, seed).shares(MixtureState()).values()) == pytest.approx(1.0)


@given(weights=weights_of_domains, counts=counts_of_steps, seed=st.integers(0, 2**32))
@settings(max_examples=50, deadline=None)
def test_every_domain_is_within_one_draw_of_its_quota_at_every_step(weights, counts, seed):
    mixture, state = mixture_of(weights, seed), MixtureState()
    for count in counts:
        _, state = mixture.draw(state, count)
        assert all(abs(owed) < 1 + 1e-9 for owed in mixture.deficits(state).values())


@given(weights=weights_of_domains, counts=counts_of_steps, seed=st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_the_order_of_turns_is_the_one_that_is_written_down(weights, counts, seed):
    """Of the domains released at a draw, the one due first; of equals, the one of the lower rank."""
    mixture, state = mixture_of(weights, seed), MixtureState()
    rank = dict(zip(mixture.levels, permutation(len(weights), seed, "mixture", "turn"), strict=True))
    taken, total = dict.fromkeys(mixture.levels, 0), sum(mixture.weights.values())
    for count in counts:
        draws, state = mixture.draw(state, count)
        wanted = []
        for _ in range(count):
            number = sum(taken.values()) + 1
            released = [d for d in taken if taken[d] * total < number * mixture.weights[d]] or list(taken)
            first = min(released, key=lambda d: ((taken[d] + 1) / mixture.weights[d], rank[d]))
            taken[first] += 1
            wanted.append(first)
        assert Counter(draw.domain for draw in draws) == Counter(wanted)
        assert state.taken == taken


@pytest.mark.parametrize("prompts", [1, 7, 8, 32, 600])
@pytest.mark.parametrize("domains", [1, 2, 8, 13, 60, 500])
def test_no_domain_waits_longer_than_its_turn(domains, prompts):
    mixture = mixture_of([1.0] * domains, seed=domains)
    patience = ceil(domains / prompts)
    steps, _ = run(mixture, MixtureState(), [prompts] * min(3 * patience, 600))
    last = dict.fromkeys(mixture.levels, -1)
    for step, draws in enumerate(steps):
        last.update({draw.domain: step for draw in draws})
        assert step - min(last.values()) < patience


@given(domains=st.integers(1, 120), prompts=st.integers(1, 60), seed=st.integers(0, 2**32))
@settings(max_examples=30, deadline=None)
def test_any_window_of_steps_covers_all_domains(domains, prompts, seed):
    mixture = mixture_of([1.0] * domains, seed)
    window = ceil(domains / prompts)
    steps, _ = run(mixture, MixtureState(), [prompts] * (window + min(window, 5)))
    for start in range(len(steps) - window + 1):
        seen = {draw.domain for draws in steps[start : start + window] for draw in draws}
        assert len(seen) == domains


@given(weights=weights_of_domains, counts=counts_of_steps, data=st.data())
@settings(max_examples=50, deadline=None)
def test_no_position_is_repeated_and_none_is_skipped(weights, counts, data):
    mixture, state, drawn = mixture_of(weights), MixtureState(), []
    for count in counts:
        if data.draw(st.booleans()) and len(mixture.active(state)) > 1:
            state = mixture.quarantine(state, data.draw(st.sampled_from(mixture.active(state))), "bad")
        draws, state = mixture.draw(state, count)
        drawn += draws
    assert len(set(drawn)) == len(drawn)
    tops = Counter(draw.domain for draw in drawn)
    assert all(draw.index < tops[draw.domain] for draw in drawn)


@given(weights=weights_of_domains, counts=counts_of_steps, seed=st.integers(0, 2**32), data=st.data())
@settings(max_examples=50, deadline=None)
def test_resume_from_json_gives_the_same_sequence(weights, counts, seed, data):
    mixture = mixture_of(weights, seed)
    cut = data.draw(st.integers(0, len(counts)))
    whole, end = run(mixture, MixtureState(), counts)
    head, state = run(mixture, MixtureState(), counts[:cut])
    restored = mixture_of(weights, seed).restore(json.loads(json.dumps(state.to_json())))
    assert restored == state
    tail, resumed_end = run(mixture_of(weights, seed), restored, counts[cut:])
    assert head + tail == whole
    assert resumed_end == end


@given(weights=weights_of_domains, counts=counts_of_steps)
@settings(max_examples=30, deadline=None)
def test_the_order_in_which_domains_are_listed_does_not_matter(weights, counts):
    named = {f"d{i}": w for i, w in enumerate(weights)}
    listed = Mixture(dict.fromkeys(named, 0), named, seed=4)
    backwards = Mixture(dict.fromkeys(reversed(named), 0), named, seed=4)
    assert run(listed, MixtureState(), counts) == run(backwards, MixtureState(), counts)


def test_seeds_give_different_orders():
    levels = {f"d{i}": 0 for i in range(30)}
    assert Mixture(levels, seed=1).draw(MixtureState(), 30) != Mixture(levels, seed=2).draw(
        MixtureState(), 30
    )


def test_order_within_a_step_changes_from_step_to_step():
    mixture = Mixture({f"d{i}": 0 for i in range(12)}, seed=1)
    steps, _ = run(mixture, MixtureState(), [12, 12])
    assert [d.domain for d in steps[0]] != [d.domain for d in steps[1]]
