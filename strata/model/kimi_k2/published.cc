#include "strata/model/kimi_k2/published.h"

#include "strata/model/deepseek_v2/published.h"
#include "strata/model/deepseek_v3/published.h"

namespace strata::model::published {

namespace {

decoder::Options options(const Config& c) { return deepseek_v3_options(c, "kimi_k2"); }

/// Its files are those of DeepSeek V3, whose family reads them.
std::string from_gguf(const GgufMetadata& m) { return deepseek_config(m, "kimi_k2", "{}"); }

}  // namespace

Family kimi_k2() {
  return {"kimi_k2", "deepseek2",     "Kimi K2: DeepSeek V3 in other sizes",
          &options,  &deepseek_names, &from_gguf};
}

}  // namespace strata::model::published
