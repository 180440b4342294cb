"""A model of Flax Linen: its variables by collection and path, what nnx.bridge makes of them, its answer."""
import flax.linen as linen
import jax
import jax.numpy as jnp
from flax import nnx, traverse_util
from flax.nnx.bridge.variables import linen_vars_to_nnx_attrs

from .describe import Numbers, packed


class Net(linen.Module):
    """Submodules by automatic names and in a list of setup."""

    def setup(self):
        self.layers = [linen.Dense(4) for _ in range(2)]

    @linen.compact
    def __call__(self, x):
        h = linen.Embed(7, 4)(x)
        for layer in self.layers:
            h = jax.nn.relu(layer(h))
        h = linen.BatchNorm(use_running_average=True)(h)
        return linen.Dense(3)(h)


def cases():
    net, x = Net(), jnp.asarray([[1, 0, 6], [3, 3, 2]], jnp.int32)
    flat = traverse_util.flatten_dict(net.init(jax.random.key(0), x), sep="/")
    said = {path: Numbers(10 + i, v.shape) for i, (path, v) in enumerate(sorted(flat.items()))}
    # A variance is above 0.
    values = {p: abs(n.array()) + 0.5 if p.endswith("/var") else n.array() for p, n in said.items()}
    variables = traverse_util.unflatten_dict(values, sep="/")
    attributes = traverse_util.flatten_dict(linen_vars_to_nnx_attrs(variables), sep="/")
    assert all(isinstance(v, nnx.Variable) for v in attributes.values())
    yield {"name": "net", "model": Net.__doc__, "variables": {p: packed(v) for p, v in values.items()},
           "nnx": {p: type(v).__name__ for p, v in attributes.items()}, "x": packed(x),
           "y": packed(net.apply(variables, x))}
