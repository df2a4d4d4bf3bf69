"""Benchmarks: speed and memory against a plain baseline in the same run, and the loss of every method.

``python -m benchmarks`` runs `speed`, ``python -m benchmarks loss`` the losses; ``--json`` for machines.
"""
