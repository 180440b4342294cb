#!/usr/bin/env python3
"""Writes strata/tokenizer/unicode_tables.inc: the character classes that the package `tokenizers` uses, asked of it character by character.

    tools/goldens/unicode_tables.py       # rewrites the file (a minute)

The package takes its classes from four libraries of different Unicode versions; tokens must not depend on which of them a system has.
Needs tokenizers 0.23.3; makes build/peers with it when this Python has none.
"""
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = ROOT / "strata/tokenizer/unicode_tables.inc"

try:
    import tokenizers
    from tokenizers import Regex, normalizers, pre_tokenizers
except ImportError:
    from peers import again_with

    again_with("tokenizers")

CATEGORIES = "Cn Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Co".split()
POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
TEXT = "".join(map(chr, POINTS))


def ranges(points):
    out = []
    for c in sorted(points):
        if out and out[-1][1] == c - 1:
            out[-1][1] = c
        else:
            out.append([c, c])
    return out


def matched(pattern):
    """The characters that a regular expression matches."""
    split = pre_tokenizers.Split(Regex(pattern), "removed", invert=True)
    return {ord(c) for piece, _ in split.pre_tokenize_str(TEXT) for c in piece}


def removed_by(normalizer):
    return {c for c in POINTS if normalizer.normalize_str(chr(c)) == ""}


def kept_whole(pre_tokenizer):
    return {c for c in POINTS if len(pre_tokenizer.pre_tokenize_str("a" + chr(c))) == 1 and pre_tokenizer.pre_tokenize_str("a" + chr(c))[0][0] != "a"}


def lower_runs():
    """(first, last, step, difference) of characters that become one lower-case character each."""
    normalizer = normalizers.Lowercase()
    runs = []
    for c in POINTS:
        text = normalizer.normalize_str(chr(c))
        if text == chr(c) or len(text) != 1:
            continue
        difference = ord(text) - c
        if runs and runs[-1][3] == difference and c - runs[-1][1] in (1, 2) and runs[-1][2] in (0, c - runs[-1][1]):
            runs[-1][2], runs[-1][1] = c - runs[-1][1], c
        else:
            runs.append([c, c, 0, difference])
    return runs


def rows(items, width=100):
    line, lines = "", []
    for item in items:
        if len(line) + len(item) + 3 > width:
            lines.append(line)
            line = ""
        line += (" " if line else "    ") + item
    return "\n".join([*lines, line])


def table(name, comment, points):
    items = [f"{{{a:#x}, {b:#x}}}," for a, b in ranges(points)]
    return f"\n// {comment}\nconstexpr Range {name}[] = {{\n{rows(items)}\n}};\n"


def main():
    category = {}
    for name in CATEGORIES[1:]:
        for c in matched(rf"\p{{{name}}}+"):
            category[c] = name
    runs, last = [], None
    for c in range(0x110000):
        now = category.get(c, "Cn")
        if now != last:
            runs.append(f"{{{c:#x}, k{now}}},")
            last = now
    bert = dict(handle_chinese_chars=False, lowercase=False)
    punctuation = {c for c in POINTS if pre_tokenizers.Punctuation("removed").pre_tokenize_str(chr(c)) == []}
    digits = pre_tokenizers.Digits(individual_digits=False)
    text = f"// Written by tools/goldens/unicode_tables.py with tokenizers {tokenizers.__version__}.\n// clang-format off\n"
    text += f"\n// General categories: each holds from its first character to the next row's.\nconstexpr Run kCategories[] = {{\n{rows(runs)}\n}};\n"
    text += table("kWords", "\\w of added tokens and of the pre-tokenizer Whitespace.", kept_whole(pre_tokenizers.Whitespace()))
    text += table("kNumeric", "What the pre-tokenizer Digits calls a digit.", {c for c in POINTS if len(digits.pre_tokenize_str("a" + chr(c))) == 2})
    text += table("kPunctuation", "Punctuation of the pre-tokenizers Punctuation and Bert.", punctuation)
    text += table("kAccents", "What the normalizer StripAccents removes.", removed_by(normalizers.StripAccents()))
    text += table("kBertAccents", "What the normalizer Bert removes as accents.", removed_by(normalizers.BertNormalizer(clean_text=False, strip_accents=True, **bert)))
    text += table("kBertControls", "What the normalizer Bert removes as control characters.", removed_by(normalizers.BertNormalizer(clean_text=True, strip_accents=False, **bert)))
    items = [f"{{{a:#x}, {b:#x}, {max(step, 1)}, {difference}}}," for a, b, step, difference in lower_runs()]
    text += f"\n// Lower case where it is one character: first, last, step, difference.\nconstexpr LowerRun kLower[] = {{\n{rows(items)}\n}};\n"
    OUT.write_text(text + "// clang-format on\n")


if __name__ == "__main__":
    main()
