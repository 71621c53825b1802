"""Scripted agents at real work, recorded as the inspector's demo runs.

The model's side follows a plan; everything else really happens: tools, token counts,
prunes, calibration, termini and HTTP. `python -m tests.support.demo` records them all.
"""
