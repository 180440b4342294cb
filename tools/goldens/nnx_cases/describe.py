"""Says in JSON what a golden of strata/nn/testdata/nnx is made of: arrays, layers, functions."""
import base64

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from flax import nnx

DTYPES = ("dtype", "param_dtype", "preferred_element_type")


def formula(seed, shape):
    """(seed * 7919 + i * 104729) mod 2003 as numbers in [-1, 1): exact in f32."""
    i = np.arange(int(np.prod(shape)), dtype=np.int64)
    drawn = ((seed * 7919 + i * 104729) % 2003) - 1001
    return (drawn.astype(np.float32) / np.float32(1024)).reshape(shape)


class Numbers:
    """An array by the formula, rounded to `dtype`."""

    def __init__(self, seed, shape, dtype="float32"):
        self.seed, self.shape, self.dtype = seed, tuple(shape), dtype

    def array(self):
        return jnp.asarray(formula(self.seed, self.shape)).astype(self.dtype)

    def json(self):
        return {"numbers": self.seed, "shape": list(self.shape), "dtype": self.dtype}

    def to(self, dtype):
        return Numbers(self.seed, self.shape, dtype)


class Layer:
    """A layer: the name of its class in flax.nnx and the constructor's keyword arguments."""

    def __init__(self, layer, **args):
        self.layer, self.args = layer, args

    def build(self, rngs):
        """Builds inner layers first, in the order of the arguments, from the same Rngs."""
        args = {k: _value(k, v, rngs) for k, v in self.args.items()}
        kind = getattr(nnx, self.layer)
        if self.layer == "Sequential":
            return kind(*args["layers"])
        if self.layer in ("LoRA", "LoRALinear"):
            rank, features = args.pop("lora_rank"), args.pop("out_features")
            places = [args.pop("in_features")]
            places += [rank, features] if self.layer == "LoRA" else [features]
            named = {} if self.layer == "LoRA" else {"lora_rank": rank}
            return kind(*places, **named, **args, rngs=rngs)
        if self.layer in ("PReLU", "RNN", "Bidirectional") or "rngs" in self.args:
            streams = {"rngs": rngs} if args.get("rngs") == "given" else {}
            return kind(**args | streams)
        return kind(**args, rngs=rngs)

    def json(self):
        return {"layer": self.layer, "args": {k: plain(v) for k, v in self.args.items()}}

    def with_dtype(self, dtype):
        """The same layer, and the layers in it, with another dtype of computation."""
        change = lambda v: v.with_dtype(dtype) if isinstance(v, Layer) else v
        inner = {k: [change(i) for i in v] if isinstance(v, list) else change(v)
                 for k, v in self.args.items()}
        if self.layer not in ("RNN", "Bidirectional", "Dropout", "Sequential"):
            inner["dtype"] = dtype
        return Layer(self.layer, **inner)


class Named:
    """A function of nnx, jnp or nnx.initializers by its name, perhaps with arguments to make it."""

    def __init__(self, kind, name, **args):
        self.kind, self.name, self.args = kind, name, args

    def get(self):
        if self.kind == "initializer":
            found = getattr(nnx.initializers, self.name)
            bare = self.name in ("zeros", "ones")
            return found if bare else found(**self.args)
        for module in (nnx, jnp):
            if hasattr(module, self.name):
                return getattr(module, self.name)
        raise KeyError(self.name)

    def json(self):
        return {self.kind: self.name, **{k: plain(v) for k, v in self.args.items()}}


class Seeds:
    """An Rngs made for one call, from seeds by stream or from one seed."""

    def __init__(self, seeds):
        self.seeds = seeds

    def get(self):
        return made_rngs(self.seeds)

    def json(self):
        return {"rngs": self.seeds}


class Key:
    """`jax.random.key(seed)`."""

    def __init__(self, seed):
        self.seed = seed

    def get(self):
        return jax.random.key(self.seed)

    def json(self):
        return {"key": self.seed}


def initializer(name, **args):
    return Named("initializer", name, **args)


def function(name):
    return Named("function", name)


def packed(x):
    """An array with its bytes; a typed key becomes its words of u32, one dimension more."""
    if jnp.issubdtype(getattr(x, "dtype", np.int32), jax.dtypes.prng_key):
        x = jax.random.key_data(x)
    x = np.asarray(x)
    data = base64.b64encode(np.ascontiguousarray(x).tobytes()).decode()
    return {"shape": list(x.shape), "dtype": x.dtype.name, "b64": data}


def plain(x):
    """Anything that a case names, as JSON."""
    if hasattr(x, "json"):
        return x.json()
    if isinstance(x, (np.ndarray, jax.Array)):
        return packed(x)
    if isinstance(x, dict):
        return {str(k): plain(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        return [plain(i) for i in x]
    return x


def actual(x):
    """What `plain` describes, as arrays of JAX."""
    if isinstance(x, Numbers):
        return x.array()
    if isinstance(x, (Named, Seeds, Key)):
        return x.get()
    if isinstance(x, np.ndarray):
        return jnp.asarray(x)
    if isinstance(x, dict):
        return {k: actual(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        return type(x)(actual(i) for i in x)
    return x


def _value(name, x, rngs):
    if isinstance(x, Layer):
        return x.build(rngs)
    if isinstance(x, list) and x and all(isinstance(i, (Layer, Named)) for i in x):
        return [i.build(rngs) if isinstance(i, Layer) else i.get() for i in x]
    if name in DTYPES and isinstance(x, str):
        return jnp.dtype(x)
    return actual(x)


def made_rngs(rngs):
    return nnx.Rngs(rngs) if isinstance(rngs, int) else nnx.Rngs(**rngs)


assert ml_dtypes.bfloat16  # NumPy knows the name of the type only after this import
