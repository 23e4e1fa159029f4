"""The run directory and its database: the only room that speaks SQL."""

from burnish.store.environment import collect_environment
from burnish.store.evaluations import Outcome
from burnish.store.events import Event
from burnish.store.files import read_json, write_json_atomic, write_text_atomic
from burnish.store.listing import RunInfo, effective_state, list_runs
from burnish.store.rundir import RunDir, Status
from burnish.store.runstore import RunStore
from burnish.store.samples import StoredSample
from burnish.store.stages import StageCost

__all__ = [
    "Event",
    "Outcome",
    "RunDir",
    "RunInfo",
    "RunStore",
    "StageCost",
    "Status",
    "StoredSample",
    "collect_environment",
    "effective_state",
    "list_runs",
    "read_json",
    "write_json_atomic",
    "write_text_atomic",
]
