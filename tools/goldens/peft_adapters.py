#!/usr/bin/env python3
"""Writes strata/model/testdata/peft/: adapters of the tiny models beside it, as released peft saves and computes them.

    tools/goldens/peft_adapters.py                                  # all (seconds)
    tools/goldens/peft_adapters.py llama                            # some
    tools/goldens/peft_adapters.py --prove llama FOLDER             # an adapter that Strata wrote, loaded by peft

Each folder holds what `PeftModel.save_pretrained` writes (adapter_config.json, adapter_model.safetensors) for the model of
strata/model/testdata/published/ that CASES names, and golden.safetensors: tokens (B, S), the logits (B, S, V) of base and
adapter in f32, the mean cross-entropy of every next token `loss`, its gradients `gradient.<name of the tensor>`, and of one
merged weight `merged.<name>`. A and B are both drawn, so that nothing is hidden by a zero. --prove prints how far the logits
of an adapter that `save_peft` wrote from what it had read are from the golden ones. Needs torch, transformers and peft (see
VERSIONS).
"""
import argparse
import pathlib
import shutil
import sys

sys.path = [p for p in sys.path if pathlib.Path(p or ".").resolve() != pathlib.Path(__file__).resolve().parent]

import peft  # noqa: E402 (tokenizers.py beside this script would be taken for the package of that name)
import torch
import transformers
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = ROOT / "strata" / "model" / "testdata" / "published"
OUT = ROOT / "strata" / "model" / "testdata" / "peft"
VERSIONS = {"torch": "2.15.0", "transformers": "5.24.0", "peft": "0.21.2"}
SEED = 4805

# name -> (model, keys of LoraConfig)
CASES = {
    "llama": ("llama", dict(r=4, lora_alpha=6, target_modules="all-linear")),
    "llama_patterns": ("llama", dict(r=3, lora_alpha=5, use_rslora=True, target_modules=["q_proj", "down_proj", "lm_head"],
                                     rank_pattern={"down_proj": 5}, alpha_pattern={"mlp.down_proj": 7})),
    "qwen2": ("qwen2", dict(r=2, lora_alpha=4, target_modules=["k_proj", "v_proj", "o_proj", "gate_proj"])),
    "phi3": ("phi3", dict(r=3, lora_alpha=6, target_modules=["qkv_proj", "o_proj", "gate_up_proj"])),
    "gpt2": ("gpt2", dict(r=3, lora_alpha=3, target_modules=["c_attn", "attn.c_proj", "c_fc"], fan_in_fan_out=True)),
}


def base_of(name):
    return AutoModelForCausalLM.from_pretrained(MODELS / name, dtype=torch.float32, attn_implementation="eager").eval()


def draw(model, generator):
    with torch.no_grad():
        for name, p in sorted(model.named_parameters()):
            if "lora_" in name:
                p.copy_(torch.randn(p.shape, generator=generator) * 0.5 * p.shape[-1] ** -0.5)


def logits_of(model, tokens):
    with torch.no_grad():
        return model(input_ids=tokens.long(), use_cache=False).logits


def saved_name(name):
    return name.replace(".default.", ".")


def write(name):
    base, keys = CASES[name]
    generator = torch.Generator().manual_seed(SEED + sum(map(ord, name)))
    model = get_peft_model(base_of(base), LoraConfig(task_type="CAUSAL_LM", **keys)).eval()
    draw(model, generator)
    tokens = load_file(MODELS / base / "golden.safetensors")["tokens"]
    golden = {"tokens": tokens.int(), "logits": logits_of(model, tokens)}
    out = model(input_ids=tokens.long(), use_cache=False).logits
    loss = torch.nn.functional.cross_entropy(out[:, :-1].flatten(0, 1), tokens[:, 1:].long().flatten())
    loss.backward()
    golden["loss"] = loss.detach().reshape(1)
    for parameter, p in model.named_parameters():
        if p.grad is not None:
            golden["gradient." + saved_name(parameter)] = p.grad
    folder = OUT / name
    if folder.exists():
        shutil.rmtree(folder)
    model.save_pretrained(folder)
    (folder / "README.md").unlink(missing_ok=True)
    config = (folder / "adapter_config.json").read_text().replace(str(MODELS) + "/", "")
    (folder / "adapter_config.json").write_text(config)
    merged = model.merge_and_unload()
    golden.update({"merged." + k: v for k, v in merged.state_dict().items()
                   if ".1." in k and v.dim() == 2 and k.endswith("weight")})
    save_file({k: v.contiguous() for k, v in golden.items()}, folder / "golden.safetensors", metadata=VERSIONS)
    size = sum(f.stat().st_size for f in folder.iterdir())
    far = float((logits_of(base_of(base), tokens) - golden["logits"]).abs().max())
    print(f"{name}: {sorted(f.name for f in folder.iterdir())} {size} bytes, loss {loss.item():.4f}, base is {far:.2f} away")


def prove(name, folder):
    golden = load_file(OUT / name / "golden.safetensors")
    model = PeftModel.from_pretrained(base_of(CASES[name][0]), folder).eval()
    far = float((logits_of(model, golden["tokens"]) - golden["logits"]).abs().max())
    print(f"{name}: {folder} loaded by peft gives logits within {far:.3g}")
    if not far <= 1e-5:
        raise SystemExit("that is too far")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", help="names of CASES; all unless given")
    parser.add_argument("--prove", nargs=2, metavar=("CASE", "FOLDER"), help="compare an adapter that Strata wrote")
    arguments = parser.parse_args()
    found = {"torch": torch.__version__.split("+")[0], "transformers": transformers.__version__, "peft": peft.__version__}
    if found != VERSIONS:
        raise SystemExit(f"goldens are of {VERSIONS}, this Python has {found}")
    if arguments.prove:
        prove(*arguments.prove)
        return
    for name in arguments.cases or CASES:
        write(name)


if __name__ == "__main__":
    main()
