"""Benchmarks: speed and memory against a plain baseline in the same run, and the loss of every method.

``python -m benchmarks`` runs `speed`, ``python -m benchmarks NAME`` another one; ``--json`` for machines.
"""
