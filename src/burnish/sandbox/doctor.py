"""What this machine offers for a sandbox: primitives, tier, control groups, languages, other engines."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass

from burnish.sandbox.groups import Groups
from burnish.sandbox.languages import LANGUAGES, missing
from burnish.sandbox.probe import Machine, probe

_ENGINES = ("bwrap", "nsjail", "runsc", "docker", "podman", "kubectl")


@dataclass(frozen=True, slots=True)
class Report:
    """Findings, for people and for scripts."""

    system: str
    root: bool
    tier: str
    lacking: str
    mend: str
    landlock_abi: int
    cgroups: str
    languages: dict[str, list[str]]
    """Missing tools of each language; empty lists for those that work."""
    engines: dict[str, bool]

    def lines(self) -> list[str]:
        """The report as text."""
        tools = [
            f"  {name:11} {'ok' if not lacks else 'missing: ' + ', '.join(lacks)}"
            for name, lacks in self.languages.items()
        ]
        found = ", ".join(name for name, there in self.engines.items() if there) or "none"
        problem = [f"lacking     {self.lacking}", f"mend        {self.mend}"] if self.lacking else []
        return [
            f"system      {self.system}, {'root' if self.root else 'ordinary user'}",
            f"tier        {self.tier} (Landlock ABI {self.landlock_abi})",
            *problem,
            f"cgroups     {self.cgroups}",
            "languages",
            *tools,
            f"other engines on this machine: {found}",
        ]


def examine(machine: Machine | None = None) -> Report:
    """Look at this machine (about 0.2 s)."""
    found = machine or probe()
    return Report(
        system=found.system,
        root=found.root,
        tier=found.tier.name,
        lacking=found.lacking(),
        mend=found.mend() if found.lacking() else "",
        landlock_abi=found.landlock_abi,
        cgroups=_cgroups(),
        languages={name: missing(name) for name in LANGUAGES},
        engines={name: shutil.which(name) is not None for name in _ENGINES},
    )


def _cgroups() -> str:
    groups = Groups(1)
    try:
        if groups.usable:
            return f"version {groups.version}, writable"
        return "not writable: memory is divided among a run's processes" if os.geteuid() else "none writable"
    finally:
        groups.close()
