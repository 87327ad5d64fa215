"""The vendor of a model, as far as its name tells.

A grader may favour models of its own vendor, and names give the vendor in several ways. Inspect's
names begin with what runs the model: its maker, a host, or a program on this machine.
"""

from __future__ import annotations

import re

# Names of providers, or of owners of models at a host → the vendor.
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

# Vendor → beginnings of the names of its models, which no letter follows.
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
    # the longer name first: gpt-neo is not OpenAI's
    for maker, names in sorted(_FAMILIES.items(), key=lambda entry: entry[0] != "eleutherai")
]

# Providers that run models of others, or from a disk.
_HOSTS = {
    "together", "openrouter", "groq", "fireworks", "azure", "azureai", "bedrock", "sagemaker",
    "vertex", "hf", "hf-inference-providers", "vllm", "vllm-completions", "ollama", "sglang",
    "llama-cpp-python", "openai-api", "openai-api-completions", "gguf", "cloudflare", "cf",
    "sambanova", "litellm-proxy", "transformer_lens", "nnterp", "mlx", "lmstudio",
}  # fmt: skip

# Providers followed by the name of a service instead of an owner.
_OF_A_SERVICE = {"openai-api", "openai-api-completions"}

# Names without a vendor that a grader could favour.
_NO_MODEL = {"careeval", "mockllm", "none", "recorded"}


def vendor(model: str | None) -> str | None:
    """Return the vendor of a model in lower case, from Inspect's name; `None` if unknown.

    A host is not a vendor: `together/openai/gpt-oss-120b` is `openai`'s. A model at one's own
    address has a known vendor only if its name begins with that of a family, such as `qwen`. A
    model that somebody else trained further counts as the original vendor's.

    Args:
        model: Name of the model, without a grader's mode and prompt; `None` for recorded responses.
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
    # an owner and a model, not a path
    is_owner = len(owners) == 1 and re.fullmatch(r"\w[\w.-]*", owners[0])
    return owners[0] if is_owner and owners[0] not in _HOSTS else None


def _maker_of_family(name: str) -> str | None:
    return next((maker for maker, names in _FAMILY if names.match(name)), None)
