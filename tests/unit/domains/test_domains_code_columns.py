"""Reading rows of code: each convention, and what a malformed row says."""

import json

import pytest

from burnish.domains.code.columns import read_code
from burnish.errors import DomainError

MBPP = {
    "prompt": "Add.",
    "code": "def add(a, b): return a + b",
    "test_imports": ["import math"],
    "test_list": ["assert add(1, 2) == 3", "assert len(str(add(9, 9))) == 2"],
}
HUMANEVAL = {
    "prompt": "def add(a, b):\n",
    "entry_point": "add",
    "canonical_solution": "    return a + b\n",
    "test": "def check(candidate):\n    assert candidate(1, 2) == 3\n",
}
APPS_CALL = {
    "question": "Add.",
    "solutions": json.dumps(["def add(a, b): return a + b"]),
    "input_output": json.dumps({"fn_name": "add", "inputs": [[1, 2], [3, 4]], "outputs": [[3], [7]]}),
    "difficulty": "interview",
    "starter_code": "def add(a, b):",
}
APPS_PROGRAM = {
    "question": "Add.",
    "solutions": "",
    "input_output": json.dumps({"inputs": ["1 2\n", "3\n4"], "outputs": ["3\n", ["7"]]}),
    "difficulty": "introductory",
}
LCB = {
    "question_content": "Add.",
    "public_test_cases": json.dumps([{"input": "[1]\n2", "output": "[3]", "testtype": "functional"}]),
    "private_test_cases": json.dumps([{"input": "[3]\n4", "output": "[7]", "testtype": "functional"}]),
    "metadata": json.dumps({"func_name": "add"}),
    "starter_code": "class Solution:\n    def add(self, a, b):",
    "difficulty": "hard",
}


def test_mbpp_shows_as_many_tests_as_asked():
    example = read_code("mbpp", MBPP, "here", 1)
    assert example.question == "Add.\n\nYour code should pass this test:\n\nassert add(1, 2) == 3"
    assert example.gold == MBPP["code"]
    assert [check.public for check in example.suite.calls] == [True]
    assert example.suite.tests is not None
    assert (example.suite.tests.setup, example.suite.tests.public) == ("import math", frozenset())
    assert read_code("mbpp", MBPP, "here", 0).question == "Add."
    assert "these tests" in read_code("mbpp", MBPP, "here", 2).question


def test_a_reference_ends_where_its_code_does():
    row = {**MBPP, "code": "def add(a, b):\r\n    return a + b; \r\n"}
    assert read_code("mbpp", row, "here").gold == "def add(a, b):\n    return a + b"


def test_a_reference_may_define_what_python_has_too():
    row = {**MBPP, "code": "def sum(a, b): return a + b", "test_list": ["assert sum(1, 2) == 3"]}
    assert [check.call.function for check in read_code("mbpp", row, "here").suite.calls] == ["sum"]


def test_humaneval_begins_a_function():
    example = read_code("humaneval", HUMANEVAL, "here")
    assert (example.stub, example.entry_point) == (HUMANEVAL["prompt"], "add")
    assert example.gold == "def add(a, b):\n    return a + b"
    assert [check.expected for check in example.suite.calls] == [3]


def test_apps_calls_and_programs():
    calls = read_code("apps", APPS_CALL, "here", 1)
    assert [(c.call.function, c.call.args, c.expected, c.public) for c in calls.suite.calls] == [
        ("add", (1, 2), 3, True),
        ("add", (3, 4), 7, False),
    ]
    assert (calls.level, calls.gold) == (1, "def add(a, b): return a + b")
    assert "def add(a, b):" in calls.question
    assert "add(1, 2) == 3" in calls.question
    programs = read_code("apps", APPS_PROGRAM, "here", 1)
    assert [(p.stdin, p.expected) for p in programs.suite.programs] == [(b"1 2\n", b"3\n"), (b"3\n4", b"7")]
    assert (programs.level, programs.gold) == (0, None)
    assert "standard input" in programs.question
    assert "Input:\n1 2\nOutput:\n3" in programs.question


def test_livecodebench_calls_a_method_and_never_shows_private_tests():
    example = read_code("livecodebench", LCB, "here", 5)
    assert [(c.call.function, c.call.args, c.expected, c.public) for c in example.suite.calls] == [
        ("Solution.add", ([1], 2), [3], True),
        ("Solution.add", ([3], 4), [7], False),
    ]
    assert example.level == 2
    assert "add([3], 4)" not in example.question


@pytest.mark.parametrize(
    ("adapter", "row", "message"),
    [
        ("mbpp", {**MBPP, "test_list": []}, "column 'test_list'"),
        ("mbpp", {**MBPP, "test_list": "assert add(1, 2) == 3"}, "column 'test_list'"),
        ("mbpp", {**MBPP, "test_list": ["assert add(1"]}, "test 1 is not Python"),
        ("mbpp", {**MBPP, "prompt": " "}, "column 'prompt'"),
        ("mbpp", {"prompt": "Add.", "code": ""}, "no column 'test_list'"),
        ("humaneval", {**HUMANEVAL, "test": "x = 1"}, "defines no check"),
        ("humaneval", {**HUMANEVAL, "entry_point": None}, "no column 'entry_point'"),
        ("apps", {**APPS_CALL, "input_output": "{"}, "column 'input_output'"),
        ("apps", {**APPS_CALL, "input_output": '{"inputs": [1], "outputs": []}'}, "column 'input_output'"),
        ("apps", {**APPS_CALL, "input_output": '{"inputs": [], "outputs": []}'}, "column 'input_output'"),
        (
            "apps",
            {**APPS_CALL, "input_output": '{"fn_name":"f","inputs":[1],"outputs":[1]}'},
            "list of arguments",
        ),
        ("apps", {**APPS_CALL, "difficulty": "brutal"}, "column 'difficulty'"),
        ("livecodebench", {**LCB, "private_test_cases": "eJxrYJmaxwAB"}, "pickled first"),
        ("livecodebench", {**LCB, "public_test_cases": "[]", "private_test_cases": "[]"}, "no test"),
    ],
)
def test_malformed_rows_name_row_and_column(adapter, row, message):
    with pytest.raises(DomainError, match=message) as error:
        read_code(adapter, row, "rows.jsonl, row 7")
    assert "rows.jsonl, row 7" in str(error.value)
