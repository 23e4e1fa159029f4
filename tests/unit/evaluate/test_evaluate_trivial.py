import math

from evaluate_fakes import Numbers, judge

from burnish.evaluation.trivial import AGENTS, best_trivial, trivial_scores
from burnish.records import Sample, Scored, Split


def scores(domain, judge=judge, count=20):
    tasks = [domain.task(Split.EVAL, 0, i) for i in range(count)]
    return {score.agent: score for score in trivial_scores(domain, tasks, judge)}


def pays_when(condition):
    def grade(domain, task, sample: Sample):
        paid = condition(task, sample)
        return Scored(float(paid), paid)

    return grade


def test_a_sound_grader_pays_no_agent():
    found = scores(Numbers())
    assert set(found) == set(AGENTS)
    assert not any(score.alarming for score in found.values())
    assert found["blank"].passed.value == 0.0


def test_the_constant_agent_shows_the_level_of_guessing():
    found = scores(Numbers(answers=2))
    assert found["constant"].passed.value == 0.5
    assert not found["constant"].alarming
    assert best_trivial(list(found.values())) == found["constant"]


def test_the_constant_is_not_chosen_from_the_tasks_it_is_scored_on():
    # All answers differ, so the best constant would pass one task of its own twenty.
    assert scores(Numbers())["constant"].passed.value == 0.0


def test_one_answer_for_every_task_is_alarming():
    assert scores(Numbers(answers=1))["constant"].alarming


def test_a_grader_that_pays_a_blank_an_echo_or_a_shrug_is_alarming():
    assert scores(Numbers(), pays_when(lambda task, sample: sample.text == ""))["blank"].alarming
    assert scores(Numbers(), pays_when(lambda task, sample: str(task.data["right"]) in sample.text))[
        "echo"
    ].alarming
    assert scores(Numbers(), pays_when(lambda task, sample: "don't" in sample.text))["dont_know"].alarming


def test_an_answer_that_is_paid_only_inside_tags_is_found():
    found = scores(Numbers(), pays_when(lambda task, sample: sample.text == "<answer></answer>"))
    assert found["blank"].passed.value == 1.0


def test_partial_credit_for_nothing_is_alarming_too():
    found = scores(Numbers(), lambda domain, task, sample: Scored(0.2, False))
    assert found["blank"].alarming


def test_broken_grading_is_counted_and_pays_nothing():
    found = scores(Numbers(), lambda domain, task, sample: judge(domain, task, Sample("crash")))
    assert found["blank"].faults == 20
    assert math.isnan(found["blank"].passed.value)
    assert not found["blank"].alarming
    assert best_trivial(list(found.values())) is None


def test_a_domain_without_gold_answers_gets_a_fixed_constant():
    found = scores(Numbers(gold=False))
    assert found["constant"].passed.value == 0.05  # "0" is right for task 0 of 20
