#!/usr/bin/env python3
"""Clients of others with `strata serve` and SmolLM2: LiteLLM, OpenAI's package of npm, and lm_eval's local-completions.

    tools/proofs/serve_clients.py [--build FOLDER] [--only litellm,npm,lm_eval]

LiteLLM and the package of npm (where node and npm are; else a line says so) ask what curl asks and must be told the same. lm_eval runs the
three tasks of tools/proofs/lm_eval_tasks through the server (choices by echoed log-probabilities) and through python/strata_lm_eval, which asks
the same program without a server: each answer compared.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import urllib.request

import peers

ONLY = next((sys.argv[i + 1] for i, a in enumerate(sys.argv[:-1]) if a == "--only"), "litellm,npm,lm_eval").split(",")
os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1", TOKENIZERS_PARALLELISM="false", LITELLM_LOCAL_MODEL_COST_MAP="True", OPENAI_API_KEY="secret")
NEEDS = {"litellm": ["litellm"], "npm": [], "lm_eval": ["torch", "transformers", "lm_eval", "tenacity"]}
modules = sum((NEEDS[part] for part in ONLY), [])
peers.need(modules, [*modules, *(["accelerate", "lm_eval[api]"] if "lm_eval" in ONLY else [])])

NPM = "openai@6.49.0"
MESSAGES = [{"role": "user", "content": "Name three colours."}]
ASKED = {"max_tokens": 24, "temperature": 0.7, "seed": 5}
SCRIPT = """
import OpenAI from "openai";
const [url, asked] = [process.argv[2], JSON.parse(process.argv[3])];
const client = new OpenAI({apiKey: "secret", baseURL: url, maxRetries: 0});
const whole = await client.chat.completions.create({model: "smol", ...asked, logprobs: true, top_logprobs: 2});
let text = "", pieces = 0, usage = null;
for await (const chunk of await client.chat.completions.create({model: "smol", ...asked, stream: true, stream_options: {include_usage: true}})) {
  text += chunk.choices[0]?.delta?.content ?? "";
  ++pieces;
  usage = chunk.usage ?? usage;
}
const errors = [];
for (const wrong of [{temperature: 3}, {model: "other"}, {messages: []}])
  try { await client.chat.completions.create({model: "smol", ...asked, ...wrong}); errors.push("none"); } catch (e) { errors.push([e.constructor.name, e.status, e.param ?? null]); }
const stranger = new OpenAI({apiKey: "wrong", baseURL: url, maxRetries: 0});
try { await stranger.models.list(); errors.push("none"); } catch (e) { errors.push([e.constructor.name, e.status, null]); }
const stopped = new AbortController();
let left = false;
try {
  const stream = await client.chat.completions.create({model: "smol", ...asked, max_tokens: 900, stream: true}, {signal: stopped.signal});
  for await (const chunk of stream) stopped.abort();
} catch (e) { left = true; }
const choices = await client.completions.create({model: "smol", prompt: "The sky is", n: 3, max_tokens: 5, logprobs: 1, seed: 1, temperature: 1});
console.log(JSON.stringify({whole: whole.choices[0].message.content, tokens: whole.choices[0].logprobs.content.length, used: whole.usage.completion_tokens, text, pieces, usage, errors,
                            choices: choices.choices.map(c => [c.index, c.text, c.logprobs.token_logprobs.length]), models: (await client.models.list()).data.map(m => m.id)}));
"""
failures = []


def check(name, holds, *more):
    print("ok" if holds else "FAILED", name, *(() if holds else more), flush=True)
    if not holds:
        failures.append(name)


class Server:
    def __init__(self, build, model, *options):
        command = [str(build / "bin" / "strata"), "serve", "--model", str(model), "--port", "0", "--served-model-name", "smol", "--api-key", "secret", *options]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            if line.startswith("listening on "):
                self.url = line.split()[-1]
                return
        raise SystemExit("strata serve did not start")

    def chat(self, **asked):
        request = urllib.request.Request(f"{self.url}/v1/chat/completions", json.dumps({"messages": MESSAGES, **asked}).encode(), {"Authorization": "Bearer secret"})
        return json.loads(urllib.request.urlopen(request).read())["choices"][0]["message"]["content"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(60)


def by_litellm(server):
    import litellm
    to = {"model": "openai/smol", "api_base": server.url + "/v1", "api_key": "secret", "max_retries": 0}
    want = server.chat(**ASKED)
    whole = litellm.completion(**to, messages=MESSAGES, **ASKED, logprobs=True, top_logprobs=2)
    check("litellm: a chat", whole.choices[0].message.content == want and whole.usage.completion_tokens == len(whole.choices[0].logprobs.content), whole, want)
    chunks = list(litellm.completion(**to, messages=MESSAGES, **ASKED, stream=True))
    check("litellm: its stream", "".join(c.choices[0].delta.content or "" for c in chunks) == want, chunks)
    text = litellm.text_completion(model="text-completion-openai/smol", api_base=server.url + "/v1", api_key="secret", prompt="The sky is", max_tokens=6, temperature=0, logprobs=2)
    check("litellm: a completion", text.choices[0].text and len(text.choices[0].logprobs.token_logprobs) == 6, text)
    for wrong, kind in (({"temperature": 3}, litellm.BadRequestError), ({"model": "openai/other"}, litellm.NotFoundError), ({"api_key": "wrong"}, litellm.AuthenticationError),
                        ({"timeout": 0.001}, litellm.Timeout)):
        try:
            litellm.completion(**{**to, "messages": MESSAGES, **ASKED, **wrong})
            check(f"litellm: {kind.__name__}", False, "no error")
        except Exception as e:  # noqa: BLE001
            check(f"litellm: {kind.__name__}", isinstance(e, kind), repr(e))


def by_npm(server, folder):
    if shutil.which("npm") is None or shutil.which("node") is None:
        print("node and npm are not here: OpenAI's package of npm did not ask")
        return
    subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", NPM], cwd=folder, check=True)
    (folder / "ask.mjs").write_text(SCRIPT)
    done = subprocess.run(["node", "ask.mjs", server.url + "/v1", json.dumps({"messages": MESSAGES, **ASKED})], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        return check("npm's openai", False, done.stderr)
    got, want = json.loads(done.stdout), server.chat(**ASKED)
    check("npm's openai: a chat", got["whole"] == want and got["tokens"] == got["used"], got, want)
    check("npm's openai: its stream", got["text"] == want and got["pieces"] > 3 and got["usage"]["completion_tokens"] == got["used"], got)
    check("npm's openai: errors", got["errors"] == [["BadRequestError", 400, "temperature"], ["NotFoundError", 404, "model"], ["BadRequestError", 400, "messages"], ["AuthenticationError", 401, None]], got["errors"])
    check("npm's openai: choices", [c[0] for c in got["choices"]] == [0, 1, 2] and len({c[1] for c in got["choices"]}) > 1 and got["models"] == ["smol"], got)


def by_lm_eval(server, build, model):
    import lm_eval
    import lm_eval_tasks as same
    length = same.LENGTH
    program = build.resolve() / "bin" / "strata"
    # local-completions reads long texts in windows of max_length - 2 tokens, lm_eval's other models in those of max_length.
    through = same.evaluate("local-completions", f"model=smol,base_url={server.url}/v1/completions,tokenizer_backend=huggingface,tokenizer={model},max_length={length + 2},num_concurrent=8,tokenized_requests=True")
    alone = same.evaluate("strata", f"model={model},program={program},max_length={length}")
    for task, kind in same.TASKS.items():
        a, b = same.answers(through, task), same.answers(alone, task)
        if kind == "generate_until":
            equal = sum(x == y for x, y in zip(a, b))
        else:
            equal = sum(all(abs(p - q) <= 1e-4 * max(1, abs(q)) and g == h for (p, g), (q, h) in zip(same.numbers(x), same.numbers(y), strict=True)) for x, y in zip(a, b))
        check(f"lm_eval {lm_eval.__version__}: {task}, {equal} of {len(a)} answers the same", equal == len(a) == len(b) > 0, a[:2], b[:2])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=peers.ROOT / "build")
    parser.add_argument("--only", help="some of litellm,npm,lm_eval")
    options = parser.parse_args()
    gguf = peers.smollm2()
    os.chdir(peers.ROOT)
    with tempfile.TemporaryDirectory() as made:
        made = pathlib.Path(made)
        with Server(options.build, gguf, "--max-model-len", "1024") as server:
            if "litellm" in ONLY:
                by_litellm(server)
            if "npm" in ONLY:
                by_npm(server, made)
        if "lm_eval" not in ONLY:
            return finish()
        model = made / "smollm2"
        peers.strata(options.build, "convert", gguf, model, "--type", "F32")
        with Server(options.build, model, "--max-model-len", "1024") as server:
            by_lm_eval(server, options.build, model)
    return finish()


def finish():
    print(f"{len(failures)} failed" if failures else "all clients are answered")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
