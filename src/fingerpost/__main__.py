"""``python -m fingerpost`` and the command ``fingerpost``."""

import sys


def main() -> None:
    """Run the command line; an interrupt while it is still loading is no fault."""
    try:
        from fingerpost.cli.main import main as run  # noqa: PLC0415 - inside the try on purpose

        run()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
