#!/usr/bin/env python3
"""What strata_jax takes from JAX's private modules is there and is what it is taken for, in the JAX that is installed."""
import inspect

import harness


def parameters(function):
    return set(inspect.signature(function).parameters)


def test_this_jax_is_served():
    import strata_jax

    assert strata_jax._unsupported() is None, strata_jax._unsupported()
    assert strata_jax.__version__


def test_registration():
    from jax._src import xla_bridge

    assert isinstance(xla_bridge._backend_factories, dict) and "cpu" in xla_bridge._backend_factories
    assert isinstance(xla_bridge._topology_factories, dict)
    assert isinstance(xla_bridge._nonexperimental_plugins, set)
    assert {"priority", "library_path", "factory"} <= parameters(xla_bridge.register_plugin)
    assert {"name", "factory", "priority", "fail_quietly", "c_api"} <= parameters(xla_bridge.register_backend_factory)
    assert list(parameters(xla_bridge.make_pjrt_c_api_client)) and {"plugin_name", "options"} == parameters(xla_bridge.make_pjrt_c_api_client)
    assert xla_bridge.backends_are_initialized() in (True, False)
    assert isinstance(xla_bridge.num_cpu_devices.value, int)
    assert callable(xla_bridge._init_backend) and hasattr(xla_bridge._backend_lock, "acquire")


def test_lowering():
    from jax._src.interpreters import mlir

    rules = mlir._platform_specific_lowerings
    assert len(rules["cpu"]) > 10 and isinstance(mlir._platforms_with_donation, list) and "cpu" in mlir._platforms_with_donation
    source = inspect.getsource(mlir)  # each use is one that _AsCpu answers
    assert "in _platform_specific_lowerings[p]" in source and "_platform_specific_lowerings[p][primitive]" in source


def test_foreign_functions():
    from jax._src.lib import xla_client

    assert list(inspect.signature(xla_client.register_custom_call_handler).parameters) == ["platform", "handler"]
    assert list(inspect.signature(xla_client.register_custom_type_handler).parameters) == ["platform", "handler"]
    assert callable(xla_client._xla.register_custom_call_target) and callable(xla_client._xla.register_custom_type)


def test_callbacks():
    from jax._src import buffer_callback, callback, checkify, debugging
    from jax._src.interpreters import mlir

    assert callback.emit_python_callback.__module__.startswith("strata_jax"), "it was not replaced"
    from jax.interpreters import mlir as public_mlir

    assert public_mlir.emit_python_callback is callback.emit_python_callback
    assert callable(buffer_callback._buffer_callback_lowering) and buffer_callback.ExecutionStage.EXECUTE is not None
    assert mlir._lowerings[buffer_callback.buffer_callback_p].rule is not buffer_callback._buffer_callback_lowering
    # Each user looks the function up in its module, so that one replacement serves them.
    assert debugging.cb is callback and checkify.callback is callback
    assert "host_callbacks" in inspect.signature(mlir.ModuleContext.__init__).parameters
    assert "optional" in parameters(mlir.ModuleContext.get_backend)


def test_kept_operations():
    """Each rule that is wrapped emits the operation by which it is known."""
    from jax._src.interpreters import mlir
    from strata_jax import _jax_0_10

    for primitive in _jax_0_10._WRITTEN_OUT:
        rule = mlir._lowerings[primitive].rule
        assert rule.__module__.startswith("strata_jax"), primitive
    assert {"rule", "inline"} <= set(mlir.LoweringRuleEntry.__dataclass_fields__)
    assert {"ip", "symbol_table"} <= parameters(mlir.ModuleContext.__init__)


def test_each_rule_of_the_cpu_serves_strata():
    """JAX's own registry of rules, asked as JAX asks it."""
    import jax
    from jax._src.interpreters import mlir
    from strata_jax import _jax_0_10

    rules = mlir._platform_specific_lowerings
    before = rules.get("some_platform")
    _jax_0_10.lower_as_cpu("some_platform")
    try:
        for primitive, rule in rules["cpu"].items():
            assert primitive in rules["some_platform"] and rules["some_platform"][primitive] is rule, primitive
        own = jax.extend.core.Primitive("strata_test") if hasattr(jax, "extend") else object()
        assert own not in rules["some_platform"]
        rules["some_platform"][own] = "mine"
        assert rules["some_platform"][own] == "mine" and own not in rules["cpu"]
    finally:
        mlir._platforms_with_donation.remove("some_platform")
        rules.pop("some_platform") if before is None else rules.__setitem__("some_platform", before)


def test_a_callbacks_operation_is_ours_for_our_client_alone():
    import jax
    import numpy as np
    import strata_jax
    from strata_jax import _callbacks

    f = jax.jit(lambda x: jax.pure_callback(np.sin, jax.ShapeDtypeStruct(x.shape, x.dtype), x))
    ours = f.lower(jax.device_put(1.0, harness.device())).as_text()
    theirs = f.lower(jax.device_put(1.0, strata_jax.xla_cpu()[0])).as_text()
    assert _callbacks.TARGET in ours and "xla_ffi_python" not in ours, ours
    assert _callbacks.TARGET not in theirs and "xla_ffi_python_cpu_callback" in theirs, theirs


if __name__ == "__main__":
    harness.run(globals())
