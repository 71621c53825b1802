"""Ullage: the room left between what a context window holds and its brim.

The face of the SDK; everything public is named here. Importing it has no side effect.
"""

from ullage.budget import Breakdown, Budget, Window
from ullage.configure import configure
from ullage.errors import (
    ConfigurationError,
    ContextOverflowError,
    ContextTruncatedError,
    InvalidMessagesError,
    MalformedTranscriptError,
    PolicyError,
    UllageError,
)
from ullage.estimator import TokenRange
from ullage.loop import LoopResult, Tool, ToolLoop
from ullage.manager import ContextWindowManager, Fit, Run
from ullage.messages import Usage
from ullage.pairing import Defect
from ullage.plan import Action, Plan
from ullage.policies import DropOldest, Policy

__all__ = [
    "Action",
    "Breakdown",
    "Budget",
    "ConfigurationError",
    "ContextOverflowError",
    "ContextTruncatedError",
    "ContextWindowManager",
    "Defect",
    "DropOldest",
    "Fit",
    "InvalidMessagesError",
    "LoopResult",
    "MalformedTranscriptError",
    "Plan",
    "Policy",
    "PolicyError",
    "Run",
    "TokenRange",
    "Tool",
    "ToolLoop",
    "UllageError",
    "Usage",
    "Window",
    "configure",
]
