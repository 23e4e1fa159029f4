"""Inside the jail: a program in instalments, whose variables live from one to the next."""

from __future__ import annotations

import ast

from burnish.sandbox import child, program, wire


def serve(job: child.Job) -> int:
    """Execute what comes over the control socket until it closes; one frame answers each piece."""
    main = program.new_main()
    child.seed_everything(job.seed)
    while True:
        frame = wire.read_frame(child.CONTROL)
        if frame is None:
            return 0
        source = frame[1]

        def action(source: bytes = source) -> None:
            _execute(source, main.__dict__)

        ended, code = program.guarded(action)
        program.flush()
        program.send(child.CONTROL, {"kind": ended or "done", "code": code})


def _execute(source: bytes, names: dict[str, object]) -> None:
    """Run statements; a last line that is an expression is shown, as at a prompt."""
    tree = ast.parse(source, program.FILE_NAME, "exec")
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, program.FILE_NAME, "exec"), names)  # noqa: S102
    if isinstance(last, ast.Expr):
        shown = eval(compile(ast.Expression(last.value), program.FILE_NAME, "eval"), names)  # noqa: S307
        if shown is not None:
            print(repr(shown))  # noqa: T201
