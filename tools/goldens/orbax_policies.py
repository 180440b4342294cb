#!/usr/bin/env python3
"""Writes strata/checkpoint/manager/testdata/policies.json: what Orbax's preservation policies keep of random histories; and options.txt
beside it: the names of a manager's options and of its methods, which strata/checkpoint/manager/names/options.tsv accounts for.

Each case names a policy and its numbers, the steps, the seconds at which they were saved, their metrics (null: none) and which stay. Seed 0.
"""
import datetime
import json
import pathlib
import random
import types

REQUIREMENTS = ["orbax-checkpoint==0.12.8"]
try:
    from orbax.checkpoint._src.checkpoint_managers import preservation_policy as pp
except ImportError:
    from peers import again_with

    again_with(*REQUIREMENTS)

ROOT = pathlib.Path(__file__).resolve().parents[2]
random.seed(0)
some = lambda most: random.choice([None, *range(1, most)])
POLICIES = {
    "latest_n": lambda: ([some(5)], lambda n: pp.LatestN(n)),
    "every_n_steps": lambda: ([random.randint(1, 9), random.random() < .5, some(4)], lambda n, e, m: pp.EveryNSteps(n, e, m)),
    "every_n_steps_closest": lambda: ([random.randint(1, 9), some(4)], lambda n, m: pp.EveryNStepsClosest(n, m)),
    "every_n_seconds": lambda: ([random.randint(1, 30)], lambda n: pp.EveryNSeconds(n)),
    "best_n": lambda: ([some(5), random.random() < .5, random.random() < .5], lambda n, r, k: pp.BestN(
        get_metric_fn=lambda m: m["loss"], reverse=r, n=n, keep_checkpoints_without_metrics=k)),
}

cases = []
for name, draw in POLICIES.items():
    for _ in range(60):
        arguments, make = draw()
        steps = sorted(random.sample(range(60), random.randint(1, 14)))
        times = [t for t in sorted(random.choices(range(100), k=len(steps)))]
        metrics = [random.choice([None, 1, 2, 3, 4.5]) for _ in steps]
        infos = [types.SimpleNamespace(step=s, time=datetime.datetime.fromtimestamp(t, datetime.timezone.utc), metrics=None if m is None else {"loss": m})
                 for s, t, m in zip(steps, times, metrics)]
        kept = make(*arguments).should_preserve(infos, context=None)
        cases.append({"policy": name, "arguments": arguments, "steps": steps, "times": times, "metrics": metrics, "kept": [bool(k) for k in kept]})
out = ROOT / "strata/checkpoint/manager/testdata/policies.json"
out.parent.mkdir(exist_ok=True)
out.write_text("[" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "]\n")

import dataclasses

import orbax.checkpoint as ocp

names = [f.name for f in dataclasses.fields(ocp.CheckpointManagerOptions)]
for group in ("AsyncOptions", "MultiprocessingOptions", "FileOptions"):
    names += [f"{group}.{f.name}" for f in dataclasses.fields(getattr(ocp.options, group))]
names += [f"{m}()" for m in dir(ocp.CheckpointManager) if not m.startswith("_")]
(ROOT / "strata/checkpoint/manager/testdata/options.txt").write_text("# orbax-checkpoint 0.12.8, by tools/goldens/orbax_policies.py\n" + "\n".join(names) + "\n")
