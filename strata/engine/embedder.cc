#include "strata/engine/embedder.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "strata/api/index.h"
#include "strata/api/numpy.h"
#include "strata/api/transform/jit.h"
#include "strata/base/error.h"
#include "strata/engine/language_model.h"

namespace strata::engine {

namespace {

/// Texts are padded to a multiple of this, so that few programs are compiled.
constexpr std::int64_t kPadding = 16;

}  // namespace

class Embedder::Program {
 public:
  Program(model::PretrainedEncoder encoder, std::shared_ptr<const tokenizer::Tokenizer> t,
          const EmbedderOptions& options)
      : encoder_(std::move(encoder)), tokenizer_(std::move(t)), batch_(options.batch) {
    model::Pooling& pooling = encoder_.pooling;
    pooling.normalize = options.normalize.value_or(pooling.normalize);
    most_ = encoder_.encoder->context();
    if (pooling.most_tokens > 0) most_ = std::min(most_, pooling.most_tokens);
    read_ = [run = jit(
                 [e = encoder_.encoder, pooling](const tree::Tree& weights, const Array& tokens,
                                                 const Array& mask) {
                   return model::pooled(e->hidden(weights, tokens, mask), mask, pooling)
                       .astype(DType::f32);
                 },
                 {.name = "embed"})](const tree::Tree& weights, const Array& tokens,
                                     const Array& mask) { return run(weights, tokens, mask); };
  }

  std::int64_t width() const {
    return encoder_.encoder->width() * static_cast<std::int64_t>(encoder_.pooling.modes.size());
  }

  std::vector<std::int32_t> tokens(const std::string& text) const {
    return tokenizer_->encode_with(text, {.add_special = true, .max_length = most_});
  }

  Array vectors(std::span<const std::string> texts) const {
    if (texts.empty()) throw Error("embed", "there are no texts");
    std::vector<std::vector<std::int32_t>> rows;
    for (const std::string& text : texts) {
      rows.push_back(tokens(text));
      if (rows.back().empty()) throw Error("embed", "text {} has no tokens", rows.size());
      for (const std::int32_t t : rows.back())
        if (t >= encoder_.encoder->vocab_size())
          throw Error("embed", "token {} is none of the model's {}: tokenizer and model differ", t,
                      encoder_.encoder->vocab_size());
    }
    std::vector<std::size_t> order(rows.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto padded = [&](std::size_t i) {
      const auto n = static_cast<std::int64_t>(rows[i].size());
      return std::min((n + kPadding - 1) / kPadding * kPadding, encoder_.encoder->context());
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return padded(a) < padded(b); });
    std::vector<float> out(rows.size() * static_cast<std::size_t>(width()));
    for (std::size_t begin = 0; begin < order.size();) {
      std::size_t end = begin + 1;
      while (end < order.size() && end - begin < static_cast<std::size_t>(batch_) &&
             padded(order[end]) == padded(order[begin]))
        ++end;
      read(rows, std::span(order).subspan(begin, end - begin), padded(order[begin]), out);
      begin = end;
    }
    return numpy::reshape(array(out), {static_cast<std::int64_t>(rows.size()), width()});
  }

 private:
  /// Reads some rows together and puts their vectors into place.
  void read(const std::vector<std::vector<std::int32_t>>& rows, std::span<const std::size_t> which,
            std::int64_t length, std::vector<float>& out) const {
    const auto n = static_cast<std::int64_t>(which.size());
    std::vector<std::int32_t> tokens(which.size() * static_cast<std::size_t>(length)), mask(tokens);
    for (std::size_t i = 0; i < which.size(); ++i) {
      const std::vector<std::int32_t>& row = rows[which[i]];
      const auto at = static_cast<std::ptrdiff_t>(i) * length;
      std::copy(row.begin(), row.end(), tokens.begin() + at);
      std::fill_n(mask.begin() + at, row.size(), 1);
    }
    const std::vector<float> vectors =
        read_(encoder_.params, numpy::reshape(array(tokens), {n, length}),
              numpy::reshape(array(mask), {n, length}))
            .to_vector<float>();
    const auto w = static_cast<std::ptrdiff_t>(width());
    for (std::size_t i = 0; i < which.size(); ++i)
      std::copy_n(vectors.begin() + static_cast<std::ptrdiff_t>(i) * w, w,
                  out.begin() + static_cast<std::ptrdiff_t>(which[i]) * w);
  }

  model::PretrainedEncoder encoder_;
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer_;
  std::int64_t batch_ = 0, most_ = 0;
  std::function<Array(const tree::Tree&, const Array&, const Array&)> read_;
};

Embedder::Embedder(model::PretrainedEncoder encoder,
                   std::shared_ptr<const tokenizer::Tokenizer> tokenizer,
                   const EmbedderOptions& options)
    : program_(std::make_shared<const Program>(std::move(encoder), std::move(tokenizer), options)) {
}

Result<Embedder> Embedder::load(const std::string& path, const EmbedderOptions& options) {
  if (options.batch < 1)
    throw Error("embed", "batch={}: allowed are numbers above 0", options.batch);
  auto encoder = model::load_encoder(path);
  if (!encoder) return encoder.status();
  auto tokenizer = load_tokenizer(path);
  if (!tokenizer) return tokenizer.status();
  return Embedder(std::move(*encoder), std::move(*tokenizer), options);
}

Array Embedder::vectors(std::span<const std::string> texts) const {
  return program_->vectors(texts);
}
std::vector<std::int32_t> Embedder::tokens(const std::string& text) const {
  return program_->tokens(text);
}
std::int64_t Embedder::width() const { return program_->width(); }

Array similarity(const Array& a, const Array& b) {
  const auto unit = [](const Array& x) {
    return x /
           numpy::maximum(numpy::sqrt(numpy::sum(x * x, {.axis = -1, .keepdims = true})), 1e-12);
  };
  return numpy::matmul(unit(a), numpy::transpose(unit(b)));
}

}  // namespace strata::engine
