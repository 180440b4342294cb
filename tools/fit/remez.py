"""Minimax fits with rounded coefficients, for the polynomials in strata/loop/math/.

fit(f, powers, interval, weight, precision) finds c so that the largest weight(x) * |f(x) - sum c_i x^powers_i| is
least (Remez exchange), then rounds the coefficients to `precision` bits one by one, lowest power first, refitting the
rest each time: later coefficients make up for the rounding of earlier ones.
"""
from mpmath import cos, fabs, frexp, ldexp, lu_solve, matrix, mp, mpf, nint, pi

mp.prec = 240


def rounded(value, bits):
    """`value` to the nearest number of `bits` bits."""
    if bits is None or value == 0:
        return value
    mantissa, exponent = frexp(value)
    return ldexp(nint(ldexp(mantissa, bits)), exponent - bits)


def remez(f, powers, interval, weight, rounds=12, density=24):
    """The unrounded minimax coefficients and the error reached."""
    count = len(powers)
    low, high = mpf(interval[0]), mpf(interval[1])
    middle, half = (low + high) / 2, (high - low) / 2
    samples = density * (count + 1)
    grid = [middle - half * cos(pi * i / samples) for i in range(samples + 1)]
    values = [f(x) for x in grid]
    weights = [weight(x) for x in grid]
    floor = max(weights) / 10**6  # a point of weight zero would pin the error to zero
    weights = [max(w, floor) for w in weights]
    basis = [[x**p for p in powers] for x in grid]
    points = [round(i * samples / count) for i in range(count + 1)]
    best = None
    for _ in range(rounds):
        system = matrix(count + 1, count + 1)
        right = matrix(count + 1, 1)
        for row, i in enumerate(points):
            for column in range(count):
                system[row, column] = basis[i][column]
            system[row, count] = (-1) ** row / weights[i]
            right[row] = values[i]
        solution = lu_solve(system, right)
        coefficients = [solution[i] for i in range(count)]
        errors = [weights[i] * (values[i] - sum(c * b for c, b in zip(coefficients, basis[i]))) for i in range(samples + 1)]
        largest = max(fabs(e) for e in errors)
        if best is None or largest < best[1]:
            best = (coefficients, largest)
        extremes = alternating(errors)
        if len(extremes) < count + 1:
            break
        while len(extremes) > count + 1:
            extremes.pop(0 if fabs(errors[extremes[0]]) < fabs(errors[extremes[-1]]) else -1)
        if extremes == points:
            break
        points = extremes
    return best


def alternating(errors):
    """Positions of the largest error of each run of one sign."""
    found = []
    for i, e in enumerate(errors):
        if found and (errors[found[-1]] > 0) == (e > 0):
            if fabs(e) > fabs(errors[found[-1]]):
                found[-1] = i
        else:
            found.append(i)
    return found


def fit(f, powers, interval, weight, precision):
    """Rounded coefficients and the largest weighted error with them. `precision`: bits, or one number per power."""
    bits = precision if isinstance(precision, list) else [precision] * len(powers)
    low, high = mpf(interval[0]), mpf(interval[1])
    grid = [low + (high - low) * i / 499 for i in range(500)]
    values, weights = [f(x) for x in grid], [weight(x) for x in grid]

    def error(coefficients):
        sums = [sum(c * x**p for c, p in zip(coefficients, powers)) for x in grid]
        return max(w * fabs(v - s) for w, v, s in zip(weights, values, sums))

    # Once several coefficients stand, the rest may no longer alternate as Remez needs: keep the best prefix.
    fixed, best = [], None
    for i in range(min(len(powers), 8)):
        rest = lambda x: f(x) - sum(c * x**p for c, p in zip(fixed, powers))
        try:
            coefficients, _ = remez(rest, powers[i:], interval, weight)
        except ZeroDivisionError:
            break
        candidate = fixed + [rounded(c, b) for c, b in zip(coefficients, bits[i:])]
        reached = error(candidate)
        if best is None or reached < best[1]:
            best = (candidate, reached)
        fixed.append(candidate[i])
    return best
