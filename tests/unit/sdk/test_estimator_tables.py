"""Which table a model's name leads to."""

import pytest

from ullage.estimator import TABLES, table_for

FAMILIES = {
    "openai": """
        gpt-5-mini gpt-4o gpt-4.1 gpt-4-turbo gpt-3.5-turbo gpt-35-turbo GPT-4o
        o1-preview o3 o4-mini chatgpt-4o-latest codex-mini-latest gpt-oss-120b
        openai/gpt-4o azure/gpt-4.1 openai.gpt-oss-120b-1:0 ft:gpt-4o:acme::a1
    """,
    "claude_old": """
        claude-3-opus-20240229 claude-3-5-sonnet-20241022 claude-3.7-sonnet
        claude-sonnet-4-20250514 claude-sonnet-4-0 claude-4-sonnet claude-opus-4-1
        claude-sonnet-4-5 claude-haiku-4-5@20251001 claude-opus-4-6
        anthropic/claude-sonnet-4.5 us.anthropic.claude-sonnet-4-5-20250929-v1:0
    """,
    "claude_new": """
        claude-opus-4-7 claude-opus-4-8 claude-opus-5 claude-sonnet-5 claude-fable-5
        anthropic/claude-opus-4.8 claude-opus-latest
    """,
    "google": "gemini-3-pro models/gemini-2.5-flash gemma-3-27b-it gemma3",
    "qwen": """
        qwen3 qwen2.5-72b-instruct Qwen/Qwen3-32B qwen-max qwq-32b
        deepseek-r1-distill-qwen-32b
    """,
    "deepseek": """
        deepseek-v3 deepseek-chat deepseek-reasoner deepseek-ai/DeepSeek-V3.1
        deepseek-r1 deepseek.r1-v1:0
    """,
    "llama3": """
        llama-3.1-8b llama3.2 meta-llama/Llama-3.3-70B-Instruct llama-v3p1-8b
        meta.llama3-1-70b-instruct-v1:0
    """,
    "mistral_tekken": """
        mistral-nemo open-mistral-nemo mistral-large-latest mistral-medium-3
        Mistral-Small-24B-Instruct-2501 ministral-8b-2410 pixtral-12b-2409
        devstral-small magistral-medium voxtral-mini
    """,
    "sentencepiece32k": """
        mistral-7b-instruct open-mistral-7b mixtral-8x7b open-mixtral-8x22b
        mistral-large-2407 mistral-large-2411 mistral-small-2409 mathstral-7b
        mistral.mistral-large-2402-v1:0
    """,
    "any": """
        grok-4 kimi-k2 command-r llama-4-scout llama-2-70b codellama-34b claude-2.1
        claude-instant-1.2 claude-v2 gpt-j-6b gpt4all marco-o1 my-gpt-4o
        deepseek-coder-6.7b deepseek-r1-distill-llama-70b codestral-2501
    """,
}
CASES = [(name, key) for key, names in FAMILIES.items() for name in names.split()]


@pytest.mark.parametrize(("model", "key"), CASES)
def test_the_name_tells_the_family(model, key):
    assert table_for(model) is TABLES[key]


@pytest.mark.parametrize("model", [None, ""])
def test_no_name_means_any(model):
    assert table_for(model).key == "any"


@pytest.mark.parametrize(
    ("provider", "key"),
    [
        ("azure.ai.openai", "openai"),
        ("gcp.gemini", "google"),
        ("deepseek", "deepseek"),
        ("openai", "any"),
        ("aws.bedrock", "any"),
    ],
)
def test_a_provider_of_one_vocabulary_tells_the_family_of_an_unknown_name(
    provider, key
):
    assert table_for("my-deployment", provider).key == key


def test_a_name_that_speaks_outweighs_the_provider():
    assert table_for("claude-opus-5", "azure.ai.openai").key == "claude_new"


def test_a_name_of_two_families_is_any():
    assert table_for("qwen-gemma-merge").key == "any"
