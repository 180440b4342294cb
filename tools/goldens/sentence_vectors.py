#!/usr/bin/env python3
"""Writes strata/engine/testdata/sentences/: a tiny encoder with its tokenizer as sentence-transformers store one, and vectors of texts.

    tools/goldens/sentence_vectors.py

The model has random weights by a seed; the tokenizer is WordPiece, trained on the texts. golden.json holds the tokens by
tokenizers, and the vectors by transformers in f32: each text alone, cut to max_seq_length, the mean of its tokens,
divided by its length. Needs torch, transformers and tokenizers (see VERSIONS).
"""
import json
import pathlib
import sys

sys.path = [p for p in sys.path if pathlib.Path(p or ".").resolve() != pathlib.Path(__file__).resolve().parent]

import tokenizers  # noqa: E402 (tokenizers.py beside this script would be taken for the package of that name)
import torch
import transformers

VERSIONS = {"torch": "2.15.0", "transformers": "5.24.0", "tokenizers": "0.23.3"}
OUT = pathlib.Path(__file__).resolve().parents[2] / "strata" / "engine" / "testdata" / "sentences"
MOST = 24
TEXTS = ["A cat sat on the mat.", "The dog sat on the mat, too!", "Stocks fell sharply on Monday.", "", "naïve café — 東京", "one",
         "word " * 40, "The tide came in over the flat sand and covered the names that they had written there.", "A cat sat on the mat."]


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    made = tokenizers.Tokenizer(tokenizers.models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=100))
    made.normalizer = tokenizers.normalizers.BertNormalizer()
    made.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    made.decoder = tokenizers.decoders.WordPiece()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    made.train_from_iterator(TEXTS, tokenizers.trainers.WordPieceTrainer(vocab_size=120, special_tokens=special, show_progress=False))
    made.post_processor = tokenizers.processors.TemplateProcessing(single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
                                                                   special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    # What published files carry, and sentence-transformers pass over.
    made.enable_truncation(12)
    made.enable_padding(length=12)
    made.save(str(OUT / "tokenizer.json"))
    torch.manual_seed(48)
    config = transformers.BertConfig(vocab_size=made.get_vocab_size(), hidden_size=16, intermediate_size=32, num_hidden_layers=2,
                                     num_attention_heads=4, max_position_embeddings=32)
    model = transformers.BertModel(config, add_pooling_layer=False).eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_((torch.randn_like(weight) * 0.4 + (weight.ndim == 1) * weight).bfloat16().float())
    model.save_pretrained(OUT)
    (OUT / "1_Pooling").mkdir(exist_ok=True)
    write = lambda name, value: (OUT / name).write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n")
    write("1_Pooling/config.json", {"word_embedding_dimension": 16, "pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True})
    write("modules.json", [{"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"}
                           for i, (path, kind) in enumerate([("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")])])
    write("sentence_bert_config.json", {"max_seq_length": MOST, "do_lower_case": False})
    made.no_padding()
    made.enable_truncation(MOST)
    golden = []
    for text in TEXTS:
        ids = made.encode(text).ids
        with torch.no_grad():
            mean = model(torch.tensor([ids])).last_hidden_state[0].mean(0)
        golden.append({"text": text, "tokens": ids, "vector": (mean / mean.norm()).tolist()})
    write("golden.json", golden)


if __name__ == "__main__":
    main()
