#!/usr/bin/env python3
"""Writes strata/train/maxtext/testdata/checkpoints: what MaxText itself saves, and its losses.

    PYTHONPATH=WHEEL JAX_PLATFORMS=cpu DECOUPLE_GCLOUD=TRUE python3.12 tools/goldens/maxtext_checkpoints.py

WHEEL is the unpacked wheel of maxtext 0.2.5 (Apache License 2.0, PyPI) beside jax 0.10.2, flax
0.12.8, optax 0.2.8, orbax-checkpoint 0.12.0, grain, omegaconf, pydantic, jinja2, qwix, aqtp,
jaxtyping. What else it imports (transformers, TensorFlow, services of Google's cloud) is stood in
for by empty modules: none of it touches a model, a step or a checkpoint.

Each case is a model of MaxText's with weights by its own seed 0, saved by its own functions:
FAMILY/0 the parameters alone (save_params_to_path), llama/STEP a whole state (save_checkpoint of
its Checkpointer). losses.json: losses of the same tokens by its own loss_fn, and of the steps that
train_step takes ahead of and behind the saved one.

    ... maxtext_checkpoints.py --read DIR FAMILY    # the loss of what Strata wrote, by MaxText
    ... maxtext_checkpoints.py --add FAMILY...      # these alone, beside those that are there
    ... maxtext_checkpoints.py --rule adam_pax      # state_adam_pax: llama's whole state by another opt_type, and its steps
"""
import importlib, importlib.abc, importlib.machinery, json, os, pathlib, shutil, sys, types, unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = ROOT / "strata/train/maxtext/testdata/checkpoints"
STANDINS = set("""transformers tokenizers datasets tensorflow tensorflow_datasets tensorboardX tokamax tunix vllm
safetensors torch pandas PIL tiktoken pathwaysutils google_cloud_mldiagnostics cloud_accelerator_diagnostics
cloud_tpu_diagnostics ml_goodput_measurement google.cloud psutil tqdm maxtext.trainers.diloco
maxtext.kernels.attention.jax_flash_attention""".split())


class Standin(types.ModuleType):
  __path__ = []

  def __getattr__(self, name):
    if name == "__version__": return "5.13.0"
    if name.startswith("__"): raise AttributeError(name)
    value = type(name, (), {"__init__": lambda self, *args, **keys: None}) if name[:1].isupper() else unittest.mock.MagicMock(name=name)
    setattr(self, name, value)
    return value


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
  def find_spec(self, name, path, target=None):
    if any(name == s or name.startswith(s + ".") for s in STANDINS):
      return importlib.machinery.ModuleSpec(name, self, is_package=True)
    return None

  def create_module(self, spec): return Standin(spec.name)
  def exec_module(self, module): pass


sys.meta_path.insert(0, Finder())
import jax, jax.numpy as jnp, numpy as np
from flax import nnx
from flax.linen import partitioning
import maxtext
os.environ["MAXTEXT_ASSETS_ROOT"] = str(pathlib.Path(maxtext.__path__[0], "assets"))


def load(name):
  """A module of MaxText's; what it misses and is not installed is stood in for."""
  while True:
    try: return importlib.import_module(name)
    except ModuleNotFoundError as e:
      STANDINS.add(e.name)
      for loaded in [m for m in sys.modules if m.startswith("maxtext.")]: del sys.modules[loaded]


train = load("maxtext.trainers.pre_train.train")
from maxtext.configs import pyconfig
from maxtext.common import checkpointing, train_state_nnx
from maxtext.layers import moe
from maxtext.utils import maxtext_utils, model_creation_utils, train_utils

COMMON = """run_name=r base_output_directory=/tmp/maxtext_checkpoints hardware=cpu skip_jax_distributed_system=true
base_emb_dim=16 base_num_query_heads=4 base_num_kv_heads=2 head_dim=8 base_mlp_dim=24 base_num_decoder_layers=2
vocab_size=256 max_target_length=8 per_device_batch_size=2 dataset_type=synthetic dtype=float32 weight_dtype=float32
steps=8 attention=dot_product enable_checkpointing=true async_checkpointing=false checkpoint_period=1
learning_rate=0.01 warmup_steps_fraction=0.25 enable_goodput_recording=false monitor_goodput=false
matmul_precision=highest""".split()
FAMILIES = {
    "llama": "decoder_block=llama2",
    "llama31": "decoder_block=llama2 rope_type=llama3.1 rope_max_timescale=500000",
    "unscanned": "decoder_block=llama2 scan_layers=false",
    "mistral": "decoder_block=mistral",
    "qwen2": "decoder_block=qwen2 attention_bias=true",
    "qwen3": "decoder_block=qwen3 use_qk_norm=true",
    "gemma": "decoder_block=gemma normalization_layer_epsilon=1e-6 mlp_activations=['gelu','linear'] logits_via_embedding=true",
    "gemma2": "decoder_block=gemma2 normalization_layer_epsilon=1e-6 mlp_activations=['gelu','linear'] logits_via_embedding=true "
              "use_post_attn_norm=true use_post_ffw_norm=true attn_logits_soft_cap=50 final_logits_soft_cap=30 "
              "sliding_window_size=4",
    "gemma3": "model_name=gemma3-4b override_model_config=true decoder_block=gemma3 normalization_layer_epsilon=1e-6 mlp_activations=['gelu','linear'] logits_via_embedding=true use_qk_norm=true "
              "use_post_attn_norm=true use_post_ffw_norm=true sliding_window_size=4 base_num_decoder_layers=8",
    "gemma4": "model_name=gemma4-26b override_model_config=true base_num_decoder_layers=12 sliding_window_size=5 global_head_dim=12 "
              "global_num_kv_heads=1 num_experts=4 num_experts_per_tok=2 base_moe_mlp_dim=12 load_balance_loss_weight=0 "
              "sparse_matmul=false megablox=false capacity_factor=-1",
    "gemma4_small": "model_name=gemma4-e2b override_model_config=true scan_layers=false vocab_size=64 base_num_decoder_layers=10 "
                    "base_num_kv_heads=1 sliding_window_size=5 global_head_dim=12 num_kv_shared_layers=5 hidden_size_per_layer_input=6 "
                    "vocab_size_per_layer_input=64",
    "mixtral": "decoder_block=mixtral num_experts=4 num_experts_per_tok=2 base_moe_mlp_dim=24 sparse_matmul=false "
               "megablox=false capacity_factor=-1",
    "qwen3_moe": "decoder_block=qwen3_moe use_qk_norm=true num_experts=4 num_experts_per_tok=2 base_moe_mlp_dim=24 "
                 "sparse_matmul=false megablox=false capacity_factor=-1",
    "gpt_oss": "model_name=gpt-oss-20b override_model_config=true base_num_decoder_layers=4 num_experts=4 num_experts_per_tok=2 base_moe_mlp_dim=24 "
               "sparse_matmul=false megablox=false capacity_factor=-1 sliding_window_size=5 max_position_embeddings=64 "
               "original_max_position_embeddings=16 rope_factor=4",
    "qwen3_next": "model_name=qwen3-next-80b-a3b override_model_config=true base_num_decoder_layers=8 base_mlp_dim=12 num_experts=4 "
                  "num_experts_per_tok=2 base_moe_mlp_dim=12 gdn_num_key_heads=2 gdn_num_value_heads=4 gdn_key_head_dim=4 "
                  "gdn_value_head_dim=6 gdn_chunk_size=4 sparse_matmul=false megablox=false capacity_factor=-1",
    "qwen3_next_unscanned": "model_name=qwen3-next-80b-a3b override_model_config=true base_num_decoder_layers=4 base_mlp_dim=12 num_experts=4 "
                            "num_experts_per_tok=2 base_moe_mlp_dim=12 gdn_num_key_heads=2 gdn_num_value_heads=4 gdn_key_head_dim=4 "
                            "gdn_value_head_dim=6 gdn_chunk_size=4 sparse_matmul=false megablox=false capacity_factor=-1 scan_layers=false",
    "qwen3_5": "model_name=qwen3.5-35b-a3b override_model_config=true base_num_decoder_layers=4 inhomogeneous_layer_cycle_interval=2 "
               "base_mlp_dim=12 num_experts=4 num_experts_per_tok=2 base_moe_mlp_dim=12 gdn_num_key_heads=2 gdn_num_value_heads=4 "
               "gdn_key_head_dim=4 gdn_value_head_dim=6 gdn_chunk_size=4 mrope_section=[1,0,0] sparse_matmul=false megablox=false "
               "capacity_factor=-1",
    "qwen3_5_unscanned": "model_name=qwen3.5-35b-a3b override_model_config=true base_num_decoder_layers=2 inhomogeneous_layer_cycle_interval=2 "
                         "base_mlp_dim=12 num_experts=4 num_experts_per_tok=2 base_moe_mlp_dim=12 gdn_num_key_heads=2 gdn_num_value_heads=4 "
                         "gdn_key_head_dim=4 gdn_value_head_dim=6 gdn_chunk_size=4 mrope_section=[1,0,0] sparse_matmul=false megablox=false "
                         "capacity_factor=-1 scan_layers=false",
    "llama_mtp": "decoder_block=llama2 vocab_size=4 mtp_num_layers=2 mtp_loss_scaling_factor=0.3 mtp_eval_target_module=2",
    "deepseek_mtp": "model_name=deepseek3-671b override_model_config=true vocab_size=8 base_num_kv_heads=4 q_lora_rank=12 kv_lora_rank=10 "
                    "qk_nope_head_dim=6 qk_rope_head_dim=4 v_head_dim=5 first_num_dense_layers=1 base_num_decoder_layers=3 num_experts=8 "
                    "num_experts_per_tok=2 base_moe_mlp_dim=12 n_routing_groups=4 topk_routing_group=2 load_balance_loss_weight=0.01 "
                    "sparse_matmul=true megablox=false capacity_factor=-1 max_position_embeddings=64 original_max_position_embeddings=16 "
                    "rope_factor=4 mtp_num_layers=1 mtp_eval_target_module=1",
    "deepseek_plain": "decoder_block=deepseek attention_type=mla mscale=0 routed_score_func=softmax vocab_size=8 base_num_kv_heads=4 "
                      "q_lora_rank=0 kv_lora_rank=10 qk_nope_head_dim=6 qk_rope_head_dim=4 v_head_dim=5 first_num_dense_layers=1 "
                      "base_num_decoder_layers=3 num_experts=8 num_experts_per_tok=2 base_moe_mlp_dim=12 shared_experts=1 "
                      "sparse_matmul=true megablox=false capacity_factor=-1",
    "olmo3": "model_name=olmo3-7b override_model_config=true base_num_decoder_layers=8 sliding_window_size=5 max_position_embeddings=64 "
             "original_max_position_embeddings=16 rope_factor=4",
}


class Run:
  def __init__(self, family, more=()):
    base = str(pathlib.Path(maxtext.__path__[0], "configs", "base.yml"))
    given = {a.split("=")[0]: a for a in [*COMMON, *FAMILIES[family].split(), *more]}
    self.config = pyconfig.initialize(["x", base, *given.values()])
    self.mesh = maxtext_utils.get_mesh_from_config(self.config, None)
    make, model = model_creation_utils.create_nnx_abstract_model(self.config, self.mesh, None)
    _, tx = train_utils.create_training_optimizer(self.config, model, mesh=self.mesh)
    with jax.set_mesh(self.mesh), partitioning.axis_rules(self.config.logical_axis_rules):
      m = make()
      self.state = train_state_nnx.TrainStateNNX(m, nnx.Optimizer(m, tx, wrt=nnx.Param))

  def batch(self, seed):
    tokens = np.random.default_rng(seed).integers(0, self.config.vocab_size, (2, 9)).astype(np.int32)
    ones = np.ones((2, 8), np.int32)
    positions = np.broadcast_to(np.arange(8, dtype=np.int32), (2, 8))
    return {"inputs": tokens[:, :-1], "inputs_position": positions, "inputs_segmentation": ones,
            "targets": tokens[:, 1:], "targets_position": positions, "targets_segmentation": ones}

  def packed(self, seed):
    """Two documents a row, of which the second row ends in padding; targets are those of each alone."""
    out = self.batch(seed)
    segments = np.array([[1, 1, 1, 2, 2, 2, 2, 2], [1, 1, 1, 1, 2, 2, 0, 0]], np.int32)
    ends = np.concatenate([segments[:, 1:], segments[:, :1] * 0], 1) != segments
    positions = np.array([[0, 1, 2, 0, 1, 2, 3, 4], [0, 1, 2, 3, 0, 1, 0, 1]], np.int32)
    out.update(inputs_segmentation=segments, inputs_position=positions, targets_position=positions,
               targets_segmentation=np.where(ends | (segments == 0), 0, segments))
    return out

  def loss(self, seed):
    with jax.set_mesh(self.mesh), partitioning.axis_rules(self.config.logical_axis_rules):
      _, aux = train.loss_fn(self.state.model, self.config, self.batch(seed), None, None, is_train=True)
      return float(aux["xent_sum"] / aux["total_weights"])

  def further(self, batch):
    """Losses of the next and of further tokens, that of routers, and the share of accepted ones."""
    with jax.set_mesh(self.mesh), partitioning.axis_rules(self.config.logical_axis_rules):
      _, aux = train.loss_fn(self.state.model, self.config, dict(batch), None, None, is_train=True)
      graph, state = nnx.split(self.state)
      scored = train.eval_step(graph, self.config, state, dict(batch))["scalar"]
    return {"lm_loss": float(aux["xent_sum"] / aux["total_weights"]), "mtp_loss": float(aux["mtp_loss"]),
            "moe_lb_loss": float(aux["moe_lb_loss"]),
            "acceptance_rate": float(scored["evaluation/mtp_acceptance_rate_percent"])}

  def step(self, seed):
    """One of train_step; its loss."""
    with jax.set_mesh(self.mesh), partitioning.axis_rules(self.config.logical_axis_rules):
      graph, state = nnx.split(self.state)
      new, metrics = train.train_step(graph, self.config, None, None, state, self.batch(seed))
      nnx.update(self.state, new)
      return float(metrics["scalar"]["learning/loss"])

  def disturb(self):
    """Norms and biases that are not all alike."""
    params = nnx.state(self.state.model, nnx.Param)
    rng = np.random.default_rng(5)
    flat = jax.tree.map(lambda a: a + jnp.asarray(0.1 * rng.standard_normal(a.shape), a.dtype), params)
    nnx.update(self.state.model, flat)
    biases = nnx.state(self.state.model, moe.MoEBiasVar)
    nnx.update(self.state.model, jax.tree.map(lambda a: jnp.asarray(0.1 * rng.standard_normal(a.shape), a.dtype), biases))

  def tree(self):
    """Biases that experts are chosen by stand among parameters, as its converter and Linen's models have them."""
    out = train_state_nnx.to_checkpoint_dict(nnx.state(self.state))
    for path, bias in jax.tree_util.tree_leaves_with_path(nnx.state(self.state.model, moe.MoEBiasVar).to_pure_dict()):
      at = out["params"]["params"]
      for key in path[:-1]: at = at[key.key]
      at[path[-1].key] = bias.T
    return out


def clean(folder):
  for path in folder.rglob("*"):
    if path.name in ("_METRICS", "commit_success.txt") or path.suffix == ".lock": path.unlink()


def one(family):
  """Saves a family's parameters; its row of losses.json."""
  run = Run(family)
  run.disturb()
  row = {"keys": FAMILIES[family].split(), "loss": run.loss(7)}
  row["tokens"] = np.concatenate([run.batch(7)["inputs"], run.batch(7)["targets"][:, -1:]], 1).tolist()
  if run.config.mtp_num_layers > 0:
    packed = run.packed(7)
    row["further"] = {"whole": run.further(run.batch(7)), "packed": run.further(packed),
                      **{key: packed[key].tolist() for key in ("inputs_segmentation", "inputs_position", "targets_segmentation")}}
  checkpointing.save_params_to_path(str(OUT / family / "0"), run.tree()["params"])
  print(family, row["loss"])
  return row


def add(families):
  jax.config.update("jax_default_matmul_precision", "highest")
  losses = json.loads((OUT / "losses.json").read_text())
  for family in families:
    shutil.rmtree(OUT / family, ignore_errors=True)
    losses["families"][family] = one(family)
    clean(OUT / family)
  (OUT / "losses.json").write_text(json.dumps(losses, indent=1) + "\n")


def rule(name):
  jax.config.update("jax_default_matmul_precision", "highest")
  losses = json.loads((OUT / "losses.json").read_text())
  run = Run("llama", [f"opt_type={name}"])
  run.disturb()
  steps = [run.step(20 + i) for i in range(3)]
  root = OUT / f"state_{name}"
  shutil.rmtree(root, ignore_errors=True)
  manager = checkpointing.create_orbax_checkpoint_manager(str(root), True, False, 1)
  checkpointing.save_checkpoint(manager, 2, run.state, run.config, None, True)
  manager.close()
  losses.setdefault("rules", {})[name] = steps + [run.step(20 + i) for i in range(3, 8)]
  clean(root)
  (OUT / "losses.json").write_text(json.dumps(losses, indent=1) + "\n")
  print(name, losses["rules"][name])


def main():
  jax.config.update("jax_default_matmul_precision", "highest")
  shutil.rmtree(OUT, ignore_errors=True)
  OUT.mkdir(parents=True)
  losses = {"versions": {"maxtext": "0.2.5", "jax": jax.__version__}, "keys": COMMON, "families": {}}
  for family in FAMILIES: losses["families"][family] = one(family)
  run = Run("llama")
  run.disturb()
  steps = [run.step(20 + i) for i in range(3)]
  root = OUT / "state"
  manager = checkpointing.create_orbax_checkpoint_manager(str(root), True, False, 1)
  checkpointing.save_checkpoint(manager, 2, run.state, run.config, None, True)
  manager.close()
  steps += [run.step(20 + i) for i in range(3, 8)]
  losses["steps"] = steps
  losses["step_tokens"] = [np.concatenate([run.batch(20 + i)["inputs"], run.batch(20 + i)["targets"][:, -1:]], 1).tolist()
                           for i in range(8)]
  clean(OUT)
  (OUT / "losses.json").write_text(json.dumps(losses, indent=1) + "\n")
  print(steps)


def read(folder, family):
  """The loss of a checkpoint that Strata wrote, loaded by MaxText."""
  run = Run(family)
  params = nnx.state(run.state.model, nnx.Param)
  restored = checkpointing.load_params_from_path(folder, params, 8)
  nnx.update(run.state.model, restored)
  print("loss", run.loss(7))


if __name__ == "__main__":
  {"--read": lambda: read(*sys.argv[2:]), "--add": lambda: add(sys.argv[2:]), "--rule": lambda: rule(sys.argv[2])}.get(sys.argv[1] if len(sys.argv) > 1 else "", main)()
