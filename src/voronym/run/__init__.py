"""The run: learn, group, publish, verify.

`door` takes a request and a source, `memory` makes the release of a table that fits the memory.
"""
