#!/usr/bin/env python3
"""Writes strata/tokenizer/testdata/huggingface: small tokenizers of each kind and what the package `tokenizers` makes of texts with them.

    tools/goldens/tokenizers_golden.py       # rewrites the files (a minute)

NAME.json are tokenizer.json files that the package trained and wrote; golden.json holds the texts, per tokenizer the tokens with and without
added special ones, what they decode to with and without special ones, and the pieces of its DecodeStream; parts.json what single normalizers,
pre-tokenizers and decoders give. strata/tokenizer/huggingface_test.cc reads them.

Needs tokenizers 0.23.3, sentencepiece and protobuf; makes build/peers with them when this Python has none.
"""
import io
import json
import pathlib
import tempfile

from tokenizer_texts import PLAIN, book, some

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = ROOT / "strata/tokenizer/testdata/huggingface"

try:
    import sentencepiece
    import tokenizers
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
    from tokenizers.decoders import DecodeStream
except ImportError:
    from peers import again_with

    again_with("tokenizers==0.23.3", "sentencepiece", "protobuf")

CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
SPACES = r"|\s*[\r\n]+|\s+(?!\S)|\s+"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
WORD = r"[^\r\n\p{L}\p{N}]?"
PATTERNS = {
    "llama3": CONTRACTIONS + "|" + WORD + r"\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*" + SPACES,
    "qwen2": CONTRACTIONS + "|" + WORD + r"\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*" + SPACES,
    "qwen35": CONTRACTIONS + "|" + WORD + r"[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*" + SPACES,
    "gpt4o": WORD + UPPER + "*" + LOWER + "+" + CONTRACTIONS + "?|" + WORD + UPPER + "+" + LOWER + "*" + CONTRACTIONS + r"?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*" + SPACES,
    "tekken": WORD + UPPER + "*" + LOWER + "+|" + WORD + UPPER + "+" + LOWER + r"*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*" + SPACES,
    "digit": r"\p{N}",
    "digits": r"\p{N}{1,3}",
    "han": "[一-龥぀-ゟ゠-ヿ]+",
    "deepseek": r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*""" + SPACES,
    "gpt2": r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "unknown": r"[a-z]+|\p{Lu}+|\p{N}{2}|\w",
}
ADDED = [AddedToken("[LS]", lstrip=True, normalized=False), AddedToken("[RS]", rstrip=True, normalized=False), AddedToken("Word", single_word=True, normalized=False),
         AddedToken("Norm", normalized=True)]


def split(pattern, behavior="isolated", invert=False):
    return pre_tokenizers.Split(Regex(pattern), behavior, invert)


def trained(model, trainer, **parts):
    tokenizer = Tokenizer(model)
    for name, part in parts.items():
        setattr(tokenizer, name, part)
    tokenizer.train_from_iterator(book(), trainer)
    tokenizer.add_special_tokens([AddedToken("<|sp|>", normalized=False, special=True)])
    tokenizer.add_tokens(ADDED)
    return tokenizer


def byte_level(pre_tokenizer, specials=("<|endoftext|>",), vocab=420, **model):
    return trained(models.BPE(**model), trainers.BpeTrainer(vocab_size=vocab, special_tokens=list(specials), initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False),
                   pre_tokenizer=pre_tokenizer, decoder=decoders.ByteLevel())


def template(single, pair, ids):
    return processors.TemplateProcessing(single=single, pair=pair, special_tokens=ids)


def bytes_alphabet():
    return [f"<0x{b:02X}>" for b in range(256)]


def with_bytes(tokenizer, **changes):
    """The BPE with tokens for bytes, which the trainer does not make."""
    data = json.loads(tokenizer.to_str())
    vocab = data["model"]["vocab"]
    for token in bytes_alphabet():
        vocab.setdefault(token, len(vocab))
    top = len(vocab)
    for token in data["added_tokens"]:
        if token["content"] not in vocab:
            token["id"], top = top, top + 1
    data["model"].update(changes)
    return Tokenizer.from_str(json.dumps(data))


def unigram():
    with tempfile.NamedTemporaryFile("w", suffix=".tsv", encoding="utf-8") as rules:
        pairs = [("\ufb01", "fi"), ("\ufb00", "ff"), ("\u212b", "\u00c5"), ("\u00bd", "1/2"), ("\u00a0", " "), ("e\u0301", "\u00e9"), ("\u200b", " "), ("\uff41", "a"), ("\uff11", "1"), ("\u00ad", " "), ("\u304b\u3099", "\u304c"),
                 ("\u2460", "1"), ("\U0001f469", "W"), ("\t", " "), ("\n", " ")]
        rules.write("\n".join(" ".join(f"{ord(c):X}" for c in a) + "\t" + " ".join(f"{ord(c):X}" for c in b) for a, b in pairs) + "\n")
        rules.flush()
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(book()), model_writer=model, model_type="unigram", vocab_size=700, normalization_rule_tsv=rules.name, num_threads=1,
                                                 minloglevel=2, character_coverage=0.98, hard_vocab_limit=False)
    from sentencepiece import sentencepiece_model_pb2 as pb
    proto = pb.ModelProto.FromString(model.getvalue())
    tokenizer = Tokenizer(models.Unigram([(p.piece, p.score) for p in proto.pieces], 0, False))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Precompiled(proto.normalizer_spec.precompiled_charsmap), normalizers.Replace(Regex(" {2,}"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.post_processor = template("$A </s>", "$A </s> $B </s>", [("</s>", 2)])
    tokenizer.add_special_tokens([AddedToken("<s>", special=True, normalized=False), AddedToken("</s>", special=True, normalized=False), AddedToken("<|sp|>", normalized=False, special=True)])
    tokenizer.add_tokens(ADDED)
    return tokenizer


def all_tokenizers():
    out = {}
    out["gpt2"] = byte_level(pre_tokenizers.ByteLevel(add_prefix_space=False))
    out["gpt2"].post_processor = processors.ByteLevel(trim_offsets=False)
    out["smollm"] = byte_level(pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)]))
    out["smollm"].normalizer = normalizers.NFC()
    raw = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    out["llama3"] = byte_level(pre_tokenizers.Sequence([split(PATTERNS["llama3"]), raw]), specials=("<|begin|>",), ignore_merges=True)
    out["llama3"].post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), template("<|begin|> $A", "<|begin|> $A <|begin|>:1 $B:1", [("<|begin|>", 0)])])
    out["gpt4o"] = byte_level(pre_tokenizers.Sequence([split(PATTERNS["gpt4o"]), raw]))
    out["deepseek"] = byte_level(pre_tokenizers.Sequence([split(PATTERNS["digits"]), split(PATTERNS["han"]), split(PATTERNS["deepseek"]), raw]))
    out["roberta"] = byte_level(pre_tokenizers.ByteLevel(add_prefix_space=True), specials=("<s>", "<pad>", "</s>"))
    out["roberta"].post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    sp = trained(models.BPE(unk_token="<unk>", fuse_unk=True), trainers.BpeTrainer(vocab_size=500, special_tokens=["<unk>", "<s>", "</s>"], limit_alphabet=120, show_progress=False),
                 normalizer=normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]))
    sp.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    sp.post_processor = template("<s> $A", "<s> $A <s>:1 $B:1", [("<s>", 1)])
    out["llama2"] = with_bytes(sp, byte_fallback=True)
    meta = trained(models.BPE(unk_token="<unk>"), trainers.BpeTrainer(vocab_size=400, special_tokens=["<unk>"], limit_alphabet=100, show_progress=False),
                   pre_tokenizer=pre_tokenizers.Metaspace(prepend_scheme="first", split=True), decoder=decoders.Metaspace(prepend_scheme="first"))
    out["metaspace"] = meta
    out["suffixed"] = trained(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>", fuse_unk=False), trainers.BpeTrainer(vocab_size=400, special_tokens=["<unk>"], limit_alphabet=90, end_of_word_suffix="</w>", show_progress=False),
                              normalizer=normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()]), pre_tokenizer=split(PATTERNS["unknown"], "removed", True),
                              decoder=decoders.BPEDecoder())
    out["prefixed"] = trained(models.BPE(unk_token="[UNK]", continuing_subword_prefix="##"), trainers.BpeTrainer(vocab_size=400, special_tokens=["[UNK]"], limit_alphabet=90, continuing_subword_prefix="##", show_progress=False),
                              pre_tokenizer=pre_tokenizers.Whitespace(), decoder=decoders.WordPiece())
    out["unigram"] = unigram()
    bert = trained(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=40), trainers.WordPieceTrainer(vocab_size=500, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], limit_alphabet=150, show_progress=False),
                   normalizer=normalizers.BertNormalizer(), pre_tokenizer=pre_tokenizers.BertPreTokenizer(), decoder=decoders.WordPiece())
    bert.post_processor = template("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", [("[CLS]", 2), ("[SEP]", 3)])
    out["bert"] = bert
    cased = trained(models.WordLevel(unk_token="<unk>"), trainers.WordLevelTrainer(vocab_size=300, special_tokens=["<unk>", "<cls>", "<sep>"], show_progress=False),
                    normalizer=normalizers.Sequence([normalizers.NFKD(), normalizers.StripAccents(), normalizers.Strip(), normalizers.Lowercase()]),
                    pre_tokenizer=pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation()]))
    cased.post_processor = processors.BertProcessing(("<sep>", 2), ("<cls>", 1))
    out["wordlevel"] = cased
    return out


def stream(tokenizer, ids):
    out, steps = [], DecodeStream(skip_special_tokens=False)
    try:
        for token in ids:
            out.append(steps.step(tokenizer, token) or "")
    except Exception:  # a token changes what was handed out
        return None
    return out


def parts(texts):
    kinds = {
        "normalizer": [normalizers.NFC(), normalizers.NFD(), normalizers.NFKC(), normalizers.NFKD(), normalizers.Lowercase(), normalizers.Strip(), normalizers.Strip(left=False), normalizers.StripAccents(), normalizers.Nmt(),
                       normalizers.BertNormalizer(), normalizers.BertNormalizer(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=True), normalizers.Prepend("▁"), normalizers.Replace("a", "bb"),
                       normalizers.Replace(Regex(r"\s{2,}|[0-9]"), "_"), normalizers.ByteLevel()],
        "pre_tokenizer": [pre_tokenizers.ByteLevel(), pre_tokenizers.Digits(), pre_tokenizers.Digits(True), pre_tokenizers.Whitespace(), pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation(), pre_tokenizers.Punctuation("removed"),
                          pre_tokenizers.BertPreTokenizer(), pre_tokenizers.CharDelimiterSplit("-"), pre_tokenizers.UnicodeScripts(), pre_tokenizers.FixedLength(3), pre_tokenizers.Metaspace(), pre_tokenizers.Metaspace(prepend_scheme="never", split=False)]
                         + [pre_tokenizers.Split(" ", b) for b in ("removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous")]
                         + [split(r"\d|[aeiou]+", b, True) for b in ("removed", "merged_with_previous", "merged_with_next", "contiguous")] + [split(p) for p in PATTERNS.values()],
    }
    out = []
    for kind, items in kinds.items():
        for item in items:
            holder = Tokenizer(models.BPE())
            setattr(holder, kind, item)
            part = json.loads(holder.to_str())[kind]
            give = item.normalize_str if kind == "normalizer" else lambda t, item=item: [s for s, _ in item.pre_tokenize_str(t)]
            out.append({"kind": kind, "part": part, "given": [give(t) for t in texts]})
    tokens = ["▁Hello", "▁world", "<0xE6>", "<0x9D>", "<0xB1>", "a</w>", "##ing", "ing", "<0xff>", "x", "x", "|", "<pad>", " .", "don", " n't", " ", "  y", "Ġthe", "Ã©"]
    for item in [decoders.ByteLevel(), decoders.Metaspace(), decoders.Metaspace(prepend_scheme="never"), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0), decoders.Strip("g", 0, 1), decoders.Replace("o", "00"), decoders.WordPiece(),
                 decoders.WordPiece(cleanup=False), decoders.BPEDecoder(), decoders.CTC(), decoders.Sequence([decoders.ByteFallback(), decoders.Fuse(), decoders.Strip("▁", 1, 0)])]:
        holder = Tokenizer(models.BPE())
        holder.decoder = item
        out.append({"kind": "decoder", "part": json.loads(holder.to_str())["decoder"], "given": [item.decode(tokens[i:]) for i in range(len(tokens))]})
    return {"texts": texts, "tokens": tokens, "parts": out}


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    texts = PLAIN + some(90, 5)
    golden = {"made_with": {"tokenizers": tokenizers.__version__, "sentencepiece": sentencepiece.__version__}, "texts": texts, "tokenizers": {}}
    for name, tokenizer in all_tokenizers().items():
        tokenizer.save(str(OUT / f"{name}.json"), pretty=False)
        tokenizer = Tokenizer.from_file(str(OUT / f"{name}.json"))
        cases = []
        for i, text in enumerate(texts):
            ids, around = tokenizer.encode(text, add_special_tokens=False).ids, tokenizer.encode(text).ids
            case = {"ids": ids, "decoded": tokenizer.decode(ids, skip_special_tokens=False), "plain": tokenizer.decode(ids)}
            if around != ids:
                before = next(k for k in range(len(around)) if around[k:k + len(ids)] == ids)
                case["around"] = [around[:before], around[before + len(ids):]]
            for short in ("decoded", "plain"):
                if case[short] == text:
                    case[short] = 1
            if i % 3 == 0:
                case["stream"] = stream(tokenizer, ids)
            cases.append(case)
        golden["tokenizers"][name] = cases
    for name, data in (("golden", golden), ("parts", parts(PLAIN[:60] + PLAIN[-20:]))):
        (OUT / f"{name}.json").write_text(json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
