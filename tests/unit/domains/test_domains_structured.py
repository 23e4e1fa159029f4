"""Structured answers: right ones in any form pass, wrong ones do not, nothing breaks or stalls a grader."""

from __future__ import annotations

import json
import pickle
from random import Random
from typing import Any

import pytest

from burnish.domains.generated import NAMES as GENERATED
from burnish.domains.registry import default_registry
from burnish.domains.settings import DomainSettings
from burnish.domains.structured.base import payload, read_json, same_json
from burnish.domains.structured.families import FAMILIES
from burnish.domains.structured.json_schema import Form, JsonSchema
from burnish.domains.structured.schemas import draw_schema, example, holds
from burnish.domains.structured.table_to_json import Table, TableToJson
from burnish.domains.validate import validate_domain
from burnish.errors import DomainError
from burnish.records import Sample, Scored, Split
from burnish.rewards.judge import judge

NAMES = sorted(FAMILIES)
FORMS = ("plain", "tags")


def made(name: str, form: str = "plain"):
    return FAMILIES[name](DomainSettings(answer_format=form))  # pyright: ignore[reportArgumentType]


def passes(domain: Any, exercise: object, text: str) -> bool:
    verdict = domain.verdict(exercise, text)
    assert isinstance(verdict, Scored)
    assert verdict.value == float(verdict.passed)
    return verdict.passed


def test_the_registry_knows_them():
    assert sorted(GENERATED["structured"]) == NAMES
    registry = default_registry()
    assert registry.resolve(["structured/*"]) == NAMES
    assert all(registry.load(name).name == name for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", FORMS)
def test_they_validate(name, form):
    report = validate_domain(made(name, form), tasks=4)
    assert report.ok, report.problems


@pytest.mark.parametrize("name", NAMES)
def test_tasks_are_pure_varied_and_survive_a_journey(name):
    domain = pickle.loads(pickle.dumps(made(name)))
    assert domain.levels >= 4
    for level in range(domain.levels):
        tasks = [domain.task(Split.TRAIN, level, index) for index in range(20)]
        again = [made(name).task(Split.TRAIN, level, index) for index in range(20)]
        assert [(t.messages, t.gold, t.data) for t in tasks] == [(t.messages, t.gold, t.data) for t in again]
        assert len({task.messages[-1].content for task in tasks}) == 20
    with pytest.raises(DomainError, match="no such level"):
        domain.task(Split.TRAIN, domain.levels, 0)


@pytest.mark.parametrize("name", NAMES)
def test_references_pass_in_every_form_over_many_seeds(name):
    for level in range(made(name).levels):
        for index in range(40):
            for form in FORMS:
                domain = made(name, form)
                task = domain.task(Split.TRAIN, level, index)
                assert judge(domain, task, Sample(task.gold or "")) == Scored(1.0, passed=True)
        assert task.gold is not None
        fenced = f"Here it is:\n```\n{task.gold[8:-9]}\n```\nDone."
        assert passes(made(name), task.data["exercise"], fenced)
        assert not passes(made(name), task.data["exercise"], f"{fenced}\n{fenced}")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "text",
    ["", " \n", "\ud800", "\x00", "{}", "[]", "null", "true", "1", '""', "NaN", "Infinity", "1e999",
     "-" * 19_999,
     "[" * 19_999, "{" * 5000, "(" * 19_999, '{"a":' * 3000, "9" * 6000, "1" * 30_000, "```\n```",
     "```", "```\n",
     "```json\n{}\n```", "SELECT 1", "SELECT", ";", ".*", "(a+)+$", "[", "<answer>",
     "</answer><answer>", "I don't know"],
)  # fmt: skip
def test_no_text_breaks_a_grader_or_passes(name, text):
    for form in FORMS:
        domain = made(name, form)
        for level in range(domain.levels):
            task = domain.task(Split.TRAIN, level, 7)
            verdict = judge(domain, task, Sample(text))
            assert verdict == Scored(0.0, passed=False)


def test_the_answer_is_the_only_block_or_everything():
    assert payload(" a ", "plain") == "a"
    assert payload("x\n```sql\na\nb\n```\ny", "plain") == "a\nb"
    assert payload("```\na\n```\n```\nb\n```", "plain") == ""
    assert payload("```\na", "plain") == "```\na"
    assert payload("x <answer>```\na\n```</answer>", "tags") == "a"
    assert payload("a", "tags") == ""
    assert payload("a" * 20_001, "plain") == ""


@pytest.mark.parametrize(
    "text", ["NaN", "[Infinity]", "1e999", '{"a": 1, "a": 2}', "{'a': 1}", "[1,]", "1 2", "", "[" * 9999]
)
def test_what_is_no_json(text):
    assert read_json(text) is None


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [("1", "1.0", True), ("1", "true", False), ("0", "false", False), ("[1, 2]", "[2, 1]", False),
     ('"1"', "1", False),
     ('{"a": 1, "b": [null]}', '{"b": [null], "a": 1}', True), ('{"a": 1}', '{"a": 1, "b": null}', False),
     ("null", "false", False), ("[]", "{}", False), ('"é"', '"\\u00e9"', True)],
)  # fmt: skip
def test_json_is_compared_by_value(one, other, same):
    assert same_json(json.loads(one), json.loads(other)) is same


OBJECT = {
    "type": "object",
    "properties": {"a": {"type": "integer", "minimum": 2, "maximum": 9}, "b": {"type": "boolean"}},
    "required": ["a"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("schema", "valid", "invalid"),
    [
        (OBJECT, [{"a": 2}, {"a": 9.0, "b": True}], [{}, {"b": True}, {"a": 1}, {"a": 2.5}, {"a": True},
                  {"a": 2, "c": 1}, {"a": 2, "b": 1}, [], None, "a", {"a": "2"}, {"a": None}]),
        ({"type": "number", "minimum": 0}, [0, 1.5], [-0.1, True, "1", None]),
        ({"type": "integer", "multipleOf": 3}, [0, 3, -6, 9.0], [1, 4.5]),
        ({"type": "string", "minLength": 2, "maxLength": 3}, ["ab", "日本", "abc"], ["a", "abcd", 12, None]),
        ({"type": "string", "pattern": "^ID-"}, ["ID-", "ID-7"], ["id-", " ID-", ""]),
        ({"enum": ["x", 1]}, ["x", 1, 1.0], [True, "X", None]),
        ({"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 2, "uniqueItems": True},
         [[1], [1, 2]], [[], [1, 1], [1, 1.0], [1, 2, 3], ["1"], {}, [True]]),
        ({"type": "array",
        "items": {"enum": [0, False]}, "minItems": 0, "maxItems": 3, "uniqueItems": True},
         [[0, False], []], [[0, 0]]),
        ({"type": "boolean"}, [True, False], [0, 1, "true", None]),
    ],
)  # fmt: skip
def test_schemas_mean_what_json_schema_says(schema, valid, invalid):
    assert [value for value in valid if not holds(schema, value)] == []
    assert [value for value in invalid if holds(schema, value)] == []


def test_other_keywords_are_refused():
    with pytest.raises(ValueError, match="oneOf"):
        holds({"oneOf": []}, 1)


def test_drawn_schemas_have_valid_examples_and_notice_a_wrong_one():
    for seed in range(300):
        rng = Random(seed)
        schema = draw_schema(rng, seed % 4)
        value = example(schema, rng)
        assert holds(schema, value)
        assert not holds(schema, {**value, "unasked": 1})
        for key in schema["required"]:
            assert not holds(schema, {k: v for k, v in value.items() if k != key})
            assert not holds(schema, {**value, key: {"odd": [None]}})
        assert not passes(JsonSchema(), Form(schema, ""), json.dumps(schema))


def test_tables_are_converted_exactly():
    table = Table("", "", '[{"name": "Ada", "stock": 5, "paid": true, "price": 1.5, "city": null}]')
    right = '[{"city": null, "price": 1.50, "paid": true, "stock": 5.0, "name": "Ada"}]'
    assert passes(TableToJson(), table, right)
    assert passes(TableToJson(), table, f"```json\n{right}\n```")
    for old, new in (
        ("true", "1"),
        ("true", '"yes"'),
        ("5.0", '"5"'),
        ("null", '""'),
        ("Ada", "ada"),
        ("[", ""),
    ):
        assert not passes(TableToJson(), table, right.replace(old, new, 1)), new
    assert not passes(TableToJson(), table, '{"name": "Ada"}')


def test_tables_have_no_cell_that_reads_in_two_ways():
    for level in range(4):
        for index in range(60):
            task = TableToJson().task(Split.TRAIN, level, index)
            exercise = task.data["exercise"]
            assert isinstance(exercise, Table)
            values = json.loads(exercise.result)
            rows = values if isinstance(values, list) else [values]
            assert rows
            for text in (v for row in rows for v in row.values() if isinstance(v, str)):
                assert not {"|", ",", "\n", ":"} & set(text)
                assert read_json(text) is None
