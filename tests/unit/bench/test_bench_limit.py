import pytest
from torch import nn

from burnish.bench.limit import Limit, Product, Shape, measure_limit, shapes_of


class _Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj = nn.Linear(8, 8), nn.Linear(8, 4), nn.Linear(8, 4)
        self.o_proj = nn.Linear(8, 8)


def _model():
    return nn.ModuleDict({"layers": nn.ModuleList([_Block(), _Block()]), "head": nn.Linear(8, 32)})


def test_every_linear_layer_is_counted_by_shape():
    assert set(shapes_of(_model(), joined=False)) == {Shape(8, 8, 4), Shape(8, 4, 4), Shape(8, 32, 1)}


def test_joining_keeps_the_number_of_weights():
    joined, apart = (shapes_of(_model(), joined=j) for j in (True, False))
    assert Shape(8, 16, 2) in joined
    assert sum(s.weights for s in joined) == sum(s.weights for s in apart)


def test_all_layers_of_the_real_model_are_found(tiny_policy):
    linear = [m for m in tiny_policy.causal.modules() if isinstance(m, nn.Linear)]
    shapes = shapes_of(tiny_policy.causal, joined=False)
    assert sum(s.weights for s in shapes) == sum(m.weight.numel() for m in linear)


def test_tokens_a_second_come_from_the_sum_of_all_products():
    products = (Product(Shape(8, 8, 4), "linear", 0.25), Product(Shape(8, 32, 1), "prepacked", 0.25))
    limit = Limit("float32", 16, products)
    assert limit.tokens_per_second == 32
    assert limit.to_dict()["gflops"] == pytest.approx(2 * 16 * (4 * 64 + 256) / 0.5 / 1e9)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_limit_can_be_measured(dtype):
    limit = measure_limit(_model(), 4, dtype, repeats=1)
    assert limit.tokens_per_second > 0
