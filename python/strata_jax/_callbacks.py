"""Python functions called from running programs: the handlers of `custom_call @strata_python_callback {index = N}`, whose function takes
and gives arrays, and of `@strata_buffer_callback {index = N}`, whose function writes into the results' memory.

A program names a function by a number that is unique in this process. The number leads to the function only as long as
somebody else holds it: JAX does, with the compiled program.
"""
from __future__ import annotations

import ctypes
import itertools
import sys
import threading
import traceback
import weakref

from . import _arrays, _ffi, _library

TARGET = "strata_python_callback"
BUFFER_TARGET = "strata_buffer_callback"

_functions: weakref.WeakValueDictionary = weakref.WeakValueDictionary()
_numbers = itertools.count(1)
_used = False
_lock = threading.Lock()
_INTERNAL = 13

# The plugin's interface to foreign functions, known from its first question to our handler.
api: _ffi.Api | None = None


def number_of(function) -> int:
    """A number by which a program can name the function for as long as the function lives."""
    global _used
    with _lock:
        _used, number = True, next(_numbers)
        _functions[number] = function
    return number


def used() -> bool:
    """Whether any program of this process calls Python."""
    return _used


def _answer_metadata(extension: int) -> None:
    asked = _ffi.MetadataExtension.from_address(extension)
    asked.metadata.contents.version.major, asked.metadata.contents.version.minor = _ffi.VERSION
    asked.metadata.contents.traits = 0


def _error(frame: _ffi.CallFrame, text: str) -> int | None:
    args = _ffi.ErrorCreateArgs(_ffi.size_through(_ffi.ErrorCreateArgs, "code"), None, text.encode(errors="replace"), _INTERNAL)
    return _ffi.Handler(frame.api.contents.error_create)(ctypes.addressof(args))


def _function(frame: _ffi.CallFrame):
    function = _functions.get(frame.attributes.u64("index"))
    if function is None:
        raise RuntimeError("the Python function of this callback no longer exists: its program was made by another process, or outlived it")
    return function


def _with_arrays(frame: _ffi.CallFrame) -> None:
    results = _function(frame)(*map(_arrays.read, frame.operands))
    for buffer, value in zip(frame.results, results, strict=True):
        _arrays.write(buffer, value)


class Context:
    """What a function of `jax.experimental.buffer_callback` is told of its call."""

    stage = None  # JAX's name for "execute", set where it is known

    @property
    def stream(self):
        from jax.errors import JaxRuntimeError

        raise JaxRuntimeError("UNIMPLEMENTED: XLA FFI GPU context is not available: a CPU has no stream")


def _with_buffers(frame: _ffi.CallFrame) -> None:
    operands = [_arrays.View(buffer, writeable=False) for buffer in frame.operands]
    _function(frame)(Context(), *operands, *(_arrays.View(buffer, writeable=True) for buffer in frame.results))


def _handler(run):
    """The handler that runs so; it never raises: an exception becomes the error of the run, with the text of its traceback."""

    @_ffi.Handler
    def handler(address: int) -> int | None:
        global api
        frame = _ffi.CallFrame.from_address(address)
        if frame.api:
            api = frame.api.contents
        if frame.extension_start:
            _answer_metadata(frame.extension_start)
            return None
        if frame.stage != _ffi.EXECUTE:
            return None
        try:
            run(frame)
        except BaseException:
            return _error(frame, "CpuCallback error calling callback: " + "".join(traceback.format_exception(*sys.exc_info())))
        return None

    return handler


_handlers = {TARGET: _handler(_with_arrays), BUFFER_TARGET: _handler(_with_buffers)}


def install(library: _library.Library) -> None:
    """The plugin asks the handlers for their version at once, from this very call."""
    for target, handler in _handlers.items():
        _ffi.register_function(library, target, ctypes.cast(handler, ctypes.c_void_p).value)
