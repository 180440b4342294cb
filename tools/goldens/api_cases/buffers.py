"""jax.numpy.frombuffer, of bytes that are given as an array of them, and asarray."""
import jax.numpy as jnp
import numpy as np

from .calls import *

CASES = {}
BYTES = ints(24, low=0, high=256, dtype=u8)
FLOATS = np.frombuffer(np.array([1.5, -2, np.inf], np.float64).tobytes(), u8)
CASES["numpy.frombuffer"] = calls(
    C(BYTES, dtype=u8), C(BYTES, dtype=i8, offset=1), C(BYTES, dtype=i32), C(BYTES, dtype=i16, count=3), C(BYTES, dtype=u32, count=2, offset=3), C(FLOATS), C(FLOATS, dtype=np.float64, offset=8), C(FLOATS, dtype=f32), C(FLOATS[:0], dtype=f32),
    C(u8([0, 1, 1, 0, 1]), dtype=bool, count=4), C(np.frombuffer(normal(4).tobytes(), u8), dtype=f32), C(np.frombuffer(normal(4, dtype=f16).tobytes(), u8), dtype=f16), C(np.frombuffer(C3.tobytes(), u8), dtype=np.complex64),
    C(BYTES[:7], dtype=i32), C(BYTES, dtype=i32, offset=25), C(BYTES, dtype=i32, offset=-1), C(BYTES, dtype=i32, count=7), C(BYTES, dtype=i32, count=0), C(BYTES, dtype=u8, offset=24),
    call=lambda x, dtype=float, **more: jnp.frombuffer(np.asarray(x).tobytes(), dtype, **more))
CASES["numpy.asarray"] = calls(C(X23), C(I23), C(G5), C(B23), C(C3), C(E03), C(f32(2)), C(2), C(2.5), C(SPECIAL), C(X23, dtype=i32), C(I23, dtype=f16), C(U23, dtype=f32), C(2, dtype=f32), C(B23, dtype=i8), C(2.5, dtype=i32))
