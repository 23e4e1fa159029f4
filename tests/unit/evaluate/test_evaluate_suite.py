import math

import numpy as np
import pytest
from evaluate_fakes import Numbers, ScriptedEngine, encode, judge, right, wrong

from burnish.errors import DomainError, RecipeError
from burnish.evaluation.plan import EvaluationPlan
from burnish.evaluation.suite import evaluate, fetch_tasks, split_modes
from burnish.records import Scored, Split

PLAN = EvaluationPlan(tasks=6, samples=3, seed=11, max_tokens=9, batch_requests=4)
A, B = Numbers("fake/x/a"), Numbers("fake/x/b")


def run(script, domains=((A, 0, False),), plan=PLAN, tasks=fetch_tasks, **settings):
    engine = ScriptedEngine(script)
    evaluation, groups = evaluate(engine, encode, list(domains), tasks, plan, judge=judge, **settings)
    return engine, evaluation, groups


def test_greedy_and_sampled_completions_share_one_request():
    engine, _, _ = run(right)
    assert len(engine.requests) == 6
    for request in engine.requests:
        assert request.temperatures == (0.0, 1.0, 1.0, 1.0)
        assert request.max_tokens == 9


def test_randomness_of_a_task_depends_on_seed_domain_and_index_alone():
    engine, _, _ = run(right, [(A, 0, False), (B, 0, True)])
    alone, _, _ = run(wrong, [(B, 0, False)])
    streams = {request.stream for request in engine.requests}
    assert streams == {(11, "eval", name, i) for name in ("fake/x/a", "fake/x/b") for i in range(6)}
    assert {request.stream for request in alone.requests} <= streams


def test_batches_are_full_and_hold_prompts_of_similar_length():
    engine, _, _ = run(right, [(A, 0, False), (B, 0, False)])
    assert [len(batch) for batch in engine.batches] == [4, 4, 4]
    lengths = [len(request.prompt_ids) for request in engine.requests]
    assert lengths == sorted(lengths, reverse=True)


def test_outcomes_are_in_the_order_of_the_tasks_whatever_the_batches():
    _, evaluation, groups = run(lambda domain, task, sample: str(task) if sample == task % 4 else "no")
    domain = evaluation.domain("fake/x/a")
    assert domain.tasks == tuple(f"fake/x/a:eval:0:{i}" for i in range(6))
    assert domain.greedy.tolist() == [1, 0, 0, 0, 1, 0]
    expected = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0], [1, 0, 0]]
    assert domain.sampled.tolist() == expected
    assert [group.ordinal for group in groups] == list(range(6))
    assert [group.task.key for group in groups] == list(domain.tasks)


def test_a_crash_or_an_abstention_is_counted_and_is_not_a_wrong_answer():
    texts = {0: "crash", 1: "shrug"}
    _, evaluation, _ = run(lambda domain, task, sample: texts.get(task, str(task)))
    domain = evaluation.domain("fake/x/a")
    assert domain.faults == 4
    assert domain.abstained == 4
    assert evaluation.faults == 4
    assert np.isnan(domain.sampled[:2]).all()
    assert np.nanmean(domain.sampled) == 1.0


def test_the_judge_of_the_package_is_the_default():
    engine = ScriptedEngine(lambda domain, task, sample: "crash" if task == 0 else str(task))
    evaluation, _ = evaluate(engine, encode, [(A, 0, False)], fetch_tasks, PLAN)
    assert evaluation.domains[0].faults == 4
    assert np.nanmean(evaluation.domains[0].greedy) == 1.0


def test_a_finite_domain_gives_no_task_twice():
    _, evaluation, _ = run(right, [(Numbers("fake/x/few", limit=2), 0, False)])
    assert len(evaluation.domains[0].tasks) == 2
    assert evaluation.domains[0].missing == 0


def test_a_task_that_cannot_be_made_is_counted_as_missing():
    _, evaluation, _ = run(right, [(Numbers("fake/x/holes", breaks_at=(1, 3)), 0, False)])
    domain = evaluation.domains[0]
    assert domain.missing == 2
    assert [key.rsplit(":", 1)[1] for key in domain.tasks] == ["0", "2", "4", "5"]


def test_lengths_truncation_and_tokens_are_measured():
    _, evaluation, _ = run(lambda domain, task, sample: "abc~" if sample == 1 else "ab")
    domain = evaluation.domains[0]
    assert domain.truncated == pytest.approx(1 / 3)
    assert domain.completion_length == pytest.approx((4 + 2 + 2) / 3)
    assert domain.tokens == evaluation.tokens == 6 * (2 + 4 + 2 + 2)
    assert domain.longest_prompt == max(len(encode(task)) for task in fetch_tasks(A, Split.EVAL, 0, 6))
    assert evaluation.version == 7


def test_given_tasks_are_used_and_cut_to_the_plan():
    tasks = {"fake/x/a": fetch_tasks(A, Split.EVAL, 0, 20)}
    _, evaluation, _ = run(right, tasks=tasks)
    assert len(evaluation.domains[0].tasks) == 6


def test_progress_adds_up_to_the_number_of_tasks():
    done = []
    run(right, [(A, 0, False), (B, 0, False)], on_done=done.append)
    assert sum(done) == 12


def test_a_group_splits_into_its_greedy_and_its_sampled_part():
    _, _, groups = run(lambda domain, task, sample: str(task) if sample == 0 else "no")
    greedy, sampled = split_modes(groups[2])
    assert [sample.index for sample in greedy.samples] == [0]
    assert [sample.index for sample in sampled.samples] == [1, 2, 3]
    assert isinstance(greedy.verdicts[0], Scored)
    assert greedy.verdicts[0].passed
    assert len(sampled.verdicts) == 3


def test_text_of_the_tasks_shows_in_their_hash():
    same, other = Numbers("fake/x/a"), Numbers("fake/x/a", answers=3)
    contents = [run(right, [(domain, 0, False)])[1].domains[0].content for domain in (A, same, other)]
    assert contents[0] == contents[1]
    assert contents[0] != contents[2]


def test_a_level_that_does_not_exist_is_an_error_that_says_which_do():
    with pytest.raises(DomainError, match=r"no level 3[\s\S]*0 to 2"):
        run(right, [(A, 3, False)])


def test_tasks_of_another_split_are_refused():
    with pytest.raises(DomainError, match=r"train:0:0[\s\S]*eval"):
        run(right, tasks={"fake/x/a": fetch_tasks(A, Split.TRAIN, 0, 6)})


def test_a_domain_listed_twice_is_refused():
    with pytest.raises(DomainError, match="listed twice"):
        run(right, [(A, 0, False), (A, 1, False)])


def test_a_domain_without_given_tasks_is_refused():
    with pytest.raises(DomainError, match="no tasks were given for domain 'fake/x/a'"):
        run(right, tasks={})


def test_no_task_at_all_is_an_error_and_one_empty_domain_is_not():
    empty = Numbers("fake/x/empty", breaks_at=tuple(range(6)))
    with pytest.raises(DomainError, match="no task could be made"):
        run(right, [(empty, 0, False)])
    _, evaluation, _ = run(right, [(empty, 0, False), (A, 0, False)])
    assert evaluation.domain("fake/x/empty").missing == 6
    assert math.isnan(evaluation.domain("fake/x/empty").completion_length)


@pytest.mark.parametrize(
    ("name", "value"),
    [("tasks", 0), ("samples", 0), ("temperature", 0.0), ("confidence", 1), ("split", "test")],
)
def test_a_plan_out_of_range_is_refused(name, value):
    with pytest.raises(RecipeError, match=name):
        EvaluationPlan(**{name: value})


def test_a_plan_takes_the_split_as_plain_text():
    assert EvaluationPlan(split="holdout").split is Split.HOLDOUT
