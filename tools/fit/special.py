"""Derives the constants of the special functions in strata/loop/math/: run `python tools/fit/special.py [name...]`.

All are computed in f64; each array comes in two lengths, for results in f32 and in f64. Needs mpmath.
"""
import sys

from mpmath import besseli, cot, erfc, exp, expm1, fabs, findroot, log, loggamma, mp, mpf, pi, psi, sin, sqrt

from elementary import DOUBLE, SINGLE, safe, show, split


def remembered(f):
    known = {}

    def look(x):
        if x not in known:
            known[x] = f(x)
        return known[x]

    return look


def both(name, f, terms, interval, weight):
    """One function of one interval, by fewer terms for f32 and more for f64."""
    f, weight = remembered(f), remembered(weight)
    for result, count in zip(("f32", "f64"), terms):
        if count:
            show(f"{name} {result}", f, count, interval, weight, DOUBLE)


def error_complement():
    # f32: erfc(a) = e^(-a^2) t h(t - 1/2) for a >= 0, t = 1 / (1 + 3/8 a); zero beyond 10.1
    slope, middle = mpf(3) / 8, mpf(1) / 2

    def h(z):
        t = z + middle
        a = (1 / t - 1) / slope
        return erfc(a) * exp(a * a) / t

    least = 1 / (1 + mpf("10.1") * slope)
    show("erfc f32", remembered(h), 11, (least - middle, 1 - middle), lambda z: 1 / h(z), SINGLE)

    # f64: erfc(a) = e^(-a^2) g(q) / (1 + 2 a) for a >= 0, q = (a - 4) / (a + 4); zero beyond 28
    def g(q):
        a = 4 * (1 + q) / (1 - q)
        return (1 + 2 * a) * exp(a * a) * erfc(a)

    end = lambda a: (mpf(a) - 4) / (mpf(a) + 4)
    both("erfc", g, (0, 24), (-1, end("28")), lambda q: 1 / g(q))


def error_inverse():
    # erf_inv(x) = x c(w) for w = -log(1 - x^2) up to 5/2, else s t(s - middle) for s = sqrt(w) in three intervals
    def over_root(s):
        """erf_inv(x) / s."""
        w = s * s
        target = log(exp(-w) / (1 + sqrt(1 - exp(-w))))
        y = s * mpf("0.9")
        for _ in range(100):
            e = erfc(y)
            step = (log(e) - target) * e * exp(y * y) * sqrt(pi) / -2
            y -= step
            if fabs(step) < mpf(2) ** -180:
                break
        return y / s

    def central(w):
        return over_root(sqrt(w)) * sqrt(w) / sqrt(-expm1(-w)) if w else sqrt(pi) / 2

    both("erf_inv central", central, (10, 18), (0, mpf(5) / 2), lambda w: mpf(1))
    for low, high, terms in ("1.5", "2.625", (10, 18)), ("2.625", "4.125", (10, 18)), ("4.125", "6.125", (0, 18)):
        middle, half = (mpf(low) + mpf(high)) / 2, (mpf(high) - mpf(low)) / 2
        both(f"erf_inv from {low} around {middle}", lambda t: over_root(middle + t), terms, (-half, half), lambda t: mpf(1))


def gamma():
    # lgamma(2 + t) = t p(t) for |t| <= 1/2
    base = safe(lambda t: loggamma(2 + t) / t, psi(0, 2))
    both("lgamma near 2", base, (11, 19), (mpf(-1) / 2, mpf(1) / 2), lambda t: mpf(1))

    # lgamma(x) = (x - 1/2) (log x - 1) + (log 2 pi - 1) / 2 + s(1/x^2) / x for x >= 4
    def stirling(z):
        x = 1 / sqrt(z)
        return (loggamma(x) - (x - mpf(1) / 2) * (log(x) - 1) - (log(2 * pi) - 1) / 2) * x

    both("lgamma far", safe(stirling, mpf(1) / 12), (4, 10), (0, mpf(1) / 16), sqrt)

    # sin(pi f) = f (pi + f^2 p(f^2)) for |f| <= 1/2
    p = safe(lambda z: (sin(pi * sqrt(z)) / sqrt(z) - pi) / z, -(pi**3) / 6)
    both("sin pi", p, (6, 8), (0, mpf(1) / 4), lambda z: z / 2)
    split("(log 2 pi - 1) / 2", (log(2 * pi) - 1) / 2, [DOUBLE, DOUBLE])
    split("pi", +pi, [DOUBLE, DOUBLE])
    split("log pi", log(pi), [DOUBLE, DOUBLE])


def digamma():
    # digamma(x) = (x - root) p(x - 3/2) for x from 1 to 2
    root = findroot(lambda x: psi(0, x), mpf("1.4616321449683623"))
    split("root of digamma", root, [DOUBLE, DOUBLE])

    def base(t):
        x = t + mpf(3) / 2
        return psi(0, x) / (x - root) if fabs(x - root) > mpf(2) ** -60 else psi(1, root)

    both("digamma near root", base, (14, 23), (mpf(-1) / 2, mpf(1) / 2), lambda t: 1 / base(t))
    # digamma(x) = log x - 1 / (2 x) - z s(z), z = 1 / x^2, for x >= 4
    far = safe(lambda z: (-log(z) / 2 - sqrt(z) / 2 - psi(0, 1 / sqrt(z))) / z, mpf(1) / 12)
    both("digamma far", far, (5, 10), (0, mpf(1) / 16), lambda z: z)
    # pi cot(pi f) = (1 - z q(z)) / f, z = f^2, for |f| <= 1/2
    q = safe(lambda z: (1 - pi * sqrt(z) * cot(pi * sqrt(z))) / z, pi**2 / 3)
    both("pi cot pi", q, (9, 15), (0, mpf(1) / 4), lambda z: z)


def bessel():
    for order in 0, 1:
        # I0(x) = 1 + z p(z), I1(x) = x/2 (1 + z p(z)), z = x^2, up to 8 (f64: 5)
        full = lambda z: besseli(order, sqrt(z)) / (sqrt(z) / 2 if order else 1)
        near = safe(lambda z: (full(z) - 1) / z, mpf(1) / 8 if order else mpf(1) / 4)
        weight = lambda z: z / full(z) if z else mpf(0)
        both(f"i{order} near", near, (10, 0), (0, 64), weight)
        both(f"i{order} near", near, (0, 12), (0, 25), weight)

        # e^-x I(x) sqrt(x) = p(v), v = scale / x - shift, for f32 from 8 on, for f64 from 5 to 12 and beyond
        for name, scale, shift, terms in ("far", 16, 1, (10, 0)), ("middle", 16, mpf("2.25"), (0, 20)), ("far", 24, 1, (0, 20)):
            def far(v):
                inverse = (v + shift) / scale
                if inverse < mpf(2) ** -40:
                    return (1 - inverse * (mpf(3) / 8 if order else -mpf(1) / 8)) / sqrt(2 * pi)
                return exp(-1 / inverse) * besseli(order, 1 / inverse) / sqrt(inverse)

            both(f"i{order} {name}", far, terms, (-1, 1), lambda v: mpf("2.5"))


GROUPS = [error_complement, error_inverse, gamma, digamma, bessel]

if __name__ == "__main__":
    for group in GROUPS:
        if len(sys.argv) == 1 or group.__name__ in sys.argv[1:]:
            group()
