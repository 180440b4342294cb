"""Orthogonal matrices: jax.random and jax.nn.initializers. The first argument is a seed. (JAX's LAPACK has no floats of 16 bits.)"""
import jax

from .calls import *
from .initializers import initialised

more = dict(bound=64, scaled=True)
CASES = {
    "random.orthogonal": calls(C(1, n=3), C(1, n=3, m=2), C(1, n=2, m=4), C(2, n=3, shape=(2,)), C(2, n=2, shape=(2, 3), m=3), C(3, n=3, dtype=np.complex64), C(3, n=2, m=3, dtype=np.complex64), C(4, n=1), C(4, n=0), C(4, n=3, shape=(0,)), C(5, n=3, dtype=i32), C(5, n=8), call=lambda seed, **o: jax.random.orthogonal(jax.random.key(seed), **o), **more),
    "nn.initializers.orthogonal": calls(C(1, shape=(3, 3)), C(1, shape=(2, 4)), C(1, shape=(4, 2), scale=2.5), C(2, shape=(2, 3, 2)), C(2, shape=(3, 4, 2), column_axis=0), C(2, shape=(2, 3, 4), column_axis=-2), C(3, shape=(0, 3)), C(3, shape=(3,)), C(3, shape=()),
                                        C(4, shape=(3, 2), dtype=np.complex64), C(4, shape=(3, 2), column_axis=2), call=initialised("orthogonal"), **more),
    "nn.initializers.delta_orthogonal": calls(C(1, shape=(3, 2, 2)), C(1, shape=(4, 2, 3)), C(2, shape=(3, 2, 2, 4), scale=0.5), C(2, shape=(1, 2, 3, 2, 3)), C(3, shape=(3, 3, 2)), C(3, shape=(3, 3)), C(3, shape=(0, 2, 2)), C(3, shape=(2, 0, 3)), C(4, shape=(2, 2, 3), column_axis=0),
                                              call=initialised("delta_orthogonal"), **more),
}
