// A stream of random numbers that a call is lent.
//
//   layer(x, {.rngs = rngs});          // Rngs: the stream of the layer's name for it, "dropout"
//   layer(x, {.rngs = stream});        // or a stream, which a call advances as well
//   layer(x, {.rngs = key});           // or a key, which serves as it is
#pragma once

#include <variant>

#include "strata/nn/random/rngs.h"

namespace strata::nn {

/// Where a call takes a random key from; what is lent by reference must outlive the call.
class LentStream {
 public:
  LentStream() = default;
  LentStream(Rngs& rngs) : from_(&rngs) {}            // NOLINT: implicit by intent
  LentStream(RngStream& stream) : from_(&stream) {}   // NOLINT
  LentStream(const random::Key& key) : from_(key) {}  // NOLINT
  LentStream(std::optional<RngStream>& stream) {      // NOLINT
    if (stream) from_ = &*stream;
  }
  /// Whether there is something to take it from.
  explicit operator bool() const { return !std::holds_alternative<std::monostate>(from_); }
  /// The next key; of Rngs that of the stream `name`.
  random::Key operator()(std::string_view name) const {
    if (auto* rngs = std::get_if<Rngs*>(&from_)) return (**rngs)(name);
    if (auto* stream = std::get_if<RngStream*>(&from_)) return (**stream)();
    if (auto* key = std::get_if<random::Key>(&from_)) return *key;
    strata::internal::fail("LentStream", "there is no stream to take a key from");
  }

 private:
  std::variant<std::monostate, Rngs*, RngStream*, random::Key> from_;
};

}  // namespace strata::nn
