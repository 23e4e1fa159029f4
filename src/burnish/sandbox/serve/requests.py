"""Reading requests: bytes to records, every message naming the field."""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any

from burnish.sandbox.records import Case, Limits, RunRequest
from burnish.sandbox.serve.errors import Refused, bad

LANGUAGES = {
    "python": "python",
    "python3": "python",
    "bash": "shell",
    "shell": "shell",
    "nodejs": "javascript",
    "javascript": "javascript",
    "c": "c",
    "cpp": "cpp",
    "sql": "sql",
}
"""SandboxFusion's names of languages, and ours."""
MAX_SECONDS = 300.0
DEFAULT_SECONDS = 10.0
MAX_DEPTH_BYTES = 64 << 20

Table = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CellsRequest:
    """Cells of a notebook, run in order in one process."""

    cells: tuple[str, ...]
    limits: Limits
    total_seconds: float


@dataclass(frozen=True, slots=True)
class SubmitRequest:
    """A completion to be judged by the tests that come with it."""

    id: int | str
    dataset: str
    completion: str
    row: Table
    limits: Limits


def read_table(body: bytes) -> Table:
    """The JSON object of a body."""
    try:
        table = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Refused(HTTPStatus.BAD_REQUEST, f"the body is not JSON: {error}") from None
    if not isinstance(table, dict):
        raise Refused(HTTPStatus.BAD_REQUEST, "the body is not a JSON object")
    return table


def read_run_code(table: Table, caller: str, base: Limits) -> RunRequest:
    """The request of /run_code."""
    if _list(table, "fetch_files"):
        raise bad("fetch_files", "is not served", table["fetch_files"], "nothing; print what is wanted")
    stdin = table.get("stdin")
    if stdin is not None and not isinstance(stdin, str):
        raise bad("stdin", "is no text", stdin, "text or null")
    return RunRequest(
        code=_text(table, "code"),
        language=_language(table),
        cases=(Case(stdin=_bytes(stdin or "", "stdin")),),
        limits=_limits(table, base),
        files=_files(table),
        caller=caller,
    )


def read_cells(table: Table, base: Limits) -> CellsRequest:
    """The request of /run_jupyter."""
    cells = _list(table, "cells")
    if not cells or not all(isinstance(cell, str) for cell in cells):
        raise bad("cells", "cannot be used", cells, "a list of texts that is not empty")
    for key in ("files", "fetch_files"):
        if table.get(key):
            raise bad(key, "is not served for cells", table[key], "nothing")
    total = _seconds(table, "total_timeout", 45.0)
    cell = _seconds(table, "cell_timeout", 0.0) or total
    return CellsRequest(tuple(cells), replace(base, cpu_seconds=cell, wall_seconds=cell), total)


def read_submit(table: Table, base: Limits) -> SubmitRequest:
    """The request of /submit: the row with its tests comes in `config.provided_data`."""
    config = table.get("config")
    if not isinstance(config, dict):
        raise bad("config", "is missing", config, "an object with dataset_type and provided_data")
    row = config.get("provided_data")
    if not isinstance(row, dict):
        raise bad("config.provided_data", "is missing", row, "the row with its tests; none are stored here")
    identity = table.get("id", 0)
    if not isinstance(identity, int | str):
        raise bad("id", "cannot be used", identity, "a number or a text")
    dataset = config.get("dataset_type") or table.get("dataset")
    if not isinstance(dataset, str):
        raise bad(
            "config.dataset_type", "is missing", dataset, "MBPPDataset, HumanEvalDataset, CommonOJDataset"
        )
    return SubmitRequest(identity, dataset, _text(table, "completion"), row, _limits(config, base))


def _limits(table: Table, base: Limits) -> Limits:
    seconds = _seconds(table, "run_timeout", DEFAULT_SECONDS)
    memory = table.get("memory_limit_MB", -1)
    if type(memory) is not int or memory == 0 or memory > 1 << 20:
        raise bad("memory_limit_MB", "is out of range", memory, "megabytes, or -1")
    kept = base.memory_bytes if memory < 0 else memory << 20
    compiling = _seconds(table, "compile_timeout", base.compile_seconds)
    return replace(
        base,
        cpu_seconds=seconds,
        wall_seconds=2 * seconds,
        memory_bytes=kept,
        compile_seconds=max(0.01, compiling),
    )


def _seconds(table: Table, key: str, default: float) -> float:
    value = table.get(key)
    if value is None:
        return default
    if type(value) not in (int, float) or not math.isfinite(value) or not 0 <= value <= MAX_SECONDS:
        raise bad(key, "is out of range", value, f"seconds, at most {MAX_SECONDS:g}")
    return float(value) or default


def _language(table: Table) -> str:
    name = table.get("language")
    if not isinstance(name, str) or name not in LANGUAGES:
        raise bad("language", "is not served", name, f"one of {', '.join(LANGUAGES)}")
    return LANGUAGES[name]


def _files(table: Table) -> dict[str, bytes]:
    files = table.get("files") or {}
    if not isinstance(files, dict):
        raise bad("files", "cannot be used", files, "an object of name and base64 text")
    found: dict[str, bytes] = {}
    for name, content in files.items():
        try:
            found[name] = base64.b64decode(content or "", validate=True)
        except (binascii.Error, TypeError, ValueError):
            raise bad(f"files[{name!r:.80}]", "is not base64", content, "base64 text") from None
    return found


def _text(table: Table, key: str) -> str:
    value = table.get(key)
    if not isinstance(value, str):
        raise bad(key, "is missing" if value is None else "is no text", value, "text")
    _bytes(value, key)
    return value


def _bytes(text: str, key: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise bad(key, "is not valid Unicode", ascii(text)[:80], "text without lone surrogates") from None


def _list(table: Table, key: str) -> list[Any]:
    value = table.get(key) or []
    if not isinstance(value, list):
        raise bad(key, "is no list", value, "a list")
    return value
