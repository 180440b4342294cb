// A template out of any bytes: parsed and run within its limits, never a crash.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "strata/tokenizer/chat_template/chat_template.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto messages = nlohmann::ordered_json::parse(
      R"([{"role": "user", "content": "Hi <b> é"}, {"role": "assistant", "content": ["x", 1.5, null]}])");
  const auto parsed = strata::tokenizer::ChatTemplate::parse(
      std::string_view(reinterpret_cast<const char*>(data), size));
  if (parsed) (void)parsed->apply(messages, {.add_generation_prompt = true});
  return 0;
}
