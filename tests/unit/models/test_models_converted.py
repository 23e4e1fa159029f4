"""Models of other formats are kept as safetensors, and a bad cache is never worse than none."""

import os

import pytest
import torch

from burnish.models import converted
from burnish.models.converted import cache_folder, load_converted
from burnish.models.load import _load_directory
from burnish.models.settings import ModelSettings
from burnish.models.tiny import tiny_model, tiny_tokenizer

SMALL = ModelSettings(name="tiny", tiny_layers=1, tiny_hidden=32, tiny_intermediate=64)


class Reader:
    """Stands for the slow reading of a file; counts how often it is asked."""

    def __init__(self):
        self.count = 0

    def __call__(self, path):
        self.count += 1
        return tiny_model(SMALL, seed=len(path.read_bytes())), tiny_tokenizer()


@pytest.fixture
def source(tmp_path, monkeypatch):
    monkeypatch.setenv(converted.VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(converted, "_FREE_BYTES", 0)
    file = tmp_path / "some.gguf"
    file.write_bytes(b"12345")
    return file


def weights(loaded):
    return loaded[0].state_dict()


def same(a, b):
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


def test_the_second_load_reads_the_cache_and_gives_the_same_model(source):
    read = Reader()
    first = load_converted(source, read, _load_directory)
    second = load_converted(source, read, _load_directory)
    assert read.count == 1
    assert same(weights(first), weights(second))
    text = "1 + 2 = 3\n"
    assert first[1].encode(text) == second[1].encode(text)
    assert second[0].config._name_or_path == ""


def test_a_changed_file_is_another_model(source):
    read = Reader()
    first = load_converted(source, read, _load_directory)
    source.write_bytes(b"123456")
    second = load_converted(source, read, _load_directory)
    assert read.count == 2
    assert not same(weights(first), weights(second))


def test_a_damaged_folder_is_made_anew(source):
    read = Reader()
    first = load_converted(source, read, _load_directory)
    (file,) = cache_folder().rglob("model.safetensors")
    file.write_bytes(file.read_bytes()[:100])
    assert same(weights(first), weights(load_converted(source, read, _load_directory)))
    assert same(weights(first), weights(load_converted(source, read, _load_directory)))
    assert read.count == 2


def test_without_room_nothing_is_kept(source, monkeypatch):
    monkeypatch.setattr(converted, "_FREE_BYTES", 1 << 60)
    read = Reader()
    for _ in range(2):
        load_converted(source, read, _load_directory)
    assert read.count == 2
    assert not list(cache_folder().rglob("*.safetensors"))


def test_a_cache_that_cannot_be_written_is_no_error(source, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(converted.VARIABLE, str(tmp_path / "file" / "below"))
    load_converted(source, Reader(), _load_directory)


def test_the_cache_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.delenv(converted.VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "burnish"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == os.path.expanduser("~") / cache_folder().relative_to(os.path.expanduser("~"))
