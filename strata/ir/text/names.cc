#include "strata/ir/text/names.h"

#include <algorithm>

#include <fmt/format.h>

#include "strata/ir/text/format.h"

namespace strata::ir {

Names::Names(const Block& function, const Regions& regions, bool suggested) : regions_(regions), suggested_(suggested) {
  std::vector<Used> used;
  nested(function, nullptr, {}, used);
}

void Names::nested(const Block& b, const char* argument_name, Counts counts, std::vector<Used>& used) {
  used.emplace_back();
  block(b, argument_name, counts, used);
  for (const auto& o : b.ops())
    for (const Block* r : regions_(*o)) nested(*r, o->info().text != nullptr && suggested_ ? o->info().text->argument_name : nullptr, counts, used);
  used.pop_back();
}

void Names::block(const Block& b, const char* argument_name, Counts& counts, std::vector<Used>& used) {
  for (const auto& a : b.arguments())
    names_[a.get()] = unique(argument_name != nullptr ? argument_name : fmt::format("arg{}", counts.argument++), counts, used);
  for (const auto& o : b.ops()) op(*o, counts, used);
}

void Names::op(const Op& op, Counts& counts, std::vector<Used>& used) {
  if (op.num_results() == 0) return;
  std::vector<Group> groups;
  const TextFormat* format = op.info().text;
  for (int i = 0; i < op.num_results(); ++i) {
    std::string_view name = suggested_ && format != nullptr && format->result_name != nullptr ? format->result_name(op, i) : std::string_view();
    if (!name.empty()) groups.push_back({unique(std::string(name), counts, used), i, 1});
    else if (i == 0) groups.push_back({"", 0, 1});
    else ++groups.back().size;
  }
  if (groups[0].name.empty()) groups[0].name = fmt::format("{}", counts.value++);
  groups_[&op] = std::move(groups);
}

std::string Names::unique(const std::string& name, Counts& counts, std::vector<Used>& used) {
  auto taken = [&](const std::string& n) { return std::any_of(used.begin(), used.end(), [&](const Used& u) { return u.count(n) != 0; }); };
  std::string out = name;
  while (taken(out)) out = fmt::format("{}_{}", name, counts.conflict++);
  used.back().insert(out);
  return out;
}

std::string Names::of(const Value* value) const {
  if (const Op* op = value->op()) {
    auto it = groups_.find(op);
    if (it == groups_.end()) return "<<unknown>>";
    const Group* group = &it->second[0];
    for (const Group& g : it->second)
      if (g.first <= value->index()) group = &g;
    return group->size == 1 ? group->name : fmt::format("{}#{}", group->name, value->index() - group->first);
  }
  auto it = names_.find(value);
  return it == names_.end() ? "<<unknown>>" : it->second;
}

std::string Names::defined_by(const Op& op) const {
  std::string out;
  auto it = groups_.find(&op);
  if (it == groups_.end()) return out;
  for (const Group& g : it->second) out += fmt::format("{}%{}{}", out.empty() ? "" : ", ", g.name, g.size == 1 ? "" : fmt::format(":{}", g.size));
  return out;
}

}  // namespace strata::ir
