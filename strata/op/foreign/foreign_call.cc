#include "strata/op/foreign/foreign_call.h"

#include "strata/ir/text/attr_text.h"
#include "strata/ir/text/type_text.h"

namespace strata::op::foreign {
namespace {

constexpr const char *kTarget = "call_target_name", *kAliases = "strata.aliases";

}  // namespace

std::string words_of(const Call& call) {
  Attrs attrs = call.attrs;
  attrs.set(kTarget, call.target);
  attrs.set(kAliases, ir::Ints(call.aliases.begin(), call.aliases.end()));
  return ir::attrs_text(attrs) + " : " + ir::type_list_text(call.operands) + " -> " +
         ir::type_list_text(call.results);
}

Call call_of(std::string_view words) {
  ir::Cursor c(words);
  Call call;
  try {
    c.expect("{");
    Attrs attrs = ir::parse_attr_entries(c, {});
    c.expect(":");
    call.operands = ir::parse_type_list(c);
    c.expect("->");
    call.results = ir::parse_type_list(c);
    call.target = attrs.get<std::string>(kTarget);
    for (std::int64_t a : attrs.get<ir::Ints>(kAliases))
      call.aliases.push_back(static_cast<int>(a));
    attrs.erase(kTarget);
    attrs.erase(kAliases);
    call.attrs = std::move(attrs);
  } catch (const ir::SyntaxError& e) {
    STRATA_UNREACHABLE("a foreign call is stated as '{}': {}", words, e.message);
  }
  return call;
}

std::vector<std::string_view> list_elements(std::string_view list) {
  std::vector<std::string_view> out;
  int depth = 0;
  std::size_t from = 1;
  for (std::size_t i = 1; i + 1 < list.size(); ++i) {
    if (list[i] == '<' || list[i] == '[') ++depth;
    if (list[i] == '>' || list[i] == ']') --depth;
    if (depth == 0 && list[i] == ',') {
      out.push_back(list.substr(from, i - from));
      from = i + 1;
    }
  }
  if (list.size() > 2) out.push_back(list.substr(from, list.size() - 1 - from));
  return out;
}

}  // namespace strata::op::foreign
