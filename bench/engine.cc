// What the decoding engine draws in a second: requests of a model with SmolLM2-135M's shape (30
// layers, width 576) and weights at random, by how many run at once and how long their prompts are.
//
//   build/bin/engine [LAYERS]
#include "strata/engine/engine.h"

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>

#include "strata/api/random.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/model/llama/family.h"

namespace {
using namespace strata;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
}  // namespace

int main(int argc, char** argv) {
  compile::register_cpu();
  const model::ModelPtr model =
      llama::model({.vocab_size = 49152,
                    .base_emb_dim = 576,
                    .base_num_decoder_layers = argc > 1 ? std::atoi(argv[1]) : 30,
                    .base_num_query_heads = 9,
                    .base_num_kv_heads = 3,
                    .head_dim = 64,
                    .base_mlp_dim = 1536});
  const tree::Tree params = model->init(random::key(0));
  constexpr std::int64_t kDrawn = 32;
  for (const std::int64_t batch : {1, 4, 16}) {
    engine::Engine engine(model, params, {.pages = 1200, .max_batch = batch, .max_length = 1200});
    engine.warm_up(batch);
    for (const std::size_t length : {16u, 512u}) {
      double first = 0;
      const double start = now();
      for (std::int64_t b = 0; b < batch; ++b) {
        // Prompts begin differently, so that none is found in the cache.
        engine::Request request{.tokens = std::vector<std::int32_t>(length, 5),
                                .sampling = {.temperature = 1, .seed = 1},
                                .max_tokens = kDrawn};
        request.tokens[0] =
            static_cast<std::int32_t>(100 * length + static_cast<std::size_t>(b)) % 49152;
        if (b + 1 == batch)
          request.on_token = [&](const engine::Token& t) {
            if (t.position == 0) first = now();
          };
        engine.submit(std::move(request));
      }
      while (engine.step()) {
      }
      const double read = first - start, drawn = now() - first;
      std::cout << batch << " requests of " << length << " tokens: read in " << read << " s ("
                << static_cast<double>(batch) * static_cast<double>(length) / read
                << " tokens/s), then " << static_cast<double>(batch * (kDrawn - 1)) / drawn
                << " tokens/s drawn\n";
    }
  }
}
