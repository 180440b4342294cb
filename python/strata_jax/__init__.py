"""Strata as a platform of JAX: programs that JAX traces, compiled and run by Strata.

Once installed it is there: JAX finds it by the entry point `jax_plugins` and starts it beside its own CPU.

    jax.devices("strata")                     # side by side, the default: your program computes where it did before
    JAX_PLATFORMS=strata,cpu python mine.py   # ... or on Strata, the built-in CPU still there as "cpu"

    STRATA_JAX=drop-in python mine.py         # Strata *is* the platform "cpu"
    import strata_jax; strata_jax.drop_in()   # the same from within, before JAX is first used

    STRATA_JAX=off                            # as if it were not installed

STRATA_PJRT_LIBRARY names another build of the plugin. STRATA_JAX_DEVICES is the number of its devices, where that is to be another one
than JAX_NUM_CPU_DEVICES: each runs programs of one device.
"""
from __future__ import annotations

import importlib
import logging
import os

from . import _version
from ._modes import Mode

__version__ = _version.VERSION
__all__ = ["Mode", "drop_in", "initialize", "is_strata", "library_path", "mode", "side_by_side", "xla_cpu"]

# The first two numbers of a version of JAX, and the module that knows its private names. Those of 0.11 and 0.12 are 0.10's still.
_SUPPORTED = {"0.10": "_jax_0_10", "0.11": "_jax_0_10", "0.12": "_jax_0_10"}


def _unsupported() -> str | None:
    """One sentence on why this JAX cannot be served; None where it can."""
    import jax

    if ".".join(jax.__version__.split(".")[:2]) in _SUPPORTED:
        return None
    versions = ", ".join(f"{v}.x" for v in _SUPPORTED)
    return f"strata_jax {__version__} works with JAX {versions}, but this is JAX {jax.__version__}: Strata is not registered"


def _private():
    import jax

    return importlib.import_module("." + _SUPPORTED[".".join(jax.__version__.split(".")[:2])], __name__)


def _use(wanted: Mode) -> None:
    from . import _modes

    if sentence := _unsupported():
        raise RuntimeError(sentence)
    _modes.use(wanted, _private())


def drop_in() -> None:
    """Strata becomes the platform "cpu". Call it before JAX is first used."""
    _use(Mode.DROP_IN)


def side_by_side() -> None:
    """Strata is the platform "strata", with the built-in CPU untouched. Call it before JAX is first used."""
    _use(Mode.SIDE_BY_SIDE)


def mode() -> Mode:
    """How Strata is registered."""
    from . import _modes

    return _modes.mode()


def is_strata(device) -> bool:
    """Whether the device is Strata's, whatever its platform is called."""
    from . import _modes

    return _modes.is_ours(device.client)


def library_path() -> str:
    """The file of the plugin."""
    from . import _library

    return _library.path()


def xla_cpu():
    """The devices of XLA's own CPU, to compare with; in drop-in mode it is started by this call."""
    import jax

    from . import _modes

    return jax.devices(_modes.start_xla_cpu(_private()))


def _chosen() -> Mode:
    said = os.environ.get("STRATA_JAX", Mode.SIDE_BY_SIDE.value)
    try:
        return Mode(said)
    except ValueError:
        raise ValueError(f"STRATA_JAX is '{said}'; known are {', '.join(m.value for m in Mode)}") from None


def initialize() -> None:
    """Called by JAX for each installed plugin, and by importing this package.

    Registers Strata as STRATA_JAX says. A choice that was made by then stays.
    """
    from . import _modes

    if _modes.mode() is not Mode.OFF:
        return
    wanted = _chosen()
    if wanted is Mode.OFF:
        return
    if sentence := _unsupported():
        logging.getLogger(__name__).warning("%s", sentence)
        return
    if _private().started():
        logging.getLogger(__name__).warning("strata_jax was imported after JAX was first used: Strata is not registered")
        return
    try:
        _modes.use(wanted, _private())
    except (OSError, RuntimeError) as e:
        if "STRATA_JAX" in os.environ:  # chosen: whoever then computes there hears of it
            _private().register_failure(_modes.platform(wanted), f"Strata is not registered: {e}")
        else:
            logging.getLogger(__name__).warning("Strata is not registered: %s", e)


initialize()
