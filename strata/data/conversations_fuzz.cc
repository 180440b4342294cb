// libFuzzer target: any bytes are read as conversations in both forms; what is read is rendered by
// a template and becomes tokens, of which as many flags say whether they are learned.
//
//   tools/fuzz.sh strata/data/conversations_fuzz.cc strata/train/testdata/tuning -max_total_time=60
#include <cstdint>
#include <cstdlib>
#include <string>

#include "strata/data/chat_tokens.h"
#include "strata/data/conversations.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace strata;
  using namespace strata::data;
  static const auto chat = tokenizer::ChatTemplate::parse(
      "{% for m in messages %}{{ m.role + ':' + (m.content or '') + ';' }}{% endfor %}"
      "{% if add_generation_prompt %}assistant:{% endif %}");
  static const auto tokenizer = std::make_shared<tokenizer::ByteTokenizer>();
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  for (const char* columns : {"messages", "prompt,completion"}) {
    auto all = conversations_of(bytes, "fuzz.jsonl", columns);
    if (!all) continue;
    for (const Conversation& c : *all) {
      auto e = example_of(c, {.tokenizer = tokenizer, .chat_template = &*chat});
      if (e && e->tokens.size() != e->learned.size()) std::abort();
    }
  }
  return 0;
}
