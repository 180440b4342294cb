"""Derives the constants of strata/loop/math/: run `python tools/fit/elementary.py [name...]`; needs mpmath.

Each line printed is an array of the sources, lowest power first, and log2 of the error of the fit.
"""
import struct
import sys

from mpmath import asin, atan, atanh, cbrt, cos, cosh, erf, erfc, exp, expm1, fabs, floor, frexp, ldexp, log, log1p, mp, mpf, pi, sin, sinh, sqrt, tan, tanh


from remez import fit, remez, rounded

SINGLE, DOUBLE = 24, 53


def hexadecimal(value, bits):
    return float(value).hex().replace("0000000p", "p") + ("f" if bits == SINGLE else "")


def safe(f, at_zero):
    """f, with its limit at (and very near) zero given."""
    return lambda x: mpf(at_zero) if fabs(x) < mpf(2) ** -60 else f(x)


def split(name, value, bits):
    """A constant as a sum of numbers of the given bits."""
    parts = []
    for b in bits:
        parts.append(rounded(value, b))
        value -= parts[-1]
    print(f"{name}: " + ", ".join(float(p).hex() for p in parts))


def show(name, f, terms, interval, weight, bits, precision=None, step=1):
    coefficients, error = fit(f, [step * i for i in range(terms)], interval, weight, precision or bits)
    print(f"{name}: {{{', '.join(hexadecimal(c, bits) for c in coefficients)}}}  // 2^{float(log(error, 2)):.1f}")


HALF_LN2 = log(2) / 2 * mpf("1.0001")


def exponentials():
    # e^r = 1 + r + r^2 q(r); the error counts against e^r, and more where e^r is near sqrt(1/2): its ulp and those of r
    # and e^r - 1 are large together there
    q = safe(lambda r: (expm1(r) - r) / r**2, 0.5)
    for bits, terms in (SINGLE, 5), (DOUBLE, 11):
        weight = lambda r: (4 if bits == SINGLE and r < -0.28 else 1) * r**2 / exp(r)
        show(f"exp f{bits}", q, terms, (-HALF_LN2, HALF_LN2), weight, bits)
    # for e^r - 1 itself
    show("expm1 f24", q, 6, (-HALF_LN2, HALF_LN2), lambda r: fabs(r), SINGLE)
    split("ln2 f32", log(2), [SINGLE, SINGLE])
    split("ln2 f64", log(2), [DOUBLE, DOUBLE])


def logarithms():
    # log(1 + f) = f - f^2/2 + f^3 q(f)
    low, high = sqrt(mpf(1) / 2) - 1, sqrt(mpf(2)) - 1
    q = safe(lambda f: (log1p(f) - f + f**2 / 2) / f**3, mpf(1) / 3)
    weight = safe(lambda f: fabs(f**3 / log1p(f)), 0)
    for bits, terms in (SINGLE, 9), (DOUBLE, 21):
        show(f"log f{bits}", q, terms, (low, high), weight, bits)
    split("ln2 for log f32", log(2), [16, SINGLE])
    split("ln2 for log f64", log(2), [42, DOUBLE])
    split("1/ln2 f32", 1 / log(2), [SINGLE, SINGLE])
    split("1/ln2 f64", 1 / log(2), [DOUBLE, DOUBLE])


def powers():
    low, high = sqrt(mpf(1) / 2) - 1, sqrt(mpf(2)) - 1
    # for f32, in f64: log2(1 + f) = f q(f), 2^r
    q = safe(lambda f: log1p(f) / f / log(2), 1 / log(2))
    show("log2 for f32 pow", q, 14, (low, high), safe(lambda f: f / log1p(f) * log(2), 1), DOUBLE)
    show("exp2 for f32 pow", lambda r: mpf(2) ** r, 8, (-0.5, 0.5), lambda r: mpf(2) ** -r, DOUBLE)
    # for f64: log2(1 + f) = s (c0 + z (c1 + z q(z))), s = f / (2 + f), z = s^2
    ln2 = log(2)
    q = safe(lambda z: (2 * atanh(sqrt(z)) / sqrt(z) - 2 - 2 * z / 3) / z**2 / ln2, mpf(2) / 5 / ln2)
    show("log2 for f64 pow", q, 8, (0, (high / (2 + high)) ** 2), lambda z: z**2, DOUBLE)
    split("c0", 2 / ln2, [DOUBLE, DOUBLE])
    split("c1", 2 / ln2 / 3, [DOUBLE, DOUBLE])


def cube_roots():
    # (1 + f)^(-1/3), a first guess
    low, high = sqrt(mpf(1) / 2) - 1, sqrt(mpf(2)) - 1
    for bits, terms in (SINGLE, 4), (DOUBLE, 6):
        show(f"cbrt f{bits}", lambda f: 1 / cbrt(1 + f), terms, (low, high), lambda f: cbrt(1 + f), bits)


def ulp(value):
    return ldexp(mpf(1), frexp(value)[1] - SINGLE)


def word(value):
    """The bits of a float."""
    return struct.unpack("<I", struct.pack("<f", float(value)))[0]


def from_word(bits):
    return mpf(struct.unpack("<f", struct.pack("<I", bits))[0])


def piece_center(f, low, high, place):
    """A float m near `place` (from -1 at low to 1 at high) where f is nearly a float v: (m, v)."""
    near, half = (low + high) / 2 + place * (high - low) / 2, (high - low) / 2
    close = [from_word(word(near) + 7 * i) for i in range(-600, 601)]
    wide = [rounded(near + half * i / 3500, SINGLE) for i in range(-3000, 3001)]  # where f is flat its floats are rare

    def off(m):
        v = rounded(f(m), SINGLE)
        return fabs(f(m) - v) / ulp(v) + (mpf("0.004") if fabs(m - near) > half / 10 else 0)

    m = min(close + wide, key=off)
    return m, rounded(f(m), SINGLE)


def piece(f, derivatives, low, high, place):
    """m, v and the coefficients of p: f(m + d) = v + d p(d)."""
    m, v = piece_center(f, low, high, place)
    slope, curvature = derivatives(m)
    quotient = lambda d: slope + curvature / 2 * d if fabs(d) < mpf(2) ** -30 else (f(m + d) - v) / d
    return [m, v, *fit(quotient, range(7), (low - m, high - m), lambda d: fabs(d) / f(m + d), SINGLE)[0]]


def first_piece(f, high, slope):
    """f(a) = a + a p(a)."""
    p, powers = safe(lambda a: f(a) / a - 1, slope - 1), range(int(slope == 1), 7)
    return [mpf(0)] * (9 - len(powers)) + list(fit(p, powers, (0, high), lambda a: mpf(1), SINGLE)[0])


def show_pieces(name, f, derivatives, edges, slot, places):
    """Tables of eight; piece i stands at slot (slot + i) % 8."""
    rows = [first_piece(f, edges[1], derivatives(mpf(0))[0])]
    rows += [piece(f, derivatives, *edges[i : i + 2], mpf(places.get(i, "-0.22"))) for i in range(1, 8)]
    rows = rows[-slot:] + rows[:-slot]
    for column in zip(*rows):
        print(f"{name}: {{{', '.join(hexadecimal(c, SINGLE) for c in column)}}}")


def pieces():
    spread = mpf(float.fromhex("0x1.a58p+0"))
    edges = [(ldexp(1 + mpf(i % 2) / 2, i // 2) - 1) / spread for i in range(9)]
    show_pieces("tanh", tanh, lambda m: (1 - tanh(m) ** 2, -2 * tanh(m) * (1 - tanh(m) ** 2)), edges, 6, {})
    edges = [mpf(0)] + [(i + mpf("0.88")) / 2 for i in range(8)]
    slope = lambda m: 2 / sqrt(pi) * exp(-m * m)
    show_pieces("erf", erf, lambda m: (slope(m), -2 * m * slope(m)), edges, 0, {1: "-0.38"})


def hyperbolic():
    # tanh(x) = x + x^3 q(x^2), for f64
    show("tanh f53", safe(lambda z: (tanh(sqrt(z)) / sqrt(z) - 1) / z, -mpf(1) / 3), 17, (0, 1), lambda z: z, DOUBLE)
    # sinh(r) = r + r^3 s(r^2), cosh(r) = 1 + r^2 c(r^2) for |r| <= ln2 / 2, in f64 for results in f32 and f64
    for name, terms in ("f32", 3), ("f64", 6):
        odd = safe(lambda z: (sinh(sqrt(z)) / sqrt(z) - 1) / z, mpf(1) / 6)
        even = safe(lambda z: (cosh(sqrt(z)) - 1) / z, mpf(1) / 2)
        show(f"sinh {name}", odd, terms, (0, HALF_LN2**2), lambda z: z, DOUBLE)
        show(f"cosh {name}", even, terms, (0, HALF_LN2**2), lambda z: z, DOUBLE)


def errors():
    # for f64: erf(x) = x + x p(x^2) up to 1, 1 - exp(u(x - 1)) above
    p = safe(lambda z: erf(sqrt(z)) / sqrt(z) - 1, 2 / sqrt(pi) - 1)
    show("erf f64", p, 14, (0, 1), lambda z: mpf(1), DOUBLE)
    show("erf tail f64", lambda t: log(erfc(t + 1)), 23, (0, 5), lambda t: erfc(t + 1), DOUBLE)


def angles():
    # atan(q) = q + q^3 p(q^2) for |q| <= tan(pi/8)
    p = safe(lambda z: (atan(sqrt(z)) / sqrt(z) - 1) / z, -mpf(1) / 3)
    for bits, terms in (SINGLE, 5), (DOUBLE, 11):
        show(f"atan f{bits}", p, terms, (0, tan(pi / 8) ** 2 * mpf("1.0001")), lambda z: z, bits)
    # asin(x) = x + x^3 p(x^2) for |x| <= 1/2
    p = safe(lambda z: (asin(sqrt(z)) / sqrt(z) - 1) / z, mpf(1) / 6)
    for bits, terms in (SINGLE, 6), (DOUBLE, 13):
        show(f"asin f{bits}", p, terms, (0, mpf(1) / 4), lambda z: z, bits)
    for bits in SINGLE, DOUBLE:
        for name, angle in ("pi/4", pi / 4), ("pi/2", pi / 2), ("3pi/4", 3 * pi / 4), ("pi", +pi):
            split(f"{name} f{bits}", angle, [bits, bits])


def trigonometric():
    # sin(r) = r + r^3 q(r^2); cos(r) = 1 - r^2/2 + r^4 q(r^2)
    limit = (pi / 4 * mpf("1.001")) ** 2
    sine = safe(lambda z: (sin(sqrt(z)) / sqrt(z) - 1) / z, -mpf(1) / 6)
    cosine = safe(lambda z: (cos(sqrt(z)) - 1 + z / 2) / z**2, mpf(1) / 24)
    for bits, sines, cosines in (SINGLE, 4, 3), (DOUBLE, 7, 6):
        show(f"sin f{bits}", sine, sines, (0, limit), lambda z: z, bits)
        show(f"cos f{bits}", cosine, cosines, (0, limit), lambda z: z**2, bits)
    split("pi/2 f32", pi / 2, [SINGLE] * 3)
    split("pi/2 f64", pi / 2, [DOUBLE] * 3)
    split("2/pi by 29 bits", 2 / pi, [29] * 5 + [53])
    mp.prec = 1600
    chunks, rest = [], 1 / (2 * pi)
    for _ in range(24):
        rest = ldexp(rest, 53)
        chunks.append(floor(rest))
        rest -= chunks[-1]
    mp.prec = 240
    print("1/(2 pi) by 53 bits, times 2^53: " + ", ".join(float(c).hex() for c in chunks))


GROUPS = [exponentials, logarithms, powers, cube_roots, pieces, hyperbolic, errors, angles, trigonometric]

if __name__ == "__main__":
    for group in GROUPS:
        if len(sys.argv) == 1 or group.__name__ in sys.argv[1:]:
            group()
