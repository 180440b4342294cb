#!/usr/bin/env python3
"""Writes strata/model/testdata/published_gguf/: models of transformers_models.py as GGUF files.

    tools/goldens/gguf_models.py [CASE ...]

Tensors are laid out as llama.cpp's converter (`conversion/`) does it: rows of queries and keys permuted where rotary
pairs are neighbours, GPT-2 transposed, Gemma's norms plus one, llama3's scaling as the tensor rope_freqs. Needs gguf,
safetensors, torch and numpy.
"""
import json
import math
import pathlib
import re
import sys

import gguf
import numpy as np
from safetensors import safe_open

ROOT = pathlib.Path(__file__).resolve().parents[2]
FROM = ROOT / "strata" / "model" / "testdata" / "published"
OUT = ROOT / "strata" / "model" / "testdata" / "published_gguf"
# case -> architecture
CASES = {"llama": "llama", "llama_biased_tied": "llama", "llama_llama3": "llama", "llama_yarn": "llama",
         "mistral_full": "llama", "smollm3": "smollm3", "qwen2": "qwen2", "qwen3": "qwen3", "gemma": "gemma",
         "gemma2_usual": "gemma2", "gemma3": "gemma3",
         "deepseek_v2": "deepseek2", "deepseek_v3": "deepseek2", "kimi_k2": "deepseek2", "gpt_oss": "gpt-oss", "llama4_interleaved": "llama4",
         "phi3_longrope_long": "phi3", "olmo2": "olmo2", "gpt2": "gpt2", "bert": "bert"}
PAIRED = {"llama", "smollm3"}
# These as newer converters lay latent attention out: W_kv_b in two parts, the cache's widths in the keys.
ABSORBED = {"kimi_k2"}

LAYER = {"input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm", "self_attn.q_proj": "attn_q",
         "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
         "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm", "self_attn.qkv_proj": "attn_qkv",
         "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
         "mlp.gate_up_proj": "ffn_up", "pre_feedforward_layernorm": "ffn_norm",
         "post_feedforward_layernorm": "post_ffw_norm",
         # GPT-OSS
         "self_attn.sinks": "attn_sinks", "mlp.router": "ffn_gate_inp",
         # Llama 4
         **{f"feed_forward.{shared}{part}_proj": f"ffn_{part}{ending}" for part in ("gate", "up", "down")
            for shared, ending in (("", ""), ("shared_expert.", "_shexp"))},
         "feed_forward.router": "ffn_gate_inp",
         # DeepSeek
         "self_attn.q_a_proj": "attn_q_a", "self_attn.q_a_layernorm": "attn_q_a_norm", "self_attn.q_b_proj": "attn_q_b",
         "self_attn.kv_a_proj_with_mqa": "attn_kv_a_mqa", "self_attn.kv_a_layernorm": "attn_kv_a_norm",
         "self_attn.kv_b_proj": "attn_kv_b", "mlp.gate": "ffn_gate_inp",
         "mlp.shared_experts.gate_proj": "ffn_gate_shexp", "mlp.shared_experts.up_proj": "ffn_up_shexp",
         "mlp.shared_experts.down_proj": "ffn_down_shexp", "mlp.experts.gate_proj": "ffn_gate_exps",
         "mlp.experts.up_proj": "ffn_up_exps", "mlp.experts.down_proj": "ffn_down_exps",
         # GPT-2
         "attn.c_attn": "attn_qkv", "attn.c_proj": "attn_output", "ln_1": "attn_norm", "ln_2": "ffn_norm",
         "mlp.c_fc": "ffn_up", "mlp.c_proj": "ffn_down",
         # BERT
         "attention.self.query": "attn_q", "attention.self.key": "attn_k", "attention.self.value": "attn_v",
         "attention.output.dense": "attn_output", "attention.output.LayerNorm": "attn_output_norm",
         "intermediate.dense": "ffn_up", "output.dense": "ffn_down", "output.LayerNorm": "layer_output_norm"}
REST = {"embed_tokens": "token_embd", "norm": "output_norm", "lm_head": "output", "wte": "token_embd",
        "wpe": "position_embd", "ln_f": "output_norm", "embeddings.word_embeddings": "token_embd",
        "embeddings.position_embeddings": "position_embd", "embeddings.token_type_embeddings": "token_types",
        "embeddings.LayerNorm": "token_embd_norm"}


def gguf_name(name, architecture):
    name = re.sub(r"^(model|transformer)\.", "", name)
    if name.endswith("self_attn.sinks"):
        name += ".weight"
    name = name.replace("mlp.gate.e_score_correction_bias", "exp_probs_b.bias")
    stem, ending = name.rsplit(".", 1)
    if match := re.match(r"(?:layers|h|encoder\.layer)\.(\d+)\.(.*)", stem):
        part = LAYER.get(match.group(2), match.group(2))
        if architecture in ("gemma2", "gemma3", "olmo2", "gpt-oss") and match.group(2) == "post_attention_layernorm":
            part = "post_attention_norm"
        return f"blk.{match.group(1)}.{part}.{ending}"
    return f"{REST[stem]}.{ending}"


def permute(rows, heads):
    return rows.reshape(heads, 2, rows.shape[0] // heads // 2, *rows.shape[1:]).swapaxes(1, 2).reshape(rows.shape)


def stacked(folder):
    """The tensors of a safetensors file, those of a layer's experts as one."""
    with safe_open(folder / "model.safetensors", "pt") as f:
        experts = {}
        for name in f.keys():
            value = f.get_tensor(name).float().numpy()
            if match := re.match(r"(.*\.experts)\.(\d+)\.(.*)", name):
                experts.setdefault(f"{match.group(1)}.{match.group(3)}", {})[int(match.group(2))] = value
            else:
                yield name, value
    for name, values in experts.items():
        yield name, np.stack([values[i] for i in range(len(values))])


def latent_parts(config, value):
    """W_kv_b as the product of keys (H, r, n) and that of values (H, v, r)."""
    heads, n, v = config["num_attention_heads"], config["qk_nope_head_dim"], config["v_head_dim"]
    each = value.reshape(heads, n + v, -1)
    return np.ascontiguousarray(each[:, :n].transpose(0, 2, 1)), np.ascontiguousarray(each[:, n:])


def deepseek_keys(w, config, absorbed):
    head, latent = config["qk_nope_head_dim"] + config["qk_rope_head_dim"], config["kv_lora_rank"]
    w.add_key_length(latent + config["qk_rope_head_dim"] if absorbed else head)
    w.add_value_length(latent if absorbed else config["v_head_dim"])
    if absorbed:
        w.add_key_length_mla(head)
        w.add_value_length_mla(config["v_head_dim"])
    w.add_rope_dimension_count(config["qk_rope_head_dim"])
    w.add_kv_lora_rank(latent)
    w.add_q_lora_rank(config["q_lora_rank"])
    w.add_leading_dense_block_count(config["first_k_dense_replace"])
    w.add_expert_count(config["n_routed_experts"])
    w.add_expert_used_count(config["num_experts_per_tok"])
    w.add_expert_feed_forward_length(config["moe_intermediate_size"])
    w.add_expert_shared_count(config["n_shared_experts"])
    w.add_expert_weights_scale(config["routed_scaling_factor"])
    w.add_expert_weights_norm(config["norm_topk_prob"])
    sigmoid = config["model_type"] != "deepseek_v2"
    w.add_expert_gating_func(gguf.ExpertGatingFuncType.SIGMOID if sigmoid else gguf.ExpertGatingFuncType.SOFTMAX)
    if config["n_group"] > 1:
        w.add_expert_group_count(config["n_group"])
        w.add_expert_group_used_count(config["topk_group"])
    if all_dim := config["rope_parameters"].get("mscale_all_dim"):
        w.add_rope_scaling_yarn_log_mul(0.1 * all_dim)


def tensors(folder, config, architecture):
    for name, value in stacked(folder):
        if "pooler" in name:
            continue
        if architecture in PAIRED and ".q_proj." in name:
            value = permute(value, config["num_attention_heads"])
        if architecture in PAIRED and ".k_proj." in name:
            value = permute(value, config["num_key_value_heads"])
        if architecture == "gpt2" and value.ndim == 2 and ".h." in name:
            value = np.ascontiguousarray(value.T)
        if architecture.startswith("gemma") and "norm" in name:
            value = value + 1
        if architecture == "llama4" and ".experts." in name:
            layer = "blk." + re.search(r"layers\.(\d+)\.", name).group(1)
            value = np.ascontiguousarray(value.swapaxes(1, 2))
            if "down_proj" in name:
                yield f"{layer}.ffn_down_exps.weight", value
            else:
                half = value.shape[1] // 2
                yield f"{layer}.ffn_gate_exps.weight", np.ascontiguousarray(value[:, :half])
                yield f"{layer}.ffn_up_exps.weight", np.ascontiguousarray(value[:, half:])
            continue
        if architecture == "gpt-oss" and ".mlp.experts." in name:
            layer = "blk." + re.search(r"layers\.(\d+)\.", name).group(1)
            ending = "bias" if name.endswith("_bias") else "weight"
            value = np.ascontiguousarray(value if ending == "bias" else value.swapaxes(1, 2))
            if "down_proj" in name:
                yield f"{layer}.ffn_down_exps.{ending}", value
            else:
                yield f"{layer}.ffn_gate_exps.{ending}", np.ascontiguousarray(value[:, ::2])
                yield f"{layer}.ffn_up_exps.{ending}", np.ascontiguousarray(value[:, 1::2])
            continue
        if folder.name in ABSORBED and "kv_b_proj" in name:
            layer = gguf_name(name, architecture).replace("attn_kv_b.weight", "")
            keys, values = latent_parts(config, value)
            yield layer + "attn_k_b.weight", keys
            yield layer + "attn_v_b.weight", values
            continue
        yield gguf_name(name, architecture), value


def llama3_divisors(rope, width):
    inverse = 1 / rope["rope_theta"] ** (np.arange(0, width, 2, dtype=np.float32) / width)
    low = rope["original_max_position_embeddings"] / rope["low_freq_factor"]
    high = rope["original_max_position_embeddings"] / rope["high_freq_factor"]
    out = []
    for f in inverse:
        wave = 2 * math.pi / f
        if wave < high:
            out.append(1)
        elif wave > low:
            out.append(rope["factor"])
        else:
            smooth = (rope["original_max_position_embeddings"] / wave - rope["low_freq_factor"]) / (
                rope["high_freq_factor"] - rope["low_freq_factor"])
            out.append(1 / ((1 - smooth) / rope["factor"] + smooth))
    return np.array(out, dtype=np.float32)


def write(case, architecture):
    config = json.loads((FROM / case / "config.json").read_text())
    OUT.mkdir(exist_ok=True)
    w = gguf.GGUFWriter(OUT / f"{case}.gguf", architecture)
    w.add_type("model")
    heads = config.get("num_attention_heads", config.get("n_head"))
    width = config.get("hidden_size", config.get("n_embd"))
    w.add_block_count(config.get("num_hidden_layers", config.get("n_layer")))
    w.add_context_length(config.get("max_position_embeddings", config.get("n_positions")))
    w.add_embedding_length(width)
    w.add_feed_forward_length(config.get("intermediate_size_mlp") or config.get("intermediate_size") or config.get("n_inner") or 4 * width)
    w.add_head_count(heads)
    if "num_key_value_heads" in config:
        w.add_head_count_kv(1 if case in ABSORBED else config["num_key_value_heads"])
    if architecture == "deepseek2":
        deepseek_keys(w, config, case in ABSORBED)
    head = config.get("head_dim") or width // heads
    if head != width // heads and architecture != "deepseek2":
        w.add_key_length(head)
        w.add_value_length(head)
    if "rms_norm_eps" in config:
        w.add_layer_norm_rms_eps(config["rms_norm_eps"])
    else:
        w.add_layer_norm_eps(config.get("layer_norm_eps", config.get("layer_norm_epsilon")))
    if architecture == "gemma2":
        w.add_attn_logit_softcapping(config["attn_logit_softcapping"])
        w.add_final_logit_softcapping(config["final_logit_softcapping"])
        w.add_sliding_window(config["sliding_window"])
    if architecture == "llama4":
        w.add_expert_count(config["num_local_experts"])
        w.add_expert_used_count(config["num_experts_per_tok"])
        w.add_expert_feed_forward_length(config["intermediate_size"])
        w.add_interleave_moe_layer_step(config["interleave_moe_layer_step"])
    if architecture == "gpt-oss":
        w.add_sliding_window(config["sliding_window"])
        w.add_expert_count(config["num_local_experts"])
        w.add_expert_used_count(config["num_experts_per_tok"])
        w.add_expert_feed_forward_length(config["intermediate_size"])
    if architecture == "gemma3":
        w.add_sliding_window(config["sliding_window"])
        w.add_sliding_window_pattern([t == "sliding_attention" for t in config["layer_types"]])
    if rope := config.get("rope_parameters"):
        if architecture == "gemma3":
            w.add_float32("gemma3.rope.freq_base_swa", rope["sliding_attention"]["rope_theta"])
            rope = rope["full_attention"]
        if rope["rope_type"] == "linear":
            w.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
            w.add_rope_scaling_factor(rope["factor"])
        w.add_rope_freq_base(rope["rope_theta"])
        if architecture != "deepseek2":
            w.add_rope_dimension_count(head)
        if rope["rope_type"] == "llama3":
            w.add_tensor("rope_freqs.weight", llama3_divisors(rope, head))
        if rope["rope_type"] == "yarn":
            w.add_rope_scaling_type(gguf.RopeScalingType.YARN)
            w.add_rope_scaling_factor(rope["factor"])
            w.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])
            w.add_rope_scaling_yarn_beta_fast(rope["beta_fast"])
            w.add_rope_scaling_yarn_beta_slow(rope["beta_slow"])
        if rope["rope_type"] == "longrope":
            original = rope["original_max_position_embeddings"]
            factor = config["max_position_embeddings"] / original
            w.add_rope_scaling_orig_ctx_len(original)
            w.add_rope_scaling_attn_factors(math.sqrt(1 + math.log(factor) / math.log(original)))
            w.add_tensor("rope_factors_long.weight", np.array(rope["long_factor"], dtype=np.float32))
            w.add_tensor("rope_factors_short.weight", np.array(rope["short_factor"], dtype=np.float32))
    for name, value in tensors(FROM / case, config, architecture):
        keep = value.ndim == 1  # vectors stay f32, as upstream
        packed = value if keep else gguf.quants.quantize(value, gguf.GGMLQuantizationType.BF16)
        w.add_tensor(name, packed, raw_dtype=None if keep else gguf.GGMLQuantizationType.BF16)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


for case, architecture in CASES.items():
    if len(sys.argv) > 1 and case not in sys.argv[1:]:
        continue
    write(case, architecture)
    print(case, (OUT / f"{case}.gguf").stat().st_size)
