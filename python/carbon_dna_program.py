"""The console script ``carbon``: becomes the program of the wheel. Beside the package, whose import takes longer than the program."""

import os
import sys

FILES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "carbon_dna", "_files")


def main() -> None:
    """Ends this process, or says why it cannot."""
    program = os.path.join(FILES, "bin", "carbon")
    try:
        if not os.access(program, os.X_OK):
            os.chmod(program, 0o755)
        os.execv(program, [program] + sys.argv[1:])
    except OSError as problem:
        sys.exit("[E::carbon_dna] cannot start %s: %s" % (program, problem.strerror))


if __name__ == "__main__":
    main()
