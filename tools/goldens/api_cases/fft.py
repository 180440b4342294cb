"""jax.numpy.fft and jax.lax.fft."""
import numpy as np

from .calls import *

CASES = {}
C8, C23, C234, R8 = complexes(8), complexes(2, 3), complexes(2, 3, 4), normal(8)
for name in ("fft", "ifft"):
    CASES["numpy.fft." + name] = calls(C(C8), C(R8), C(C23), C(C23, axis=0), C(C234, axis=-2), C(C8, n=5), C(C8, n=13), C(C8, norm="ortho"), C(C8, norm="forward"), C(C8, n=6, norm="ortho"), C(I23), C(U23), C(B23), C(H5), C(G5),
                                       C(np.zeros((0, 4), np.complex64)), C(np.array([1, np.inf, np.nan], f32)), C(f32(1)), C(C23, axis=2), C(C8, n=0), C(C8, norm="none"), scaled=True, bound=8)
CASES["numpy.fft.rfft"] = calls(C(R8), C(normal(7)), C(X23), C(X23, axis=0), C(X234, axis=-2), C(R8, n=5), C(R8, n=13), C(R8, norm="ortho"), C(R8, norm="forward"), C(I23), C(B23), C(C8), C(H5), C(G5), C(np.zeros((0, 4), f32)), C(f32(1)), C(R8, n=-1), scaled=True, bound=8)
for name in ("irfft", "hfft"):
    CASES["numpy.fft." + name] = calls(C(C8), C(complexes(5), n=9), C(C23), C(C23, axis=0), C(C234, axis=-2), C(C8, n=5), C(C8, n=20), C(C8, norm="ortho"), C(C8, norm="forward"), C(C8, n=9, norm="ortho"), C(R8), C(I23), C(H5), C(np.zeros((0, 4), np.complex64)), C(C23, axis=2), C(C8, norm="none"), scaled=True, bound=8)
CASES["numpy.fft.ihfft"] = calls(C(R8), C(normal(7)), C(X23, axis=0), C(R8, n=5), C(R8, n=13), C(R8, norm="ortho"), C(R8, norm="forward"), C(I23), C(C8), C(H5), C(X23, axis=2), scaled=True, bound=8)
for name in ("fft2", "ifft2", "irfft2", "rfft2"):
    x = X234 if name == "rfft2" else C234
    CASES["numpy.fft." + name] = calls(C(x), C(x, axes=(0, 2)), C(x, axes=(1, 0)), C(x, s=(2, 5)), C(x, s=(4, 2), axes=(2, 0)), C(x, norm="ortho"), C(x, norm="forward"), C(I23), C(H5), C(x[0, 0]), C(x, axes=(1, 1)), C(x, axes=(0, 1, 2)), C(np.zeros((0, 2, 3), x.dtype)), C(X23), scaled=True, bound=8)
for name in ("fftn", "ifftn", "irfftn", "rfftn"):
    x = X234 if name == "rfftn" else C234
    five = normal(2, 3, 2, 2, 4)
    CASES["numpy.fft." + name] = calls(C(x), C(x, axes=(0, 2)), C(x, axes=(-1,)), C(x, s=(2, 5)), C(x, s=(4, 2), axes=(2, 0)), C(x, norm="ortho"), C(x, norm="forward"), C(I23), C(x, s=(3,), axes=(0, 1)), C(normal(2, 2, 3, 4)), C(five), C(five, s=(2, 2, 3, 4)), C(R8), scaled=True, bound=8)
CASES["numpy.fft.fftfreq"] = calls(C(n=8), C(n=7), C(n=5, d=0.25), C(n=1), C(n=6, dtype=f16), C(n=6, d=0.1, dtype=bf16))
CASES["numpy.fft.rfftfreq"] = calls(C(n=8), C(n=7), C(n=5, d=0.25), C(n=1), C(n=6, dtype=f16), C(n=6, d=0.1, dtype=bf16))
for name in ("fftshift", "ifftshift"):
    CASES["numpy.fft." + name] = calls(C(R8), C(normal(7)), C(X23), C(X234, axes=(0, 2)), C(X23, axes=1), C(X23, axes=-2), C(I23), C(C3), C(H5), C(B23), C(E03), C(f32(1)), C(X23, axes=2))
import jax.lax
CASES["lax.fft"] = calls(*[C(C234, fft_type=t, fft_lengths=n) for t in ("FFT", "IFFT") for n in ((4,), (3, 4), (2, 3, 4), (2,), ())], C(X234, fft_type="RFFT", fft_lengths=(3, 4)), C(C234, fft_type="RFFT", fft_lengths=(4,)),
                         C(C234, fft_type="IRFFT", fft_lengths=(3, 6)), C(C234, fft_type="IRFFT", fft_lengths=(7,)), C(I23, fft_type="RFFT", fft_lengths=(3,)), C(H5, fft_type="RFFT", fft_lengths=(5,)), C(H5, fft_type="FFT", fft_lengths=(5,)),
                         C(R8, fft_type="FFT", fft_lengths=(2, 4)), scaled=True, bound=8, call=lambda x, fft_type, fft_lengths: jax.lax.fft(x, fft_type, tuple(fft_lengths)))
