"""Random programs on the state of a few tensors, each in a process of its own: exceptions are fine, crashes and hangs are not.

A program is a list of actions with a seed each, so that an action does the same whatever is dropped around it, as far as its tensors are
the same. `python -m state_programs --help` (in tests/) runs many, replays one, and drops what a crash does not need.
"""
