"""``python -m voronym``: the command line."""

from voronym.cli import main

main()
