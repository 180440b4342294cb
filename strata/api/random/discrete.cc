#include "strata/api/random/discrete.h"

#include "strata/api/index.h"
#include "strata/api/lax.h"
#include "strata/api/random/basic.h"
#include "strata/api/random/continuous.h"
#include "strata/api/random/draw.h"

namespace strata::random {
namespace {

using internal::describe;
using internal::fail;
using Ints = std::vector<std::int64_t>;

/// The first `k` places of the greatest along the last axis, equal ones in their order.
Array greatest_places(const Array& x, std::int64_t k) {
  return numpy::argsort(x, {.axis = -1, .descending = true})[{ellipsis, slice(k)}];
}

}  // namespace

Array categorical(const KeyOperand& key, const Operand& logits, const Categorical& o) {
  const Use use("categorical", key);
  if (!is_float(logits->dtype()))
    fail("categorical", "logits are floats, got {}", describe(logits->type()));
  const int axis = internal::axis_of("categorical", o.axis, logits->ndim());
  const Array& x = logits;
  Ints batch = x.shape().sizes();
  const std::int64_t classes = batch[static_cast<std::size_t>(axis)];
  batch.erase(batch.begin() + axis);
  const Ints shape = sample_shape("categorical", o.shape, {Shape::of(batch)});
  const auto batch_begin = shape.end() - static_cast<std::ptrdiff_t>(batch.size());
  const Ints prefix(shape.begin(), batch_begin);
  if (o.replace) {
    Ints drawn(batch_begin, shape.end());
    drawn.insert(drawn.begin() + axis, classes);
    drawn.insert(drawn.begin(), prefix.begin(), prefix.end());
    return numpy::argmax(gumbel(key.key, drawn, x.dtype(), o.mode) + x, axis - x.ndim());
  }
  const std::int64_t k = Shape::of(prefix).count();
  if (k > classes)
    fail("categorical", "{} samples without replacement are more than {} classes", k, classes);
  const Array noisy = x + gumbel(key.key, x.shape(), x.dtype(), o.mode);
  return numpy::moveaxis(greatest_places(numpy::moveaxis(noisy, axis, -1), k), -1, 0)
      .reshape(shape);
}

Array geometric(const KeyOperand& key, const Operand& operand, const SampleShape& given,
                DType wanted) {
  const Use use("geometric", key);
  const DType dtype = integer_type("geometric", wanted);
  const Array p = internal::as_inexact(operand);
  const Array u = uniform(key.key, sample_shape("geometric", given, {p.shape()}), p.dtype());
  // 0 stands for 1, of which the logarithm is finite.
  const Array trials = numpy::log(numpy::where(u == 0, 1, u)) / numpy::log1p(-p);
  return as(numpy::floor(trials) + 1, dtype);
}

}  // namespace strata::random
