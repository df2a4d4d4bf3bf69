"""``python -m voronym.cli``: the command line."""

from voronym.cli import main

if __name__ == "__main__":
    main()
