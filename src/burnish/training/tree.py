"""Prompt trees: a prompt and all its completions as one sequence, several sequences to a row.

A prompt is computed once for its N completions: P + sum(S_n) tokens instead of N P + sum(S_n). The mask
lets a completion token see its prompt and its own completion only, and positions continue from the
prompt, so log-probs and gradients equal those of N separate sequences.

B rows, W columns, T completion tokens of all trees.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

_FREE = -1


@dataclass(frozen=True, slots=True)
class Tree:
    """One prompt with the completions to learn from."""

    prompt: tuple[int, ...]
    completions: tuple[tuple[int, ...], ...]

    @property
    def tokens(self) -> int:
        """Tokens of the prompt and of all completions."""
        return len(self.prompt) + sum(map(len, self.completions))


@dataclass(frozen=True, slots=True)
class Packed:
    """Trees laid out for one forward pass."""

    ids: Tensor
    """[B, W] int64 token ids, 0 where free."""
    mask: Tensor
    """[B, 1, W, W] boolean, True attends."""
    positions: Tensor
    """[B, W] int64."""
    predictors: Tensor
    """[T] int64, flat index into B x W of the position that predicts each completion token."""
    targets: Tensor
    """[T] int64, the completion tokens, in order of tree, completion, position."""
    trees: tuple[int, ...]
    """Numbers of the trees inside, in the order of `targets`."""


def micro_batches(trees: Sequence[Tree], token_budget: int) -> list[Packed]:
    """Pack trees into micro-batches of at most `token_budget` padded tokens.

    Rows are as wide as the longest tree and filled first-fit by decreasing length; a tree longer than
    the budget has a micro-batch of its own.
    """
    if not trees:
        return []
    width = max(t.tokens for t in trees)
    rows = _first_fit(trees, width)
    per_batch = max(1, token_budget // width)
    return [pack(trees, rows[i : i + per_batch]) for i in range(0, len(rows), per_batch)]


def _first_fit(trees: Sequence[Tree], width: int) -> list[list[int]]:
    rows: list[list[int]] = []
    room: list[int] = []
    for i in sorted(range(len(trees)), key=lambda i: (-trees[i].tokens, i)):
        need = trees[i].tokens
        row = next((r for r, free in enumerate(room) if free >= need), None)
        if row is None:
            rows.append([])
            room.append(width)
            row = len(rows) - 1
        rows[row].append(i)
        room[row] -= need
    return rows


def pack(trees: Sequence[Tree], rows: Sequence[Sequence[int]]) -> Packed:
    """Lay out the named trees row by row."""
    width = max(sum(trees[i].tokens for i in row) for row in rows)
    layout = _Layout.empty(len(rows), width)
    predictors: list[int] = []
    targets: list[int] = []
    for r, row in enumerate(rows):
        column = 0
        for i in row:
            predictors += layout.place(trees[i], i, r, column)
            targets += [token for completion in trees[i].completions for token in completion]
            column += trees[i].tokens
    return Packed(
        torch.from_numpy(layout.ids),
        layout.mask(),
        torch.from_numpy(layout.positions),
        torch.tensor(predictors, dtype=torch.int64),
        torch.tensor(targets, dtype=torch.int64),
        tuple(i for row in rows for i in row),
    )


@dataclass(frozen=True, slots=True)
class _Layout:
    """Arrays [B, W] being filled; `branch` is 0 for prompt tokens, 1.. for completions."""

    ids: np.ndarray
    positions: np.ndarray
    tree: np.ndarray
    branch: np.ndarray

    @classmethod
    def empty(cls, rows: int, width: int) -> _Layout:
        zeros = (np.zeros((rows, width), np.int64) for _ in range(3))
        ids, positions, branch = zeros
        return cls(ids, positions, np.full((rows, width), _FREE, np.int64), branch)

    def place(self, tree: Tree, number: int, row: int, column: int) -> list[int]:
        """Write one tree at (row, column); returns the flat predictors of its completion tokens."""
        start, prompt, width = column, len(tree.prompt), self.ids.shape[1]
        self._write(tree.prompt, number, 0, 0, row, start)
        last = start + prompt - 1
        predictors: list[int] = []
        column += prompt
        for branch, completion in enumerate(tree.completions, 1):
            self._write(completion, number, branch, prompt, row, column)
            predictors += [row * width + c for c in (last, *range(column, column + len(completion) - 1))]
            column += len(completion)
        return predictors

    def _write(
        self, ids: tuple[int, ...], number: int, branch: int, position: int, row: int, column: int
    ) -> None:
        place = np.s_[row, column : column + len(ids)]
        self.ids[place] = ids
        self.positions[place] = np.arange(position, position + len(ids))
        self.tree[place] = number
        self.branch[place] = branch

    def mask(self) -> Tensor:
        tree, branch = torch.from_numpy(self.tree), torch.from_numpy(self.branch)
        same = tree[:, :, None] == tree[:, None, :]
        visible = (branch[:, None, :] == 0) | (branch[:, :, None] == branch[:, None, :])
        causal = torch.ones(tree.shape[1], tree.shape[1], dtype=torch.bool).tril()
        free = torch.eye(tree.shape[1], dtype=torch.bool) & (tree == _FREE)[:, :, None]
        used = (tree != _FREE)[:, :, None]
        return ((same & visible & causal & used) | free)[:, None]
