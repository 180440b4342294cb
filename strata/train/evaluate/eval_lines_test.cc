#include "strata/train/evaluate/eval_lines.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace strata::train {
namespace {

// tools/goldens/maxtext_eval_lines.py: MaxText's own logger.
TEST(EvalLines, AreMaxTexts) {
  std::ifstream in(std::filesystem::path(__FILE__).parent_path() / "testdata/eval_lines.json");
  const auto golden = nlohmann::json::parse(in);
  for (const auto& c : golden["cases"]) {
    const EvalParts parts{c["experts"].get<int>() > 1, c["further"].get<int>() > 0};
    SourceLoss sums;
    std::vector<std::string> lines;
    double rates = 0;
    for (const auto& b : c["batches"]) {
      rates += b[4].get<double>();
      sums.nats += b[0].get<double>();
      sums.tokens += b[1].get<std::int64_t>();
      sums.load_balance += b[2].get<double>();
      sums.mtp_loss += b[3].get<double>();
      ++sums.batches;
      // MaxText takes the mean of batches' rates, which are of as many tokens each.
      sums.further = 100 * static_cast<double>(sums.batches);
      sums.accepted = rates;
      lines.push_back(eval_batch_line(sums.batches - 1, 0.25, sums, parts));
    }
    lines.push_back(eval_line(c["step"].get<std::int64_t>(), sums, parts));
    if (const double target = c["target"].get<double>(); target > 0 && sums.loss() <= target)
      lines.push_back(target_line(target));
    EXPECT_EQ(lines, c["lines"].get<std::vector<std::string>>());
  }
}

}  // namespace
}  // namespace strata::train
