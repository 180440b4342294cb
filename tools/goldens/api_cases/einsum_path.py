"""jax.numpy.einsum_path: the places of each step, then what it costs; and the bytes of what it prints, for two of the ways."""
import jax.numpy as jnp
import numpy as np

from .calls import *

CASES = {}
WAYS = (True, False, "auto", "optimal", "greedy", "branch-all", "branch-2", "branch-1", "dp", "auto-hq")
PRINTED = ("optimal", "dp")


def einsum_path(*operands, subscripts, optimize="auto"):
    path, info = jnp.einsum_path(subscripts, *operands, optimize=optimize)
    numbers = [len(info.indices), max(info.scale_list), float(info.naive_cost), float(info.opt_cost), float(info.largest_intermediate)]
    printed = [np.frombuffer(str(info).encode(), u8)] if optimize in PRINTED else []
    return [np.asarray(step, i32) for step in path] + [np.asarray(numbers, f32)] + printed


def chain(*sizes):
    letters = "abcdefghijklmnopqrstuvwxyz"
    return ",".join(letters[i : i + 2] for i in range(len(sizes) - 1)), [np.zeros(pair, f32) for pair in zip(sizes, sizes[1:])]


def network(subscripts):
    """Of sizes drawn for the letters."""
    size = {c: int(ints(low=1, high=7)) for c in sorted(set(subscripts) - set(",->"))}
    return subscripts, [np.zeros([size[c] for c in term], f32) for term in subscripts.split("->")[0].split(",")]


NETWORKS = [chain(2, 3, 20, 5), chain(4, 3, 9, 2, 7), network("ab,bc,cd,de,ea->"), network("ea,fb,abcd,gc,hd->efgh"), network("ab,ab,bc->ac"), network("a,b,c,d->abcd"), network("abc,cd,ade,eb,bf->f"), network("ij,jk"), network("ij->i")]
CASES["numpy.einsum_path"] = calls(*[C(*xs, subscripts=s, optimize=o) for s, xs in NETWORKS for o in WAYS], *[C(*xs, subscripts=s) for s, xs in (chain(2, 3, 4, 5, 6, 7, 8, 9), chain(*[2, 7, 3, 5] * 3), chain(*[5, 2, 6, 3] * 5))],
                                   C(np.zeros((2, 3), f32), np.zeros((3, 4), f32), np.zeros((4, 2), f32), subscripts="...j,jk,kl"), *[C(*xs, subscripts=s, optimize="dp") for s, xs in (chain(2, 3, 4, 5, 6, 7, 8, 9), chain(*[2, 7, 3, 5] * 3), network("ab,cd,be,cf,g->"), network("abx,bc,cdy,de,z,zf->aef"))],
                                   C(np.zeros((2, 5, 3), f32), np.zeros((2, 3, 4), f32), np.zeros(4, f32), subscripts="...ij,...jk,k->i...", optimize="dp"), C(np.zeros((3, 3), f32), np.zeros((3, 4), f32), np.zeros((4, 3), f32), subscripts="ii,ij,ji->i"), C(X23, X23, subscripts="ij,jk"), C(X23, subscripts="ij,jk"), C(X23, X23, X23, subscripts="ij,ij,ij", optimize="no"), call=einsum_path)
