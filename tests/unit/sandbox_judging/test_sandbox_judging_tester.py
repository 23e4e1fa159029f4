"""Tests that are code, in a jail of their own: what passes, what fails, and what no lie can pass."""

from random import Random

import pytest

from burnish.sandbox.judging.asserts import read_asserts, read_check, read_pytest
from burnish.sandbox.judging.judge import judge
from burnish.sandbox.records import State

STACK = """
LIMIT = 2

class Full(ValueError):
    pass

class Stack:
    def __init__(self): self.items = []
    def push(self, item):
        if len(self.items) == LIMIT: raise Full("no room")
        self.items.append(item)
    def pop(self): return self.items.pop()
    @property
    def top(self): return self.items[-1]
    def __len__(self): return len(self.items)
    def __iter__(self): return iter(self.items)
    def __contains__(self, item): return item in self.items
    def __getitem__(self, i): return self.items[i]
    def __str__(self): return f"Stack({self.items})"

def sort(numbers): numbers.sort()
def joined(stack, other): return stack.items + other.items
"""

STACK_TESTS = """
import unittest
import pytest
from solution import LIMIT, Full, Stack, joined, sort

@pytest.fixture
def full():
    stack = Stack()
    for n in range(LIMIT):
        stack.push(n)
    return stack

def test_order(full):
    assert len(full) == 2 and full.top == 1 and full.top + 1 == 2
    assert full.pop() == 1
    assert full.pop() == 0
    with pytest.raises(IndexError):
        full.pop()

def test_full(full):
    with pytest.raises(Full, match="no room"):
        full.push(3)
    with pytest.raises(ValueError):
        full.push(3)

def test_views(full):
    assert list(full) == [0, 1] and 1 in full and 5 not in full and full[0] == 0
    assert str(full) == "Stack([0, 1])" and isinstance(full, Stack)

def test_in_place():
    numbers = [3, 1, 2]
    assert sort(numbers) is None
    assert numbers == [1, 2, 3]

def test_objects_as_arguments(full):
    assert joined(full, Stack()) == [0, 1]

@pytest.mark.parametrize("first, second", [(1, 2), (3, 4)])
def test_many(first, second):
    stack = Stack()
    stack.push(first)
    assert stack.top == pytest.approx(second - 1)

class TestClass:
    def setup_method(self):
        self.stack = Stack()
    def test_empty(self):
        assert not len(self.stack)

class TestUnit(unittest.TestCase):
    def setUp(self):
        self.stack = Stack()
    def test_push(self):
        self.stack.push(1)
        self.assertEqual(self.stack.pop(), 1)
        with self.assertRaises(IndexError):
            self.stack.pop()
"""


def outcomes(engine, code, suite):
    found = judge(engine, code, suite)
    assert not found.fault
    return {outcome.name: outcome.right for outcome in found.outcomes}


def test_a_pytest_module_judges_classes_exceptions_and_changes_in_place(engine):
    found = judge(engine, STACK, read_pytest(STACK_TESTS))
    assert not found.fault
    assert [(o.name, o.reason) for o in found.outcomes if not o.right] == []
    assert len(found.outcomes) == 8


@pytest.mark.parametrize(
    ("change", "failing"),
    [
        (("numbers.sort()", "return sorted(numbers)"), {"test_in_place"}),
        (('Full("no room")', 'KeyError("no room")'), {"test_full"}),
        (("stack.items + other.items", "other.items + [9]"), {"test_objects_as_arguments"}),
    ],
)
def test_each_defect_fails_its_own_test(engine, change, failing):
    found = outcomes(engine, STACK.replace(*change), read_pytest(STACK_TESTS))
    assert {name for name, right in found.items() if not right} == failing


ALL_SKIPPED = """
import pytest, unittest
from solution import f

def test_skip():
    f()
    pytest.skip("no")

def test_exit():
    f()
    pytest.exit("no", returncode=0)

def test_system_exit():
    f()
    raise SystemExit(0)

class TestUnit(unittest.TestCase):
    @unittest.skip("no")
    def test_skipped(self): f()
    @unittest.expectedFailure
    def test_expected(self): assert f() == 1
"""


def test_a_test_that_is_left_has_not_passed(engine):
    found = outcomes(engine, "def f(): return 1", read_pytest(ALL_SKIPPED))
    assert len(found) == 5
    assert not any(found.values())


def test_bare_excepts_of_tests_do_not_catch_the_protocol(engine):
    statement = """
got = []
for n in range(3):
    try:
        got.append(f(n))
    except BaseException:
        got.append("caught")
assert got == [0, "caught", 4]
"""
    code = "def f(n):\n    if n == 1: raise ValueError('odd')\n    return n * 2"
    assert outcomes(engine, code, read_asserts([statement])) == {"test 1": True}


ANY = """
class Any{base}:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __lt__(self, other): return True
    def __hash__(self): return 0
    def __sub__(self, other): return 0
    def __abs__(self): return 0
    def __iter__(self): return iter([4, 6])
    def __float__(self): return 4.0
    def __bool__(self): return True
def f(*a): return Any()
"""
FRAMES = """
import sys
def f(*a):
    frame = sys._getframe()
    while frame:
        for value in frame.f_locals.values():
            if value == {4, 5}: return value
        frame = frame.f_back
    return None
"""
LIARS = {
    "equal to all": ANY.format(base=""),
    "subclass of int": ANY.format(base="(int)"),
    "exits": "import os\ndef f(*a): os._exit(0)",
    "exits at import": "import sys\nsys.exit(0)",
    "raises SystemExit": "def f(*a): raise SystemExit(0)",
    "raises AssertionError": "def f(*a): raise AssertionError",
    "answers with a verdict": "def f(*a): return ('pass', '')",
    "not a number": "def f(*a): return float('nan')",
    "recursion": "def f(*a): return f(*a)",
    "prints": "def f(*a): print('pass'); print('{\"passed\": true}'); print(1.0)",
    "reads its callers": FRAMES,
    "takes over the protocol": """
import builtins
def f(*a): return 1
builtins.globals = lambda: {'f': lambda *a: ('pass', '')}
""",
    "replaces the answerer": """
def f(*a):
    globals()['burnish_answer'] = lambda *s: ('pass', '')
    return 0
""",
    "breaks len": """
import builtins
builtins.len = lambda x: 3
builtins.set = lambda x=(): x
def f(*a): return []
""",
    "patches unittest": """
import unittest, sys
unittest.TestCase.assertEqual = lambda *a: None
sys.getsizeof = lambda *a: 7
def f(*a): return 7
""",
}
CODE_TESTS = [
    "assert set(f((3, 4, 5, 6), (5, 7, 4, 10))) == set((4, 5))",
    "assert abs(f(1) - 4.0) < 1e-6",
    "import math\nassert math.isclose(f(2), 4.0)",
    "assert len(f([1, 2, 3])) == 3 and f([1, 2, 3]) == [1, 2, 3]",
    "assert f(1) == sys.getsizeof(1)",
    "import unittest\nunittest.TestCase().assertEqual(f(1), 4)",
    "assert f(1) == 4 and f(2) == 5",
]


@pytest.mark.parametrize("liar", LIARS)
def test_no_liar_passes_a_test_that_is_code(engine, liar):
    found = judge(engine, LIARS[liar], read_asserts(CODE_TESTS))
    assert not found.fault
    assert [outcome.name for outcome in found.outcomes if outcome.right] == []


def test_human_eval_with_a_loop(engine):
    source = "def check(candidate):\n    for i in range(5):\n        assert candidate(i) == i * i\n"
    suite = read_check(source, "square")
    assert suite.tests is not None
    assert judge(engine, "def square(n): return n * n", suite).all_passed
    assert not judge(engine, "def square(n): return n * 2", suite).all_passed


def test_constants_of_the_candidate_are_data(engine):
    suite = read_asserts(["assert TABLE['a'] + 1 == 2", "assert len(TABLE) == f()"])
    assert judge(engine, "TABLE = {'a': 1}\ndef f(): return 1", suite).all_passed


def test_the_state_of_the_candidate_is_kept(engine):
    suite = read_asserts(["x = f(1)\nassert f(2) == x"])
    (outcome,) = judge(
        engine, "import os\ndef f(n):\n    if n == 2: os._exit(0)\n    return n", suite
    ).outcomes
    assert (outcome.right, outcome.state) == (False, State.EXITED_EARLY)


def test_a_test_that_differs_each_time_is_our_fault(engine):
    suite = read_asserts(["import os\nassert f(os.urandom(8)) == f(1)"])
    found = judge(engine, "def f(n): return n", suite)
    assert "does not do the same each time" in found.fault
    assert not found.all_passed


def test_sets_that_come_in_another_order_are_the_same(engine):
    """Members of a set change places when it is rebuilt; that must be no fault, least of all at will."""
    drawn = (set([*set(Random(seed).sample(range(200), 10))]) for seed in range(3000))  # noqa: C405
    restless = [members for members in drawn if [*members] != [*set([*set([*members])])]][:20]  # noqa: C405
    assert len(restless) == 20
    code = f"S = {restless!r}\ndef f(n): return S[n]\ndef g(s, d=None): return sum(s)"
    tests = [f"assert g(f({n}), {{1: f({n})}}) == {sum(members)}" for n, members in enumerate(restless)]
    found = judge(engine, code, read_asserts(tests))
    assert (found.fault, found.passed) == ("", 20)


def test_answers_that_fill_a_request_are_wrong_and_no_fault(engine):
    """What does not fit into a request would be refused, and a sample that is refused would not count."""
    code = "def f(n): return 'x' * 900_000"
    tests = ["assert [len(f(n)) for n in range(100)] == []", "assert f(1) != 'y'"]
    found = judge(engine, code, read_asserts(tests))
    assert found.fault == ""
    assert [outcome.right for outcome in found.outcomes] == [False, True]
    assert found.outcomes[0].reason == "answers too big"
