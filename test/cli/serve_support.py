"""What the tests of carbon serve share: a running server, and requests to it over plain sockets.

Not a test.
"""

import http.client
import json
import os
import re
import signal
import subprocess
import time

from harness import CARBON, ENV, Skip, carbon, expect, fresh, model


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def events(self):
        """The JSON of a stream's events, without the last one, which must be [DONE]."""
        lines = [line for line in self.body.decode().split("\n\n") if line]
        expect(lines[-1] == "data: [DONE]", "the stream ends with %r" % lines[-1:])
        expect(all(line.startswith("data: ") for line in lines), "an event is not a data line")
        return [json.loads(line[6:]) for line in lines[:-1]]


class Server:
    """carbon serve on a free port, in a `with` statement. Its stderr is in `err` after the end.

    With `root`, which needs root, the server has that root directory, where `program` lies.
    """

    def __init__(self, *args, env=None, program=CARBON, root=None):
        self.folder = fresh()
        self.port_file = os.path.join(root or self.folder, "port")
        self.args = [program, "serve", "--port", "0", "--port-file", "/port" if root else self.port_file, *map(str, args)]
        if root:
            self.args = ["chroot", root, *self.args]
        if "-m" not in self.args:
            self.args += ["-m", model()]
        self.env = {**ENV, **(env or {})}
        self.err = None

    def __enter__(self):
        self.log = open(os.path.join(self.folder, "stderr"), "w+")
        self.process = subprocess.Popen(self.args, stdout=subprocess.DEVNULL, stderr=self.log, env=self.env)
        until = time.monotonic() + 60
        while not os.path.exists(self.port_file):
            expect(self.process.poll() is None and time.monotonic() < until, "the server did not start: " + self.messages())
            time.sleep(0.02)
        with open(self.port_file) as file:
            self.port = int(file.read())
        return self

    def messages(self):
        with open(os.path.join(self.folder, "stderr"), errors="replace") as file:
            return file.read()

    def stop(self, number=signal.SIGTERM, timeout=60):
        """Sends a signal and returns the exit status."""
        self.process.send_signal(number)
        return self.process.wait(timeout)

    def __exit__(self, kind, *_):
        if self.process.poll() is None:
            try:
                status = self.stop()
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                raise
            if kind is None:
                expect(status == 0, "the server ended with %d: %s" % (status, self.messages()))
        self.log.close()
        self.err = self.messages()

    def ask(self, method, path, body=None, headers=None, timeout=60):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            data = body if body is None or isinstance(body, (bytes, str)) else json.dumps(body)
            connection.request(method, path, data, {"Content-Type": "application/json", **(headers or {})})
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read())
        finally:
            connection.close()

    def get(self, path, **options):
        return self.ask("GET", path, **options)

    def post(self, path, body, **options):
        return self.ask("POST", path, body, **options)

    def good(self, path, body):
        """The JSON of an answer with status 200."""
        answer = self.post(path, body)
        expect(answer.status == 200, "%s %s: status %d, %s" % (path, body, answer.status, answer.body[:300]))
        return answer.json

    def metric(self, name):
        """The sum over the labels of a metric."""
        found = re.findall(r"^%s(?:\{[^}]*\})? (\S+)$" % re.escape(name), self.get("/metrics").body.decode(), re.M)
        expect(found, "there is no metric " + name)
        return sum(map(float, found))


def need_server():
    """Skips the whole test where carbon was built without its server."""
    if not re.search(r"^Boost [0-9]", carbon("--version").text, re.M):
        raise Skip("this carbon was built without its server")
