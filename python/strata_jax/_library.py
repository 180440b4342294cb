"""The plugin's shared library: where it is, and its C interface through ctypes.

What is declared here is our own transcription of the PJRT C API (its header is not needed to build or to run).
"""
from __future__ import annotations

import ctypes
import functools
import os
import pathlib

NAME = "libstrata_pjrt.so"

_ERROR_DESTROY, _ERROR_MESSAGE = 0, 1  # slots of the table of functions
_FUNCTIONS_OFFSET = 40  # behind struct_size, extension_start and the version
_FFI_EXTENSION = 5

Pointer = ctypes.c_void_p
Size = ctypes.c_size_t
_Function = ctypes.CFUNCTYPE(Pointer, Pointer)


class Extension(ctypes.Structure):
    _fields_ = [("struct_size", Size), ("type", ctypes.c_int), ("next", Pointer)]


class _Api(ctypes.Structure):
    _fields_ = [("struct_size", Size), ("extension_start", Pointer)]


class _FfiExtension(ctypes.Structure):
    _fields_ = [("base", Extension), ("type_register", Pointer), ("user_data_add", Pointer), ("register_handler", Pointer)]


class _ErrorArgs(ctypes.Structure):
    _fields_ = [("struct_size", Size), ("extension_start", Pointer), ("error", Pointer), ("message", Pointer), ("message_size", Size)]


def path() -> str:
    """STRATA_PJRT_LIBRARY, else the library in this package, else the one that the repository around it has built."""
    if named := os.environ.get("STRATA_PJRT_LIBRARY"):
        return named
    here = pathlib.Path(__file__).resolve().parent
    for place in (here / NAME, here.parents[1] / "build" / "lib" / NAME):
        if place.exists():
            return str(place)
    raise FileNotFoundError(f"strata_jax: {NAME} is neither in {here} nor built; `make wheel` makes both, STRATA_PJRT_LIBRARY names another")


def is_strata() -> bool:
    """Whether the library is ours; another one (an XLA plugin in tests) does not know our options."""
    return os.path.basename(path()).startswith("libstrata")


class Library:
    """A loaded plugin. It stays loaded until the process ends, as JAX's own handle to it does."""

    def __init__(self, file: str):
        self._dll = ctypes.CDLL(file)
        self._dll.GetPjrtApi.restype = Pointer
        self._api = self._dll.GetPjrtApi()

    def _slot(self, index: int):
        return _Function(Pointer.from_address(self._api + _FUNCTIONS_OFFSET + index * ctypes.sizeof(Pointer)).value)

    @functools.cached_property
    def ffi(self) -> _FfiExtension | None:
        """The extension through which foreign functions are registered; None where the plugin has none."""
        at = _Api.from_address(self._api).extension_start
        while at:
            extension = Extension.from_address(at)
            if extension.type == _FFI_EXTENSION:
                return _FfiExtension.from_address(at)
            at = extension.next
        return None

    def call(self, function: int, args: ctypes.Structure) -> None:
        """Calls one function of the plugin; its error becomes a RuntimeError with the error's text."""
        if error := _Function(function)(ctypes.addressof(args)):
            raise RuntimeError(self._take_message(error))

    def _take_message(self, error: int) -> str:
        args = _ErrorArgs(struct_size=ctypes.sizeof(_ErrorArgs), error=error)
        self._slot(_ERROR_MESSAGE)(ctypes.addressof(args))
        text = ctypes.string_at(args.message, args.message_size).decode(errors="replace")
        args = _ErrorArgs(struct_size=_ErrorArgs.message.offset, error=error)
        self._slot(_ERROR_DESTROY)(ctypes.addressof(args))
        return text


@functools.cache
def load() -> Library:
    return Library(path())
