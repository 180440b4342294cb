// Vectors of texts: an encoder with its tokenizer, as the package sentence-transformers has them.
//
//   auto embedder = engine::Embedder::load("all-MiniLM-L6-v2");
//   if (!embedder) return fail(embedder.status());
//   std::vector<std::string> texts = {"A cat sat down.", "Stocks fell."};
//   Array vectors = embedder->vectors(texts);              // (2, 384) f32
//   Array close = engine::similarity(vectors, vectors);    // (2, 2) of cosines
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "strata/api/array.h"
#include "strata/base/result.h"
#include "strata/model/pretrained.h"
#include "strata/tokenizer/tokenizer.h"

namespace strata::engine {

struct EmbedderOptions {
  strata::internal::Named named = strata::internal::Named();
  /// Texts that are read together.
  std::int64_t batch = 32;
  /// Divide vectors by their lengths; nothing: as the model's modules.json says.
  std::optional<bool> normalize = {};
};

class Embedder {
 public:
  /// Of a Hugging Face directory, a cache's models--org--name or a GGUF file, with the pooling that
  /// modules.json says; without one, the mean. Codes: as model::load_encoder; unsupported for a
  /// model that is no encoder.
  static Result<Embedder> load(const std::string& path, const EmbedderOptions& options = {});

  /// (texts, width) f32, in the texts' order. A text is cut to the most tokens that the model
  /// reads, special tokens included. Texts of like length are read together, so their number and
  /// order do not matter but for a rounding. Throws Error where there are no texts, and for one
  /// of which nothing is left as tokens.
  Array vectors(std::span<const std::string> texts) const;
  /// The tokens that are read of a text.
  std::vector<std::int32_t> tokens(const std::string& text) const;
  /// Numbers of a vector.
  std::int64_t width() const;

 private:
  Embedder(model::PretrainedEncoder encoder, std::shared_ptr<const tokenizer::Tokenizer> tokenizer,
           const EmbedderOptions& options);
  class Program;
  std::shared_ptr<const Program> program_;
};

/// Cosines of the rows of a (N, D) and b (M, D): (N, M). A row of zeros is like nothing: 0.
Array similarity(const Array& a, const Array& b);

}  // namespace strata::engine
