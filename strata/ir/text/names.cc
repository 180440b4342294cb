#include "strata/ir/text/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "strata/ir/declaration.h"
#include "strata/ir/text/format.h"

namespace strata::ir {

void Names::function(const Block& body) {
  names_.clear();
  ranges_.clear();
  groups_.clear();
  texts_.clear();
  nested(body, nullptr, {});
}

void Names::generic(const Module& module) {
  auto inner = module.modules.rbegin();
  for (std::size_t i = module.functions.size();; --i) {
    for (; inner != module.modules.rend() && ((*inner)->functions_before >= i || i == 0); ++inner)
      generic(**inner);
    if (i == 0) break;
    if (const Function& f = *module.functions[i - 1]; !is_declaration(f)) generic(f.body);
  }
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
    std::string name = named ? std::string(format->argument_name(*holder, i))
                             : fmt::format("arg{}", counts.argument++);
    names_[b.argument(i)] = suggested ? unique(name, counts) : name;
  }
  for (const auto& o : b.ops()) op(*o, counts, suggested);
}

void Names::op(const Op& op, Counts& counts, bool suggested) {
  if (op.num_results() == 0) return;
  Range range{static_cast<std::uint32_t>(groups_.size()), 0};
  const TextFormat* format = suggested ? op.info().text : nullptr;
  for (int i = 0; i < op.num_results(); ++i) {
    std::string_view name = format != nullptr && format->result_name != nullptr
                                ? format->result_name(op, i)
                                : std::string_view();
    if (!name.empty()) {
      texts_.push_back(unique(name, counts));
      groups_.push_back({-static_cast<int>(texts_.size()), i, 1});
    } else if (i == 0) {
      groups_.push_back({counts.value++, 0, 1});
    } else {
      ++groups_.back().size;
    }
  }
  range.size = static_cast<std::uint32_t>(groups_.size()) - range.first;
  ranges_[&op] = range;
}

std::string Names::unique(std::string_view name, Counts& counts) {
  std::string out(name);
  while (!used_.insert(out).second) out = fmt::format("{}_{}", name, counts.conflict++);
  added_.push_back(out);
  return out;
}

std::span<const Names::Group> Names::groups_of(const Op* op) const {
  auto it = ranges_.find(op);
  if (it == ranges_.end()) return {};
  return {groups_.data() + it->second.first, it->second.size};
}

void Names::append(const Group& group, std::string& out) const {
  if (group.name < 0) {
    out += texts_[static_cast<std::size_t>(-1 - group.name)];
    return;
  }
  char digits[16];
  auto [end, error] = std::to_chars(digits, digits + sizeof digits, group.name);
  out.append(digits, end);
}

void Names::append(const Value* value, std::string& out) const {
  if (value->op() == nullptr) {
    auto it = names_.find(value);
    out += it == names_.end() ? "<<unknown>>" : it->second;
    return;
  }
  std::span<const Group> groups = groups_of(value->op());
  if (groups.empty()) {
    out += "<<unknown>>";
    return;
  }
  const Group* group = &groups[0];
  for (const Group& g : groups)
    if (g.first <= value->index()) group = &g;
  append(*group, out);
  if (group->size > 1)
    fmt::format_to(std::back_inserter(out), "#{}", value->index() - group->first);
}

std::string Names::of(const Value* value) const {
  std::string out;
  append(value, out);
  return out;
}

void Names::append_defined(const Op& op, std::string& out) const {
  std::span<const Group> groups = groups_of(&op);
  for (const Group& g : groups) {
    out += &g == groups.data() ? "%" : ", %";
    append(g, out);
    if (g.size > 1) fmt::format_to(std::back_inserter(out), ":{}", g.size);
  }
  if (!groups.empty()) out += " = ";
}

}  // namespace strata::ir
