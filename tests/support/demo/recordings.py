"""All scenarios, recorded and packed into the files of inspector/demo."""

from pathlib import Path

import inspector
from inspector.domain.demo.rules import recording_write, spans_of
from tests.support.demo.agents import (
    analyst,
    archivist,
    code_reader,
    log_detective,
    support_desk,
)
from tests.support.demo.recorder import Recording, record
from tests.support.demo.scenario import Scenario

FOLDER = Path(inspector.__file__).parent / "demo"
AGENTS = (analyst, archivist, code_reader, log_detective, support_desk)


def scenarios() -> list[Scenario]:
    """All of them, agent by agent."""
    return [scenario for agent in AGENTS for scenario in agent.scenarios()]


def recorded() -> list[Recording]:
    """Every scenario, recorded now."""
    return [record(scenario) for scenario in scenarios()]


def packed(recordings: list[Recording]) -> dict[str, bytes]:
    """What each file of the folder holds: an agent's runs, oldest first."""
    agents = dict.fromkeys(r.scenario.agent for r in recordings)
    return {
        f"{agent}.otlp.gz": recording_write(
            sorted(
                (
                    q
                    for r in recordings
                    if r.scenario.agent == agent
                    for q in r.requests
                ),
                key=lambda q: min(span.start_time_unix_nano for span in spans_of(q)),
            )
        )
        for agent in agents
    }
