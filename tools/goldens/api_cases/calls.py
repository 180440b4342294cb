"""How the tables of api_cases/ say calls: families of arguments that functions of one kind share.

Families go over dtypes and over the edges: empty, rank 0, broadcasting, negative axes, zeros of both signs, NaN and infinities, weak scalars.
"""
import dataclasses
import typing

import jax.numpy as jnp
import numpy as np

SEED = 8


@dataclasses.dataclass
class Call:
    args: tuple
    options: dict


@dataclasses.dataclass
class Calls:
    cases: list
    truth: typing.Optional[typing.Callable] = None  # the function in f64
    everywhere: bool = False  # the truth stands for results of every float dtype, for each of several, and where JAX's or itself is not finite
    bound: typing.Optional[float] = None  # in units of the last place; exact where left out for integers, 4 for floats
    scaled: typing.Optional[bool] = None  # the unit is that of the greatest result: sums, which may cancel
    call: typing.Optional[typing.Callable] = None  # where JAX takes the arguments in another form


def C(*args, **options):
    return Call(args, options)


def calls(*cases, **more):
    flat = []
    for c in cases:
        flat.extend(c if isinstance(c, list) else [c])
    return Calls(flat, **more)


_draw = np.random.default_rng(SEED)


def normal(*shape, dtype=np.float32):
    return (_draw.standard_normal(shape) * 2).astype(np.float32).astype(dtype)


def uniform(*shape, low=0.0, high=1.0, dtype=np.float32):
    return _draw.uniform(low, high, shape).astype(np.float32).astype(dtype)


def ints(*shape, low=-9, high=10, dtype=np.int32):
    return _draw.integers(low, high, shape).astype(dtype)


def bools(*shape):
    return _draw.integers(0, 2, shape).astype(bool)


def complexes(*shape):
    return (normal(*shape) + 1j * normal(*shape)).astype(np.complex64)


f32, i32, bf16, f16, u8, i8, u32, i16 = np.float32, np.int32, jnp.bfloat16, np.float16, np.uint8, np.int8, np.uint32, np.int16
SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.7, np.inf, -np.inf, np.nan], f32)
X23, Y23, V3, E03 = normal(2, 3), normal(2, 3), normal(3), np.zeros((0, 3), f32)
X234 = normal(2, 3, 4)
I23, J23, I3 = ints(2, 3), ints(2, 3), ints(3)
U23 = ints(2, 3, low=0, high=250, dtype=u8)
B23, P23 = bools(2, 3), bools(2, 3)
H5, G5 = normal(5, dtype=f16), normal(5, dtype=bf16)
C3, D3 = complexes(3), complexes(3)
EXTREME = np.array([-2147483648, -1, 0, 1, 2147483647], i32)
_shared = _draw.bit_generator.state


def restart():
    """Each subject draws from where the shared arguments end, whichever subjects are written with it."""
    _draw.bit_generator.state = _shared


def unary_calls(special=True, complex_=False, low=-3.0, high=3.0, integers=True):
    """One argument, floats drawn from [low, high)."""
    out = [C(uniform(2, 3, low=low, high=high)), C(uniform(5, low=low, high=high, dtype=f16)), C(uniform(5, low=low, high=high, dtype=bf16)), C(E03), C(f32(low / 2 + high / 2))]
    if special:
        out.append(C(SPECIAL))
    if integers:
        out += [C(ints(4, low=int(np.ceil(low)), high=int(high) + 1)), C(ints(3, low=max(0, int(np.ceil(low))), high=int(high) + 1, dtype=u8)), C(np.array([True, False])), C(1)]
    out.append(C(0.5))
    if complex_:
        out += [C(C3), C(np.zeros((0,), np.complex64))]
    return out


def binary_calls(special=True, complex_=True, integers=True, floats=True, bools_=True):
    """Two arguments that broadcast and promote."""
    out = []
    if floats:
        out += [C(X23, Y23), C(X23, V3), C(f32(1.5), V3), C(E03, normal(1, 3)), C(H5, normal(5, dtype=f16)), C(G5, normal(5)), C(X23, 2), C(2.5, X23), C(normal(3, 1), normal(1, 2)), C(2.0, 3.0)]
    if special and floats:
        out += [C(SPECIAL, SPECIAL[::-1].copy()), C(SPECIAL.reshape(10, 1), np.array([0.0, -0.0, 2.0, np.inf, np.nan], f32))]
    if integers:
        out += [C(I23, J23), C(ints(3, low=0, high=200, dtype=u8), ints(3, low=-99, high=99, dtype=i8)), C(I3, 3), C(np.zeros((0,), i32), i32(3)), C(3, 4)]
    if integers and floats:
        out += [C(I23, X23), C(I3, 2.5), C(ints(3, dtype=i16), normal(3, dtype=bf16))]
    if bools_:
        out += [C(B23, P23), C(B23, I23)] if integers else [C(B23, P23)]
    if complex_:
        out += [C(C3, D3), C(C3, V3)]
    out.append(C(normal(2) if floats else ints(2), normal(3) if floats else ints(3)))  # do not broadcast
    return out


def reduction_calls(booleans=True, integers=True, special=True, empty=True, complex_=True, **more):
    """One array over all axes and over some."""
    out = [C(X234, **more), C(X234, axis=1, **more), C(X234, axis=(0, -1), **more), C(X234, axis=-1, keepdims=True, **more), C(f32(2.5), **more), C(H5, **more), C(G5, axis=0, **more), C(X23, axis=2, **more)]
    if special:
        out += [C(SPECIAL, **more), C(SPECIAL.reshape(2, 5), axis=1, **more)]
    if empty:
        out += [C(E03, **more), C(E03, axis=0, **more), C(E03, axis=1, **more)]
    if integers:
        out += [C(I23, axis=0, **more), C(U23, **more), C(ints(4, dtype=i8), keepdims=True, **more)]
    if booleans:
        out += [C(B23, axis=1, **more)]
    if complex_:
        out += [C(C3, **more)]
    return out
