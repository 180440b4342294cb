#include "strata/api/random/arrangement.h"

#include <cmath>

#include "strata/api/index.h"
#include "strata/api/random/basic.h"
#include "strata/api/random/continuous.h"
#include "strata/api/random/draw.h"

namespace strata::random {
namespace {

using internal::describe;
using internal::fail;
using Ints = std::vector<std::int64_t>;

/// How many sorts by 32-bit words make elements with equal words rare enough.
int rounds(std::int64_t size) {
  return static_cast<int>(std::ceil(
      3 * std::log(static_cast<double>(std::max<std::int64_t>(1, size))) / std::log(4294967295.0)));
}

/// Sorted by fresh words, along an axis, as often as it takes.
Array shuffled(Key key, Array x, int axis) {
  for (int left = rounds(x.size()); left > 0; --left) {
    const auto [next, words] = split2(key);
    x = numpy::take_along_axis(x,
                               numpy::argsort(bits(words, x.shape(), DType::ui32), {.axis = axis}),
                               axis, {.mode = "promise_in_bounds"});
    key = next;
  }
  return x;
}

/// The number that an integer scalar stands for.
std::int64_t count_of(const char* operation, const Array& x) {
  if (!is_integer(x.dtype()))
    fail(operation, "an integer or an array of at least one dimension is needed, got {}",
         describe(x.type()));
  if (x.is_traced())
    fail(operation, "the number of elements must be known, got a traced {}", describe(x.type()));
  return x.item<std::int64_t>();
}

Array permuted(const Key& key, const Array& x, int axis, bool independent) {
  if (x.size() == 0) return x;
  if (independent || x.ndim() == 1) return shuffled(key, x, axis);
  return numpy::take(x, shuffled(key, numpy::arange(x.shape(axis)), 0), axis);
}

/// Which of n elements: a search in the cumulative sums, or the greatest of perturbed logarithms.
Array weighted(const Key& key, std::int64_t n, std::int64_t draws, const Choice& o) {
  const Array p = internal::as_inexact(*o.p);
  if (p.shape() != Shape{n})
    fail("choice", "p has one number for each of {} elements, got {}", n, describe(p.type()));
  if (!o.replace) {
    const Array noisy = gumbel(key, {n}, p.dtype(), o.mode) + numpy::log(p);
    return numpy::argsort(noisy, {.axis = -1, .descending = true})[{slice(draws)}];
  }
  const Array sums = numpy::cumsum(p, 0);
  return numpy::searchsorted(sums, sums[-1] * (1 - uniform(key, o.shape, sums.dtype())));
}

}  // namespace

Array permutation(const KeyOperand& key, const Operand& x, const Permutation& o) {
  const Use use("permutation", key);
  const int axis = internal::axis_of("permutation", o.axis, std::max(1, x->ndim()));
  if (x->ndim() == 0) return shuffled(key.key, numpy::arange(count_of("permutation", x)), 0);
  return permuted(key.key, x, axis, o.independent);
}

Array choice(const KeyOperand& key, const Operand& a, const Choice& o) {
  const Use use("choice", key);
  const bool of_numbers = a->ndim() == 0;
  const int axis = of_numbers ? 0 : internal::axis_of("choice", o.axis, a->ndim());
  const std::int64_t n = of_numbers ? count_of("choice", a) : a->shape(axis),
                     draws = Shape::of(o.shape).count();
  if (draws == 0) return numpy::zeros(o.shape, a->dtype());
  if (n <= 0)
    fail("choice", "there is nothing to choose from: {}",
         of_numbers ? fmt::format("{}", n) : describe(a->type()));
  if (!o.replace && draws > n)
    fail("choice", "{} draws without replacement are more than {} elements", draws, n);
  Ints shape = a->shape().sizes();
  if (!of_numbers) shape.erase(shape.begin() + axis);
  shape.insert(shape.begin() + axis, o.shape.begin(), o.shape.end());
  if (!o.p && !o.replace) {
    const Array all =
        of_numbers ? shuffled(key.key, numpy::arange(n), 0) : permuted(key.key, a, axis, false);
    return numpy::take(all, numpy::arange(draws), axis).reshape(shape);
  }
  const Array places = o.p ? weighted(key.key, n, draws, o) : randint(key.key, o.shape, 0, n);
  return of_numbers ? places.reshape(shape) : numpy::take(a, places, axis).reshape(shape);
}

}  // namespace strata::random
