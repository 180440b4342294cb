#include "strata/train/evaluate/eval_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace strata::train {
namespace {

/// The mean over batches of what each of them came to.
double mean(double sum, const SourceLoss& s) {
  return sum / static_cast<double>(std::max<std::int64_t>(s.batches, 1));
}

}  // namespace

std::string eval_batch_line(std::int64_t batch, double seconds, const SourceLoss& so_far,
                            const EvalParts& parts) {
  std::string out = fmt::format(
      "Completed eval step: {}, seconds: {:.3f}, running loss={:.3f}, running perplexity={:.3f}, "
      "running total_weights={:.1f}",
      batch, seconds, so_far.loss(), std::exp(so_far.loss()), static_cast<double>(so_far.tokens));
  if (parts.further_tokens)
    out += fmt::format(", running mtp_loss={:.3f}, running mtp_acceptance_rate={:.2f}%",
                       mean(so_far.mtp_loss, so_far), so_far.acceptance_rate());
  return out;
}

std::string eval_line(std::int64_t step, const SourceLoss& all, const EvalParts& parts) {
  std::string out = fmt::format(
      "Completed eval after train step {}, loss={:.3f}, perplexity={:.3f}, total_weights={:.1f}, "
      "avg_z_loss={:.3f}",
      step, all.loss(), std::exp(all.loss()), static_cast<double>(all.tokens),
      mean(all.z_loss, all));
  if (parts.experts) out += fmt::format(", avg_moe_lb_loss={:.3f}", mean(all.load_balance, all));
  if (parts.further_tokens)
    out += fmt::format(", avg_mtp_loss={:.3f}, avg_mtp_acceptance_rate={:.2f}%",
                       mean(all.mtp_loss, all), all.acceptance_rate());
  return out;
}

std::string target_line(double target) {
  std::string number = fmt::format("{}", target);
  if (number.find_first_of(".e") == std::string::npos) number += ".0";
  return fmt::format("Training stopped: Target loss self.config.target_eval_loss={} is achieved.",
                     number);
}

}  // namespace strata::train
