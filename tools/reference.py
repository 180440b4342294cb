#!/usr/bin/env python3
"""Writes docs/reference/: every public name with its signature, what its header says of it, and an example.

    tools/reference.py              # rewrites the pages
    tools/reference.py --check      # `ok PAGE` or `FAIL PAGE: reason`: names without a docstring, pages that are not current
    tools/reference.py --out DIR    # writes them elsewhere

Public is what the headers in PUBLIC declare outside of `internal` and `detail`, and the public members of its classes.
A docstring is the `///` comment before one of a name's declarations. A function that only calls another one is documented by
that (a member by the function of its name that it calls), a struct of options by the functions that take it, a struct of results by those that return it. Data members, constructors
and operators of classes may do without. An example is a call with its value that docs/examples_*.cc print, else the
shortest statement of the tutorial or the examples that uses the name.
"""
import argparse
import collections
import dataclasses
import functools
import json
import pathlib
import re
import sys

import cpp_declarations

ROOT = pathlib.Path(__file__).resolve().parents[1]
OUT = ROOT / "docs" / "reference"
# What a program includes: core.h and all of the api that it reaches, and the rooms that it names besides.
PUBLIC = ["strata/core.h", "strata/api/*.h", "strata/api/*/*.h", "strata/api/*/*/*.h", "strata/nn/*.h", "strata/nn/*/*.h", "strata/model/*.h", "strata/model/llama/*.h", "strata/optim/*.h", "strata/optim/*/*.h", "strata/checkpoint/arrays.h", "strata/checkpoint/checkpoint.h", "strata/checkpoint/contents.h", "strata/checkpoint/safetensors.h",
          "strata/tree/*.h", "strata/type/dtype.h", "strata/type/type.h", "strata/type/literal.h", "strata/base/error.h", "strata/base/result.h", "strata/embed/strata.h"]
# For those who work on the api, and structures that another standard defines.
PRIVATE = {f"strata/api/{name}.h" for name in ("transform/axes", "sharding/axis_types", "trace/call", "trace/compose", "dlpack", "trace/eager", "trace/function", "trace/integer_index", "matrices", "trace/memory", "trace/shared_operands", "trace/trace",
                                               "numpy/einsum/einsum_search", "random/draw", "random/generators", "lax/convolution_padding", "scipy/rational")}
# Folders that hold the files of one subject: names of pages do not have them.
FAMILIES = re.compile(r"(?<=api/)(transform|sharding|trace)/|(?<=api/numpy/)(index|shape|einsum)/")
FOR_TESTS = re.compile(r"golden|testing")
# Members by which the library, the language or an algorithm reads a class; public where they have a docstring.
SERVING = {"strata_fields", "strata_field_names", "strata_leaves_members_out", "static_text", "append_structure", "append_metadata", "accept", "metadata_ref",
           "value_type", "difference_type", "reference", "pointer", "iterator_category", "iterator_concept"}
GENERATED = "<!-- by tools/reference.py from the header: do not edit -->"
INCLUDE = re.compile(r'^#include "(strata/[^"]+)"', re.M)
CALLS = re.compile(r"^\{\s*(?:return\s+)?([\w:]+)(?:<[^>]*>)?[({]")


@dataclasses.dataclass
class Entry:
    name: str
    kind: str
    header: str
    line: int
    signatures: list
    doc: str
    members: list = dataclasses.field(default_factory=list)  # of a class: (declaration's text, doc, name)
    also: list = dataclasses.field(default_factory=list)     # other names of the same
    example: str = ""
    source: str = ""


@functools.lru_cache(maxsize=None)
def text_of(name):
    return (ROOT / name).read_text()


def public_headers():
    reached, stack = set(), ["strata/core.h"]
    while stack:
        one = stack.pop()
        if one not in reached:
            reached.add(one)
            stack += INCLUDE.findall(text_of(one))
    found = {str(p.relative_to(ROOT)) for pattern in PUBLIC for p in ROOT.glob(pattern)}
    named = lambda h: h in reached or not h.startswith("strata/api/") or h.startswith("strata/api/tree/")
    return sorted(h for h in found if h not in PRIVATE and not FOR_TESTS.search(h.rpartition("/")[2]) and named(h))


def owner(name):
    return name.rpartition("::")[0]


def last(name):
    return name.rpartition("::")[2]


def called(declaration):
    """The function whose other name this is, or nothing."""
    match = CALLS.match(declaration.body)
    return last(match.group(1)) if match and declaration.body.count(";") == 1 and last(match.group(1)) != last(declaration.name) else ""


def listed(names):
    names = [f"`{n}`" for n in names[:4]] + (["others"] if len(names) > 4 else [])
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def uses(entries, pattern):
    """Functions whose signatures match, and classes with such members."""
    signatures = lambda e: e.signatures if e.kind == "function" else [m[0] for m in e.members if m[3] == "function"]
    return [e.name for e in entries if any(re.search(pattern, s) for s in signatures(e))]


def derived_doc(entry, declarations, entries):
    """What the functions beside it say of an entry without a docstring."""
    if others := [called(d) for d in declarations if called(d)]:
        scope = owner(entry.name)
        return f"The same as `{scope}::{others[0]}`." if scope else f"The same as `{others[0]}`."
    if entry.kind == "class":
        near = [e for e in entries if owner(e.name) == owner(entry.name)]
        if takers := uses(near, rf"[(,]\s*(?:const )?{last(entry.name)}&?(?: \w+)?(?: = |,|\))"):
            return f"Options of {listed(takers)}."
        if givers := uses(near, rf"^(?:inline |template <[^>]*> )*{last(entry.name)} \w+\("):
            return f"What {listed(givers)} returns."
    return ""


def member_doc(member, overloads, documented):
    """What the function says that a member without a docstring calls: one of its name, or another member."""
    if member.doc or member.kind != "function" or any(d.doc for d in overloads if d.name == member.name) or member.body.count(";") != 1:
        return member.doc
    name, scope = re.escape(last(member.name)), owner(member.name)
    other = called(member) if not re.search(r"\)\s*[^\s);}]", member.body) and name.isidentifier() else ""
    if other and any(d.name == f"{scope}::{other}" for d in overloads):
        return f"The same as `{other}`."
    for match in re.finditer(rf"(?<![\w:])((?:\w+::)+{name})\(", member.body):
        around = owner(scope)
        while around and f"{around}::{match.group(1)}" not in documented:
            around = owner(around)
        if (found := f"{around}::{match.group(1)}" if around else match.group(1)) in documented:
            return f"As `{found}`."
    return ""


def entries_of(headers):
    declarations = [d for h in headers for d in cpp_declarations.read(h, text_of(h))]
    classes = {d.name for d in declarations if d.kind == "class"}
    by_name, of_class, names_of = collections.defaultdict(list), collections.defaultdict(list), collections.defaultdict(list)
    for d in declarations:
        if d.kind == "using" and owner(d.name) not in classes:
            target = re.match(r"using ([\w:]+)", d.signature).group(1).removeprefix("strata::")
            names_of[target].append(d.name)
        elif owner(d.name) in classes:
            of_class[owner(d.name)].append(d)
        else:
            by_name[d.name].append(d)
    entries, documented = [], {name for name, found in by_name.items() if any(d.doc for d in found)}
    for name, found in by_name.items():
        signatures = list(dict.fromkeys(d.signature for d in found))
        docs = list(dict.fromkeys(d.doc for d in found if d.doc))
        overloads = of_class[name]
        members = [(d.signature, member_doc(d, overloads, documented), d.name, d.kind) for d in overloads if last(d.name) != "named" and (d.doc or last(d.name) not in SERVING)]
        entries.append(Entry(name, found[0].kind, found[0].header, found[0].line, signatures, " ".join(docs), members))
    for entry in entries:
        entry.doc = entry.doc or derived_doc(entry, by_name[entry.name], entries)
        entry.also = sorted({n for target, names in names_of.items() if entry.name == target or entry.name.endswith("::" + target) for n in names if n != entry.name})
    return entries


# ---- what lacks a docstring -------------------------------------------------


def undocumented(entries):
    for e in entries:
        if not e.doc:
            yield e.header, e.line, e.name
        documented = {name for _, doc, name, _ in e.members if doc}
        for _, doc, name, kind in e.members:
            member = last(name)
            exempt = kind == "value" or member in ("State",) or member == last(e.name) or member.startswith(("~", "operator"))
            if name not in documented and not exempt:
                yield e.header, e.line, name


# ---- examples ---------------------------------------------------------------


@functools.lru_cache(maxsize=None)
def statements():
    """(rank, where, text) of every statement of at most three lines in programs, the best first."""
    found = []
    folders = [("tutorial/*.cc", 0), ("tests/installed/*.cc", 0), ("examples/*/*.cc", 1), ("docs/jax.cc", 1), ("tests/installed/*.c", 1), ("examples/*/*.c", 1)]
    for pattern, rank in folders:
        for path in sorted(ROOT.glob(pattern)):
            where, lines = str(path.relative_to(ROOT)), path.read_text().splitlines()
            for i, line in enumerate(lines):
                text = line.strip()
                if not text or text.startswith(("//", "#", "}", ".", "+", "-", "*", "<<", "&&", "||", "?", ":")) or i and not lines[i - 1].rstrip().endswith((";", "{", "}", ":")) and lines[i - 1].strip():
                    continue
                for j in range(i + 1, min(i + 3, len(lines))):
                    if text.endswith(";"):
                        break
                    text += " " + lines[j].strip()
                if text.endswith(";") and text.count("(") == text.count(")") and text.count("{") == text.count("}") and len(text) <= 160 and not re.search(r"\breturn |EXPECT_|ASSERT_|^using ", text) and "R\"" not in text:
                    found.append((rank, where, text))
    return sorted(found, key=lambda s: (s[0], len(s[2])))


@functools.lru_cache(maxsize=None)
def statements_with():
    """Statements by the words in them."""
    out = collections.defaultdict(list)
    for statement in statements():
        for word in set(re.findall(r"\w+", statement[2])):
            out[word].append(statement)
    return out


@functools.lru_cache(maxsize=None)
def evaluated():
    """(expression, value, program) of every call that docs/examples_*.cc print."""
    found = []
    for path in sorted(ROOT.glob("docs/examples_*.txt")):
        for block in path.read_text().removeprefix(">>> ").split("\n>>> "):
            expression, _, value = block.partition("\n")
            found.append((expression, value.rstrip(), str(path.relative_to(ROOT).with_suffix(".cc"))))
    return sorted(found, key=lambda f: len(f[0]))


def example(entry):
    """(text, file) of a call with its value, or of a statement that uses the name."""
    scope, name = owner(entry.name), last(entry.name)
    if name.startswith("operator"):
        sign = re.escape(name.removeprefix("operator"))
        calls = [e for e in evaluated() if re.match(rf"array\(\{{[^()]*\}}\) {sign} |{sign}array\(", e[0])] if not scope else []
        return (calls[0][0] + "\n// " + calls[0][1], calls[0][2]) if calls else ("", "")
    here = re.compile(rf"(?<![\w:.]){re.escape(entry.name)}(?:<[^()]*>)?\(")
    calls = [e for e in evaluated() if here.search(e[0])] if entry.kind == "function" else []
    for expression, value, where in sorted(calls, key=lambda e: not here.match(e[0])):
        return expression + "".join(f"\n// {line}".rstrip() for line in value.splitlines()), where
    near = last(scope)
    plain = not scope or any(not owner(other) for other in entry.also) or scope == "nn"
    behind = r"\s*(?:<[^;()]*>)?\s*[({]" if entry.kind == "function" else r"\b"
    qualified = re.compile(rf"(?<![\w.])(?:strata::)?{re.escape(scope)}::{name}{behind}") if scope else None
    short = re.compile(rf"(?<![\w.:>]){name}{behind}") if plain and scope != "nn" else re.compile(rf"(?<![\w.:]){near}::{name}{behind}") if near and scope not in ("lax::linalg", "scipy::linalg", "numpy::fft") else None
    for pattern in (qualified, short):
        for _, where, text in statements_with()[name]:
            if pattern and pattern.search(text):
                return text, where
    return "", ""


def add_examples(entries):
    """An example for each entry: its own, that of the function of which it is another name, or of one that takes the options."""
    by_name = {e.name: e for e in entries}
    for e in entries:
        e.example, e.source = example(e)
    for e in entries:
        named = [by_name[n] for n in re.findall(r"`([\w:]+)`", e.doc) if n in by_name]
        if not e.example and e.doc.startswith("The same as"):
            e.example, e.source = next(((o.example, o.source) for o in named if o.example), ("", ""))
        if not e.example and e.doc.startswith("Options of"):
            e.example, e.source = next(((o.example, o.source) for o in named if "{." in o.example), ("", ""))


# ---- pages ------------------------------------------------------------------


def page_of(header):
    """The page of a header; the folder api is left out where no other header is named so."""
    name = header.removeprefix("strata/").removesuffix(".h")
    name = FAMILIES.sub("", name)
    if not (ROOT / "strata" / f"{name.removeprefix('api/')}.h").exists():
        name = name.removeprefix("api/")
    return name.replace("/", "-") + ".md"


def heading_of(header):
    """The comment at the head of a header: its first paragraph."""
    lines = []
    for line in text_of(header).splitlines():
        if not line.startswith("//") or line.strip() == "//" and lines:
            break
        lines.append(line[2:].strip())
    return " ".join(lines)


def block_of(entry):
    """What stands in the code block: signatures, or a class with its members."""
    if entry.kind != "class":
        return ";\n".join(entry.signatures) + (";" if entry.kind != "macro" else "")
    out = [entry.signatures[0] + " {"]
    for signature, doc, _, kind in entry.members:
        if doc:
            out.append(f"  // {doc}")
        out.append(f"  {signature};")
    return "\n".join([*out, "};"]) if len(out) > 1 else entry.signatures[0] + " {};"


def escaped(text):
    """Text that Markdown takes as it is, but for what stands between backticks."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(p if p.startswith("`") else re.sub(r"([*_<\[\]|]|(?<=\])\()", r"\\\1", p) for p in parts)


def markdown(header, entries):
    out = [GENERATED, f"# {header}", "", escaped(heading_of(header)), ""]
    for e in entries:
        out += [f"## {e.name}", "", "```cxx", block_of(e), "```", "", escaped(e.doc)]
        if e.also:
            out.append(f"Also {listed(e.also)}.")
        if e.example:
            source = f" ([{e.source}](../../{e.source}))" if e.source else ""
            out += ["", f"Example{source}:", "", "```cxx", e.example, "```"]
        out.append("")
    return "\n".join(out)


def index(pages):
    out = [GENERATED.replace("the header", "the headers"), "# Reference", "",
           "Every public name with its signature, a sentence and an example, as the headers say it: a page a header. [index.html](index.html) is all of it in",
           "one page that searches; it needs nothing but a browser. `tools/reference.py` writes these pages; a test compares them with the headers, and fails where a",
           "public name lacks a docstring.", "", "| header | names |", "|---|---|"]
    for header, entries in pages.items():
        names = ", ".join(last(e.name) for e in entries)
        out.append(f"| [{header}]({page_of(header)}) | {escaped(names)} |")
    return "\n".join(out) + "\n"


def page_that_searches(pages):
    data = []
    for header, entries in pages.items():
        for e in entries:
            row = {"n": e.name, "h": header.removeprefix("strata/"), "s": block_of(e), "d": e.doc}
            if e.also:
                row["a"] = " ".join(e.also)
            if e.example:
                row["e"] = e.example
            data.append(row)
    rows = json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("</", "<\\/")
    return HTML.replace("DATA", rows)


HTML = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Strata reference</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; color: #222; background: #fff }
input { font: inherit; width: 100%; padding: .5rem; box-sizing: border-box }
h2 { font: 600 1.1rem monospace; margin: 1.5rem 0 .3rem }
h2 small { font-weight: 400; color: #777; float: right }
pre { background: #f4f4f4; padding: .5rem; overflow-x: auto; white-space: pre-wrap; margin: .3rem 0 }
code { background: #f4f4f4 }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #181818 } pre, code { background: #262626 } }
</style></head><body>
<h1>Strata reference</h1>
<input id="q" type="search" placeholder="a name, or words: cumsum, derivative, lax::scatter" autofocus>
<p id="count"></p><div id="out"></div>
<noscript>Searching needs JavaScript; the pages beside this one (README.md) do not.</noscript>
<script>
const rows = DATA;
const text = t => { const s = document.createElement("span"); s.textContent = t; return s.innerHTML; };
const words = t => text(t).replace(/`([^`]*)`/g, "<code>$1</code>");
for (const r of rows) { r.low = r.n.toLowerCase(); r.last = r.low.split("::").pop(); r.all = (r.n + " " + (r.a || "") + " " + r.s + " " + r.d).toLowerCase(); }
function score(r, q) {
  if (r.low === q || r.last === q) return 0;
  if (r.last.startsWith(q) || r.low.startsWith(q)) return 1;
  if (r.low.includes(q)) return 2;
  return q.split(/\\s+/).every(w => r.all.includes(w)) ? 3 : 9;
}
function show() {
  const q = document.getElementById("q").value.trim().toLowerCase().replace(/^strata::/, "");
  const found = rows.map(r => [q ? score(r, q) : 3, r]).filter(p => p[0] < 9).sort((a, b) => a[0] - b[0] || a[1].n.length - b[1].n.length);
  const some = found.slice(0, q ? 60 : 0);
  document.getElementById("count").textContent = q ? found.length + " of " + rows.length + " names" : rows.length + " names";
  document.getElementById("out").innerHTML = some.map(([, r]) =>
    "<h2>" + text(r.n) + "<small>" + text(r.h) + "</small></h2><pre>" + text(r.s) + "</pre><p>" + words(r.d) +
    (r.a ? " Also <code>" + text(r.a) + "</code>." : "") + "</p>" + (r.e ? "<pre>" + text(r.e) + "</pre>" : "")).join("");
  history.replaceState(null, "", q ? "#" + encodeURIComponent(q) : "#");
}
document.getElementById("q").addEventListener("input", show);
document.getElementById("q").value = decodeURIComponent(location.hash.slice(1));
show();
</script></body></html>
"""


def written(entries):
    """Page -> its text."""
    pages = collections.defaultdict(list)
    for e in entries:
        pages[e.header].append(e)
    pages = dict(sorted(pages.items()))
    out = {page_of(header): markdown(header, found) for header, found in pages.items()}
    return {"README.md": index(pages), "index.html": page_that_searches(pages), **out}


def check(entries):
    missing = list(undocumented(entries))
    for header, line, name in missing:
        print(f"FAIL {header}: line {line}: `{name}` has no docstring")
    if not missing:
        print(f"ok all {len(entries)} public names have a docstring")
    pages = written(entries)
    there = {p.name: p.read_text() for p in OUT.glob("*")}
    stale = [name for name in sorted(pages.keys() | there.keys()) if pages.get(name) != there.get(name)]
    for name in stale:
        print(f"FAIL docs/reference/{name}: is not what the headers say now: tools/reference.py")
    if not stale:
        print(f"ok docs/reference is what the headers say: {len(pages)} pages")
    return 1 if missing or stale else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--out", type=pathlib.Path, default=OUT)
    options = parser.parse_args()
    entries = entries_of(public_headers())
    add_examples(entries)
    if options.check:
        return check(entries)
    options.out.mkdir(parents=True, exist_ok=True)
    pages = written(entries)
    for old in options.out.glob("*"):
        if old.name not in pages:
            old.unlink()
    for name, text in pages.items():
        (options.out / name).write_text(text)
    size = sum(len(t.encode()) for t in pages.values())
    print(f"{len(entries)} names, {sum(bool(e.example) for e in entries)} with an example, {len(pages)} pages, {size / 1e6:.2f} MB in {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
