"""Products, and elements by their numbers."""
import numpy as np

from .calls import *

CASES = {}
A, B, W = normal(3, 4), normal(4, 2), normal(4)
BATCH = normal(2, 3, 4)
for name in ("dot", "matmul"):
    CASES["numpy." + name] = calls(C(A, B), C(A, W), C(W, B), C(W, W), C(BATCH, B), C(BATCH, normal(2, 4, 5)) if name == "matmul" else C(2.0, A), C(A, A), C(ints(2, 3), ints(3, 2)), C(A.astype(f16), B.astype(f16)), C(A.astype(bf16), B), C(np.zeros((0, 4), f32), B), C(np.zeros((3, 0), f32), np.zeros((0, 2), f32)), C(f32(2), A), C(C3, D3), C(bools(2, 2), bools(2, 2)), scaled=True, bound=16)
CASES["numpy.vdot"] = calls(C(W, W), C(A, A), C(C3, D3), C(I3, I3), C(H5, H5), C(W, V3), C(f32(2), f32(3)), scaled=True, bound=16)
CASES["numpy.inner"] = calls(C(A, W), C(A, A), C(W, W), C(2.0, A), C(I23, I3), C(A, V3), C(H5, H5), C(np.zeros((0,), f32), np.zeros((0,), f32)), scaled=True, bound=16)
CASES["numpy.outer"] = calls(C(V3, W), C(X23, V3), C(I3, V3), C(2.0, V3), C(H5, G5), C(np.zeros(0, f32), V3), C(C3, V3))
CASES["numpy.matvec"] = calls(C(A, W), C(BATCH, W), C(BATCH, normal(2, 4)), C(A, V3), C(V3, V3), C(ints(2, 3), I3), C(A.astype(f16), W.astype(f16)), scaled=True, bound=16)
CASES["numpy.vecmat"] = calls(C(W, B), C(W, normal(2, 4, 3)), C(normal(2, 4), normal(2, 4, 3)), C(V3, B), C(V3, V3), C(C3, complexes(3, 2)), C(I3, ints(3, 2)), scaled=True, bound=16)
CASES["numpy.vecdot"] = calls(C(A, A), C(A, W), C(A, A, axis=0), C(C3, D3), C(I23, I3), C(A, V3), C(H5, H5), C(f32(1), V3), scaled=True, bound=16)
CASES["numpy.kron"] = calls(C(X23, V3), C(V3, W), C(ints(2, 2), ints(1, 3)), C(2.0, V3), C(H5, G5), C(np.zeros((0, 2), f32), X23))
CASES["numpy.tensordot"] = calls(C(A, A), C(BATCH, B, axes=1), C(V3, W, axes=0), C(A, W, axes=1), C(A, B, axes=2), C(ints(2, 3), ints(3, 2), axes=1), C(A.astype(f16), B.astype(f16), axes=1), scaled=True, bound=16)
EINSUM = lambda *xs, subscripts, **options: jnp.einsum(subscripts, *xs, **options)
CASES["numpy.einsum"] = calls(C(A, B, subscripts="ij,jk->ik"), C(A, B, subscripts="ij,jk"), C(BATCH, normal(2, 4, 5), subscripts="bij,bjk->bik"), C(A, subscripts="ij->j"), C(A, subscripts="ij->ji"), C(V3, W, subscripts="i,j->ij"), C(BATCH, B, subscripts="...ij,jk->...ik"), C(A, B, W, subscripts="ij,jk,j->k"), C(A, B, subscripts="ij,kl->il"), C(A, B, subscripts="ij,ik->jk"), C(ints(2, 3), ints(3, 2), subscripts="ij,jk->ik"), C(A.astype(f16), B.astype(f16), subscripts="ij,jk->ik"),
                               C(normal(3, 3), subscripts="ii->i"), C(ints(3, 3), subscripts="ii"), C(normal(2, 3, 2), subscripts="iji->j"), C(normal(2, 2, 2), subscripts="iii"), C(normal(3, 4, 3), normal(4, 2), subscripts="iji,jk->ki"), C(normal(2, 3, 3), subscripts="...ii"), C(normal(3, 3), normal(3, 3), subscripts="ii,jj->ij"), C(A, subscripts="ii"), C(normal(3), subscripts="i->ii"), scaled=True, bound=16, call=EINSUM)
N = np.array([0, 2, -1, 5, -9], i32)
CASES["numpy.take"] = calls(C(A, N % 3, axis=0), C(A, N, axis=1), C(A, N, axis=0, mode="clip"), C(ints(4), N, axis=0), C(W, i32(2), axis=0), C(A, np.array([[0, 1], [2, 0]], u8), axis=1), C(A, N, axis=5), C(H5, N % 4, axis=0), C(A, V3, axis=0), C(bools(4), N, axis=0), C(ints(4, low=0, high=9, dtype=u8), N, axis=0),
                             C(A, N), C(A, N, mode="wrap", axis=1), C(A, N, mode="fill", fill_value=7.0, axis=1), C(A, N, axis=-1, mode="drop"), C(E03, N, axis=0), C(E03, N % 3, axis=1), C(A, N[:0], axis=0), C(A, N[:0].reshape(0, 2)), C(f32(2), N), C(A, N.astype(np.uint32), axis=0))
CASES["numpy.take_along_axis"] = calls(C(A, np.argsort(A, axis=1).astype(i32), axis=1), C(A, np.array([[0, 2, 1, 0]], i32), axis=0), C(A, np.array([[0], [-1], [2]], i32), axis=-1), C(ints(3), np.array([2, 0], i32), axis=0), C(A, np.array([0], i32), axis=0), C(H5, np.array([4, 0], u8), axis=0), C(A, X23, axis=0),
                                        *[C(A, N[:, None] * np.ones((1, 4), i32), axis=0, mode=m) for m in (None, "fill", "clip", "drop")], C(I3, N, mode="fill", fill_value=5), C(I3, N), C(A, N + 5, axis=None), C(E03, np.zeros((2, 3), i32), axis=0), C(E03, np.zeros((0, 2), i32)), C(bools(3), N),
                                        C(A, N, axis=None, mode="promise_in_bounds"), C(A, np.zeros((3, 0), i32)))

# Options of products: nothing is drawn from here on.
S8 = np.array([[100, -50, 3], [7, 120, -128]], i8)
WIDER = [C(A.astype(f16), B.astype(f16), preferred_element_type=f32), C(A.astype(bf16), B, preferred_element_type=f32), C(A, B, preferred_element_type=bf16), C(A, B, preferred_element_type=f32, precision="highest"), C(I23, I23.T, preferred_element_type=f32), C(S8, S8.T), C(S8, S8.T, preferred_element_type=i32),
         C(S8, S8.T, preferred_element_type=f32), C(A, B, preferred_element_type=np.complex64), C(A, B, preferred_element_type=i32), C(A, B, precision="BF16_BF16_F32"), C(np.zeros((0, 4), f16), B.astype(f16), preferred_element_type=f32)]
NUMBERS = [C(f16(3), A.astype(f16), preferred_element_type=f32), C(2.0, f32(3), preferred_element_type=f32)]
for name in ("dot", "matmul", "tensordot"):
    CASES["numpy." + name].cases += [Call(c.args, c.options | ({"axes": 1} if name == "tensordot" else {})) for c in WIDER]
CASES["numpy.dot"].cases += NUMBERS
CASES["numpy.inner"].cases += [C(c.args[0], c.args[1].T, **c.options) for c in WIDER] + NUMBERS
CASES["numpy.vdot"].cases += [C(H5, H5, preferred_element_type=f32), C(S8, S8, preferred_element_type=i32), C(C3, D3, precision="highest"), C(G5, H5, preferred_element_type=f32)]
CASES["numpy.vecdot"].cases += [C(H5, H5, preferred_element_type=f32), C(S8, S8, axis=0, preferred_element_type=i32), C(A, A, precision="highest", axis=0)]
CASES["numpy.tensordot"].cases += [C(BATCH, BATCH, axes=x) for x in ((0, 0), (-1, -1), (0, -1), ((0, 1), (0, 1)), ((1, 0), (0, 1)), ([2], [2]), ([0, 1, 2], [0, 1, 2]), ([], []), ((0, 1), (0,)), ((0, 3), (0, 1)), (1, 0))] + [C(I23, I23, axes=((1,), (1,)), preferred_element_type=f32)]
CASES["numpy.einsum"].cases += [C(*c.args, subscripts="ij,jk->ik", **c.options) for c in WIDER] + [C(A, B, W, subscripts="ij,jk,j->k", optimize=o) for o in (True, False, "greedy", "dp", "optimal", "no")] + [C(A, B, V3, subscripts="ij,jk,l->k", optimize="dp"), C(A.astype(f16), B.astype(f16), W.astype(f16), subscripts="ij,jk,j->k", preferred_element_type=f32),
                                C(S8, subscripts="ij->j", preferred_element_type=i32), C(A.astype(bf16), subscripts="ij->", preferred_element_type=f32), C(BATCH, BATCH, A.T, W, subscripts="bij,bkj,jl,j->bikl"), C(A, A, A, A, subscripts="ij,kj,kl,ml->im"), C(I23, I23, I3, subscripts="ij,kj,j->ik"), C(2.0, A, subscripts=",ij->ji"), C(B23, P23, subscripts="ij,ij->i")]
M, ROW = np.array([[2, -1, 0, 5], [-3, 1, -9, 2]], i32), np.array([[1, 0, -1, -2]], i32)
CASES["numpy.take_along_axis"].cases += [C(A, ROW, axis=0, wrap_negative_indices=w, mode=m) for w in (None, True, False) for m in (None, "clip", "promise_in_bounds", "one_hot")] + [C(X23, M, axis=1, wrap_negative_indices=w, mode=m) for w in (True, False) for m in ("fill", "clip", "one_hot")] + [
    C(X23, M, mode="fill", fill_value=-1.5, wrap_negative_indices=False), C(I23, M, mode="one_hot"), C(B23, M, mode="one_hot"), C(H5, np.array([4, -1, 7], i32), mode="one_hot"), C(X23, M[:1], mode="one_hot"), C(X23[:1], M, mode="one_hot"), C(X23, M, mode="wrap"), C(X23, M.astype(np.uint8), wrap_negative_indices=False), C(f32(1), i32(0), axis=None)]
