"""Looks at the web pages of a server with headless Chromium:  drive.py http://HOST:PORT TABLE SCREENSHOTS

Loads each page, reads the texts of the heat map, hovers over it, zooms it with the mouse and the keyboard, runs
queries, and proposes designs. Screenshots are written into the folder SCREENSHOTS. Speaks the DevTools protocol itself: it needs Python and
Chromium alone.
"""

import base64
import json
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request


class WebSocket:
    """A client of RFC 6455, as far as DevTools needs it: texts, in frames of any length."""

    def __init__(self, url):
        host, port, path = re.match(r"ws://([^:/]+):(\d+)(/.*)", url).groups()
        self.socket = socket.create_connection((host, int(port)), timeout=60)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        self.buffer = b""
        while b"\r\n\r\n" not in self.buffer:
            self.buffer += self.socket.recv(4096)
        self.buffer = self.buffer.split(b"\r\n\r\n", 1)[1]

    def send(self, text):
        data = text.encode()
        mask = os.urandom(4)
        if len(data) < 126:
            head = struct.pack("!BB", 0x81, 0x80 | len(data))
        else:
            head = struct.pack("!BBQ", 0x81, 0x80 | 127, len(data))
        self.socket.sendall(head + mask + bytes(byte ^ mask[at % 4] for at, byte in enumerate(data)))

    def take(self, count):
        while len(self.buffer) < count:
            received = self.socket.recv(1 << 20)
            if not received:
                raise EOFError("Chromium closed the connection")
            self.buffer += received
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken

    def receive(self):
        text = b""
        while True:
            first, second = self.take(2)
            length = second & 0x7F
            if length == 126:
                (length,) = struct.unpack("!H", self.take(2))
            elif length == 127:
                (length,) = struct.unpack("!Q", self.take(8))
            payload = self.take(length)
            if first & 0x0F in (0, 1):
                text += payload
                if first & 0x80:
                    return text.decode()


class Page:
    def __init__(self, devtools):
        self.socket = WebSocket(devtools)
        self.last = 0
        self.errors = []
        self.loads = 0
        for domain in ["Page", "Runtime", "Log"]:
            self.call(f"{domain}.enable")

    def call(self, method, **params):
        self.last += 1
        self.socket.send(json.dumps({"id": self.last, "method": method, "params": params}))
        while True:
            message = json.loads(self.socket.receive())
            self.note(message)
            if message.get("id") == self.last:
                assert "error" not in message, (method, message["error"])
                return message["result"]

    def note(self, message):
        if message.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded"):
            self.errors.append(message["params"])
        self.loads += message.get("method") == "Page.loadEventFired"

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.until("document.readyState == 'complete'")

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in result, (expression, result["exceptionDetails"])
        return result["result"].get("value")

    def until(self, condition):
        """Waits for a condition in the page, at most ten seconds."""
        wait = "new Promise(done => { let left = 200; const look = () => (%s) ? done(true) : left-- ? setTimeout(look, 50) : done(false); look(); })"
        assert self.evaluate(wait % condition), f"never true: {condition}"

    def follow(self, act):
        """Does what leads to another page, and waits until that is loaded: a search takes seconds."""
        before = self.loads
        act()
        while self.loads == before:
            self.note(json.loads(self.socket.receive()))

    def mouse(self, kind, x, y, button="none", buttons=0):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, buttons=buttons, clickCount=1)

    def key(self, key, text=None):
        extra = {"text": text} if text else {}
        if key == "Enter":
            # Buttons and links look at the code alone.
            extra |= {"windowsVirtualKeyCode": 13, "code": "Enter"}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **extra)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def screenshot(self, path):
        picture = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]
        path.write_bytes(base64.b64decode(picture))


def check(name, holds, shown=""):
    if not holds:
        raise SystemExit(f"FAIL {name}: {shown}")
    print(f"ok {name}")


# Notes the texts that a canvas draws, with their places.
RECORD = """
window.drawn = [];
const fill = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
  drawn.push([text, x, y]);
  return fill.call(this, text, x, y);
};
"""
# Draws the map once more; returns what it draws.
REDRAWN = "(() => { drawn.length = 0; dispatchEvent(new Event('afterprint')); return drawn; })()"
# The distance in points from the caret of an error to the character of the query below which it must stand.
CARET = """
(() => {
  const text = document.querySelector('.error pre').firstChild, content = text.data;
  const box = (at) => {
    const range = document.createRange();
    range.setStart(text, at);
    range.setEnd(text, at + 1);
    return range.getBoundingClientRect();
  };
  const place = box(content.indexOf('%s')), caret = box(content.indexOf('^'));
  return caret.top > place.top ? Math.abs(caret.left - place.left) : 1000;
})()
"""


def pages(page, base, table, into):
    for lang in ["en", "zh"]:
        for path in ["", "tables", f"tables/{table}", "heat", "servers", "query", "design", "calls", "tasks", "settings"]:
            page.open(f"{base}/{path}?lang={lang}")
            title = page.evaluate("document.querySelector('h1').textContent")
            check(f"/{path} in {lang}", title)
            product, database = page.evaluate(
                "['.product', '.database'].map(it => document.querySelector(it).textContent)")
            check(f"product and database on /{path}", product == "rowhouse" and database == "data", (product, database))
            page.screenshot(into / f"{path.replace('/', '-') or 'overview'}-{lang}.png")
    page.open(f"{base}/tables/{table}?lang=en")
    template = page.evaluate("document.body.innerText.includes('[user string]')")
    check("the template is shown", template)


def labels(page, base, into):
    """Looks at the map of a table whose keys begin alike and are longer than a label."""
    page.call("Page.addScriptToEvaluateOnNewDocument", source=RECORD)
    page.open(f"{base}/heat/pages?lang=en")
    page.until("drawn.length > 10")
    measure, span = page.evaluate("(({of, from, to}) => [of, (to - from) / 60000])(document.querySelector('#heat').dataset)")
    check("the map opens on what was measured", measure == "writes" and span <= 15, (measure, span))
    drawn = page.evaluate(REDRAWN)
    keys = [(text, y) for text, x, y in drawn if x == 0]
    check("labels of keys differ", len(keys) > 5 and len({text for text, _ in keys}) == len(keys), keys)
    scale = [text for text, x, y in drawn if y == 30]
    numbers = [int(text.replace(",", "")) for text in scale]
    check("the scale has numbers", len(numbers) >= 3 and numbers[0] == 0 and numbers == sorted(set(numbers)), scale)
    box = page.evaluate("(({x, y}) => [x, y])(document.querySelector('#heat').getBoundingClientRect())")
    label, height = next((text, y) for text, y in keys if "…" in text)
    page.mouse("mouseMoved", box[0] + 20, box[1] + height)
    title = page.evaluate("document.querySelector('#heat').title")
    begin, end = label.split("…", 1)
    whole = len(title) > len(label) and title.startswith(begin) and title.endswith(end)
    check("the tooltip has the whole key", whole, (label, title))
    page.screenshot(into / "heat-labels.png")


def carets(page, base, table, into):
    for query, place in [("user = 'bob' ? 1", "?"), (f"user = '{'x' * 300}' ? 1", "?")]:
        page.open(f"{base}/query?table={table}&q={urllib.parse.quote(query)}&lang=zh")
        distance = page.evaluate(CARET % place)
        check("the caret stands under its place", distance < 1, distance)
    page.screenshot(into / "query-mistake.png")


def design(page, base, table, into):
    """Goes from the heat of a table to its designs, with the keyboard where a person would use it."""
    page.open(f"{base}/heat/{table}?lang=en")
    page.follow(lambda: page.evaluate("document.querySelector('a[href*=\"/design\"][href*=table]').click()"))
    text = page.evaluate("document.querySelector('textarea').value")
    check("the workload of a table is filled in", "key [user string]" in text, text)
    page.evaluate("""(() => {
      const box = document.querySelector('textarea');
      box.value += 'ask user = ? limit 20 : 40/s\\nask id = ? : 200/s\\nrows 400\\n';
      document.querySelector('form button').focus();
    })()""")
    page.follow(lambda: page.key("Enter", "\r"))
    designs = page.evaluate("document.querySelectorAll('details').length")
    check("designs are listed", designs > 3, page.evaluate("document.querySelector('main').innerText"))
    points = page.evaluate("document.querySelectorAll('svg.scatter circle').length")
    check("designs are drawn", points > 5, points)
    check("sample keys are decoded", page.evaluate("document.querySelector('details').innerText.includes('user=')"))
    page.screenshot(into / "design-table.png")
    # The second point's link opens its design for a reader with a keyboard.
    page.evaluate("document.querySelector('svg.scatter a[href=\"#design-2\"]').focus()")
    page.key("Enter", "\r")
    page.until("location.hash == '#design-2'")
    check("a point leads to its design", True)
    page.evaluate("document.querySelector('#design-2 summary').focus()")
    page.key("Enter", "\r")
    page.until("document.querySelector('#design-2').open")
    check("the keyboard opens a design", True)
    simulated(page, into)
    uploaded(page, base)
    page.open(f"{base}/design?lang=zh")
    # Few rows: this is about the page.
    page.evaluate("document.querySelector('textarea').value += '\\nrows 400\\n'")
    page.follow(lambda: page.evaluate("document.querySelector('form button').click()"))
    chinese = page.evaluate("document.body.innerText.includes('没有设计比当前设计好一成')")
    check("the designs for the example are judged in Chinese", chinese, page.evaluate("document.querySelector('main').innerText"))
    page.screenshot(into / "design-zh.png")


def simulated(page, into):
    """Simulates the designs on the page with the keyboard, and waits for the ranking."""
    page.evaluate("document.querySelector('form[action=\"/design/simulation\"] button').focus()")
    page.follow(lambda: page.key("Enter", "\r"))
    shown, steps = "", 0
    for _ in range(120):
        shown = page.evaluate("document.querySelector('main').innerText")
        if "are being" not in shown:
            break
        steps += page.evaluate("document.querySelectorAll('progress').length")
        page.follow(lambda: None)
    check("designs are simulated", "Best of those that were simulated" in shown or "Nothing beats" in shown, shown)
    print(f"   pages with progress: {steps}")
    numbers = page.evaluate("[...document.querySelectorAll('tbody')][0].innerText.match(/^\\d+\\*?/gm)")
    first = next((at for at, it in enumerate(numbers) if it.endswith("*")), len(numbers))
    ordered = first > 0 and all(it.endswith("*") for it in numbers[first:])
    check("estimates are below simulations", ordered, numbers)
    page.screenshot(into / "design-simulated.png")


def uploaded(page, base):
    """Reads a workload from a file."""
    page.open(f"{base}/design?lang=zh")
    with tempfile.NamedTemporaryFile("w", suffix=".design") as file:
        file.write("field n u64: sequence\nrows 300\nask n = ? : 5/s\n")
        file.flush()
        page.call("DOM.enable")
        root = page.call("DOM.getDocument")["root"]["nodeId"]
        node = page.call("DOM.querySelector", nodeId=root, selector="input[type=file]")["nodeId"]
        page.call("DOM.setFileInputFiles", nodeId=node, files=[file.name])
        page.follow(lambda: page.evaluate("document.querySelector('form[action=\"/design/file\"] button').click()"))
    text = page.evaluate("document.querySelector('textarea').value")
    check("a file is read into the form", text.startswith("field n u64: sequence"), text)
    found = page.evaluate("document.body.innerText.includes('估算中最好的')")
    check("designs for the file are shown in Chinese", found, page.evaluate("document.querySelector('main').innerText"))


def linked(page, base, table, into):
    """Goes from the picture of all tables to one, to a part of the map, and to the slow calls in it."""
    page.open(f"{base}/heat?lang=en")
    rows = page.evaluate("[...document.querySelectorAll('svg.heats a')].map(it => it.textContent)")
    check("all tables are in one picture", any(it.strip().endswith(table) for it in rows) and len(rows) > 1, rows)
    page.screenshot(into / "heat-all.png")
    page.evaluate(f"document.querySelector('svg.heats a[href*=\"/heat/{table}\"]').focus()")
    page.follow(lambda: page.key("Enter", "\r"))
    page.until("document.querySelector('#heat-calls').href.includes('from=')")
    page.until("performance.getEntriesByType('resource').some(it => it.name.includes('.json'))")
    page.until("document.querySelector('#heat-at').textContent == ''")
    page.evaluate("document.querySelector('#heat').focus()")
    page.key("ArrowDown")
    page.key("+", "+")
    page.until("location.hash.includes('from=')")
    link = page.evaluate("document.querySelector('#heat-calls').href")
    check("a part of the map leads to the calls in it", "start=" in link and f"table={table}" in link, link)
    shown = page.evaluate("location.hash")
    page.follow(lambda: page.evaluate("location.reload()"))
    page.until("document.querySelector('#heat-calls').href.includes('start=')")
    check("a part stays when the page is loaded again", page.evaluate("location.hash") == shown)
    page.follow(lambda: page.evaluate("document.querySelector('#heat-calls').click()"))
    check("slow calls of the part", "Only calls of this part" in page.evaluate("document.body.innerText"))


def run(page, base, table, into):
    pages(page, base, table, into)
    carets(page, base, table, into)
    labels(page, base, into)
    design(page, base, table, into)
    linked(page, base, table, into)
    page.open(f"{base}/heat/{table}?of=writes&hours=1&lang=en")
    page.until("document.querySelector('#heat').width > 300")
    box = page.evaluate("(({x, y, width, height}) => [x, y, width, height])(document.querySelector('#heat').getBoundingClientRect())")
    x, y, width, height = box
    at = "document.querySelector('#heat-at').textContent"
    page.until("performance.getEntriesByType('resource').some(it => it.name.includes('.json'))")
    # The load is in the last minute, which is a few points wide.
    for offset in range(65, 104, 2):
        page.mouse("mouseMoved", x + width - offset, y + height / 2)
        if "user=" in page.evaluate(at):
            break
    hovered = page.evaluate(at)
    check("hovering shows decoded keys", "user=" in hovered, hovered)
    page.screenshot(into / "heat.png")
    reads = "performance.getEntriesByType('resource').filter(it => it.name.includes('.json')).length"
    before = page.evaluate(reads)
    page.mouse("mousePressed", x + width * 0.6, y + height * 0.4, "left", 1)
    page.mouse("mouseMoved", x + width * 0.95, y + height * 0.8, "left", 1)
    page.mouse("mouseReleased", x + width * 0.95, y + height * 0.8, "left")
    page.until(f"{reads} > {before}")
    check("dragging zooms", True)
    page.screenshot(into / "heat-zoomed.png")
    page.evaluate("document.querySelector('#heat').focus()")
    before = page.evaluate(reads)
    page.key("0", "0")
    page.until(f"{reads} > {before}")
    before = page.evaluate(reads)
    page.key("ArrowDown")
    page.key("+", "+")
    page.until(f"{reads} > {before}")
    check("the keyboard zooms", True)
    verdict = page.evaluate("document.body.innerText.includes('of the load')")
    check("the judgement is shown", verdict)

    page.open(f"{base}/query?table={table}&q=user%20%3D%20%27bob%27&lang=en")
    rows = page.evaluate("document.querySelectorAll('tbody tr').length")
    check("the query has rows", rows > 0, rows)
    check("its plan is shown", page.evaluate("document.body.innerText.includes('ranges: 1')"))
    page.screenshot(into / "query-rows.png")
    # A refused query is answered with 400, which Chromium logs.
    errors = [it for it in page.errors if "status of 400" not in str(it)]
    check("no page had an error", errors == [], errors)


def with_page(act):
    """Starts Chromium, and calls `act` with a page of it."""
    # Chromium's processes write their files until they end.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        chromium = subprocess.Popen(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0",
             "--remote-debugging-address=127.0.0.1", "--window-size=1200,900", f"--user-data-dir={profile}", "about:blank"],
            stderr=subprocess.PIPE, text=True, start_new_session=True,
        )
        try:
            for line in chromium.stderr:
                found = re.search(r"DevTools listening on ws://([^/]+)/", line)
                if found:
                    break
            else:
                raise SystemExit("FAIL Chromium did not start")
            pages = json.load(urllib.request.urlopen(f"http://{found.group(1)}/json/list", timeout=30))
            target = next(page for page in pages if page["type"] == "page")
            act(Page(target["webSocketDebuggerUrl"]))
        finally:
            os.killpg(chromium.pid, signal.SIGKILL)
            chromium.wait()


def main():
    base, table, into = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    into.mkdir(parents=True, exist_ok=True)
    with_page(lambda page: run(page, base, table, into))


if __name__ == "__main__":
    main()
