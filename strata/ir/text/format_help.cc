#include "strata/ir/text/format_help.h"

#include <fmt/format.h>

#include <algorithm>

#include "strata/ir/text/combiner_text.h"

namespace strata::ir {

GenericForm plain_form(const Op& op) {
  GenericForm out;
  out.attrs = op.attrs;
  for (const auto& r : op.regions) out.regions.push_back(r.get());
  return out;
}

void enum_from_generic(TextParser& p, Draft& draft, const std::string& name, std::string_view kind,
                       std::initializer_list<std::string_view> words, bool required,
                       std::string_view dialect) {
  const Attr* a = draft.attrs.find(name);
  if (a == nullptr) {
    if (required)
      p.fail_at(p.op_offset(), fmt::format("{} requires attribute '{}'", draft.info->name, name));
    return;
  }
  std::string word;
  if (const Opaque* o = std::get_if<Opaque>(a)) {
    std::string before = fmt::format("#{}<{} ", dialect, kind);
    if (o->text.substr(0, before.size()) == before && o->text.back() == '>')
      word = o->text.substr(before.size(), o->text.size() - before.size() - 1);
  } else if (const std::string* s = std::get_if<std::string>(a)) {
    word = *s;
  }
  if (std::find(words.begin(), words.end(), word) == words.end())
    p.fail_at(p.op_offset(), fmt::format("attribute '{}' of {} is {}, which is none of {}", name,
                                         draft.info->name, attr_text(*a), fmt::join(words, " ")));
  draft.attrs.set(name, word);
}

void enum_to_generic(Attrs& attrs, const std::string& name, std::string_view kind,
                     std::string_view dialect) {
  if (const Attr* a = attrs.find(name))
    if (const std::string* word = std::get_if<std::string>(a))
      attrs.set(name, Opaque{fmt::format("#{}<{} {}>", dialect, kind, *word)});
}

// ---- precision ---------------------------------------------------------------------------------

void precision_from_generic(TextParser& p, Draft& draft, std::string_view dialect) {
  const Attr* a = draft.attrs.find("precision_config");
  if (a == nullptr) return;
  Strings words;
  if (const Opaque* o = std::get_if<Opaque>(a)) {
    std::string opening = fmt::format("#{}<", dialect);
    Cursor c(o->text);
    bool good = c.consume("[");
    if (good && !c.consume("]")) {
      do {
        good = c.consume(opening) && c.consume("precision");
        if (good) words.emplace_back(c.try_word());
        good = good && c.consume(">");
      } while (good && c.consume(","));
      good = good && c.consume("]");
    }
    if (!good || !c.at_end())
      p.fail_at(p.op_offset(),
                fmt::format("attribute 'precision_config' of {} is {}", draft.info->name, o->text));
  } else {
    words = p.need<Strings>(draft, "precision_config", "list of precisions");
  }
  for (const std::string& w : words)
    if (w != "DEFAULT" && w != "HIGH" && w != "HIGHEST")
      p.fail_at(p.op_offset(), fmt::format("precision '{}' is none of DEFAULT HIGH HIGHEST", w));
  draft.attrs.set("precision_config", words);
}

void precision_to_generic(Attrs& attrs, std::string_view dialect) {
  const Attr* a = attrs.find("precision_config");
  const Strings* precisions = a == nullptr ? nullptr : std::get_if<Strings>(a);
  if (precisions == nullptr) return;
  std::string words;
  for (const std::string& w : *precisions)
    words += fmt::format("{}#{}<precision {}>", words.empty() ? "" : ", ", dialect, w);
  attrs.set("precision_config", Opaque{"[" + words + "]"});
}

void print_precision(TextPrinter& p, const Op& op) {
  if (op.attrs.has("precision_config"))
    p.format(", precision = [{}]", fmt::join(op.attr<Strings>("precision_config"), ", "));
}

void parse_precision(TextParser& p, Draft& draft) {
  Strings words;
  p.expect("=");
  p.expect("[");
  if (!p.consume("]")) {
    do words.emplace_back(p.word("a precision"));
    while (p.consume(","));
    p.expect("]");
  }
  draft.attrs.set("precision_config", words);
}

// ---- numbers and flags -------------------------------------------------------------------------

void optional_flag(TextParser& p, const Draft& draft, const char* name) {
  if (draft.attrs.has(name)) p.need<bool>(draft, name, "boolean");
}

void padding_from_generic(TextParser& p, Draft& draft) {
  const Attr* a = draft.attrs.find("padding");
  if (a == nullptr || std::holds_alternative<Ints>(*a)) return;
  const Literal* literal = std::get_if<Literal>(a);
  if (literal == nullptr || literal->dtype() != DType::i64 || literal->shape().rank() != 2 ||
      literal->shape()[1] != 2)
    p.fail_at(p.op_offset(),
              fmt::format("attribute 'padding' of {} is {}, which is no tensor<?x2xi64>",
                          draft.info->name, attr_text(*a)));
  auto values = literal->span<std::int64_t>();
  draft.attrs.set("padding", Ints(values.begin(), values.end()));
}

void padding_to_generic(Attrs& attrs) {
  const Attr* a = attrs.find("padding");
  const Ints* values = a == nullptr ? nullptr : std::get_if<Ints>(a);
  if (values != nullptr)
    attrs.set("padding",
              Literal::of(Shape{static_cast<std::int64_t>(values->size() / 2), 2}, *values));
}

// ---- combiners ---------------------------------------------------------------------------------

void combiner_from_generic(TextParser& p, Draft& draft, bool pair) {
  if (draft.regions.size() != 1)
    p.fail_at(p.op_offset(),
              fmt::format("{} has {} regions", draft.info->name, draft.regions.size()));
  std::string word = pair && !draft.operands.empty()
                         ? recognise_combiner(*draft.regions[0], draft.operands[0]->dtype())
                         : "region";
  if (word == "assign") word = "region";
  draft.attrs.set("combiner", word);
  if (word != "region") draft.regions.clear();
}

void combiner_to_generic(GenericForm& form, const Op& op) {
  form.attrs.erase("combiner");
  const std::string& word = op.attr<std::string>("combiner");
  if (word == "region") return;
  form.owned.push_back(combiner_region(word, op.operand(0)->dtype()));
  form.regions = {form.owned.back().get()};
}

// ---- lists -------------------------------------------------------------------------------------

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

void need_integer(TextParser& p, const Draft& draft, const std::string& name) {
  p.need<std::int64_t>(draft, name, "64-bit integer");
}

void integer_from_i32(TextParser& p, Draft& draft, const std::string& name) {
  if (const Attr* a = draft.attrs.find(name))
    if (const Opaque* o = std::get_if<Opaque>(a)) {
      Cursor c(o->text);
      std::int64_t value =
          c.peek() == '-' || (c.peek() >= '0' && c.peek() <= '9') ? c.integer() : 0;
      if (c.consume(": i32") && c.at_end()) draft.attrs.set(name, value);
    }
  need_integer(p, draft, name);
}

Fields struct_fields(TextParser& p, const Draft& draft, const std::string& attribute,
                     std::string_view prefix) {
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
    p.fail_at(p.op_offset(),
              fmt::format("attribute '{}' of {}: {}", attribute, draft.info->name, e.message));
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
