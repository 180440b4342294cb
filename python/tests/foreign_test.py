#!/usr/bin/env python3
"""Users' own foreign functions (`jax.ffi`): handlers with operands, attributes, errors, and stages."""
import ctypes

import harness


def handlers():
    """A handler `y = x * factor` over f32, made with ctypes in place of a C compiler, and what it was asked."""
    import numpy as np
    from strata_jax import _arrays, _ffi

    asked = []

    def answer(frame):
        if frame.extension_start:
            metadata = _ffi.MetadataExtension.from_address(frame.extension_start).metadata.contents
            metadata.version.major, metadata.version.minor = _ffi.VERSION
            return True
        return False

    @_ffi.Handler
    def instantiate(address):
        frame = _ffi.CallFrame.from_address(address)
        answer(frame) or asked.append("instantiate")

    @_ffi.Handler
    def execute(address):
        frame = _ffi.CallFrame.from_address(address)
        if answer(frame):
            return None
        asked.append("execute")
        (operand,), (result,) = frame.operands, frame.results
        factor = frame.attributes.u64("factor")
        if factor == 0:
            args = _ffi.ErrorCreateArgs(_ffi.size_through(_ffi.ErrorCreateArgs, "code"), None, b"a factor of nothing", 3)
            return _ffi.Handler(frame.api.contents.error_create)(ctypes.addressof(args))
        _arrays.write(result, _arrays.read(operand) * np.float32(factor))
        return None

    return instantiate, execute, asked


INSTANTIATE, EXECUTE, ASKED = None, None, None


def times(name, factor):
    import jax
    import numpy as np

    return lambda x: jax.ffi.ffi_call(name, jax.ShapeDtypeStruct(x.shape, x.dtype))(x, factor=np.uint64(factor))


def x():
    import numpy as np

    return np.arange(6, dtype=np.float32).reshape(2, 3)


def test_a_handler_registered_before_jax_starts():
    import jax

    global INSTANTIATE, EXECUTE, ASKED
    INSTANTIATE, EXECUTE, ASKED = handlers()
    jax.ffi.register_ffi_target("times", jax.ffi.pycapsule(EXECUTE))
    assert (harness.on_strata(times("times", 3), x()) == 3 * x()).all()


def test_a_handler_registered_later():
    import jax

    jax.ffi.register_ffi_target("times_later", {"execute": jax.ffi.pycapsule(EXECUTE)})
    assert (harness.on_strata(times("times_later", 5), x()) == 5 * x()).all()


def test_the_built_in_cpu_has_it_too():
    assert (harness.on_xla(times("times", 4), x()) == 4 * x()).all()


def test_a_handler_with_two_stages():
    import jax

    jax.ffi.register_ffi_target("times_staged", {"instantiate": jax.ffi.pycapsule(INSTANTIATE), "execute": jax.ffi.pycapsule(EXECUTE)})
    ASKED.clear()
    assert (harness.on_strata(times("times_staged", 7), x()) == 7 * x()).all()
    assert ASKED[0] == "instantiate" and ASKED[-1] == "execute", ASKED


def test_a_handlers_error_is_the_runs():
    import jax

    try:
        jax.block_until_ready(jax.jit(times("times", 0))(x()))
    except RuntimeError as e:
        assert "a factor of nothing" in str(e), e
    else:
        raise AssertionError("no error")


def test_an_unknown_target_is_named():
    import jax

    try:
        jax.block_until_ready(jax.jit(times("nobody_registered_this", 1))(x()))
    except RuntimeError as e:
        assert "nobody_registered_this" in str(e), e
    else:
        raise AssertionError("no error")


def test_a_type_is_registered():
    import jax
    from strata_jax import _ffi

    number = ctypes.c_int64(0)
    info = _ffi.XlaTypeInfo(ctypes.sizeof(_ffi.XlaTypeInfo), None, None)
    test_a_type_is_registered.keep = number, info
    jax.ffi.register_ffi_type(
        "strata_test_type", {"type_id": jax.ffi.pycapsule(ctypes.addressof(number)), "type_info": jax.ffi.pycapsule(ctypes.addressof(info))}
    )
    assert number.value != 0


if __name__ == "__main__":
    harness.run(globals())
