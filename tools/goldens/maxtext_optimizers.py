#!/usr/bin/env python3
"""Writes strata/train/maxtext/testdata/curves/optimizers.json: MaxText's own steps by its keys of the optimizer.

    MAXTEXT_ASSETS_ROOT=WHEEL/maxtext/assets tools/goldens/maxtext_optimizers.py [CASE ...]

Packages, patches, batches and first weights are those of maxtext_curves.py, whose FAMILY/model.safetensors the weights
are compared with. Each case has the command line's keys; of each of 8 steps loss, lm_loss, z_loss, raw_grad_norm,
param_norm; and of each array, under MaxText's name, what its weights moved by after all steps: the norm, the product
with the first weights, and that with hashed numbers (`probe`).
"""
import importlib.util
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
spec = importlib.util.spec_from_file_location("maxtext_curves", HERE / "maxtext_curves.py")
curves = importlib.util.module_from_spec(spec)
spec.loader.exec_module(curves)

import jax
import numpy as np
from flax import nnx
from flax.linen import partitioning
from safetensors.numpy import load_file

from maxtext.configs import pyconfig
from maxtext.trainers.pre_train import train as maxtext_train
from maxtext.utils import sharding, train_utils

STEPS = 8
USUAL = [f"steps={STEPS}", "learning_rate=1e-3"]
MUON = ["opt_type=muon", "muon_weight_decay=0.5", "adam_weight_decay=0.5"]
# name -> family, keys beside its own
CASES = {
    "adam_pax": ("llama", ["opt_type=adam_pax", "adam_eps_root=1e-7", "adam_weight_decay=2"]),
    "adamw_eps_root": ("llama", ["adam_eps_root=1e-5"]),
    "adamw_mask": ("llama", ["adam_weight_decay=2", "adamw_mask=['norm', '^token_.*ing', 'w[io]_0/k']"]),
    "adam_pax_mask": ("gemma2", ["opt_type=adam_pax", "adam_weight_decay=2", "adamw_mask=scale$"]),
    "z_loss": ("llama", ["z_loss_multiplier=0.02"]),
    "z_loss_experts": ("mixtral", ["z_loss_multiplier=0.02"]),
    "z_loss_accumulated": ("llama", ["z_loss_multiplier=0.02", "per_device_batch_size=2", "gradient_accumulation_steps=2"]),
    "muon": ("llama", MUON),
    "muon_rms": ("qwen3", [*MUON, "muon_consistent_rms=0.2", "muon_beta=0.9"]),
    "muon_gemma3": ("gemma3", MUON),
    "muon_experts": ("qwen3_moe", MUON),
    "muon_no_routers": ("qwen3_moe", [*MUON, "muon_include_routers=false"]),
    "muon_of_maxtext": ("qwen3_moe", [*MUON, "muon_type=maxtext_muon", "muon_include_routers=false"]),
    "muon_latent": ("deepseek", MUON),
    "muon_gpt_oss": ("gpt_oss", MUON),
    "trainable": ("llama", ["trainable_parameters_mask=['mlp', 'decoder_norm']", "gradient_clipping_threshold=0.1"]),
    "trainable_layers": ("gemma3", ["trainable_parameters_mask=['layers_[15]/(mlp|.*norm)', 'embed']", "adam_weight_decay=1"]),
    "mu_dtype": ("llama", ["mu_dtype=bfloat16"]),
    "mu_dtype_muon": ("llama", [*MUON, "mu_dtype=bfloat16"]),
}


def probe(count):
  return (curves.hashed(7, count) % np.uint64(1000)).astype(np.float64) / 1000 - 0.5


def flat(model):
  out = nnx.to_flat_state(nnx.state(model, nnx.Param))
  return {"/".join(map(str, path)): np.asarray(v.get_value(), np.float64) for path, v in out}


def run(family, keys):
  line = curves.merged([*curves.SIZES, *USUAL], [*curves.FAMILIES[family], *USUAL, *keys])
  config = pyconfig.initialize(["", *curves.COMMON, "base_output_directory=/tmp/maxtext_curves", *line])
  loop = train_utils.setup_train_loop(config, None)
  state_mesh_shardings, mesh, state = loop[2], loop[4], loop[-1]
  curves.moved(state.model)
  stored = load_file(curves.OUT / family / "model.safetensors")
  made = curves.export(config, state.model)
  assert stored.keys() == made.keys() and all((np.asarray(stored[k], np.float32) == made[k]).all() for k in made)
  first = flat(state.model)
  graph, state = nnx.split(state)
  params_shardings, state_mesh_shardings = sharding.maybe_update_params_sharding_with_opt(config, state_mesh_shardings)
  step_of, _ = train_utils.jit_train_and_eval_step(config, graph, mesh, state, state_mesh_shardings, maxtext_train.train_step,
                                                   maxtext_train.eval_step, None, params_shardings)
  out = {k: [] for k in ("loss", "lm_loss", "z_loss", "raw_grad_norm", "param_norm")}
  with jax.set_mesh(mesh), partitioning.axis_rules(config.logical_axis_rules):
    for step in range(STEPS):
      state, metrics = step_of(state, curves.batch(step))
      for k in out: out[k].append(float(np.float32(metrics["scalar"].get("learning/" + k, 0))))
  last = flat(nnx.merge(graph, state).model)
  moved = {}
  for name, w in first.items():
    d = (last[name] - w).reshape(-1)
    moved[name] = [float(f"{x:.9g}") for x in (np.sqrt((d * d).sum()), (d * w.reshape(-1)).sum(), (d * probe(d.size)).sum())]
  return {"family": family, "keys": line, **out, "moved": moved}


def main():
  path = curves.OUT / "optimizers.json"
  golden = json.loads(path.read_text()) if path.exists() else {}
  golden.update(versions=curves.VERSIONS, seed=curves.SEED, batch=curves.BATCH, length=curves.LENGTH, vocabulary=curves.VOCAB)
  cases = golden.setdefault("cases", {})
  for name in sys.argv[1:] or CASES:
    cases[name] = run(*CASES[name])
    print(name, cases[name]["loss"][0], "->", cases[name]["loss"][-1], cases[name]["z_loss"][0], flush=True)
    path.write_text(json.dumps(golden, indent=0).replace(",\n", ", ") + "\n")


if __name__ == "__main__": main()
