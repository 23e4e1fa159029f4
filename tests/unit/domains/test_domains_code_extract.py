"""Finding the program in a completion."""

import pytest

from burnish.domains.code.extract import extract_code
from burnish.sandbox.judging.extract import continued, defines

CODE = "def f(x):\n    return x"


@pytest.mark.parametrize(
    "completion",
    [
        CODE,
        f"\n{CODE}\n\n",
        f"```python\n{CODE}\n```",
        f"```\n{CODE}\n```\nThis adds nothing.",
        f"Sure!\n```py\nx = 1\n```\nBetter:\n``` python\n{CODE}\n```",
        f"~~~python\n{CODE}\n~~~",
        f"```python\n{CODE}",
        f"```bash\nls\n```\n```Python\n{CODE}\n```\n```text\n3\n```",
        f"````python\n{CODE}\n````",
    ],
)
def test_the_last_python_block_or_else_everything(completion):
    assert extract_code(completion) == CODE


def test_a_fence_inside_a_longer_fence_is_code():
    code = 'text = """\n```\n"""'
    assert extract_code(f"````python\n{code}\n````") == code


def test_with_tags_only_the_answer_counts():
    assert extract_code(f"<answer>\n{CODE}\n</answer>", "tags") == CODE
    assert extract_code(f"```python\nx = 1\n```<answer>```python\n{CODE}\n```</answer>", "tags") == CODE
    assert extract_code(CODE, "tags") == ""
    assert extract_code(f"<answer>{CODE}", "tags") == ""


def test_indentation_of_a_body_is_kept():
    assert extract_code("    return x\n") == "    return x"


def test_a_function_is_continued_or_written_anew():
    stub = "from math import sqrt\n\ndef helper(): pass\n\ndef f(x):\n    '''Doc.'''\n"
    whole = f"{stub}    return sqrt(x)\n"
    assert continued(stub, "    return sqrt(x)", "f") == whole
    assert continued(stub, "return sqrt(x)", "f") == whole
    anew = continued(stub, "def f(x): return sqrt(x)", "f")
    assert anew == "from math import sqrt\n\ndef helper(): pass\n\ndef f(x): return sqrt(x)"
    assert defines("x = 1\nclass f: pass", "f")
    assert not defines("def ff(): pass\n    def f(): pass", "f")
