"""All that is private to JAX and used here, as it stands in JAX 0.10, 0.11 and 0.12. A version that differs gets another file.

python/tests/private_test.py says of each name below what is expected of it.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jax import lax
from jax._src import buffer_callback as jax_buffer_callback
from jax._src import callback as jax_callback
from jax._src import xla_bridge
from jax._src.interpreters import mlir
from jax._src.lib import xla_client
from jax._src.lib.mlir import ir
from jax._src.lib.mlir.dialects import func, hlo
from jax.interpreters import mlir as public_mlir


def started() -> bool:
    """Whether JAX has made its clients: too late to register anything."""
    return xla_bridge.backends_are_initialized()


def registered(platform: str) -> bool:
    return platform in xla_bridge._backend_factories


def platforms_asked_for() -> list[str]:
    """JAX_PLATFORMS, or what the program set in its place."""
    return (xla_bridge.config.jax_platforms.value or "").split(",")


def number_of_cpu_devices() -> int:
    """JAX_NUM_CPU_DEVICES; 1 where nothing is said."""
    return max(1, xla_bridge.num_cpu_devices.value)


def register(platform: str, library: str, options: Callable[[], dict[str, Any]], priority: int, quietly: bool, made: Callable[[Any], None]) -> None:
    """Registers the plugin under that name. `made` is told each client; `quietly`: a client that cannot be made is logged, not raised."""

    def make():
        client = xla_bridge.make_pjrt_c_api_client(platform, options)
        made(client)
        return client

    xla_bridge._nonexperimental_plugins.add(platform)  # else a warning at each start
    c_api = xla_bridge.register_plugin(platform, priority=priority, library_path=library, factory=make)
    xla_bridge.register_backend_factory(platform, make, priority=priority, fail_quietly=quietly, c_api=c_api)


def register_builtin_cpu(platform: str, priority: int) -> None:
    xla_bridge._nonexperimental_plugins.add(platform)
    xla_bridge.register_backend_factory(platform, xla_bridge.make_cpu_client, priority=priority, fail_quietly=False)


def register_failure(platform: str, sentence: str) -> None:
    """Whoever starts that platform hears the sentence; where it is not the CPU, and JAX_PLATFORMS does not name it, JAX only logs it."""

    def fail():
        raise RuntimeError(sentence)

    xla_bridge._nonexperimental_plugins.add(platform)
    xla_bridge.register_backend_factory(platform, fail, priority=0, fail_quietly=platform != "cpu")


def unregister(platform: str) -> None:
    xla_bridge._backend_factories.pop(platform, None)
    xla_bridge._topology_factories.pop(platform, None)


def start(platform: str) -> None:
    """Makes the client of a platform that was registered after JAX made the others."""
    clients = xla_bridge.backends()
    with xla_bridge._backend_lock:
        if platform not in clients:
            clients[platform] = xla_bridge._init_backend(platform)


class _AsCpu(dict):
    """Rules of a platform; those that it lacks are the CPU's, as they stand when asked for."""

    def __contains__(self, primitive):
        return super().__contains__(primitive) or primitive in mlir._platform_specific_lowerings["cpu"]

    def __missing__(self, primitive):
        return mlir._platform_specific_lowerings["cpu"][primitive]


def lower_as_cpu(platform: str) -> None:
    """The platform takes the CPU's rules where JAX has one for each platform, and donated arguments."""
    rules = mlir._platform_specific_lowerings
    if not isinstance(rules.get(platform), _AsCpu):
        rules[platform] = _AsCpu(rules.get(platform, {}))
    if platform not in mlir._platforms_with_donation:
        mlir._platforms_with_donation.append(platform)


def take_foreign_functions(platform: str, function: Callable, type_: Callable) -> None:
    """`function(name, capsules, platform, api_version, traits)` and `type_(name, registration)` hear of all that is registered, also of what was.

    For the CPU the built-in client has a say of its own: the first that asks is heard, so this comes before it starts.
    """
    xla_client.register_custom_call_handler(platform, function)
    xla_client.register_custom_type_handler(platform, type_)


def builtin_function(name, capsules, platform, api_version, traits) -> None:
    """As the built-in CPU client takes a foreign function."""
    xla_client._xla.register_custom_call_target(name, capsules, platform, api_version, traits)


def builtin_type(name, registration) -> None:
    xla_client._xla.register_custom_type(name, registration)


def _is_for(ctx, is_ours: Callable[[Any], bool]) -> bool:
    """Whether what is lowered runs on our client, and on no other platform."""
    client = ctx.module_context.get_backend(optional=True) if len(ctx.module_context.platforms) == 1 else None
    return client is not None and is_ours(client)


# Operations that jaxlib writes out in simpler ones before a plugin sees them, and so less exactly; StableHLO's own only of complex numbers. Not erf_inv:
# jax.random.normal is made of it, whose numbers are those that XLA gives for the same key.
_WRITTEN_OUT = {
    lax.atan_p: "chlo.atan",
    lax.bessel_i1e_p: "chlo.bessel_i1e",
    lax.digamma_p: "chlo.digamma",
    lax.erfc_p: "chlo.erfc",
    lax.exp_p: "stablehlo.exponential",
    lax.lgamma_p: "chlo.lgamma",
    lax.log1p_p: "stablehlo.log_plus_one",
    lax.log_p: "stablehlo.log",
    lax.logistic_p: "stablehlo.logistic",
    lax.nextafter_p: "chlo.next_after",
    lax.polygamma_p: "chlo.polygamma",
    lax.sqrt_p: "stablehlo.sqrt",
    lax.square_p: "chlo.square",
    lax.zeta_p: "chlo.zeta",
}


def _as_composite(ctx, operation):
    """The results of a composite named after the operation, whose decomposition is the operation: jaxlib keeps it, and the plugin reads it back."""
    module, name = ctx.module_context, operation.name
    types = [v.type for v in operation.operands], [v.type for v in operation.results]
    function = func.FuncOp(f"{name}.impl", ir.FunctionType.get(*types), ip=module.ip)
    function.attributes["sym_visibility"] = ir.StringAttr.get("private")
    module.symbol_table.insert(function)
    body = function.add_entry_block()
    with ir.InsertionPoint(body):
        inner = operation.operation.clone()
        for i, argument in enumerate(body.arguments):
            inner.operands[i] = argument
        func.ReturnOp(list(inner.results))
    composite = hlo.CompositeOp(
        types[1],
        list(operation.operands),
        name=ir.StringAttr.get(name),
        decomposition=ir.FlatSymbolRefAttr.get(function.name.value),
        composite_attributes=ir.DictAttr.get({}),
        version=ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 1),
    )
    operation.erase()
    return composite.results


def keep_operations(is_ours: Callable[[Any], bool]) -> None:
    """Programs for our client keep the operations that jaxlib would write out."""

    def kept(rule, name):
        def lower(ctx, *operands, **params):
            results = rule(ctx, *operands, **params)
            operation = results[0].owner
            if getattr(operation, "name", None) != name or not _is_for(ctx, is_ours):
                return results
            if name.startswith("stablehlo.") and ctx.avals_in[0].dtype.kind != "c":
                return results
            return _as_composite(ctx, operation)

        return lower

    for primitive, name in _WRITTEN_OUT.items():
        entry = mlir._lowerings[primitive]
        mlir.register_lowering(primitive, kept(entry.rule, name), inline=entry.inline)


def _as_cpu(ctx):
    """For JAX's own lowering of callbacks, which knows platforms by name."""
    if ctx.module_context.platforms == ("cpu",):
        return ctx
    return ctx.replace(module_context=ctx.module_context.replace(platforms=("cpu",), backend=None))


def _rename_last_operation(ctx, target: str, number_of: Callable[[Callable], int]) -> None:
    """The custom call that was just emitted calls `target` with the number of the function that was just added."""
    operation = ir.InsertionPoint.current.block.operations[-1]
    assert operation.name == "stablehlo.custom_call", operation.name
    number = number_of(ctx.module_context.host_callbacks[-1])
    operation.attributes["call_target_name"] = ir.StringAttr.get(target)
    operation.attributes["mhlo.backend_config"] = ir.DictAttr.get({"index": ir.IntegerAttr.get(ir.IntegerType.get_unsigned(64), number)})


def replace_callbacks(target: str, buffer_target: str, number_of: Callable[[Callable], int], is_ours: Callable[[Any], bool]) -> None:
    """Programs for our client call these targets with a number where JAX's would call handlers that live inside the built-in client.

    JAX's own functions do all the work; the operation that they leave is then renamed.
    """

    emit = jax_callback.emit_python_callback

    def emit_python_callback(ctx, *args, **kwargs):
        if not _is_for(ctx, is_ours):
            return emit(ctx, *args, **kwargs)
        emitted = emit(_as_cpu(ctx), *args, **kwargs)
        _rename_last_operation(ctx, target, number_of)
        return emitted

    def lower_buffer_callback(ctx, *args, **kwargs):
        if not _is_for(ctx, is_ours):
            return jax_buffer_callback._buffer_callback_lowering(ctx, *args, **kwargs)
        results = jax_buffer_callback._buffer_callback_lowering(_as_cpu(ctx), *args, **kwargs)
        _rename_last_operation(ctx, buffer_target, number_of)
        return results

    jax_callback.emit_python_callback = emit_python_callback
    public_mlir.emit_python_callback = emit_python_callback  # another name of it, by which sparse solvers call it
    mlir.register_lowering(jax_buffer_callback.buffer_callback_p, lower_buffer_callback)


EXECUTE = jax_buffer_callback.ExecutionStage.EXECUTE
