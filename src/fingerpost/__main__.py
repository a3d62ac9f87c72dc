"""``python -m fingerpost``."""

from fingerpost.cli.main import main

if __name__ == "__main__":
    main()
