// A model small enough that tests run whole schedules of it, and what tests do with engines.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "strata/api/random.h"
#include "strata/engine/engine.h"
#include "strata/model/llama/family.h"

namespace strata::engine::testing {

inline constexpr std::int64_t kVocabulary = 61;

inline model::ModelPtr small_model(std::int64_t layers = 2) {
  return llama::model({.vocab_size = kVocabulary,
                       .base_emb_dim = 16,
                       .base_num_decoder_layers = layers,
                       .base_num_query_heads = 4,
                       .base_num_kv_heads = 2,
                       .head_dim = 6,
                       .base_mlp_dim = 20});
}

/// Weights large enough that the likeliest token changes from place to place.
inline tree::Tree weights(const model::Model& model, std::uint64_t seed = 11) {
  return model.init(random::key(seed)).map([](const Array& w) { return w * 1.8f; });
}

inline std::vector<std::int32_t> prompt(unsigned seed, std::size_t length, unsigned tokens = 50) {
  std::mt19937 random(seed);
  std::vector<std::int32_t> out;
  for (std::size_t i = 0; i < length; ++i)
    out.push_back(static_cast<std::int32_t>(random() % tokens));
  return out;
}

/// What became of requests that are submitted at once.
inline std::vector<Output> outputs(Engine& engine, const std::vector<Request>& all) {
  std::vector<Id> ids;
  for (const Request& r : all) ids.push_back(engine.submit(r));
  while (engine.step()) engine.check();
  std::vector<Output> out;
  for (Id id : ids) out.push_back(engine.take(id));
  return out;
}

}  // namespace strata::engine::testing
