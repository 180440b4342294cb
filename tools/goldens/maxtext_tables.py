#!/usr/bin/env python3
"""Writes strata/train/maxtext/upstream.json: MaxText's keys, YAML files and rules as data.

    PYTHONPATH=WHEEL JAX_PLATFORMS=cpu python3.12 tools/goldens/maxtext_tables.py

WHEEL is the unpacked wheel of maxtext 0.2.5 (Apache License 2.0, PyPI), beside pydantic, omegaconf,
jax 0.10.2, flax, orbax-checkpoint, pathwaysutils, psutil and jinja2. What is written: the name,
type, default and range of each key; the YAML files below configs; devices of each topology; and
the validators of configs/types.py, statement by statement, as arrays that rules.cc evaluates:
    ["if", condition, [statements], [statements]]   ["raise", class, message]   ["set", target, e]
    ["self", key]  ["var", name]  ["call", function, ...]  ["cmp", a, "<", b, ...]  ["fmt", ...]
"""
import ast
import enum
import inspect
import json
import os
import pathlib
import sys
import textwrap
import types as pytypes
import typing

# The wheel's own assets, as a checkout of the repository has them.
import maxtext
os.environ["MAXTEXT_ASSETS_ROOT"] = str(pathlib.Path(maxtext.__path__[0], "assets"))
import omegaconf
from maxtext.configs import types
from maxtext.utils import accelerator_to_spec_map, globals as maxtext_globals

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONFIGS = pathlib.Path(types.__file__).parent
OPERATORS = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.In: "in", ast.NotIn: "not in", ast.Is: "==", ast.IsNot: "!=",
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**"}
enums, functions = {}, {}


def note_enum(cls):
  enums.setdefault(cls.__name__, [[m.value, m.name] for m in cls])
  return cls.__name__


def type_of(annotation):
  """The type of a key: a word, or an array that begins with one."""
  if annotation is typing.Any: return "any"
  if annotation is type(None): return "none"
  if isinstance(annotation, typing.NewType): return type_of(annotation.__supertype__)
  origin, args = typing.get_origin(annotation), typing.get_args(annotation)
  if origin is typing.Annotated:
    out = type_of(args[0])
    for bound in args[1:]: out = ["bound", out, bounds_of([bound])]
    return out
  if origin is typing.Literal: return ["literal", *args]
  if origin in (typing.Union, pytypes.UnionType): return ["union", *map(type_of, args)]
  if origin is list: return ["list", type_of(args[0])]
  if origin is dict: return "dict"
  if isinstance(annotation, type):
    if issubclass(annotation, enum.Enum): return ["enum", note_enum(annotation)]
    if hasattr(annotation, "model_fields"): return ["model", keys_of(annotation)]
    return {list: "list", dict: "dict"}.get(annotation, annotation.__name__)
  raise TypeError(annotation)


def bounds_of(metadata):
  return {name: getattr(m, name) for m in metadata for name in ("ge", "gt", "le", "lt") if hasattr(m, name)}


def plain(value):
  if isinstance(value, enum.Enum): return value.value
  if hasattr(value, "model_dump"): return {k: plain(v) for k, v in value.model_dump().items()}
  if isinstance(value, (list, tuple)): return [plain(v) for v in value]
  return value


def keys_of(cls):
  out = {}
  for name, field in cls.model_fields.items():
    bounds = bounds_of(field.metadata)
    out[name] = [type_of(field.annotation), plain(field.get_default(call_default_factory=True))] + ([bounds] if bounds else [])
  return out


class Translate:
  """Statements of one function as arrays."""

  def __init__(self, name): self.name = name

  def lookup(self, node):
    """A module-level constant, where the node is one; enumerations as their values."""
    try:
      value = eval(compile(ast.Expression(node), "", "eval"), vars(types))  # names of upstream's module
    except Exception: return None
    if isinstance(value, enum.Enum): return [value.value]
    if isinstance(value, str): return [value.replace(str(maxtext_globals.MAXTEXT_ASSETS_ROOT), "maxtext/assets")]
    if isinstance(value, tuple) and all(isinstance(v, enum.Enum) for v in value): return [["tuple", *[v.value for v in value]]]
    return None

  def expression(self, n):
    e = self.expression
    match n:
      case ast.Constant(): return n.value
      case ast.Name(id="self"): return ["var", "self"]
      case ast.Name():
        found = self.lookup(n)
        return found[0] if found else ["var", n.id]
      case ast.Attribute(value=ast.Name(id="self")): return ["self", n.attr]
      case ast.Attribute(value=ast.Name(id="config")): return ["self", n.attr]
      case ast.Attribute(attr="model_fields"):
        return ["tuple", *eval(ast.unparse(n), vars(types))]
      case ast.Attribute():
        found = self.lookup(n)
        if found: return found[0]
        if n.attr in ("value", "devices_per_slice"): return e(n.value)
        return ["get", e(n.value), n.attr]
      case ast.BoolOp(): return ["and" if isinstance(n.op, ast.And) else "or", *map(e, n.values)]
      case ast.UnaryOp(op=ast.Not()): return ["not", e(n.operand)]
      case ast.UnaryOp(op=ast.USub()):
        return -n.operand.value if isinstance(n.operand, ast.Constant) else ["neg", e(n.operand)]
      case ast.BinOp(): return ["op", OPERATORS[type(n.op)], e(n.left), e(n.right)]
      case ast.Compare():
        out = ["cmp", e(n.left)]
        for op, right in zip(n.ops, n.comparators): out += [OPERATORS[type(op)], e(right)]
        return out
      case ast.IfExp(): return ["choose", e(n.test), e(n.body), e(n.orelse)]
      case ast.Tuple() | ast.List() | ast.Set(): return ["tuple" if not isinstance(n, ast.List) else "list", *map(e, n.elts)]
      case ast.Dict(): return ["dict", *[[e(k), e(v)] for k, v in zip(n.keys, n.values)]]
      case ast.Subscript(): return ["get", e(n.value), e(n.slice)]
      case ast.JoinedStr(): return ["fmt", *map(self.part, n.values)]
      case ast.GeneratorExp() | ast.ListComp():
        (g,) = n.generators
        return ["each", e(n.elt), self.target(g.target), e(g.iter), *map(e, g.ifs)]
      case ast.DictComp():
        (g,) = n.generators
        return ["each_item", e(n.key), e(n.value), self.target(g.target), e(g.iter)]
      case ast.Call(): return self.call(n)
    raise NotImplementedError(ast.dump(n))

  def part(self, n):
    if isinstance(n, ast.Constant): return n.value
    value = self.expression(n.value)
    kind = "repr" if n.conversion == ord("r") else "str"
    if isinstance(n.value, ast.Attribute) and isinstance(n.value.value, ast.Name) and n.value.value.id == "self":
      field = types.MaxTextConfig.model_fields.get(n.value.attr)
      if field and isinstance(field.annotation, type) and issubclass(field.annotation, enum.Enum):
        return [kind, value, note_enum(field.annotation)]
    return [kind, value]

  def call(self, n):
    e, name = self.expression, ast.unparse(n.func)
    args = [e(a) for a in n.args if ast.unparse(a) not in ("self", "config")]
    if name == "getattr": return ["getattr", *args]
    if name.endswith(".live_devices"): return ["call", "jax.devices"]
    if name == "next": return ["call", "first_existing", e(n.args[0].args[1]), args[1]]
    if name.startswith("datetime."): return ["call", "now"]
    if name == "Environment": return None
    if name == "env.parse": return ["call", "check_template", *args]
    try:
      target = eval(name, vars(types))
      if isinstance(target, type) and issubclass(target, enum.Enum): return args[0]
      if inspect.isfunction(target) and target.__module__ == types.__name__: translate_function(target)
    except (NameError, AttributeError): pass
    if name.startswith("self.") and name.count(".") == 1 and hasattr(types.MaxTextConfig, name[5:]):
      if name == "self._load_mesh_config_from_yaml": return ["call", "mesh_config", *args]
      translate_function(getattr(types.MaxTextConfig, name[5:]))
      return ["call", name[5:]]
    if isinstance(n.func, ast.Attribute):
      root = n.func
      while isinstance(root, ast.Attribute): root = root.value
      if isinstance(root, ast.Name) and root.id in ("os", "jax", "math", "gcs_utils", "max_utils", "elastic_utils", "accelerator_to_spec_map", "copy"):
        return ["call", name, *args]
      return ["method", e(n.func.value), n.func.attr, *args]
    return ["call", name, *args]

  def target(self, n):
    match n:
      case ast.Name(): return n.id
      case ast.Tuple(): return [self.target(t) for t in n.elts]
      case ast.Attribute(value=ast.Name(id="self")): return {"self": n.attr}
      case ast.Attribute(): return {"of": self.expression(n.value), "at": n.attr}
      case ast.Subscript(): return {"of": self.expression(n.value), "at": self.expression(n.slice)}
    raise NotImplementedError(ast.dump(n))

  def body(self, statements):
    return [s for n in statements for s in self.statement(n)]

  def statement(self, n):
    e = self.expression
    match n:
      case ast.Expr(value=ast.Constant()) | ast.Pass(): return []
      case ast.Expr(value=ast.Call()):
        name = ast.unparse(n.value.func)
        if name in ("logger.warning", "max_logging.warning", "max_logging.log"):
          return [["warn", *map(e, n.value.args)]]
        if name == "setattr": return [["setattr", *map(e, n.value.args[1:])]]
        return [["do", e(n.value)]]
      case ast.If(): return [["if", e(n.test), self.body(n.body), self.body(n.orelse)]]
      case ast.Raise(exc=ast.Call()): return [["raise", ast.unparse(n.exc.func), e(n.exc.args[0])]]
      case ast.Assert(): return [["if", ["not", e(n.test)], [["raise", "AssertionError", e(n.msg)]], []]]
      case ast.Assign():
        (to,) = n.targets
        if ast.unparse(to).startswith("os.environ"): return []
        return [["set", self.target(to), e(n.value)]]
      case ast.AnnAssign(): return [["set", self.target(n.target), e(n.value)]]
      case ast.AugAssign(): return [["set", self.target(n.target), ["op", OPERATORS[type(n.op)], e(n.target), e(n.value)]]]
      case ast.For(): return [["for", self.target(n.target), e(n.iter), self.body(n.body)]]
      case ast.Return():
        return [["return", None if n.value is None else e(n.value)]]
      case ast.Break(): return [["break"]]
      case ast.Try(): return self.body(n.body)  # what is caught are devices that are not there
      case ast.FunctionDef():
        functions[n.name] = [[a.arg for a in n.args.args], Translate(n.name).body(n.body)]
        return []
      case ast.Match(): return self.match(n)
    raise NotImplementedError(ast.dump(n))

  def match(self, n):
    subject, out = n.subject, []
    for case in reversed(n.cases):
      conditions = []
      if isinstance(case.pattern, ast.MatchSequence):
        for pattern, of in zip(case.pattern.patterns, subject.elts):
          if isinstance(pattern, ast.MatchValue): conditions.append(["cmp", self.expression(of), "==", self.expression(pattern.value)])
          if isinstance(pattern, ast.MatchSingleton): conditions.append(["cmp", self.expression(of), "==", pattern.value])
      body = self.body(case.body)
      out = [["if", ["and", *conditions], body, out]] if conditions else body
    return out


def translate_function(function):
  name = function.__name__
  if name in functions: return
  functions[name] = None
  node = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
  arguments = [a.arg for a in node.args.args if a.arg not in ("self", "config")]
  functions[name] = [arguments, Translate(name).body(node.body)]


def yaml_files():
  out = {}
  for path in sorted(CONFIGS.rglob("*.yml")):
    loaded = omegaconf.OmegaConf.to_container(omegaconf.OmegaConf.load(path), resolve=False)
    if isinstance(loaded, dict): out[str(path.relative_to(CONFIGS))] = loaded
  return out


def main():
  keys = keys_of(types.MaxTextConfig)
  validators = []
  for name, decorator in types.MaxTextConfig.__pydantic_decorators__.model_validators.items():
    if decorator.info.mode != "after": continue
    translate_function(decorator.func)
    validators.append(name)
  tokenizers = maxtext_globals.HF_IDS
  assets = str(maxtext_globals.MAXTEXT_ASSETS_ROOT)
  import importlib.metadata
  out = {
      "source": "maxtext 0.2.5, configs, Apache License 2.0, https://github.com/AI-Hypercomputer/maxtext",
      "keys": keys, "enums": enums, "validators": validators,
      "multimodal": list(types.Multimodal.model_fields),
      "functions": functions, "files": yaml_files(),
      "topologies": {k: v.devices_per_slice for k, v in accelerator_to_spec_map.UserFacingNameToSystemCharacteristics.items()},
      "assets": sorted(p.name for p in pathlib.Path(assets, "tokenizers").iterdir()),
      "tokenizers": {k: v.replace(assets, "maxtext/assets") for k, v in tokenizers.items()}}
  path = ROOT / "strata/train/maxtext/upstream.json"
  lines = ["{"]
  for i, (section, value) in enumerate(out.items()):
    end = "," if i + 1 < len(out) else ""
    if isinstance(value, dict) and section != "functions":
      lines.append(f"{json.dumps(section)}: {{")
      rows = [f"{json.dumps(k)}: {json.dumps(v, separators=(',', ':'))}" for k, v in value.items()]
      lines.append(",\n".join(rows)); lines.append("}" + end)
    elif section == "functions":
      lines.append('"functions": {')
      rows = []
      for k, (args, body) in value.items():
        statements = ",\n  ".join(json.dumps(s, separators=(",", ":")) for s in body)
        rows.append(f"{json.dumps(k)}: [{json.dumps(args)}, [\n  {statements}]]")
      lines.append(",\n".join(rows)); lines.append("}" + end)
    else: lines.append(f"{json.dumps(section)}: {json.dumps(value, separators=(',', ':'))}{end}")
  path.write_text("\n".join(lines + ["}", ""]))
  print(path, path.stat().st_size, len(keys), len(functions), file=sys.stderr)


if __name__ == "__main__":
  main()
