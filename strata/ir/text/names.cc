#include "strata/ir/text/names.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "strata/ir/declaration.h"
#include "strata/ir/text/format.h"

namespace strata::ir {

void Names::function(const Block& body) {
  nested(body, nullptr, {});
}

void Names::generic(const Module& module) {
  for (auto f = module.functions.rbegin(); f != module.functions.rend(); ++f)
    if (!is_declaration(**f)) generic((*f)->body);
}

void Names::generic(const Block& block) {
  number(block, nullptr, generic_, false);
  for (auto o = block.ops().rbegin(); o != block.ops().rend(); ++o) {
    std::vector<const Block*> regions = regions_(**o);
    for (auto r = regions.rbegin(); r != regions.rend(); ++r) generic(**r);
  }
}

/// What a block defines is named before what its regions define; names are free again after it.
void Names::nested(const Block& b, const Op* holder, Counts counts) {
  std::size_t mark = added_.size();
  number(b, holder, counts, true);
  for (const auto& o : b.ops())
    for (const Block* r : regions_(*o)) nested(*r, o.get(), counts);
  for (; added_.size() > mark; added_.pop_back()) used_.erase(added_.back());
}

void Names::number(const Block& b, const Op* holder, Counts& counts, bool suggested) {
  const TextFormat* format = holder == nullptr || !suggested ? nullptr : holder->info().text;
  for (int i = 0; i < b.num_arguments(); ++i) {
    bool named = format != nullptr && format->argument_name != nullptr;
    std::string name = named ? std::string(format->argument_name(*holder, i)) : fmt::format("arg{}", counts.argument++);
    names_[b.argument(i)] = suggested ? unique(name, counts) : name;
  }
  for (const auto& o : b.ops()) op(*o, counts, suggested);
}

void Names::op(const Op& op, Counts& counts, bool suggested) {
  if (op.num_results() == 0) return;
  std::vector<Group> groups;
  const TextFormat* format = suggested ? op.info().text : nullptr;
  for (int i = 0; i < op.num_results(); ++i) {
    std::string_view name = format != nullptr && format->result_name != nullptr ? format->result_name(op, i) : std::string_view();
    if (!name.empty()) groups.push_back({unique(name, counts), -1, i, 1});
    else if (i == 0) groups.push_back({"", counts.value++, 0, 1});
    else ++groups.back().size;
  }
  groups_[&op] = std::move(groups);
}

std::string Names::unique(std::string_view name, Counts& counts) {
  std::string out(name);
  while (!used_.insert(out).second) out = fmt::format("{}_{}", name, counts.conflict++);
  added_.push_back(out);
  return out;
}

const Names::Group* Names::group_of(const Value* value) const {
  auto it = groups_.find(value->op());
  if (it == groups_.end()) return nullptr;
  const Group* group = &it->second[0];
  for (const Group& g : it->second)
    if (g.first <= value->index()) group = &g;
  return group;
}

void Names::append(const Group& group, std::string& out) {
  if (group.number < 0) {
    out += group.name;
    return;
  }
  char digits[16];
  auto [end, error] = std::to_chars(digits, digits + sizeof digits, group.number);
  out.append(digits, end);
}

void Names::append(const Value* value, std::string& out) const {
  if (value->op() == nullptr) {
    auto it = names_.find(value);
    out += it == names_.end() ? "<<unknown>>" : it->second;
    return;
  }
  const Group* group = group_of(value);
  if (group == nullptr) {
    out += "<<unknown>>";
    return;
  }
  append(*group, out);
  if (group->size > 1) fmt::format_to(std::back_inserter(out), "#{}", value->index() - group->first);
}

std::string Names::of(const Value* value) const {
  std::string out;
  append(value, out);
  return out;
}

std::string Names::defined_by(const Op& op) const {
  std::string out;
  auto it = groups_.find(&op);
  if (it == groups_.end()) return out;
  for (const Group& g : it->second) {
    out += out.empty() ? "%" : ", %";
    append(g, out);
    if (g.size > 1) fmt::format_to(std::back_inserter(out), ":{}", g.size);
  }
  return out;
}

}  // namespace strata::ir
