#!/usr/bin/env python3
"""Arrays go to the plugin and come back as they were: every type, every layout that NumPy can have; donation; views."""
import harness


NARROW = ("int2", "uint2", "int4", "uint4", "float4_e2m1fn")


def types():
    import jax.numpy as jnp
    import ml_dtypes

    narrow = [getattr(ml_dtypes, name) for name in NARROW]
    floats = [getattr(ml_dtypes, name) for name in dir(ml_dtypes) if name.startswith("float8_")]
    return [*map(jnp.dtype, "?bhilBHILefdFD"), jnp.dtype(jnp.bfloat16), *map(jnp.dtype, floats), *map(jnp.dtype, narrow)]


def pattern(dtype, shape):
    """Elements that differ, of the bytes that the type has."""
    import numpy as np

    count = int(np.prod(shape))
    if dtype == bool:
        return (np.arange(count) % 3 == 1).reshape(shape)
    values = np.arange(count) % 5 - (0 if dtype.kind == "u" else 2)
    if "int2" in dtype.name:
        values = np.arange(count) % 2
    if dtype.name == "float8_e8m0fnu":
        values = 2.0 ** (np.arange(count) % 5)
    return values.astype(np.float32).astype(dtype).reshape(shape)


def same(got, expected):
    import numpy as np

    got = np.asarray(got)
    assert got.dtype == expected.dtype and got.shape == expected.shape, f"{got.dtype}{got.shape}, expected {expected.dtype}{expected.shape}"
    if got.dtype.name in NARROW:  # what stands above such an element in its byte is nobody's
        got, expected = got.astype(np.float32), expected.astype(np.float32)
    assert got.tobytes() == np.ascontiguousarray(expected).tobytes(), f"{got}, expected {expected}"


def test_each_type_comes_back():
    import jax

    with jax.enable_x64(True):
        for dtype in types():
            for shape in [(), (1,), (7,), (3, 5), (0, 4)]:
                array = pattern(dtype, shape)
                same(jax.device_put(array, harness.device()), array)


def test_each_type_passes_through_a_program():
    import jax
    import jax.numpy as jnp

    swap = jax.jit(lambda x: (x.T, jnp.reshape(x, (-1,))))
    with jax.enable_x64(True):
        for dtype in types():
            array = pattern(dtype, (3, 5))
            turned, flat = swap(jax.device_put(array, harness.device()))
            same(turned, array.T)
            same(flat, array.reshape(-1))


def layouts(base):
    import numpy as np

    yield "reversed", base[::-1]
    yield "reversed in each axis", base[::-1, ::-1, ::-1]
    yield "every second", base[:, ::2]
    yield "backwards by two", base[:, ::-2, 1:]
    yield "permuted", base.transpose(2, 0, 1)
    yield "column major", np.asfortranarray(base)
    yield "broadcast", np.broadcast_to(base[:, :1, :], base.shape)
    yield "one element everywhere", np.broadcast_to(base[0, 0, 0], (4, 3))
    yield "broadcast, permuted and reversed", np.broadcast_to(base[0], (6, *base.shape[1:])).transpose(1, 2, 0)[::-1]
    yield "nothing of a reversed array", base[::-1][:0]


def test_each_layout_comes_back():
    import jax
    import numpy as np

    for dtype in ("i1", "f2", "f4", "c8"):
        base = np.arange(4 * 5 * 6).reshape(4, 5, 6).astype(dtype)
        for name, array in layouts(base):
            try:
                same(jax.device_put(array, harness.device()), array)
            except AssertionError as e:
                raise AssertionError(f"{name} {dtype}, strides {array.strides}: {e}") from e


def test_what_numpy_writes_later_is_not_seen():
    """The plugin may read the array's memory for as long as JAX says; JAX copies what others may write."""
    import jax
    import numpy as np

    array = np.arange(1000.0, dtype=np.float32)
    there = jax.numpy.array(array)
    array[:] = -1
    same(there, np.arange(1000.0, dtype=np.float32))


def test_a_donated_argument_is_gone():
    import jax
    import jax.numpy as jnp
    import numpy as np

    x = jax.device_put(jnp.arange(1000.0), harness.device())
    y = jax.jit(lambda x: x + 1, donate_argnums=0)(x)
    assert x.is_deleted()
    same(y, np.arange(1000.0, dtype=np.float32) + 1)


def test_a_view_survives_donation():
    import jax
    import jax.numpy as jnp
    import numpy as np

    x = jax.device_put(jnp.arange(1000.0), harness.device()) + 0
    view = np.asarray(x)
    y = jax.jit(lambda x: x * 2, donate_argnums=0)(x)
    y.block_until_ready()
    same(view, np.arange(1000.0, dtype=np.float32))
    same(y, 2 * np.arange(1000.0, dtype=np.float32))


def test_a_view_survives_its_array():
    import gc

    import jax.numpy as jnp
    import numpy as np

    view = np.asarray(jnp.arange(100000) + 1)
    gc.collect()
    others = [jnp.zeros(100000, jnp.int32) + i for i in range(4)]
    same(view, np.arange(1, 100001, dtype=np.int32))
    del others


def test_twice_donated_is_refused():
    import jax
    import jax.numpy as jnp

    x = jax.device_put(jnp.arange(10.0), harness.device())
    f = jax.jit(lambda a, b: (a + 1, b + 2), donate_argnums=(0, 1))
    try:
        jax.block_until_ready(f(x, x))
    except (RuntimeError, ValueError):
        return
    raise AssertionError("the same array was donated twice")


def test_a_deleted_array_is_refused():
    import jax
    import jax.numpy as jnp

    x = jax.device_put(jnp.arange(10.0), harness.device())
    x.delete()
    try:
        jax.jit(lambda x: x + 1)(x).block_until_ready()
    except (RuntimeError, ValueError) as e:
        assert "deleted" in str(e), e
        return
    raise AssertionError("a deleted array was used")


if __name__ == "__main__":
    harness.run(globals())
