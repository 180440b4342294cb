// Tools in chats: how a model's template writes calls, what grammar keeps a model to them, and the
// calls in what it wrote.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "strata/engine/grammar/grammar.h"
#include "strata/engine/language_model.h"
#include "strata/serve/json.h"
#include "strata/serve/structured.h"

namespace strata::serve {

/// How calls are written. `json`: objects {"name": ..., "arguments": {...}}, with what stands
/// around. `tagged`: a name in a tag, and each argument in tags, or all of them as JSON.
/// `pythonic`: a list of Python's calls, which is the whole answer.
///
/// Found by rendering conversations with calls through the model's own chat template, so that no
/// model's name is known here. Hermes and Qwen have begin = "<tool_call>\n", between =
/// "\n</tool_call>\n<tool_call>\n", end = "\n</tool_call>"; Llama 3 has nothing around and
/// "parameters"; Mistral a list of calls behind "[TOOL_CALLS]".
struct CallFormat {
  enum class Kind { json, tagged, pythonic };
  /// What stands around the parts of a tagged call. Spaces in it stand for any, and for none.
  struct Tags {
    std::string before_name, after_name, before_key, after_key, after_value, end;
    /// Behind the name comes one JSON object in place of keys and values.
    bool json_arguments = false;
  };
  std::string begin, between, end;
  std::string arguments = "arguments";
  /// Whether one answer may have several calls.
  bool several = false;
  /// Whether the template writes calls at all; where not, calls are written as Hermes does.
  bool known = false;
  /// Whether a grammar makes sure that what begins as a call is one: it is told as it comes.
  bool sure = false;
  Kind kind = Kind::json;
  Tags tags = {};
  /// The mark with which calls begin, of any kind.
  const std::string& mark() const { return kind == Kind::tagged ? tags.before_name : begin; }
};
/// As the model's chat template writes calls.
CallFormat call_format(const engine::LanguageModel& lm);
/// By the name of one of vLLM's parsers (`--tool-call-parser`); none: there is no such name here.
std::optional<CallFormat> named_call_format(std::string_view name);
/// Those names.
std::vector<std::string> call_format_names();

/// A call in an answer; `arguments` are the characters that the model wrote.
struct ToolCall {
  std::string id, name, arguments;
};

/// What a stream tells of a call: its number; with its first piece its id and name; and the next
/// characters of its arguments.
struct CallPiece {
  std::size_t index;
  std::string id, name, arguments;
};

struct ToolChoice {
  enum class Kind { none, automatic, required, named };
  Kind kind = Kind::none;
  std::string name;  // of `named`
  /// Names of all tools, and the schemas of their parameters where they have any.
  std::vector<std::string> tools = {};
  std::map<std::string, Json> parameters = {};
  bool parallel = true;
};
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
  struct Part {
    std::string content = {};
    std::vector<ToolCall> calls = {};    // whole ones, and at the end one that was cut off
    std::vector<CallPiece> pieces = {};  // the same for streams
  };
  Part add(std::string_view text, bool is_end);
  std::size_t calls() const;

 private:
  std::unique_ptr<CallSyntax> syntax_;
};

/// Arguments of calls in earlier messages, which clients send as text, as the objects that
/// templates want. Throws ApiError (400) for a call without a name.
void prepare_calls(Json& message);

}  // namespace strata::serve
