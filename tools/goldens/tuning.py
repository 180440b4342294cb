#!/usr/bin/env python3
"""Writes strata/train/testdata/tuning/: a tiny model that talks, chats, and what PyTorch makes of them.

    tools/goldens/tuning.py            # seconds

The folder is a Hugging Face directory: a Llama of random bf16 values, a byte-level BPE tokenizer that is trained on the
chats, a ChatML template (chat_template.jinja). with_markers.jinja is the same template with {% generation %}.
chats.jsonl holds conversations, pairs.jsonl prompts with completions. golden.safetensors holds, of the first ROWS
conversations, tokens and the assistant's mask by transformers (apply_chat_template with return_assistant_tokens_mask),
padded on the right with -1, and by the model in f32 on the CPU the loss (sum of the answers' cross-entropies by their
number) and the gradient of each parameter. Needs torch and transformers (see VERSIONS); takes a Python that has them.
"""
import json
import pathlib
import random
import sys

sys.path = [p for p in sys.path if pathlib.Path(p or ".").resolve() != pathlib.Path(__file__).resolve().parent]

import tokenizers  # noqa: E402
import torch
import transformers
from safetensors.torch import save_file
from tokenizers import decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = ROOT / "strata" / "train" / "testdata" / "tuning"
VERSIONS = {"torch": "2.15.0", "transformers": "5.24.0", "tokenizers": "0.23.3"}
SEED, VOCAB, ROWS = 48, 320, 6

TEMPLATE = """{%- for message in messages -%}
{{ '<|im_start|>' + message['role'] + '\\n' }}
{%- if message['role'] == 'assistant' -%}
<generation>{{ message['content'] + '<|im_end|>' + '\\n' }}</generation>
{%- else -%}
{{ message['content'] + '<|im_end|>' + '\\n' }}
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}{{ '<|im_start|>assistant\\n' }}{%- endif -%}
"""


def template(markers):
    begin, end = ("{% generation %}", "{% endgeneration %}") if markers else ("", "")
    return TEMPLATE.replace("<generation>", begin).replace("</generation>", end)


THINGS = {"fox": "red", "sky": "blue", "grass": "green", "snow": "white", "coal": "black", "sun": "yellow",
          "rose": "red", "sea": "blue", "leaf": "green", "milk": "white", "night": "black", "lemon": "yellow"}


def conversations():
    draw = random.Random(SEED)
    out = []
    for i in range(96):
        messages = [{"role": "system", "content": "Be brief."}] if i % 3 == 0 else []
        for _ in range(1 + i % 3):
            thing = draw.choice(sorted(THINGS))
            ask = draw.choice(["What colour is the {}?", "Tell me the colour of the {}.", "The {}, what colour?"])
            messages.append({"role": "user", "content": ask.format(thing)})
            messages.append({"role": "assistant", "content": f"The {thing} is {THINGS[thing]}."})
        out.append(messages)
    return out


def main():
    for name, wanted in VERSIONS.items():
        have = {"torch": torch, "transformers": transformers, "tokenizers": tokenizers}[name].__version__
        if have.split("+")[0] != wanted:
            print(f"note: {name} {have}, not {wanted}", file=sys.stderr)
    OUT.mkdir(parents=True, exist_ok=True)
    chats = conversations()
    (OUT / "chats.jsonl").write_text("".join(json.dumps({"messages": m}) + "\n" for m in chats))
    pairs = [{"prompt": m[-2]["content"], "completion": m[-1]["content"]} if i % 2 else
             {"prompt": m[:-1], "completion": m[-1:]} for i, m in enumerate(chats[:24])]
    (OUT / "pairs.jsonl").write_text("".join(json.dumps(p) + "\n" for p in pairs))

    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(
        [x["content"] for m in chats for x in m],
        trainers.BpeTrainer(vocab_size=VOCAB, special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
                            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|im_end|>", pad_token="<|endoftext|>")
    fast.chat_template = template(False)
    fast.save_pretrained(OUT)
    (OUT / "with_markers.jinja").write_text(template(True))

    torch.manual_seed(SEED)
    config = LlamaConfig(vocab_size=VOCAB, hidden_size=32, intermediate_size=48, num_hidden_layers=2,
                         num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=128,
                         bos_token_id=0, eos_token_id=2, pad_token_id=0, tie_word_embeddings=True)
    model = LlamaForCausalLM(config)
    with torch.no_grad():
        for name, p in model.named_parameters():
            p.copy_((1 + torch.randn_like(p) / 8 if "norm" in name else torch.randn_like(p) / 8).bfloat16().float())
    model.bfloat16().save_pretrained(OUT)
    # Read again: rotary frequencies that were once bf16 stay so.
    model = LlamaForCausalLM.from_pretrained(OUT, dtype=torch.float32, attn_implementation="eager")

    nats, count = 0, 0
    rows, masks = [], []
    for messages in chats[:ROWS]:
        got = fast.apply_chat_template(messages, chat_template=template(True), return_dict=True,
                                       return_assistant_tokens_mask=True)
        ids, mask = torch.tensor(got["input_ids"]), torch.tensor(got["assistant_masks"])
        logits = model(ids[None]).logits[0]
        losses = torch.nn.functional.cross_entropy(logits[:-1], ids[1:], reduction="none")
        nats, count = nats + (losses * mask[1:]).sum(), count + int(mask[1:].sum())
        rows.append(ids), masks.append(mask)
    loss = nats / count
    loss.backward()
    longest = max(len(r) for r in rows)
    pad = lambda xs: torch.stack([torch.nn.functional.pad(x, (0, longest - len(x)), value=-1) for x in xs]).int()
    golden = {"tokens": pad(rows), "mask": pad(masks), "loss": loss.detach()[None]}
    golden |= {"gradient." + name: p.grad.contiguous() for name, p in model.named_parameters()}
    save_file(golden, OUT / "golden.safetensors", metadata={
        "torch": torch.__version__, "transformers": transformers.__version__, "seed": str(SEED)})
    print(f"loss {loss.item():.6f} of {count} answer tokens in {ROWS} chats")


if __name__ == "__main__":
    main()
