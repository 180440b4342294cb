#include "strata/train/evaluate/evaluate.h"

#include <fmt/format.h>

#include <algorithm>

#include "strata/model/decoder/multi_token.h"
#include "strata/train/config/router_options.h"
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

void SourceLoss::add_losses(const SourceLoss& s) {
  nats += s.nats;
  further += s.further;
  accepted += s.accepted;
  batches += s.batches;
  load_balance += s.load_balance;
  mtp_loss += s.mtp_loss;
  z_loss += s.z_loss;
}

SourceLoss total(const std::vector<SourceLoss>& sources) {
  SourceLoss out{.source = "all"};
  for (const SourceLoss& s : sources) {
    out.add_losses(s);
    out.unigram_nats += s.unigram_nats;
    out.tokens += s.tokens;
    out.bytes += s.bytes;
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
  const data::SourceInfo& info = data.sources()[source];
  std::vector<std::int32_t> tokens(
      static_cast<std::size_t>(info.train_tokens > 0 ? info.train_tokens : info.tokens));
  data.copy(source, 0, tokens);
  Ngram out(data.tokenizer().vocab_size());
  out.add(tokens);
  return out;
}

Evaluator::Evaluator(const Config& config, model::ModelPtr model, data::Dataset data,
                     data::Dataset held_out)
    : most_batches_(config.eval_steps),
      apart_(!config.eval_files.empty()),
      data_(std::move(data)),
      held_out_(std::move(held_out)) {
  const StepOptions options = step_options(config, *model);
  const std::int64_t further = model::decoder::further_layers(*model),
                     layer = config.mtp_eval_target_module;
  if (options.routers || further > 0 || options.z_loss > 0)
    with_parts_ = make_evaluation(model, options);
  else
    function_ = make_eval(model);
  if (layer > 0 && layer <= further) acceptance_ = make_acceptance(std::move(model), layer);
}

std::int64_t Evaluator::batches(std::size_t source) const {
  const std::int64_t all = held_out_.eval_batches(source);
  return most_batches_ < 0 ? all : std::min(all, most_batches_);
}

void Evaluator::add_unigrams(std::size_t source, Ngram& to) const {
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(data_.sources()[source].train_tokens));
  data_.copy(source, 0, tokens);
  to.add_unigrams(tokens);
}

SourceLoss Evaluator::beginning(std::size_t source) const {
  SourceLoss out{.source = held_out_.sources()[source].name};
  Ngram counts(data_.tokenizer().vocab_size());
  for (std::size_t s = 0; s < data_.sources().size(); ++s)
    if (apart_ || s == source) add_unigrams(s, counts);
  for (std::int64_t i = 0; i < batches(source); ++i) {
    for_each_target(held_out_.eval_batch(source, i), [&](std::int32_t t) {
      ++out.tokens;
      out.bytes += static_cast<std::int64_t>(data_.tokenizer().bytes(t).size());
      out.unigram_nats += counts.unigram_nats(t);
    });
  }
  return out;
}

void Evaluator::add(const tree::Tree& params, const Batch& batch, SourceLoss& to) const {
  ++to.batches;
  if (with_parts_) {
    const Evaluation e = with_parts_(params, batch);
    to.nats += e.loss_sum.item<double>();
    if (e.routers) to.load_balance += e.routers->load_balance.item<double>();
    if (e.mtp_loss) to.mtp_loss += e.mtp_loss->item<double>();
    if (e.z_loss) to.z_loss += e.z_loss->item<double>();
  } else {
    to.nats += function_(params, batch).first.item<double>();
  }
  if (!acceptance_) return;
  const auto [accepted, further] = acceptance_(params, batch);
  to.accepted += accepted.item<double>();
  to.further += further.item<double>();
}

std::vector<SourceLoss> Evaluator::operator()(const tree::Tree& params, const OnBatch& on_batch) {
  if (beginnings_.empty()) {
    for (std::size_t s = 0; s < held_out_.sources().size(); ++s)
      beginnings_.push_back(beginning(s));
  }
  std::vector<SourceLoss> out;
  SourceLoss so_far{.source = "all"};
  for (std::size_t s = 0; s < beginnings_.size(); ++s) {
    if (beginnings_[s].tokens == 0) continue;
    out.push_back(beginnings_[s]);
    for (std::int64_t i = 0; i < batches(s); ++i) {
      const data::Batch batch = held_out_.eval_batch(s, i);
      SourceLoss one;
      one.tokens = batch.total_weights;
      add(params, to_batch(batch), one);
      out.back().add_losses(one);
      so_far.add_losses(one);
      so_far.tokens += one.tokens;
      if (on_batch) on_batch(so_far);
    }
  }
  return out;
}

}  // namespace strata::train
