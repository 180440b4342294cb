#!/usr/bin/env python3
"""Arrays and programs with layouts that are not row-major."""
import harness


def layout(*major_to_minor):
    from jax.experimental.layout import Format, Layout
    from jax.sharding import SingleDeviceSharding

    return Format(Layout(major_to_minor), SingleDeviceSharding(harness.device()))


def numbers(*shape):
    import numpy as np

    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


def order(array):
    return array.format.layout.major_to_minor


def test_an_array_lies_as_it_is_put():
    import jax
    import numpy as np

    x = numbers(2, 3)
    y = jax.device_put(x, layout(1, 0))
    assert order(y) == (1, 0)
    assert (np.asarray(y) == x).all() and (np.asarray(y + 1) == x + 1).all()
    assert order(jax.device_put(y, layout(0, 1))) == (0, 1)
    assert (np.asarray(jax.device_put(y, layout(0, 1))) == x).all()
    z = numbers(2, 3, 4)
    for axes in ((0, 1, 2), (0, 2, 1), (1, 2, 0), (2, 0, 1)):
        put = jax.device_put(z, layout(*axes))
        assert order(put) == axes and (np.asarray(put) == z).all(), axes
        assert (np.asarray(jax.jit(lambda a: a.sum(1))(put)) == z.sum(1)).all(), axes


def test_its_memory_is_in_that_order():
    import ctypes

    import jax
    import numpy as np

    x = numbers(3, 5)
    y = jax.device_put(x, layout(1, 0)).block_until_ready()
    there = np.frombuffer((ctypes.c_float * 15).from_address(y.unsafe_buffer_pointer()), np.float32)
    assert (there == x.T.reshape(-1)).all(), there


def test_programs_take_and_give_layouts():
    import jax
    import numpy as np

    columns = layout(1, 0)
    f = jax.jit(lambda a: (a * 2, a.T), in_shardings=columns, out_shardings=(columns, layout(0, 1)))
    x = numbers(2, 3)
    doubled, turned = f(jax.device_put(x, columns))
    assert order(doubled) == (1, 0) and (np.asarray(doubled) == 2 * x).all()
    assert order(turned) == (0, 1) and (np.asarray(turned) == x.T).all()
    compiled = f.lower(jax.ShapeDtypeStruct((2, 3), np.float32)).compile()
    assert compiled.input_formats[0][0].layout.major_to_minor == (1, 0)
    assert [o.layout.major_to_minor for o in compiled.output_formats] == [(1, 0), (0, 1)]


def test_layouts_of_results_are_those_they_have():
    import jax
    import numpy as np
    from jax.experimental.layout import Format, Layout

    auto = Format(Layout.AUTO)
    for given in ({}, {"in_shardings": auto, "out_shardings": auto}):
        compiled = jax.jit(lambda a: a.T + 1, **given).lower(jax.ShapeDtypeStruct((2, 3), np.float32)).compile()
        x = jax.device_put(numbers(2, 3), compiled.input_formats[0][0])
        out = compiled(x)
        assert compiled.output_formats.layout.major_to_minor == order(out)
        assert (np.asarray(out) == numbers(2, 3).T + 1).all()


def test_donation():
    import jax
    import numpy as np

    columns = layout(1, 0)
    f = jax.jit(lambda a: a + 1, in_shardings=columns, out_shardings=columns, donate_argnums=0)
    x = jax.device_put(numbers(40, 50), columns)
    y = f(x)
    assert x.is_deleted() and order(y) == (1, 0) and (np.asarray(y) == numbers(40, 50) + 1).all()


def test_other_types():
    import jax
    import jax.numpy as jnp
    import numpy as np

    for dtype in (jnp.int4, jnp.bfloat16, jnp.complex64, jnp.bool_, jnp.float8_e4m3fn):
        x = jnp.arange(6).reshape(2, 3).astype(dtype)
        y = jax.device_put(x, layout(1, 0))
        assert order(y) == (1, 0) and (np.asarray(y) == np.asarray(x)).all(), dtype


if __name__ == "__main__":
    harness.run(globals())
