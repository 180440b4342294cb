// How a custom call comes into the form in which it runs: layouts become transposes around it, its
// description one attribute.
#include <algorithm>
#include <cctype>
#include <charconv>

#include "strata/op/build.h"
#include "strata/op/calculus/support.h"
#include "strata/op/control/check.h"
#include "strata/op/foreign/foreign.h"
#include "strata/op/foreign/foreign_call.h"
#include "strata/op/foreign/target.h"
#include "strata/op/shape/shape_operands.h"
#include "strata/type/permutation.h"

namespace strata::op::foreign {
namespace {

using ir::Ints;

const std::string& target_of(const Op& op) { return op.attr<std::string>("call_target_name"); }

bool starts_with(std::string_view text, std::string_view with) {
  return text.substr(0, with.size()) == with;
}

// ---- lists of attributes, which are carried as text --------------------------------------------

/// What stands behind `name`; nothing where the call does not say it.
std::string_view text_of(const Op& op, const char* name) {
  const ir::Attr* a = op.attrs.find(name);
  if (a == nullptr) return {};
  if (const auto* text = std::get_if<ir::Opaque>(a)) return text->text;
  throw Error("custom_call", "@{}: '{}' is no list", target_of(op), name).at(op.where.text());
}

/// All whole numbers in a text.
Ints numbers(std::string_view text) {
  Ints out;
  for (const char *p = text.data(), *end = p + text.size(); p < end;) {
    std::int64_t n;
    auto [next, error] = std::from_chars(p, end, n);
    if (error == std::errc()) out.push_back(n);
    p = error == std::errc() ? next : p + 1;
  }
  return out;
}

/// The numbers between the brackets behind `name`.
Ints field(std::string_view text, std::string_view name) {
  std::size_t at = text.find(name);
  if (at == std::string_view::npos) return {};
  std::string_view rest = text.substr(at + name.size());
  return numbers(rest.substr(0, rest.find_first_of(rest.find('[') < rest.find(',') ? "]" : ",>")));
}

/// The permutation that brings a row-major array into the layout's order in memory: minor_to_major
/// from the end.
Ints to_memory(const Op& op, std::string_view layout, const Type& type) {
  std::size_t end = layout.find('>');
  Ints order = numbers(layout.substr(0, end == std::string_view::npos ? 0 : end));
  std::reverse(order.begin(), order.end());
  Ints sorted = order;
  std::sort(sorted.begin(), sorted.end());
  bool fits = static_cast<int>(order.size()) == (type.is_tensor() ? type.rank() : 0);
  for (std::size_t i = 0; i < sorted.size(); ++i) fits &= sorted[i] == static_cast<std::int64_t>(i);
  if (!fits)
    throw Error("custom_call", "@{}: {} is no layout of {}", target_of(op), layout,
                type.to_string())
        .at(op.where.text());
  return order;
}

/// Of each value the permutation; empty where it is row-major.
std::vector<Ints> layouts(const Op& op, const char* name, const std::vector<Type>& types) {
  std::vector<Ints> out(types.size());
  if (!op.attrs.has(name)) return out;
  std::vector<std::string_view> stated = list_elements(text_of(op, name));
  if (stated.size() != types.size())
    throw Error("custom_call", "@{}: '{}' lists {} layouts for {} values", target_of(op), name,
                stated.size(), types.size())
        .at(op.where.text());
  for (std::size_t i = 0; i < types.size(); ++i) {
    out[i] = to_memory(op, stated[i], types[i]);
    if (std::is_sorted(out[i].begin(), out[i].end())) out[i].clear();
  }
  return out;
}

Type in_memory(const Type& type, const Ints& order) {
  return order.empty() ? type : permuted(type, order);
}

std::vector<int> aliases(const Op& op, const std::vector<Type>& operands,
                         const std::vector<Type>& results) {
  std::vector<int> out(results.size(), -1);
  for (std::string_view alias : list_elements(text_of(op, "output_operand_aliases"))) {
    Ints result = field(alias, "output_tuple_indices"), operand = field(alias, "operand_index"),
         inner = field(alias, "operand_tuple_indices");
    std::int64_t r = result.empty() ? 0 : result[0], o = operand.empty() ? -1 : operand[0];
    bool known = result.size() <= 1 && operand.size() == 1 && inner.empty() && r >= 0 && o >= 0 &&
                 r < static_cast<std::int64_t>(results.size()) &&
                 o < static_cast<std::int64_t>(operands.size());
    if (!known || !(operands[static_cast<std::size_t>(o)] == results[static_cast<std::size_t>(r)]))
      throw Error("custom_call", "@{}: {} names no operand and result of one type and layout",
                  target_of(op), alias)
          .at(op.where.text());
    out[static_cast<std::size_t>(r)] = static_cast<int>(o);
  }
  return out;
}

bool is_for_handlers(std::string_view name) {
  return name != "call_target_name" && name != "operand_layouts" && name != "result_layouts" &&
         name != "output_operand_aliases" && name != "mhlo.sharding" && !starts_with(name, "sdy.");
}

std::vector<Type> types_of(const Values& values) {
  std::vector<Type> out;
  for (const Value* v : values) out.push_back(v->type());
  return out;
}

void expect_callable(const Op& op, const std::vector<Type>& types) {
  for (const Type& t : types)
    if (!t.is_token() && (!t.is_tensor() || !t.shape().is_static() || t.is_quantized()))
      throw Error("custom_call", "@{} cannot be given {}", target_of(op), t.to_string())
          .unsupported()
          .at(op.where.text());
}

/// The resolved call; returns its results, row-major.
Values stated(Builder& b, const Op& op, const Values& operands) {
  Call call{.target = target_of(op),
            .operands = types_of(op.operands),
            .results = types_of(op.results())};
  expect_callable(op, call.operands);
  expect_callable(op, call.results);
  std::vector<Ints> in = layouts(op, "operand_layouts", call.operands),
                    out = layouts(op, "result_layouts", call.results);
  Values moved;
  std::vector<Type> from, to;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    moved.push_back(in[i].empty() ? operands[i] : transpose(b, operands[i], in[i]));
    from.push_back(in_memory(call.operands[i], in[i]));
  }
  for (std::size_t r = 0; r < call.results.size(); ++r)
    to.push_back(in_memory(call.results[r], out[r]));
  call.aliases = aliases(op, from, to);
  for (const auto& [name, value] : op.attrs)
    if (is_for_handlers(name)) call.attrs.set(name, value);
  Values results = b.create(op.info(), moved,
                            {{"call_target_name", call.target}, {kStated, words_of(call)}}, {}, to)
                       .results();
  for (std::size_t r = 0; r < results.size(); ++r)
    if (!out[r].empty()) results[r] = transpose(b, results[r], inverse_permutation(out[r]));
  return results;
}

Values resolved(Builder& b, const Op& op) {
  At at(b, op);
  if (!shape_operands(op).empty()) {  // static shapes that say themselves once more
    Block alone;
    Builder ab(alone);
    ab.set_location(op.where);
    return resolved(b, without_shape_operands(ab, op, op.operands));
  }
  const Target* known = find_target(target_of(op));
  if (known != nullptr && known->compose != nullptr && !has_handler(target_of(op)))
    return known->compose(b, op, op.operands);
  return stated(b, op, op.operands);
}

}  // namespace

bool is_resolvable(const Op& op) {
  if (op.name() != "stablehlo.custom_call" || is_resolved(op) || demand_of(op)) return false;
  return has_handler(target_of(op)) || find_target(target_of(op)) != nullptr;
}

void resolve(Block& block) {
  bool any = false;
  ir::walk(block, [&](const Op& op) { any |= is_resolvable(op); });
  if (!any) return;
  ir::ValueMap map;
  std::vector<std::unique_ptr<Op>> old = std::move(block.ops()), dead;
  block.ops().clear();
  Builder b(block);
  for (auto& op : old) {
    op->operands = map(op->operands);
    for (auto& region : op->regions) {
      ir::replace_uses(*region, map);
      resolve(*region);
    }
    if (!is_resolvable(*op)) {
      block.append(std::move(op));
      continue;
    }
    Values results = resolved(b, *op);
    STRATA_CHECK(static_cast<int>(results.size()) == op->num_results(), "@{} became {} values",
                 target_of(*op), results.size());
    for (int i = 0; i < op->num_results(); ++i)
      map.set(op->result(i), results[static_cast<std::size_t>(i)]);
    dead.push_back(std::move(op));  // the map knows its results by address
  }
  block.results = map(block.results);
}

}  // namespace strata::op::foreign
