#!/usr/bin/env python3
"""Writes strata/model/testdata/published/: tiny models of each family as Hugging Face directories, and their logits.

    tools/goldens/transformers_models.py            # all (a minute)
    tools/goldens/transformers_models.py gemma2     # some

Each folder holds what `save_pretrained` writes (config.json, model.safetensors; weights are bf16 values) and
golden.safetensors: tokens (B, S) and, by the released model in f32 on the CPU with its plain attention, logits
(B, S, V), or of encoders the hidden states; of some the gradient of a loss. Weights are normal by a seed; norms and biases are drawn too, so that
nothing that is forgotten stays unseen. Needs torch and transformers (see VERSIONS); takes a Python that has them.
"""
import argparse
import json
import pathlib
import shutil
import sys

sys.path = [p for p in sys.path if pathlib.Path(p or ".").resolve() != pathlib.Path(__file__).resolve().parent]

import torch  # noqa: E402 (tokenizers.py beside this script would be taken for the package of that name)
import transformers
from safetensors.torch import load_file, save_file
from transformers import AutoConfig, AutoModel, AutoModelForCausalLM
from transformers.integrations.mxfp4 import convert_moe_packed_tensors

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = ROOT / "strata" / "model" / "testdata" / "published"
# Of what is written now; each golden's metadata say what wrote it (dense families: torch 2.9.1).
VERSIONS = {"torch": "2.15.0", "transformers": "5.24.0"}
SEED = 48
VOCAB = 48

BASE = dict(vocab_size=VOCAB, hidden_size=16, intermediate_size=24, num_hidden_layers=3, num_attention_heads=4,
            num_key_value_heads=2, max_position_embeddings=64, bos_token_id=1, eos_token_id=2, pad_token_id=0)


def rope(**more):
    return {"rope_type": "default", "rope_theta": 10000.0, **more}


YARN = rope(rope_type="yarn", factor=4.0, original_max_position_embeddings=16, beta_fast=4.0, beta_slow=1.0)
LONG = dict(rope_type="longrope", rope_theta=10000.0, original_max_position_embeddings=16,
            short_factor=[1.0, 1.25], long_factor=[1.5, 3.0])
GEMMA4 = dict(head_dim=8, global_head_dim=12, num_global_key_value_heads=1, attention_k_eq_v=True, sliding_window=5,
              hidden_size_per_layer_input=0, vocab_size_per_layer_input=VOCAB, final_logit_softcapping=12.0)
LLAMA4 = dict(num_hidden_layers=4, head_dim=8, intermediate_size=12, intermediate_size_mlp=20, num_local_experts=4,
              num_experts_per_tok=1)
NEXT = dict(head_dim=8, linear_num_key_heads=2, linear_num_value_heads=4, linear_key_head_dim=4,
            linear_value_head_dim=6, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=8,
            shared_expert_intermediate_size=6)
NEXT35 = {key: value for key, value in NEXT.items() if "expert" not in key and "moe" not in key}
LATENT = dict(num_key_value_heads=4, q_lora_rank=12, kv_lora_rank=10, qk_nope_head_dim=6, qk_rope_head_dim=4,
              v_head_dim=5, moe_intermediate_size=8, num_experts_per_tok=2, first_k_dense_replace=1)

# name -> (model_type, keys over BASE, S)
CASES = {
    "llama": ("llama", dict(head_dim=6, rope_parameters=rope(rope_theta=500000.0)), 12),
    "llama_biased_tied": ("llama", dict(attention_bias=True, mlp_bias=True, tie_word_embeddings=True), 12),
    "llama_llama3": ("llama", dict(head_dim=8, rope_parameters=rope(
        rope_type="llama3", factor=4.0, low_freq_factor=1.0, high_freq_factor=4.0,
        original_max_position_embeddings=16)), 40),
    "llama_linear": ("llama", dict(rope_parameters=rope(rope_type="linear", factor=3.0)), 40),
    "llama_dynamic": ("llama", dict(max_position_embeddings=16, rope_parameters=rope(
        rope_type="dynamic", factor=2.0)), 40),
    "llama_yarn": ("llama", dict(head_dim=8, rope_parameters=YARN), 40),
    "llama_yarn_mscale": ("llama", dict(head_dim=8, rope_parameters={
        **YARN, "mscale": 0.9, "mscale_all_dim": 0.5, "truncate": False}), 40),
    "smollm3": ("smollm3", dict(num_hidden_layers=4), 12),
    "smollm3_sliding": ("smollm3", dict(no_rope_layers=[1, 0, 1], use_sliding_window=True, sliding_window=5), 16),
    "mistral": ("mistral", dict(head_dim=8, sliding_window=5), 16),
    "mistral_full": ("mistral", dict(sliding_window=None), 12),
    "qwen2": ("qwen2", dict(), 12),
    "qwen2_sliding": ("qwen2", dict(use_sliding_window=True, sliding_window=4, max_window_layers=1,
                                    tie_word_embeddings=True), 16),
    "qwen3": ("qwen3", dict(head_dim=8), 12),
    "qwen3_biased": ("qwen3", dict(head_dim=8, attention_bias=True, tie_word_embeddings=True), 12),
    "gemma": ("gemma", dict(head_dim=8), 12),
    "gemma2": ("gemma2", dict(head_dim=8, query_pre_attn_scalar=12, sliding_window=5, attn_logit_softcapping=4.0,
                              final_logit_softcapping=12.0), 16),
    "gemma2_usual": ("gemma2", dict(head_dim=8, query_pre_attn_scalar=8, sliding_window=5), 16),
    "gemma3": ("gemma3_text", dict(head_dim=8, query_pre_attn_scalar=8, sliding_window=5, layer_types=[
        "sliding_attention", "full_attention", "sliding_attention"], rope_parameters={
        "full_attention": rope(rope_theta=1000000.0, rope_type="linear", factor=8.0),
        "sliding_attention": rope()}), 16),
    "gemma4": ("gemma4_text", dict(GEMMA4, num_hidden_layers=7), 16),
    # Experts beside the feed-forward branch; keys and values by projections of their own.
    "gemma4_experts": ("gemma4_text", dict(
        GEMMA4, num_hidden_layers=4, enable_moe_block=True, num_experts=4, top_k_experts=2, moe_intermediate_size=12,
        layer_types=["sliding_attention", "full_attention"] * 2), 16),
    "gemma4_values": ("gemma4_text", dict(GEMMA4, num_hidden_layers=3, attention_k_eq_v=False,
                                          final_logit_softcapping=None), 12),
    # Embeddings of each layer; layers that attend to earlier ones' keys, wider or of one kind.
    "gemma4_e2b": ("gemma4_text", dict(
        GEMMA4, num_hidden_layers=8, num_key_value_heads=1, attention_k_eq_v=False, hidden_size_per_layer_input=6,
        num_kv_shared_layers=4, use_double_wide_mlp=True, layer_types=["sliding_attention", "full_attention"] * 4), 16),
    "gemma4_e4b": ("gemma4_text", dict(
        GEMMA4, num_hidden_layers=4, hidden_size_per_layer_input=4, num_kv_shared_layers=1,
        layer_types=["sliding_attention", "full_attention"] * 2), 12),
    "phi3": ("phi3", dict(sliding_window=None), 12),
    "phi3_partial": ("phi3", dict(num_attention_heads=2, num_key_value_heads=1, sliding_window=6,
                                  rope_parameters=rope(partial_rotary_factor=0.5)), 12),
    "phi3_longrope_short": ("phi3", dict(original_max_position_embeddings=16, rope_parameters=LONG), 16),
    "phi3_longrope_long": ("phi3", dict(original_max_position_embeddings=16, rope_parameters=LONG), 40),
    "olmo2": ("olmo2", dict(), 12),
    "olmo3": ("olmo3", dict(num_hidden_layers=4, sliding_window=5, head_dim=8, rope_parameters={
        "full_attention": {**YARN, "rope_theta": 500000.0},
        "sliding_attention": rope(rope_theta=500000.0)}), 16),
    "mixtral": ("mixtral", dict(num_local_experts=4, num_experts_per_tok=2, sliding_window=None), 12),
    "mixtral_sliding": ("mixtral", dict(num_local_experts=3, num_experts_per_tok=1, sliding_window=5), 16),
    "qwen2_moe": ("qwen2_moe", dict(num_experts=4, num_experts_per_tok=2, moe_intermediate_size=12,
                                    shared_expert_intermediate_size=20, norm_topk_prob=False), 12),
    "qwen2_moe_dense_first": ("qwen2_moe", dict(num_hidden_layers=4, num_experts=6, num_experts_per_tok=3,
                                                moe_intermediate_size=8, shared_expert_intermediate_size=12,
                                                norm_topk_prob=True, mlp_only_layers=[0]), 12),
    "qwen3_moe": ("qwen3_moe", dict(head_dim=8, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=12,
                                    norm_topk_prob=True, mlp_only_layers=[0], tie_word_embeddings=True), 12),
    "deepseek_v2": ("deepseek_v2", dict(
        **LATENT, n_routed_experts=6, n_shared_experts=2, topk_method="group_limited_greedy", n_group=3, topk_group=2,
        routed_scaling_factor=1.5, rope_parameters={**YARN, "mscale": 0.707, "mscale_all_dim": 0.707}), 24),
    "deepseek_v2_lite": ("deepseek_v2", dict({**LATENT, "q_lora_rank": None, "first_k_dense_replace": 0},
                                             n_routed_experts=4, n_shared_experts=1, attention_bias=True), 12),
    "deepseek_v3": ("deepseek_v3", dict(
        **LATENT, n_routed_experts=8, n_shared_experts=1, n_group=4, topk_group=2, routed_scaling_factor=2.5,
        rope_parameters={**YARN, "mscale": 1.0, "mscale_all_dim": 1.0}), 24),
    "deepseek_v3_halves": ("deepseek_v3", dict(
        {**LATENT, "first_k_dense_replace": 2}, n_routed_experts=6, n_shared_experts=2, n_group=1, topk_group=1,
        norm_topk_prob=False, rope_interleave=False), 12),
    # Published as kimi_k2, with the class of deepseek_v3.
    "kimi_k2": ("deepseek_v3", dict({**LATENT, "num_experts_per_tok": 3}, n_routed_experts=12, n_shared_experts=1,
                                    n_group=1, topk_group=1, routed_scaling_factor=2.827,
                                    rope_parameters=rope(rope_theta=50000.0)), 12),
    "gpt_oss": ("gpt_oss", dict(head_dim=8, intermediate_size=12, num_local_experts=4, num_experts_per_tok=2,
                                sliding_window=5,
                                rope_parameters={**YARN, "rope_theta": 150000.0, "truncate": False}), 24),
    # Experts in blocks of MXFP4, as released.
    "gpt_oss_mxfp4": ("gpt_oss", dict(num_hidden_layers=2, hidden_size=32, intermediate_size=32, head_dim=8,
                                      num_local_experts=3, num_experts_per_tok=2, sliding_window=5, swiglu_limit=1.0), 12),
    "llama4": ("llama4_text", dict(LLAMA4, attention_chunk_size=5, floor_scale=4), 16),
    "llama4_interleaved": ("llama4_text", dict(LLAMA4, interleave_moe_layer_step=2), 12),
    "llama4_some_dense": ("llama4_text", dict(
        LLAMA4, num_hidden_layers=5, moe_layers=[0, 3, 4], no_rope_layers=[1, 0, 1, 1, 0], use_qk_norm=False,
        num_experts_per_tok=2, attention_chunk_size=6, floor_scale=3, attn_scale=0.3, rope_parameters=rope(
            rope_type="llama3", factor=4.0, low_freq_factor=1.0, high_freq_factor=4.0,
            original_max_position_embeddings=16)), 20),
    # Eight layers of such weights are 4e-5 from themselves in f64.
    "qwen3_next": ("qwen3_next", dict(NEXT, num_hidden_layers=6, layer_types=2 * [
        "linear_attention", "linear_attention", "full_attention"]), 12),
    "qwen3_next_tail": ("qwen3_next", dict(
        NEXT, num_hidden_layers=5, norm_topk_prob=False, linear_conv_kernel_dim=3, linear_num_value_heads=2,
        rope_parameters=rope(partial_rotary_factor=0.5), layer_types=[
            "linear_attention", "full_attention", "linear_attention", "linear_attention", "full_attention"]), 12),
    "qwen3_5": ("qwen3_5_text", dict(NEXT35, num_hidden_layers=3, tie_word_embeddings=True, layer_types=[
        "linear_attention", "linear_attention", "full_attention"]), 12),
    "qwen3_5_moe": ("qwen3_5_moe_text", dict(
        NEXT, num_hidden_layers=4, full_attention_interval=2, rope_parameters=rope(
            partial_rotary_factor=0.5, mrope_interleaved=True, mrope_section=[1, 1, 0])), 12),
    "gpt2": ("gpt2", dict(), 12),
    "gpt2_inverse": ("gpt2", dict(scale_attn_by_inverse_layer_idx=True, n_inner=20, activation_function="relu"), 12),
    "bert": ("bert", dict(), 12),
}

# Of these the gradient of the mean loss of the next tokens by the table of embeddings is kept too.
TRAINED = {"deepseek_v2", "deepseek_v3", "gemma4_text", "gpt_oss", "llama4_text",
           "qwen3_5_text", "qwen3_5_moe_text", "qwen3_next"}


def config_of(kind, keys):
    base = dict(BASE)
    if kind == "gpt2":
        base = dict(vocab_size=VOCAB, n_embd=16, n_layer=3, n_head=4, n_positions=32, bos_token_id=1, eos_token_id=2)
    if kind == "bert":
        for key in ("num_key_value_heads", "bos_token_id", "eos_token_id"):
            base.pop(key)
    return AutoConfig.for_model(kind, **{**base, **keys})


def draw(model, generator):
    """Weights of about unit gain, norms near one (Gemma's near zero), biases small; rounded to bf16."""
    with torch.no_grad():
        for name, p in sorted(model.named_parameters()):
            noise = torch.randn(p.shape, generator=generator)
            if p.dim() > 1:
                scale = 0.7 if "embed" in name or "wte" in name or "wpe" in name else 1.2 * p.shape[-1] ** -0.5
                value = noise * scale
            else:
                ones = "norm" in name.lower() or "ln_" in name or name.endswith("scale")
                centre = p.detach().clone() if ones else torch.zeros_like(p)
                value = centre + 0.3 * noise
            p.copy_(value.bfloat16().float())
        for name, b in sorted(model.named_buffers()):
            if name.endswith("e_score_correction_bias"):
                b.copy_(0.2 * torch.randn(b.shape, generator=generator))
            if name.endswith("layer_scalar"):
                b.copy_((1 + 0.3 * torch.randn(b.shape, generator=generator)).bfloat16().float())
    model.tie_weights()


def draw_blocks(model, generator):
    """Experts by random blocks of MXFP4: the tensors that stand for them in a file."""
    out = {}
    for name, p in sorted(model.named_parameters()):
        if not name.endswith(("experts.gate_up_proj", "experts.down_proj")):
            continue
        experts, rows, columns = p.shape[0], p.shape[2], p.shape[1]
        blocks = torch.randint(0, 256, (experts, rows, columns // 32, 16), generator=generator).to(torch.uint8)
        scales = torch.randint(122, 126, (experts, rows, columns // 32), generator=generator).to(torch.uint8)
        with torch.no_grad():
            p.copy_(convert_moe_packed_tensors(blocks, scales, dtype=torch.float32))
        out[name] = {f"{name}_blocks": blocks, f"{name}_scales": scales}
    return out


def write(name):
    kind, keys, length = CASES[name]
    generator = torch.Generator().manual_seed(SEED + sum(map(ord, name)))
    config = config_of(kind, keys)
    config._attn_implementation = "eager"
    make = AutoModel if kind == "bert" else AutoModelForCausalLM
    model = make.from_config(config, attn_implementation="eager").float().eval()
    draw(model, generator)
    packed = draw_blocks(model, generator) if name.endswith("mxfp4") else {}
    tokens = torch.randint(3, VOCAB, (2, length), generator=generator)
    golden = {"tokens": tokens.int()}
    with torch.no_grad():
        if kind == "bert":
            mask = torch.ones_like(tokens)
            mask[1, 8:] = 0
            types = torch.zeros_like(tokens)
            types[0, 5:] = 1
            golden["mask"], golden["types"] = mask.int(), types.int()
            golden["hidden"] = model(tokens, attention_mask=mask, token_type_ids=types).last_hidden_state
        else:
            golden["logits"] = model(tokens, use_cache=False).logits
    if kind in TRAINED:
        logits = model(tokens, use_cache=False).logits[:, :-1]
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        table = model.get_input_embeddings().weight
        golden["embedding_gradient"] = torch.autograd.grad(loss, table)[0]
    folder = OUT / name
    if folder.exists():
        shutil.rmtree(folder)
    f32 = {n: b.clone() for n, b in model.named_buffers() if n.endswith("e_score_correction_bias")}
    model.bfloat16()
    for buffer_name, value in f32.items():
        parent, _, leaf = buffer_name.rpartition(".")
        setattr(model.get_submodule(parent), leaf, value)
    model.save_pretrained(folder)
    if packed:
        tensors = load_file(folder / "model.safetensors")
        for weight, parts in packed.items():
            del tensors[weight]
            tensors |= parts
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
        stated = json.loads((folder / "config.json").read_text())
        stated["quantization_config"] = {"quant_method": "mxfp4"}
        (folder / "config.json").write_text(json.dumps(stated, indent=2, sort_keys=True) + "\n")
    if name == "kimi_k2":
        stated = json.loads((folder / "config.json").read_text())
        stated["model_type"] = name
        (folder / "config.json").write_text(json.dumps(stated, indent=2, sort_keys=True) + "\n")
    (folder / "generation_config.json").unlink(missing_ok=True)
    save_file({k: v.contiguous() for k, v in golden.items()}, folder / "golden.safetensors", metadata=VERSIONS)
    size = sum(f.stat().st_size for f in folder.iterdir())
    spread = {k: float(v.max() - v.min()) for k, v in golden.items() if v.is_floating_point()}
    print(f"{name}: {sorted(f.name for f in folder.iterdir())} {size} bytes, range {spread}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", help="names of CASES; all unless given")
    arguments = parser.parse_args()
    found = {"torch": torch.__version__.split("+")[0], "transformers": transformers.__version__}
    if found != VERSIONS:
        raise SystemExit(f"goldens are of {VERSIONS}, this Python has {found}")
    for name in arguments.cases or CASES:
        write(name)


if __name__ == "__main__":
    main()
