from __future__ import annotations

import pytest


def test_unknown_key_names_file_table_and_suggestion(message):
    text = message("[rl]\nlerning_rate = 0.1")
    assert "quick.toml: [rl] lerning_rate: unknown key" in text
    assert "did you mean 'lr'?" in text


@pytest.mark.parametrize(
    ("table", "wrong", "meant"),
    [
        ("rl", "step", "'steps'"),
        ("rollout", "num_generations", "'samples'"),
        ("rollout", "max_new_tokens", "'max_tokens'"),
        ("algorithm", "beta", "'kl_coef'"),
        ("rl", "samples", "'rollout.samples' or 'evaluate.samples'"),
        ("model", "lora_r", "'lora_rank'"),
    ],
)
def test_suggestion(message, table, wrong, meant):
    assert f"did you mean {meant}?" in message(f"[{table}]\n{wrong} = 1")


def test_unknown_table_is_suggested(message):
    assert "did you mean 'rollout'?" in message("[rolout]\nsamples = 2")


def test_key_of_a_table_at_the_top_says_where_it_belongs(message):
    assert "'sft.lr' or 'rl.lr'" in message("lr = 1.0")


def test_unknown_key_without_a_near_one_lists_the_known(message):
    text = message("[curriculum]\nzzzz = 1")
    assert "expected: one of mixture, weights" in text
    assert "did you mean" not in text


@pytest.mark.parametrize(
    ("line", "got", "expected"),
    [
        ('steps = "ten"', '"ten" (text)', "a whole number"),
        ("steps = 2.0", "2.0 (number)", "a whole number"),
        ("steps = true", "true (true or false)", "a whole number"),
        ('lr = "1e-5"', '"1e-5" (text)', "a number"),
        ("lr = inf", "inf (number)", "a finite number"),
        ("lr = nan", "nan (number)", "a finite number"),
        ("lr = 0", "0 (whole number)", "above 0"),
        ("steps = 0", "0 (whole number)", "at least 1"),
        ("betas = 3", "3 (whole number)", "a list"),
        ("betas = [0.9]", "[0.9] (list)", "[number, number]"),
        ("betas = [0.9, 0.9, 0.9]", "[0.9, 0.9, 0.9] (list)", "[number, number]"),
        ('schedule = "a\\u0000"', '"a\\u0000" (text)', "text without null characters"),
        ("steps = 2020-01-01", "2020-01-01 (date or time)", "text, so put it in quotes"),
    ],
)
def test_wrong_value_names_key_got_and_expected(message, line, got, expected):
    text = message(f"[rl]\n{line}")
    assert line.split(" ")[0] in text.splitlines()[0]
    assert f"got:      {got}" in text
    assert f"expected: {expected}" in text


def test_value_out_of_a_choice_lists_and_suggests(message):
    text = message('[rl]\nschedule = "cosin"')
    assert "'constant', 'cosine' or 'linear'" in text
    assert "did you mean 'cosine'?" in text


def test_key_that_takes_two_types_names_both(message):
    assert "expected: text or a list" in message("[model]\nlora_target = 3")


def test_value_instead_of_a_table(message):
    assert "expected: a table" in message("rl = 3")


def test_entry_of_a_list_is_counted_from_one(message):
    assert "[domains] train, entry 2: wrong value" in message('[domains]\ntrain = ["a", 3]')


def test_key_missing_from_a_list_of_tables_is_explained(message):
    text = message('[domains]\ntrain = ["a"]\n[[domains.rows]]\nname = "x"')
    assert "[domains.rows] #1 path: this key is missing" in text


def test_all_problems_are_reported_at_once(message):
    text = message('[rl]\nsteps = "ten"\nlerning_rate = 1\n[sft]\nbatch = -1')
    assert "has 3 problems" in text
    assert all(part in text for part in ("[rl] steps", "[rl] lerning_rate", "[sft] batch"))


def test_many_problems_are_cut_and_counted(message):
    lines = "\n".join(f"unknown_{i} = 1" for i in range(10))
    text = message(f"[rl]\n{lines}")
    assert "has 10 problems" in text
    assert "... and 4 more" in text


def test_rl_without_domains_names_both_settings(message):
    text = message('stages = ["rl"]\n[domains]\nheld_out = ["a"]')
    assert "stages = ['rl']" in text
    assert "domains.train = []" in text


def test_no_stage_and_no_domain(message):
    assert "nothing to evaluate" in message("stages = []\n[domains]\n")


def test_evaluation_only_needs_no_training_domain(load):
    assert load('stages = []\n[domains]\nheld_out = ["a"]').stages == ()


@pytest.mark.parametrize("stages", ['["rl", "sft"]', '["rl", "rl"]'])
def test_stages_are_ordered_and_unique(message, stages):
    assert "each stage may appear once" in message(f"stages = {stages}")


def test_group_of_one_sample_names_both_settings(message):
    text = message('[rollout]\nsamples = 1\n[algorithm]\nname = "rloo"')
    assert 'algorithm.name = "rloo"' in text
    assert "rollout.samples = 1" in text


def test_group_of_one_is_fine_without_rl(load):
    assert load('stages = ["sft"]\n[rollout]\nsamples = 1').rollout.samples == 1


def test_domain_trained_on_and_held_out(message):
    text = message('[domains]\ntrain = ["a", "b"]\nheld_out = ["b"]')
    assert "domains.train and domains.held_out both name ['b']" in text
