"""`burnish init`: a start for something of your own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

app = App(name="init", sort_key=10, help="A start for something of your own: init domain NAME.")


@app.command
def domain(
    name: Annotated[str, Parameter(help="Name of the domain, for example my-team/invoices.")],
    /,
    *,
    folder: Annotated[Path, Parameter(help="Where to write.")] = Path(),
) -> int:
    """Write a new domain with a test for it; nothing that exists is overwritten."""
    from burnish.domains.scaffold import scaffold_domain  # noqa: PLC0415

    written = scaffold_domain(name, folder)
    print("\n".join(f"wrote {path}" for path in written))
    print(f"next: edit it, then run `pytest {written[-1]}`")
    return 0
