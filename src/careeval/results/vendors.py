"""Who made a model, as far as its name tells.

A grader may favour what its own vendor made, and names do not say the vendor in one way: Inspect's
begin with whoever runs the model, which may be its maker, a host, or a program on this machine.
"""

from __future__ import annotations

import re

# Whoever has this name as a provider, or as the owner of a model at a host, made the model.
_MAKERS = {
    "openai": "openai",
    "anthropic": "anthropic",
    "google": "google",
    "google-deepmind": "google",
    "meta": "meta",
    "meta-llama": "meta",
    "facebook": "meta",
    "mistral": "mistral",
    "mistralai": "mistral",
    "alibaba": "alibaba",
    "alibaba-nlp": "alibaba",
    "qwen": "alibaba",
    "deepseek": "deepseek",
    "deepseek-ai": "deepseek",
    "xai": "xai",
    "x-ai": "xai",
    "xai-org": "xai",
    "grok": "xai",
    "microsoft": "microsoft",
    "cohere": "cohere",
    "coherelabs": "cohere",
    "cohereforai": "cohere",
    "amazon": "amazon",
    "nvidia": "nvidia",
    "moonshot": "moonshot",
    "moonshotai": "moonshot",
    "zhipu": "zhipu",
    "z-ai": "zhipu",
    "zai": "zhipu",
    "zai-org": "zhipu",
    "thudm": "zhipu",
    "huggingfacetb": "huggingface",
    "huggingfaceh4": "huggingface",
    "ibm": "ibm",
    "ibm-granite": "ibm",
    "ai21": "ai21",
    "ai21labs": "ai21",
    "allenai": "allenai",
    "baidu": "baidu",
    "tencent": "tencent",
    "bytedance": "bytedance",
    "bytedance-seed": "bytedance",
    "minimax": "minimax",
    "minimaxai": "minimax",
    "perplexity": "perplexity",
    "eleutherai": "eleutherai",
    "tiiuae": "tii",
    "01-ai": "01-ai",
}

# What a family's models are called, whoever runs them; no letter follows.
_FAMILIES = {
    "openai": "gpt|chatgpt|o1|o3|o4|codex",
    "anthropic": "claude",
    "google": "gemini|gemma|medgemma",
    "meta": "llama|meta-llama|codellama",
    "mistral": "mistral|open-mistral|mixtral|open-mixtral|ministral|magistral|codestral|devstral",
    "alibaba": "qwen|qwq|qvq",
    "deepseek": "deepseek",
    "xai": "grok",
    "microsoft": "phi",
    "cohere": "command-r|command-a|c4ai",
    "amazon": "nova-micro|nova-lite|nova-pro|nova-premier|titan-text",
    "nvidia": "nemotron",
    "moonshot": "kimi|moonshot",
    "zhipu": "glm|chatglm",
    "huggingface": "smollm",
    "ibm": "granite",
    "ai21": "jamba",
    "allenai": "olmo",
    "tencent": "hunyuan",
    "minimax": "minimax",
    "eleutherai": "gpt-j|gpt-neo|gpt-neox",
}
_FAMILY = [
    (maker, re.compile(rf"(?:{names})(?![a-z])"))
    # the longer name first: gpt-neo is no gpt
    for maker, names in sorted(_FAMILIES.items(), key=lambda entry: entry[0] != "eleutherai")
]

# They run what others made, or what lies on a disk.
_HOSTS = {
    "together", "openrouter", "groq", "fireworks", "azure", "azureai", "bedrock", "sagemaker",
    "vertex", "hf", "hf-inference-providers", "vllm", "vllm-completions", "ollama", "sglang",
    "llama-cpp-python", "openai-api", "openai-api-completions", "gguf", "cloudflare", "cf",
    "sambanova", "litellm-proxy", "transformer_lens", "nnterp", "mlx", "lmstudio",
}  # fmt: skip

# The word after these is the name of a service, and not of an owner.
_OF_A_SERVICE = {"openai-api", "openai-api-completions"}

# Made by nobody whom a grader could favour.
_NO_MODEL = {"careeval", "mockllm", "none", "recorded"}


def vendor(model: str | None) -> str | None:
    """Who made a model, from Inspect's name of it, in lower case; `None` where it does not say.

    A host is no vendor: `together/openai/gpt-oss-120b` is `openai`'s, and of a model behind an
    address of one's own nothing is known unless it has the name of a family, such as `qwen`. A
    family trained further by somebody else is taken for its maker's.

    Args:
        model: Without a grader's mode and prompt; `None` for recorded answers.
    """
    provider, _, rest = (model or "").lower().partition("/")
    if not provider or provider in _NO_MODEL:
        return None
    parts = [part.lstrip("@") for part in rest.split("/")]
    if provider not in _HOSTS:
        return _maker_of_family(parts[-1]) or _MAKERS.get(provider, provider)
    owners = parts[1:-1] if provider in _OF_A_SERVICE else parts[:-1]
    # Amazon's host puts the owner, and a region, before a full stop
    for owner in (*owners, *parts[-1].split(".")[:-1]):
        if owner in _MAKERS:
            return _MAKERS[owner]
    if maker := _maker_of_family(parts[-1]):
        return maker
    # somebody's name and the model's, and not a path
    is_owner = len(owners) == 1 and re.fullmatch(r"\w[\w.-]*", owners[0])
    return owners[0] if is_owner and owners[0] not in _HOSTS else None


def _maker_of_family(name: str) -> str | None:
    return next((maker for maker, names in _FAMILY if names.match(name)), None)
