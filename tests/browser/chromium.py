"""A headless Chromium driven over its debugging pipe: open a page, evaluate, click, take pictures, and hear every error and request."""

import base64
import io
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars", "--mute-audio",
    "--force-device-scale-factor=1", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--disable-extensions", "--remote-debugging-pipe",
]  # fmt: skip
WEBGL = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]
NO_WEBGL = ["--disable-gpu", "--disable-3d-apis"]


class Browser:
    """One browser with one page; `errors` and `requests` collect what the page reports."""

    def __init__(self, width: int = 900, height: int = 640, webgl: bool = True):
        assert PROGRAM is not None
        self.folder = tempfile.mkdtemp(prefix="netsim-chromium-")
        from_here, self._to = os.pipe()
        self._from, to_here = os.pipe()
        # the browser reads commands from descriptor 3 and answers on 4
        script = f'exec "$0" "$@" 3<&{from_here} 4>&{to_here}'
        flags = [*FLAGS, *(WEBGL if webgl else NO_WEBGL), f"--user-data-dir={self.folder}", f"--window-size={width},{height}", "about:blank"]
        self._process = subprocess.Popen(
            ["bash", "-c", script, PROGRAM, *flags],
            pass_fds=(from_here, to_here), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        os.close(from_here)
        os.close(to_here)
        self._buffer, self._number, self._session = b"", 0, ""
        self.errors: list[str] = []
        self.requests: list[str] = []
        targets = self.call("Target.getTargets", patience=60)["targetInfos"]
        target = next(t["targetId"] for t in targets if t["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for part in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{part}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def __enter__(self) -> "Browser":
        return self

    def __exit__(self, *_: object) -> None:
        try:
            os.killpg(self._process.pid, signal.SIGTERM)
            self._process.wait(10)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            self._process.kill()
        os.close(self._to)
        os.close(self._from)
        shutil.rmtree(self.folder, ignore_errors=True)

    def call(self, method: str, patience: float = 30.0, **parameters: Any) -> dict[str, Any]:
        """One command of the debugging protocol and its answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters, **({"sessionId": self._session} if self._session else {})}
        os.write(self._to, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + patience
        while True:
            answer = self._next(end)
            if answer is None:
                raise TimeoutError(f"{method}: no answer in {patience} s")
            if answer.get("id") == self._number:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]

    def _next(self, end: float) -> dict[str, Any] | None:
        """The next message before the time `end`; events are noted on the way."""
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._from], [], [], max(0.0, end - time.monotonic()))
            piece = os.read(self._from, 1 << 20) if ready else b""
            if not piece:
                return None
            self._buffer += piece
        text, _, self._buffer = self._buffer.partition(b"\0")
        message = json.loads(text)
        self._note(message.get("method", ""), message.get("params", {}))
        return message

    def _note(self, event: str, details: dict[str, Any]) -> None:
        if event == "Runtime.exceptionThrown":
            self.errors.append(details["exceptionDetails"].get("exception", {}).get("description", str(details)))
        elif event == "Runtime.consoleAPICalled" and details["type"] in ("error", "assert"):
            self.errors.append(str([a.get("value", a.get("description")) for a in details["args"]]))
        elif event == "Log.entryAdded" and details["entry"]["level"] == "error":
            self.errors.append(details["entry"]["text"])
        elif event == "Network.requestWillBeSent":
            self.requests.append(details["request"]["url"])

    def open(self, path: Path, ready: str = "document.readyState === 'complete'", mark: str = "") -> None:
        """Load a file and wait until the expression `ready` holds."""
        self.call("Page.navigate", url=path.absolute().as_uri() + mark)
        self.wait(ready)

    def wait(self, condition: str, patience: float = 30.0) -> None:
        """Wait until an expression holds in the page."""
        end = time.monotonic() + patience
        while not self.value(f"Boolean({condition})"):
            if time.monotonic() > end or self.errors:
                raise TimeoutError(f"never true: {condition}; errors: {self.errors}")
            time.sleep(0.05)

    def value(self, expression: str) -> Any:
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        """A mouse event: mousePressed, mouseMoved, mouseReleased, mouseWheel."""
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def drag(self, start: tuple[float, float], end: tuple[float, float], button: str = "left") -> None:
        """Press at one pixel, move to another, release."""
        held = {"button": button, "buttons": {"left": 1, "right": 2}[button]}
        self.mouse("mousePressed", *start, clickCount=1, **held)
        for part in (0.25, 0.5, 0.75, 1.0):
            self.mouse("mouseMoved", *(a + part * (b - a) for a, b in zip(start, end)), **held)
        self.mouse("mouseReleased", *end, clickCount=1, **held)
        self.drawn()

    def click(self, element: str) -> None:
        """Click the middle of the element with this id."""
        x, y = self.value(f"(r => [r.x + r.width / 2, r.y + r.height / 2])(document.getElementById('{element}').getBoundingClientRect())")
        self.drag((x, y), (x, y))

    def drawn(self) -> None:
        """Wait until the page has drawn twice more."""
        self.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(() => done(1)))))")

    def png(self) -> bytes:
        """What the window shows, as a PNG file."""
        self.drawn()
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def picture(self) -> np.ndarray:
        """What the window shows, (height, width, 3) from 0 to 255."""
        from PIL import Image

        return np.asarray(Image.open(io.BytesIO(self.png())).convert("RGB")).astype(int)
