"""The candidate's end of the call protocol: appended to its program, does what is asked, gives data back.

Nothing here is secret and nothing here decides. A candidate that replaces this code can only answer
differently, which it could have done by writing another function.

A step is (verb, target, name, args, kwargs, mutable). The target is None for the program itself, or the
number of the step that gave an object. Arguments are ("value", v), ("object", step) or ("name", name). The
answer to the last step is one of

    ("value", v, {position: v})     plain data, and the arguments that the call changed
    ("object", type name)           something else, kept here under the number of the step
    ("raised", (type names), text)  an exception, with the names of its classes
"""


def burnish_answer(steps):
    """Do the steps in order on one fresh state; gives the answer to the last."""
    import copy  # noqa: PLC0415 - nothing here may change the names of the program

    kept, answer = {}, None

    def lower(value):
        """Plain data of exact types; a few well-known kinds of it from the library are made plain."""
        kind = type(value)
        if kind in (int, float, str, bool, bytes, complex) or value is None:
            return value
        if kind in (list, tuple, set, frozenset):
            return kind([lower(member) for member in value])
        if kind is dict or (kind.__module__, kind.__name__) in known_tables:
            return {lower(key): lower(member) for key, member in dict.items(value)}
        if isinstance(value, tuple) and hasattr(kind, "_fields"):
            return tuple([lower(member) for member in tuple.__iter__(value)])
        if kind.__module__ == "numpy" and hasattr(value, "item") and getattr(value, "ndim", None) == 0:
            return lower(value.item())  # pyright: ignore[reportAttributeAccessIssue]
        raise TypeError(f"{kind.__name__} is not plain data")

    known_tables = {("collections", name) for name in ("Counter", "OrderedDict", "defaultdict")}
    verbs = {
        "get": lambda thing: thing,
        "call": lambda thing, *args, **kwargs: thing(*args, **kwargs),
        "truth": lambda thing, *args, **kwargs: bool(thing(*args, **kwargs)),
        "is_true": bool,
        "len": len,
        "list": list,
        "item": lambda thing, key: thing[key],
        "contains": lambda thing, member: member in thing,
        "str": str,
        "repr": repr,
        "isinstance": lambda thing, other: isinstance(other, thing),
    }

    def find(target, name):
        """What a step is about; in `Class.method` the class makes an instance."""
        if target is not None:
            return getattr(kept[target], name) if name else kept[target]
        first, _, method = name.partition(".")
        if first not in globals():
            raise NameError(f"name {first!r} is not defined")
        thing = globals()[first]
        return getattr(thing() if isinstance(thing, type) else thing, method) if method else thing

    def argument(pair):
        kind, value = pair
        return value if kind == "value" else kept[value] if kind == "object" else find(None, value)

    def changed(args, before):
        return {i: lower(args[i]) for i, then in before.items() if args[i] != then}

    def do(number, verb, target, name, args, kwargs, mutable):
        try:
            args = [argument(pair) for pair in args]
            tables = (i for i, arg in enumerate(args) if mutable and type(arg) in (list, dict, set))
            before = {i: copy.deepcopy(args[i]) for i in tables}
            value = verbs[verb](find(target, name), *args, **{k: argument(v) for k, v in kwargs.items()})
        except MemoryError:
            raise
        except Exception as error:
            return "raised", tuple([kind.__name__ for kind in type(error).__mro__[:-2]]), str(error)[:2000]
        kept[number] = value
        try:
            return "value", lower(value), changed(args, before)
        except MemoryError:
            raise
        except Exception:
            return "object", type(value).__name__

    for number, step in enumerate(steps):
        answer = do(number, *step)
    return answer
