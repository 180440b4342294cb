// Calls of tools: how they are written, which may come, and what is told of one.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "strata/serve/json.h"

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

/// What a piece of a text told.
struct CallPart {
  std::string content = {};
  std::vector<ToolCall> calls = {};    // whole ones, and at the end one that was cut off
  std::vector<CallPiece> pieces = {};  // the same for streams
};

}  // namespace strata::serve
