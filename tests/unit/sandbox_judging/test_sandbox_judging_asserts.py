"""Reading tests that are code: what becomes a call, what needs a jail of its own, what is refused."""

import math

import pytest

from burnish.sandbox.judging.asserts import read_asserts, read_check, read_pytest
from burnish.sandbox.judging.values import EXACT, PYTHON
from burnish.sandbox.records import SandboxError


@pytest.mark.parametrize(
    ("statement", "function", "args", "expected", "rule", "truth"),
    [
        ("assert f(1, 'a') == (1, 2)", "f", (1, "a"), (1, 2), PYTHON, False),
        ("assert [1] == f()", "f", (), [1], PYTHON, False),
        ("assert f(-1) == -1.5, 'message'", "f", (-1,), -1.5, PYTHON, False),
        ("assert f(set([1, 2])) == set((1, 2))", "f", ({1, 2},), {1, 2}, PYTHON, False),
        ("assert f(float('inf')) == 1+2j", "f", (math.inf,), 1 + 2j, PYTHON, False),
        ("assert f(1) is None", "f", (1,), None, EXACT, False),
        ("assert f(1) is False", "f", (1,), False, EXACT, False),
        ("assert f(b'x')", "f", (b"x",), True, EXACT, True),
        ("assert not f({})", "f", ({},), False, EXACT, True),
        ("assert(f(1))==2", "f", (1,), 2, PYTHON, False),
    ],
)
def test_simple_asserts_become_calls(statement, function, args, expected, rule, truth):
    suite = read_asserts([statement])
    assert suite.tests is None
    (check,) = suite.calls
    assert (check.call.function, check.call.args) == (function, args)
    assert (check.expected, check.rule, check.truth) == (expected, rule, truth)
    assert type(check.expected) is type(expected)


@pytest.mark.parametrize(
    "statement",
    [
        "assert set(f(1)) == {1}",
        "assert f(1) != 2",
        "assert f(1) == f(2)",
        "assert f(*[1]) == 2",
        "assert f(1) is 1",
        "assert 1 < f(1) < 3",
        "x = 1\nassert f(x) == 1",
        "assert abs(f(1) - 2) < 1e-6",
        "for i in range(3):\n    assert f(i) == i",
    ],
)
def test_everything_else_needs_a_jail_of_its_own(statement):
    suite = read_asserts([statement])
    assert suite.calls == ()
    assert suite.tests is not None
    assert suite.tests.names == {"f": "call"}


def test_modules_of_the_library_are_never_the_candidates():
    suite = read_asserts(["assert f(1) == sys.getsizeof(1)", "assert g(1) == CONSTANT"], setup="import math")
    assert suite.tests is not None
    assert suite.tests.modules == ("sys",)
    assert suite.tests.names == {"f": "call", "g": "call", "CONSTANT": "value"}


def test_names_that_python_has_too_may_be_the_candidates():
    statements = ["assert sum(1, 2) == 3", "assert len(str(sum(9, 9))) == 2"]
    assert read_asserts(statements).calls == ()
    suite = read_asserts(statements, own=frozenset({"sum"}))
    assert suite.calls[0].call.function == "sum"
    assert suite.tests is not None
    assert suite.tests.names == {"sum": "call"}
    called = read_asserts(["assert set(calendar(1)) == {1}", "assert set(f(1)) == {copy.copy(1)}"]).tests
    assert called is not None
    assert called.names == {"calendar": "call", "f": "call"}
    assert called.modules == ("copy",)


def test_names_and_public_checks_keep_their_numbers():
    suite = read_asserts(["assert set(f(1)) == {1}", "assert f(2) == 2", "assert len(f(3)) == 3"], public=1)
    assert suite.tests is not None
    assert [check.name for check in suite.calls] == ["test 2"]
    assert suite.tests.labels == ("test 1", "test 3")
    assert suite.tests.public == {0}
    assert not suite.calls[0].public
    assert len(suite) == 3


@pytest.mark.parametrize(
    ("statements", "setup", "message"),
    [
        ([], "", "there are no tests"),
        (["assert f(1) =="], "", "test 1 is not Python"),
        (["assert f(1) == 1", "assert f(\x00)"], "", "test 2 is not Python"),
        (["assert f(1) == 1"], "import", "the setup of the tests is not Python"),
        (["(" * 10_000], "", "test 1 is not Python"),
    ],
)
def test_malformed_tests_are_refused_by_name(statements, setup, message):
    with pytest.raises(SandboxError, match=message):
        read_asserts(statements, setup)


CHECK = '''
METADATA = {"author": "x"}

def check(candidate):
    """Some tests."""
    assert candidate([1, 2], 3) == 3, "first"
    assert candidate([], 0) is None
    assert True, "second"
'''


def test_simple_bodies_of_check_become_calls():
    suite = read_check(CHECK, "add")
    assert [(c.call.function, c.call.args, c.expected) for c in suite.calls] == [
        ("add", ([1, 2], 3), 3),
        ("add", ([], 0), None),
    ]
    rest = read_check(f"{CHECK}    for i in range(3):\n        assert candidate([i], i) == i\n", "add").tests
    assert rest is not None
    assert rest.tests == ("check(add)",)
    with pytest.raises(SandboxError, match="defines no check"):
        read_check("def test(candidate): pass", "add")


def test_pytest_modules_name_their_tests_and_what_they_import():
    source = """
import pytest
import solution as s
from solution import Full, Stack, LIMIT, helper as h

def test_one():
    with pytest.raises(Full): ...
    assert Stack() and h(1) and LIMIT == 3 and s.value == 1 and s.call(1)

class TestMore:
    def test_two(self): ...
    def helper(self): ...
"""
    tests = read_pytest(source).tests
    assert tests is not None
    assert tests.labels == ("test_one", "TestMore::test_two")
    assert tests.names == {
        "Stack": "call",
        "Full": "value",
        "LIMIT": "value",
        "helper": "call",
        "value": "value",
        "call": "call",
    }
    with pytest.raises(SandboxError, match="imports nothing"):
        read_pytest("def test_one(): pass")
    with pytest.raises(SandboxError, match="has no tests"):
        read_pytest("from solution import f")
