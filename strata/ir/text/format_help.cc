#include "strata/ir/text/format_help.h"

#include <algorithm>

namespace strata::ir {

GenericForm plain_form(const Op& op) {
  GenericForm out;
  out.attrs = op.attrs;
  for (const auto& r : op.regions) out.regions.push_back(r.get());
  return out;
}

void enum_from_generic(TextParser& p, Draft& draft, const std::string& name, std::string_view kind, std::initializer_list<std::string_view> words, bool required) {
  const Attr* a = draft.attrs.find(name);
  if (a == nullptr) {
    if (required) p.fail_at(p.op_offset(), fmt::format("{} requires attribute '{}'", draft.info->name, name));
    return;
  }
  std::string word;
  if (const Opaque* o = std::get_if<Opaque>(a)) {
    std::string before = fmt::format("#stablehlo<{} ", kind);
    if (o->text.substr(0, before.size()) == before && o->text.back() == '>') word = o->text.substr(before.size(), o->text.size() - before.size() - 1);
  } else if (const std::string* s = std::get_if<std::string>(a)) {
    word = *s;
  }
  if (std::find(words.begin(), words.end(), word) == words.end())
    p.fail_at(p.op_offset(), fmt::format("attribute '{}' of {} is {}, which is none of {}", name, draft.info->name, attr_text(*a), fmt::join(words, " ")));
  draft.attrs.set(name, word);
}

void enum_to_generic(Attrs& attrs, const std::string& name, std::string_view kind) {
  if (const Attr* a = attrs.find(name))
    if (const std::string* word = std::get_if<std::string>(a)) attrs.set(name, Opaque{fmt::format("#stablehlo<{} {}>", kind, *word)});
}

void need_ints(TextParser& p, Draft& draft, const std::string& name) {
  if (const Attr* a = draft.attrs.find(name)) {
    const Literal* literal = std::get_if<Literal>(a);
    if (literal != nullptr && literal->dtype() == DType::i64 && literal->shape().rank() == 1) {
      auto values = literal->span<std::int64_t>();
      draft.attrs.set(name, Ints(values.begin(), values.end()));
    }
  }
  p.need<Ints>(draft, name, "list of integers");
}

void need_integer(TextParser& p, const Draft& draft, const std::string& name) { p.need<std::int64_t>(draft, name, "64-bit integer"); }

void integer_from_i32(TextParser& p, Draft& draft, const std::string& name) {
  if (const Attr* a = draft.attrs.find(name))
    if (const Opaque* o = std::get_if<Opaque>(a)) {
      Cursor c(o->text);
      std::int64_t value = c.peek() == '-' || (c.peek() >= '0' && c.peek() <= '9') ? c.integer() : 0;
      if (c.consume(": i32") && c.at_end()) draft.attrs.set(name, value);
    }
  need_integer(p, draft, name);
}

Fields struct_fields(TextParser& p, const Draft& draft, const std::string& attribute, std::string_view prefix) {
  const std::string& text = p.need<Opaque>(draft, attribute, prefix).text;
  Fields out;
  Cursor c(text);
  try {
    c.expect(prefix);
    c.expect("<");
    if (c.consume(">")) return out;
    do {
      std::string name(c.word("the name of a field"));
      c.expect("=");
      Ints values;
      if (!c.consume("[")) {
        values.push_back(c.integer());
      } else if (!c.consume("]")) {
        do values.push_back(c.integer());
        while (c.consume(","));
        c.expect("]");
      }
      if (!out.emplace(name, std::move(values)).second) c.fail("field '{}' twice", name);
    } while (c.consume(","));
    c.expect(">");
  } catch (const SyntaxError& e) {
    p.fail_at(p.op_offset(), fmt::format("attribute '{}' of {}: {}", attribute, draft.info->name, e.message));
  }
  return out;
}

void append_field(std::string& fields, std::string_view name, const Ints& values) {
  if (values.empty()) return;
  fields += fmt::format("{}{} = {}", fields.empty() ? "" : ", ", name, TextPrinter::list(values));
}

void append_field(std::string& fields, std::string_view name, std::int64_t value) {
  fields += fmt::format("{}{} = {}", fields.empty() ? "" : ", ", name, value);
}

}  // namespace strata::ir
