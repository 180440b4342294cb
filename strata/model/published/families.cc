// The list of published families; a new one adds its line.
#include <algorithm>

#include "strata/model/bert/published.h"
#include "strata/model/deepseek_v2/published.h"
#include "strata/model/deepseek_v3/published.h"
#include "strata/model/gemma/published.h"
#include "strata/model/gemma2/published.h"
#include "strata/model/gemma3/published.h"
#include "strata/model/gemma4/published.h"
#include "strata/model/gpt2/published.h"
#include "strata/model/gpt_oss/published.h"
#include "strata/model/kimi_k2/published.h"
#include "strata/model/llama/published.h"
#include "strata/model/llama4/published.h"
#include "strata/model/mistral/published.h"
#include "strata/model/mixtral/published.h"
#include "strata/model/olmo2/published.h"
#include "strata/model/olmo3/published.h"
#include "strata/model/phi3/published.h"
#include "strata/model/qwen2/published.h"
#include "strata/model/qwen2_moe/published.h"
#include "strata/model/qwen3/published.h"
#include "strata/model/qwen3_5/published.h"
#include "strata/model/qwen3_moe/published.h"
#include "strata/model/qwen3_next/published.h"
#include "strata/model/smollm3/published.h"

namespace strata::model::published {

namespace {

std::vector<Family> make_families() {
  std::vector<Family> out = {bert(),    deepseek_v2(), deepseek_v3(), gemma(),      gemma2(),
                             gemma3(),  gemma4(),      gpt2(),        gpt_oss(),    kimi_k2(),
                             llama(),   llama4(),      mistral(),     mixtral(),    olmo2(),
                             olmo3(),   phi3(),        qwen2(),       qwen2_moe(),  qwen3(),
                             qwen3_5(), qwen3_5_moe(), qwen3_moe(),   qwen3_next(), smollm3()};
  std::sort(out.begin(), out.end(),
            [](const Family& a, const Family& b) { return a.model_type < b.model_type; });
  return out;
}

}  // namespace

std::span<const Family> families() {
  static const std::vector<Family> all = make_families();
  return all;
}

}  // namespace strata::model::published
