// What a run says while it goes on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "strata/train/step/routers.h"

namespace strata::train {

struct StepReport {
  std::int64_t step = 0, steps = 0;
  float loss = 0;                 // of the targets alone
  double seconds = 0, flops = 0;  // of this step, on all devices
  double devices = 1;
  double total_weights = 0;     // targets that count
  double seconds_per_step = 0;  // of late steps; 0 while that is not known
  /// The share of the run's time so far that went into steps other than the first, which compiles.
  double goodput = 0;
  double device_tflops = 0;  // what the device can do; 0 while that is not known
  /// Each source's part of what was read so far, 0 to 1.
  std::vector<std::pair<std::string, double>> mix = {};
  /// Of a model with experts.
  std::optional<RouterFigures> routers = std::nullopt;
  /// Of a model that predicts further tokens, times its factor.
  std::optional<double> mtp_loss = std::nullopt;

  /// What is minimised: the loss and those of routers and further tokens.
  double total_loss() const {
    return (routers ? loss + routers->load_balance + routers->router_z : loss) +
           mtp_loss.value_or(0);
  }
};

/// MaxText's line, for logs and the programs that read them:
/// "completed step: 12, seconds: 0.123, TFLOP/s/device: 0.210, Tokens/s/device: 5120.000,
/// total_weights: 2048, loss: 4.321, lm_loss: 4.321, perplexity: 75.264" (one line), with experts
/// ", moe_lb_loss: 0.010123" at the end, with further tokens ", main_model_loss: 4.221, mtp_loss:
/// 0.100" behind that. Source: MaxText's metric_logger.py.
std::string log_line(const StepReport& r);

/// The line behind it: "goodput: 0.973, mfu: 0.412"; without mfu where the device is not known.
/// MFU is the step's FLOP/s over the device's. Source: Chowdhery et al., PaLM (2022), appendix B.
std::string goodput_line(const StepReport& r);

/// The line behind that, of a model with experts: "experts: largest load 1.31, idle 0.0 %, entropy
/// 0.994, dropped 0.0 %" (RouterFigures), with router_z_loss where it is minimised.
std::string experts_line(const RouterFigures& figures);

/// The same for a person: "step 120/1500 | loss 3.2141 | 8120 tokens/s | 0.41 TFLOP/s | kjv 33 %
/// python 67 % | 3:12 left".
std::string progress_line(const StepReport& r);

}  // namespace strata::train
