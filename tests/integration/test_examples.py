"""The code in our README files and docs runs as it stands."""

import os
import re
import subprocess
import sys

import pytest

from tests.support.environment import REPOSITORY
from tests.support.standin import Model, StandIn, say

BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)
# What the reader has at hand already: a client, messages, tools.
AT_HAND = """
import openai, sys
client = openai.OpenAI(base_url=sys.argv[1], api_key="unused", max_retries=0)
messages = [{"role": "user", "content": "Good evening."}]
tools = [{"type": "function", "function": {"name": "read", "parameters": {}}}]
"""
TELL = "\nprint(reply.choices[0].message.content, reply.usage.prompt_tokens)\n"


def code_of(name):
    return "".join(BLOCK.findall((REPOSITORY / name).read_text()))


def run_python(code, *arguments):
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        check=False,
        # No inspector listens at the README's address.
        env=os.environ | {"ULLAGE_DISABLED": "1"},
    )


@pytest.mark.parametrize("name", ["README.md", "sdk/README.md"])
def test_the_readme_works(name):
    models = [Model("gpt-5-mini", 400_000, 128_000)]
    with StandIn(models, script=lambda messages, tools: say("And to you.")) as server:
        done = run_python(AT_HAND + code_of(name) + TELL, server.base_url)
    assert re.fullmatch(r"And to you\. \d+\n", done.stdout), done.stderr


@pytest.mark.parametrize("name", ["docs/testing.md"])
def test_the_page_works(name):
    done = run_python(code_of(name))
    assert done.returncode == 0, done.stderr
