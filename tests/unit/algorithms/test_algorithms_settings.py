import json

import pytest
from pydantic import ValidationError

from burnish.algorithms.settings import AlgorithmSettings


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("trust_region", 0.0),
        ("trust_region", 1.5),
        ("ratio_cap", 0.5),
        ("std_floor", 0.0),
        ("std_decay", 1.0),
        ("std_decay", -0.1),
        ("advantage_clip", 0.0),
        ("kl_coef", -0.25),
        ("kl_coef", float("nan")),
        ("behaviour_coef", float("inf")),
        ("clip_low", 1.25),
        ("clip_high", 0.0),
        ("name", "ppo3"),
    ],
)
def test_out_of_range_names_field_and_value(field, value):
    with pytest.raises(ValidationError) as caught:
        AlgorithmSettings.model_validate({field: value})
    (error,) = caught.value.errors()
    assert error["loc"] == (field,)
    assert repr(error["input"]) == repr(value)
    assert str(value) in str(caught.value)


def test_unknown_key_is_refused():
    with pytest.raises(ValidationError, match="trustregion"):
        AlgorithmSettings.model_validate({"trustregion": 0.1})


def test_every_field_has_help():
    schema = AlgorithmSettings.model_json_schema()["properties"]
    assert all(entry.get("description") for entry in schema.values())


def test_settings_round_trip_through_json():
    settings = AlgorithmSettings(name="grpo", kl_coef=0.0)
    assert AlgorithmSettings.model_validate(json.loads(settings.model_dump_json())) == settings
