#!/usr/bin/env python3
"""Makes docs/picture.png: what the page of carbon serve shows of its first example, an Alu repeat, with the bundled model.

    docs/picture.py [FILE.png]

Needs ./carbon with its server, Chromium and pngquant (apt-get install chromium pngquant). The program reads a sequence in which
an Alu begins; the picture has the results from their heading down to the probabilities of the bases. The map of changes below
them is left out, because the bundled model is too small to judge variants.
"""

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)
WIDTH, HEIGHT = 1000, 1400  # of the window; the picture is the part of it that has the results
SECONDS = 60

# The part of the page to be drawn, or null as long as it is not there. The figures are drawn when the browser draws next.
PART = """(async () => {
  const results = document.getElementById("results");
  if (!results || results.hidden) return null;
  await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
  const map = [...results.querySelectorAll("figure")].find((each) => each.textContent.startsWith("Every single-base change"));
  const top = document.getElementById("results-title").getBoundingClientRect().top + scrollY - 12;
  return {x: 0, y: top, width: innerWidth, height: map.getBoundingClientRect().top + scrollY - 4 - top, scale: 1};
})()"""


class Browser:
    """Chromium without a window, which takes commands through one pipe and answers through another (its DevTools protocol):
    JSON, each message ended by a zero byte."""

    def __init__(self, profile):
        commands, self.to = os.pipe()
        self.answers, answered = os.pipe()
        # Chromium reads commands from file 3 and writes answers to file 4.
        start = 'exec "$@" 3<&%d 4>&%d' % (commands, answered)
        as_root = ["--no-sandbox"] if os.geteuid() == 0 else []
        self.process = subprocess.Popen(
            ["bash", "-c", start, "bash", "chromium", "--headless=new", *as_root, "--disable-gpu",
             "--hide-scrollbars", "--force-color-profile=srgb", "--remote-debugging-pipe", "--user-data-dir=" + profile,
             "--window-size=%d,%d" % (WIDTH, HEIGHT), "about:blank"], pass_fds=(commands, answered), stderr=subprocess.DEVNULL)
        os.close(commands)
        os.close(answered)
        self.number, self.rest, self.session = 0, b"", None
        page = next(t for t in self.ask("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.ask("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]

    def ask(self, method, **parameters):
        """Sends a command and returns its result; events that come before it are passed over."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.rest:
                more = os.read(self.answers, 1 << 16)
                if not more:
                    sys.exit("picture.py: Chromium has ended")
                self.rest += more
            answer, _, self.rest = self.rest.partition(b"\0")
            answer = json.loads(answer)
            if answer.get("id") == self.number:
                if "error" in answer:
                    sys.exit("picture.py: %s: %s" % (method, answer["error"]["message"]))
                return answer["result"]

    def value(self, script):
        result = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            sys.exit("picture.py: the page has another structure: %s" % result["result"].get("description"))
        return result["result"].get("value")


def wait_for(look, what):
    """What `look` returns, once it returns something."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        time.sleep(0.1)
    sys.exit("picture.py: waited %d seconds for %s" % (SECONDS, what))


def draw(directory):
    """The picture as PNG, in true colour."""
    port_file = os.path.join(directory, "port")
    server = subprocess.Popen([os.path.join(TOP, "carbon"), "serve", "-q", "-m", os.path.join(TOP, "models", "carbon-tiny"),
                               "--port", "0", "--port-file", port_file])
    browser = None
    try:
        wait_for(lambda: server.poll() is not None or os.path.exists(port_file) and os.path.getsize(port_file), "the server")
        if server.poll() is not None:
            sys.exit("picture.py: the server has ended")
        with open(port_file) as file:
            port = file.read().strip()
        browser = Browser(os.path.join(directory, "profile"))
        # The light colours, whatever the settings of the desktop are.
        browser.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "light"}])
        browser.ask("Page.navigate", url="http://127.0.0.1:%s/#repeat" % port)
        part = wait_for(lambda: browser.value(PART), "the answer of the server")
        picture = browser.ask("Page.captureScreenshot", format="png", clip=part, captureBeyondViewport=True)["data"]
        return base64.b64decode(picture)
    finally:
        if browser:
            browser.process.terminate()
            browser.process.wait()
        server.terminate()
        server.wait()


def main():
    for program in ("chromium", "pngquant"):
        if shutil.which(program) is None:
            sys.exit("picture.py: %s is not installed (Debian package %s)" % (program, program))
    target = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "picture.png")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        picture = draw(directory)
    # A palette of 128 colours takes a third of the bytes, and no eye sees the difference.
    small = subprocess.run(["pngquant", "--nofs", "--speed", "1", "--strip", "128", "-"],
                           input=picture, stdout=subprocess.PIPE, check=True).stdout
    with open(target, "wb") as file:
        file.write(small)
    print("%s: %d bytes" % (target, len(small)))


if __name__ == "__main__":
    main()
