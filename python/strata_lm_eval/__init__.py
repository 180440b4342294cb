"""lm_eval drives Strata as it drives transformers.

    import lm_eval, strata_lm_eval
    lm_eval.simple_evaluate(model="strata", model_args="model=SmolLM2.gguf,program=build/bin/strata", tasks=["arc_easy"])

or, from a shell, `python -m strata_lm_eval --model strata --model_args model=SmolLM2.gguf --tasks arc_easy`, with lm_eval's options.

The model runs in `strata evaluate --model M --requests`, one process, which answers a line of JSON with a line of JSON; how texts
become tokens is told in strata/engine/requests.h. Needs lm_eval 0.4.
"""
import json
import subprocess

import lm_eval.models  # noqa: F401  (its own models stay known beside this one)
from lm_eval.api.model import LM
from lm_eval.api.registry import register_model

__all__ = ["StrataError", "StrataLM"]


class StrataError(RuntimeError):
    """Strata could not answer a request; the message says why."""


@register_model("strata")
class StrataLM(LM):
    """A model that `strata` runs.

    model: a GGUF file, a Hugging Face directory, or a cache's models--org--name.
    program: the `strata` command. max_length, max_gen_toks: tokens of a sequence, of an answer.
    """

    def __init__(self, model, program="strata", max_length=2048, max_gen_toks=256, threads=None, **ignored):
        super().__init__()
        self._max_gen_toks = int(max_gen_toks)
        command = [program, "evaluate", "--model", model, "--requests", "--context", str(int(max_length))]
        if threads:
            command += ["--threads", str(int(threads))]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")

    @classmethod
    def create_from_arg_string(cls, arg_string, additional_config=None):
        return cls(**dict(pair.split("=", 1) for pair in arg_string.split(",") if pair))

    def _ask(self, request):
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # what it said on its way out is on stderr
        line = self._process.stdout.readline()
        if not line:
            raise StrataError(f"strata ended with status {self._process.wait()}")
        answer = json.loads(line)
        if "error" in answer:
            raise StrataError(answer["error"])
        return answer

    def loglikelihood(self, requests, disable_tqdm=False):
        answers = (self._ask({"loglikelihood": list(r.args)}) for r in requests)
        return [(a["logprob"], a["greedy"]) for a in answers]

    def loglikelihood_rolling(self, requests, disable_tqdm=False):
        return [self._ask({"loglikelihood_rolling": r.args[0]})["logprob"] for r in requests]

    def generate_until(self, requests, disable_tqdm=False):
        out = []
        for r in requests:
            prompt, options = r.args
            until = options.get("until") or []
            request = {
                "generate": prompt,
                "until": [until] if isinstance(until, str) else list(until),
                "max_tokens": int(options.get("max_gen_toks", self._max_gen_toks)),
                "temperature": float(options.get("temperature", 0.0)) if options.get("do_sample", False) else 0.0,
            }
            if "top_p" in options:
                request["top_p"] = float(options["top_p"])
            out.append(self._ask(request)["text"])
        return out

    def __del__(self):
        process = getattr(self, "_process", None)
        if process is not None:
            process.stdin.close()
            process.wait()
