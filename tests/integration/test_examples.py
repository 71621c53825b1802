"""The code in our README files runs as it stands, against a real server."""

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


@pytest.mark.parametrize("name", ["README.md", "sdk/README.md"])
def test_the_readme_works(name):
    code = "".join(BLOCK.findall((REPOSITORY / name).read_text()))
    models = [Model("gpt-5-mini", 400_000, 128_000)]
    with StandIn(models, script=lambda messages, tools: say("And to you.")) as server:
        done = subprocess.run(
            [sys.executable, "-c", AT_HAND + code + TELL, server.base_url],
            capture_output=True,
            text=True,
            check=False,
            # No inspector listens at the README's address.
            env=os.environ | {"ULLAGE_DISABLED": "1"},
        )
    assert re.fullmatch(r"And to you\. \d+\n", done.stdout), done.stderr
