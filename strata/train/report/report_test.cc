#include "strata/train/report/report.h"

#include <gtest/gtest.h>

namespace strata::train {
namespace {

const StepReport kReport{.step = 12,
                         .steps = 112,
                         .loss = 4.321f,
                         .seconds = 0.4,
                         .flops = 84e9,
                         .total_weights = 2048,
                         .seconds_per_step = 0.5,
                         .mix = {{"kjv", 0.25}, {"python", 0.75}}};

TEST(Report, TheLineIsMaxTexts) {
  EXPECT_EQ(log_line(kReport),
            "completed step: 12, seconds: 0.400, TFLOP/s/device: 0.210, Tokens/s/device: 5120.000, "
            "total_weights: 2048, loss: 4.321, "
            "lm_loss: 4.321, perplexity: 75.264");
}

TEST(Report, LossesThatAreAddedStandBehindIt) {
  StepReport r = kReport;
  r.routers = RouterFigures{.load_balance = 0.010123, .router_z = 0.2};
  r.mtp_loss = 0.1;
  EXPECT_EQ(log_line(r),
            "completed step: 12, seconds: 0.400, TFLOP/s/device: 0.210, Tokens/s/device: 5120.000, "
            "total_weights: 2048, loss: 4.631, lm_loss: 4.321, perplexity: 75.264, moe_lb_loss: "
            "0.010123, main_model_loss: 4.531, mtp_loss: 0.100");
}

TEST(Report, GoodputStandsByItselfAndWithMfu) {
  StepReport r = kReport;
  r.goodput = 0.97312;
  EXPECT_EQ(goodput_line(r), "goodput: 0.973");
  r.device_tflops = 0.42;
  EXPECT_EQ(goodput_line(r), "goodput: 0.973, mfu: 0.500");
}

TEST(Report, TheLiveLineSaysWhatAPersonWants) {
  EXPECT_EQ(progress_line(kReport),
            "step 12/112 | loss 4.3210 | 4096 tokens/s | 0.17 TFLOP/s | kjv 25 % python 75 % | "
            "0:50 left");
  StepReport first = kReport;
  first.seconds_per_step = 0;
  first.mix.resize(1);
  EXPECT_EQ(progress_line(first), "step 12/112 | loss 4.3210 | ? left");
}

}  // namespace
}  // namespace strata::train
