"""Which split a task belongs to, decided by a hash of what it says.

The same question is in the same split wherever it turns up: at another level, in another domain, in
another process. So no question that was trained on is ever evaluated, however small a task space is.
"""

from __future__ import annotations

import unicodedata
from hashlib import blake2b

from burnish.records import Split

_BUCKETS = (Split.TRAIN, Split.TRAIN, Split.EVAL, Split.HOLDOUT)
"""Half of all content is TRAIN, a quarter each EVAL and HOLDOUT."""

SHARE = {split: _BUCKETS.count(split) / len(_BUCKETS) for split in Split}
"""Expected share of each split."""


def canonical(text: str) -> str:
    """Text with what does not change a question removed: Unicode form, letter case, runs of white space."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def content_split(text: str) -> Split:
    """The split of a question."""
    digest = blake2b(canonical(text).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return _BUCKETS[int.from_bytes(digest, "little") % len(_BUCKETS)]
