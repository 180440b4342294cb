#include "strata/engine/score.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "strata/api/index.h"
#include "strata/api/nn.h"
#include "strata/api/numpy.h"
#include "strata/api/transform/jit.h"
#include "strata/base/error.h"

namespace strata::engine {
namespace {

constexpr std::int64_t kPageSize = 16, kPiece = 64;

}  // namespace

class Scorer::Program {
 public:
  Program(model::ModelPtr model, const tree::Tree& params, std::int64_t max_length)
      : model_(std::move(model)), max_length_(max_length) {
    params_ = jit([m = model_](const tree::Tree& p) { return m->cast(p, m->dtype()); },
                  {.name = "cast"})(params);
    pages_ = model_->init_pages((max_length + kPageSize - 1) / kPageSize, kPageSize);
    read_ =
        [run = jit(
             [m = model_](const tree::Tree& p, const model::Batch& batch, const tree::Tree& pages) {
               auto [logits, next] = m->extend_pages(p, batch, pages, true);
               return std::pair{numpy::squeeze(logits.astype(DType::f32), {0}), std::move(next)};
             },
             {.donate_argnums = {2}, .name = "read_text"})](
            const tree::Tree& p, const model::Batch& batch, tree::Tree pages) {
          return run(p, batch, std::move(pages));
        };
    choose_ = [run = jit(
                   [](const Array& logits, const Array& next) {
                     const Array one = numpy::expand_dims(next, -1);
                     // As where tokens are drawn, so that the bits are the same.
                     const Array logprob =
                         numpy::squeeze(numpy::take_along_axis(logits, one, -1, {.mode = "clip"}),
                                        {-1}) -
                         strata::nn::logsumexp(logits, -1);
                     return std::pair{logprob, numpy::argmax(logits, -1) == next};
                   },
                   {.name = "score"})](const Array& logits, const Array& next) {
      return run(logits, next);
    };
  }

  /// Throws Error for tokens that the model lacks.
  void check(std::span<const std::int32_t> tokens) const {
    for (const std::int32_t t : tokens)
      if (t < 0 || t >= model_->vocab_size())
        throw Error("score", "token {} is none of the model's {}", t, model_->vocab_size());
  }
  /// f(first, count, logits (kPiece, V)) for the pieces of a sequence.
  template <class F>
  void each_piece(std::span<const std::int32_t> tokens, F f) {
    const auto n = static_cast<std::int64_t>(tokens.size());
    if (n < 1) throw Error("score", "there are no tokens");
    if (n > max_length_)
      throw Error("score", "{} tokens, more than the {} that there is room for", n, max_length_);
    check(tokens);
    const std::int64_t pages = (max_length_ + kPageSize - 1) / kPageSize;
    const Array table = numpy::reshape(numpy::arange(pages).astype(DType::i32), {1, pages});
    for (std::int64_t first = 0; first < n; first += kPiece) {
      const std::int64_t count = std::min(kPiece, n - first);
      std::vector<std::int32_t> piece(static_cast<std::size_t>(kPiece));
      std::copy_n(tokens.begin() + first, count, piece.begin());
      const model::Batch batch{.tokens = numpy::reshape(array(piece), {1, kPiece}),
                               .first = array(std::vector{static_cast<std::int32_t>(first)}),
                               .count = array(std::vector{static_cast<std::int32_t>(count)}),
                               .pages = table};
      auto [logits, next] = read_(params_, batch, std::move(pages_));
      pages_ = std::move(next);
      f(first, count, logits);
    }
  }
  std::pair<Array, Array> choose(const Array& logits, const std::vector<std::int32_t>& next) {
    return choose_(logits, array(next));
  }

 private:
  model::ModelPtr model_;
  std::int64_t max_length_;
  tree::Tree params_, pages_;
  std::function<std::pair<Array, tree::Tree>(const tree::Tree&, const model::Batch&, tree::Tree)>
      read_;
  std::function<std::pair<Array, Array>(const Array&, const Array&)> choose_;
};

Scorer::Scorer(model::ModelPtr model, const tree::Tree& params, std::int64_t max_length)
    : program_(std::make_unique<Program>(std::move(model), params, max_length)) {}
Scorer::~Scorer() = default;

Scored Scorer::score(std::span<const std::int32_t> tokens) const {
  if (tokens.size() < 2) throw Error("score", "needs two tokens at least, got {}", tokens.size());
  program_->check(tokens.last(1));
  Scored out;
  const auto read = tokens.first(tokens.size() - 1);
  program_->each_piece(read, [&](std::int64_t first, std::int64_t count, const Array& logits) {
    std::vector<std::int32_t> next(static_cast<std::size_t>(kPiece));
    std::copy_n(tokens.begin() + first + 1, count, next.begin());
    const auto [logprob, greedy] = program_->choose(logits, next);
    const auto numbers = logprob.to_vector<float>();
    const auto best = greedy.astype(DType::i32).to_vector<std::int32_t>();
    for (std::int64_t i = 0; i < count; ++i) {
      out.logprobs.push_back(numbers[static_cast<std::size_t>(i)]);
      out.greedy.push_back(best[static_cast<std::size_t>(i)] != 0);
    }
  });
  return out;
}

Array Scorer::logits(std::span<const std::int32_t> tokens) const {
  std::vector<Array> pieces;
  program_->each_piece(tokens, [&](std::int64_t, std::int64_t count, const Array& logits) {
    pieces.push_back(logits[slice(0, count)]);
  });
  return numpy::concatenate(pieces, 0);
}

double Perplexity::perplexity() const { return std::exp(nats / static_cast<double>(tokens)); }
double Perplexity::bits_per_byte(std::size_t bytes) const {
  return nats / std::log(2.0) / static_cast<double>(bytes);
}

Perplexity perplexity(const Scorer& scorer, std::span<const std::int32_t> tokens,
                      std::int64_t length, std::int64_t stride,
                      const std::function<void(std::int64_t)>& progress) {
  if (length < 2 || stride < 1 || stride >= length)
    throw Error("perplexity", "windows of {} tokens that begin {} apart", length, stride);
  Perplexity out;
  const auto n = static_cast<std::int64_t>(tokens.size());
  std::int64_t done = 1;  // nothing comes before the first token
  for (std::int64_t first = 0; done < n; first += stride) {
    const std::int64_t end = std::min(first + length, n);
    const Scored s = scorer.score(
        tokens.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(end - first)));
    for (std::int64_t t = done; t < end; ++t) {
      out.nats -= static_cast<double>(s.logprobs[static_cast<std::size_t>(t - first - 1)]);
      ++out.tokens;
    }
    done = end;
    if (progress) progress(done);
  }
  return out;
}

}  // namespace strata::engine
