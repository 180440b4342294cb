// libFuzzer target: any bytes are read as a tokenizer.json, as a chat template, as a conversation,
// as tokenizer_config.json and as parts of a GGUF's vocabulary; what is read encodes and decodes
// the bytes, and renders. A byte in front chooses, so that each kind is reached.
//
//   tools/fuzz.sh strata/tokenizer/tokenizer_fuzz.cc strata/tokenizer/testdata
//   -max_total_time=60
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "strata/base/error.h"
#include "strata/tokenizer/chat_template/chat_template.h"
#include "strata/tokenizer/gguf.h"
#include "strata/tokenizer/huggingface.h"
#include "strata/tokenizer/utf8.h"

namespace {

using namespace strata::tokenizer;

void use(const Tokenizer& t, const std::string& text) {
  try {
    const std::string some = text.substr(0, 2000);
    const auto tokens = t.encode_with(some, {.add_special = true});
    DecodeStream stream(t);
    for (std::int32_t token : tokens) {
      if (token < 0) std::abort();
      if (token >= t.vocab_size()) return;  // a post-processor may name what the vocabulary lacks
    }
    if (first_invalid(t.decode_with(tokens, true)) != std::string::npos) std::abort();
    for (std::size_t i = 0; i < tokens.size() && i < 50; ++i) (void)stream.step(tokens[i]);
    if (first_invalid(some) != std::string::npos) return;
    const std::vector<Span> all = {{0, some.size()}};
    for (std::int32_t token :
         t.encode_with(some, {.literal = some.empty() ? std::span<const Span>() : all})) {
      const auto unknown = t.special_id("unk_token");
      if (t.is_special(token) && t.token_of(token) == some && token != unknown && some.size() > 1 &&
          some.front() == '<' && some.find("unk") == some.npos)
        std::abort();  // what users typed became a special token
    }
  } catch (const strata::Error&) {
  }
}

void as_json(const std::string& bytes) {
  (void)read_special_tokens(bytes, "fuzz");
  auto t = make_huggingface(bytes, "fuzz");
  if (t) use(**t, bytes);
}

void as_template(const std::string& bytes) {
  auto t = ChatTemplate::parse(bytes);
  if (!t) return;
  static const auto messages = nlohmann::ordered_json::parse(
      R"([{"role": "system", "content": "s"}, {"role": "user", "content": [{"type": "text", "text": "é<|x|>"}]},
          {"role": "assistant", "content": null, "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1.5}}}]}])");
  auto out = t->apply(messages, {.add_generation_prompt = true}, {{"tools", messages}});
  if (!out) return;
  std::size_t last = 0;
  for (const Span& s : out->input) {
    if (s.begin < last || s.end <= s.begin || s.end > out->text.size()) std::abort();
    last = s.end;
  }
  if (first_invalid(out->text) != std::string::npos) std::abort();
}

void as_messages(const std::string& bytes) {
  static const auto t = *ChatTemplate::parse(
      "{% for m in messages %}{{ m.role }}{{ m.content | trim | tojson }}{{ m }}{{ m | dictsort | "
      "list }}"
      "{{ m.content | upper | replace('A', m.role) }}{{ (m.content ~ '')[::-2] }}{% endfor %}");
  const auto messages = nlohmann::ordered_json::parse(bytes, nullptr, false);
  if (messages.is_discarded()) return;
  (void)t.apply(messages);
  (void)t.apply(messages, {.continue_final_message = true});
}

void as_gguf(const std::string& bytes) {
  GgufVocabulary v;
  static const char* kModels[] = {"gpt2", "llama", "t5", "bert"};
  v.model = kModels[bytes.empty() ? 0 : static_cast<unsigned char>(bytes[0]) % 4];
  v.pre = "llama-bpe";
  std::string word;
  for (char c : bytes) {
    if (c != '\n') {
      word += c;
      continue;
    }
    word.find(' ') != word.npos&& v.model == "gpt2" ? v.merges.push_back(word)
                                                    : v.tokens.push_back(word);
    v.types.resize(v.tokens.size(), static_cast<std::int32_t>(1 + word.size() % 6));
    word.clear();
  }
  v.scores.resize(v.tokens.size(), -1.0f);
  if (!v.tokens.empty()) v.unknown = 0, v.bos = 0, v.eos = 0;
  v.precompiled_charsmap = v.model == "t5" ? word : "";
  auto t = make_gguf(v, "fuzz");
  if (t) use(**t, bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string whole(reinterpret_cast<const char*>(data), size), rest = whole.substr(1);
  if (whole[0] == '{') return as_json(whole), 0;  // seeds are whole files
  switch (data[0] % 4) {
    case 0: as_template(rest); break;
    case 1: as_messages(rest); break;
    case 2: as_gguf(rest); break;
    default: as_json(rest);
  }
  return 0;
}
