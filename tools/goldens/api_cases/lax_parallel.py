"""jax.lax: collectives over axes that vmap names. The arguments have the axes in front: `axis_name` says which (default "i"), for others a function is called once.

Where `axis_size` is given the arguments have no axis, and are the same for all inputs.
"""
import jax
import jax.lax as lax

from .calls import *

CASES = {}


def over_axes(f, args, axis_name, axis_size):
    """f of each input, under a vmap for each name, the first outermost."""
    names = [axis_name] if isinstance(axis_name, str) else list(axis_name)
    for name in reversed(names):
        f = jax.vmap(f, in_axes=0 if axis_size is None else None, axis_name=name, axis_size=axis_size)
    return f(*args)


def collective(name):
    def call(*args, axis_name="i", axis_size=None, **options):
        names = axis_name if isinstance(axis_name, str) else tuple(axis_name)
        return over_axes(lambda *each: getattr(lax, name)(*each, names, **options), args, axis_name, axis_size)

    return call


def collective_calls(name, *cases, **more):
    CASES["lax." + name] = calls(*cases, call=more.pop("call", collective(name)), **more)


PAIR = ["i", "j"]
X334, X43 = normal(3, 3, 4), normal(4, 3)
UNARY = [C(X23), C(X234), C(H5), C(G5), C(I23), C(U23), C(C3), C(SPECIAL), C(E03), C(normal(3, 0)), C(X234, axis_name=PAIR), C(I23, axis_name=PAIR), C(X23, axis_size=4), C(I3, axis_size=2), C(f32(1.5), axis_size=3), C(np.float16(2), axis_size=5)]
BAD = [C(X23, axis_index_groups=[[0], [1]]), C(X23, axis_index_groups=[[0], [0]])]
NUMBERS = [C(2.5, axis_size=4), C(3, axis_size=4)]
for name in ("psum", "pmean"):
    collective_calls(name, UNARY, C(B23), BAD, NUMBERS, C(True, axis_size=3), scaled=True)
for name in ("pmax", "pmin"):
    collective_calls(name, UNARY, C(B23), BAD, NUMBERS)

collective_calls("all_gather", UNARY[:10], C(B23), BAD, C(X234, axis=1), C(X234, axis=-1), C(X234, axis=2), C(X234, axis=3), C(X234, tiled=True), C(X234, axis=1, tiled=True), C(I23, tiled=True), C(X23, axis=-1, tiled=True),
                 C(X234, axis=2, tiled=True), C(H5, tiled=True), C(X23, to="reduced"), C(X23, to="invarying"), C(X23, to="other"), C(X23, axis_size=4), C(X23, axis=1, tiled=True, axis_size=2), C(I3, axis_size=2), C(3, axis_size=2))

SQUARE = [X334, ints(3, 3, 4), normal(3, 3, 4, dtype=bf16), X334.astype(np.complex64)]
collective_calls("all_to_all", [C(x, split_axis=0, concat_axis=0) for x in SQUARE], [C(X334, split_axis=s, concat_axis=c) for s, c in ((0, 1),)], C(normal(3, 4, 3), split_axis=1, concat_axis=0), C(normal(3, 4, 3, 2), split_axis=1, concat_axis=2),
                 C(normal(2, 4, 6), split_axis=0, concat_axis=1, tiled=True), C(normal(2, 4, 6), split_axis=1, concat_axis=0, tiled=True), C(ints(2, 4, 6), split_axis=1, concat_axis=1, tiled=True), C(normal(3, 6, dtype=f16), split_axis=0, concat_axis=0, tiled=True),
                 C(X334, split_axis=1, concat_axis=0), C(normal(2, 3), split_axis=0, concat_axis=0, tiled=True), C(X334, split_axis=0, concat_axis=0, axis_index_groups=[[0, 1, 2]]), C(np.zeros((2, 2, 0), f32), split_axis=0, concat_axis=1),
                 C(normal(2, 3, 6, 2), split_axis=0, concat_axis=0, axis_name=PAIR), C(normal(2, 3, 6, 2), split_axis=0, concat_axis=1, axis_name=PAIR), C(ints(2, 3, 2, 12), split_axis=1, concat_axis=0, axis_name=PAIR, tiled=True))
collective_calls("pswapaxes", [C(x, axis=0) for x in SQUARE], C(normal(3, 4, 3), axis=1), C(X334, axis=1), C(X334, axis=2), C(X334, axis=0, axis_index_groups=[[0, 1, 2]]), C(np.zeros((2, 2, 0), f32), axis=0))
collective_calls("psum_scatter", [C(x) for x in SQUARE], C(normal(3, 4, 3), scatter_dimension=1), C(normal(2, 4, 6), tiled=True), C(normal(2, 4, 6), scatter_dimension=1, tiled=True), C(ints(2, 4, 6), tiled=True), C(ints(2, 2, dtype=i8)), C(normal(3, 3, dtype=f16)),
                 C(normal(2, 3), tiled=True), C(bools(2, 2)), C(X334, axis_index_groups=[[0, 1, 2]]), C(np.zeros((2, 2, 0), f32)), C(normal(4, 3), axis_size=4), C(ints(4), axis_size=2, tiled=True), scaled=True)

RING = [[0, 1], [1, 2], [2, 0]]
THREES = [X334, ints(3, 2), bools(3), C3, normal(3, dtype=bf16), np.zeros((3, 0), f32), SPECIAL[:9].reshape(3, 3)]
collective_calls("ppermute", [C(x, perm=RING) for x in THREES], C(X334, perm=[[0, 0], [1, 1], [2, 2]]), C(X334, perm=[[2, 1], [1, 0], [0, 2]]), C(X334, perm=[[0, 1], [1, 3], [2, 0]]), C(normal(3), perm=RING, axis_size=3), C(X234, perm=[[0, 1], [1, 2], [2, 0]]), C(normal(2, 3), perm=RING, axis_name=PAIR))
collective_calls("pshuffle", [C(x, perm=[2, 0, 1]) for x in THREES], C(X334, perm=[0, 1, 2]), C(X334, perm=[1, 1, 0]), C(X334, perm=[1, 0]), C(f32(2), perm=[1, 0], axis_size=2))


def broadcast_by_sum(*args, source, axis_name="i", axis_size=None):
    """What upstream documents; its vmap takes only what is the same for all inputs."""
    size = args[0].shape[0] if axis_size is None else axis_size
    if not 0 <= source < size:
        raise ValueError("no such source")
    return over_axes(lambda x: lax.psum(jnp.where(lax.axis_index(axis_name) == source, x, jnp.zeros_like(x)), axis_name), args, axis_name, axis_size)


collective_calls("pbroadcast", C(X334, source=0), C(X334, source=2), C(I23, source=1), C(H5, source=4), C(C3, source=1), C(E03, source=0), C(normal(3, 0), source=1), C(X23, source=2), C(X23, source=-1), C(X23, source=1, axis_size=4), call=broadcast_by_sum)

WHERE = {"lax.axis_index": lax.axis_index, "lax.axis_size": lax.axis_size}
for name, f in WHERE.items():
    def call(*args, axis_name="i", asked=None, axis_size=None, f=f):
        asked = axis_name if asked is None else asked
        return over_axes(lambda *each: f(asked if isinstance(asked, str) else tuple(asked)), args, axis_name, axis_size)

    CASES[name] = calls(C(X23), C(E03), C(I3), C(H5), C(B23), C(X234, axis_name=PAIR), C(X234, axis_name=PAIR, asked=["j", "i"]), C(X234, axis_name=PAIR, asked="i"), C(X234, axis_name=PAIR, asked="j"), C(X234, axis_name=["i", "i"], asked="i"), C(X23, asked="j"),
                        C(f32(1), axis_size=4), C(f32(1), axis_size=4, asked=["i"]), call=call)
