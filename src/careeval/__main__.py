"""`python -m careeval`, and the command `careeval`."""

import gc
import os
import sys

# Our matrix products are tall and thin, and wait for memory: a second thread would only spin.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Tables make many small values and no cycles: to look for those each 700 takes a tenth of the time.
gc.set_threshold(100_000)


def main() -> None:
    """Run the command line and exit with its status."""
    try:
        from careeval.cli.app import run

        status = run(sys.argv[1:])
    except KeyboardInterrupt:
        # while it was still being loaded
        sys.stderr.write("interrupted\n")
        status = 130
    sys.exit(status)


if __name__ == "__main__":
    main()
