// Bodies of requests: any bytes are read, or refused with a status of the client's mistakes; what
// was read lies in its range, and reads again from what it is written as.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "strata/base/check.h"
#include "strata/serve/json.h"
#include "strata/serve/parameters.h"

namespace strata::serve {
namespace {

constexpr std::int64_t kVocabulary = 100, kLogprobs = 20;

void look_at(const Parameters& p) {
  const engine::Sampling& s = p.job.sampling;
  STRATA_CHECK(s.temperature >= 0 && s.temperature <= 2, "temperature");
  STRATA_CHECK(s.top_p > 0 && s.top_p <= 1 && s.min_p >= 0 && s.min_p <= 1, "shares");
  STRATA_CHECK(s.top_k >= 0 && std::isfinite(s.repetition_penalty), "top_k and penalties");
  STRATA_CHECK(p.n >= 1 && p.n <= 64 && p.job.max_tokens >= 1 && s.min_tokens >= 0, "counts");
  STRATA_CHECK(p.best_of >= p.n && p.best_of <= 64 && p.thinking.value_or(0) >= 0, "counts");
  STRATA_CHECK(p.job.prompt_logprobs.value_or(0) <= kLogprobs, "prompt_logprobs");
  STRATA_CHECK(p.truncate.value_or(1) == -1 || p.truncate.value_or(1) > 0, "truncation");
  STRATA_CHECK(p.job.logprobs.value_or(0) <= kLogprobs, "logprobs");
  for (const auto& stop : p.job.stop) STRATA_CHECK(!stop.empty() && stop.size() <= 256, "stop");
  for (const auto& [token, bias] : s.logit_bias)
    STRATA_CHECK(token >= 0 && token < kVocabulary && std::abs(bias) <= 100, "logit_bias");
  for (const std::int32_t t : s.allowed_tokens.value_or(std::vector<std::int32_t>()))
    STRATA_CHECK(t >= 0 && t < kVocabulary, "allowed tokens");
}

}  // namespace
}  // namespace strata::serve

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace strata::serve;
  try {
    const Json body = parse_object({reinterpret_cast<const char*>(data), size});
    STRATA_CHECK(parse_object(dump(body)) == body, "what is written reads as the same");
    for (const bool chat : {false, true}) {
      try {
        look_at(read_parameters(body, chat, {}, kVocabulary, kLogprobs));
      } catch (const ApiError& e) {
        STRATA_CHECK(e.status == 400 && !e.message.empty(), "a mistake of the client's");
      }
    }
  } catch (const ApiError& e) {
    STRATA_CHECK(e.status == 400 && !e.message.empty(), "a mistake of the client's");
  }
  return 0;
}
