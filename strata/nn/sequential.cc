#include "strata/nn/sequential.h"

namespace strata::nn {

namespace {
Array one(std::vector<Array> results) {
  if (results.size() != 1)
    strata::internal::fail("Sequential", "the last layer has {} results; `call` gives them all",
                           results.size());
  return std::move(results[0]);
}
template <class Self>
std::vector<Array> run(Self& self, const std::vector<Array>& inputs, Rngs* rngs) {
  const ModuleScope scope(self, "Sequential");
  std::vector<Array> values = inputs;
  for (auto& layer : self.layers) values = layer.call(values, rngs);
  return scope.returns(std::move(values), inputs);
}
}  // namespace

std::vector<Array> Layers::call(const std::vector<Array>& inputs, Rngs* rngs) {
  return run(*this, inputs, rngs);
}
std::vector<Array> Layers::call(const std::vector<Array>& inputs, Rngs* rngs) const {
  return run(*this, inputs, rngs);
}
Array Layers::operator()(const Array& x) { return one(call({x})); }
Array Layers::operator()(const Array& x) const { return one(call({x})); }
Array Layers::operator()(const Array& x, Rngs& rngs) { return one(call({x}, &rngs)); }

}  // namespace strata::nn
