#!/usr/bin/env python3
"""Writes strata/tokenizer/chat_template/testdata: published chat templates and what they render,
and small templates with what jinja2 makes of them.

    tools/goldens/chat_templates.py

The templates are those that axolotl 0.19.0 (Apache License 2.0) and llama.cpp, in the source
package of llama-cpp-python 0.3.36 (MIT License), ship; each was published with its model. They are
rendered by jinja2 3.1.6 in the environment of transformers 5.24.0.
"""
import datetime
import json
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import zipfile
import zlib

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = HERE.parents[1] / "strata" / "tokenizer" / "chat_template" / "testdata"

try:
    import jinja2
    from transformers.utils import chat_template_utils
except ImportError:
    from peers import again_with

    again_with("transformers==5.24.0", "jinja2==3.1.6", "scikit-build-core")

NOW = datetime.datetime(2024, 7, 26, 9, 5, 7)


class Clock(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return NOW


chat_template_utils.datetime = Clock


def packages():
    """(file name, template) of every template that the packages ship."""
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "-q", "download", "--no-deps", "-d", folder]
        subprocess.run([*pip, "axolotl==0.19.0"], check=True)
        subprocess.run([*pip, "--no-binary", ":all:", "--no-build-isolation", "llama-cpp-python==0.3.36"], check=True)
        wheel = zipfile.ZipFile(next(pathlib.Path(folder).glob("axolotl*.whl")))
        for name in wheel.namelist():
            if name.endswith(".jinja"):
                yield "axolotl-" + pathlib.PurePath(name).stem, wheel.read(name).decode()
        source = tarfile.open(next(pathlib.Path(folder).glob("llama_cpp_python*.tar.gz")))
        for member in source:
            if member.name.endswith(".jinja"):
                yield pathlib.PurePath(member.name).stem, source.extractfile(member).read().decode()


WEATHER = {"type": "function", "function": {
    "name": "get_weather", "description": "The weather of a place, now or <later>.",
    "parameters": {"type": "object", "properties": {
        "place": {"type": "string", "description": "City & country, e.g. \"Zürich, CH\""},
        "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
        "days": {"type": "integer", "description": "how many", "default": 1}}, "required": ["place"]}}}
SEARCH = {"type": "function", "function": {
    "name": "search", "description": "Looks things up", "parameters": {"type": "object", "properties": {
        "queries": {"type": "array", "items": {"type": "string"}}}, "required": ["queries"]}}}


def message(role, content, **more):
    return {"role": role, "content": content, **more}


CALL = {"id": "call12345", "type": "function", "function": {
    "name": "get_weather", "arguments": {"place": "Zürich, CH", "unit": "celsius", "days": 2}}}
CHATS = {
    "one": dict(messages=[message("user", "What is 2+2?")], add_generation_prompt=True),
    "turns": dict(messages=[message("system", "  Be brief.\n"), message("user", "Hi <b>\"there\"</b> & {{ you }}"),
                            message("assistant", "Hello 🙂"), message("user", "naïve 東京\n\n  x ")], add_generation_prompt=True),
    "answered": dict(messages=[message("user", "a"), message("assistant", "b"), message("user", "c"), message("assistant", " d ")]),
    "thought": dict(messages=[message("user", "Think."), message("assistant", "4", reasoning_content="two and two\nmake four"),
                              message("user", "Again?"), message("assistant", "<think>\nyes\n</think>\n\nIt is 4."), message("user", "ok")],
                    add_generation_prompt=True),
    "tools": dict(messages=[message("system", "Use tools."), message("user", "Weather in Zürich?"),
                            message("assistant", "", tool_calls=[CALL]),
                            message("tool", "{\"sky\": \"clear\", \"degrees\": 21.5}", name="get_weather", tool_call_id="call12345"),
                            message("assistant", "Clear, 21.5 °C."), message("user", "Thanks")],
                  tools=[WEATHER, SEARCH], add_generation_prompt=True),
    "blocks": dict(messages=[message("user", [{"type": "text", "text": "What is "}, {"type": "text", "text": "this?"}])], add_generation_prompt=True),
    "wrong": dict(messages=[message("assistant", "I begin"), message("assistant", "and go on")]),
    "options": dict(messages=[message("user", "Hi"), message("assistant", "Ho")], enable_thinking=False, add_generation_prompt=True,
                    documents=[{"title": "A", "text": "first"}, {"title": "B", "text": "second"}], date_string="26 Jul 2024"),
}
TOKENS = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}


def rendered(template, chat):
    chat = dict(chat)
    messages = [{k: v for k, v in m.items() if v is not None} for m in chat.pop("messages")]
    try:
        text = chat_template_utils.render_jinja_template([messages], chat_template=template, **chat, **TOKENS)[0][0]
    except Exception as e:
        return {"error": f"{type(e).__name__}: {e}"[:200]}
    out = {"bytes": len(text.encode()), "crc32": zlib.crc32(text.encode()), "text": text[:400]}
    return out


NAMES = {
    "s": "Hello World", "u": "naïve 東京 🙂", "n": 7, "m": -3, "f": 2.5, "none": None, "yes": True, "no": False,
    "l": [3, 1, 2], "w": ["banana", "Apple", "cherry", "apple"], "d": {"b": 1, "a": 2, "items": 3, "C": [1, {"x": "y'z"}]},
    "people": [{"name": "Ann", "age": 31, "home": {"city": "B"}}, {"name": "bob", "age": 25, "home": {"city": "A"}}, {"name": "Cat", "age": 31}],
    "empty": [], "blank": "", "lines": "one\n  two\n\nthree\n", "q": "it's \"quoted\" \\ \t end",
}
EXPRESSIONS = r"""
1 + 2 * 3 - 4 / 2
7 // 2, -7 // 2, 7 % 3, -7 % 3, 7.5 // 2, -7.5 % 2
2 ** 10, 2 ** -1, -2 ** 2, 2 ** 3 ** 2
'a' ~ 1 ~ 2.0 ~ none ~ true ~ [1, 'x'] ~ {'k': (1,)}
'ab' * 3 ~ [1] * 2
1 < 2 < 3, 1 < 3 < 2, 'a' < 'b', 1 == 1.0, true == 1, 'a' != 'b'
1 in l, 'ell' in s, 'a' in d, 9 not in l
not yes or no and yes
'x' if no
'x' if no else 'y' if no else 'z'
missing
missing is defined, s is defined, missing | default('d'), blank | default('d'), blank | default('d', true), none | d('x')
d.b, d['a'], d['items'], d.missing, d.C[1].x, d.C[-1]['x'], l[0], l[-1], l[5]
s[0], s[-1], s[1:4], s[::-1], s[::2], u[6:8], u[-1], u[:3], l[1:], l[::-1], l[-2:], l[:-1], l[5:], l[2:0:-1]
s.upper(), s.lower(), s.title(), s.capitalize(), s.swapcase is defined
u | length, u | upper, 'straße' | upper, 'éa b' | title, 'éa b'.title(), "they're bill's" | title, "they're bill's".title()
'  x y '.strip() ~ '|' ~ '  x '.lstrip() ~ '|' ~ ' x  '.rstrip() ~ '|' ~ 'xxaxx'.strip('x') ~ '|' ~ 'abcba'.strip('ab')
'a,b,,c'.split(','), ' a  b '.split(), 'a,b,c'.split(',', 1), 'a,b,c'.rsplit(',', 1), ' a  b c '.split(none, 1), lines.splitlines()
'-'.join(w), s.replace('l', 'L'), s.replace('l', 'L', 1), s.find('o'), s.rfind('o'), s.find('zz'), s.count('l'), s.index('W')
s.startswith('He'), s.endswith(('x', 'ld')), s.startswith('x'), 'a.b.c'.partition('.'), 'a.b.c'.rpartition('.'), 'abc'.removeprefix('a')
'12'.isdigit(), 'x1'.isalnum(), 'x'.isalpha(), ' '.isspace(), ''.isdigit(), 'AB'.isupper(), 'ab1'.islower()
'x'.ljust(3) ~ '|' ~ 'x'.rjust(3, '-') ~ '|' ~ 'x'.center(4) ~ '|' ~ '7'.zfill(3) ~ '|' ~ '-7'.zfill(4)
'{} {1}'.format is defined, '{} and {}'.format(1, 'b'), '{1} {0} {x}'.format(1, 2, x=3), '{{}}'.format()
'%s is %d, %5.2f %r %%' % ('x', 3, 2.5, 'q'), '%s' % 5, '%03d' % 7
d.get('b'), d.get('zz'), d.get('zz', 5), d.keys() | list, d.values() | list
range(5) | list, range(2, 8, 3) | list, range(3, 0, -1) | list
l | sort, w | sort, w | sort(true), w | sort(reverse=true, case_sensitive=true), people | sort(attribute='age,name') | map(attribute='name') | list
l | sum, people | sum(attribute='age'), l | min, l | max, w | max, people | max(attribute='age')
l | first, l | last, empty | first, s | first, l | reverse | list, s | reverse
w | join(', '), people | join('/', attribute='name'), l | join
people | map(attribute='home.city') | list, people | map(attribute='home.city', default='?') | join(','), w | map('upper') | list, l | map('string') | join
people | selectattr('age', 'equalto', 31) | map(attribute='name') | list, people | rejectattr('home') | map(attribute='name') | list, l | select('odd') | list, l | reject('gt', 1) | list, [0, 1, ''] | select | list
people | groupby('age') | list | length, people | groupby('age') | map(attribute='grouper') | list
w | unique | list, w | unique(true) | list, d | dictsort, d | dictsort(true), {'a': 2, 'b': 1} | dictsort(by='value')
d | items | list, none | default(1) , missing | items | list
l | batch(2) | list, l | batch(2, '-') | list, l | slice(2) | list, l | slice(2, 'x') | list
2.5 | round, 3.5 | round, 2.567 | round(2), 2.1 | round(0, 'ceil'), 2.9 | round(method='floor'), 7 | round, 1234 | round(-2)
'12' | int, 'x' | int, 'x' | int(5), '3.7' | int, 3.9 | int, 'ff' | int(0, 16), '2.5' | float, 'x' | float, 3 | float, true | int
-5 | abs, -2.5 | abs, (-5) | abs
lines | indent, lines | indent(2, true), lines | indent('> ', blank=true)
s | tojson, u | tojson, q | tojson, d | tojson, d | tojson(indent=2), l | tojson(indent=4), [] | tojson(indent=2), {} | tojson
u | tojson(ensure_ascii=true), d | tojson(separators=(',', ':')), {'b': 1, 'a': none} | tojson(sort_keys=true), 1.0 | tojson, 1e20 | tojson, '<&>' | tojson
q, [q], [u, 1.5, none, true], {'k': q}, (1,), (), ["it's"], ['say "hi"'], ['both \' and "'], ['\n\x00é'], 1e16, 1e-5, 0.1, 1e15, 123456789.123, 1e100, -0.0
lines | trim, '  x ' | trim, 'xxaxx' | trim('x'), s | center(20), s | wordcount, s | truncate(8), s | truncate(8, true), s | truncate(5, true, '', 0)
'<a&"\'>' | e
'<' + ('<b>' | safe) + '>', '<' ~ ('<b>' | safe) ~ '>', ('<b>' | e) + '&', ('<b>' | safe | upper) + '<', ('<' | e | e)
'<a>' | escape | safe
s | capitalize, u | urlencode
s is string, n is number, f is float, n is integer, yes is integer, yes is boolean, d is mapping, l is iterable, s is sequence, none is none, yes is true, no is false, 3 is odd, 4 is even, 9 is divisibleby 3, 'a' is in 'abc', range is callable
n is eq 7, n is gt(3), n is ge 7 and n is le 7, n is ne 7, 'a' is lower, 'A' is upper, l is sameas l, n is not none, missing is undefined, missing is not defined
namespace(a=1).a, dict(x=1, y=2), dict(x=1).x
"a" "b" 'c', '\x41\u00e9\n\t\\', 0x1f, 0b101, 1_000, 1e3, 1.5e-3, .5 is defined
missing.x
none.x, none.x is defined
missing + 1
s + 1
1 + 'a'
l + [4], (1,) + (2,), [1, 2] == [1, 2], (1,) == [1]
n.x is defined, s.nothing is defined
s.__class__.__name__
''.__class__.__mro__
s.swapcase(), u.swapcase()
(w | map('upper')) and 1, empty | select | length
empty | select and 'generators are true'
w | map('upper') | first, w | select | last
(w | map('upper'))[0], w | map('upper') is sequence, w | map('upper') is iterable
w | map('upper') | tojson
l | reverse | length
(l | reverse)[0]
people | groupby('age') | map(attribute='list') | map('length') | list
[].append(1)
d.update({'x': 1})
d.pop('b')
w | nosuch
s is nosuch
1 / 0
1 // 0
range(100001)
range(99999) | length
'a' < 1
none < 1
none | length
5 | length
none | list
5 | list
l[1:'a']
missing | list, missing | length, missing | join, missing | upper, missing == missing, missing == none, missing in l
(missing or 'x'), (blank or none), (l and s)
[1, [2, [3]]] | tojson(indent=1)
l | map('nosuch') | list
s(1)
raise_exception('told so ' ~ n)
strftime_now('%Y-%m-%d %H:%M:%S'), strftime_now('%d %B %Y, %A %j')
[x for x in l]
{1: 'a', 'b': 2}[1], {true: 1}[1], {(1, 2): 3}
none | map('upper') | list, none | select | list
u.find('東'), u.index('🙂'), u.rjust(12, '*'), '東京' in u, u.split(' ')[1], u | first, u | last, u | list
w | sort(attribute='nothing')
['b', 'a', missing] | length
'a\u0130b'.lower() | length, 'ß'.upper(), 'ǆ'.title()
f // 1, f % 1, -f // 1, 5 / 2, 4 / 2
9223372036854775807 + 0, [1, 2, 3][-1], [1, 2, 3][true]
people[0].home.city, people.0.name, people[0]['home']['city'], people[2].home, people[2].home.city is defined
"{% raw %}" ~ '}}' ~ "{{", {'a': {'b': 1}}.a.b
loop is defined, caller is defined, varargs is defined
'%s' % none, '%s' % (none,), '%d' % 3.7, '%x' % 255, '%-5s|' % 'a', '%+d' % 3
not missing, not none, -yes, +no, - -1
s is string and n is number or no
d | length, d | list, d | first, d | last, d | join(','), d | string
1 if missing else 2, 1 if l else 2, 1 if {} else 2, 1 if 0.0 else 2, 1 if '' else 2
"x" in none
'a' ~ missing ~ 'b'
l | tojson | length, (l | length) + 1, l | length + 1, 'a' ~ l | length
""".strip().split("\n")
TEMPLATES = [
    "a\n{% if yes %}\n  b\n{% endif %}\nc\n", "a\n  {% if yes %}  b  {% endif %}  \nc", "  {{ n }}  \n", "x {%- if yes -%} y {%- endif -%} z",
    "x  {%+ if yes %} y\n{% endif +%}\nz", "a {# note #} b\n{# note #}\nc\n  {#- note -#}  d", "{% raw %} {{ x }} {% y %} {% endraw %}z", "  {%- raw -%}  a  {%- endraw -%}  b",
    "{% for x in l %}{{ loop.index }}/{{ loop.length }}:{{ x }}{% if not loop.last %}, {% endif %}{% endfor %}",
    "{% for x in l %}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.previtem }}{{ loop.nextitem }}{{ loop.cycle('a', 'b') }}{{ loop.depth }};{% endfor %}",
    "{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}", "{% for x in empty %}a{% else %}none{% endfor %}", "{% for x in l if x > 1 %}{{ loop.index }}{{ x }}{% else %}-{% endfor %}",
    "{% for x in people %}{{ loop.changed(x.age) }}{% endfor %}", "{% for x in l %}{% if x == 1 %}{% continue %}{% endif %}{{ x }}{% endfor %}", "{% for x in l %}{% if x == 1 %}{% break %}{% endif %}{{ x }}{% endfor %}",
    "{% set x = 1 %}{% for y in l %}{% set x = x + y %}{{ x }},{% endfor %}{{ x }}", "{% set ns = namespace(x=1) %}{% for y in l %}{% set ns.x = ns.x + y %}{% endfor %}{{ ns.x }}",
    "{% set a, b = 1, 2 %}{{ b }}{{ a }}", "{% set x %}a{{ n }}b{% endset %}{{ x | length }}", "{% set x | upper | trim %}  a{{ s }}b {% endset %}[{{ x }}]",
    "{% if no %}{% set x = 1 %}{% endif %}{{ x is defined }}", "{% if no %}a{% elif n == 7 %}b{% else %}c{% endif %}",
    "{% macro m(a, b='x', c=none) %}{{ a }}{{ b }}{{ c }}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1) }}{{ m(1, 2) }}{{ m(a=1, c=3) }}{{ m(1, 2, 3, 4, z=5) }}",
    "{% macro m(a) %}[{{ caller(a) }}]{% endmacro %}{% call(x) m('q') %}<{{ x }}{{ n }}>{% endcall %}", "{% macro m() %}{{ s }}{{ y }}{% endmacro %}{% set y = 2 %}{{ m() }}",
    "{% macro f(n) %}{% if n > 0 %}{{ n }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(3) }}", "{% filter upper %}a{{ s }}{% endfilter %}", "{% with a = 1, b = n %}{{ a }}{{ b }}{% endwith %}{{ a }}",
    "{% for x in [[1, [2, 3]], [4]] recursive %}{{ x if x is number else '(' ~ loop(x) ~ ')' }}{% endfor %}", "{{ '{{' }}{{ '}}' }}{{ \"%}\" }}", "a{{ {'a': {'b': 1}} }}b",
    "{% generation %}x{{ n }}{% endgeneration %}y", "{% for a, b in [(1, 2), (3, 4)] %}{{ a + b }} {% endfor %}", "{% for x in 'añ🙂' %}{{ x }}.{% endfor %}", "{% for x in 5 %}{% endfor %}",
    "{% set s.x = 1 %}", "{% include 'x' %}", "{% nosuch %}", "{{ 1 +", "{% if %}", "{% endif %}", "{% for x in l %}", "{{ 'abc }}", "{# open", "{{ a b }}", "{% set 1 = 2 %}", "{% break %}", "{{ ) }}", "{{ (1 }}",
    "a\r\nb\rc\n\n", "{{ n }}\n", "\n{{ n }}\n\n", "{%- set x = 1 %}\n\n{{- x }}\n\n{%- if yes %}\n  q\n{%- endif %}\n", "  {% set x = 1 %}  \n  {% set y = 2 -%}  \n  z", "{{- n -}}  x  {{- n }}", "{% if yes -%}\n  a\n{%- else -%}\n b\n{%- endif %}\n\n c",
    "{% for m in people %}\n{{ m.name }}\n{% endfor %}\nend", "{%- for m in people -%}\n{{ m.name }}\n{% endfor -%}\nend", "{% set x = 'a' if yes else 'b' %}{{ x }}", "{% for i in range(3) %}{% for j in range(2) %}{{ loop.index }}{{ i }}{{ j }} {% endfor %}{% endfor %}",
    "{% set ns = namespace(found=false) %}{% for m in people %}{% if m.age == 25 and not ns.found %}{% set ns.found = true %}{{ loop.index0 }}{% endif %}{% endfor %}{{ ns.found }}", "{% macro a() %}{% for x in l %}{% if x == 1 %}{% continue %}{% endif %}{{ x }}{% endfor %}{% endmacro %}{{ a() }}",
    "{% call m() %}{% endcall %}", "{{ x.y.z }}", "{% set x = [] %}{% set _ = x.append(1) %}", "{{ ns }}{% set ns = namespace() %}{{ ns.q is defined }}{% set ns.q = 'r' %}{{ ns.q }}", "{% set ns = namespace(a=1) %}{% set ns._b = 2 %}", "{% if (yes and\n no) or\n yes %}t{% endif %}",
    "{% for x in l | sort %}{{ x }}{% endfor %}{% for x in d %}{{ x }}{% endfor %}{% for x in missing %}{{ x }}{% else %}e{% endfor %}", "{% for x in none %}{% endfor %}", "{{ 'a' 'b' }}{{ -1|abs }}{{ (1, 2) }}{{ 1, 2 }}{{ [1, 2,] }}{{ {'a': 1,} }}",
]


def small(template):
    try:
        text = chat_template_utils._compile_jinja_template(template).render(**NAMES)
    except Exception as e:
        return {"template": template, "error": f"{type(e).__name__}: {e}"[:160]}
    return {"template": template, "text": text}


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    templates = dict(sorted(packages()))
    for old in FOLDER.glob("*.jinja"):
        old.unlink()
    seen, results = {}, []
    for name, template in templates.items():
        if template in seen:
            continue
        seen[template] = name
        (FOLDER / f"{name}.jinja").write_text(template, newline="")
        results += [{"template": name, "chat": chat, **rendered(template, given)} for chat, given in CHATS.items()]
    with open(FOLDER / "published.json", "w") as f:
        head = {"made by": "tools/goldens/chat_templates.py", "jinja2": jinja2.__version__, "transformers": __import__("transformers").__version__}
        json.dump({**head, "tokens": TOKENS, "chats": CHATS}, f, ensure_ascii=False)
        f.write("\n" + "\n".join(json.dumps(r, ensure_ascii=False) for r in results) + "\n")
    cases = [small(t) for t in TEMPLATES] + [small("{{ " + e + " }}") for e in EXPRESSIONS]
    with open(FOLDER / "small.json", "w") as f:
        json.dump({**head, "names": NAMES}, f, ensure_ascii=False)
        f.write("\n" + "\n".join(json.dumps(c, ensure_ascii=False) for c in cases) + "\n")
    print(len(seen), "templates,", len(results), "conversations,", sum("error" in r for r in results), "refused;", len(cases), "small ones,",
          sum("error" in c for c in cases), "refused")


if __name__ == "__main__":
    main()
