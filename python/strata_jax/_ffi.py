"""Foreign functions: what JAX registers for the CPU (LAPACK, users' `jax.ffi` targets and types) is registered with the plugin too.

The structs are our own transcription of XLA's FFI, version 0.3, and of PJRT's FFI extension at 0.114.
"""
from __future__ import annotations

import ctypes

from . import _library
from ._library import Pointer, Size

VERSION = (0, 3)
EXECUTE = 3  # the stage in which a handler computes
STAGES = ("instantiate", "prepare", "initialize", "execute")
METADATA = 1  # the extension by which a handler is asked for its version

Handler = ctypes.CFUNCTYPE(Pointer, Pointer)


class ApiVersion(ctypes.Structure):
    _fields_ = [("struct_size", Size), ("extension_start", Pointer), ("major", ctypes.c_int), ("minor", ctypes.c_int)]


class Api(ctypes.Structure):
    _fields_ = [("struct_size", Size), ("extension_start", Pointer), ("version", ApiVersion), ("internal", Pointer)] + [
        (name, Pointer) for name in ("error_create", "error_get_message", "error_destroy", "handler_register")
    ]


class Metadata(ctypes.Structure):
    _fields_ = [("struct_size", Size), ("version", ApiVersion), ("traits", ctypes.c_uint32), ("state_type_id", ctypes.c_int64)]


class MetadataExtension(ctypes.Structure):
    _fields_ = [("base", _library.Extension), ("metadata", ctypes.POINTER(Metadata))]


class Buffer(ctypes.Structure):
    _fields_ = [("struct_size", Size), ("extension_start", Pointer), ("dtype", ctypes.c_int), ("data", Pointer)] + [
        ("rank", ctypes.c_int64),
        ("dims", ctypes.POINTER(ctypes.c_int64)),
    ]


class ByteSpan(ctypes.Structure):
    _fields_ = [("data", Pointer), ("size", Size)]

    def text(self) -> str:
        return ctypes.string_at(self.data, self.size).decode()


class Scalar(ctypes.Structure):
    _fields_ = [("dtype", ctypes.c_int), ("value", Pointer)]


class Buffers(ctypes.Structure):
    """The operands of a call, or its results."""

    _fields_ = [("struct_size", Size), ("extension_start", Pointer), ("count", ctypes.c_int64)] + [
        ("types", ctypes.POINTER(ctypes.c_int)),
        ("items", ctypes.POINTER(ctypes.POINTER(Buffer))),
    ]

    def __iter__(self):
        return (self.items[i].contents for i in range(self.count))


class Attributes(ctypes.Structure):
    _fields_ = [("struct_size", Size), ("extension_start", Pointer), ("count", ctypes.c_int64)] + [
        ("types", ctypes.POINTER(ctypes.c_int)),
        ("names", ctypes.POINTER(ctypes.POINTER(ByteSpan))),
        ("values", ctypes.POINTER(Pointer)),
    ]

    def u64(self, name: str) -> int:
        """The 64-bit scalar of that name."""
        for i in range(self.count):
            if self.names[i].contents.text() == name:
                return ctypes.c_uint64.from_address(Scalar.from_address(self.values[i]).value).value
        raise KeyError(name)


class CallFrame(ctypes.Structure):
    _fields_ = [("struct_size", Size), ("extension_start", Pointer), ("api", ctypes.POINTER(Api)), ("context", Pointer)] + [
        ("stage", ctypes.c_int),
        ("operands", Buffers),
        ("results", Buffers),
        ("attributes", Attributes),
    ]


class ErrorCreateArgs(ctypes.Structure):
    _fields_ = [("struct_size", Size), ("extension_start", Pointer), ("message", ctypes.c_char_p), ("code", ctypes.c_int)]


class HandlerRegisterArgs(ctypes.Structure):
    _fields_ = [("struct_size", Size), ("extension_start", Pointer), ("name", ByteSpan), ("platform", ByteSpan)] + [
        (stage, Pointer) for stage in STAGES
    ]
    _fields_ += [("traits", ctypes.c_uint32)]


class _RegisterHandlerArgs(ctypes.Structure):
    _fields_ = [("struct_size", Size), ("target", ctypes.c_char_p), ("target_size", Size), ("handler", Pointer)] + [
        ("platform", ctypes.c_char_p),
        ("platform_size", Size),
        ("traits", ctypes.c_uint32),
    ]


class _TypeInfo(ctypes.Structure):
    _fields_ = [("deleter", Pointer), ("serialize", Pointer), ("deserialize", Pointer)]


class _TypeRegisterArgs(ctypes.Structure):
    _fields_ = [("struct_size", Size), ("extension_start", Pointer), ("name", ctypes.c_char_p), ("name_size", Size)] + [
        ("type_id", ctypes.c_int64),
        ("type_info", ctypes.POINTER(_TypeInfo)),
    ]


class XlaTypeInfo(ctypes.Structure):
    """What users hand to `jax.ffi.register_ffi_type`; PJRT's own struct has no such head."""

    _fields_ = [("struct_size", Size), ("extension_start", Pointer), ("deleter", Pointer)]


def size_through(struct: type[ctypes.Structure], field: str) -> int:
    """The size that C programs give: up to the end of the last field, without what pads the struct."""
    at = getattr(struct, field)
    return at.offset + at.size


_capsule_name = ctypes.pythonapi.PyCapsule_GetName
_capsule_name.restype, _capsule_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype, _capsule_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def address(capsule) -> int:
    return _capsule_pointer(capsule, _capsule_name(capsule))


def _check(library: _library.Library, target: str):
    if library.ffi is None:
        raise RuntimeError(f"strata_jax: the plugin takes no foreign functions (it has no FFI extension), so not '{target}'")


def register_function(library: _library.Library, target: str, handler: int, platform: str = "Host", traits: int = 0) -> None:
    """`stablehlo.custom_call @target` with typed arguments calls the handler at that address."""
    _check(library, target)
    name, on = target.encode(), platform.encode()
    args = _RegisterHandlerArgs(size_through(_RegisterHandlerArgs, "traits"), name, len(name), handler, on, len(on), traits)
    library.call(library.ffi.register_handler, args)


def register_stages(library: _library.Library, api: Api | None, target: str, stages: dict[str, int], platform: str, traits: int) -> None:
    """As register_function, for handlers of several stages. PJRT's extension has one only; XLA's own interface takes all."""
    unknown = set(stages) - set(STAGES)
    if unknown or "execute" not in stages:
        raise ValueError(f"strata_jax: '{target}' has stages {sorted(stages)}; known are {', '.join(STAGES)}, and execute is needed")
    if set(stages) == {"execute"}:
        register_function(library, target, stages["execute"], platform, traits)
        return
    if not api or not api.handler_register:
        raise RuntimeError(f"strata_jax: the plugin takes handlers of the stage execute alone, '{target}' has {', '.join(stages)}")
    name, on = ctypes.create_string_buffer(target.encode()), ctypes.create_string_buffer(platform.encode())
    args = HandlerRegisterArgs(
        size_through(HandlerRegisterArgs, "traits"),
        None,
        ByteSpan(ctypes.addressof(name), len(name.value)),
        ByteSpan(ctypes.addressof(on), len(on.value)),
        *(stages.get(stage) for stage in STAGES),
        traits,
    )
    if error := Handler(api.handler_register)(ctypes.addressof(args)):
        raise RuntimeError(take_message(api, error))


class _ErrorGetMessageArgs(ctypes.Structure):
    _fields_ = [("struct_size", Size), ("extension_start", Pointer), ("error", Pointer), ("message", ctypes.c_char_p)]


def take_message(api: Api, error: int) -> str:
    """The text of an error, which is destroyed."""
    args = _ErrorGetMessageArgs(ctypes.sizeof(_ErrorGetMessageArgs), None, error)
    Handler(api.error_get_message)(ctypes.addressof(args))
    text = (args.message or b"").decode(errors="replace")
    args = _ErrorGetMessageArgs(_ErrorGetMessageArgs.message.offset, None, error)
    Handler(api.error_destroy)(ctypes.addressof(args))
    return text


def register_type(library: _library.Library, name: str, type_id: int, deleter: int | None) -> None:
    """Registers a type of users' handlers. `type_id` is the address of its number: 0 there asks for one, which is written there."""
    _check(library, name)
    number = ctypes.c_int64.from_address(type_id)
    info = _TypeInfo(deleter, None, None)
    encoded = name.encode()
    args = _TypeRegisterArgs(ctypes.sizeof(_TypeRegisterArgs), None, encoded, len(encoded), number.value, ctypes.pointer(info))
    _keep.append(info)
    library.call(library.ffi.type_register, args)
    number.value = args.type_id


_keep: list = []  # what the plugin may point to for as long as the process lives
