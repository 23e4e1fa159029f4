import pytest

from burnish.bench.child import Peak, memory, run_child
from burnish.errors import TrainingError


def test_the_peak_of_memory_sees_what_was_freed_again():
    peak = Peak()
    block = bytearray(64 << 20)
    block[::4096] = b"x" * len(block[::4096])
    del block
    assert peak.bytes - peak.before > 48 << 20


def test_an_unknown_field_is_zero():
    assert memory("VmNothing") == 0


def test_a_child_that_fails_says_why():
    with pytest.raises(TrainingError, match="without a result"):
        run_child("update", {"way": "ours"})
