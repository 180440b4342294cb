// How fast the decoding engine reads a prompt and draws tokens of a published model; a line of JSON
// for each round, to alternate with a peer (bench/beside_llama_cpp.py).
//
//   decode-speed MODEL [float|int8] [PROMPT] [DRAWN]    rounds as lines come in on stdin
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <string>
#include <string_view>

#include "strata/compile/cpu/cpu_client.h"
#include "strata/engine/engine.h"
#include "strata/engine/text.h"

namespace {
/// Of the clock, and of this process's threads together.
struct Seconds {
  double wall, cpu;
};
Seconds now() {
  return {
      std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(),
      static_cast<double>(std::clock()) / CLOCKS_PER_SEC};
}
}  // namespace

int main(int argc, char** argv) {
  using namespace strata;
  if (argc < 2) {
    std::cerr << "decode-speed MODEL [float|int8] [PROMPT] [DRAWN]\n";
    return 2;
  }
  compile::register_cpu();
  const bool int8 = argc > 2 && std::string_view(argv[2]) == "int8";
  const std::int64_t prompt = argc > 3 ? std::atoll(argv[3]) : 512,
                     drawn = argc > 4 ? std::atoll(argv[4]) : 64;
  auto lm = engine::load_language_model(argv[1], {.int8_activations = int8});
  if (!lm) {
    std::cerr << lm.status().message() << "\n";
    return 4;
  }
  engine::Options options = engine::options_for(*lm, prompt + drawn + 16);
  engine::Engine engine(lm->model, lm->params, options);
  engine.warm_up(1);
  std::int32_t round = 0;
  for (std::string line; std::getline(std::cin, line); ++round) {
    // Prompts begin differently, so that none is found in the cache.
    engine::Request request{.tokens = {}, .sampling = {.temperature = 0}, .max_tokens = drawn + 1};
    for (std::int64_t i = 0; i < prompt; ++i)
      request.tokens.push_back(static_cast<std::int32_t>(100 + (i * 31 + round) % 4000));
    Seconds first{}, last{};
    request.on_token = [&](const engine::Token& t) {
      last = now();
      if (t.position == 0) first = last;
    };
    const Seconds start = now();
    engine.submit(std::move(request));
    while (engine.step()) {
    }
    const auto per_token = static_cast<double>(drawn);
    std::cout
        << fmt::format(
               "{{\"prefill_s\":{:.6f},\"token_s\":{:.6f},\"prefill_cpu_s\":{:.6f},\"token_cpu_s\":"
               "{:.6f}}}",
               first.wall - start.wall, (last.wall - first.wall) / per_token, first.cpu - start.cpu,
               (last.cpu - first.cpu) / per_token)
        << std::endl;
  }
}
