// Texts of models that may call tools: any bytes, in any pieces, give the same calls, which name
// tools that there are and have JSON objects as arguments; and no more content than text.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/check.h"
#include "strata/serve/call_syntax.h"

namespace strata::serve {
namespace {

struct Read {
  std::string content;
  std::vector<ToolCall> calls, built;
};

Read read(const CallFormat& format, std::string_view text, std::size_t piece) {
  ToolChoice choice{.kind = ToolChoice::Kind::automatic, .tools = {"f", "g"}};
  choice.parameters["f"] =
      Json::parse(R"({"properties": {"a": {"type": "string"}, "b": {"type": "integer"}}})");
  CallReader reader(format, choice, "id");
  Read out;
  for (std::size_t at = 0; at <= text.size(); at += piece) {
    const CallReader::Part part = reader.add(text.substr(at, piece), at + piece > text.size());
    out.content += part.content;
    out.calls.insert(out.calls.end(), part.calls.begin(), part.calls.end());
    for (const CallPiece& p : part.pieces) {
      if (p.index == out.built.size()) out.built.push_back({p.id, p.name, ""});
      STRATA_CHECK(p.index < out.built.size(), "pieces of calls come in order");
      out.built[p.index].arguments += p.arguments;
    }
  }
  return out;
}

void look_at(const Read& read, const CallFormat& format, std::size_t size) {
  STRATA_CHECK(read.content.size() <= size, "content is of the text");
  STRATA_CHECK(read.calls.size() == read.built.size(), "what streams is told of is there");
  for (std::size_t i = 0; i < read.calls.size(); ++i) {
    const ToolCall &call = read.calls[i], &built = read.built[i];
    STRATA_CHECK(call.name == "f" || call.name == "g", "a tool");
    STRATA_CHECK(call.name == built.name && call.arguments == built.arguments, "the same pieces");
    if (format.kind != CallFormat::Kind::json)
      STRATA_CHECK(Json::parse(call.arguments, nullptr, false).is_object(), "an object");
  }
}

}  // namespace
}  // namespace strata::serve

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace strata::serve;
  if (size < 2) return 0;
  const std::vector<std::string> names = call_format_names();
  const CallFormat format = *named_call_format(names[data[0] % names.size()]);
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  const Read whole = read(format, text, text.size() + 1),
             pieces = read(format, text, 1 + data[1] % 9);
  look_at(whole, format, text.size());
  look_at(pieces, format, text.size());
  STRATA_CHECK(whole.content == pieces.content && whole.calls.size() == pieces.calls.size(),
               "every split gives the same");
  for (std::size_t i = 0; i < whole.calls.size(); ++i)
    STRATA_CHECK(whole.calls[i].arguments == pieces.calls[i].arguments, "every split");
  return 0;
}
