"""Our numbers against those of public implementations, in float64, to 1e-6.

The fixtures are made by `benchmarks/parity/regenerate.py`. Where references disagree with each other or with
us, `docs/algorithms.md` says how, and the test here converts explicitly.
"""

import json
from functools import cache
from pathlib import Path

import pytest
import torch

from burnish.algorithms import corrections, segments
from burnish.algorithms.aggregation import (
    sequence_mean_token_mean,
    sequence_mean_token_sum,
    sequence_mean_token_sum_over,
    token_mean,
)
from burnish.algorithms.base import RewardBatch, TokenBatch
from burnish.algorithms.build import build
from burnish.algorithms.controls import AT_REST
from burnish.algorithms.dapo import overlong
from burnish.algorithms.kl import ESTIMATORS
from burnish.algorithms.losses import outside_trust_region
from burnish.algorithms.scales import DomainScales
from burnish.algorithms.settings import AlgorithmSettings
from burnish.training.gae import gae, value_loss, whiten_tokens

FOLDER = Path(__file__).parent / "fixtures"
SAMPLES = 4
LONGEST = {"verl": 6, "trl": 8}


@cache
def fixture(package):
    return json.loads((FOLDER / f"{package}.json").read_text())


def case(package, name):
    return fixture(package)["cases"][name]


def inputs(package):
    whole = ("lengths", "index")
    rows = fixture(package)["inputs"]
    return {k: torch.tensor(v, dtype=torch.int64 if k in whole else torch.float64) for k, v in rows.items()}


def number(values):
    return torch.tensor(values, dtype=torch.float64)


def near(ours, theirs):
    torch.testing.assert_close(ours.double(), number(theirs), rtol=1e-6, atol=1e-6)


def rewards(x, **changes):
    values = x["rewards"].reshape(-1, SAMPLES)
    valid = torch.ones_like(values, dtype=torch.bool)
    return RewardBatch(values, valid, ("d",) * len(values), x["lengths"].reshape(-1, SAMPLES), **changes)


@pytest.mark.parametrize("package", ["verl", "trl"])
def test_fixtures_say_where_they_come_from(package):
    assert fixture(package)["version"] == {"verl": "0.9.1", "trl": "1.16.0"}[package]
    assert all(c["function"] for c in fixture(package)["cases"].values())


@pytest.mark.parametrize("name", ["grpo", "dr_grpo", "rloo", "reinforce_pp", "reinforce_pp_baseline"])
def test_advantages(name):
    x = inputs("verl")
    keys = {"name": "reinforce_pp", "group_baseline": True} if name.endswith("_baseline") else {"name": name}
    ours, _ = build(AlgorithmSettings(**keys)).advantages(rewards(x), DomainScales())
    near(ours.reshape(-1, 1) * x["mask"], case("verl", f"advantage/{name}")["outputs"]["advantages"])


def test_remax_advantages():
    # verl is given the baseline of each prompt; ours takes it from a last, greedy sample of the group.
    x = inputs("verl")
    plain = x["rewards"].reshape(-1, SAMPLES)
    values = torch.cat([plain, plain[:, :1]], dim=1)
    batch = RewardBatch(values, torch.ones_like(values, dtype=torch.bool), ("d",) * 3, greedy=True)
    ours, _ = build(AlgorithmSettings(name="remax")).advantages(batch, DomainScales())
    theirs = case("verl", "advantage/remax")["outputs"]["advantages"]
    near(ours[:, :-1].reshape(-1, 1) * x["mask"], theirs)


@pytest.mark.parametrize("name", ["plain", "masked"])
def test_gae(name):
    x, c = inputs("verl"), case("verl", f"gae/{name}")
    mask = number(c["outputs"]["mask"])
    earned = torch.zeros_like(mask)
    earned[torch.arange(len(mask)), x["lengths"] - 1] = x["rewards"]
    raw, returns = gae(earned, x["values"], mask.bool(), c["settings"]["discount"], c["settings"]["decay"])
    near(returns * mask, c["outputs"]["returns"])
    white = torch.zeros_like(mask)
    white[mask.bool()] = whiten_tokens(raw[mask.bool()], torch.ones(int(mask.sum()), dtype=torch.float64))
    near(white, c["outputs"]["advantages"])


def test_value_loss():
    x, c = inputs("verl"), case("verl", "value_loss")
    values = x["values"].clone().requires_grad_()
    loss, clipped = value_loss(values, x["old_values"], x["returns"], c["settings"]["value_clip"])
    total = (loss * x["mask"]).sum() / x["mask"].sum()
    (gradient,) = torch.autograd.grad(total, values)
    near(total.detach(), c["outputs"]["loss"])
    near(gradient, c["outputs"]["gradient"])
    near((clipped * x["mask"]).sum() / x["mask"].sum(), c["outputs"]["clipped"])


def step_loss(package, settings, new):
    """Loss of a step and its gradient in the log-probs, all 12 completions active."""
    x = inputs(package)
    algorithm = build(settings, LONGEST[package])
    new = new.clone().requires_grad_()
    inside = x["mask"].bool()
    batch = TokenBatch(new[inside], x["old"][inside], x["ref"][inside], x["advantages"][inside], x["lengths"])
    lengths = x["lengths"].reshape(-1, SAMPLES)
    weights = algorithm.weights(lengths, torch.ones_like(lengths, dtype=torch.bool)).double().flatten()
    loss = (algorithm.token_loss(batch).loss * segments.spread(weights, x["lengths"])).sum()
    return loss, torch.autograd.grad(loss, new)[0]


OURS = {
    "verl": {
        # verl always bounds the loss of negative advantages (dual clip, 3); ours when asked to.
        "grpo": {"name": "grpo", "dual_clip": 3.0, "kl_coef": 0.0},
        "dapo": {"name": "dapo", "dual_clip": 1.3},
        "dr_grpo": {"name": "dr_grpo", "dual_clip": 3.0},
        "gspo": {"name": "gspo", "clip_low": 3e-2, "clip_high": 4e-2},
        # verl clips the weight to 1 - .1 .. 1 + .2; ours names the bounds themselves.
        "cispo": {"name": "cispo", "weight_low": 0.9, "weight_high": 1.2},
        "sapo": {"name": "sapo"},
    },
    "trl": {
        "grpo": {"name": "grpo", "kl_coef": 0.0},
        "grpo_k3": {"name": "grpo", "kl_coef": 0.3},
        "dr_grpo": {"name": "dr_grpo"},
        "dapo": {"name": "dapo"},
        # TRL has one ratio a completion and broadcasts; ours one a token with the same gradient, see below.
        "gspo": {"name": "gspo", "clip_low": 3e-2, "clip_high": 4e-2},
        "cispo": {"name": "cispo", "weight_high": 1.2},
        "sapo": {"name": "sapo"},
    },
}


@pytest.mark.parametrize(("package", "name"), [(p, n) for p, names in OURS.items() for n in names])
def test_policy_losses_and_their_gradients(package, name):
    outputs = case(package, f"loss/{name}")["outputs"]
    new = number(outputs["new"]) if "new" in outputs else inputs(package)["new"]
    loss, gradient = step_loss(package, AlgorithmSettings(**OURS[package][name]), new)
    # Weights of a step are float32, which is 6e-8 of each: below what is asked for here.
    near(loss.detach(), outputs["loss"])
    near(gradient, outputs["gradient"])


def test_dppo_trust_region_and_cap():
    # verl aggregates by token mean and has no pull towards the sampler; ours by prompt mean. So token losses
    # are averaged here as verl does it.
    x, c = inputs("verl"), case("verl", "loss/dppo")
    settings = AlgorithmSettings(trust_region=0.05, ratio_cap=1.5, behaviour_coef=0.0, kl_coef=0.0)
    inside = x["mask"].bool()
    new = number(c["outputs"]["new"]).requires_grad_()
    batch = TokenBatch(new[inside], x["old"][inside], None, x["advantages"][inside], x["lengths"])
    loss = build(settings).token_loss(batch).loss.mean()
    (gradient,) = torch.autograd.grad(loss, new)
    near(loss.detach(), c["outputs"]["loss"])
    near(gradient, c["outputs"]["gradient"])
    masked = outside_trust_region(batch.logprobs, batch.behaviour, batch.advantages, 0.05)
    assert 0 < int(masked.sum()) < len(masked)


AGGREGATIONS = {
    "token-mean": token_mean,
    "seq-mean-token-mean": sequence_mean_token_mean,
    "seq-mean-token-sum": sequence_mean_token_sum,
    "seq-mean-token-sum-norm": lambda lengths, active: sequence_mean_token_sum_over(6, lengths, active),
}


@pytest.mark.parametrize("mode", AGGREGATIONS)
def test_aggregation(mode):
    x = inputs("verl")
    lengths = x["lengths"].reshape(-1, SAMPLES)
    weights = AGGREGATIONS[mode](lengths, torch.ones_like(lengths, dtype=torch.bool)).double()
    ours = (x["values"] * x["mask"] * weights.reshape(-1, 1)).sum()
    near(ours, case("verl", f"aggregation/{mode}")["outputs"]["loss"])


@pytest.mark.parametrize("name", ESTIMATORS)
def test_kl_values_and_gradients(name):
    x, c = inputs("verl"), case("verl", f"kl/{name}")
    new = x["new"].clone().requires_grad_()
    value = ESTIMATORS[name](new, x["ref"])
    near(value.detach(), c["outputs"]["value"])
    near(torch.autograd.grad(value.sum(), new)[0], c["outputs"]["gradient"])


def test_kl_controller():
    c = case("verl", "kl/controller")
    s = c["settings"]
    settings = AlgorithmSettings(kl_target=s["target"], kl_horizon=s["horizon"])
    controls, path = AT_REST, []
    for kl in s["kl"]:
        controls = controls.after(settings, {"kl": kl}, s["samples"])
        path.append(s["start"] * controls.kl_scale)
    assert path == pytest.approx(c["outputs"]["path"], rel=1e-12)


@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [
        ("truncate", 0.0, 1.2),
        ("mask", 0.8, 1.2),
        ("sequence_truncate", 0.0, 1.5),
        ("sequence_mask", 0.6, 1.6),
        # verl judges log mu/pi, ours log pi/mu: the limits .9 and 1.1 become their inverses.
        ("geometric_mask", 1 / 1.1, 1 / 0.9),
    ],
)
def test_importance_corrections(kind, low, high):
    x = inputs("verl")
    inside = x["mask"].bool()
    batch = TokenBatch(x["new"][inside], x["old"][inside], None, x["advantages"][inside], x["lengths"])
    ours = torch.zeros_like(x["mask"])
    ours[inside] = corrections.weight(kind, batch, low, high)
    near(ours, case("verl", f"correction/{kind}")["outputs"]["weights"])


def test_overlong_penalty():
    c = case("trl", "overlong")
    s = c["settings"]
    near(-overlong(torch.tensor(s["lengths"]), s["longest"], s["share"]).double(), c["outputs"]["rewards"])
