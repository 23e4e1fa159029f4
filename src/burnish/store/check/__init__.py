"""Proof, from the files of a run alone, that nothing was lost, done twice, or done with weights too old.

Nothing here is shared with what writes a run but the names of tables and files, so one mistake cannot hide
in both. It only reads: a run may go on meanwhile.
"""

from burnish.store.check.run import check_run
from burnish.store.check.verdict import Finding

__all__ = ["Finding", "check_run"]
