// What samplers share. Private to this folder.
#pragma once

#include "strata/api/index.h"
#include "strata/api/random/key.h"
#include "strata/api/random/sample_shape.h"
#include "strata/api/trace/compose.h"

namespace strata::random {

/// The scope of a public function that uses a key: the user's line for errors, and the debug mode's
/// check of the key. Within another one's scope it does nothing, so that samplers may be made of
/// samplers.
class Use {
 public:
  /// Throws Error unless `key` is a single key of proper words (`many`: or an array of them).
  Use(const char* name, const KeyOperand& key, bool many = false, bool consumes = true);
  ~Use();
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

 private:
  internal::Site site_;
};

/// A number of a float or integer dtype, strongly typed.
inline Array number(DType dtype, double v) { return Array::scalar(v, dtype, false); }
/// x in that dtype, strongly typed. `safely`: throws Error in the name of `name` where the dtype
/// does not hold every number of x's.
inline Array as(const Array& x, DType dtype) { return internal::cast(x, {dtype, false}); }
Array safely_as(const char* name, const Array& x, DType dtype);

/// `wanted` under the switch of 64-bit types. Throws Error unless it is a float type.
DType float_type(const char* name, DType wanted);
DType integer_type(const char* name, DType wanted);

/// The shape of the parameters, broadcast, or the given one, to which they must broadcast. Throws
/// Error.
Sizes sample_shape(const char* name, const SampleShape& given,
                   const std::vector<Shape>& parameters);
/// x repeated to a shape it broadcasts to.
Array broadcast(const Array& x, const Sizes& shape);
/// Key i of a key array.
inline Key at(const Key& keys, std::int64_t i) { return {keys.words[i], keys.implementation}; }
/// The greatest power of two that changes nothing next to 1, and the smallest normal number.
double epsilon(DType dtype);
double tiny(DType dtype);
/// Digits of the mantissa after the point.
int mantissa_bits(DType dtype);

}  // namespace strata::random
