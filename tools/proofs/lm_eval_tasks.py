#!/usr/bin/env python3
"""lm_eval asks Strata, by python/strata_lm_eval, and transformers, by its own class: three tasks, each answer compared.

    tools/proofs/lm_eval_tasks.py [--build FOLDER] [--write]

The tasks lie in tools/proofs/lm_eval_tasks, their data beside them: a choice (loglikelihood), whole texts longer than a
window (loglikelihood_rolling), short answers (generate_until). SmolLM2-135M-Instruct in f32 on both sides, sequences of at
most 512 tokens. torch's log_softmax runs in f64: in f32 it is 8e-6 too high for each token of so many kinds, which
windows add up. --write renews docs/published-models.md. Fails where a log-probability is more than 1e-3 apart, or 1e-5 of
it, where a chosen answer, a text that was written, or a metric to six digits differs.
"""
import argparse
import os
import pathlib
import sys
import tempfile

import peers

PEERS = ["torch", "transformers", "lm_eval"]
peers.need(PEERS, [*PEERS, "accelerate"])
os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1", TOKENIZERS_PARALLELISM="false")
caches = tempfile.TemporaryDirectory()
os.environ["HF_DATASETS_CACHE"] = caches.name
import lm_eval
import lm_eval.tasks
import transformers

sys.path.insert(0, str(peers.ROOT / "python"))
import strata_lm_eval  # noqa: F401  (registers the model)

TASKS = {"strata_choice": "loglikelihood", "strata_text": "loglikelihood_rolling", "strata_answer": "generate_until"}
LENGTH = 512


def evaluate(model, arguments):
    manager = lm_eval.tasks.TaskManager(include_path=str(peers.ROOT / "tools" / "proofs" / "lm_eval_tasks"), include_defaults=False)
    return lm_eval.simple_evaluate(model=model, model_args=arguments, tasks=list(TASKS), task_manager=manager, batch_size=1,
                                   device="cpu", bootstrap_iters=0, log_samples=True)


def answers(result, task):
    """What the model answered, document by document: numbers, or texts."""
    samples = sorted(result["samples"][task], key=lambda s: s["doc_id"])
    return [s["filtered_resps"] for s in samples]


def numbers(answer):
    """The log-probabilities of an answer, and whether each was greedy."""
    return [(float(x[0]), str(x[1])) if isinstance(x, (tuple, list)) else (float(x), "") for x in answer]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=peers.ROOT / "build")
    parser.add_argument("--write", action="store_true", help="renew docs/published-models.md")
    options = parser.parse_args()
    gguf, failures, rows = peers.smollm2(), [], []
    program = options.build.resolve() / "bin" / "strata"
    os.chdir(peers.ROOT)
    with tempfile.TemporaryDirectory() as made:
        model = pathlib.Path(made) / "smollm2"
        peers.strata(options.build, "convert", gguf, model, "--type", "F32")
        ours = evaluate("strata", f"model={model},program={program},max_length={LENGTH}")
        theirs = evaluate("hf", f"pretrained={model},dtype=float32,softmax_dtype=float64,max_length={LENGTH}")
    for task, kind in TASKS.items():
        a, b = answers(ours, task), answers(theirs, task)
        if len(a) != len(b) or not a:
            failures.append(f"{task}: {len(a)} and {len(b)} documents")
            continue
        if kind == "generate_until":
            same, apart = sum(x == y for x, y in zip(a, b)), "none"
        else:
            same, apart = 0, 0.0
            for x, y in zip(a, b):
                x, y = numbers(x), numbers(y)
                best = max(range(len(x)), key=lambda i: x[i][0]) == max(range(len(y)), key=lambda i: y[i][0])
                near = all(abs(p - q) <= max(1e-3, 1e-5 * abs(q)) for (p, _), (q, _) in zip(x, y, strict=True))
                same += best and near and [g for _, g in x] == [g for _, g in y]
                apart = max([apart, *(abs(p - q) for (p, _), (q, _) in zip(x, y))])
            apart = f"{apart:.1e}"
        if same != len(a):
            failures.append(f"{task}: {len(a) - same} of {len(a)} answers differ")
        for metric, value in ours["results"][task].items():
            if not isinstance(value, float):
                continue
            other = theirs["results"][task][metric]
            rows.append([task, kind, metric.split(",")[0], f"{value:.6f}", f"{other:.6f}", f"{same} of {len(a)}", apart])
            if abs(value - other) > 1e-6 * max(1, abs(other)):
                failures.append(f"{task}: {metric} is {value}, and {other} through transformers")
    text = f"lm_eval {lm_eval.__version__}, transformers {transformers.__version__}; \"apart\" is the largest difference of a log-probability.\n\n"
    text += peers.table(["task", "asks for", "metric", "through Strata", "through transformers", "same answers", "apart"], rows)
    peers.report("lm_eval", text, options.write)
    for each in failures:
        print("FAILED", each)
    sys.exit(bool(failures) or not rows)


if __name__ == "__main__":
    main()
