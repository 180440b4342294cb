#!/usr/bin/env python3
"""Writes strata/train/maxtext/testdata/curves/: MaxText's own training of tiny models, 50 steps each.

    MAXTEXT_ASSETS_ROOT=WHEEL/maxtext/assets tools/goldens/maxtext_curves.py [FAMILY ...]

Needs Python 3.12 with maxtext 0.2.5 (its wheel, --no-deps), JAX 0.10.2 and the packages that its
pre_train/train.py imports. MaxText runs as it stands: setup_train_loop and train_step of its trainer, on the
CPU, in f32, with attention=dot_product. What is changed: `must_fuse_call`, which JAX 0.10.2 lacks and only a
TPU kernel calls, is None; tied logits are multiplied in f32 (MaxText rounds both sides to bf16 whatever dtype
says, its issue 531).

Each FAMILY/model.safetensors holds the first weights: MaxText's own, with what is 1 or 0 at first (norms, biases)
moved a little, rounded to bf16, under the published names (by MaxText's own exporter, checkpoint_conversion).
curves.json holds of each family the command line's keys, and of each step loss, lm_loss, moe_lb_loss, mtp_loss,
raw_grad_norm, param_norm, and the log line. Batches are hashed tokens (`batch`), five of them in turn.
"""
import json
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path = [p for p in sys.path if pathlib.Path(p or ".").resolve() != HERE]
os.environ.update(DECOUPLE_GCLOUD="TRUE", JAX_PLATFORMS="cpu")

import jax.experimental.xla_metadata

if not hasattr(jax.experimental.xla_metadata, "must_fuse_call"): jax.experimental.xla_metadata.must_fuse_call = None
import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from flax import nnx
from flax.linen import partitioning
from safetensors.numpy import save_file

from maxtext.checkpoint_conversion.utils import hf_shape, param_mapping, utils as conversion
from maxtext.configs import pyconfig
from maxtext.layers import embeddings, nnx_decoders
from maxtext.models import gemma4_small
from maxtext.trainers.pre_train import train as maxtext_train
from maxtext.utils import max_utils, sharding, train_utils

OUT = HERE.parents[1] / "strata/train/maxtext/testdata/curves"
VERSIONS = {"maxtext": "0.2.5", "jax": "0.10.2", "flax": "0.12.8", "optax": "0.2.8"}
STEPS, BATCH, LENGTH, VOCAB, SEED = 50, 4, 16, 64, 55

COMMON = ["run_name=r", "hardware=cpu", "skip_jax_distributed_system=true", "enable_checkpointing=false",
          "dataset_type=synthetic", "log_config=false", "enable_tensorboard=false", "attention=dot_product"]
SIZES = ["override_model_config=true", "base_emb_dim=16", "base_num_query_heads=4", "base_num_kv_heads=2", "head_dim=8",
         "base_mlp_dim=24", "base_moe_mlp_dim=24", "base_num_decoder_layers=2", f"vocab_size={VOCAB}", f"max_target_length={LENGTH}",
         f"per_device_batch_size={BATCH}", "dtype=float32", "learning_rate=3e-4", f"steps={STEPS}", "enable_dropout=false",
         "scan_layers=false", "remat_policy=full"]
EXPERTS = ["num_experts=4", "num_experts_per_tok=2", "sparse_matmul=false", "megablox=false", "capacity_factor=-1",
           "load_balance_loss_weight=0.01"]
LATENT = ["base_num_kv_heads=4", "q_lora_rank=12", "kv_lora_rank=10", "qk_nope_head_dim=6", "qk_rope_head_dim=4", "v_head_dim=5",
          "max_position_embeddings=64", "original_max_position_embeddings=16", "rope_factor=4"]
# name -> keys of the command line beside SIZES
FAMILIES = {
    "llama": ["model_name=llama3.1-8b"],
    "gemma2": ["model_name=gemma2-2b", "sliding_window_size=5"],
    "gemma3": ["model_name=gemma3-4b", "sliding_window_size=5", "base_num_decoder_layers=6"],
    "gemma4": ["model_name=gemma4-31b", "sliding_window_size=5", "base_num_decoder_layers=7", "global_head_dim=12",
               "global_num_kv_heads=1"],
    "gemma4_small": ["model_name=gemma4-e2b", "sliding_window_size=5", "base_num_decoder_layers=10", "global_head_dim=12",
                     "num_kv_shared_layers=5", "hidden_size_per_layer_input=24", f"vocab_size_per_layer_input={VOCAB}",
                     # Smaller ones' steps part by themselves: their norms divide by what is nearly zero.
                     "base_emb_dim=32", "learning_rate=1e-4"],
    "qwen3": ["model_name=qwen3-8b"],
    # MaxText's exporter takes heads for as wide together as the model.
    "mixtral": ["model_name=mixtral-8x7b", *EXPERTS, "base_num_query_heads=2", "base_num_kv_heads=1"],
    "qwen3_moe": ["model_name=qwen3-30b-a3b", *EXPERTS],
    # Its dense path balances biased scores, its sparse path those without.
    "deepseek": ["model_name=deepseek3-671b", *EXPERTS, *LATENT, "sparse_matmul=true", "num_experts=8", "n_routing_groups=4",
                 "topk_routing_group=2", "first_num_dense_layers=1"],
    "gpt_oss": ["model_name=gpt-oss-20b", *EXPERTS, "sliding_window_size=5", "max_position_embeddings=64",
                "original_max_position_embeddings=16", "rope_factor=4"],
}


def attend_in_f32(query, embedding_table, attend_dtype, config, out_sharding=None):
  del attend_dtype, config, out_sharding
  return jnp.einsum("...d,vd->...v", query, jnp.asarray(embedding_table, query.dtype))


embeddings.attend_on_embedding = nnx_decoders.attend_on_embedding = attend_in_f32


def hashed(seed, count):
  """count words of 64 bits: SplitMix64's output function at seed * 2^40 + 0, 1, ..."""
  x = np.arange(count, dtype=np.uint64) + np.uint64(seed << 40)
  x = (x + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
  x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
  x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
  return x ^ (x >> np.uint64(31))


def batch(step):
  tokens = (hashed(SEED + step % 5, BATCH * (LENGTH + 1)) % np.uint64(VOCAB)).astype(np.int32).reshape(BATCH, -1)
  positions = np.broadcast_to(np.arange(LENGTH, dtype=np.int32), (BATCH, LENGTH))
  ones = np.ones((BATCH, LENGTH), np.int32)
  return {"inputs": tokens[:, :-1], "targets": tokens[:, 1:], "inputs_position": positions, "targets_position": positions,
          "inputs_segmentation": ones, "targets_segmentation": ones}


def published(config):
  """What MaxText's exporter asks of a config.json."""
  c = config
  text = dict(vocab_size=c.vocab_size, hidden_size=c.emb_dim, intermediate_size=c.mlp_dim, num_hidden_layers=c.num_decoder_layers,
              num_attention_heads=c.num_query_heads, num_key_value_heads=c.num_kv_heads, head_dim=c.head_dim,
              moe_intermediate_size=c.moe_mlp_dim, attention_bias=c.attention_bias)
  block = c.decoder_block.value
  if block == "gemma2": text["num_hidden_layers"] *= 2
  if c.num_experts > 1: text.update(num_experts=c.num_experts, num_local_experts=c.num_experts)
  if block == "gemma4":
    text.update(global_head_dim=c.global_head_dim, num_global_key_value_heads=c.global_num_kv_heads, attention_k_eq_v=c.share_kv_projections)
  if block == "gemma4_small":
    text.update(global_head_dim=c.global_head_dim, attention_k_eq_v=False, hidden_size_per_layer_input=c.hidden_size_per_layer_input,
                vocab_size_per_layer_input=c.vocab_size_per_layer_input, num_kv_shared_layers=c.num_kv_shared_layers,
                use_double_wide_mlp=c.use_double_wide_mlp,
                layer_types=[t.name.lower().replace("local_sliding", "sliding_attention").replace("global", "full_attention")
                             for t in gemma4_small.build_layer_types(c.num_decoder_layers, c.model_name)])
  if block == "mixtral": text["intermediate_size"] = c.moe_mlp_dim
  if block == "deepseek":
    text.update(n_routed_experts=c.num_experts, n_shared_experts=c.shared_experts, first_k_dense_replace=c.first_num_dense_layers,
                q_lora_rank=c.q_lora_rank, kv_lora_rank=c.kv_lora_rank, qk_nope_head_dim=c.qk_nope_head_dim,
                qk_rope_head_dim=c.qk_rope_head_dim, v_head_dim=c.v_head_dim)
  if block == "gemma3":
    vision = dict(hidden_size=1, intermediate_size=1, num_hidden_layers=0, patch_size=1, num_channels=1, image_size=1)
    return {"text_config": text, "vision_config": vision}
  return text


def named(model):
  """MaxText's names, params-decoder-..., and the variables."""
  out = {}
  for path, variable in nnx.to_flat_state(nnx.state(model, (nnx.Param, maxtext_train.moe.MoEBiasVar))):
    out["-".join(("params", *map(str, path)))] = variable
  return out


def export(config, model):
  """The weights under their published names."""
  name, hf = config.model_name, published(config)
  mapping = param_mapping.PARAM_MAPPING[name](hf, config, config.scan_layers)
  hooks = param_mapping.HOOK_FNS[name](hf, config, config.scan_layers, saving_to_hf=True)
  shapes = hf_shape.HF_SHAPE[name](hf)
  if config.attention_type != "mla":  # some of its tables take heads for width / heads wide
    for key in shapes:
      if not isinstance(key, str): continue
      q, kv = config.num_query_heads * config.head_dim, config.num_kv_heads * config.head_dim
      if config.decoder_block.value == "gemma4" and key.startswith("model.layers.") and int(key.split(".")[2]) % 6 == 5:
        q, kv = config.num_query_heads * config.global_head_dim, config.global_num_kv_heads * config.global_head_dim
      for end, shape in (("q_proj", [q, config.emb_dim]), ("k_proj", [kv, config.emb_dim]), ("v_proj", [kv, config.emb_dim]),
                         ("o_proj", [config.emb_dim, q])):
        if key.endswith(f"self_attn.{end}.weight") and config.decoder_block.value != "gemma4_small": shapes[key] = shape
  weights = {k: np.asarray(v.get_value()) for k, v in named(model).items()}
  out = {}
  left = set(weights)
  for key in mapping:
    keys = key if isinstance(key, tuple) else (key,)
    if any("vision" in k for k in keys): continue
    if not all(k in weights for k in keys): continue  # of variants of the family
    left -= set(keys)
    weight = [weights[k] for k in keys] if isinstance(key, tuple) else weights[key]
    out.update(conversion.process_maxtext_param(key, weight, mapping, hooks, shapes, config))
  assert not left, left
  plain = lambda k: k.replace("model.language_model.", "model.")
  return {plain(k): np.ascontiguousarray(np.asarray(v, np.float32)) for k, v in out.items()}


def moved(model):
  """First weights that are bf16 values under their own names too; what starts at 1 or 0 is moved."""
  rng = np.random.default_rng(SEED)
  for name, variable in sorted(named(model).items()):
    w = np.asarray(variable.get_value(), np.float32)
    if w.ndim < 2 or name.endswith(("bias", "sinks")) or "_bias" in name:
      w = w + rng.uniform(-0.1, 0.1, w.shape).astype(np.float32)
    variable.set_value(jnp.asarray(w.astype(ml_dtypes.bfloat16).astype(np.float32)))


def narrow(w):
  """bf16 where nothing is lost."""
  out = w.astype(ml_dtypes.bfloat16)
  return out if (out.astype(np.float32) == w).all() else w


def line_of(step, scalar, config):
  parts = [f"completed step: {step}", "seconds: #", "TFLOP/s/device: #", "Tokens/s/device: #",
           f"total_weights: {scalar['learning/total_weights']}", f"loss: {scalar['learning/loss']:.3f}",
           f"lm_loss: {scalar['learning/lm_loss']:.3f}", f"perplexity: {scalar['learning/perplexity']:.3f}"]
  if config.num_experts > 1: parts.append(f"moe_lb_loss: {scalar['learning/moe_lb_loss']:.6f}")
  return ", ".join(parts)


def run(name, keys):
  config = pyconfig.initialize(["", *COMMON, "base_output_directory=/tmp/maxtext_curves", *merged(SIZES, keys)])
  loop = train_utils.setup_train_loop(config, None)
  state_mesh_shardings, mesh, state = loop[2], loop[4], loop[-1]
  moved(state.model)
  (OUT / name).mkdir(exist_ok=True)
  save_file({k: narrow(v) for k, v in export(config, state.model).items()}, OUT / name / "model.safetensors")
  graph, state = nnx.split(state)
  params_shardings, state_mesh_shardings = sharding.maybe_update_params_sharding_with_opt(config, state_mesh_shardings)
  step_of, _ = train_utils.jit_train_and_eval_step(config, graph, mesh, state, state_mesh_shardings, maxtext_train.train_step,
                                                   maxtext_train.eval_step, None, params_shardings)
  out = {k: [] for k in ("loss", "lm_loss", "moe_lb_loss", "mtp_loss", "raw_grad_norm", "param_norm")}
  with jax.set_mesh(mesh), partitioning.axis_rules(config.logical_axis_rules):
    for step in range(STEPS):
      state, metrics = step_of(state, batch(step))
      for k in out: out[k].append(float(np.float32(metrics["scalar"].get("learning/" + k, 0))))
      if step == 0: line = line_of(step, metrics["scalar"], config)
  for k in ("moe_lb_loss", "mtp_loss"):
    if not any(out[k]): del out[k]
  return {"keys": merged(SIZES, keys), "line": line, **out}


def merged(base, more):
  """The later of two values of a key."""
  return [f"{k}={v}" for k, v in dict(x.split("=", 1) for x in [*base, *more]).items()]


def main():
  OUT.mkdir(parents=True, exist_ok=True)
  path = OUT / "curves.json"
  golden = json.loads(path.read_text()) if path.exists() else {}
  golden.update(versions=VERSIONS, seed=SEED, batch=BATCH, length=LENGTH, vocabulary=VOCAB)
  families = golden.setdefault("families", {})
  for name in sys.argv[1:] or FAMILIES:
    families[name] = run(name, FAMILIES[name])
    f = families[name]
    print(name, f["loss"][0], "->", f["loss"][-1], f["line"])
  path.write_text(json.dumps(golden, indent=0).replace(",\n", ", ") + "\n")


if __name__ == "__main__": main()
