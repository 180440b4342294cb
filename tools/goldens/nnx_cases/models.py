"""Models of several layers that the families of streams, filters, states and tables share."""
from flax import nnx


class Special(nnx.Param):
    """A user's kind that is a Param."""


class Scratch(nnx.Variable):
    """A user's kind that is a Variable and nothing else."""


class Block(nnx.Module):
    def __init__(self, features, rngs):
        self.linear = nnx.Linear(features, features, rngs=rngs)
        self.norm = nnx.BatchNorm(features, rngs=rngs)
        self.drop = nnx.Dropout(0.5, rngs=rngs)

    def __call__(self, x):
        return self.drop(nnx.relu(self.norm(self.linear(x))))


class Net(nnx.Module):
    """Two blocks in a list, a dictionary with a LoRA and a user's kinds, a linear layer."""

    def __init__(self, rngs):
        self.blocks = nnx.List([Block(3, rngs), Block(3, rngs)])
        self.extra = nnx.Dict(adapter=nnx.LoRA(3, 2, 3, rngs=rngs), a=nnx.List([Special(nnx.initializers.ones(
            None, (2,)))]), kernel_scale=Scratch(nnx.initializers.zeros(None, (3,), "int32")))
        self.head = nnx.Linear(3, 2, use_bias=False, rngs=rngs)

    def __call__(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(self.extra["adapter"](x))


class Attentive(nnx.Module):
    """Attention with a cache, a norm, a recurrent cell, a SpectralNorm."""

    def __init__(self, rngs):
        self.attention = nnx.MultiHeadAttention(2, 4, decode=True, dropout_rate=0.1, rngs=rngs)
        self.norm = nnx.LayerNorm(4, rngs=rngs)
        self.cell = nnx.GRUCell(4, 4, rngs=rngs)
        self.spectral = nnx.SpectralNorm(nnx.Linear(4, 2, rngs=rngs), rngs=rngs)
        self.attention.init_cache((1, 3, 4))


MODELS = {
    "linear": lambda: nnx.Linear(2, 3, rngs=nnx.Rngs(0)),
    "net": lambda: Net(nnx.Rngs(params=0, dropout=1)),
    "attentive": lambda: Attentive(nnx.Rngs(0)),
    "streams": lambda: nnx.Rngs(0, params=1, dropout=2),
}
TEXT = {
    "linear": "Linear(2, 3), Rngs(0)",
    "net": """Net(Rngs(params=0, dropout=1)), made in this order: blocks = list of 2 Block(3), each
linear = Linear(3, 3), norm = BatchNorm(3), drop = Dropout(0.5); extra = dict(adapter =
LoRA(3, 2, 3), a = list of Special(ones f32[2]), a kind that is a Param, kernel_scale =
Scratch(zeros i32[3]), a kind that is a Variable); head = Linear(3, 2, no bias). Call: the blocks,
each drop(relu(norm(linear(x)))), then head(adapter(x)).""",
    "attentive": """Attentive(Rngs(0)), in this order: attention = MultiHeadAttention(2, 4, decode,
dropout_rate 0.1); norm = LayerNorm(4); cell = GRUCell(4, 4); spectral =
SpectralNorm(Linear(4, 2)); then attention.init_cache((1, 3, 4)).""",
    "streams": "Rngs(0, params=1, dropout=2)",
}
TEXT = {k: " ".join(v.split()) for k, v in TEXT.items()}
