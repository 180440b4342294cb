// Chapter 26: makes deeper models and models of experts of a dense one, and asks whether they
// compute the same. tutorial/26_from_dense_to_experts.md walks through it.
#include <strata/strata.h>
#include <unistd.h>

#include <filesystem>
#include <iostream>

#include "strata/model/surgery/surgery.h"

using namespace strata;

namespace {

// What was made, and what both models say to the same random prompts.
int tell(const std::string& what, const std::string& from, const std::string& to,
         const Result<model::Surgery>& done) {
  if (!done) {
    std::cerr << done.status().message() << "\n";
    return 1;
  }
  auto seen = model::compare(from, to);
  if (!seen) {
    std::cerr << seen.status().message() << "\n";
    return 1;
  }
  std::cout << what << ": " << done->layers_before << " -> " << done->layers_after << " layers, "
            << done->weights_before << " -> " << done->weights_after << " weights, "
            << (seen->relative < 1e-5 ? "the same logits" : "other logits") << "\n";
  return done->same_function == (seen->relative < 1e-5) ? 0 : 1;
}

}  // namespace

int main() {
  // A tiny dense Llama: three layers, feed-forward branches of width 24.
  const std::string dense = "strata/model/testdata/published/llama";
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("tutorial-26-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const std::string deeper = folder / "deeper", grown = folder / "grown",
                    experts = folder / "experts", other = folder / "other";

  // Layers 0, 1, 1 and 2: the copy changes the function. One that adds zero does not.
  int wrong = tell("repeated", dense, deeper, model::upscale(dense, deeper, {.to_layers = 4}));
  wrong += tell("repeated as zero", dense, grown,
                model::upscale(dense, grown, {.layers = "0-1,1,2", .zero_repeats = true}));

  // Eight experts of a quarter of the width, four of which a token goes through.
  wrong += tell("experts", dense, experts,
                model::upcycle(dense, experts, {.experts = 8, .active = 4, .granularity = 4}));

  // Three active ones are no whole group of four quarters.
  auto uneven = model::upcycle(dense, other, {.experts = 8, .active = 3, .granularity = 4});
  wrong += tell("uneven experts", dense, other, uneven);
  std::cout << uneven->preserves << "\n";

  // A width that does not divide.
  try {
    (void)model::upcycle(dense, folder / "refused", {.granularity = 7});
  } catch (const Error& e) {
    std::cout << e.what() << "\n";
  }
  std::filesystem::remove_all(folder);
  return wrong;
}
