"""The table of promises says what was measured, and names each row that does not hold."""

from burnish.bench.honest import CORPUS, run_corpus
from burnish.bench.sandbox_promises import measure, rows, table

SPEED = {
    "eight callers": {"burnish": {"per_second": 223.0}},
    "times a second, to": {"burnish": 1.0, "bubblewrap": 2.0},
    "two callers": {"burnish": {"p50_ms": 3.0, "p99_ms": 9.0}},
    "at rest": {"burnish": {"p50_ms": 1.9, "p99_ms": 3.9}},
    "cases_per_second": 701.0,
    "cache_hits_per_second": 49_999.0,
}


def held(found):
    return [row.held for row in rows(found)]


def test_each_bound_is_compared():
    assert held({"speed": SPEED}) == [False, False, True, True, False]
    assert held({"speed": SPEED | {"times a second, to": {"bubblewrap": 3.0}}})[0]
    assert held({"speed": SPEED | {"eight callers": {"burnish": {"per_second": 500.0}}}})[0]
    clean = dict.fromkeys(("zombies", "processes", "mounts", "groups", "files", "descriptors"), 0)
    clean |= {"runs": 10, "supervisor_growth_mb": 5.1}
    assert held({"leaks": clean}) == [True, False]
    assert held({"leaks": clean | {"mounts": 1, "supervisor_growth_mb": 1.0}}) == [False, True]
    assert held({"same": {"runs": 10, "distinct": 2}}) == [False]
    assert held({"honest": {"runs": 10, "hogs": 2, "false_failures": 1}}) == [False]


def test_the_table_names_what_does_not_hold():
    found = measure(parts=("none",))
    assert found == {"rows": []}
    text = table([{"what": "a", "must": "1", "measured": "2", "held": False}])
    assert text.splitlines()[1].endswith("NOT HELD")


def test_honest_programs_pass_here():
    found = run_corpus(len(CORPUS))
    assert found["which"] == {}
