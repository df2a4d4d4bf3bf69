"""The request: all choices of a run, and the recipe that stores them.

`choices` declares every choice once. `recipe` is the file that makes a release again. `rules` lists the
choices that exclude each other, with reasons. `command` writes a recipe as a command line.
"""
