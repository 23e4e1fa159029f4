"""Queries: judged by their rows, on rows that were not shown, unable to do anything but read."""

from __future__ import annotations

import pytest

from burnish.domains.structured.sql import Exercise, Sql
from burnish.domains.structured.sql_questions import LEVELS
from burnish.domains.structured.sql_runner import ROWS, TableData, same_rows, select
from burnish.domains.structured.sql_worlds import WORLDS
from burnish.records import Sample, Scored, Split
from burnish.rewards.judge import judge

COLUMNS = (("id", "INTEGER"), ("name", "TEXT"), ("price", "REAL"))
SHOWN = (TableData("goods", COLUMNS, ((1, "pen", 2.5), (2, "cup", 4.0), (3, "map", 1.25))),)
HIDDEN = (TableData("goods", COLUMNS, ((1, "hat", 9.0), (2, "toy", 3.0), (3, "pen", 5.5), (4, "jar", 0.5))),)


def exercise(query: str, *, ordered: bool = False) -> Exercise:
    results = tuple(tuple(select(database, query) or ()) for database in (SHOWN, HIDDEN))
    return Exercise("?", query, ordered, (SHOWN, HIDDEN), results)


DEAR = exercise("SELECT name FROM goods WHERE price > 2")
FALLING = exercise("SELECT name, price FROM goods ORDER BY price DESC", ordered=True)


@pytest.mark.parametrize(
    "query",
    ["SELECT name FROM goods WHERE price > 2", "select NAME from Goods where PRICE>2.0;",
     "SELECT g.name AS n FROM goods g WHERE NOT g.price <= 2 ORDER BY n DESC -- names",
     "WITH d AS (SELECT * FROM goods WHERE price > 2) SELECT name FROM d",
     "SELECT name FROM (SELECT name, price FROM goods) WHERE price > 2",
     "SELECT max(name) FROM goods WHERE price > 2 GROUP BY id"],
)  # fmt: skip
def test_any_query_with_the_right_rows_is_right(query):
    assert Sql().is_right(DEAR, query)
    assert Sql().verdict(DEAR, f"```sql\n{query}\n```").passed  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "query",
    ["SELECT name FROM goods", "SELECT name FROM goods WHERE price >= 2.5 AND price < 5",
     "SELECT 'pen' UNION SELECT 'cup'",
     "VALUES ('pen'), ('cup')", "SELECT name, price FROM goods WHERE price > 2",
     "SELECT id FROM goods WHERE price > 2",
     "SELECT upper(name) FROM goods WHERE price > 2", "SELECT DISTINCT 'pen' FROM goods",
     "SELECT name FROM nothing",
     "SELECT name FROM goods WHERE price > 2; SELECT 1", "SELECT name FROM goods WHERE price > 2 LIMIT 2"],
)  # fmt: skip
def test_other_rows_are_wrong(query):
    assert not Sql().is_right(DEAR, query)


def test_order_counts_when_it_was_asked_for():
    assert Sql().is_right(FALLING, "SELECT name, price FROM goods ORDER BY 2 DESC")
    assert not Sql().is_right(FALLING, "SELECT name, price FROM goods ORDER BY 2")
    assert not Sql().is_right(FALLING, "SELECT name, price FROM goods")
    assert not Sql().is_right(FALLING, "SELECT price, name FROM goods ORDER BY 1 DESC")


@pytest.mark.parametrize(
    "query",
    ["DROP TABLE goods", "DELETE FROM goods", "UPDATE goods SET price = 0",
     "INSERT INTO goods VALUES (9, 'x', 1)",
     "CREATE TABLE t (a)", "CREATE TEMP TABLE t AS SELECT 1", "PRAGMA table_info(goods)",
     "PRAGMA journal_mode = wal",
     "ATTACH '/tmp/x.db' AS x", "ATTACH ':memory:' AS x", "VACUUM INTO '/tmp/x.db'", "BEGIN", "REINDEX",
     "ANALYZE",
     "SELECT load_extension('x')", "SELECT readfile('/etc/passwd')",
     "SELECT writefile('/tmp/x', 'x')", "SELECT sql FROM sqlite_master", "SELECT * FROM sqlite_schema",
     "SELECT * FROM pragma_table_info('goods')", "SELECT * FROM pragma_database_list",
     "SELECT randomblob(9)",
     "SELECT zeroblob(1000000000)", "SELECT hex(zeroblob(1000000000))", "SELECT printf('%999999999d', 1)",
     "SELECT replace(name, 'a', 'aa') FROM goods", "SELECT random()", "SELECT sqlite_version()",
     "SELECT * FROM json_each('[1]')", "", ";", "-- nothing", "SELECT name FROM goods\0", "SELECT '\ud800'",
     "SELECT ?", "SELECT :a", "SELECT " + "(" * 500 + "1" + ")" * 500, "SELECT " + "1," * 100 + "1",
     "SELECT 1" + " " * 2000, "SELECT 9223372036854775807 + abs(-9223372036854775808)"],
)  # fmt: skip
def test_nothing_but_reading_is_allowed(query):
    assert select(SHOWN, query) is None


@pytest.mark.parametrize(
    "query",
    ["WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
     "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
     "WITH RECURSIVE n(s) AS (SELECT 'a' UNION ALL SELECT s || s FROM n) SELECT count(s) FROM n",
     "SELECT count(*) FROM goods a, goods b, goods c, goods d, goods e, goods f, goods g, goods h, goods "
     "i, goods j, "
     "goods k, goods l WHERE a.price + b.price = c.price + l.price",
     "SELECT group_concat(a.name || b.name) FROM goods a, goods b, goods c, goods d, goods e, goods f, "
     "goods g",
     "SELECT 1 FROM goods a, goods b, goods c, goods d, goods e, goods f"],
)  # fmt: skip
def test_endless_queries_are_stopped(query):
    assert select(SHOWN, query) is None


def test_at_most_so_many_rows():
    cross = "SELECT 1 FROM goods a, goods b, goods c, goods d, goods e LIMIT {}"
    assert len(select(SHOWN, cross.format(99)) or ()) == 99
    wide = (TableData("goods", COLUMNS, tuple((i, "x", 1.0) for i in range(ROWS + 1))),)
    assert select(wide, "SELECT id FROM goods") is None
    assert len(select(wide, f"SELECT id FROM goods LIMIT {ROWS}") or ()) == ROWS


@pytest.mark.parametrize(
    ("one", "other", "ordered", "same"),
    [([(1,), (2,)], [(2,), (1,)], False, True), ([(1,), (2,)], [(2,), (1,)], True, False),
     ([(1,), (1,)], [(1,)], False, False), ([(1,), (1,), (2,)], [(1,), (2,), (2,)], False, False),
     ([(1,)], [(1.0,)], False, True), ([(0.1 + 0.2,)], [(0.3,)], False, True),
     ([("1",)], [(1,)], False, False),
     ([(None,)], [(0,)], False, False), ([(None,), ("a",), (1,)], [("a",), (1,), (None,)], False, True),
     ([(b"a",)], [("a",)], False, False), ([], [], True, True), ([("a", 1)], [("a",)], False, False)],
)  # fmt: skip
def test_results_are_multisets_or_sequences(one, other, ordered, same):
    assert same_rows(one, other, ordered=ordered) is same


@pytest.mark.parametrize("level", range(len(LEVELS)))
def test_references_pass_and_constants_do_not(level):
    kinds = set()
    for index in range(60):
        task = Sql().task(Split.TRAIN, level, index)
        found = task.data["exercise"]
        assert isinstance(found, Exercise)
        kinds.add(found.query.split(" FROM ")[0])
        assert judge(Sql(), task, Sample(task.gold or "")) == Scored(1.0, passed=True)
        rows = ", ".join("(" + ", ".join(repr(value) for value in row) + ")" for row in found.results[0])
        assert judge(Sql(), task, Sample(f"VALUES {rows}")) == Scored(0.0, passed=False)
    assert len(kinds) >= 5


def test_a_question_shows_the_tables_that_it_is_about():
    for level in range(len(LEVELS)):
        for index in range(30):
            task = Sql().task(Split.EVAL, level, index)
            found = task.data["exercise"]
            assert isinstance(found, Exercise)
            for table in found.databases[0]:
                assert (f"CREATE TABLE {table.name} (" in task.messages[-1].content) == (
                    f" {table.name}" in found.query.replace(f" t.{table.name}", "")
                )


def test_worlds_have_enough_texts_and_numbers():
    for world in WORLDS:
        for kind, rows in ((world.parent, 6), (world.child, 10)):
            assert all(len(set(column.values)) >= rows for column in kind.named("label"))
            assert all(column.high - column.low >= rows for column in kind.named("number", "price"))
