"""The tester's end of the call protocol: runs one test, and asks for calls instead of making them.

The program under test is not in this jail. What stands for it here are proxies: using one needs an answer.
Answers already known come with the request; at the first that is missing the test is left standing and the
question goes out. The test is then run again, from the beginning and with one answer more, in a fresh
process. So a test must do the same each time: `random` is seeded, and a test that strays is reported.

A test is left by parking its thread, not by an exception, so no `except` of a test can catch it.
"""

import builtins
import importlib
import queue
import re
import sys
import threading
import types

# The program that is made of this file sets these behind it.
TESTS, NAMES, SETUP, MODULES, MODULE = (), {}, "", (), "solution"

PLAIN = (int, float, str, bool, bytes, complex, type(None))
REASON = 300


class _Wire:
    """Known answers in order, and the way out for the question behind them."""

    def __init__(self, answers, out):
        self.answers, self.out, self.position = answers, out, 0

    def ask(self, verb, target, name, args=(), kwargs=None):
        """The answer to a step; parks the thread when it is not known yet."""
        sent = tuple([_sent(value) for value in args])
        named = {key: _sent(value) for key, value in (kwargs or {}).items()}
        step = (verb, target, name, sent, named, verb == "call")
        if self.position == len(self.answers):
            self.out.put(("ask", step))
            threading.Event().wait()
        known, answer = self.answers[self.position]
        if _told(known) != _told(step):
            self.out.put(("strayed", f"asked for {step!r:.100}, before for {known!r:.100}"))
            threading.Event().wait()
        self.position += 1
        return self._received(answer, args)

    def _received(self, answer, args):
        if answer[0] == "raised":
            raise _exception(*answer[1:])
        if answer[0] == "object":
            return Remote(self, self.position - 1, "", answer[1])
        for position, value in answer[2].items():
            _change(args[position], value)
        return answer[1]


def _told(value):
    """A text that equal steps share; members of a set come in another order each time it is rebuilt."""
    kind = type(value)
    if kind in (set, frozenset):
        return f"{kind.__name__}{sorted(map(_told, value))}"
    if kind in (list, tuple):
        return f"{kind.__name__}{list(map(_told, value))}"
    if kind is dict:
        return f"dict{[(_told(key), _told(member)) for key, member in value.items()]}"
    return repr(value)


def _exception(names, text):
    """An exception of the first of the classes that is built in, under the name of the candidate's."""
    known = [getattr(builtins, name, None) for name in names]
    base = next((k for k in known if isinstance(k, type) and issubclass(k, Exception)), Exception)
    try:
        return type(names[0] if names else "Exception", (base,), {"candidate_names": names})(text)
    except TypeError:  # some exceptions, such as UnicodeDecodeError, want other arguments
        return type("Exception", (Exception,), {"candidate_names": names})(text)


def _sent(value):
    if isinstance(value, Remote):
        target, name = object.__getattribute__(value, "_target"), object.__getattribute__(value, "_name")
        return ("name", name) if target is None else ("object", target)
    return "value", _copied(value)


def _copied(value):
    kind = type(value)
    if kind in PLAIN:
        return value
    if kind in (list, tuple, set, frozenset):
        return kind([_copied(member) for member in value])
    if kind is dict:
        return {_copied(key): _copied(member) for key, member in value.items()}
    if kind in (range, map, filter, zip, types.GeneratorType):
        return [_copied(member) for member in value]
    raise TypeError(f"an argument of type {kind.__name__} cannot be sent to the candidate")


def _change(argument, value):
    if isinstance(argument, list):
        argument[:] = value
    elif isinstance(argument, dict | set):
        argument.clear()
        argument.update(value)


class Remote:
    """A function or an object of the candidate; every use of it is a question, except comparing it.

    It equals nothing but itself: whether an answer is right is never asked of the candidate.
    """

    def __init__(self, wire, target, name, kind="function"):
        self.__dict__.update(_wire=wire, _target=target, _name=name, _kind=kind)

    def _ask(self, verb, *args, **kwargs):
        return self._wire.ask(verb, self._target, self._name, args, kwargs)

    def __call__(self, *args, **kwargs):
        """Call it, there."""
        return self._ask("call", *args, **kwargs)

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        owner = self._ask("get") if self._target is None else self
        return self._wire.ask("get", owner._target, name)

    def __len__(self):
        return self._ask("len")

    def __iter__(self):
        return iter(self._ask("list"))

    def __getitem__(self, key):
        return self._ask("item", key)

    def __contains__(self, member):
        return self._ask("contains", member)

    def __bool__(self):
        return self._ask("is_true")

    def __str__(self):
        return self._ask("str")

    def __repr__(self):
        return self._ask("repr")

    def __instancecheck__(self, other):
        return isinstance(other, Remote) and self._ask("isinstance", other)


def _namespace(wire):
    """The globals of a test: the candidate's names as proxies, modules of the library by themselves."""
    module = types.ModuleType(MODULE)
    space = {"__name__": "__test__", "__builtins__": builtins}
    for name, how in NAMES.items():
        value = Remote(wire, None, name)
        if how == "value":
            found = wire.ask("get", None, name)
            value = value if isinstance(found, Remote) else found
        setattr(module, name, value)
        space[name] = value
    sys.modules[MODULE] = module
    sys.modules["pytest"] = _pytest()
    for name in MODULES:
        space[name] = importlib.import_module(name)
    return space


def _run(test, wire, out):
    try:
        space = _namespace(wire)
        space["burnish_run"] = lambda path: _run_path(space, path)
        exec(compile(SETUP, "<tests>", "exec"), space)  # noqa: S102 - tests are code
        exec(compile(test, "<test>", "exec"), space)  # noqa: S102
    except BaseException as error:
        out.put(("fail", f"{type(error).__name__}: {error!s:.{REASON}}"))
    else:
        out.put(("pass", ""))


def burnish_test(number, answers):
    """Run a test with the answers known so far: ("pass" | "fail" | "strayed", text) or ("ask", step)."""
    out = queue.SimpleQueue()
    threading.Thread(target=_run, args=(TESTS[number], _Wire(answers, out), out), daemon=True).start()
    return out.get()


def _run_path(space, path):
    """One test of a module by its name, `test_x` or `TestX::test_y`."""
    name, _, method = path.partition("::")
    if not method:
        return _run_with_parameters(space[name], space)
    suite = space[name]
    if hasattr(suite, "setUpClass"):
        return _run_unittest(suite, method)
    one = suite()
    getattr(one, "setup_method", lambda: None)()
    return _run_with_parameters(getattr(one, method), space)


def _run_unittest(suite, method):
    import unittest  # noqa: PLC0415 - slow, and most tests are without it

    result = unittest.TestResult()
    suite(method).run(result)
    wrong = [*result.errors, *result.failures, *result.skipped, *result.unexpectedSuccesses]
    if wrong or result.testsRun != 1:
        raise AssertionError(str(wrong[0])[-REASON:] if wrong else "no test ran")


def _run_with_parameters(function, space):
    for values in getattr(function, "burnish_parameters", [{}]):
        fixtures = _fixtures(function, values, space)
        function(**fixtures, **values)


def _fixtures(function, values, space):
    """Fixtures that are plain functions of the module, by the names of the parameters."""
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    own = names[1:] if isinstance(function, types.MethodType) else names
    return {n: space[n](**_fixtures(space[n], {}, space)) for n in own if n not in values}


class _Raises:
    """`pytest.raises` for built-in exceptions and for classes of the candidate."""

    def __init__(self, expected, match=None):
        self.expected, self.match, self.value = expected, match, None

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if value is None:
            raise AssertionError("nothing was raised")
        wanted = self.expected if isinstance(self.expected, tuple) else (self.expected,)
        self.value = value
        return any(_is_a(value, w) for w in wanted) and self._matches(value)

    def _matches(self, value):
        return self.match is None or re.search(self.match, str(value)) is not None


def _is_a(error, wanted):
    if isinstance(wanted, Remote):
        return object.__getattribute__(wanted, "_name") in getattr(error, "candidate_names", ())
    return isinstance(error, wanted)


class _Approx:
    """`pytest.approx` for numbers, and for sequences and tables of numbers."""

    def __init__(self, expected, rel=1e-6, abs=1e-12):
        self.expected, self.rel, self.abs = expected, rel, abs

    def __eq__(self, other):
        return self._close(other, self.expected)

    def __hash__(self):
        raise TypeError("approximate numbers have no hash")

    def _close(self, one, other):
        if isinstance(other, dict):
            return (
                type(one) is dict
                and one.keys() == other.keys()
                and all(self._close(one[key], other[key]) for key in other)
            )
        if isinstance(other, list | tuple):
            return type(one) is type(other) and len(one) == len(other) and all(map(self._close, one, other))
        if not isinstance(one, int | float) or not isinstance(other, int | float):
            return one == other
        return one == other or abs(one - other) <= max(self.abs, self.rel * abs(other))


def _parametrize(names, rows):
    names = [n.strip() for n in names.split(",")] if isinstance(names, str) else list(names)

    def mark(function):
        known = getattr(function, "burnish_parameters", [{}])
        tables = [dict(zip(names, row if len(names) > 1 else [row], strict=True)) for row in rows]
        function.burnish_parameters = [{**one, **other} for other in known for one in tables]
        return function

    return mark


def _stop(reason="", *_, **__):
    raise AssertionError(f"skipped or failed: {reason}")


def _pytest():
    """As much of pytest as tests of small functions use; what leaves a test is a failure."""
    module = types.ModuleType("pytest")
    module.__dict__.update(
        raises=_Raises,
        approx=_Approx,
        mark=types.SimpleNamespace(parametrize=_parametrize),
        fixture=lambda function=None, **_: function or (lambda inner: inner),
        **dict.fromkeys(("skip", "fail", "exit", "xfail"), _stop),
    )
    return module
