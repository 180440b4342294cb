"""Says arrays and trees as JSON: arrays as base64, trees as tables from paths to arrays."""
import base64
import dataclasses

import jax
import jax.numpy as jnp
import numpy as np


def numbers(seed, shape, dtype="float32"):
    """(seed * 7919 + i * 104729) mod 2003 as numbers in [-1, 1): exact in f32, rounded in others."""
    i = np.arange(int(np.prod(shape)), dtype=np.int64)
    whole = ((seed * 7919 + i * 104729) % 2003) - 1001
    return (whole.astype(np.float32) / np.float32(1024)).astype(jnp.dtype(dtype)).reshape(shape)


@dataclasses.dataclass
class Numbers:
    """An input that is said by its seed instead of by its bytes."""

    seed: int
    shape: tuple
    dtype: str = "float32"

    def array(self):
        return jnp.asarray(numbers(self.seed, self.shape, self.dtype))


def is_key(x):
    return isinstance(x, jax.Array) and jax.dtypes.issubdtype(x.dtype, jax.dtypes.prng_key)


def encoded(x):
    """ARRAY, or the seed where the input has one; `weak`: Python's numbers decided the dtype."""
    if isinstance(x, Numbers):
        return {"numbers": x.seed, "shape": list(x.shape), "dtype": x.dtype}
    weak = isinstance(x, (int, float, complex)) and not isinstance(x, bool) or getattr(x, "weak_type", False)
    dtype = "key" if is_key(x) else None
    data = np.asarray(jax.random.key_data(x) if dtype else jnp.asarray(x))
    bytes_of = base64.b64encode(np.ascontiguousarray(data).tobytes()).decode()
    said = {"shape": list(data.shape), "dtype": dtype or data.dtype.name, "b64": bytes_of}
    return {**said, "weak": True} if weak else said


def array_of(x):
    return x.array() if isinstance(x, Numbers) else x


def path_of(keys):
    parts = []
    for key in keys:
        for field in ("name", "key", "idx"):
            if hasattr(key, field):
                parts.append(str(getattr(key, field)))
                break
    return "/".join(parts)


def flat(tree):
    """Path -> leaf, in upstream's order of leaves."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree, is_leaf=lambda x: isinstance(x, Numbers))
    return {path_of(keys): leaf for keys, leaf in leaves}


def encoded_tree(tree):
    return {path: encoded(leaf) for path, leaf in flat(tree).items()}


def nested(table):
    """The tree of dictionaries that paths such as "b/w" name; "" is a tree of one leaf."""
    if set(table) == {""}:
        return table[""]
    out = {}
    for path, leaf in table.items():
        *folders, name = path.split("/")
        at = out
        for folder in folders:
            at = at.setdefault(folder, {})
        at[name] = leaf
    return out


def arrays(tree):
    return jax.tree.map(array_of, tree, is_leaf=lambda x: isinstance(x, Numbers))


def numbers_tree(shapes, seed, dtype="float32"):
    """Leaf k, in upstream's order, has the seed `seed + 100 k`."""
    tree = nested({path: Numbers(0, tuple(shape), dtype) for path, shape in shapes.items()})
    leaves, structure = jax.tree.flatten(tree, is_leaf=lambda x: isinstance(x, Numbers))
    return structure.unflatten([Numbers(seed + 100 * k, leaf.shape, dtype) for k, leaf in enumerate(leaves)])
