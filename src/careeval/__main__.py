"""The command `careeval`, also run as `python -m careeval`."""

import gc
import os
import sys

# Our matrix products are limited by memory, so a second thread would only spin.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Tables make many small values and no cycles; by default, looking for cycles takes 10% of the time.
gc.set_threshold(100_000)


def main() -> None:
    """Run the command line and exit with its status."""
    try:
        from careeval.cli.app import run

        status = run(sys.argv[1:])
    except KeyboardInterrupt:
        # interrupted while the command line was still being imported
        sys.stderr.write("interrupted\n")
        status = 130
    sys.exit(status)


if __name__ == "__main__":
    main()
