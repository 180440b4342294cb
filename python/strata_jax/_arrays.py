"""Arrays of a foreign call as NumPy arrays. Elements narrower than a byte lie packed there, lowest bits first; NumPy has one a byte."""
from __future__ import annotations

import ctypes

import ml_dtypes
import numpy as np

TOKEN = 17

# XLA's codes of element types.
DTYPES = {
    code: np.dtype(kind)
    for code, kind in {
        1: np.bool_, 2: np.int8, 3: np.int16, 4: np.int32, 5: np.int64, 6: np.uint8, 7: np.uint16, 8: np.uint32, 9: np.uint64,
        10: np.float16, 11: np.float32, 12: np.float64, 15: np.complex64, 16: ml_dtypes.bfloat16, 18: np.complex128,
        19: ml_dtypes.float8_e5m2, 20: ml_dtypes.float8_e4m3fn, 23: ml_dtypes.float8_e4m3b11fnuz, 24: ml_dtypes.float8_e5m2fnuz,
        25: ml_dtypes.float8_e4m3fnuz, 28: ml_dtypes.float8_e4m3, 29: ml_dtypes.float8_e3m4, 33: ml_dtypes.float8_e8m0fnu,
        21: ml_dtypes.int4, 22: ml_dtypes.uint4, 26: ml_dtypes.int2, 27: ml_dtypes.uint2, 32: ml_dtypes.float4_e2m1fn,
    }.items()
}  # fmt: skip

NARROW = {21: 4, 22: 4, 26: 2, 27: 2, 32: 4}  # code -> bits
_SIGNED = {21, 26}


def unpack(data: np.ndarray, bits: int, count: int) -> np.ndarray:
    """`count` elements of so many bits, one a byte, without their sign."""
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    return ((data[:, None] >> shifts) & ((1 << bits) - 1)).reshape(-1)[:count].astype(np.uint8)


def pack(elements: np.ndarray, bits: int) -> np.ndarray:
    """The inverse of unpack; what remains of the last byte is zero."""
    per_byte = 8 // bits
    padded = np.zeros(-(-elements.size // per_byte) * per_byte, np.uint8)
    padded[: elements.size] = elements & ((1 << bits) - 1)
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    return np.bitwise_or.reduce(padded.reshape(-1, per_byte) << shifts, axis=1).astype(np.uint8)


def _memory(address: int, size: int) -> np.ndarray:
    return np.frombuffer((ctypes.c_uint8 * size).from_address(address), np.uint8)


def _shape(buffer) -> tuple[int, ...]:
    return tuple(buffer.dims[i] for i in range(buffer.rank))


def _size(code: int, count: int) -> int:
    if bits := NARROW.get(code):
        return -(-count * bits // 8)
    return count * DTYPES[code].itemsize


def read(buffer) -> np.ndarray | None:
    """A copy of an operand; None for a token."""
    if buffer.dtype == TOKEN:
        return None
    shape, dtype = _shape(buffer), DTYPES[buffer.dtype]
    count = int(np.prod(shape, dtype=np.int64))
    if count == 0:
        return np.empty(shape, dtype)
    data = _memory(buffer.data, _size(buffer.dtype, count))
    if bits := NARROW.get(buffer.dtype):
        elements = unpack(data, bits, count)
        if buffer.dtype in _SIGNED:  # the sign goes up to the top of the byte
            elements = (elements << (8 - bits)).view(np.int8) >> (8 - bits)
        return elements.view(dtype).reshape(shape)
    return data.copy().view(dtype).reshape(shape)


def write(buffer, value) -> None:
    """Copies a result into its place."""
    if buffer.dtype == TOKEN:
        return
    shape, dtype = _shape(buffer), DTYPES[buffer.dtype]
    array = np.ascontiguousarray(value)
    if array.shape != shape and not (shape == () and array.size == 1):
        raise ValueError(f"a result of shape {array.shape}, expected {shape}")
    if array.dtype != dtype:
        raise ValueError(f"a result of type {array.dtype}, expected {dtype}")
    if array.size == 0:
        return
    data = array.reshape(-1).view(np.uint8)
    if bits := NARROW.get(buffer.dtype):
        data = pack(data, bits)
    ctypes.memmove(buffer.data, data.ctypes.data, data.size)


class View:
    """The memory of an operand or a result itself, as `jax.experimental.buffer_callback` shows it; good for the time of the call."""

    def __init__(self, buffer, writeable: bool):
        if buffer.dtype in NARROW:
            raise TypeError(f"buffers of {DTYPES[buffer.dtype]} lie packed, several elements in a byte: they have no view")
        self.dtype, self.shape, self.writeable = DTYPES[buffer.dtype], _shape(buffer), writeable
        size = int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize
        memory = _memory(buffer.data, size) if size else np.empty(0, np.uint8)
        self._array = memory.view(self.dtype).reshape(self.shape)
        self._array.flags.writeable = writeable

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __array__(self, dtype=None, copy=None):
        if copy is False and dtype is not None and dtype != self.dtype:
            raise ValueError(f"a view of {self.dtype} as {dtype} needs a copy")
        return self._array if not copy and dtype in (None, self.dtype) else np.array(self._array, dtype)

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()
