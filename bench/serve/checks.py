"""What the programs of this folder share: a line for each check, and a server that they start."""

import os
import subprocess
import sys
import tempfile
import time

MODEL = "carbon-tiny"
checks = wrong = 0


def random_bases(count, seed):
    import random
    generator = random.Random(seed)
    return "".join(generator.choice("ACGT") for _ in range(count))


def check(what, right, detail=""):
    """Prints one line, and remembers a wrong one for done()."""
    print(("ok    " if right else "WRONG ") + what + (f": {detail}" if detail and not right else ""), flush=True)
    global checks, wrong
    checks += 1
    wrong += not right


def done(program):
    """A last line; the program fails if a check was wrong."""
    print(f"{program}: {checks} checks, {wrong} wrong")
    sys.exit(wrong > 0)


def equal(what, got, wanted):
    check(what, got == wanted, f"got {got!r}, expected {wanted!r}")


class Server:
    """`carbon serve` on a free port, as a context."""

    def __init__(self, *options):
        self.options = options

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        port_file = os.path.join(self.folder.name, "port")
        self.log = open(os.path.join(self.folder.name, "log"), "w+")
        self.process = subprocess.Popen(
            [os.environ["CARBON"], "serve", "-m", os.environ["MODEL"], "--port", "0", "--port-file", port_file, *self.options],
            stderr=self.log, stdout=subprocess.DEVNULL)
        while not os.path.exists(port_file):
            if self.process.poll() is not None:
                self.log.seek(0)
                sys.exit("the server ended: " + self.log.read())
            time.sleep(0.05)
        self.port = int(open(port_file).read())
        self.url = f"http://127.0.0.1:{self.port}"
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.log.close()
        self.folder.cleanup()
