"""A checkpoint of a model that has not been trained."""

from burnish.algorithms.scales import DomainScales
from burnish.training.checkpoint import save_checkpoint
from burnish.training.ledger import Ledger
from burnish.training.optimiser import MasterOptimiser, OptimiserPlan, masters_of
from burnish.training.quarantine import Breaker, Breakers
from burnish.training.snapshot import Snapshots
from burnish.training.state import RunState

PLAN = OptimiserPlan(10, 1e-3, 0, "constant", 0.0, (0.9, 0.95), 0.0, 1.0)


def state(version, finished=False, **changes):
    """Where a run stands after some steps of one stage."""
    scales = DomainScales().update({"d": [[0.0, 1.0]]}, 0.9)
    return RunState(
        "rl",
        version,
        finished,
        version,
        Ledger(4 * version),
        {"step": version},
        scales,
        Breakers({"d": Breaker(1)}),
        **changes,
    )


def save(folder, policy, version=1, *, masters=None, finished=False, pending=None, score=None, **changes):
    """Write a checkpoint and return its path."""
    masters = masters_of(policy.trainable()) if masters is None else masters
    optimiser = MasterOptimiser(policy.trainable(), masters, PLAN)
    snapshot = Snapshots(policy).view(masters, None if finished else optimiser.state())
    optimiser.close()
    return save_checkpoint(
        folder, snapshot, state(version, finished, **changes), pending=pending, score=score
    )
