"""The two ways in which JAX meets the plugin, and their registration."""
from __future__ import annotations

import atexit
import contextlib
import enum
import os
import threading
import weakref
from types import ModuleType

from . import _callbacks, _ffi, _library

STRATA, CPU, XLA_CPU = "strata", "cpu", "xla_cpu"

# Below the built-in CPU's 0: a program that says nothing computes where it did.
_BESIDE_PRIORITY = -100
# Where nothing else is asked for, as the built-in CPU.
_DROP_IN_PRIORITY = 0


class Mode(str, enum.Enum):
    OFF = "off"
    SIDE_BY_SIDE = "side-by-side"
    DROP_IN = "drop-in"


class _State:
    def __init__(self):
        self.mode = Mode.OFF
        self.clients = weakref.WeakSet()
        self.shared = False  # what both modes need was installed


_state = _State()
_lock = threading.RLock()


def mode() -> Mode:
    return _state.mode


def platform(wanted: Mode) -> str:
    """The name under which JAX knows us then."""
    return CPU if wanted is Mode.DROP_IN else STRATA


def is_ours(client) -> bool:
    return client in _state.clients


def _options(platform: str, jax: ModuleType):
    """The plugin's options, asked for when its client is made."""

    def options():
        devices = {"cpu_device_count": int(os.environ.get("STRATA_JAX_DEVICES") or jax.number_of_cpu_devices())}
        if not _library.is_strata():
            return devices  # as XLA's plugin calls them
        return {"platform_name": platform, **devices}

    return options


def _register_function(jax: ModuleType):
    def function(name, capsules, platform, api_version, traits):
        """To the built-in client's table, as if we were not there, and to the plugin's."""
        with contextlib.suppress(AttributeError):
            name = name.decode()
        if platform == "Host":
            jax.builtin_function(name, capsules, platform, api_version, traits)
        if api_version == 0:
            return  # an untyped function: the plugin has none
        stages = capsules if isinstance(capsules, dict) else {"execute": capsules}
        addresses = {stage: _ffi.address(capsule) for stage, capsule in stages.items()}
        _ffi.register_stages(_library.load(), _callbacks.api, name, addresses, "Host", int(getattr(traits, "value", traits)))

    return function


def _register_type(jax: ModuleType):
    def type_(name, registration):
        """First the built-in client, which may choose the number; the plugin takes it."""
        jax.builtin_type(name, registration)
        info = registration.get("type_info")
        deleter = _ffi.XlaTypeInfo.from_address(_ffi.address(info)).deleter if info is not None else None
        _ffi.register_type(_library.load(), name, _ffi.address(registration["type_id"]), deleter)

    return type_


def _share(jax: ModuleType) -> None:
    """What both modes need: callbacks, and foreign functions such as JAX's LAPACK."""
    if _state.shared:
        return
    library = _library.load()
    if _library.is_strata():
        jax.keep_operations(is_ours)
    if library.ffi is not None:
        _callbacks.install(library)
        for platform in (CPU, STRATA):
            jax.take_foreign_functions(platform, _register_function(jax), _register_type(jax))
        _callbacks.Context.stage = jax.EXECUTE
        jax.replace_callbacks(_callbacks.TARGET, _callbacks.BUFFER_TARGET, _callbacks.number_of, is_ours)
        atexit.register(_drain)
    _state.shared = True


def _drain() -> None:
    """Waits at the end of the process until no program runs that calls Python: it could not, while the interpreter ends.

    JAX waits for what it holds a token of, which it does not for a program's second call. A device runs in order, so the end of
    one more program is the end of all.
    """
    import jax

    if _callbacks.used():
        for client in list(_state.clients):
            for device in client.local_devices():
                with contextlib.suppress(Exception):  # whose error it may be was told to whoever waits for it
                    jax.jit(lambda x: x + 1)(jax.device_put(0.0, device)).block_until_ready()


def _refuse_if_started(jax: ModuleType, wanted: Mode) -> None:
    if jax.started():
        raise RuntimeError(f"strata_jax: {wanted.value} must be chosen before JAX is first used (jax.devices(), an array, a jitted call)")


def use(wanted: Mode, jax: ModuleType) -> None:
    """Makes it so; nothing happens where it is so already."""
    with _lock:
        if wanted is _state.mode:
            return
        _refuse_if_started(jax, wanted)
        _leave(jax)
        if wanted is not Mode.OFF:
            {Mode.DROP_IN: _drop_in, Mode.SIDE_BY_SIDE: _side_by_side}[wanted](jax)
            _share(jax)
        _state.mode = wanted


def _leave(jax: ModuleType) -> None:
    if _state.mode is Mode.SIDE_BY_SIDE:
        jax.unregister(STRATA)
    if _state.mode is Mode.DROP_IN:
        jax.unregister(XLA_CPU)
        jax.unregister(CPU)
        jax.register_builtin_cpu(CPU, _DROP_IN_PRIORITY)


def _side_by_side(jax: ModuleType) -> None:
    """Platform `strata` beside `cpu`. Whoever names it in JAX_PLATFORMS hears why it cannot start, others do not."""
    jax.register(STRATA, _library.path(), _options(STRATA, jax), _BESIDE_PRIORITY, True, _state.clients.add)
    jax.lower_as_cpu(STRATA)


def _drop_in(jax: ModuleType) -> None:
    """Strata is the platform `cpu`; the built-in one starts only where JAX_PLATFORMS names `xla_cpu` or xla_cpu() is called."""
    jax.register(CPU, _library.path(), _options(CPU, jax), _DROP_IN_PRIORITY, False, _state.clients.add)
    if XLA_CPU in jax.platforms_asked_for():
        jax.register_builtin_cpu(XLA_CPU, _DROP_IN_PRIORITY - 1)


def start_xla_cpu(jax: ModuleType) -> str:
    """The name of the platform that is XLA's own CPU, started where it was not."""
    if _state.mode is not Mode.DROP_IN:
        return CPU
    with _lock:
        if not jax.registered(XLA_CPU):
            jax.register_builtin_cpu(XLA_CPU, _DROP_IN_PRIORITY - 1)
        jax.start(XLA_CPU)
    return XLA_CPU
