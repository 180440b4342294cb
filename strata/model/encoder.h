// What turns texts into vectors: an encoder, and what makes one vector of its tokens'.
//
//   auto loaded = model::load_encoder("all-MiniLM-L6-v2");
//   Array hidden = loaded->encoder->hidden(loaded->params, tokens, mask);     // (B, S, D)
//   Array vectors = model::pooled(hidden, mask, loaded->pooling);             // (B, D)
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "strata/api/tree/tree.h"
#include "strata/model/decoder/options.h"
#include "strata/tree/tree.h"

namespace strata::model {

/// An encoder of a family with its configuration; it holds no weights.
class Encoder {
 public:
  explicit Encoder(decoder::Options options);
  /// "bert".
  const std::string& family() const { return o_.family; }
  /// The number of tokens that it knows.
  std::int64_t vocab_size() const { return o_.vocab_size; }
  /// The width of the vectors.
  std::int64_t width() const { return o_.width; }
  /// The most tokens of a text.
  std::int64_t context() const { return o_.context; }
  /// First weights, f32; as Model::init.
  tree::Tree init(const Array& key) const;
  /// tokens (B, S) of i32 and mask (B, S), true where a token is one of the text and not padding ->
  /// (B, S, D) of the options' dtype; what padding gives is not meant. `types` (B, S): which of the
  /// texts of a pair a token belongs to; none: the first.
  Array hidden(const tree::Tree& params, const Array& tokens_BS, const Array& mask_BS,
               const std::optional<Array>& types_BS = {}) const;

 private:
  decoder::Options o_;
};
/// Shared and unchanging.
using EncoderPtr = std::shared_ptr<const Encoder>;

/// How one vector is made of those of the tokens, as the package sentence-transformers has it.
struct Pooling {
  /// What is taken of the vectors of a text's tokens: the first, their mean, the greatest of each
  /// element, their sum by the root of their number, their mean weighted by position, the last.
  enum class Mode { first, mean, most, mean_by_root, weighted_mean, last };
  /// Several stand one behind the other in the vector.
  std::vector<Mode> modes = {Mode::mean};
  /// Divided by its length.
  bool normalize = false;
  /// The most tokens of a text; 0: the model's.
  std::int64_t most_tokens = 0;
};
/// hidden (B, S, D), mask (B, S) -> (B, D times the number of modes). Sums in f32, over tokens of
/// the text alone; mean divides by max(count, 1e-9), a length is max(|v|, 1e-12).
Array pooled(const Array& hidden_BSD, const Array& mask_BS, const Pooling& pooling);

}  // namespace strata::model
