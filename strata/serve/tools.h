// Tools in chats: how a model's template writes calls, what grammar keeps a model to them, and the
// calls in what it wrote.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "strata/engine/grammar/grammar.h"
#include "strata/engine/language_model.h"
#include "strata/serve/calls.h"
#include "strata/serve/json.h"
#include "strata/serve/structured.h"

namespace strata::serve {

/// As the model's chat template writes calls.
CallFormat call_format(const engine::LanguageModel& lm);
/// By the name of one of vLLM's parsers (`--tool-call-parser`); none: there is no such name here.
std::optional<CallFormat> named_call_format(std::string_view name);
/// Those names.
std::vector<std::string> call_format_names();

/// Of a chat's `tools`, `tool_choice` and `parallel_tool_calls`. Throws ApiError (400).
ToolChoice read_tools(const Json& body);
/// The form of answers that must be calls: of the named tool, or of any.
Form form_of_calls(const Json& body, const ToolChoice& choice, const CallFormat& format);

/// The form of answers that may call tools: any text, but what begins as a call does is one, with
/// arguments of the tool's schema. Where a schema cannot be followed arguments are any object,
/// unless the function is `strict`.
Form form_of_text_with_calls(const Json& body, const ToolChoice& choice, const CallFormat& format);

class CallSyntax;

/// Takes calls out of a text that comes piece by piece. Before the first call, text is content;
/// what begins as calls do and is none, is content too. Calls are told when they are whole, but
/// those that a grammar makes sure of and tagged ones as they come. In time linear in the text.
class CallReader {
 public:
  CallReader(CallFormat format, ToolChoice choice, std::string id);
  CallReader(CallReader&&) noexcept;
  CallReader& operator=(CallReader&&) noexcept;
  ~CallReader();
  using Part = CallPart;
  Part add(std::string_view text, bool is_end);
  std::size_t calls() const;

 private:
  std::unique_ptr<CallSyntax> syntax_;
};

/// Arguments of calls in earlier messages, which clients send as text, as the objects that
/// templates want. Throws ApiError (400) for a call without a name.
void prepare_calls(Json& message);

}  // namespace strata::serve
