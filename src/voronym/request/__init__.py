"""The request: everything that somebody can ask of a run, and the recipe that keeps it.

`choices` declares every choice once; `recipe` is the file that makes a release again; `rules` say which
choices exclude each other, and why; `command` writes a recipe as a command line.
"""
