#include "strata/train/report/report.h"

#include <fmt/format.h>

#include <cmath>

#include "strata/base/text.h"

namespace strata::train {

std::string log_line(const StepReport& r) {
  std::string out = fmt::format(
      "completed step: {}, seconds: {:.3f}, TFLOP/s/device: {:.3f}, Tokens/s/device: {:.3f}, "
      "total_weights: {:.0f}, loss: {:.3f}, lm_loss: "
      "{:.3f}, perplexity: {:.3f}",
      r.step, r.seconds, r.flops / r.seconds / r.devices * 1e-12,
      r.total_weights / r.seconds / r.devices, r.total_weights, r.total_loss(), r.loss,
      std::exp(r.loss));
  if (r.routers) out += fmt::format(", moe_lb_loss: {:.6f}", r.routers->load_balance);
  if (r.mtp_loss)
    out += fmt::format(", main_model_loss: {:.3f}, mtp_loss: {:.3f}", r.total_loss() - *r.mtp_loss,
                       *r.mtp_loss);
  return out;
}

std::string experts_line(const RouterFigures& f) {
  std::string out =
      fmt::format("experts: largest load {:.2f}, idle {:.1f} %, entropy {:.3f}, dropped {:.1f} %",
                  f.largest_load, 100 * f.idle, f.entropy, 100 * f.dropped);
  if (f.router_z != 0) out += fmt::format(", router_z_loss {:.6f}", f.router_z);
  return out;
}

std::string goodput_line(const StepReport& r) {
  std::string out = fmt::format("goodput: {:.3f}", r.goodput);
  if (r.device_tflops > 0)
    out += fmt::format(", mfu: {:.3f}", r.flops / r.seconds / r.devices * 1e-12 / r.device_tflops);
  return out;
}

std::string progress_line(const StepReport& r) {
  std::string out = fmt::format("step {}/{} | loss {:.4f}", r.step, r.steps, r.loss);
  const bool known = r.seconds_per_step > 0;
  if (known)
    out += fmt::format(" | {:.0f} tokens/s | {:.2f} TFLOP/s", r.total_weights / r.seconds_per_step,
                       r.flops / r.seconds_per_step * 1e-12);
  // One source is no mix.
  std::string mix;
  for (const auto& [source, part] : r.mix)
    mix += fmt::format("{}{} {:.0f} %", mix.empty() ? " | " : " ", source, 100 * part);
  if (r.mix.size() > 1) out += mix;
  return out + fmt::format(" | {} left", known ? human_time(r.seconds_per_step *
                                                            static_cast<double>(r.steps - r.step))
                                               : "?");
}

}  // namespace strata::train
