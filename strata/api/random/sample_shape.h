// The shape of samples, where the parameters have one of their own.
#pragma once

#include "strata/api/options.h"

namespace strata::random {

/// Left out (or `{}`): that of the parameters, broadcast against each other. Given, `3`, `{2, 3}`,
/// `Sizes{}` or a Shape, the parameters must broadcast to it.
class SampleShape {
 public:
  SampleShape() = default;
  template <std::integral T>
  SampleShape(T size) : given_(Sizes(size)) {}  // NOLINT: implicit by intent
  SampleShape(std::initializer_list<std::int64_t> sizes) : given_(Sizes(sizes)) {}
  SampleShape(Sizes sizes) : given_(std::move(sizes)) {}                             // NOLINT
  SampleShape(std::vector<std::int64_t> sizes) : given_(Sizes(std::move(sizes))) {}  // NOLINT
  SampleShape(const Shape& shape) : given_(Sizes(shape)) {}                          // NOLINT
  /// The shape, where one was given; else that of the parameters.
  const std::optional<Sizes>& given() const { return given_; }

 private:
  std::optional<Sizes> given_;
};

}  // namespace strata::random
