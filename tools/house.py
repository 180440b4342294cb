#!/usr/bin/env python3
"""Measures the house: rooms, include cycles between files, sizes, long lines, names of operations in passes.

    tools/house.py            prints what is wanted (tools/check_docs.py compares it with docs/house.md, --write renews it)
    tools/house.py --sizes    prints sizes by file, function and room
    tools/house.py --page     renews both in docs/house.md
    tools/house.py --svg      writes docs/rooms.svg, the rooms in their order with what each includes
    tools/house.py --cycles   prints each cycle, and which of its sources includes which header
    tools/house.py --names    prints each line that names an operation in strata/pass

A file is a header and the source beside it (`jit.h`, `jit.cc`): a cycle between files is a set of which each includes every other, by
however many steps. Tests include what they like and count for lines alone. A function is a body in braces after a list of parameters.
Generated tables (`// clang-format off` from top to bottom, *.inc) and test data are counted apart.
"""
import argparse
import collections
import pathlib
import re
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import check_layout  # noqa: E402
import check_rooms  # noqa: E402

STRATA_INCLUDE = re.compile(r'^\s*#\s*include\s*[<"](strata/[^>"]+)[>"]', re.M)
IS_TEST = re.compile(r"(_test|_fuzz)\.cc$|/testing/|_testing\.(cc|h)$|/golden[^/]*$|/testing\.h$")
DATA_FOLDERS = {"testdata", "goldens", "names"}
FILES_PER_FOLDER = 40


def listed(*patterns):
    """Paths that git knows or would add, from the root."""
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", *patterns], cwd=ROOT, capture_output=True, text=True, check=True)
    return sorted({name for name in out.stdout.splitlines() if (ROOT / name).is_file()})


def read(name):
    return (ROOT / name).read_text(errors="replace")


# ---- cycles -------------------------------------------------------------------------------------


def file_of(name):
    return name.rsplit(".", 1)[0]


def includes_between_files(sources):
    """File -> file that it includes -> the sources that do so."""
    graph = {file_of(name): {} for name in sources}
    for name in sources:
        for target in STRATA_INCLUDE.findall(read(name)):
            if file_of(target) in graph and file_of(target) != file_of(name):
                graph[file_of(name)].setdefault(file_of(target), []).append(name)
    return graph


def knots(graph):
    """Sets of nodes that reach each other, of two or more, largest first (Tarjan's algorithm, without recursion)."""
    number, low, stack, on_stack, found = {}, {}, [], set(), []
    for root in graph:
        if root in number:
            continue
        work = [(root, iter(graph[root]))]
        number[root] = low[root] = len(number)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, rest = work[-1]
            for other in rest:
                if other not in number:
                    number[other] = low[other] = len(number)
                    stack.append(other)
                    on_stack.add(other)
                    work.append((other, iter(graph[other])))
                    break
                if other in on_stack:
                    low[node] = min(low[node], number[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == number[node]:
                    at = stack.index(node)
                    members, stack[at:] = stack[at:], []
                    on_stack.difference_update(members)
                    if len(members) > 1:
                        found.append(sorted(members))
    return sorted(found, key=lambda members: (-len(members), members))


# ---- functions ----------------------------------------------------------------------------------

BLANKED = re.compile(r'//[^\n]*|/\*.*?\*/|R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^[ \t]*#(?:[^\n\\]|\\.)*', re.S | re.M)
KEEPS_LOOKING = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b")
# What may stand between a list of parameters and the body.
AFTER_PARAMETERS = re.compile(r"\)\s*(?:const|noexcept(?:\([^()]*\))?|override|final|mutable|&&?|->[^;{}()]*(?:\([^()]*\)[^;{}()]*)?|:[^:;{}][^;]*|requires[^;{}]*|\s)*$", re.S)


def blanked(text):
    """The text with comments, literals and directives as spaces; lines stay where they are. Digit separators are no quotes."""
    text = re.sub(r"(?<=\w)'(?=\w)", "_", text)
    return BLANKED.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), text)


def functions(text):
    """The numbers of lines of the functions that stand in namespaces and classes; those inside of functions belong to them."""
    code, lengths, at, begin = blanked(text), [], 0, 0
    while True:
        match = re.compile(r"[{};]").search(code, at)
        if not match:
            return lengths
        at = match.end()
        if match.group(0) != "{":
            begin = at
            continue
        head = code[begin : match.start()]
        if KEEPS_LOOKING.search(re.sub(r"\(.*\)|template\s*<[^{}]*?>\s*(?=\w)", "", head, flags=re.S)) and not AFTER_PARAMETERS.search(head):
            begin = at
            continue
        depth = 1
        while depth and (brace := re.compile(r"[{}]").search(code, at)):
            depth += 1 if brace.group(0) == "{" else -1
            at = brace.end()
        if AFTER_PARAMETERS.search(head) and "=" not in re.sub(r"\(.*\)|operator\S*", "", head, flags=re.S):
            first = begin + len(head) - len(head.lstrip())
            lengths.append(code.count("\n", first, at) + 1)
            begin = at
        elif not re.match(r"\s*[,)]|\s*\{", code[at:]):  # the end of an initialiser, not of a declaration
            begin = at if not head.rstrip().endswith(("=", ",", "(")) else begin


# ---- names of operations ------------------------------------------------------------------------

TEXT = re.compile(r'"(?:stablehlo|chlo|strata|func)\.\w+"')
KIND = re.compile(r"\bkind::\w+")
ATTRIBUTE = re.compile(r"constexpr const char\*")  # strata.mask_band and its like are no operations


def names_of_operations(pattern=None):
    """(file, line, text) of each line in strata/pass, tests apart, that names operations, once a name: as texts, as kinds (op/kind.h), or both."""
    found = []
    for name in listed("strata/pass/*.cc", "strata/pass/*.h"):
        if IS_TEST.search(name):
            continue
        for number, line in enumerate(read(name).splitlines(), 1):
            code = "" if ATTRIBUTE.search(line) else line.split("//")[0]
            found += [(name, number, line.strip())] * sum(len(p.findall(code)) for p in ([pattern] if pattern else [TEXT, KIND]))
    return found


def rules_of_algebra():
    source = ROOT / "strata/pass/algebra.cc"
    return len(re.findall(r'^    \{"', source.read_text(), re.M)) if source.exists() else 0


# ---- what is printed ----------------------------------------------------------------------------


def spread(numbers):
    ordered = sorted(numbers)
    return f"{statistics.median_low(ordered)} | {ordered[int(0.95 * (len(ordered) - 1))]} | {ordered[-1]}"


def long_lines(names):
    return sum(1 for name in names if check_layout.long_line(read(name)))


def folders(names):
    """(folder, files) that hold the most sources, and those that hold more files than wanted."""
    count = collections.Counter(str(pathlib.PurePath(n).parent) for n in names if not DATA_FOLDERS & set(pathlib.PurePath(n).parts))
    ordered = sorted(count.items(), key=lambda item: (-item[1], item[0]))
    return [item for item in ordered if item[1] > FILES_PER_FOLDER], ordered


def table(head, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *("| " + " | ".join(map(str, row)) + " |" for row in rows)]) + "\n"


def print_house():
    """What is wanted of the house: changes only when a file is added to a knot or a full folder, or taken out of one."""
    sources = [n for n in listed("strata/*.cc", "strata/*.h", "strata/*.c")]
    own = [n for n in sources if not IS_TEST.search(n)]
    code = [n for n in own if pathlib.PurePath(n).suffix in (".cc", ".h")]
    found = knots(includes_between_files(code))
    headers = {h: [t for t in STRATA_INCLUDE.findall(read(h))] for h in code if h.endswith(".h")}
    of_headers = knots({h: [t for t in targets if t in headers] for h, targets in headers.items()})
    room_errors = sum(1 for _ in check_rooms.order_of_rooms())
    too_full, _ = folders(own)

    print(table(["what", "number", "wanted"], [
        ("rooms", len(check_rooms.rooms()), ""),
        ("includes against the order of rooms", room_errors, 0),
        ("cycles between headers", len(of_headers), 0),
        ("cycles between files (a header and the source beside it)", len(found), 0),
        ("files in such cycles", sum(map(len, found)), 0),
        ("folders of more than 40 files, tests and data apart", len(too_full), 0),
        ("C++ files with a line of more than 100 columns", long_lines(listed("*.cc", "*.h", "*.c")), 0),
        ("names of operations in `strata/pass`, as texts that are compared", len(names_of_operations(TEXT)), 0),
    ]).rstrip())
    if found:
        print("\nCycles:\n")
        print(table(["files", "which"], [(len(k), ", ".join(f"`{f.removeprefix('strata/')}`" for f in k[:6]) + (", ..." if len(k) > 6 else "")) for k in found]).rstrip())
    if too_full:
        print("\nFolders of more than 40 files: " + ", ".join(f"`{folder}`" for folder in sorted(f for f, _ in too_full)) + ".")


def print_sizes():
    """Sizes, which every change moves: docs/house.md has them of a day."""
    sources = [n for n in listed("strata/*.cc", "strata/*.h", "strata/*.c")]
    own = [n for n in sources if not IS_TEST.search(n)]
    found = knots(includes_between_files([n for n in own if pathlib.PurePath(n).suffix in (".cc", ".h")]))
    lines = {n: read(n).count("\n") for n in sources}
    lengths = [length for n in own for length in functions(read(n))]
    _, ordered = folders(own)

    print("Lines, tests apart:\n")
    print(table(["", "how many", "median", "95 of 100 below", "longest"], [
        ("functions", len(lengths), *spread(lengths).split(" | ")),
        ("files", len(own), *spread([lines[n] for n in own]).split(" | ")),
        ("tests", len(sources) - len(own), *spread([lines[n] for n in sources if IS_TEST.search(n)]).split(" | ")),
    ]))
    print("Rooms, tests apart, in their order; each includes only those above it:\n")
    rows = []
    for room in check_rooms.rooms():
        mine = [n for n in own if n.startswith(f"strata/{room}/")]
        knot = max((len(k) for k in found if k[0].startswith(f"strata/{room}/")), default=0)
        fullest = max((count for folder, count in ordered if folder == f"strata/{room}" or folder.startswith(f"strata/{room}/")), default=0)
        rows.append((f"[{room}](../strata/{room})", len(mine), sum(lines[n] for n in mine), len({pathlib.PurePath(n).parent for n in mine}), fullest, knot or ""))
    print(table(["room", "files", "lines", "folders", "files in the fullest", "largest cycle"], rows))
    kinds = names_of_operations(KIND)
    print(f"Operations that `strata/pass` names, as interned kinds ([kind.h](../strata/op/kind.h)), one comparison of pointers each: {len(kinds)}, each in a rule about that operation.")
    print(f"Rules of algebra ([algebra.cc](../strata/pass/algebra.cc)), each evaluated at random: {rules_of_algebra()}.\n")
    count = collections.Counter(n for n, _, _ in kinds)
    print(table(["file", "names"], [(f"`{n.removeprefix('strata/pass/')}`", c) for n, c in sorted(count.items(), key=lambda x: (-x[1], x[0]))]).rstrip())


def print_cycles():
    graph = includes_between_files([n for n in listed("strata/*.cc", "strata/*.h") if not IS_TEST.search(n)])
    for members in knots(graph):
        print(f"{len(members)} files")
        for member in members:
            for other, by in sorted(graph[member].items()):
                if other in members:
                    print(f"  {' '.join(by)} -> {other}.h")


def renew_page():
    page = ROOT / "docs/house.md"
    text = page.read_text()
    for words, option in (("output", ""), ("tables", " --sizes")):
        mark = f"<!-- {words} of: tools/house.py{option} -->\n"
        out = subprocess.run([sys.executable, __file__, *option.split()], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        begin = text.index(mark) + len(mark)
        text = text[:begin] + out + text[text.index("<!-- end of output -->", begin):]
    page.write_text(re.sub(r"Sizes of .*?:", f"Sizes of {time.strftime('%d %B %Y', time.gmtime())}:", text, count=1))


# ---- the picture --------------------------------------------------------------------------------

# What a reader calls a run of rooms, by its first room.
FLOORS = {"base": "ground: types, trees, meshes, the graph", "loop": "operations, and their loop form", "transform": "programs into programs", "runtime": "running them",
          "api": "what users hold", "nn": "learning", "tokenizer": "data and files", "model": "models and their servers"}


def draw_rooms():
    """docs/rooms.svg: a box a room, floors from the ground up, each box with the lines that stand in it."""
    rooms = check_rooms.rooms()
    own = [n for n in listed("strata/*.cc", "strata/*.h") if not IS_TEST.search(n)]
    size = collections.Counter()
    for name in own:
        size[pathlib.PurePath(name).parts[1]] += read(name).count("\n")
    floors = []
    for room in rooms:
        if room in FLOORS or not floors:
            floors.append((FLOORS.get(room, ""), []))
        floors[-1][1].append(room)
    width, row, gap, box, left = 900, 64, 10, 96, 230
    height = len(floors) * (row + gap) + 50
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" font-family="sans-serif">',
           f'<rect width="{width}" height="{height}" fill="#ffffff"/>']
    for i, (title, members) in enumerate(floors):
        y = height - 40 - (i + 1) * (row + gap)
        out.append(f'<rect x="8" y="{y}" width="{width - 16}" height="{row}" rx="6" fill="#f3f5f8"/>')
        out.append(f'<text x="20" y="{y + row // 2 + 5}" font-size="14" fill="#333">{title}</text>')
        for j, room in enumerate(members):
            x = left + j * (box + gap)
            out.append(f'<rect x="{x}" y="{y + 10}" width="{box}" height="{row - 20}" rx="5" fill="#dbe7f6" stroke="#5b84b1"/>')
            out.append(f'<text x="{x + box // 2}" y="{y + 31}" font-size="14" text-anchor="middle" fill="#123">{room}</text>')
            out.append(f'<text x="{x + box // 2}" y="{y + 46}" font-size="10" text-anchor="middle" fill="#567">{size[room] / 1000:.1f}k lines</text>')
    out.append(f'<text x="20" y="{height - 18}" font-size="12" fill="#555">A room includes only rooms before it: those below, and those to its left. Drawn by tools/house.py --svg.</text>')
    out.append("</svg>")
    (ROOT / "docs/rooms.svg").write_text("\n".join(out) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--svg", action="store_true")
    parser.add_argument("--sizes", action="store_true")
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--cycles", action="store_true")
    parser.add_argument("--names", action="store_true")
    options = parser.parse_args()
    if options.svg:
        draw_rooms()
    elif options.sizes:
        print_sizes()
    elif options.page:
        renew_page()
    elif options.cycles:
        print_cycles()
    elif options.names:
        for name, number, line in names_of_operations():
            print(f"{name}:{number}: {line}")
    else:
        print_house()


if __name__ == "__main__":
    main()
