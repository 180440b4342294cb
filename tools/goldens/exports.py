#!/usr/bin/env python3
"""Writes the exports that tests of strata/ir/export and strata/api/program read: what `jax.export` serialises, and what JAX computes with it.

    tools/goldens/exports.py           # writes strata/ir/export/testdata/NAME.jax and NAME.txt
    tools/goldens/exports.py --check   # says whether they are as JAX writes them today

NAME.txt: the signature by JAX's own names (`jax.tree_util.keystr`), then a line for each input and output: in or out, type,
values. Needs jax 0.10.2; makes build/peers with it when this Python has none.
"""
import collections
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "strata" / "ir" / "export" / "testdata"

try:
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax import export
except ImportError:
    from peers import again_with

    again_with("jax==0.10.2", "flatbuffers")

# No machine's folders in what is written.
jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")

Pair = collections.namedtuple("Pair", "x y")
export.register_namedtuple_serialization(Pair, serialized_name="strata.Pair")


def layer(params, x, unused, *, scale):
    y = jnp.maximum(x @ params["w"] + params["b"], 0) * scale
    return {"y": y, "sums": (y.sum(0), y.sum())}


def doubled(x, ids):
    return jnp.concatenate([x, x]) * 2, ids + jnp.arange(ids.shape[0], dtype=jnp.int32), x.sum(0)


def by_platform(x):
    return jax.lax.platform_dependent(x, cpu=lambda x: x + 1, tpu=lambda x: x + 2)


def pair(p):
    return Pair(p.y, p.x.astype(jnp.bfloat16))


def drawn(key):
    return jax.random.bits(key, (3,))


def programs():
    def array(*shape):
        return np.linspace(-1, 1, int(np.prod(shape)), dtype=np.float32).reshape(shape)

    b = export.symbolic_shape("b")[0]
    yield "layer", layer, ({"w": array(2, 3), "b": array(3)}, array(4, 2), np.arange(2, dtype=np.int8)), {"scale": np.float32(3)}, None, ["cpu"]
    open_types = (jax.ShapeDtypeStruct((b, 2), np.float32), jax.ShapeDtypeStruct((b,), np.int32))
    yield "open", doubled, (array(3, 2), np.arange(3, dtype=np.int32)), {}, open_types, ["cpu"]
    yield "platforms", by_platform, (array(2),), {}, None, ["tpu", "cpu"]
    yield "tpu", by_platform, (array(2),), {}, None, ["tpu"]
    yield "unchecked", by_platform, (array(2),), {}, None, ["tpu"], [export.DisabledSafetyCheck.platform()]
    yield "pair", pair, (Pair(array(2), array(1, 2)),), {}, None, ["cpu"]
    yield "key", drawn, (jax.random.key(7),), {}, None, ["cpu"]


def words(array):
    return jax.random.key_data(array) if jnp.issubdtype(array.dtype, jax.dtypes.prng_key) else np.asarray(array)


NAMES = {"float32": "f32", "bfloat16": "bf16", "int8": "i8", "int32": "i32", "uint32": "ui32"}


def port(path, aval):
    dims, dtype = [str(d) for d in aval.shape], aval.dtype
    if jnp.issubdtype(dtype, jax.dtypes.prng_key):
        dims, dtype = dims + ["2"], np.dtype("uint32")
    return f"{path}: {NAMES[str(dtype)]}[{','.join(dims)}]"


def paths(tree):
    return [jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_flatten_with_path(tree)[0]]


def golden(f, args, kwargs, types, platforms, disabled=()):
    exported = export.export(jax.jit(f), platforms=platforms, disabled_checks=disabled)(*(types or args), **kwargs)
    data = bytes(exported.serialize())
    inputs = paths(args) + paths(kwargs)
    out = f(*args, **kwargs)
    ports = [", ".join(port(p, a) for p, a in zip(names, avals)) for names, avals in ((inputs, exported.in_avals), (paths(out), exported.out_avals))]
    lines = [f"{exported.fun_name}({ports[0]}) -> ({ports[1]})".replace(".x:", "[<flat index 0>]:").replace(".y:", "[<flat index 1>]:")]
    if "cpu" in platforms:
        out = export.deserialize(bytearray(data)).call(*args, **kwargs)
    for kind, leaves in (("in", jax.tree.leaves((args, kwargs))), ("out", jax.tree.leaves(out))):
        for leaf in map(words, leaves):
            lines.append(" ".join([kind, NAMES[str(leaf.dtype)], ",".join(map(str, leaf.shape)) or "-", *(repr(float(v)) for v in np.ravel(leaf))]))
    return data, "\n".join(lines) + "\n"


def main():
    check, failed = "--check" in sys.argv[1:], 0
    DATA.mkdir(parents=True, exist_ok=True)
    for name, *rest in programs():
        data, text = golden(*rest)
        for path, contents in ((DATA / f"{name}.jax", data), (DATA / f"{name}.txt", text.encode())):
            if not check:
                path.write_bytes(contents)
            elif path.suffix == ".txt" and (not path.exists() or path.read_bytes() != contents):  # the order inside a FlatBuffer is not promised
                failed = 1
                print(f"{path} is not as JAX {jax.__version__} writes it")
    return failed


if __name__ == "__main__":
    sys.exit(main())
