"""The choice of samples that the report shows: a few of the best, the worst and at random."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from burnish.observe.report.source import PICKS, Pick, ReportSource, SampleLike
from burnish.observe.text import number
from burnish.records import Abstained, Faulted, Scored, Verdict

PER_PICK = 2
_MOST_CHARACTERS = 3000
_FEWEST_CHARACTERS = 400
_BYTES = 1_700_000
_BYTES_AROUND = 900
"""Markup around a sample."""


@dataclass(frozen=True, slots=True)
class ShownSample:
    """One sample as the page shows it: plain text, which the template escapes."""

    pick: Pick
    stage: str
    step: int
    domain: str
    task_key: str
    prompt: str
    completion: str
    gold: str | None
    outcome: str
    """passed, failed, abstained, faulted or ungraded."""
    verdict: str
    advantage: str | None
    details: str

    @property
    def size(self) -> int:
        """Bytes on the page, about; escaping may add some."""
        texts = (self.prompt, self.completion, self.gold or "", self.verdict)
        return _BYTES_AROUND + sum(len(text.encode("utf-8", "replace")) for text in texts)


@dataclass(frozen=True, slots=True)
class _Candidate:
    rank: int
    pick: Pick
    sample: SampleLike


def chosen_samples(
    source: ReportSource, names: Mapping[str, str]
) -> tuple[dict[str, list[ShownSample]], int]:
    """Samples by the domain's name in the report, and how many were left out to keep the page small."""
    candidates = _candidates(source)
    most = max(_FEWEST_CHARACTERS, min(_MOST_CHARACTERS, _BYTES // (2 * max(len(candidates), 1))))
    kept: dict[str, list[ShownSample]] = {}
    room, left_out = _BYTES, 0
    for candidate in candidates:
        name = names.get(candidate.sample.domain, candidate.sample.domain)
        shown = _shown(candidate.sample, candidate.pick, name, most)
        room -= shown.size
        if room < 0:
            left_out += 1
        else:
            kept.setdefault(name, []).append(shown)
    for samples in kept.values():
        samples.sort(key=lambda s: PICKS.index(s.pick))
    return dict(sorted(kept.items())), left_out


def _candidates(source: ReportSource) -> list[_Candidate]:
    """Each sample once; the best of every domain and stage before any worst, first choices before second."""
    found: list[_Candidate] = []
    for stage in source.sample_stages():
        for domain in source.domains(stage):
            seen: set[int] = set()
            for pick in PICKS:
                choice = source.samples(stage=stage, domain=domain, order=pick, limit=3 * PER_PICK)
                fresh = [sample for sample in choice if sample.id not in seen][:PER_PICK]
                seen.update(sample.id for sample in fresh)
                found += [_Candidate(rank, pick, sample) for rank, sample in enumerate(fresh)]
    return sorted(found, key=lambda c: (c.rank, PICKS.index(c.pick)))


def _shown(sample: SampleLike, pick: Pick, domain: str, most: int) -> ShownSample:
    outcome, verdict = describe(sample.verdict)
    details = [
        f"{sample.tokens} tokens",
        f"stopped by {'end of text' if sample.stop == 'eos' else sample.stop}",
    ]
    if sample.mean_logprob is not None:
        details.append(f"mean log-probability {number(sample.mean_logprob)}")
    return ShownSample(
        pick=pick,
        stage=sample.stage,
        step=sample.step,
        domain=domain,
        task_key=sample.task_key,
        prompt=shortened(sample.prompt_text, most),
        completion=shortened(sample.text, most),
        gold=None if sample.gold is None else shortened(sample.gold, most),
        outcome=outcome,
        verdict=shortened(verdict, most),
        advantage=None if sample.advantage is None else f"{sample.advantage:+.2f}",
        details=", ".join(details),
    )


def describe(verdict: Verdict | None) -> tuple[str, str]:
    """A verdict as one word and as a sentence."""
    match verdict:
        case Scored(value, passed, parts, _):
            named = "".join(f", {name} {number(part)}" for name, part in parts.items())
            return ("passed" if passed else "failed"), f"reward {number(value)}{named}"
        case Abstained(reason):
            return "abstained", f"the grader cannot tell: {reason}"
        case Faulted(boundary, error):
            return "faulted", f"{boundary} broke: {error}"
        case _:
            return "ungraded", "no verdict"


def shortened(text: str, most: int) -> str:
    """`text`, or about `most` characters of its beginning and end with how many lie between them."""
    if len(text) <= most:
        return text
    head, tail = text[: most * 2 // 3], text[len(text) - most // 3 :]
    return f"{head}\n[... {len(text) - len(head) - len(tail):,} characters ...]\n{tail}"
