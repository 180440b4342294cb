#!/usr/bin/env python3
"""The chat page and the metrics of strata serve in headless Chromium: somebody types, clicks, stops, and changes settings.

    strata/cli/chat_page_test.py build/bin
    strata/cli/chat_page_test.py build/bin --screenshots FOLDER --model FILE.gguf     renews docs/chat_page.png, docs/chat_metrics.png

The browser is spoken to by its own protocol over two pipes, so that nothing but it is needed; where no Chromium is, the test is skipped.
"""
import argparse
import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import published_models_test as tiny  # noqa: E402
import serve_test  # noqa: E402

check = tiny.check
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome-headless-shell")


class Page:
    """One page of a browser."""

    def __init__(self, program, folder):
        to_read, self.out = os.pipe()
        self.inn, to_write = os.pipe()
        command = [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars", "--remote-debugging-pipe",
                   f"--user-data-dir={folder}", "--window-size=900,760"]
        # The browser reads from file descriptor 3 and writes to 4; these go by way of higher ones, so that neither is lost.
        script = f'exec 8<&{to_read} 9>&{to_write}; exec "$@" 3<&8 4>&9 8<&- 9>&-'
        self.process = subprocess.Popen(["sh", "-c", script, "sh", *command], pass_fds=(to_read, to_write), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read), os.close(to_write)
        self.rest, self.last, self.session, self.events = b"", 0, None, []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.ask(f"{domain}.enable")

    def ask(self, method, **params):
        self.last += 1
        message = {"id": self.last, "method": method, "params": params, **({"sessionId": self.session} if self.session else {})}
        os.write(self.out, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + 60
        while True:
            while b"\0" in self.rest:
                line, self.rest = self.rest.split(b"\0", 1)
                got = json.loads(line)
                if got.get("id") == self.last:
                    if "error" in got:
                        raise RuntimeError(f"{method}: {got['error']}")
                    return got["result"]
                self.events.append(got)
            if not select.select([self.inn], [], [], max(0, until - time.monotonic()))[0]:
                raise RuntimeError(f"{method}: the browser does not answer")
            piece = os.read(self.inn, 1 << 16)
            if not piece:
                raise RuntimeError(f"{method}: the browser has left")
            self.rest += piece

    def open(self, url):
        self.ask("Page.navigate", url=url)
        self.soon("document.readyState === 'complete'")

    def value(self, script):
        got = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in got:
            raise RuntimeError(f"{script}: {got['exceptionDetails']}")
        return got["result"].get("value")

    def soon(self, script, seconds=30):
        """Whether something becomes so."""
        until = time.monotonic() + seconds
        while not (is_so := self.value(script)) and time.monotonic() < until:
            time.sleep(0.02)
        return is_so

    def click(self, selector):
        x, y = self.value(f"(() => {{ const r = document.querySelector({selector!r}).getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; }})()")
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def type(self, selector, text):
        """Clicks into a field, and types over what stands there."""
        self.click(selector)
        self.value("document.activeElement.select()")
        self.ask("Input.insertText", text=text)

    def press(self, key, code, **more):
        self.ask("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, windowsVirtualKeyCode=code, **more)
        self.ask("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=code)

    def enter(self, **more):
        self.press("Enter", 13, text="\r", **more)

    def picture(self, path, height):
        clip = {"x": 0, "y": 0, "width": 900, "height": height, "scale": 1}
        path.write_bytes(base64.b64decode(self.ask("Page.captureScreenshot", format="png", clip=clip)["data"]))

    def bodies(self):
        """What the page has sent to chat completions."""
        self.value("0")
        sent = [e["params"]["request"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]
        return [json.loads(r["postData"]) for r in sent if r["url"].endswith("/v1/chat/completions")]

    def complaints(self):
        return [e["params"] for e in self.events if e.get("method") in ("Runtime.exceptionThrown",) or
                (e.get("method") == "Log.entryAdded" and e["params"]["entry"]["level"] == "error")]

    def close(self):
        try:
            self.session = None
            self.ask("Browser.close")
        except (RuntimeError, OSError):
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.inn), os.close(self.out)


SAID = "[...document.querySelectorAll('.said')].map(n => [n.classList[1], n.innerText.trim()])"
IDLE = "document.querySelector('#send').textContent === 'Send'"


def conversation(page, server):
    page.open(f"http://127.0.0.1:{server.port}/")
    check("the model's name", page.soon("document.querySelector('#model').textContent === 'tiny'"), page.value("document.body.innerText"))
    check("the text is where one types", page.value("document.activeElement.id") == "text")
    page.click("summary")
    for field, text in (("#temperature", "0.5"), ("#top_p", "0.9"), ("#max_tokens", "6"), ("#seed", "7"), ("#system", "w9")):
        page.type(field, text)
    page.type("#text", "w1 w2")
    page.enter()
    check("it is answered", page.soon(f"{IDLE} && document.querySelectorAll('.said').length === 2 && document.querySelector('#rate').textContent !== ''"), page.value(SAID))
    messages = [{"role": "system", "content": "w9"}, {"role": "user", "content": "w1 w2"}]
    sent = page.bodies()[-1]
    check("settings are sent", {k: sent[k] for k in ("temperature", "top_p", "max_completion_tokens", "seed", "messages", "stream")} ==
          {"temperature": 0.5, "top_p": 0.9, "max_completion_tokens": 6, "seed": 7, "messages": messages, "stream": True}, sent)
    told = server.ask("/v1/chat/completions", {**sent, "stream": False, "stream_options": None})[1]["choices"][0]["message"]["content"]
    check("what stands there is the answer", page.value(SAID) == [["user", "w1 w2"], ["assistant", told.strip()]], page.value(SAID), told)
    check("tokens per second", page.value("/^[0-9.]+ tokens\\/s$/.test(document.querySelector('#rate').textContent)"), page.value("document.querySelector('#rate').textContent"))
    page.type("#text", "w3")
    page.enter(modifiers=8)  # with Shift: a new line
    page.ask("Input.insertText", text="<b>w4</b> **w5**")
    check("Shift and Enter begin a line", page.value("document.querySelector('#text').value").startswith("w3\n"), page.value("document.querySelector('#text').value"))
    page.click("#send")
    check("a second turn, by a click", page.soon(f"{IDLE} && document.querySelectorAll('.said').length === 4"), page.value(SAID))
    check("with all that was said", [m["role"] for m in page.bodies()[-1]["messages"]] == ["system", "user", "assistant", "user"], page.bodies()[-1])
    check("what is said is no markup, but for emphasis", page.value("document.querySelectorAll('.user b').length === 0 && document.querySelector('.user strong').textContent === 'w5'"))


def stop(page, server):
    page.click("#fresh")
    check("a new conversation", page.value("document.querySelectorAll('.said').length") == 0)
    page.type("#max_tokens", "60000")
    page.type("#seed", "")
    page.value("window.ids = fetch; window.fetch = (u, o) => ids(u, o && o.body ? {...o, body: JSON.stringify({...JSON.parse(o.body), ignore_eos: true})} : o)")
    # The tiny model draws faster than the browser tells what it shows: it clicks by itself as soon as some of the answer stands there.
    page.value("window.clicks = setInterval(() => { if (document.querySelector('#send').textContent === 'Stop' && document.querySelector('.assistant').innerText.length > 5) "
               "{ clearInterval(clicks); document.querySelector('#send').click(); } }, 5); 0")
    page.type("#text", "w1")
    page.click("#send")
    check("an answer begins", page.soon("document.querySelectorAll('.said').length === 2"), page.value(SAID))
    check("it is stopped", page.soon(f"{IDLE} && document.querySelector('.assistant').innerText.length > 5"), page.value(SAID)[-1][-1][-50:])
    until = time.time() + 10
    while time.time() < until and server.metric("kv_cache_usage_perc"):
        time.sleep(0.02)
    check("and its pages are free", server.metric("kv_cache_usage_perc") == 0 and 'finished_reason="abort"' in server.ask("/metrics")[1])
    length = len(page.value("document.querySelector('.assistant').innerText"))
    time.sleep(0.2)
    check("what was said stays", length > 5 and length == len(page.value("document.querySelector('.assistant').innerText")))
    page.value("window.fetch = ids")


def errors(page, server):
    page.click("#fresh")
    page.type("#max_tokens", "100000")
    page.type("#text", "w1")
    page.enter()
    check("an error is told", page.soon("document.querySelector('.error') !== null") and "maximum context length" in page.value("document.querySelector('.error').innerText"), page.value(SAID))
    page.type("#max_tokens", "4")
    page.type("#text", "w2")
    page.enter()
    check("and what failed is no part of the conversation", page.soon(f"{IDLE} && document.querySelectorAll('.said').length === 4") and
          [m["content"] for m in page.bodies()[-1]["messages"] if m["role"] == "user"] == ["w2"], page.bodies()[-1])


def metrics(page, server):
    page.open(f"http://127.0.0.1:{server.port}/metrics")
    text = page.value("document.body.innerText")
    check("metrics are text", "vllm:num_requests_running" in text and 'vllm:time_to_first_token_seconds_bucket{engine="0",model_name="tiny",le="0.001"}' in text, text[:300])


def key(page, model):
    server = serve_test.Server(model, "--api-key", "secret", key="secret")
    try:
        page.open(f"http://127.0.0.1:{server.port}/")
        page.click("summary")
        page.type("#max_tokens", "4")
        page.type("#text", "w1")
        page.enter()
        check("without the key", page.soon("document.querySelector('.error') !== null") and "Unauthorized" in page.value("document.querySelector('.error').innerText"), page.value(SAID))
        page.type("#key", "secret")
        page.type("#text", "w1")
        page.enter()
        check("with the key", page.soon(f"{IDLE} && document.querySelectorAll('.assistant:not(.error)').length === 1"), page.value(SAID))
        check("the key stands nowhere to be read", "secret" not in page.value("document.body.innerText"))
    finally:
        server.process.kill()
        server.process.wait()


def screenshots(program, folder, model):
    server = serve_test.Server(model, name="SmolLM2-135M-Instruct")
    with tempfile.TemporaryDirectory() as profile:
        page = Page(program, profile)
        try:
            page.open(f"http://127.0.0.1:{server.port}/")
            page.click("summary")
            for field, text in (("#temperature", "0"), ("#max_tokens", "120")):
                page.type(field, text)
            page.type("#text", "Write a short function in Python that adds two numbers.")
            page.enter()
            page.soon(f"{IDLE} && document.querySelectorAll('.said').length === 2", 120)
            page.value("document.querySelector('#talk').scrollTop = 0")
            page.picture(folder / "chat_page.png", 760)
            page.open(f"http://127.0.0.1:{server.port}/metrics")
            page.picture(folder / "chat_metrics.png", 420)
        finally:
            page.close()
            server.leave()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs")
    parser.add_argument("--screenshots", type=pathlib.Path)
    parser.add_argument("--model")
    options = parser.parse_args()
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        print("no Chromium is here: apt-get install chromium-headless-shell")
        return 77
    if options.screenshots:
        return screenshots(program, options.screenshots, options.model)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "model").mkdir()
        tiny.make(folder / "model")
        serve_test.widen(folder / "model", 65536)
        server = serve_test.Server(folder / "model", "--max-model-len", "65536")
        page = Page(program, folder / "profile")
        try:
            conversation(page, server)
            stop(page, server)
            errors(page, server)
            check("the page complains of nothing", not [c for c in page.complaints() if "400" not in json.dumps(c) and "favicon" not in json.dumps(c)], page.complaints())
            metrics(page, server)
            key(page, folder / "model")
        finally:
            page.close()
            server.process.kill()
            server.process.wait()
    print(f"{tiny.passed} passed, {tiny.failed} failed")
    return 1 if tiny.failed else 0


if __name__ == "__main__":
    os.chdir(tiny.ROOT)
    sys.exit(main())
