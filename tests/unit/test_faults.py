"""Asking a process to fail at a named place."""

import os
import signal

import pytest

from burnish import faults
from burnish.faults import fault_point, parse, set_plan


@pytest.fixture(autouse=True)
def no_faults_left():
    yield
    set_plan("")


def test_nothing_happens_unless_it_is_asked_for():
    fault_point("anywhere")


def test_a_place_fails_the_time_that_is_named_and_only_then():
    set_plan("here:2:error,there:1:enospc")
    fault_point("here")
    with pytest.raises(RuntimeError, match=faults.VARIABLE):
        fault_point("here")
    fault_point("here")
    with pytest.raises(OSError, match="No space left"):
        fault_point("there")


@pytest.mark.parametrize(("action", "number"), [("kill", signal.SIGKILL), ("stop", signal.SIGSTOP)])
def test_a_process_can_be_killed_and_stopped(action, number):
    child = os.fork()
    if child == 0:
        set_plan(f"here:1:{action}")
        fault_point("here")
        os._exit(0)
    _, status = os.waitpid(child, os.WUNTRACED)
    if action == "kill":
        assert os.WTERMSIG(status) == number
    else:
        assert os.WSTOPSIG(status) == number
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


@pytest.mark.parametrize("text", ["here", "here:1", "here:x:kill", ":1:kill", "here:1:explode"])
def test_a_malformed_plan_is_refused(text):
    with pytest.raises(ValueError, match="PLACE:COUNT:ACTION"):
        parse(text)
