#!/usr/bin/env python3
"""Constants of strata/loop/math/pair.h and of what gamma.h computes in pairs of f64: coefficients to 106 bits.

    python3 tools/fit/pairs.py        # needs mpmath
"""
from mpmath import bernoulli, factorial, log, mp, mpf, pi, rgamma, taylor

mp.prec = 500


def hexadecimal(x):
    mantissa, power = float(x).hex().split("p")
    return mantissa.rstrip("0").rstrip(".") + "p" + power if float(x) else "0.0"


def pairs(values):
    return ", ".join("{%s, %s}" % (hexadecimal(x), hexadecimal(x - mpf(float(x)))) for x in values)


def singles(values):
    return ", ".join(hexadecimal(x) for x in values)


def row(name, values, count):
    """The first `count` as pairs, the others as f64."""
    print(f"{name} pairs: {pairs(values[:count])}\n{name} tail: {singles(values[count:])}\n")


row("ln2, pi, pi/2", [log(2), pi, pi / 2], 3)
row("exp", [1 / factorial(n) for n in range(2, 25)], 12)
row("sin", [(-1) ** k / factorial(2 * k + 1) for k in range(1, 15)], 7)
row("cos", [(-1) ** k / factorial(2 * k) for k in range(1, 15)], 7)
# 1 / Gamma(1 + t) for |t| <= 1/2
row("inverse gamma", taylor(lambda t: rgamma(1 + t), 0, 32), 18)
# digamma(y) = log y - 1 / (2 y) - z s(z), z = 1 / y^2, y >= 20
row("digamma", [bernoulli(2 * k) / (2 * k) for k in range(1, 17)], 5)
