"""Declarations of C++ headers with the comments before them: as much of C++ as this repository's headers need."""
import dataclasses
import re

HIDDEN = {"internal", "detail", "testing", "std"}
BLANKS = re.compile(r"\s+")
CLASS = re.compile(r"^(?:class|struct|union)\s+(?:\[\[\w+\]\]\s*)?([\w:]+)")
ENUM = re.compile(r"^enum\s+(?:class\s+|struct\s+)?(\w+)")
SPECIALISED = re.compile(r"^(?:class|struct|union)\s+[\w:]+\s*<")
OPERATOR = re.compile(r"\boperator\s*(\(\)|\[\]|\"\"\s*\w+|[^\s\w(]+|[\w:& ]+?)\s*(?=\()")


@dataclasses.dataclass
class Declaration:
    name: str        # with its namespaces and class, from strata on: numpy::sum, Array::at
    kind: str        # function, class, enum, value, type, concept, macro, using
    signature: str   # as it is declared, without bodies
    doc: str         # of the comment before it
    header: str
    line: int
    body: str = ""   # of a function that is defined where it is declared


def _skip_string(text, i):
    """The position behind a string or character literal at i."""
    if text[i] == '"' and text[max(0, i - 1)] == "R":
        end = text.index("(", i)
        return text.index(")" + text[i + 1 : end] + '"', end) + end - i + 1
    quote, i = text[i], i + 1
    while text[i] != quote:
        i += 2 if text[i] == "\\" else 1
    return i + 1


def _is_digit_separator(text, i):
    return text[i] == "'" and text[i - 1].isalnum() and text[i + 1].isalnum()


def _closing(text, i):
    """The position behind the bracket that closes the one at i, of a text without comments."""
    depth = 0
    while True:
        c = text[i]
        if c in "\"'" and not _is_digit_separator(text, i):
            i = _skip_string(text, i)
            continue
        depth += (c in "({[") - (c in ")}]")
        i += 1
        if depth == 0:
            return i


def _blanked(text):
    """The text with comments and directives as blanks, and the comments by line: (doc, plain)."""
    out, docs, i = [], {}, 0
    line = 1
    at_start = True
    while i < len(text):
        c = text[i]
        if text.startswith("//", i):
            end = text.find("\n", i)
            end = len(text) if end < 0 else end
            docs[line] = (text[i:end], at_start)
            out.append(" " * (end - i))
            i = end
        elif text.startswith("/*", i):
            end = text.index("*/", i) + 2
            line += text.count("\n", i, end)
            out.append(re.sub(r"[^\n]", " ", text[i:end]))
            i = end
        elif c == "#" and at_start:
            end = i
            while True:
                stop = text.find("\n", end)
                stop = len(text) if stop < 0 else stop
                if text[stop - 1] != "\\":
                    break
                end = stop + 1
            line += text.count("\n", i, stop)
            out.append(re.sub(r"[^\n]", " ", text[i:stop]))
            i = stop
        elif c in "\"'" and not _is_digit_separator(text, i):
            end = _skip_string(text, i)
            line += text.count("\n", i, end)
            out.append(text[i:end])
            i, at_start = end, False
        else:
            if c == "\n":
                line, at_start = line + 1, True
            elif not c.isspace():
                at_start = False
            out.append(c)
            i += 1
    return "".join(out), docs


def _behind_angles(text, i):
    """The position behind the `>` that closes the `<` at i."""
    depth = 0
    while True:
        if text[i] == "(":
            i = _closing(text, i)
            continue
        depth += (text[i] == "<") - (text[i] == ">" and text[i - 1] not in "-=")
        i += 1
        if depth == 0:
            return i


def _behind_constraint(text, i):
    """The position behind `A<T> && (...)` at i."""
    while True:
        i += len(text[i:]) - len(text[i:].lstrip(" \n!"))
        if text[i] == "(":
            i = _closing(text, i)
        elif match := re.compile(r"requires\s*(?=[({])").match(text, i):
            i = _closing(text, match.end())
            i += len(text[i:]) - len(text[i:].lstrip())
            i = _closing(text, i) if text[i] == "{" else i
        else:
            i = re.compile(r"[\w:]+").match(text, i).end()
            i = _behind_angles(text, i) if text[i] == "<" else i
        match = re.compile(r"\s*(&&|\|\|)").match(text, i)
        if not match:
            return i
        i = match.end()


def _without_template(text):
    """The declaration behind `template <...>` and `requires ...`."""
    text = text.strip()
    while text.startswith("template"):
        i = text.find("<")
        if i < 0:
            return text
        text = text[_behind_angles(text, i) :].strip()
        if text.startswith("requires"):
            text = text[_behind_constraint(text, len("requires")) :].strip()
    return re.sub(r"^(?:\[\[\w+(?:\([^)]*\))?\]\]\s*)+", "", text)


def _name_of_function(text):
    """The name before the parameters."""
    if match := OPERATOR.search(text):
        return "operator" + (" " if match.group(1)[0].isalpha() else "") + BLANKS.sub(" ", match.group(1)).strip()
    text = text.replace("decltype(auto)", "auto")
    depth = 0
    for i, c in enumerate(text):
        depth += (c == "<") - (c == ">" and text[i - 1] != "-")
        if c == "(" and depth == 0:
            match = re.search(r"(~?[\w:]+)\s*$", text[:i])
            return match.group(1) if match else ""
    return ""


class Reader:
    def __init__(self, header, text):
        self.header, self.text = header, text
        self.code, self.comments = _blanked(text)
        self.found = []
        self.starts = [0]
        for match in re.finditer("\n", text):
            self.starts.append(match.end())

    def line(self, i):
        low, high = 0, len(self.starts)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.starts[middle] <= i else (low, middle)
        return low + 1

    def doc_before(self, line):
        """The docstring that ends above the line."""
        lines, at = [], line - 1
        while at in self.comments and self.comments[at][1]:
            lines.insert(0, self.comments[at][0])
            at -= 1
        if 'extern "C"' in self.text:  # a header of C, whose comments have two strokes
            lines = ["/" + l for l in lines if not l.startswith("// ----")]
        doc = [l[3:].strip() for l in lines if l.startswith("///")]
        return " ".join(doc)

    def read(self):
        self.scope(0, len(self.code), [], False)
        for match in re.finditer(r"^#define (STRATA_\w+)(\([^)]*\))?", self.text, re.M):
            if f"#undef {match.group(1)}" in self.text:
                continue
            line = self.text.count("\n", 0, match.start()) + 1
            self.found.append(Declaration(match.group(1), "macro", match.group(1) + (match.group(2) or ""), self.doc_before(line), self.header, line))
        return self.found

    def scope(self, i, end, names, in_class, public=True):
        while True:
            while i < end and (self.code[i].isspace() or self.code[i] == ";"):
                i += 1
            if i >= end:
                return
            if in_class and (match := re.compile(r"(public|private|protected)\s*:(?!:)").match(self.code, i)):
                public, i = match.group(1) == "public", match.end()
                continue
            if match := re.compile(r"STRATA_\w+\s*(?=\()").match(self.code, i):
                i = _closing(self.code, match.end())
                continue
            i = self.declaration(i, end, names, in_class, public)

    def declaration(self, start, end, names, in_class, public):
        code, i, brace = self.code, start, None
        template = _without_template(code[start : start + 4000])
        head = template[:200]
        kind = "namespace" if re.match(r"(inline\s+)?namespace\b|extern \"C\"", head) else "class" if CLASS.match(head) else "enum" if ENUM.match(head) else ""
        initialised = False
        while i < end:
            c = code[i]
            if c in "\"'" and not _is_digit_separator(code, i):
                i = _skip_string(code, i)
            elif c in "([":
                i = _closing(code, i)
            elif c == ";":
                break
            elif c == "{":
                if kind == "namespace":
                    break
                brace = i
                i = _closing(code, i)
                if not kind and not initialised and "(" in code[start:brace]:
                    rest = code[i : i + 40].lstrip()
                    if not rest.startswith((",", "{")):  # no initialiser of a member
                        i -= 1
                        break
            else:
                initialised = initialised or c == "=" and "operator" not in code[start:i] and code[i + 1] != "=" and code[i - 1] not in "<>!=" and not self.in_template(start, i)
                i += 1
        first = self.line(start)
        if kind == "namespace":
            close = _closing(code, i)
            name = re.match(r"(?:inline\s+)?namespace\s+([\w:]+)|", _without_template(code[start:i])).group(1)
            self.scope(i + 1, close - 1, names + (name.split("::") if name else []) + ([] if name or code[start : i].startswith("extern") else ["internal"]), False)
            return close
        doc = self.doc_before(first)
        hidden = not public or HIDDEN & set(names)
        if not hidden:
            self.add(start, i, brace, names, in_class, kind, doc, first)
        specialised = SPECIALISED.match(_without_template(code[start:brace])) if brace else None
        if kind == "class" and brace and not hidden and not specialised:
            name = CLASS.match(_without_template(code[start:brace])).group(1)
            self.scope(brace + 1, _closing(code, brace) - 1, names + [name], True, not template.startswith("class"))
        return i + 1

    def in_template(self, start, i):
        text = self.code[start:i]
        return text.lstrip().startswith("template") and text.count("<") > text.count(">")

    def add(self, start, i, brace, names, in_class, kind, doc, line):
        code = self.code
        whole = code[start:i]
        plain = _without_template(whole)
        head = code[start:brace] if brace and kind != "enum" else whole
        body, name = "", ""
        if plain.startswith(("static_assert", "friend class", "friend struct", "template ")) or re.match(r"extern\s+template", plain):
            return
        if kind == "class":
            match = CLASS.match(plain)
            if not match:
                return
            name = match.group(1)
            if brace is None or SPECIALISED.match(plain):
                return  # a forward declaration, or a specialisation
        elif kind == "enum":
            name = ENUM.match(plain).group(1)
            if brace is None:
                return
        elif plain.startswith("using "):
            if plain.startswith("using namespace"):
                return
            name = re.match(r"using\s+([\w:]+)", plain).group(1)
            if "=" in plain:
                kind = "type"
            else:
                kind, body, name = "using", name, name.split("::")[-1]
        elif plain.startswith("concept"):
            kind, name = "concept", plain.split()[1]
        elif plain.startswith(("typedef",)):
            kind, name = "type", re.search(r"(\w+)\s*$|\(\*(\w+)\)", plain).group(1)
        elif plain.startswith("STRATA_"):
            return
        else:
            before = plain[: plain.find("=")] if "=" in plain and "operator" not in plain else plain
            if "(" in before.split("{")[0]:
                kind, name = "function", _name_of_function(plain)
                if brace:
                    body = code[brace : i + 1]
            else:
                kind = "value"
                first = plain
                if re.split(r"[={]", plain)[0].rstrip().endswith(">"):
                    return  # a specialisation
                while re.search(r"<[^<>]*>", first):
                    first = re.sub(r"<[^<>]*>", "", first)
                first = re.split(r"[={]", first)[0]
                match = re.search(r"([\w:]+)\s*(?:\[[^\]]*\]\s*)?$", re.split(r",", first)[0].strip())
                name = match.group(1) if match else ""
                more = re.findall(r",\s*(\w+)\s*=", re.sub(r"[({][^(){}]*[)}]", "", plain)) if "=" in plain else []
                for other in more:
                    self.put(other, kind, whole, doc, line, names, "")
        if name:
            if kind == "function":
                head = self.without_initialisers(head)
            self.put(name, kind, head, doc, line, names, body)

    @staticmethod
    def without_initialisers(head):
        """A constructor without what stands behind its parameters."""
        i = head.find("(")
        while 0 <= i < len(head):
            if head[i] == "(":
                i = _closing(head, i)
            elif head[i] == ":" and head[i - 1] != ":" and head[i + 1 : i + 2] != ":":
                return head[:i]
            else:
                i += 1
        return head

    def put(self, name, kind, signature, doc, line, names, body):
        if "::" in name and kind == "function":
            return  # a member defined outside
        scope = [n for n in names if n != "strata"] if names and names[0] == "strata" else names
        if not doc:
            comment = self.comments.get(line)
            if comment and not comment[1] and comment[0].startswith("//") and "NOLINT" not in comment[0]:
                doc = comment[0].lstrip("/").strip()
        signature = BLANKS.sub(" ", signature.replace("[[nodiscard]]", "")).strip()
        self.found.append(Declaration("::".join([*scope, name]), kind, signature, doc, self.header, line, body.strip()))


def read(header, text):
    return Reader(header, text).read()
