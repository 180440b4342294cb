#include "strata/serve/structured.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "strata/base/error.h"
#include "strata/engine/grammar/ebnf.h"
#include "strata/engine/grammar/json_schema.h"
#include "strata/engine/grammar/lark.h"
#include "strata/engine/grammar/regex.h"
#include "strata/serve/structural_tag.h"

namespace strata::serve {
namespace {

using engine::grammar::Grammar;
using engine::grammar::JsonStyle;

constexpr std::size_t kMostChoices = 1024;

const Json* given(const Json& body, const char* field) {
  const auto found = body.find(field);
  return found == body.end() || found->is_null() ? nullptr : &*found;
}

[[noreturn]] void wrong(const std::string& field, const std::string& allowed) {
  throw ApiError(400, fmt::format("{} must be {}.", field, allowed), field);
}

/// The text of what a grammar is made of, which must not be too long.
std::string short_dump(const std::string& field, const Json& value) {
  std::string text = value.dump();
  if (text.size() > engine::grammar::kLongestGrammar)
    wrong(field, fmt::format("at most {} bytes", engine::grammar::kLongestGrammar));
  return text;
}

Form of_schema(const std::string& field, const Json& schema, JsonStyle style) {
  Json value = schema;
  if (value.is_string()) {  // as vLLM's clients may send it
    try {
      value = Json::parse(value.get<std::string>());
    } catch (const Json::exception&) {
      wrong(field, "a JSON Schema");
    }
  }
  if (!value.is_object() && !value.is_boolean()) wrong(field, "a JSON Schema");
  const std::string text = short_dump(field, value);
  return {fmt::format("schema {} {} {}", style.any_whitespace, Json(style.whitespace).dump(), text),
          field, [value, style] { return engine::grammar::read_json_schema(value, style); }};
}

Form of_object(const std::string& field, JsonStyle style) {
  return {fmt::format("object {} {}", style.any_whitespace, style.whitespace), field,
          [style] { return engine::grammar::any_json_object(style); }};
}

std::string text_at(const std::string& field, const Json& v) {
  if (!v.is_string() || v.get_ref<const std::string&>().empty())
    wrong(field, "a string that is not empty");
  return v.get<std::string>();
}

Form of_regex(const std::string& field, const Json& v) {
  const std::string pattern = text_at(field, v);
  return {"regex " + pattern, field, [pattern] {
            Grammar g;
            g.define(g.root(), engine::grammar::regex(g, pattern));
            return g;
          }};
}

Form of_grammar(const std::string& field, const Json& v) {
  const std::string text = text_at(field, v);
  return {"grammar " + text, field, [text] {
            return engine::grammar::looks_like_lark(text) ? engine::grammar::read_lark(text)
                                                          : engine::grammar::read_ebnf(text);
          }};
}

Form of_choice(const std::string& field, const Json& v) {
  const std::string allowed =
      fmt::format("a list of 1 to {} strings that are not empty", kMostChoices);
  if (!v.is_array() || v.empty() || v.size() > kMostChoices) wrong(field, allowed);
  std::vector<std::string> choices;
  for (const Json& one : v) {
    if (!one.is_string() || one.get_ref<const std::string&>().empty()) wrong(field, allowed);
    choices.push_back(one.get<std::string>());
  }
  return {"choice " + v.dump(), field, [choices] {
            Grammar g;
            std::vector<Grammar::Node> parts;
            for (const std::string& s : choices) parts.push_back(g.text(s));
            g.define(g.root(), g.choice(std::move(parts)));
            return g;
          }};
}

/// Of an object, or its text.
Form of_tags(const std::string& field, const Json& v) {
  Json tag = v;
  if (tag.is_string()) {
    tag = Json::parse(tag.get<std::string>(), nullptr, false);
    if (tag.is_discarded()) wrong(field, "a structural tag in JSON");
  }
  return {"tags " + short_dump(field, tag), field, [tag] { return read_structural_tag(tag); },
          names_tokens(tag) ? tag : Json()};
}

bool flag(const Json& body, const char* field) {
  const Json* v = given(body, field);
  if (v == nullptr) return false;
  if (!v->is_boolean()) wrong(field, "true or false");
  return v->get<bool>();
}

void read_response_format(const Json& v, std::vector<Form>& out) {
  const std::string field = "response_format";
  const Json type = v.is_object() ? v.value("type", Json()) : Json();
  if (type == "text") return;
  if (type == "json_object") {
    if (const Json* schema = given(v, "schema")) {
      out.push_back(of_schema(field, *schema, {}));
      return;
    }
    out.push_back(of_object(field, {}));
    return;
  }
  if (type == "json_schema") {
    const Json* inner = given(v, "json_schema");
    const Json* schema = inner != nullptr && inner->is_object() ? given(*inner, "schema") : nullptr;
    if (schema == nullptr) wrong(field, "of type json_schema with a json_schema.schema");
    out.push_back(of_schema(field, *schema, {}));
    return;
  }
  if (type == "structural_tag") {
    out.push_back(of_tags(field, v));
    return;
  }
  wrong(field, "of type text, json_object, json_schema or structural_tag");
}

std::string whitespace_at(const Json& v) { return text_at("whitespace_pattern", v); }

void read_structured_outputs(const Json& v, std::vector<Form>& out) {
  if (!v.is_object()) wrong("structured_outputs", "an object");
  // Objects that name their properties have no others unless the schema says so.
  flag(v, "disable_additional_properties");
  JsonStyle style{.any_whitespace = !flag(v, "disable_any_whitespace")};
  if (const Json* x = given(v, "whitespace_pattern")) style.whitespace = whitespace_at(*x);
  if (!style.any_whitespace && !style.whitespace.empty())
    throw ApiError(400, "disable_any_whitespace and whitespace_pattern exclude each other.",
                   "structured_outputs");
  const std::string at = "structured_outputs.";
  if (const Json* x = given(v, "json")) out.push_back(of_schema(at + "json", *x, style));
  if (const Json* x = given(v, "regex")) out.push_back(of_regex(at + "regex", *x));
  if (const Json* x = given(v, "choice")) out.push_back(of_choice(at + "choice", *x));
  if (const Json* x = given(v, "grammar")) out.push_back(of_grammar(at + "grammar", *x));
  if (const Json* x = given(v, "structural_tag")) out.push_back(of_tags(at + "structural_tag", *x));
  if (flag(v, "json_object")) out.push_back(of_object(at + "json_object", style));
}

}  // namespace

std::optional<Form> read_form(const Json& body) {
  std::vector<Form> all;
  if (const Json* v = given(body, "response_format")) read_response_format(*v, all);
  if (const Json* v = given(body, "structured_outputs")) read_structured_outputs(*v, all);
  if (const Json* v = given(body, "guided_json")) {
    JsonStyle style;
    if (const Json* x = given(body, "guided_whitespace_pattern"))
      style.whitespace = whitespace_at(*x);
    all.push_back(of_schema("guided_json", *v, style));
  }
  if (const Json* v = given(body, "guided_regex")) all.push_back(of_regex("guided_regex", *v));
  if (const Json* v = given(body, "guided_choice")) all.push_back(of_choice("guided_choice", *v));
  if (const Json* v = given(body, "guided_grammar"))
    all.push_back(of_grammar("guided_grammar", *v));
  if (const Json* v = given(body, "grammar"); v != nullptr && *v != "")
    all.push_back(of_grammar("grammar", *v));
  if (const Json* v = given(body, "json_schema")) all.push_back(of_schema("json_schema", *v, {}));
  if (all.empty()) return std::nullopt;
  if (all.size() > 1)
    throw ApiError(400,
                   fmt::format("You can only use one kind of structured outputs constraint, got {} "
                               "and {}.",
                               all[0].field, all[1].field),
                   all[1].field);
  return all[0];
}

std::shared_ptr<engine::grammar::Guide> Guides::get(const Form& form) {
  const auto find = [&]() -> std::shared_ptr<engine::grammar::Guide> {
    const std::lock_guard lock(mutex_);
    const auto known = std::find_if(kept_.begin(), kept_.end(),
                                    [&](const Kept& k) { return k.first == form.key; });
    if (known == kept_.end()) return nullptr;
    kept_.splice(kept_.begin(), kept_, known);
    return known->second;
  };
  if (auto known = find()) return known;
  making_.acquire();
  struct Release {
    std::counting_semaphore<4>& of;
    ~Release() { of.release(); }
  } release{making_};
  if (auto known = find()) return known;
  std::shared_ptr<engine::grammar::Guide> made;
  try {
    made = std::make_shared<engine::grammar::Guide>(form.make(), vocabulary_);
  } catch (const Error& e) {
    throw ApiError(400, fmt::format("{}: {}", form.field, e.message()), form.field);
  }
  const std::lock_guard lock(mutex_);
  kept_.emplace_front(form.key, made);
  if (kept_.size() > kKept) kept_.pop_back();
  return made;
}

}  // namespace strata::serve
