"""Python functions called from running programs: the handler of `custom_call @strata_python_callback {index = N}`.

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

_functions: weakref.WeakValueDictionary = weakref.WeakValueDictionary()
_numbers = itertools.count(1)
_lock = threading.Lock()
_INTERNAL = 13

# The plugin's interface to foreign functions, known from its first question to our handler.
api: _ffi.Api | None = None


def number_of(function) -> int:
    """A number by which a program can name the function for as long as the function lives."""
    with _lock:
        number = next(_numbers)
        _functions[number] = function
    return number


def _answer_metadata(extension: int) -> None:
    asked = _ffi.MetadataExtension.from_address(extension)
    asked.metadata.contents.version.major, asked.metadata.contents.version.minor = _ffi.VERSION
    asked.metadata.contents.traits = 0


def _error(frame: _ffi.CallFrame, text: str) -> int | None:
    args = _ffi.ErrorCreateArgs(_ffi.size_through(_ffi.ErrorCreateArgs, "code"), None, text.encode(errors="replace"), _INTERNAL)
    return _ffi.Handler(frame.api.contents.error_create)(ctypes.addressof(args))


def _run(frame: _ffi.CallFrame) -> None:
    number = frame.attributes.u64("index")
    function = _functions.get(number)
    if function is None:
        raise RuntimeError("the Python function of this callback no longer exists: its program was made by another process, or outlived it")
    results = function(*map(_arrays.read, frame.operands))
    for buffer, value in zip(frame.results, results, strict=True):
        _arrays.write(buffer, value)


@_ffi.Handler
def _handler(address: int) -> int | None:
    """Never raises: an exception becomes the error of the run, with the text of its traceback."""
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
        _run(frame)
    except BaseException:
        return _error(frame, "CpuCallback error calling callback: " + "".join(traceback.format_exception(*sys.exc_info())))
    return None


def install(library: _library.Library) -> None:
    """The plugin asks the handler for its version at once, from this very call."""
    _ffi.register_function(library, TARGET, ctypes.cast(_handler, ctypes.c_void_p).value)
