"""``python -m voronym.cli``: the command line."""

from voronym.cli import main

main()
