#!/usr/bin/env python3
"""Writes strata/tokenizer/testdata: three tiny SentencePiece models and what the `sentencepiece` package makes of texts with them.

    tools/goldens/sentencepiece_models.py       # rewrites the files (a few seconds)

`bpe.model` and `unigram.model` are of the kind that `strata data train-tokenizer` makes: bytes for what is unknown, spaces as they are, a
line end as a token of its own. `other.model` is of another's kind: a space in front of each text and no bytes. tokenizers.json holds texts,
their tokens and what the package decodes from them; strata/tokenizer/tokenizer_test.cc reads it.

Needs sentencepiece; makes build/peers with it when this Python has none.
"""
import io
import json
import pathlib
import platform
import random

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = ROOT / "strata/tokenizer/testdata"


try:
    import sentencepiece
except ImportError:
    from peers import again_with

    again_with("sentencepiece")

OURS = dict(byte_fallback=True, normalization_rule_name="identity", add_dummy_prefix=False, remove_extra_whitespaces=False,
            allow_whitespace_only_pieces=True, split_digits=True, user_defined_symbols=["\n"], bos_id=-1, pad_id=-1, unk_id=0, eos_id=1)
MODELS = {
    "bpe": dict(OURS, model_type="bpe", vocab_size=560),
    "unigram": dict(OURS, model_type="unigram", vocab_size=370),
    "other": dict(model_type="unigram", vocab_size=100, normalization_rule_name="identity"),
}


def book():
    """Lines of prose and program with repeated words."""
    draw = random.Random(3)
    lines = []
    for i in range(600):
        words = ["".join(draw.choice(letters) for letters in ("bcdfglmnprst", "aeiou", "nrst")) for _ in range(8)]
        lines += [f"Verse {i * i % 97} of a little book, wherein {' '.join(words)} were divided.",
                  f"def method_{i % 13}(self, value):", "        return self.value + value", "naïve café → αβγ"]
    return lines


TEXTS = [
    "", " ", "\n", "a", "  two  spaces  ", "\n\n\tindented\n        return self.value\n", "Verse 12 of a little book, wherein the waters were divided.\n",
    "def method_7(self, value):\n        return self.value + value\n", "naïve café → αβγ", "unseen: 漢字 🌍 é ﬁ", "0123456789 3.14159",
    "</s><unk><0x41>", "line\r\nline\r\n", "tabs\tand\x01controls\x7f", "x" * 300, " leading", "trailing ", "⁇",
]


def train(options):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(book()), model_writer=model, num_threads=1, minloglevel=2, **options)
    return model.getvalue()


def main():
    OUT.mkdir(exist_ok=True)
    golden = {"made_with": {"sentencepiece": sentencepiece.__version__, "python": platform.python_version()}, "models": {}}
    for name, options in MODELS.items():
        model = train(options)
        (OUT / f"{name}.model").write_bytes(model)
        processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        cases = [{"text": text, "tokens": processor.encode(text), "decoded": processor.decode(processor.encode(text))} for text in TEXTS]
        golden["models"][name] = {"vocab_size": processor.vocab_size(), "cases": cases}
    (OUT / "tokenizers.json").write_text(json.dumps(golden, indent=1, ensure_ascii=True) + "\n")


if __name__ == "__main__":
    main()
