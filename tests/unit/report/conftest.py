"""A real browser for the report, driven through its DevTools pipe: no packages needed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

#: The browser reads commands from file 3 and writes answers to file 4.
LAUNCH = """
import fcntl, os, sys
commands, answers = (fcntl.fcntl(int(k), fcntl.F_DUPFD, 10) for k in sys.argv[1:3])
os.dup2(commands, 3), os.dup2(answers, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
#: Seconds to wait for any answer of the browser.
PATIENCE = 60


class Browser:
    """Chromium without a window; commands and answers go through two pipes as JSON."""

    def __init__(self, program):
        self.requests = []
        self.errors = []
        self._count = 0
        self._rest = b""
        self._profile = tempfile.mkdtemp(prefix="mixwood-browser-")
        commands, self._send = os.pipe()
        self._receive, answers = os.pipe()
        options = (
            "--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run "
            "--disable-background-networking --window-size=1100,900 --remote-debugging-pipe"
        )
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-c", LAUNCH, str(commands), str(answers)),
                *(program, *options.split(), f"--user-data-dir={self._profile}", "about:blank"),
            ],
            pass_fds=(commands, answers),
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(commands)
        os.close(answers)
        os.set_blocking(self._receive, False)

    def start(self):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    _session = None

    def call(self, method, **parameters):
        self._count += 1
        message = {"id": self._count, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._send, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._count:
                assert "error" not in answer, answer
                return answer["result"]

    def _next(self):
        deadline = time.monotonic() + PATIENCE
        while b"\0" not in self._rest:
            assert time.monotonic() < deadline, "the browser does not answer"
            try:
                piece = os.read(self._receive, 2**16)
                assert piece, "the browser has ended"
                self._rest += piece
            except BlockingIOError:
                time.sleep(0.005)
        text, self._rest = self._rest.split(b"\0", 1)
        message = json.loads(text)
        if message.get("method") == "Network.requestWillBeSent":
            self.requests.append(message["params"]["request"]["url"])
        if message.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded"):
            self.errors.append(message["params"])
        return message

    def open(self, path):
        self.requests.clear()
        self.errors.clear()
        self.call("Page.navigate", url=Path(path).resolve().as_uri())
        while self.run("document.readyState") != "complete":
            time.sleep(0.01)

    def run(self, expression):
        """Return the value of an expression of JavaScript."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def press(self, key, **more):
        text = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
        code = {"Enter": 13, "Tab": 9}.get(key, 0)
        self.call(
            "Input.dispatchKeyEvent",
            type="keyDown",
            key=key,
            windowsVirtualKeyCode=code,
            **text,
            **more,
        )
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, **more)

    def close(self):
        os.close(self._send)
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        os.close(self._receive)
        shutil.rmtree(self._profile, ignore_errors=True)


@pytest.fixture(scope="module")
def browser():
    """A browser, or a skipped test where none is installed."""
    found = [shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")]
    program = next(filter(None, found), None)
    if program is None:
        pytest.skip("no Chromium is installed")
    running = Browser(program)
    try:
        running.start()
        yield running
    finally:
        running.close()
