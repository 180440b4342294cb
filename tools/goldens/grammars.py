#!/usr/bin/env python3
"""Writes strata/engine/testdata/grammars.json: what other readers say of texts under schemas, expressions and grammars.

    schemas   texts and what was made of them by small changes: [text, valid by jsonschema (formats too), taken by xgrammar]
    regexes   the same: [text, whole match by Python's re, taken by xgrammar]
    grammars  the same of EBNF: [text, taken by xgrammar]

Needs xgrammar, jsonschema with its formats, and torch (versions in the file).
"""
import importlib.metadata
import json
import pathlib
import random
import re

import jsonschema
import xgrammar

DATA = pathlib.Path(__file__).resolve().parents[2] / "strata/engine/testdata"
SEED, CHANGES = 11, 24

PERSON = {"type": "object", "properties": {"name": {"type": "string", "minLength": 1, "maxLength": 6}, "age": {"type": "integer", "minimum": 0, "maximum": 130},
                                           "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 2}}, "required": ["name"], "additionalProperties": False}
TREE = {"$defs": {"n": {"type": "object", "properties": {"v": {"type": "number"}, "c": {"type": "array", "items": {"$ref": "#/$defs/n"}}}, "required": ["v"],
                        "additionalProperties": False}}, "$ref": "#/$defs/n"}
SCHEMAS = [
    (PERSON, ['{"name": "Ann"}', '{"name": "Bo", "age": 130, "tags": ["a", "b"]}', '{"name": "Cy", "tags": []}']),
    (TREE, ['{"v": 1}', '{"v": -2.5, "c": [{"v": 0}, {"v": 1e3, "c": []}]}']),
    ({"type": "array", "prefixItems": [{"type": "integer"}, {"type": "boolean"}], "items": False, "minItems": 1}, ["[1]", "[12, true]"]),
    ({"anyOf": [{"type": "null"}, {"type": "integer", "minimum": -12, "maximum": 345}, {"const": "x\n\"é"}]}, ["null", "345", "-12", "0", json.dumps("x\n\"é", ensure_ascii=False)]),
    ({"type": "number", "minimum": -1.5, "exclusiveMaximum": 20.25}, ["0", "-1.5", "20.249", "7.125", "-0.75"]),
    ({"type": "string", "pattern": "^[A-Z][a-z]{1,3}-[0-9]+$"}, ['"Abc-12"', '"Xy-0"']),
    ({"type": "string", "format": "date"}, ['"2024-02-29"', '"1999-12-31"']),
    ({"type": "string", "format": "ipv4"}, ['"192.168.0.1"', '"8.8.8.8"']),
    ({"type": "string", "format": "uuid"}, ['"123e4567-e89b-12d3-a456-426614174000"']),
    ({"type": "string", "format": "date-time"}, ['"2024-02-29T23:59:00Z"', '"2001-01-01T00:00:00.5+02:00"']),
    ({"type": "string", "format": "email"}, ['"a.b@example.org"']),
    ({"type": "string", "format": "ipv6"}, ['"2001:db8::1"', '"::"', '"1:2:3:4:5:6:7:8"']),
    ({"type": "object", "additionalProperties": {"type": "integer"}, "maxProperties": 2}, ["{}", '{"a": 1}', '{"a": 1, "bc": 23}']),
    ({"type": "object", "properties": {"k": {"enum": [1, "1", None, True]}}, "required": ["k"], "additionalProperties": False}, ['{"k": 1}', '{"k": "1"}', '{"k": null}', '{"k": true}']),
    ({"type": "object"}, ["{}", '{"a": [1, {"b": null}], "c": "\\u00e9"}']),
    ({"allOf": [{"type": "integer"}, {"minimum": 10}, {"maximum": 99}]}, ["10", "99", "42"]),
]
REGEXES = [
    (r"[A-Za-z_]\w{0,4}", ["abc", "_x1"]), (r"(?:\+?\d{1,3}[- ]?)?\d{3}-\d{4}", ["555-1234", "+49 555-1234"]), (r"a|bc|d*e+f?", ["a", "bc", "ddef", "e"]),
    (r"[^\s,]+(?:,[^\s,]+)*", ["a,b", "x"]), (r"\"(?:[^\"\\]|\\.)*\"", ['"a\\"b"', '""']), (r"(ab?){2,3}", ["aab", "abab", "aaa"]), (r".{2}é", ["xxé", "ééé"]),
    (r"\d+(\.\d+)?([eE][-+]?\d+)?", ["1.5e-3", "12"]), (r"(([a-c]|x)+\-)*z", ["a-xx-z", "z"]),
]
GRAMMARS = [
    ('root ::= "yes" | "no" [0-9]{1,2}', ["yes", "no7", "no42"]),
    ('root ::= expr\nexpr ::= term (("+" | "-") term)*\nterm ::= [0-9]+ | "(" expr ")"', ["1+2", "(3-(4+5))", "7"]),
    ('root ::= line+\nline ::= "- " [^\\n]+ "\\n"', ["- a\n", "- b c\n- d\n"]),
    ('root ::= "{" (pair ("," pair)*)? "}"\npair ::= key ":" val\nkey ::= [a-z]+\nval ::= root | [0-9]*', ["{}", "{a:1,b:{c:}}"]),
]


def changed(rng, texts):
    out = list(texts)
    for text in texts:
        for _ in range(CHANGES):
            at = rng.randrange(len(text) + 1)
            piece = rng.choice(['"', "a", "0", "9", "-", " ", ",", "}", "]", "1", ".", ":", "e", "é", "\\", "A", "\n"])
            out.append(rng.choice([text[:at] + piece + text[at:], text[:at] + text[at + 1:], text[:at] + piece + text[at + 1:], text[:at]]))
    return list(dict.fromkeys(out))


def valid(validator, text):
    try:
        return validator.is_valid(json.loads(text, parse_constant=lambda _: 1 / 0))
    except (ValueError, ZeroDivisionError):
        return False


class Bytes:
    """xgrammar's matcher over the 256 bytes as tokens."""

    def __init__(self):
        info = xgrammar.TokenizerInfo([bytes([b]) for b in range(256)] + [b"</s>"], vocab_type=xgrammar.VocabType.RAW, stop_token_ids=[256])
        self.compiler = xgrammar.GrammarCompiler(info)

    def takes(self, compiled, text):
        matcher = xgrammar.GrammarMatcher(compiled)
        return all(matcher.accept_token(b) for b in text.encode()) and matcher.accept_token(256)


def main():
    rng, over = random.Random(SEED), Bytes()
    out = {"versions": {name: importlib.metadata.version(name) for name in ("xgrammar", "jsonschema")}, "schemas": [], "regexes": [], "grammars": []}
    for schema, texts in SCHEMAS:
        validator = jsonschema.Draft202012Validator(schema, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER)
        compiled = over.compiler.compile_json_schema(json.dumps(schema))
        out["schemas"].append({"schema": schema, "texts": [[t, valid(validator, t), over.takes(compiled, t)] for t in changed(rng, texts)]})
    for pattern, texts in REGEXES:
        compiled = over.compiler.compile_regex(pattern)
        out["regexes"].append({"pattern": pattern, "texts": [[t, re.fullmatch(pattern, t) is not None, over.takes(compiled, t)] for t in changed(rng, texts)]})
    for grammar, texts in GRAMMARS:
        compiled = over.compiler.compile_grammar(grammar)
        out["grammars"].append({"grammar": grammar, "texts": [[t, over.takes(compiled, t)] for t in changed(rng, texts)]})
    (DATA / "grammars.json").write_text(json.dumps(out, ensure_ascii=False, indent=None, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
