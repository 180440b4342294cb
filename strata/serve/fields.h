// The fields of a request: those that are read, those that pass with a value that changes nothing,
// and the rest, which nobody knows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "strata/serve/json.h"

namespace strata::serve {

/// What becomes of a field: it is read; it says nothing about the answer (a user's name, say); or
/// it would change the answer in a way that is not built, and passes with a neutral value alone.
enum class FieldKind { read, aside, neutral };
struct Field {
  const char* name;
  FieldKind kind;
  /// For completions, for chats.
  bool completion = true, chat = true;
  /// JSON of further neutral values, beside null, false, "" and what is empty.
  const char* neutral = "[]";
};
/// All fields that are known, of OpenAI, of vLLM and of llama.cpp.
const std::vector<Field>& fields();

/// Throws ApiError (400) for a field that is not built and has another value than a neutral one.
void refuse_unbuilt(const Json& body, bool chat);
/// Names that are no known field of such a request, in the body's order: at most 16, and of each
/// what a header may hold.
std::vector<std::string> unknown_fields(const Json& body, bool chat);

}  // namespace strata::serve
