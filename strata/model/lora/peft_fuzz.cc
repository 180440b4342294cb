// libFuzzer target: any bytes are read as an adapter_config.json; what is taken has ranks and
// factors within their bounds.
//
//   tools/fuzz.sh strata/model/lora/peft_fuzz.cc strata/model/testdata/peft -max_total_time=60
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "strata/base/error.h"
#include "strata/model/lora/peft.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  try {
    const auto config = strata::model::lora::PeftConfig::parse(bytes);
    for (const char* name : {"model.layers.0.self_attn.q_proj", "lm_head", ""}) {
      const auto adapter = config.of(name);
      if (adapter.rank < 1 || !std::isfinite(adapter.scale())) std::abort();
    }
  } catch (const strata::Error&) {
  }
  return 0;
}
