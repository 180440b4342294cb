#!/usr/bin/env python3
"""Writes strata/model/decoder/testdata/routing.json: where MaxText's routers send tokens, and its losses.

    tools/goldens/maxtext_routing.py MOE    # MOE: maxtext/layers/moe.py of MaxText's wheel

Functions are taken out of MaxText's own file and run as they stand (get_topk, deepseek_routing,
expert_group_mask, deepseek_scale_weights, load_balance_loss, generate_masks, megatron_aux_loss_inputs,
load_balance_updates_from_counts), on a class that has nothing else, so that of its packages jax alone is
needed. Logits are normal by a seed; each case holds the keys, logits, bias, and what came of them.
"""
import ast
import json
import math
import pathlib
import sys
import types

sys.path = [p for p in sys.path if pathlib.Path(p or ".").resolve() != pathlib.Path(__file__).resolve().parent]
import jax
import jax.numpy as jnp
import numpy as np

VERSIONS = {"maxtext": "0.2.5", "jax": "0.10.2"}
SEED = 54
OUT = pathlib.Path(__file__).resolve().parents[2] / "strata/model/decoder/testdata/routing.json"
METHODS = {"get_topk", "deepseek_routing", "expert_group_mask", "deepseek_scale_weights", "load_balance_loss",
           "generate_masks"}
FUNCTIONS = {"_top_2_in_group_sum", "megatron_aux_loss_inputs", "calculate_load_balance_updates",
             "calculate_expert_counts", "load_balance_updates_from_counts", "routing_tag_fn"}


class Block:
  DEEPSEEK, DEEPSEEK4, LLAMA4, GEMMA4, MIXTRAL = "deepseek", "deepseek4", "llama4", "gemma4", "mixtral"


def of_maxtext(path):
  """MaxText's functions, and a class with its methods."""
  tree = ast.parse(pathlib.Path(path).read_text())
  body = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name in FUNCTIONS]
  methods = [m for c in tree.body if isinstance(c, ast.ClassDef) and c.name == "RoutedMoE" for m in c.body
             if isinstance(m, ast.FunctionDef) and m.name in METHODS]
  assert len(methods) == len(METHODS) and len(body) == len(FUNCTIONS)
  body.append(ast.ClassDef(name="Routed", bases=[], keywords=[], body=methods, decorator_list=[], type_params=[]))
  names = {"jax": jax, "jnp": jnp, "math": math, "max_logging": types.SimpleNamespace(log=lambda *_: None),
           "ctypes": types.SimpleNamespace(DecoderBlockType=Block)}
  exec(compile(ast.fix_missing_locations(ast.Module(body=body, type_ignores=[])), path, "exec"), names)
  return names


def scores_of(name, logits):
  if not name: return logits
  if name == "sqrtsoftplus": return jnp.sqrt(jax.nn.softplus(logits))
  return getattr(jax.nn, name)(logits)


def case(maxtext, index, shape, k, **keys):
  config = dict(decoder_block="mixtral", model_name="default", routed_score_func="", routed_bias=False,
                n_routing_groups=-1, topk_routing_group=-1, routed_scaling_factor=1.0, norm_topk_prob=False,
                load_balance_loss_weight=1.0, capacity_factor=-1.0, use_random_routing=False)
  config.update(keys)
  c = types.SimpleNamespace(**config)
  m = maxtext["Routed"]()
  m.config, m.num_experts, m.num_experts_per_tok, m.dtype = c, shape[-1], k, jnp.float32
  m.is_hash_routing, m.per_expert_scale = False, None
  m._maybe_shard_with_logical = lambda x, _: x
  rng = np.random.default_rng(SEED + index)
  logits = jnp.asarray(rng.normal(size=shape), jnp.float32)
  bias = jnp.asarray(rng.normal(size=shape[-1]) * 0.3, jnp.float32)
  scores = scores_of(c.routed_score_func, logits)
  unbiased = scores if c.model_name.startswith("deepseek3") else None
  gate = scores + bias if c.routed_bias else scores
  weights, experts = m.get_topk(gate, unbiased)
  probabilities = jax.nn.softmax(scores, axis=-1)
  out = {"keys": config, "k": k, "logits": logits.tolist(), "bias": bias.tolist(), "experts": experts.tolist(),
         "weights": weights.tolist(), "load_balance": float(m.load_balance_loss(experts, probabilities)),
         "bias_updates": maxtext["calculate_load_balance_updates"](experts, shape[-1], 0.001).tolist()}
  if c.routed_score_func == "sigmoid":
    p, chosen = maxtext["megatron_aux_loss_inputs"](scores, k)
    out["plain_load_balance"] = float(m.load_balance_loss(chosen, p))
  if c.capacity_factor > 0:
    dispatch, _ = m.generate_masks(experts, jnp.ones(shape, jnp.float32))  # (B, S, E, C)
    kept = jnp.take_along_axis(jnp.any(dispatch, axis=-1), experts, axis=-1)
    out["places"], out["kept"] = dispatch.shape[-1], kept.tolist()
  return out


def main():
  maxtext = of_maxtext(sys.argv[1])
  deep = dict(decoder_block="deepseek", model_name="deepseek3-test")
  rows = [
      dict(shape=(2, 6, 8), k=2),
      dict(shape=(2, 5, 8), k=3, norm_topk_prob=True),
      dict(shape=(2, 8, 4), k=2, capacity_factor=1.0),
      dict(shape=(3, 7, 6), k=2, capacity_factor=1.5),
      dict(shape=(1, 3, 16), k=1, capacity_factor=0.5),
      dict(shape=(2, 6, 16), k=4, **deep, routed_score_func="sigmoid", routed_bias=True, n_routing_groups=4,
           topk_routing_group=2, routed_scaling_factor=2.5),
      dict(shape=(2, 6, 12), k=3, **deep, routed_score_func="sigmoid", routed_bias=True, routed_scaling_factor=2.0),
      dict(shape=(2, 4, 8), k=2, **deep, routed_score_func="sqrtsoftplus", routed_bias=True,
           routed_scaling_factor=1.5),
      dict(shape=(2, 4, 8), k=2, decoder_block="deepseek", model_name="deepseek2-test", routed_score_func="softmax",
           routed_scaling_factor=16.0),
  ]
  cases = [case(maxtext, i, **row) for i, row in enumerate(rows)]
  assert jax.__version__ == VERSIONS["jax"], jax.__version__
  text = json.dumps({"versions": VERSIONS, "seed": SEED, "cases": cases})
  OUT.write_text("".join(text.replace('{"keys"', '\n{"keys"')) + "\n")


main()
