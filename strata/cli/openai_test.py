#!/usr/bin/env python3
"""The official client of OpenAI's API (package openai of PyPI) with strata serve: answers, streams, log-probabilities, errors, times that run out.

    strata/cli/openai_test.py build/bin
"""
import asyncio
import os
import pathlib
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve()
sys.path[:0] = [str(HERE.parent), str(HERE.parents[2] / "tests")]
import peers  # noqa: E402

try:
    import openai
except ImportError:
    peers.run_again("openai", pathlib.Path(sys.argv[1]))
import serve_test  # noqa: E402
import published_models_test as tiny  # noqa: E402

check = tiny.check


def error_of(kind, call):
    try:
        call()
    except kind as e:
        return e
    except Exception as e:  # noqa: BLE001  (told by the check)
        check(f"{kind.__name__}, not {type(e).__name__}", False, e)
    else:
        check(f"{kind.__name__}", False)
    return None


def completions(client):
    asked = {"model": "tiny", "prompt": "w1 w2", "max_tokens": 8, "seed": 4, "temperature": 0.9, "logprobs": 2, "extra_body": {"ignore_eos": True}}
    whole = client.completions.create(**asked)
    choice = whole.choices[0]
    check("a completion", whole.object == "text_completion" and choice.finish_reason == "length" and whole.usage.completion_tokens == 8 and whole.usage.total_tokens == 10, whole)
    check("its log-probabilities", len(choice.logprobs.token_logprobs) == 8 == len(choice.logprobs.tokens) == len(choice.logprobs.text_offset) and
          all(2 <= len(top) <= 3 and max(top.values()) <= 0 for top in choice.logprobs.top_logprobs), choice.logprobs)
    pieces = list(client.completions.create(**asked, stream=True, stream_options={"include_usage": True}))
    check("its stream", "".join(p.choices[0].text for p in pieces if p.choices) == choice.text and pieces[-1].usage == whole.usage and len({p.id for p in pieces}) == 1, pieces)
    check("its stream's log-probabilities", [x for p in pieces if p.choices and p.choices[0].logprobs for x in p.choices[0].logprobs.token_logprobs] == choice.logprobs.token_logprobs)
    many = client.completions.create(model="tiny", prompt=["w1", "w2"], n=3, max_tokens=3, seed=1)
    check("n choices of each prompt", [c.index for c in many.choices] == list(range(6)) and len({c.text for c in many.choices}) > 1, many)
    same = client.completions.create(model="tiny", prompt="w1", max_tokens=3, seed=3)
    check("the third is that of its seed", same.choices[0].text == many.choices[2].text, same, many)
    ids = client.completions.create(model="tiny", prompt=[7, 8], max_tokens=8, seed=4, temperature=0.9, extra_body={"ignore_eos": True})
    check("a prompt of tokens", ids.choices[0].text == choice.text, ids)


def beyond(client):
    """What OpenAI's API lacks, by extra_body."""
    found = client.completions.create(model="tiny", prompt="w1 w2", n=3, max_tokens=4, extra_body={"use_beam_search": True, "length_penalty": 0.8, "early_stopping": True})
    check("a beam search", [c.index for c in found.choices] == [0, 1, 2] and len({c.text for c in found.choices}) == 3, found)
    best = client.completions.create(model="tiny", prompt="w1 w2", n=1, best_of=4, max_tokens=4, extra_body={"ignore_eos": True})
    check("the best of some", len(best.choices) == 1 and best.usage.completion_tokens == 16, best)
    chat = client.chat.completions.create(model="tiny", messages=[{"role": "user", "content": "w1"}], n=2, max_tokens=3, extra_body={"use_beam_search": True})
    check("a beam search of a chat", len(chat.choices) == 2, chat)
    scored = client.completions.create(model="tiny", prompt="w1 w2 w3", max_tokens=1, extra_body={"prompt_logprobs": 1, "truncate_prompt_tokens": 2})
    check("log-probabilities of a prompt that is cut", scored.usage.prompt_tokens == 2 and len(scored.choices[0].prompt_logprobs) == 2 and scored.choices[0].prompt_logprobs[0] is None, scored)


def chats(client):
    asked = {"model": "tiny", "messages": [{"role": "system", "content": "w3"}, {"role": "user", "content": "w1"}], "max_completion_tokens": 6, "seed": 3,
             "logprobs": True, "top_logprobs": 2}
    whole = client.chat.completions.create(**asked)
    content = whole.choices[0].logprobs.content
    check("a chat", whole.object == "chat.completion" and whole.choices[0].message.role == "assistant" and whole.choices[0].finish_reason in ("stop", "length"), whole)
    check("its log-probabilities", len(content) == whole.usage.completion_tokens and all(len(t.top_logprobs) == 2 and bytes(t.bytes).decode() == t.token for t in content), content)
    chunks = list(client.chat.completions.create(**asked, stream=True))
    check("its stream", "".join(c.choices[0].delta.content or "" for c in chunks) == whole.choices[0].message.content and chunks[0].choices[0].delta.role == "assistant" and
          [t for c in chunks if c.choices[0].logprobs for t in c.choices[0].logprobs.content] == content and chunks[-1].choices[0].finish_reason == whole.choices[0].finish_reason, chunks)
    with client.chat.completions.stream(**asked) as stream:
        for event in stream:
            kind = event.type
        final = stream.current_completion_snapshot
    check("the client's own stream of events", kind in ("content.done", "logprobs.content.done", "chunk") and final.choices[0].message.content == whole.choices[0].message.content, kind, final)
    many = client.chat.completions.create(model="tiny", messages=[{"role": "user", "content": "w1"}], n=4, max_tokens=4, seed=3)
    check("n choices", len(many.choices) == 4, many)
    check("models", [m.id for m in client.models.list()] == ["tiny"])


def errors(client, port):
    def ask(**more):
        return lambda: client.completions.create(**{"model": "tiny", "prompt": "w1", **more})
    e = error_of(openai.BadRequestError, ask(temperature=3))
    check("a wrong parameter", e is not None and e.status_code == 400 and e.param == "temperature" and "[0, 2]" in str(e), e)
    e = error_of(openai.NotFoundError, ask(model="other"))
    check("a model that there is not", e is not None and e.type == "NotFoundError" and "other" in str(e), e)
    e = error_of(openai.AuthenticationError, lambda: openai.OpenAI(api_key="wrong", base_url=str(client.base_url), max_retries=0).models.list())
    check("a wrong key", e is not None and e.status_code == 401, e)
    error_of(openai.APIConnectionError, lambda: openai.OpenAI(api_key="x", base_url="http://127.0.0.1:1/v1", max_retries=0).models.list())
    error_of(openai.BadRequestError, lambda: client.chat.completions.create(model="tiny", messages=[]))


def free_soon(server):
    until = time.time() + 10
    while time.time() < until and (server.metric("num_requests_running") or server.metric("kv_cache_usage_perc")):
        time.sleep(0.01)
    return server.metric("kv_cache_usage_perc") == 0


def leaving(client, server):
    long = {"model": "tiny", "prompt": "w1", "max_tokens": 3000, "extra_body": {"ignore_eos": True}}
    error_of(openai.APITimeoutError, lambda: client.with_options(timeout=0.2).completions.create(**long))
    check("a time that ran out frees the pages", free_soon(server))
    stream = client.completions.create(**long, stream=True)
    check("a stream begins", next(iter(stream)).choices[0].text is not None)
    stream.close()
    check("a stream that was closed frees the pages", free_soon(server))


async def together(url):
    """Sixteen requests at once, and the same one after another."""
    async with openai.AsyncOpenAI(api_key="secret", base_url=url) as client:
        def ask(i):
            return client.completions.create(model="tiny", prompt=f"w{i}", max_tokens=10, seed=i, logprobs=1)
        beside = await asyncio.gather(*map(ask, range(16)))
        alone = [await ask(i) for i in range(16)]
    check("the same beside others", [a.choices[0] for a in beside] == [a.choices[0] for a in alone])


def main():
    with tempfile.TemporaryDirectory() as name:
        tiny.make(pathlib.Path(name))
        serve_test.widen(name)
        server = serve_test.Server(name, "--api-key", "secret", "--max-num-seqs", "16", "--max-model-len", "4096", key="secret")
        try:
            url = f"http://127.0.0.1:{server.port}/v1"
            with openai.OpenAI(api_key="secret", base_url=url, max_retries=0) as client:
                completions(client)
                beyond(client)
                chats(client)
                errors(client, server.port)
                leaving(client, server)
            asyncio.run(together(url))
        finally:
            server.process.kill()
            server.process.wait()
        server = serve_test.Server(name, "--api-key", "secret", "--rate-limit", "2", key="secret")
        try:
            with openai.OpenAI(api_key="secret", base_url=f"http://127.0.0.1:{server.port}/v1", max_retries=0) as client:
                client.models.list(), client.models.list()
                e = error_of(openai.RateLimitError, client.models.list)
                check("too often, and when again", e is not None and int(e.response.headers["retry-after"]) > 0, e)
        finally:
            server.process.kill()
            server.process.wait()
    print(f"{tiny.passed} passed, {tiny.failed} failed")
    return 1 if tiny.failed else 0


if __name__ == "__main__":
    os.chdir(tiny.ROOT)
    sys.exit(main())
