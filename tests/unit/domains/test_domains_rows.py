"""Row files as domains: columns of several conventions, splits, levels, and every kind of bad file."""

from __future__ import annotations

import json
import os
import pickle
import sys
from pathlib import Path
from typing import Any

import pytest

from burnish.domains.registry import build_domains
from burnish.domains.rows import RowsDomain, open_rows
from burnish.domains.settings import DomainSettings, RowsSettings
from burnish.errors import DomainError
from burnish.records import Abstained, Sample, Scored, Split

RIGHT, WRONG = Scored(1.0, passed=True), Scored(0.0, passed=False)


def write(path: Path, rows: list[Any]) -> Path:
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


def sums(count: int = 40, **more: Any) -> list[dict[str, Any]]:
    return [{"prompt": f"{i} + {i} = ?", "answer": str(2 * i), **more} for i in range(count)]


def settings(path: Path, **more: Any) -> RowsSettings:
    return RowsSettings(name="mine/sums", path=str(path), **more)


@pytest.fixture
def domain(tmp_path: Path) -> RowsDomain:
    return open_rows(settings(write(tmp_path / "rows.jsonl", sums())))


def test_every_row_is_in_exactly_one_split(domain: RowsDomain) -> None:
    seen = [
        domain.task(split, 0, index).messages[-1].content
        for split in Split
        for index in range(domain.size(split, 0) or 0)
    ]
    assert sorted(seen) == sorted(row["prompt"] for row in sums())


def test_indices_wrap_around(domain: RowsDomain) -> None:
    size = domain.size(Split.EVAL, 0)
    assert size
    one, other = domain.task(Split.EVAL, 0, 3), domain.task(Split.EVAL, 0, 3 + size)
    assert one.messages == other.messages
    assert (one.index, other.index) == (3, 3 + size)


def test_the_order_is_not_that_of_the_file(domain: RowsDomain) -> None:
    numbers = [
        int(str(domain.task(Split.TRAIN, 0, i).data["answer"]))
        for i in range(domain.size(Split.TRAIN, 0) or 0)
    ]
    assert numbers != sorted(numbers)


def test_a_row_keeps_its_split_when_others_are_added(tmp_path: Path) -> None:
    def splits(count: int) -> dict[str, Split]:
        made = open_rows(settings(write(tmp_path / f"{count}.jsonl", sums(count))))
        return {
            made.task(split, 0, index).messages[-1].content: split
            for split in Split
            for index in range(made.size(split, 0) or 0)
        }

    few, many = splits(30), splits(60)
    assert few.items() <= many.items()


def test_duplicates_do_not_cross_splits(tmp_path: Path) -> None:
    rows = [row for row in sums() for _ in range(3)] + [
        {"prompt": f"  {row['prompt'].upper()}", "answer": row["answer"]} for row in sums()
    ]
    made = open_rows(settings(write(tmp_path / "rows.jsonl", rows)))
    by_split = [
        {
            " ".join(made.task(split, 0, i).messages[-1].content.split())
            for i in range(made.size(split, 0) or 0)
        }
        for split in Split
    ]
    assert not (by_split[0] & by_split[1] or by_split[0] & by_split[2] or by_split[1] & by_split[2])


def test_levels_follow_the_values_of_a_column(tmp_path: Path) -> None:
    rows = [{**row, "hard": [1, 5, 2][i % 3]} for i, row in enumerate(sums(90))]
    made = open_rows(settings(write(tmp_path / "rows.jsonl", rows), level="hard"))
    assert made.levels == 3
    assert [made.task(Split.TRAIN, level, 0).data["row"]["hard"] for level in range(3)] == [1, 2, 5]  # type: ignore[index]
    with pytest.raises(DomainError, match="0 to 2"):
        made.task(Split.TRAIN, 3, 0)


def test_tags_and_instruction_of_the_recipe(tmp_path: Path) -> None:
    common = DomainSettings(answer_format="tags", instruction="Compute.")
    made = open_rows(settings(write(tmp_path / "rows.jsonl", sums())), common)
    task = made.task(Split.TRAIN, 0, 0)
    assert task.messages[0].content == "Compute."
    assert task.gold == f"<answer>{task.data['answer']}</answer>"
    assert made.grade(task, Sample(str(task.data["answer"]))) == WRONG
    assert made.grade(task, Sample(task.gold)) == RIGHT


def test_a_system_message_of_the_row_stays_alone(tmp_path: Path) -> None:
    rows = [
        {
            "prompt": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": row["prompt"]},
            ],
            "answer": 1,
        }
        for row in sums()
    ]
    task = open_rows(settings(write(tmp_path / "rows.jsonl", rows))).task(Split.TRAIN, 0, 0)
    assert [message.role for message in task.messages] == ["system", "user"]
    assert task.messages[0].content == "Be brief."
    assert task.gold == "1"


@pytest.mark.parametrize(
    ("adapter", "row", "gold"),
    [
        ("gsm8k", {"question": "{}", "answer": "2 + 2 = <<2+2=4>>4\n#### 1,004"}, "1004"),
        ("trl", {"prompt": "{}", "solution": "4"}, "4"),
        ("trl", {"prompt": "{}", "completion": [{"role": "assistant", "content": "4"}]}, "4"),
        ("verl", {"prompt": [{"role": "user", "content": "{}"}], "reward_model": {"ground_truth": 4}}, "4"),
        ("columns", {"prompt": "{}", "answer": ["four", "4"]}, "four"),
    ],
)
def test_conventions(tmp_path: Path, adapter: Any, row: dict[str, Any], gold: str) -> None:
    rows = [json.loads(json.dumps(row).replace("{}", f"question {i}")) for i in range(40)]
    made = open_rows(settings(write(tmp_path / "rows.jsonl", rows), adapter=adapter))
    task = made.task(Split.TRAIN, 0, 0)
    assert task.gold == gold
    assert task.messages[-1].content.startswith("question ")
    assert made.grade(task, Sample(gold)) == RIGHT


def test_columns_may_be_named_with_dots(tmp_path: Path) -> None:
    rows = [{"in": {"text": row["prompt"]}, "out.put": row["answer"]} for row in sums()]
    made = open_rows(settings(write(tmp_path / "rows.jsonl", rows), prompt="in.text", answer="out.put"))
    assert made.task(Split.TRAIN, 0, 0).messages[-1].content.endswith("= ?")


def test_parquet(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    pq.write_table(pa.Table.from_pylist(sums()), tmp_path / "rows.parquet")
    made = open_rows(settings(tmp_path / "rows.parquet"))
    assert sum(made.size(split, 0) or 0 for split in Split) == 40


def test_parquet_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rows.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(DomainError, match=r"pip install 'burnish\[parquet\]'"):
        open_rows(settings(tmp_path / "rows.parquet"))


def test_a_domain_survives_pickling(domain: RowsDomain) -> None:
    copy = pickle.loads(pickle.dumps(domain))
    assert copy.task(Split.EVAL, 0, 1) == domain.task(Split.EVAL, 0, 1)


BAD_FILES = {
    "malformed line": (b'{"prompt": "a", "answer": "b"}\n{"prompt": ', "line 2:"),
    "not an object": (b'{"prompt": "a", "answer": "b"}\n\n[1]\n', "line 3: a JSON list, not an object"),
    "not UTF-8": (b'{"prompt": "a", "answer": "b"}\n{"prompt": "\xff"}', "line 2: byte 12 is not UTF-8"),
    "empty": (b"\n \n", "holds no rows"),
    "no answer": (
        b'{"prompt": "a", "answer": "b"}\n{"prompt": "c", "label": 1}',
        "row 2 has no column 'answer'",
    ),
    "null answer": (b'{"prompt": "a", "answer": null}', "row 1 has no column 'answer'"),
    "blank prompt": (b'{"prompt": " ", "answer": "b"}', "row 1: the prompt cannot be used"),
    "bad message": (b'{"prompt": [{"role": "boss", "content": "x"}], "answer": "b"}', "row 1: a message"),
    "ends with assistant": (
        b'{"prompt": [{"role": "assistant", "content": "x"}], "answer": "b"}',
        "row 1: the prompt cannot be used",
    ),
    "table as answer": (b'{"prompt": "a", "answer": {"x": 1}}', "row 1: the answer cannot be used"),
    "one row": (b'{"prompt": "a", "answer": "b"}', "has no row of split"),
}


@pytest.mark.parametrize("kind", list(BAD_FILES))
def test_bad_files_say_where(tmp_path: Path, kind: str) -> None:
    content, said = BAD_FILES[kind]
    path = tmp_path / "rows.jsonl"
    path.write_bytes(content)
    with pytest.raises(DomainError) as error:
        open_rows(settings(path))
    assert said in str(error.value)


def test_a_missing_column_lists_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(DomainError, match="columns prompt, answer"):
        open_rows(settings(write(tmp_path / "rows.jsonl", sums()), answer="label"))


def test_a_level_that_is_no_number(tmp_path: Path) -> None:
    with pytest.raises(DomainError, match="row 1: the level is not a number"):
        open_rows(settings(write(tmp_path / "rows.jsonl", sums(hard="very")), level="hard"))


def test_a_missing_file_is_suggested(tmp_path: Path) -> None:
    write(tmp_path / "train.jsonl", sums())
    with pytest.raises(DomainError, match=r"did you mean 'train\.jsonl'"):
        open_rows(settings(tmp_path / "trian.jsonl"))


def test_missing_folder_and_unknown_kind(tmp_path: Path) -> None:
    with pytest.raises(DomainError, match="does not exist either"):
        open_rows(settings(tmp_path / "no" / "rows.jsonl"))
    with pytest.raises(DomainError, match="is a folder"):
        open_rows(settings(tmp_path))
    (tmp_path / "rows.csv").write_text("a,b")
    with pytest.raises(DomainError, match=r"expected: \.jsonl or \.parquet"):
        open_rows(settings(tmp_path / "rows.csv"))


def test_a_level_without_rows_of_a_split_fails_before_a_run(tmp_path: Path) -> None:
    rows = [{**row, "hard": 0} for row in sums()] + [{"prompt": "alone", "answer": "1", "hard": 1}]
    row = settings(write(tmp_path / "rows.jsonl", rows), level="hard")
    build_domains(DomainSettings(train=("mine/sums",), rows=(row,)))
    with pytest.raises(DomainError, match="at level 1"):
        build_domains(DomainSettings(train=("mine/sums",), level=1, rows=(row,)))


def gsm8k() -> Path:
    folder = os.environ.get("BURNISH_DATA") or Path(__file__).parents[3].parent / "shared" / "data"
    path = Path(folder) / "gsm8k_train.jsonl"
    if not path.is_file():
        pytest.skip("GSM8K rows are not here; set BURNISH_DATA to the folder that holds gsm8k_train.jsonl")
    return path


def test_gsm8k_gold_answers_pass_and_others_do_not() -> None:
    made = open_rows(RowsSettings(name="math/gsm8k", path=str(gsm8k()), adapter="gsm8k"))
    for index in range(50):
        task = made.task(Split.TRAIN, 0, index)
        assert task.gold
        assert made.grade(task, Sample(task.gold)) == RIGHT
        assert made.grade(task, Sample(f"{task.gold}7")) == WRONG
        assert not isinstance(made.grade(task, Sample("x" * 5000)), Abstained)
