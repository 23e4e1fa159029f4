from burnish.bench.tables import tables

_PARTS = ("draw", "tasks", "rollout", "wait", "grade", "update", "optimiser", "sync", "record", "checkpoint")


def test_a_step_shows_every_part_and_its_share():
    seconds = dict.fromkeys((*_PARTS, "other"), 0.0) | {"rollout": 3.0, "update": 1.0}
    load = {"seconds": seconds, "total": 4.0, "share_outside": 0.0, "peak_bytes": 2e9}
    ((_, columns, rows),) = tables({"benchmark": "step", "workloads": {"chain_sum": load}})
    assert columns == ["part", "chain_sum"]
    assert ["rollout", "3.000 (75.0%)"] in rows
    assert rows[-1] == ["peak memory", "2.00 GB"]


def test_a_side_that_was_not_measured_has_no_row():
    side = {"tokens_per_second": 10.0, "seconds": [1.0], "ratio": 1.0}
    engine = side | {"share_of_limit": 0.5, "decode_tokens_per_second": 12.0, "decode_share_of_limit": 0.6}
    limit = {"float32": {"tokens_per_second": 20.0, "gflops": 1.0, "rows": 4}}
    result = {
        "benchmark": "rollout", "limit": limit, "engine": engine, "transformers": side | {"ratio": 2.0},
        "growth": [], "agreement": {},
    }  # fmt: skip
    race = tables(result)[1][2]
    assert [row[0] for row in race] == [
        "this engine", "transformers.generate", "this engine, prompts not counted",
    ]  # fmt: skip
    assert race[1][3] == "2.00x"
