#!/usr/bin/env python3
"""Writes strata/train/maxtext/testdata/GROUP.json.gz: command lines and what MaxText makes of them.

    PYTHONPATH=WHEEL JAX_PLATFORMS=cpu python3.12 tools/goldens/maxtext_config.py [GROUP ...]

WHEEL and packages as in maxtext_tables.py. Each case is one command line with its environment, run
through pyconfig.initialize (but for rules, most of which are tried on the pydantic model alone, whose
errors pyconfig ends with status 2): the values that differ from those of the first of `ways`, or the class
and text of the error. Groups: rules (for each raise of types.py a command line that a seeded search
found), rest (for those that it did not find, those of maxtext_rule_lines.py), pairs (200 lines that cover
pairs of values), models (every model file), ways (precedence, spellings, types, environment).
"""
import ast
import contextlib
import enum
import gzip
import inspect
import io
import itertools
import json
import logging
import math
import os
import pathlib
import random
import re
import sys

# The wheel's own assets, as a checkout of the repository has them.
import maxtext
os.environ["MAXTEXT_ASSETS_ROOT"] = str(pathlib.Path(maxtext.__path__[0], "assets"))
import jax
import jax.numpy as jnp
from maxtext.configs import pyconfig, types
from maxtext.utils import globals as maxtext_globals
import maxtext_rule_lines

ROOT = pathlib.Path(__file__).resolve().parents[2]
ASSETS = str(maxtext_globals.MAXTEXT_ASSETS_ROOT)
CONFIGS = str(pathlib.Path(types.__file__).parent)
BASE = ["run_name=r", "base_output_directory=out", "hardware=cpu", "skip_jax_distributed_system=true"]
SEED = 54
logging.disable(logging.CRITICAL)

# Some package has loaded unittest, which pyconfig takes for a test that wants the exception.
for name in [m for m in sys.modules if m.split(".")[0] == "unittest"]: del sys.modules[name]

# What a run of one process loads once.
cached = {}
load = pyconfig._load_config
def load_once(name):
  if name not in cached: cached[name] = load(name)
  import copy
  return copy.deepcopy(cached[name])
pyconfig._load_config = load_once


def plain(v):
  if isinstance(v, enum.Enum): return v.value
  if isinstance(v, jnp.dtype): return v.name
  if hasattr(v, "model_dump"): return plain(v.model_dump())
  if isinstance(v, dict): return {k: plain(x) for k, x in v.items()}
  if isinstance(v, (list, tuple)): return [plain(x) for x in v]
  if isinstance(v, str): return v.replace(ASSETS, "maxtext/assets").replace(CONFIGS + "/", "").replace(os.getcwd(), "CWD")
  if isinstance(v, float) and not math.isfinite(v): return None  # which JSON cannot say
  return v


def run(arguments, env=()):
  """What MaxText makes of a command line: ("values", ...) or ("error", class, text, code)."""
  failure = []
  handle = pyconfig._handle_config_exception
  pyconfig._handle_config_exception = lambda e: (failure.append(e), handle(e))
  before = dict(os.environ)
  os.environ.pop("XLA_FLAGS", None)
  os.environ.update(dict(env))
  try:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
      config = pyconfig.initialize(["", *arguments])
    return ["values", {k: plain(v) for k, v in config.get_keys().items()}]
  except SystemExit as stop:
    e = failure[0]
    if type(e).__name__ == "ValidationError":
      errors = e.errors()
      text = [[".".join(map(str, x["loc"])), x["type"], plain(x["msg"])] for x in errors]
    else: text = plain(str(e))[:300]
    return ["error", type(e).__name__, text, stop.code]
  finally:
    pyconfig._handle_config_exception = handle
    os.environ.clear(); os.environ.update(before)


def word(value):
  if isinstance(value, str) and re.fullmatch(r"[A-Za-z_][\w./-]*", value) and value.lower() not in ("null", "none", "true", "false", "yes", "no", "on", "off", "y", "n"): return value
  return json.dumps(value)


def line_of(values): return [f"{k}={word(v)}" for k, v in values.items()]


# -- The search for command lines that break a rule --------------------------------------------

source = inspect.getsource(types)
module = ast.parse(source)
keys = types.MaxTextConfig.model_fields
for node in ast.walk(module):
  for child in ast.iter_child_nodes(node): child.parent = node


def keys_in(node):
  return {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute) and n.attr in keys and isinstance(n.value, ast.Name)} | \
      {n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str) and n.value in keys}


constants = {}
for node in ast.walk(module):
  if isinstance(node, (ast.Compare, ast.Call)):
    found = keys_in(node)
    for n in ast.walk(node):
      value = None
      if isinstance(n, ast.Constant) and not isinstance(n.value, bool): value = n.value
      elif isinstance(n, ast.Attribute):
        try: value = eval(ast.unparse(n), vars(types))
        except Exception: continue
        if not isinstance(value, enum.Enum): continue
        value = value.value
      if value is None or isinstance(value, (bytes,)): continue
      for k in found: constants.setdefault(k, []).append(value)


def pool(key):
  """Values to try for a key."""
  text = str(keys[key].annotation)
  out = []
  annotation = keys[key].annotation
  import typing
  for a in (annotation, *typing.get_args(annotation)):
    if isinstance(a, type) and issubclass(a, enum.Enum): out += [m.value for m in a]
    if typing.get_origin(a) is typing.Literal: out += list(typing.get_args(a))
  if typing.get_origin(annotation) is typing.Literal: out += list(typing.get_args(annotation))
  found = constants.get(key, [])
  if "bool" in text: out += [True, False]
  if "list" in text:
    out += [[], [1], [1, 2], [0, 2, 8]] if "int" in text else [[], ["a"]]
    if "str" in text: out += [["a"]]
  if "int" in text and "list" not in text: out += [-1, 0, 1, 2, 3, 4, 8, 64] + [v + d for v in found if isinstance(v, int) for d in (-1, 0, 1)]
  if "float" in text: out += [-1.0, 0.0, 0.5, 1.0, 1.5, 3.0]
  if "str" in text and not out: out += ["", "x", "fixed,1.0"] + [v for v in found if isinstance(v, str) and v not in keys and len(v) < 40]
  if "None" in text or "Optional" in text: out.append(None)
  unique = []
  for v in out:
    if not any(type(v) == type(u) and v == u for u in unique): unique.append(v)
  return unique


# Where each method is called from.
calls = {}
for node in ast.walk(module):
  if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
    name = ast.unparse(node.value.func)
    if name.startswith("self."): calls[name[5:]] = node


def rules():
  """Line, approach lines and keys of each raise and assert outside of RLConfig."""
  out = []
  for node in ast.walk(module):
    if not isinstance(node, (ast.Raise, ast.Assert)): continue
    chain, mine, near = node, set(), set()
    inside = None
    while chain is not module:
      parent = chain.parent
      if isinstance(parent, (ast.ClassDef, ast.Module)) and isinstance(chain, ast.FunctionDef) and chain.name in calls:
        inside, chain = getattr(parent, "name", None), calls[chain.name]
        continue
      if isinstance(parent, ast.ClassDef): inside = parent.name
      if isinstance(parent, ast.If): mine |= keys_in(parent.test)
      if isinstance(parent, (ast.For,)): mine |= keys_in(parent.iter)
      for field in ("body", "orelse"):
        block = getattr(parent, field, None)
        if isinstance(block, list) and chain in block:
          near |= {s.lineno for s in block[:block.index(chain) + 1]}
          for s in block[:block.index(chain)]:
            if isinstance(s, ast.If) and any(isinstance(x, ast.Return) for x in ast.walk(s)): mine |= keys_in(s.test)
            if isinstance(s, ast.Assign): mine |= keys_in(s) if len(keys_in(s)) < 8 else set()
      chain = parent
    if isinstance(node, ast.Assert): mine |= keys_in(node.test)
    if inside == "RLConfig" or inside is None and node.lineno > 3500 and "forced" in ast.unparse(node): continue
    out.append((node.lineno, node.end_lineno, near, mine, isinstance(node, ast.Assert)))
  return out


def executed(kwargs):
  """The lines that validation of these values ran, and the line that raised."""
  lines = set()
  def event(code, line):
    if code.co_filename == types.__file__: lines.add(line)
    else: return sys.monitoring.DISABLE
  sys.monitoring.register_callback(1, sys.monitoring.events.LINE, event)
  sys.monitoring.set_events(1, sys.monitoring.events.LINE)
  os.environ.pop("XLA_FLAGS", None)
  raised = None
  try: types.MaxTextConfig(**kwargs)
  except Exception as e:
    raised = type(e).__name__
  finally: sys.monitoring.set_events(1, 0)
  return lines, raised


# Where long chains of rules begin: what their first rules ask for.
FLASH = {"hardware": "tpu", "ici_context_parallelism": 2, "attention": "flash", "use_tokamax_splash": True}
EXPERTS = {"num_experts": 4, "base_moe_mlp_dim": 7168, "ici_expert_parallelism": 2, "use_ring_of_experts": True,
           "use_ragged_sort": True, "ragged_buffer_factor": 1.5}
SEEDS = [
    {**FLASH, "context_parallel_strategy": "ring"},
    {**FLASH, "context_parallel_strategy": "ring", "attention_type": "mla", "packing": False},
    {**FLASH, "context_parallel_strategy": "ulysses", "context_parallel_load_balance": False},
    {**FLASH, "context_parallel_strategy": "usp", "ici_context_usp_ulysses_parallelism": 2},
    {**EXPERTS, "moe_dropless_fallback": "step"},
    {**EXPERTS, "moe_dropless_fallback": "step", "retry_dropless_first_steps": 1, "first_phase_ragged_buffer_factor": 2.0},
    {**EXPERTS, "use_gmm_v2": True, "use_tokamax_gmm": True, "quantization": "fp8_full", "act_quantization_calibration_method": "fixed,1.0"},
    {"training_objective": "block_diffusion", "attention_type": "block_diffusion", "attention": "dot_product", "packing": False,
     "dataset_type": "hf", "hf_path": "x", "block_diffusion_mask_id": 3},
    {"ici_pipeline_parallelism": 2, "pipeline_fsdp_ag_per_repeat": True, "base_num_decoder_layers": 8},
    {"use_indexer": True, "attention_type": "mla", "q_lora_rank": 8, "attention": "dot_product", "indexer_topk": 8},
    {"use_multimodal": True, "use_sft": True, "sft_train_on_completion_only": True, "packing": False, "model_name": "gemma3-4b"},
    {"use_multimodal": True, "model_name": "gemma4-e2b", "scan_layers": False},
    {"use_dpo": True, "packing": False, "dataset_type": "hf", "hf_path": "x"},
    {"decoder_block": "gpt_oss", "num_experts": 4, "base_moe_mlp_dim": 7168, "sparse_matmul": False},
    {"decoder_block": "deepseek4", "attention": "dot_product"}, {"model_name": "deepseek4-tiny", "num_experts": 4, "base_moe_mlp_dim": 7168,
     "decoder_block": "deepseek4", "attention": "dot_product", "first_num_hash_layers": 1, "ici_expert_parallelism": 2},
    {"enable_diloco": True, "dcn_diloco_parallelism": -1, "num_slices": 4}, {"te_comm_gemm_overlap": "rs"},
    {"use_lineage": True, "decoder_block": "deepseek", "attention_type": "mla", "rope_type": "yarn", "capacity_factor": 1.0},
    {"attention_type": "compressed", "compress_ratios": [0, 4]}, {"hardware": "gpu", "ici_context_parallelism": 2},
    {"hardware": "gpu", "attention": "cudnn_flash_te"}, {"model_name": "gemma4-e2b"}, {"context_parallel_strategy": "ring", "ici_context_parallelism": 2},
    {"ici_context_parallelism": 2, "context_parallel_reorder_strategy": "striped"}, {"check_vma": True}, {"global_parameter_scale": 3},
    {"decoder_block": "qwen3_next", "shard_mode": "explicit"}, {"engram_layers": [1], "hf_access_token": "x"},
    {"te_moe_block": True, "num_experts": 4, "base_moe_mlp_dim": 7168, "prefuse_moe_weights": True, "te_gmm_quantization": "te_no_quant"},
]


def prepared_base():
  """The keywords of an empty command line, as pyconfig hands them to pydantic."""
  import omegaconf
  base = omegaconf.OmegaConf.to_container(load_once(CONFIGS + "/base.yml"))
  base.update(run_name="r", base_output_directory="out", hardware="cpu", skip_jax_distributed_system=True)
  return pyconfig._prepare_for_pydantic(base)


def run_values(prepared, values):
  """What `run` gives of these values, without the files where none of them names a model."""
  if "model_name" in values or values.get("use_jax_splash"): return run(with_base(line_of(values), {}))
  import copy
  os.environ.pop("XLA_FLAGS", None)
  try:
    types.MaxTextConfig(**{**copy.deepcopy(prepared), **pyconfig._prepare_for_pydantic(values)})
  except Exception as e:
    if type(e).__name__ != "ValidationError": return ["error", type(e).__name__, str(e)[:300], 2]
    return ["error", "ValidationError", [[".".join(map(str, x["loc"])), x["type"], plain(x["msg"])] for x in e.errors()], 2]
  return None


def search():
  """Values for as many rules as can be found: (line of the rule, values)."""
  sys.monitoring.use_tool_id(1, "rules")
  rng = random.Random(SEED)
  import copy
  prepared = prepared_base()
  all_rules = rules()
  conditions = {r[0]: r for r in all_rules}
  related = {}
  for start, end, near, mine, _ in all_rules:
    for l in range(start, end + 1): related[l] = mine
  found = {}
  def attempt(values):
    lines, raised = executed({**copy.deepcopy(prepared), **copy.deepcopy(values)})
    fired = None
    if raised:
      fired = next((r[0] for r in all_rules if r[0] in lines and (not r[4])), None)
    return lines, fired, raised
  corpus = [{}, *SEEDS]
  corpus = [(v, attempt(v)) for v in corpus]
  for values, (lines, fired, _) in corpus:
    if fired is not None and fired not in found: found[fired] = (values, lines)
  for target in all_rules:
    start, end, near, mine, is_assert = target
    if start in found: continue
    best, best_score, blockers = {}, -1, set()
      # Begins with what came nearest so far.
    candidates = corpus + [(v, (l, None, None)) for v, l in found.values()]
    best, (lines, *_ ) = max(candidates, key=lambda c: len(near & c[1][0]) - .01 * len(c[0]))
    best_score = len(near & lines)
    for trial in range(100):
      values = dict(best)
      names = sorted(mine | blockers) or ["steps"]
      for k in rng.sample(names, min(len(names), rng.choice([1, 1, 2, 3, 5]))):
        choices = pool(k)
        near_ones = [v for v in choices if v in constants.get(k, [])]
        if near_ones and len(choices) > 8 and rng.random() < .5: choices = near_ones
        if choices: values[k] = rng.choice(choices)
      lines, fired, raised = attempt(values)
      if fired is not None and fired not in found: found[fired] = (values, lines)
      if is_assert and raised and start in lines and max(lines & set(range(start - 400, start + 400)), default=0) and fired is None and start not in found:
        result = run_values(prepared, values)
        if result and "assertion_error" in json.dumps(result[2]): found[start] = (values, lines)
      if start in found: break
      score = len(near & lines)
      if fired: blockers |= related.get(fired, set())
      if score > best_score or score == best_score and rng.random() < .3: best, best_score = values, score
  # Fewest keys that still fire.
  out = []
  for line, (values, _) in sorted(found.items()):
    for k in list(values):
      less = {a: b for a, b in values.items() if a != k}
      lines, fired, raised = attempt(less)
      if fired == line or (conditions[line][4] and raised and fired is None and line in lines): values = less
    out.append((line, values))
  return out


# -- Other groups -------------------------------------------------------------------------------

PAIRS = {
    "model_name": ["llama3.1-8b", "gemma2-2b", "gemma3-4b", "qwen3-8b", "mixtral-8x7b", "deepseek3-671b", "deepseek2-16b", "gpt-oss-20b", "qwen3-30b-a3b", None],
    "per_device_batch_size": [1, 2.0, 0.5, 12, None], "gradient_accumulation_steps": [1, 2, 8, None],
    "max_target_length": [64, 2048, 4096, None], "steps": [-1, 10, 150_001, None], "learning_rate": [1e-05, "3e-4", None],
    "lr_schedule_type": ["cosine", "wsd", None], "warmup_steps_fraction": [0.0, 0.95, None], "dtype": ["float32", "bfloat16", None],
    "weight_dtype": ["bfloat16", None], "mu_dtype": ["bfloat16", "float32", None], "quantization": ["int8", "fp8", "", None],
    "opt_type": ["adamw", "muon", "adam_pax", "sgd", None], "dataset_type": ["synthetic", "hf", "grain", "tfds", None],
    "remat_policy": ["full", "minimal", "custom", "none", None], "override_model_config": ["true", None],
    "base_num_decoder_layers": [2, 4, None], "scan_layers": ["false", "true", None], "attention": ["dot_product", "flash", "autoselected", None],
    "ici_fsdp_parallelism": [1, 4, -1, None], "ici_tensor_parallelism": [2, 1, None], "ici_expert_parallelism": [2, None], "dcn_data_parallelism": [1, 2, None],
    "compile_topology": ["v5e-16", "v5p-8", None], "compile_topology_num_slices": [1, 2, None], "global_parameter_scale": [1, 8, 3, None],
    "sparse_matmul": ["false", None], "capacity_factor": [1.0, None], "packing": ["false", None], "eval_interval": [5, None],
    "custom_mesh_and_rule": ["pure-fsdp", "ep-as-dp", None], "enable_checkpointing": ["false", None], "load_parameters_path": ["p/q", None],
    "adamw_mask": ["norm", "['a','b']", None], "hf_path": ["d/e", None], "grain_train_files": ["f*", None]}


def pairwise(count):
  """Command lines that each cover many pairs of values not yet seen together."""
  rng = random.Random(SEED)
  uncovered = set()
  names = list(PAIRS)
  for a, b in itertools.combinations(range(len(names)), 2):
    for x in range(len(PAIRS[names[a]])):
      for y in range(len(PAIRS[names[b]])): uncovered.add((a, x, b, y))
  out = []
  for _ in range(count):
    best, gain = None, -1
    for _ in range(12):
      # Half of each line stands at its default, so that lines differ in few keys.
      row = [rng.randrange(len(PAIRS[n])) if rng.random() < .35 else len(PAIRS[n]) - 1 for n in names]
      g = sum((a, row[a], b, row[b]) in uncovered for a, b in itertools.combinations(range(len(names)), 2))
      if g > gain: best, gain = row, g
    uncovered -= {(a, best[a], b, best[b]) for a, b in itertools.combinations(range(len(names)), 2)}
    out.append([f"{n}={PAIRS[n][i]}" for n, i in zip(names, best) if PAIRS[n][i] is not None])
  return out


WAYS = [
    (["nonsense_key=1"], {}), (["steps=abc"], {}), (["steps=1.5"], {}), (["steps=12.0"], {}), (["steps='12'"], {}), (["steps=1_000"], {}),
    (["steps=true"], {}), (["run_name=123"], {}), (["learning_rate=1e-05"], {}), (["learning_rate=1.e+2"], {}), (["learning_rate='0.5'"], {}),
    (["enable_dropout=yes"], {}), (["enable_dropout='off'"], {}), (["enable_dropout=2"], {}), (["enable_dropout=1"], {}), (["enable_dropout=1.0"], {}),
    (["dtype=float17"], {}), (["dtype=none"], {}), (["quantization=None"], {}), (["tokenizer_path=''"], {}), (["tokenizer_path=none"], {}),
    (["tokenizer_path=NONE", "model_name=qwen3-8b"], {}), (["model_name=llama3.1-8b"], {}), (["model_name=llama3.1-8b-Instruct"], {}),
    (["model_name=llama3.1-8b", "base_emb_dim=64"], {}), (["model_name=llama3.1-8b", "base_emb_dim=4096"], {}),
    (["model_name=llama3.1-8b", "base_emb_dim=64", "override_model_config=true"], {}), (["model_name=nope"], {}),
    (["model_name=deepseek3-671b-lineage"], {}), (["train_data_columns=messages"], {}), (["train_data_columns=['a','b']"], {}),
    (["train_data_columns=\"['a','b']\""], {}), (["adamw_mask=x"], {}), (["trainable_parameters_mask=\"('p','q')\""], {}),
    ([], {"M_STEPS": "7"}), ([], {"M_STEPS": "1e4"}), ([], {"M_ENABLE_DROPOUT": "t"}), ([], {"M_ENABLE_DROPOUT": "maybe"}), ([], {"M_ENABLE_DROPOUT": "F"}),
    (["steps=3"], {"M_STEPS": "7"}), ([], {"M_QUANTIZATION": "int8"}), ([], {"M_MESH_AXES": "x"}), ([], {"M_MODEL_NAME": "llama3.1-8b"}),
    (["model_name=llama3.1-8b"], {"M_BASE_EMB_DIM": "64"}), (["model_name=llama3.1-8b", "override_model_config=true"], {"M_BASE_EMB_DIM": "64"}),
    (["model_name=llama3.1-8b", "base_emb_dim=64"], {"M_OVERRIDE_MODEL_CONFIG": "true"}), ([], {"M_LEARNING_RATE": "1e-4"}), ([], {"M_LEARNING_RATE": "x"}),
    ([], {"M_NUM_DILOCO_FRAGMENTS": "3"}), ([], {"HF_TOKEN": "secret"}), ([], {"JOBSET_NAME": "job"}), (["run_name="], {"JOBSET_NAME": "job"}),
    (["steps"], {}), (["dpo.dpo_beta=0.3"], {}), (["dpo.nope=1"], {}), (["lora.nope=1"], {}), (["lora.lora_rank=-1"], {}), (["dpo=3"], {}),
    (["post_train/sft.yml"], {}), (["src/maxtext/configs/post_train/sft.yml"], {}), (["src/maxtext/configs/base.yml", "steps=5"], {}), (["nothing.yml"], {}),
    (["src/maxtext/configs/post_train/dpo.yml", "packing=false"], {}), (["logical_axis_rules=[['mlp',['tensor']]]"], {}),
    (["logical_axis_rules=[['mlp',['tensor']]]", "override_logical_axis_rules=true"], {}), (["data_sharding=['data']"], {}),
    (["custom_mesh_and_rule=pure-fsdp"], {}), (["custom_mesh_and_rule=cp-as-ep"], {}), (["custom_mesh_and_rule=wrong"], {}),
    (["custom_mesh_and_rule=pipeline-large-moe"], {}), (["custom_mesh_and_rule_for_eval=ep-as-cp"], {}), (["mu_dtype=int17"], {}), (["mu_dtype=float16"], {}),
    (["ici_parallelism=[1,2]"], {}), (["compile_topology=v9-1"], {}), (["compile_topology=v5p-256", "compile_topology_num_slices=2"], {}),
    (["dropout_rate=1.5"], {}), (["per_device_batch_size=0.25"], {}), (["per_device_batch_size=-1"], {}), (["expansion_factor_real_data=4.0"], {}),
    (["steps=5", "steps=6"], {}), (["base_emb_dim=[1]"], {}), (["base_emb_dim=0x10"], {}), (["base_emb_dim=010"], {}), (["base_emb_dim=1:30"], {}),
    (["enable_rampup_batch_size=true"], {}), (["enable_rampup_batch_size=true", "per_device_batch_size=1"], {}),
    (["remat_policy=custom", "context=device", "mlpwo=offload"], {}), (["num_vocab_tiling=5"], {}), (["hf_train_files=''"], {}),
    (["ici_pipeline_parallelism=2", "base_num_decoder_layers=4"], {}), (["ici_pipeline_parallelism=3"], {}),
    (["ici_pipeline_parallelism=2", "quantization=fp8"], {}), (["chat_template='{% if %}'"], {}), (["chat_template='{{ a }}'"], {}),
    (["image_placeholder=x"], {}), (["use_multimodal=true"], {}), (["steps=5", "steps=[1"], {}), (["learning_rate=.inf"], {}),
    (["base_config=post_train/sft.yml"], {}), (["constant_bound_config='1,2.5'"], {}), (["constant_bound_config='a'"], {}),
    (["dump_hlo_gcs_dir=gs://b/c"], {}), ([], {"XLA_FLAGS": "--a"}), (["dump_hlo_xla_flags=--b"], {"XLA_FLAGS": "--a"}), (["dump_hlo_xla_flags=--b"], {}),
    (["enable_mllog=true"], {}), (["enable_mllog=true", "mllog_file=a.log"], {}), (["attn_logits_soft_cap=0.0"], {}), (["attn_logits_soft_cap=30"], {}),
    (["steps=-1", "learning_rate_schedule_steps=40"], {}), (["eval_per_device_batch_size=3"], {}), (["use_dpo=true", "packing=false", "dataset_type=hf", "hf_path=x"], {}),
    (["use_dpo=true", "packing=false", "dataset_type=hf", "hf_path=x", "dpo.max_prompt_length=4000"], {}), (["internal_compile=true"], {}),
    (["internal_compile=true", "internal_compile_num_devices=6"], {}), (["subslice_shape=2x2", "enable_single_controller=true"], {}),
    (["subslice_shape='2,2'", "enable_single_controller=true"], {}), (["mesh_axes=[a,b]"], {}), (["global_parameter_scale=0"], {}), (["global_parameter_scale=64"], {}),
]


def with_base(arguments, env):
  """The command line with what every case has, where it says nothing of it."""
  given = {a.split("=")[0] for a in arguments} | {k[2:].lower() for k in env}
  if "JOBSET_NAME" in env: given.add("run_name")
  base = [b for b in BASE if b.split("=")[0] not in given]
  if arguments and arguments[0].endswith(".yml"): return [arguments[0], *base, *arguments[1:]]
  return base + arguments


def write(group, cases, more=None):
  out = {"versions": {"maxtext": "0.2.5", "jax": jax.__version__, "python": sys.version.split()[0]}, **(more or {}), "cases": cases}
  path = ROOT / f"strata/train/maxtext/testdata/{group}.json.gz"
  path.parent.mkdir(exist_ok=True)
  with gzip.GzipFile(path, "wb", mtime=0) as f: f.write(json.dumps(out, separators=(",", ":")).encode())
  print(group, len(cases), "cases", path.stat().st_size, "bytes", file=sys.stderr, flush=True)


def rule_cases():
  found, prepared = search(), prepared_base()
  cases = []
  for line, values in found:
    case = {"line": with_base(line_of(values), {}), "env": {}, "rule": line}
    _, case["error"], case["text"], case["code"] = run_values(prepared, values)
    cases.append(case)
  numbers = {c["rule"] for c in cases}
  missing = [r[0] for r in rules() if r[0] not in numbers]
  print("not found:", missing, file=sys.stderr)
  write("rules", cases, {"rules": len(rules()), "not_found": missing})


def rest_cases():
  """Cases of maxtext_rule_lines.py; with those of rule_cases each rule has one, but for BEYOND."""
  with gzip.open(ROOT / "strata/train/maxtext/testdata/rules.json.gz") as f: missing = json.load(f)["not_found"]
  sys.monitoring.use_tool_id(2, "rest")
  lines = set()
  def event(code, line):
    if code.co_filename != types.__file__: return sys.monitoring.DISABLE
    lines.add(line)
  sys.monitoring.register_callback(2, sys.monitoring.events.LINE, event)
  cases = []
  for part, values in maxtext_rule_lines.WRITTEN:
    values = dict(values)
    env, distributed = values.pop("env", {}), values.pop("distributed", False)
    case = {"line": with_base(line_of(values), env), "env": env}
    if distributed: case["distributed"] = True
    lines.clear()
    sys.monitoring.set_events(2, sys.monitoring.events.LINE)
    before = jax.distributed.is_initialized
    jax.distributed.is_initialized = lambda: distributed
    try: _, case["error"], case["text"], case["code"] = run(case["line"], env.items())
    finally:
      jax.distributed.is_initialized = before
      sys.monitoring.set_events(2, 0)
    if part not in json.dumps(case["text"]): raise AssertionError(f"{part}: {case['text']}")
    case["rule"] = max(lines & set(missing), default=None)
    cases.append(case)
  left = sorted(set(missing) - {c["rule"] for c in cases})
  if len(left) != len(maxtext_rule_lines.BEYOND): raise AssertionError(f"rules without a case: {left}")
  write("rest", cases, {"beyond": maxtext_rule_lines.BEYOND})


def line_cases(group, lines):
  reference = run(BASE)[1]
  cases = [] if group != "ways" else [{"line": BASE, "env": {}, "values": reference}]
  for arguments, env in lines:
    case = {"line": with_base(arguments, env), "env": env}
    result = run(case["line"], env.items())
    if result[0] == "values":
      # Different also when only a number's type is.
      case["values"] = {k: v for k, v in result[1].items() if json.dumps(v) != json.dumps(reference[k])}
    else: case["error"], case["text"], case["code"] = result[1:]
    cases.append(case)
  write(group, cases)


def main():
  groups = sys.argv[1:] or ["rules", "rest", "ways", "models", "pairs"]
  models = [p.stem for p in sorted(pathlib.Path(CONFIGS, "models").glob("*.yml"))]
  for group in groups:
    if group == "rules": rule_cases()
    if group == "rest": rest_cases()
    if group == "ways": line_cases(group, WAYS)
    if group == "models": line_cases(group, [([f"model_name={m}"] + (["scan_layers=false"] if m.startswith("gemma4-e") else []), {}) for m in models])
    if group == "pairs": line_cases(group, [(a, {}) for a in pairwise(200)])


if __name__ == "__main__":
  main()
