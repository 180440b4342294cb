#include "strata/train/evaluate/evaluate.h"

#include <fmt/format.h>

#include <algorithm>

#include "strata/model/decoder/multi_token.h"
#include "strata/train/state.h"

namespace strata::train {
namespace {

/// Calls f(target) for each target that counts.
template <class F>
void for_each_target(const data::Batch& b, F&& f) {
  const auto targets = b.targets.span<std::int32_t>();
  const auto weights = b.weights ? b.weights->span<float>() : std::span<const float>();
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (weights.empty() || weights[i] != 0) f(targets[i]);
  }
}

}  // namespace

SourceLoss total(const std::vector<SourceLoss>& sources) {
  SourceLoss out{.source = "all"};
  for (const SourceLoss& s : sources) {
    out.nats += s.nats;
    out.unigram_nats += s.unigram_nats;
    out.tokens += s.tokens;
    out.bytes += s.bytes;
    out.further += s.further;
    out.accepted += s.accepted;
  }
  return out;
}

std::string to_table(const std::vector<SourceLoss>& sources) {
  std::size_t width = 6;
  for (const SourceLoss& s : sources) width = std::max(width, s.source.size());
  std::string out = fmt::format("{:<{}}  {:>8}  {:>10}  {:>9}  {:>7}  {:>6}", "source", width,
                                "tokens", "nats/token", "nats/byte", "unigram", "below");
  for (const SourceLoss& s : sources) {
    out += fmt::format("\n{:<{}}  {:>8}  {:>10.4f}  {:>9.4f}  {:>7.4f}  {:>4.1f} %", s.source,
                       width, s.tokens, s.loss(), s.loss_per_byte(), s.unigram_loss(),
                       100 * s.below_unigram());
  }
  return out;
}

Ngram count_training_part(const data::Dataset& data, std::size_t source) {
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(data.sources()[source].train_tokens));
  data.copy(source, 0, tokens);
  Ngram out(data.tokenizer().vocab_size());
  out.add(tokens);
  return out;
}

Evaluator::Evaluator(const Config& config, data::Dataset data)
    : Evaluator(config, make_model(config), std::move(data)) {}

Evaluator::Evaluator(const Config& config, model::ModelPtr model, data::Dataset data)
    : most_batches_(config.eval_steps), data_(std::move(data)), function_(make_eval(model)) {
  const std::int64_t layer = config.mtp_eval_target_module;
  if (layer > 0 && layer <= model::decoder::further_layers(*model))
    acceptance_ = make_acceptance(std::move(model), layer);
}

std::int64_t Evaluator::batches(std::size_t source) const {
  const std::int64_t all = data_.eval_batches(source);
  return most_batches_ < 0 ? all : std::min(all, most_batches_);
}

SourceLoss Evaluator::beginning(std::size_t source) const {
  const data::SourceInfo& info = data_.sources()[source];
  SourceLoss out{.source = info.name};
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(info.train_tokens));
  data_.copy(source, 0, tokens);
  Ngram counts(data_.tokenizer().vocab_size());
  counts.add_unigrams(tokens);
  for (std::int64_t i = 0; i < batches(source); ++i) {
    for_each_target(data_.eval_batch(source, i), [&](std::int32_t t) {
      ++out.tokens;
      out.bytes += static_cast<std::int64_t>(data_.tokenizer().bytes(t).size());
      out.unigram_nats += counts.unigram_nats(t);
    });
  }
  return out;
}

std::vector<SourceLoss> Evaluator::operator()(const tree::Tree& params) {
  if (beginnings_.empty()) {
    for (std::size_t s = 0; s < data_.sources().size(); ++s) beginnings_.push_back(beginning(s));
  }
  std::vector<SourceLoss> out;
  for (std::size_t s = 0; s < beginnings_.size(); ++s) {
    if (beginnings_[s].tokens == 0) continue;
    out.push_back(beginnings_[s]);
    for (std::int64_t i = 0; i < batches(s); ++i) {
      const Batch batch = to_batch(data_.eval_batch(s, i));
      out.back().nats += function_(params, batch).first.item<double>();
      if (!acceptance_) continue;
      const auto [accepted, further] = acceptance_(params, batch);
      out.back().accepted += accepted.item<double>();
      out.back().further += further.item<double>();
    }
  }
  return out;
}

}  // namespace strata::train
