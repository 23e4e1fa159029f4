"""Rows of JSONL and Parquet files, read whole and checked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from burnish.errors import DomainError, suggestion

Row = Mapping[str, Any]


def read_rows(path: Path) -> list[Row]:
    """All rows of a file; a row is a mapping from column to value.

    Raises:
        DomainError: no such file, unknown kind, empty, unreadable, or a malformed line (with its number).
    """
    if not path.is_file():
        raise _missing(path)
    reader = {".jsonl": _read_jsonl, ".ndjson": _read_jsonl, ".parquet": _read_parquet}.get(
        path.suffix.lower()
    )
    if reader is None:
        raise DomainError(
            f"{path} is of no known kind",
            got=path.suffix or "no extension",
            expected=".jsonl or .parquet",
            next_step="convert the file: one JSON object a line",
        )
    try:
        rows = reader(path)
    except OSError as error:
        raise DomainError(f"{path} cannot be read: {error.strerror or error}") from None
    if not rows:
        raise DomainError(f"{path} holds no rows", expected="at least one row in each split")
    return rows


def column(row: Row, name: str) -> Any:
    """The value of a column; dots reach into tables, as in `reward_model.ground_truth`.

    Raises:
        KeyError: no such column.
    """
    if name in row:
        return row[name]
    value: Any = row
    for part in name.split("."):
        if not isinstance(value, Mapping) or part not in value:
            raise KeyError(name)
        value = value[part]
    return value


def _missing(path: Path) -> DomainError:
    if path.is_dir():
        return DomainError(f"{path} is a folder", expected="a .jsonl or .parquet file")
    folder = path.parent
    if not folder.is_dir():
        return DomainError(f"no such file: {path}", next_step=f"the folder {folder} does not exist either")
    names = sorted(p.name for p in folder.iterdir() if p.suffix in {".jsonl", ".parquet"})
    return DomainError(
        f"no such file: {path}",
        next_step=suggestion(path.name, names) or f"row files in {folder}: {', '.join(names[:5]) or 'none'}",
    )


def _read_jsonl(path: Path) -> list[Row]:
    rows: list[Row] = []
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                rows.append(_parse_line(path, number, line))
    return rows


def _parse_line(path: Path, number: int, line: bytes) -> Row:
    try:
        row = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
    except UnicodeDecodeError as error:
        raise _bad_line(path, number, line, f"byte {error.start} is not UTF-8") from None
    except (json.JSONDecodeError, RecursionError) as error:
        raise _bad_line(path, number, line, str(error)) from None
    if not isinstance(row, dict):
        raise _bad_line(path, number, line, f"a JSON {type(row).__name__}, not an object")
    return row


def _bad_line(path: Path, number: int, line: bytes, reason: str) -> DomainError:
    return DomainError(
        f"{path}, line {number}: {reason}",
        got=line.decode("utf-8", "replace").strip()[:80],
        expected='one JSON object a line, for example {"prompt": "1 + 1 = ?", "answer": "2"}',
        next_step="correct or remove that line",
    )


def _read_parquet(path: Path) -> list[Row]:
    try:
        import pyarrow as pa  # noqa: PLC0415  optional
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ImportError:
        raise DomainError(
            f"{path} needs pyarrow, which is not installed",
            next_step="pip install 'burnish[parquet]', or convert the file to .jsonl",
        ) from None
    try:
        return pq.read_table(path).to_pylist()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DomainError(f"{path} is not a Parquet file: {error}") from None
