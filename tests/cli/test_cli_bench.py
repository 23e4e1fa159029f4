import json

import pytest

_QUICK = ("--model", "tiny", "--threads", "1", "--json", "--quiet")


def test_rollout_is_one_json_document_with_machine_and_figures(cli):
    done = cli("bench", "rollout", "--rows", "4", "--tokens", "3", "--growth", "8", "--rounds", "1", *_QUICK)
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["engine"]["tokens"] == found["transformers"]["tokens"] == 12
    assert found["engine"]["share_of_limit"] > 0
    assert [row["rows"] for row in found["growth"]] == [8]
    assert found["agreement"]["float32"]["max"] < 1e-5
    assert found["machine"]["versions"]["torch"]


def test_update_compares_every_way_in_a_process_of_its_own(cli):
    done = cli(
        "bench", "update", "--prompt-tokens", "32", "--samples", "2", "--completions", "4", "--rounds", "1",
        *_QUICK,
    )  # fmt: skip
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert set(found["cases"][0]["ways"]) == {"ours", "recomputed", "separate", "full_logits"}
    assert all(way["peak_bytes"] > 0 for way in found["cases"][0]["ways"].values())
    assert found["gradients"]["relative"] < 1e-5


def test_step_accounts_for_its_seconds_and_leaves_a_time_line(cli, tmp_path):
    done = cli(
        "bench", "step", "--steps", "1", "--workloads", "chain_sum", "--timeline", str(tmp_path), *_QUICK
    )
    assert done.code == 0, done.err
    load = json.loads(done.out)["workloads"]["chain_sum"]
    assert load["seconds"]["rollout"] > 0
    assert load["seconds"]["update"] > 0
    assert sum(load["seconds"].values()) == pytest.approx(load["total"])
    events = json.loads((tmp_path / "timeline-chain_sum.json").read_text())["traceEvents"]
    assert {"step", "rollout", "update", "sync"} <= {event["name"] for event in events}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("rollout", "--rows", "0"), "--rows"),
        (("rollout", "--growth", "8,x"), "--growth"),
        (("update", "--completions", ""), "--completions"),
        (("step", "--workloads", "sums"), "--workloads"),
        (("step", "--timeline", "/nowhere/at/all"), "--timeline"),
        (("rollout", "--model", "/nowhere/at/all"), "no model"),
        (("update", "--model", "tiny", "--prompt-tokens", "5000"), "do not fit"),
    ],
)
def test_bad_input_is_answered_in_words(cli, words, said):
    done = cli("bench", *words)
    assert done.code != 0
    assert said in done.err
    assert "Traceback" not in done.err
