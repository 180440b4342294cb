#!/usr/bin/env python3
"""strata serve with a tiny random model: completions, chats, streams, keys, errors, disconnects, and how it leaves.

    strata/cli/serve_test.py build/bin
"""
import concurrent.futures
import http.client
import json
import math
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import published_models_test as tiny

STRATA, check = tiny.STRATA, tiny.check


class Server:
    def __init__(self, model, *options, key=None, name="tiny"):
        self.headers = {"Authorization": f"Bearer {key}"} if key else {}
        self.process = subprocess.Popen([STRATA, "serve", "--model", str(model), "--port", "0", "--served-model-name", name, *options],
                                        stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            if line.startswith("listening on "):
                self.port = int(line.rsplit(":", 1)[1])
                return
        raise SystemExit("strata serve did not start")

    def ask(self, path, body=None, headers=None, method=None):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        c.request(method or ("GET" if body is None else "POST"), path, data, headers or self.headers)
        answer = c.getresponse()
        self.answer = answer  # with its headers, for who asks alone
        text = answer.read().decode()
        return answer.status, json.loads(text) if "json" in answer.headers.get("content-type", "") else text

    def raw(self, data):
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as s:
            s.sendall(data)
            return s.recv(4096).decode()

    def metric(self, name):
        return float(next(line for line in self.ask("/metrics")[1].splitlines() if line.startswith(f"vllm:{name}{{")).split()[-1])

    def leave(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        return self.process.wait(60)


def events(text):
    lines = [line[6:] for line in text.split("\n") if line.startswith("data: ")]
    check("a stream's end", lines[-1] == "[DONE]", lines[-2:])
    return [json.loads(line) for line in lines[:-1]]


def answers(server, model):
    body = {"model": "tiny", "prompt": "w1 w2", "max_tokens": 9, "seed": 4, "temperature": 0.9, "top_k": 50, "logprobs": 2, "return_token_ids": True}
    status, whole = server.ask("/v1/completions", body)
    check("a completion", status == 200 and whole["usage"]["prompt_tokens"] == 2, status, whole)
    choice = whole["choices"][0]
    same = json.loads(tiny.run("generate", "--model", model, "--prompt", "w1 w2", "--max_tokens", 9, "--seed", 4, "--json").stdout.splitlines()[-1])
    check("tokens of strata generate", choice["token_ids"] == same["tokens"] and choice["text"] == same["text"], choice, same)
    check("log-probabilities", len(choice["logprobs"]["token_logprobs"]) == len(same["tokens"]) and len(choice["logprobs"]["top_logprobs"][0]) in (2, 3), choice)
    pieces = events(server.ask("/v1/completions", {**body, "stream": True, "stream_options": {"include_usage": True}})[1])
    check("a stream is the whole", "".join(p["choices"][0]["text"] for p in pieces if p["choices"]) == choice["text"], pieces)
    check("usage of a stream", pieces[-1]["usage"] == whole["usage"], pieces[-1])
    replay = {"prompt_token_ids": choice["prompt_token_ids"], "token_ids": choice["token_ids"], "logprobs": list(choice["logprobs"]["token_logprobs"])}
    check("verify", server.ask("/v1/verify", replay)[1]["equal"] is True, server.ask("/v1/verify", replay))
    replay["logprobs"][1] += 1e-3
    check("verify finds a difference", server.ask("/v1/verify", replay)[1]["first_difference"]["position"] == 1)
    echoed = server.ask("/v1/completions", {**body, "echo": True})[1]["choices"][0]
    check("echo", echoed["text"].startswith("w1 w2") and echoed["logprobs"]["token_logprobs"][0] is None and echoed["logprobs"]["token_logprobs"][2:] == choice["logprobs"]["token_logprobs"], echoed)
    words = choice["text"].split()
    stopped = server.ask("/v1/completions", {**body, "stop": [words[3]]})[1]["choices"][0]
    check("a stop string", stopped["text"] == choice["text"].split(words[3])[0] and stopped["stop_reason"] == words[3], stopped)
    biased = server.ask("/v1/completions", {"prompt": "w1", "temperature": 0, "max_tokens": 3, "logit_bias": {"9": 100}})[1]["choices"][0]
    check("a bias", biased["text"].split() == ["w3"] * 3, biased)
    check("allowed tokens", set(server.ask("/v1/completions", {"prompt": "w1", "max_tokens": 8, "allowed_token_ids": [10, 11]})[1]["choices"][0]["text"].split()) <= {"w4", "w5"})
    many = server.ask("/v1/completions", {"prompt": ["w1", [7, 8]], "n": 2, "max_tokens": 2, "seed": 1, "ignore_eos": True})[1]
    check("choices of all prompts", [c["index"] for c in many["choices"]] == [0, 1, 2, 3] and many["usage"]["completion_tokens"] == 8, many)
    chat = {"messages": [{"role": "user", "content": [{"type": "text", "text": "w1"}]}], "max_completion_tokens": 5, "seed": 3, "logprobs": True, "top_logprobs": 1}
    status, whole = server.ask("/v1/chat/completions", chat)
    check("a chat", status == 200 and whole["choices"][0]["message"]["role"] == "assistant" and len(whole["choices"][0]["logprobs"]["content"]) == whole["usage"]["completion_tokens"], whole)
    pieces = events(server.ask("/v1/chat/completions", {**chat, "stream": True})[1])
    check("a chat's stream", pieces[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""} and
          "".join(p["choices"][0]["delta"].get("content", "") for p in pieces) == whole["choices"][0]["message"]["content"], pieces)
    check("tokens", server.ask("/tokenize", {"prompt": "w0 w41"})[1]["tokens"] == [6, 47] and server.ask("/detokenize", {"tokens": [6, 47]})[1]["prompt"] == "w0 w41")
    check("the page", "<title>Strata" in server.ask("/")[1] and server.ask("/v1/models")[1]["data"][0]["id"] == "tiny" and server.ask("/health")[0] == 200)


def widen(folder, length=4096):
    """Room for a text that goes on while its reader leaves."""
    file = pathlib.Path(folder) / "config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "max_position_embeddings": length}))


def forms(server):
    """Answers of a form, with a model that knows words w0 .. w41 alone, each with a space behind it."""
    def ask(**more):
        status, answer = server.ask("/v1/completions", {"prompt": "w1", "max_tokens": 40, "temperature": 0.9, **more})
        check(f"a form {more}", status == 200, answer)
        return answer["choices"]
    for seed in range(4):
        text = ask(seed=seed, guided_regex="(w[12] ){2,5}")[0]
        words = text["text"].split()
        check("an expression", text["finish_reason"] == "stop" and 2 <= len(words) <= 5 and set(words) <= {"w1", "w2"}, text)
    check("a choice", all(c["text"].strip() in ("w3", "w4 w5") for c in ask(seed=1, n=8, structured_outputs={"choice": ["w3 ", "w4 w5 "]})))
    grammar = 'root ::= "w7 " ("w8 " | "w9 " root)'
    chosen = ask(seed=2, guided_grammar=grammar)[0]["text"].split()
    check("a grammar", chosen[0] == "w7" and chosen[-1] in ("w8", "w7", "w9"), chosen)
    check("what the model cannot write", server.ask("/v1/completions", {"prompt": "w1", "response_format": {"type": "json_object"}})[1]["error"]["message"] == "no token may be token 0 of the output")
    tag = {"format": {"type": "sequence", "elements": [{"type": "const_string", "value": "w1 "}, {"type": "token", "token": "<|im_start|>"}, {"type": "const_string", "value": "w2 "}]}}
    marked = ask(seed=1, structured_outputs={"structural_tag": tag}, return_token_ids=True)[0]
    check("a special token of a structural tag", marked["token_ids"][:3] == [7, 1, 8] and marked["text"].split() == ["w1", "w2"], marked)
    tag["format"]["elements"][1]["token"] = 7
    refused = server.ask("/v1/completions", {"prompt": "w1", "structured_outputs": {"structural_tag": tag}})[1]["error"]
    check("a token that is not special", "7 is no special token" in refused["message"], refused)
    barred = ask(seed=3, bad_words=["w1", "w2"], allowed_token_ids=[7, 8, 9], max_tokens=12, ignore_eos=True)[0]["text"].split()
    check("bad words", set(barred) == {"w3"}, barred)
    check("tokens at least", len(ask(seed=3, min_tokens=30, max_tokens=30, return_token_ids=True)[0]["token_ids"]) == 30)
    repeated = ask(temperature=0, logit_bias={"9": 100}, repetition_detection={"max_pattern_size": 1, "min_count": 4})[0]
    check("a repetition", repeated["finish_reason"] == "repetition" and repeated["text"].split() == ["w3"] * 4, repeated)


def several(server):
    """Beams, the best of some, log-probabilities of prompts, prompts that are cut."""
    def ask(path="/v1/completions", status=200, **more):
        got, answer = server.ask(path, {"prompt": "w1 w2 w3", "max_tokens": 5, "temperature": 0.9, **more})
        check(f"several {more}", got == status, answer)
        return answer
    beams = ask(use_beam_search=True, n=3, temperature=0, ignore_eos=True, logprobs=0, return_token_ids=True)["choices"]
    sums = [sum(c["logprobs"]["token_logprobs"]) for c in beams]
    check("beams, the best first", [c["index"] for c in beams] == [0, 1, 2] and sums == sorted(sums, reverse=True) and len({c["text"] for c in beams}) == 3 and
          all(len(c["token_ids"]) == 5 and c["finish_reason"] == "length" for c in beams), beams)
    scored = ask(prompt=beams[0]["prompt_token_ids"] + beams[0]["token_ids"], max_tokens=1, prompt_logprobs=0)["choices"][0]["prompt_logprobs"]
    read = [scored[i][str(t)]["logprob"] for i, t in enumerate(beams[0]["token_ids"], 3)]
    check("a beam's log-probabilities are the model's", all(abs(a - b) < 1e-5 for a, b in zip(read, beams[0]["logprobs"]["token_logprobs"])), read, beams[0])
    greedy = ask(temperature=0, ignore_eos=True, logprobs=0)["choices"][0]
    check("one beam is greedy, many are no worse", ask(use_beam_search=True, temperature=0, ignore_eos=True)["choices"][0]["text"] == greedy["text"] and
          sums[0] >= sum(greedy["logprobs"]["token_logprobs"]) - 1e-5, greedy, sums)
    chat = {"prompt": None, "messages": [{"role": "user", "content": "w1"}]}
    found = ask("/v1/chat/completions", **chat, use_beam_search=True, n=2, length_penalty=0.5, early_stopping=True)
    check("beams of a chat", [c["message"]["role"] for c in found["choices"]] == ["assistant"] * 2 and found["usage"]["completion_tokens"] > 0, found)
    many = ask(prompt=["w1", "w2"], use_beam_search=True, n=2)["choices"]
    check("beams of several prompts", len(many) == 4 and [c["index"] for c in many] == [0, 1, 2, 3], many)
    all_of = ask(n=6, seed=3, logprobs=0, ignore_eos=True)["choices"]
    best = ask(n=2, best_of=6, seed=3, logprobs=0, ignore_eos=True)
    check("the best of some", all(len(c["logprobs"]["token_logprobs"]) == 5 for c in all_of) and len(best["choices"]) == 2 and best["usage"]["completion_tokens"] == 30 and
          {c["text"] for c in best["choices"]} <= {c["text"] for c in all_of}, best, all_of)
    asked = ask(prompt_logprobs=2, prompt="w1 w2 w3 w4")["choices"][0]["prompt_logprobs"]
    ids = server.ask("/tokenize", {"prompt": "w1 w2 w3 w4"})[1]["tokens"]
    check("log-probabilities of a prompt", asked[0] is None and len(asked) == len(ids) and all(str(t) in one and 2 <= len(one) <= 3 for t, one in zip(ids[1:], asked[1:])) and
          all(sorted(v["rank"] for v in one.values())[:2] == [1, 2] and all(v["logprob"] <= 0 and "decoded_token" in v for v in one.values()) for one in asked[1:]), asked)
    echoed = ask(prompt="w1 w2 w3 w4", echo=True, logprobs=0)["choices"][0]["logprobs"]["token_logprobs"]
    check("are those of an echo", [one[str(t)]["logprob"] for t, one in zip(ids[1:], asked[1:])] == echoed[1:4], asked, echoed)
    check("and of a chat", ask("/v1/chat/completions", **chat, prompt_logprobs=1)["prompt_logprobs"][0] is None)
    stopped = ask(prompt_logprobs=0, stop=[" "], temperature=0)["choices"][0]
    check("beside a stop string", stopped["finish_reason"] == "stop" and len(stopped["prompt_logprobs"]) == 3, stopped)
    cut = ask(prompt="w9 w9 w9 w1 w2 w3", truncate_prompt_tokens=3, seed=2)
    check("a prompt that is cut", cut["usage"]["prompt_tokens"] == 3 and cut["choices"][0]["text"] == ask(seed=2)["choices"][0]["text"], cut)
    check("as far as fits", ask(prompt=[7] * 4090, max_tokens=20, truncate_prompt_tokens=-1)["usage"]["prompt_tokens"] == 4076)
    for more, says in (({"best_of": 1, "n": 2}, "best_of must be greater"), ({"best_of": 2, "stream": True}, "best_of must be equal"), ({"best_of": 65}, "[1, 64]"),
                       ({"temperature": 0, "best_of": 2}, "best_of must be 1 when using greedy"), ({"use_beam_search": 1}, "true or false"),
                       ({"use_beam_search": True, "stream": True}, "stream cannot be used"), ({"use_beam_search": True, "stop": "a"}, "stop cannot be used"),
                       ({"use_beam_search": True, "logprobs": 2}, "logprobs must be 0"), ({"use_beam_search": True, "guided_regex": "a"}, "guided_regex cannot be used"),
                       ({"use_beam_search": True, "early_stopping": 3}, "early_stopping must be"), ({"use_beam_search": True, "length_penalty": 1e9}, "length_penalty must be"),
                       ({"prompt_logprobs": 21}, "[0, 20]"), ({"prompt_logprobs": 1, "stream": True}, "are not available"), ({"truncate_prompt_tokens": 0}, "-1, or at least 1"),
                       ({"truncate_prompt_tokens": 5000}, "[1, 4096]"), ({"thinking_token_budget": -2}, "[-1, "), ({"thinking_token_budget": 3}, "marks of thinking")):
        check(f"error of {more}", says in ask(status=400, **more)["error"]["message"], more)


def samplers(server):
    """llama.cpp's samplers, and the other fields of serving's table that act on an answer."""
    def ask(status=200, path="/v1/completions", **more):
        got, answer = server.ask(path, {"prompt": "w1 w2 w3 w1 w2", "max_tokens": 16, "seed": 6, "temperature": 1.5, "ignore_eos": True, "return_token_ids": True, **more})
        check(f"a sampler {more}", got == status, answer)
        return answer["choices"][0] if got == 200 else answer["error"]
    plain, greedy = ask()["token_ids"], ask(temperature=0)["token_ids"]
    for more in ({"top_n_sigma": 0.5}, {"typical_p": 0.1}, {"xtc_probability": 1, "xtc_threshold": 0.01}, {"mirostat": 1, "mirostat_tau": 0.5}, {"mirostat": 2, "mirostat_tau": 0.5, "mirostat_eta": 0.5}, {"dynatemp_range": 1.4, "dynatemp_exponent": 3}, {"top_k": 3, "samplers": ["top_k"]}):
        tokens = ask(**more)["token_ids"]
        check(f"{more} acts, the same each time", tokens != plain and tokens == ask(**more)["token_ids"], tokens, plain)
    check("neutral ones do not", ask(typical_p=1, top_n_sigma=-1, xtc_probability=0, dry_multiplier=0, mirostat=0, dynatemp_range=0)["token_ids"] == plain)
    check("no sampler but the temperature is none", ask(samplers=["temperature"])["token_ids"] == plain)
    check("a greedy chain", ask(temperature=0, samplers=["temperature"])["token_ids"] == greedy)
    same = ask(temperature=0, logit_bias={"9": 100})["token_ids"]
    less = ask(temperature=0, logit_bias={"9": 100}, dry_multiplier=1000, dry_allowed_length=1, dry_sequence_breakers=["w9"])["token_ids"]
    check("DRY ends repetitions", set(same) == {9} and all(less[i:i + 3] != [9] * 3 for i in range(14)), same, less)
    check("but over no breaker", ask(temperature=0, logit_bias={"9": 100}, dry_multiplier=1000, dry_allowed_length=1, dry_sequence_breakers=["w3"])["token_ids"] == same)
    for more, says in (({"typical_p": 0}, "typical_p must be in (0, 1]"), ({"mirostat": 3}, "mirostat must be an integer in [0, 2]"), ({"samplers": ["infill"]}, "samplers must be a list of"),
                       ({"dry_sequence_breakers": [""]}, "dry_sequence_breakers must be"), ({"mirostat": 1, "use_beam_search": True}, "mirostat cannot be used")):
        check(f"error of {more}", says in ask(400, **more)["message"], more)
    named = ask(logprob_token_ids=[9, 8], logprobs=2)["logprobs"]
    check("tokens that are asked for", all({"w3", "w2"} <= {t.strip() for t in top} and len(top) <= 3 for top in named["top_logprobs"]), named)
    chat = ask(path="/v1/chat/completions", prompt=None, messages=[{"role": "user", "content": "w1"}], logprobs=True, logprob_token_ids=[7])["logprobs"]["content"]
    check("and in a chat", all([t["token"].strip() for t in one["top_logprobs"]] == ["w1"] for one in chat), chat)
    check("their number", "must be the number of" in ask(400, logprob_token_ids=[9, 8], logprobs=1)["message"])
    bare = ask(detokenize=False)
    check("no text", bare["text"] == "" and bare["token_ids"] == plain, bare)
    check("a stop string needs text", "needs text" in ask(400, detokenize=False, stop="a")["message"])
    pieces = events(server.ask("/v1/completions", {"prompt": "w1 w2 w3 w1 w2", "max_tokens": 16, "seed": 6, "temperature": 1.5, "ignore_eos": True, "return_token_ids": True, "stream": True,
                                                   "stream_interval": 5})[1])
    check("pieces of a stream", [len(p["choices"][0]["token_ids"]) for p in pieces if "token_ids" in p["choices"][0]] == [1, 5, 5, 5], pieces)
    server.ask("/v1/completions", {"prompt": "w1", "max_tokens": 1, "temprature": 0, "min_p": 0})
    check("what nobody knows is named", server.answer.headers["x-ignored-fields"] == "temprature", server.answer.headers)


def modes(model):
    """What is told of tokens, by --logprobs-mode; and speculation beside chains."""
    body = {"prompt": "w1 w2 w3 w1 w2 w3 w1 w2", "max_tokens": 8, "seed": 6, "temperature": 0.5, "top_k": 2, "ignore_eos": True, "return_token_ids": True, "logprobs": 3}
    told = {}
    for mode in ("raw_logprobs", "raw_logits", "processed_logprobs", "processed_logits"):
        server = Server(model, "--logprobs-mode", mode, *(["--strict-fields"] if mode == "raw_logits" else []))
        told[mode] = server.ask("/v1/completions", body)[1]["choices"][0]
        if mode == "raw_logits":
            check("strict fields", server.ask("/v1/completions", {**body, "temprature": 1})[1]["error"]["param"] == "temprature")
            check("only log-probabilities are verified", server.ask("/v1/verify", {})[0] == 400)
        check("it leaves", server.leave() == 0)
    first = {mode: sorted(c["logprobs"]["top_logprobs"][0].values(), reverse=True) for mode, c in told.items()}
    logits, processed = first["raw_logits"], first["processed_logits"]
    check("modes draw the same", len({tuple(c["token_ids"]) for c in told.values()}) == 1, told)
    check("logits and their log-probabilities", abs((logits[0] - logits[1]) - (first["raw_logprobs"][0] - first["raw_logprobs"][1])) < 1e-4, first)
    check("as they are drawn", abs(processed[0] - 2 * logits[0]) < 1e-4 and first["processed_logprobs"][2] == -9999 and
          abs(sum(math.exp(x) for x in first["processed_logprobs"][:2]) - 1) < 1e-4, first)
    chains = [{"mirostat": 2}, {"dry_multiplier": 0.8, "dry_sequence_breakers": ["w9"]}, {"xtc_probability": 0.5, "xtc_threshold": 0.05}, {"typical_p": 0.6}]
    of = []
    for speculation in ([], ["--speculate", "ngram"]):
        server = Server(model, *speculation)
        of.append([server.ask("/v1/completions", {**body, "max_tokens": 40, "top_k": 0, **chain})[1]["choices"][0] for chain in chains])
        check("it leaves", server.leave() == 0)
    check("chains with guesses and without", of[0] == of[1], of)


def beside_others(server):
    def body(i):
        return {"prompt": f"w{i} w{i * 7 % 40}", "max_tokens": 12 + i % 5, "seed": i, "logprobs": 1, "temperature": 0.5 + i % 3 / 2, "return_token_ids": True}

    def ask(i, wait):
        time.sleep(wait)
        choice = server.ask("/v1/completions", body(i))[1]["choices"][0]
        return choice["token_ids"], choice["logprobs"]
    alone = [ask(i, 0) for i in range(32)]
    random.seed(1)
    with concurrent.futures.ThreadPoolExecutor(32) as pool:
        beside = list(pool.map(ask, range(32), [random.random() / 5 for _ in range(32)]))
    check("the same alone and beside 31 others", alone == beside)


def errors(server):
    for path, body, status, says in (
            ("/v1/completions", {"prompt": "w1", "temperature": 3}, 400, "temperature must be in [0, 2]"),
            ("/v1/completions", {"prompt": "w1", "top_p": 0}, 400, "(0, 1]"), ("/v1/completions", {"prompt": "w1", "n": 65}, 400, "[1, 64]"),
            ("/v1/completions", {"prompt": "w1", "max_tokens": 1 << 29}, 400, "maximum context length"),
            ("/v1/completions", {"prompt": "w1", "model": "other"}, 404, "does not exist"), ("/v1/completions", {"prompt": [99]}, 400, "[0, 48)"),
            ("/v1/completions", {"prompt": "w1", "logit_bias": {"x": 1}}, 400, "token ids"), ("/v1/completions", {}, 400, "prompt must be"),
            ("/v1/completions", {"prompt": "w1", "guided_json": {"not": {}}}, 400, "not is not supported"),
            ("/v1/completions", {"prompt": "w1", "guided_regex": "(?=a)"}, 400, "look-ahead"), ("/v1/completions", {"prompt": "w1", "response_format": {"type": "x"}}, 400, "response_format must be"),
            ("/v1/completions", {"prompt": "w1", "guided_regex": "a", "guided_choice": ["b"]}, 400, "only use one"),
            ("/v1/completions", {"prompt": "w1", "bad_words": [""]}, 400, "bad_words"), ("/v1/completions", {"prompt": "w1", "min_tokens": 5, "max_tokens": 4}, 400, "min_tokens"),
            ("/v1/completions", {"prompt": "w1", "repetition_detection": {"max_pattern_size": 2, "min_count": 1}}, 400, "min_count"), ("/v1/completions", {"prompt": "w1", "cache_salt": ""}, 400, "cache_salt"),
            ("/v1/chat/completions", {"messages": [{"role": "user", "content": "w1"}], "tool_choice": "auto"}, 400, "`tools` must be set"),
            ("/v1/chat/completions", {"messages": [{"role": "user", "content": "w1"}], "continue_final_message": True, "add_generation_prompt": True}, 400, "Cannot set both"),
            ("/v1/completions", b"{", 400, "not valid JSON"), ("/v1/completions", b'{"a":"\xff"}', 400, "not valid JSON"), ("/v1/completions", b"[1]", 400, "JSON object"),
            ("/v1/completions", b'{"a":1,"a":2}', 400, "twice"), ("/v1/completions", b'{"a":' + b"[" * 100000, 400, "deeper than 64"),
            ("/v1/completions", b'{"temperature":NaN}', 400, "not valid JSON"), ("/v1/completions", b'{"temperature":1e999}', 400, "not valid JSON"),
            ("/v1/chat/completions", {"messages": []}, 400, "messages"), ("/v1/chat/completions", {"messages": [{"role": "user"}], "top_logprobs": 2}, 400, "logprobs must be set"),
            ("/nothing", None, 404, "Not Found"), ("/v1/completions", None, 405, "Method Not Allowed")):
        got, answer = server.ask(path, body)
        check(f"error of {str(body)[:60]}", got == status and says in answer["error"]["message"] and answer["error"]["code"] == status, got, answer)
    head = b"POST /v1/completions HTTP/1.1\r\nHost: x\r\n"
    for data, status in ((b"GET / HTTP/1.1\nHost: x\n\n", 400), (b"GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n", 400), (b"GET / HTTP/1.1\r\n\r\n", 400), (b"nonsense\r\n\r\n", 400),
                         (head + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", 400), (head + b"Content-Length: 99999999\r\n\r\n", 413),
                         (b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 414), (b"GET / HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 70 + b"\r\n", 431),
                         (b"GET / HTTP/1.1\r\nHost: x\r\nA: " + b"b" * 40000 + b"\r\n\r\n", 431)):
        got = server.raw(data)
        check(f"refused: {data[:50]}", got.startswith(f"HTTP/1.1 {status} "), got[:200])
    check("two requests behind one another", server.raw(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\nGET /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").startswith("HTTP/1.1 200"))
    check("it lives on", server.ask("/health")[0] == 200)


def leaving(server):
    body = json.dumps({"prompt": "w1", "max_tokens": 3000, "ignore_eos": True, "stream": True}).encode()
    with socket.create_connection(("127.0.0.1", server.port)) as s:
        s.sendall(b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        check("a stream begins", s.recv(100).startswith(b"HTTP/1.1 200"))
        check("pages are in use", server.metric("kv_cache_usage_perc") > 0)
    until = time.time() + 5
    while time.time() < until and (server.metric("num_requests_running") or server.metric("kv_cache_usage_perc")):
        time.sleep(0.02)
    check("who leaves frees pages", server.metric("kv_cache_usage_perc") == 0 and 'finished_reason="abort"' in server.ask("/metrics")[1])
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        last = pool.submit(server.ask, "/v1/completions", {"prompt": "w1", "max_tokens": 200, "ignore_eos": True})
        while not last.done() and not server.metric("num_requests_running"):
            time.sleep(0.005)
        check("SIGTERM", server.leave() == 0)
        check("what was asked is answered", last.result()[1]["usage"]["completion_tokens"] == 200, last.result())


def resting(model):
    """A conversation is read once: its pages come back after a restart, and answers stay the same."""
    with tempfile.TemporaryDirectory() as folder:
        body = {"prompt": " ".join(f"w{i % 40}" for i in range(150)), "max_tokens": 20, "seed": 5, "ignore_eos": True, "return_token_ids": True, "logprobs": 1}
        hits, answers_of = [], []
        for _ in range(2):
            server = Server(model, "--park", folder)
            answers_of.append(server.ask("/v1/completions", {**body, "session_id": "one"})[1]["choices"][0])
            hits.append(server.metric("prefix_cache_hits_total"))
            check("a deadline that holds", server.ask("/v1/completions", {**body, "deadline_ms": 60000})[0] == 200)
            late, answer = server.ask("/v1/completions", {**body, "deadline_ms": 1})
            # Refused by what was learnt of steps; where these take about as long, the answer ends at its deadline.
            refused = late == 503 and "expected to take" in answer["error"]["message"]
            check("a deadline that would be missed", refused or (late == 200 and answer["usage"]["completion_tokens"] < 20), answer)
            check("it leaves", server.leave() == 0)
        check("a conversation comes back", hits[0] == 0 and hits[1] >= 128 and len(os.listdir(folder)) == 1, hits, os.listdir(folder))
        check("with the same answer", answers_of[0] == answers_of[1])


def keys(model):
    server = Server(model, "--api-key", "one", "--api-key", "two", "--rate-limit", "3")
    check("no key", server.ask("/v1/models")[0] == 401 and server.ask("/metrics")[0] == 401 and server.ask("/tokenize", {"prompt": "w1"})[0] == 401)
    check("a wrong key", server.ask("/v1/models", headers={"Authorization": "Bearer three"})[0] == 401)
    check("open routes", [server.ask(p)[0] for p in ("/", "/health", "/ping", "/version")] == [200] * 4)
    check("a key's rate", [server.ask("/v1/models", headers={"Authorization": "Bearer one"})[0] for _ in range(4)] == [200, 200, 200, 429])
    check("when it may ask again", 1 <= int(server.answer.headers["retry-after"]) <= 20, server.answer.headers)
    check("another key", server.ask("/v1/models", headers={"x-api-key": "two"})[0] == 200)
    check("Ctrl-C", server.leave(signal.SIGINT) == 0)
    tiny.run("serve", "--model", model, "--host", "0.0.0.0", status=2)
    check("a parser that is not there", "qwen3_coder" in tiny.run("serve", "--model", model, "--tool-call-parser", "mine", status=2).stderr)


def pages_that_ask(server):
    """Headers for pages of other origins, whatever the answer is."""
    origin = {"Origin": "https://page.example"}
    body = {"prompt": "w1", "max_tokens": 1}
    for what, path, data, status in (("an answer", "/v1/completions", body, 200), ("a stream", "/v1/completions", {**body, "stream": True}, 200),
                                     ("a chat", "/v1/chat/completions", {"messages": [{"role": "user", "content": "w1"}]}, 200), ("an error", "/v1/completions", b"{", 400),
                                     ("no such route", "/nothing", None, 404), ("a list", "/v1/models", None, 200)):
        got = server.ask(path, data, origin)[0]
        check(f"origin of {what}", got == status and server.answer.headers["access-control-allow-origin"] == origin["Origin"] and server.answer.headers["vary"] == "Origin", got)
    server.ask("/v1/completions", headers={**origin, "Access-Control-Request-Method": "POST"}, method="OPTIONS")
    check("a question before", server.answer.status == 204 and "POST" in server.answer.headers["access-control-allow-methods"] and server.answer.headers["content-length"] is None)
    server.ask("/health")
    check("who names no origin", server.answer.headers["access-control-allow-origin"] is None)


def metrics(server):
    """Prometheus' text: types, histograms that add up, and vLLM's names."""
    values, types = {}, {}
    for line in server.ask("/metrics")[1].splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split()
            check("one type for each name", name not in types, line)
            types[name] = kind
        else:
            name, value = line.rsplit(" ", 1)
            check("a label for the model", 'model_name="tiny"' in name and name not in values, line)
            values[name] = float(value)
    histograms = [n for n, kind in types.items() if kind == "histogram"]
    for name in histograms:
        buckets = [v for key, v in values.items() if key.startswith(f"{name}_bucket{{")]
        count = next(v for key, v in values.items() if key.startswith(f"{name}_count{{"))
        check(f"buckets of {name}", buckets == sorted(buckets) and buckets[-1] == count > 0, buckets)
    for name in ("num_requests_running", "num_requests_waiting", "num_requests_waiting_by_reason", "kv_cache_usage_perc", "cache_config_info", "prefix_cache_queries_total",
                 "prefix_cache_hits_total", "num_preemptions_total", "prompt_tokens_total", "prompt_tokens_cached_total", "generation_tokens_total", "request_success_total",
                 "spec_decode_num_drafts_total", "spec_decode_num_draft_tokens_total", "spec_decode_num_accepted_tokens_total"):
        check(f"vllm:{name}", types.get(f"vllm:{name}") == ("counter" if name.endswith("_total") else "gauge"), types.get(f"vllm:{name}"))
    for name in ("time_to_first_token_seconds", "inter_token_latency_seconds", "request_time_per_output_token_seconds", "e2e_request_latency_seconds", "request_queue_time_seconds",
                 "request_inference_time_seconds", "request_prefill_time_seconds", "request_decode_time_seconds", "request_prompt_tokens", "request_generation_tokens",
                 "request_params_n", "request_params_max_tokens", "iteration_tokens_total", "request_num_preemptions", "request_prefill_kv_computed_tokens"):
        check(f"vllm:{name}", f"vllm:{name}" in histograms)
    before = server.metric("generation_tokens_total"), server.metric("prompt_tokens_total")
    server.ask("/v1/completions", {"prompt": "w1 w2 w3", "max_tokens": 7, "ignore_eos": True})
    check("tokens are counted", (server.metric("generation_tokens_total"), server.metric("prompt_tokens_total")) == (before[0] + 7, before[1] + 3))


def full(model):
    """One runs, one waits, and who comes then is told so."""
    server = Server(model, "--max-num-seqs", "1", "--max-num-queued-reqs", "1", "--max-model-len", "4096")
    long = {"prompt": "w1", "max_tokens": 2000, "ignore_eos": True}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        first = pool.submit(server.ask, "/v1/completions", long)
        while not server.metric("num_requests_running"):
            time.sleep(0.005)
        second = pool.submit(server.ask, "/v1/completions", {**long, "max_tokens": 3})
        while not server.metric("num_requests_waiting") and not first.done():
            time.sleep(0.005)
        c = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        c.request("POST", "/v1/completions", json.dumps(long).encode())
        third = c.getresponse()
        told = json.loads(third.read())
        check("a full queue", first.done() or (third.status == 429 and third.headers["retry-after"] == "1" and "queue is full" in told["error"]["message"]), third.status, told)
        check("those before are answered", first.result()[0] == 200 and second.result()[0] == 200)
    rejected = server.ask("/metrics")[1]
    check("and it is counted", 'reason="queue"} 1' in rejected, rejected[-400:])
    check("many choices at once, of which some fit", server.ask("/v1/completions", {"prompt": ["w1"] * 40, "max_tokens": 2})[0] == 429)
    got = server.ask("/v1/completions", {"prompt": ["w1"] * 40, "max_tokens": 2, "stream": True})
    check("or of a stream", got[0] == 429 or "[DONE]" not in str(got[1]), got)
    until = time.time() + 10
    while time.time() < until and server.metric("kv_cache_usage_perc"):
        time.sleep(0.01)
    check("no page is left behind", server.metric("kv_cache_usage_perc") == 0)
    check("it leaves", server.leave() == 0)


def path_of_a_socket(model, path):
    process = subprocess.Popen([STRATA, "serve", "--model", str(model), "--uds", str(path), "--host", "0.0.0.0"], stderr=subprocess.PIPE, text=True)
    check("it says where it listens", any(line.strip() == f"listening on unix:{path}" for line in iter(process.stderr.readline, "") if line.startswith("listening")))
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(str(path))
        s.sendall(b"GET /v1/models HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        check("a unix socket", s.recv(100).startswith(b"HTTP/1.1 200"))
    check("another there", "another server" in tiny.run("serve", "--model", model, "--uds", path, status=2).stderr)
    process.terminate()
    check("it takes its socket along", process.wait(60) == 0 and not path.exists())


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        tiny.make(folder)
        widen(folder)
        server = Server(name, "--max-num-seqs", "16", "--max-model-len", "4096")
        try:
            answers(server, name)
            forms(server)
            several(server)
            samplers(server)
            beside_others(server)
            errors(server)
            pages_that_ask(server)
            metrics(server)
            leaving(server)
        finally:
            server.process.kill()
        modes(name)
        resting(name)
        keys(name)
        full(name)
        path_of_a_socket(name, folder / "strata.sock")
    print(f"{tiny.passed} passed, {tiny.failed} failed")
    return 1 if tiny.failed else 0


if __name__ == "__main__":
    os.chdir(tiny.ROOT)
    sys.exit(main())
