"""Tasks for a run: made ahead in worker processes, checked to fit the model, failures recorded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from burnish.domains.base import Domain
from burnish.domains.prefetch import TaskPool
from burnish.errors import DomainError, ModelError
from burnish.models.policy import Policy
from burnish.observe.console import Console
from burnish.records import Split, Task
from burnish.store.runstore import RunStore
from burnish.training.stage import Place

FAILURES_SHOWN = 3


class RunTasks:
    """The `TaskSource` of a run; a task that fails or does not fit is left out, counted and reported."""

    def __init__(
        self, pool: TaskPool, policy: Policy, longest_prompt: int, store: RunStore | None, console: Console
    ):
        """Wrap a pool.

        Args:
            pool: makes the tasks.
            policy: whose tokens and context count.
            longest_prompt: prompt tokens at most.
            store: where failures are recorded.
            console: where the first failures of each domain are shown.
        """
        self.pool = pool
        self.policy = policy
        self.longest_prompt = longest_prompt
        self.store = store
        self.console = console
        self.failures: Counter[str] = Counter()

    def prefetch(self, places: Sequence[Place]) -> None:
        """Have these made in the background."""
        self.pool.prefetch(places)

    def get(self, places: Sequence[Place]) -> list[Task | None]:
        """The task at each place, None for one that failed or does not fit."""
        made = self.pool.get_or_failure(places)
        return [self._checked(place, task) for place, task in zip(places, made, strict=True)]

    def _checked(self, place: Place, task: Task | str) -> Task | None:
        if isinstance(task, str):
            return self._fail(place[0], f"a task could not be made: {task}")
        length = len(self.policy.encode(task.messages))
        if length > self.longest_prompt:
            return self._fail(
                place[0], f"a prompt of {length} tokens is over the limit {self.longest_prompt}"
            )
        return task

    def _fail(self, domain: str, reason: str) -> None:
        self.failures[domain] += 1
        if self.store is not None:
            self.store.add_event("tasks", self.failures[domain], "warning", "task", reason, domain=domain)
        if self.failures[domain] <= FAILURES_SHOWN:
            self.console.warn(f"{domain}: {reason}")

    def evaluation_tasks(
        self, domains: Sequence[tuple[Domain, int]], split: Split, count: int
    ) -> dict[str, list[Task]]:
        """The first `count` tasks of every domain, made before any model work starts.

        Raises:
            DomainError: a domain could not make a single task that fits.
            ModelError: all prompts of a domain are too long for the model.
        """
        places: list[Place] = []
        for domain, level in domains:
            size = domain.size(split, level)
            places += [
                (domain.name, split, level, i) for i in range(count if size is None else min(count, size))
            ]
        with self.console.task("making tasks", len(places)) as bar:
            self.pool.prefetch(places, on_done=bar.advance)
            made = self.get(places)
        table: dict[str, list[Task]] = {domain.name: [] for domain, _ in domains}
        for place, task in zip(places, made, strict=True):
            if task is not None:
                table[place[0]].append(task)
        for name, tasks in table.items():
            if not tasks:
                raise self._nothing(name)
        return table

    def _nothing(self, name: str) -> DomainError | ModelError:
        lengths = [len(self.policy.encode(task.messages)) for task in self.pool.made(name)]
        if lengths:
            return ModelError(
                f"every prompt of {name!r} is too long",
                got=f"{min(lengths)} tokens or more",
                expected=f"at most {self.longest_prompt} (context {self.policy.context} less the completion, "
                "or domains.max_prompt_tokens)",
                next_step="leave the domain out, choose an easier level, or a model with a longer context",
            )
        return DomainError(
            f"the domain {name!r} could not make a single task",
            got=self.pool.last_failure(name),
            expected="at least one task that works",
            next_step=f"look at it alone: burnish domains validate {name}",
        )
