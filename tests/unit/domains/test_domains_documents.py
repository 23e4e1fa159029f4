"""Documents hold what their questions need, once; a second reader comes to the same answers."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable

import pytest

from burnish.domains.documents.base import WORDS, is_same
from burnish.domains.documents.families import FAMILIES
from burnish.domains.documents.filler import _TEMPLATES, _WORDS
from burnish.domains.documents.names import THINGS
from burnish.domains.generated import NAMES as GENERATED
from burnish.domains.registry import default_registry
from burnish.domains.settings import DomainSettings
from burnish.domains.validate import validate_domain
from burnish.errors import DomainError
from burnish.evaluation.trivial import trivial_scores
from burnish.records import Sample, Scored, Split, Task
from burnish.rewards.judge import judge

NAMES = sorted(FAMILIES)
LEVELS = range(len(WORDS))


def made(name: str, form: str = "plain"):
    return FAMILIES[name](DomainSettings(answer_format=form))  # pyright: ignore[reportArgumentType]


def parts(task: Task) -> tuple[str, str]:
    document, _, question = task.messages[-1].content.rpartition("\n\nQuestion: ")
    return document, question


def test_the_registry_knows_them_without_importing_them():
    assert sorted(GENERATED["documents"]) == NAMES
    registry = default_registry()
    assert registry.resolve(["documents/*"]) == NAMES
    assert [registry.load(name).name for name in NAMES] == NAMES


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", ["plain", "tags"])
def test_they_validate(name, form):
    report = validate_domain(made(name, form), tasks=3)
    assert report.ok, report.problems


@pytest.mark.parametrize("name", NAMES)
def test_tasks_are_pure_varied_and_survive_a_journey(name):
    domain = pickle.loads(pickle.dumps(made(name)))
    for level in LEVELS:
        tasks = [domain.task(Split.HOLDOUT, level, index) for index in range(12)]
        again = [made(name).task(Split.HOLDOUT, level, index) for index in range(12)]
        assert [(t.messages, t.gold, t.data) for t in tasks] == [(t.messages, t.gold, t.data) for t in again]
        assert len({task.messages for task in tasks}) == 12
        assert len({task.gold for task in tasks}) >= 7
    with pytest.raises(DomainError, match="no such level"):
        domain.task(Split.TRAIN, len(WORDS), 0)


@pytest.mark.parametrize("name", NAMES)
def test_documents_are_as_long_as_their_level_says(name):
    for level, words in enumerate(WORDS):
        for index in range(5):
            document, _ = parts(made(name).task(Split.TRAIN, level, index))
            assert 0.8 * words <= len(document.split()) <= 1.15 * words + 50


def test_a_task_keeps_the_document_once():
    task = made("documents/needle").task(Split.TRAIN, 4, 0)
    assert len(pickle.dumps(task.data)) < 1000


def test_filler_has_no_word_that_is_an_answer_and_no_number():
    filler = " ".join([*_TEMPLATES, *(word for words in _WORDS.values() for word in words)])
    assert not set(re.findall(r"\w+", filler.lower())) & set(THINGS)
    assert not re.search(r"\d", filler)
    assert len(set(THINGS)) == len(THINGS)


def read_needle(document: str, question: str) -> str:
    place = re.fullmatch(r"What is the access code of the (.+)\?", question)[1]
    return only(re.findall(rf"The access code of the {place} is (\d+)\.", document))


def read_chain(document: str, question: str) -> str:
    key = re.search(r"Start with key (\w+)", question)[1]
    leads = dict(re.findall(r"Key (\w+) leads to key (\w+)\.", document))
    opens = dict(re.findall(r"Key (\w+) opens the box with the word (\w+)\.", document))
    while key in leads:
        assert key not in opens
        key = leads.pop(key)
    return opens[key]


def read_hops(document: str, question: str) -> str:
    leads = {}
    relations = (
        r"(\w+) works for the company (\w+)\.",
        r"The company (\w+) has its seat in (\w+)\.",
        r"The town of (\w+) lies on the river (\w+)\.",
        r"The river (\w+) rises on Mount (\w+)\.",
    )
    for relation in relations:
        for one, other in re.findall(relation, document):
            assert leads.setdefault(one, other) == other
    reached = next(
        name for name in re.findall(r"[A-Z]\w+", question.removesuffix(" Reply with its name."))[1:]
    )
    for _ in range(sum(word in question for word in ("work for?", "works for")) + question.count("seat")):
        reached = leads[reached]
    for word in ("river", "mountain"):
        reached = leads[reached] if word in question else reached
    return reached


def read_variables(document: str, question: str) -> str:
    held: dict[str, int] = {}
    found = re.compile(
        r"The variable (\w+) is set to (\d+)\.|The value of (\w+) is copied to (\w+)\."
        r"|The variable (\w+) is (raised|lowered) by (\d+)\."
    )
    for name, amount, source, target, changed, way, by in found.findall(document):
        if name:
            assert name not in held
            held[name] = int(amount)
        elif source:
            held[target] = held[source]
        else:
            held[changed] += int(by) if way == "raised" else -int(by)
    return str(held[re.search(r"variable (\w+) at", question)[1]])


def read_table(document: str, question: str) -> str:
    rows = [
        (s, r, g, int(n)) for s, r, g, n in re.findall(r"\| (\w+) \| (\w+) \| (\w+) \| (\d+) \|", document)
    ]
    assert len({row[0] for row in rows}) == len(rows)
    regions = re.findall(r"region (\w+)", question)
    if len(regions) == 2:
        one, other = (sum(row[3] for row in rows if row[1] == region) for region in regions)
        return str(one - other)
    if question.startswith("How many sellers"):
        return str(sum(row[1] == regions[0] for row in rows))
    if question == "Which seller sold the most?":
        most = max(row[3] for row in rows)
        return only([row[0] for row in rows if row[3] == most])
    goods = re.match(r"How many (\w+)", question)
    kept = [row for row in rows if not goods or row[2] == goods[1]]
    seller = re.search(r"did (\w+) sell", question)
    return str(sum(row[3] for row in kept if row[1] in regions or (seller and row[0] == seller[1])))


def only(found: list[str]) -> str:
    assert len(found) == 1
    return found[0]


READERS: dict[str, Callable[[str, str], str]] = {
    "documents/needle": read_needle,
    "documents/key_chain": read_chain,
    "documents/multi_hop": read_hops,
    "documents/variable_tracking": read_variables,
    "documents/table_aggregation": read_table,
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("level", LEVELS)
def test_another_reader_finds_the_same_answer(name, level):
    for index in range(25):
        task = made(name).task(Split.TRAIN, level, index)
        assert READERS[name](*parts(task)) == task.gold


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", ["plain", "tags"])
def test_agents_that_know_nothing_earn_nothing(name, form):
    domain = made(name, form)
    tasks = [domain.task(Split.EVAL, level, index) for level in LEVELS for index in range(6)]
    for score in trivial_scores(domain, tasks, judge):
        assert score.faults == 0
        assert score.earned <= 0.1, score


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", ["plain", "tags"])
def test_no_piece_of_the_document_and_no_list_of_candidates_passes(name, form):
    domain = made(name, form)
    for level in LEVELS:
        task = domain.task(Split.TRAIN, level, 1)
        document, question = parts(task)
        sentences = re.split(r"(?<=[.?])\s+|\n", document)
        words = re.findall(r"\w+", document)
        pieces = [document, question, *sentences, " ".join(words), ", ".join(sorted(set(words)))]
        gold = str(task.gold)
        bare = gold.removeprefix("<answer>").removesuffix("</answer>")
        pieces += [
            f"{bare} {bare}",
            f"{bare}, {words[0]}",
            f"It is {bare}",
            f"{document}\n{bare}",
            f"-{bare} ",
        ]
        for piece in pieces:
            for text in (piece, f"<answer>{piece}</answer>"):
                verdict = judge(domain, task, Sample(text))
                assert verdict == Scored(0.0, passed=False), text[-80:]


@pytest.mark.parametrize(
    ("answer", "reference", "same"),
    [
        (" Lantern. ", "lantern", True),
        ('"lantern"', "lantern", True),
        ("**Lantern**", "lantern", True),
        ("lan tern", "lantern", False),
        ("lanterns", "lantern", False),
        ("", "lantern", False),
        ('"."', "lantern", False),
        ("1,204", "1204", True),
        ("1204.", "1204", True),
        ("1204.0", "1204", True),
        ("01204", "1204", True),
        ("-3", "-3", True),
        ("3", "-3", False),
        ("1204 or 1205", "1204", False),
        ("١٢٠٤", "1204", True),
        ("lantern" + " " * 200, "lantern", False),
        ("\ud800", "lantern", False),
    ],
)
def test_answers_are_compared_as_a_whole(answer, reference, same):
    assert is_same(answer, reference) is same
