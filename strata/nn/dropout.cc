#include "strata/nn/dropout.h"

#include "strata/api/lax.h"
#include "strata/api/random.h"

namespace strata::nn {

Dropout::Dropout(double rate, const DropoutOptions& o)
    : rate(rate),
      broadcast_dims(o.broadcast_dims),
      deterministic(o.deterministic),
      rng_collection(o.rng_collection) {
  if (!(rate >= 0 && rate <= 1))
    strata::internal::fail("Dropout", "the rate is {}, it must lie between 0 and 1", rate);
}
Dropout::Dropout(double rate, Rngs& streams, const DropoutOptions& o) : Dropout(rate, o) {
  rngs = streams[rng_collection].fork();
}
Dropout::Dropout(double rate, RngStream& stream, const DropoutOptions& o) : Dropout(rate, o) {
  rngs = stream.fork();
}

Array Dropout::operator()(const Array& x, const DropoutCall& call) {
  const ModuleScope scope(*this, "Dropout");
  using strata::internal::fail;
  const std::optional<bool> off = call.deterministic ? call.deterministic : deterministic;
  if (!off)
    fail("Dropout",
         "nothing says whether to drop: give `deterministic` to the constructor or the call, or "
         "set it for all layers by nn::view, nn::train or nn::eval");
  if (rate == 0 || *off) return scope.returns(x, x);
  if (rate == 1) return scope.returns(numpy::zeros_like(x), x);  // x / 0 would have no derivative
  const LentStream stream = call.rngs ? call.rngs : LentStream(rngs);
  if (!stream)
    fail("Dropout",
         "there is no stream of random numbers: give one to the constructor, or to the "
         "call as {{.rngs = ...}}");
  const double keep = 1 - rate;
  std::vector<std::int64_t> shape = x.shape().sizes();
  for (std::int64_t dim : broadcast_dims) {
    const std::int64_t axis = dim < 0 ? dim + x.ndim() : dim;
    if (axis < 0 || axis >= x.ndim())
      fail("Dropout", "the input {} has no axis {}", strata::internal::describe(x.type()), dim);
    shape[static_cast<std::size_t>(axis)] = 1;
  }
  const Array mask = random::bernoulli(stream(rng_collection), keep, Sizes(shape));
  const Array kept = numpy::broadcast_to(mask, Sizes(x.shape()));
  return scope.returns(lax::select(kept, x / keep, numpy::zeros_like(x)), x);
}

}  // namespace strata::nn

STRATA_COMPILE_VISIT(strata::nn::Dropout)
