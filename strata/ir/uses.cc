#include "strata/ir/uses.h"

namespace strata::ir {

Uses::Uses(const Block& block, Regions regions) {
  for (const auto& op : block.ops()) {
    positions_.emplace(op.get(), static_cast<int>(positions_.size()));
    note(*op);
    regions == Regions::as_users ? note_captures(*op) : enter(*op);
  }
  note_results(block);
}

void Uses::note(const Op& op) {
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    Entry& entry = entries_[op.operands[i]];
    entry.uses.push_back({&op, static_cast<int>(i)});
    ++entry.count;
  }
}

void Uses::note_results(const Block& block) {
  for (const Value* v : block.results) {
    Entry& entry = entries_[v];
    entry.is_result = true;
    ++entry.count;
  }
}

void Uses::enter(const Op& op) {
  for (const auto& region : op.regions) {
    note_results(*region);
    walk(*region, [&](const Op& inner) {
      note(inner);
      for (const auto& nested : inner.regions) note_results(*nested);
    });
  }
}

/// What the regions of an operation use is used by it; how often, they say themselves.
void Uses::note_captures(const Op& op) {
  auto count = [&](const Value* v) { ++entries_[v].count; };
  for (const auto& region : op.regions) {
    for (const Value* v : captures(*region)) entries_[v].uses.push_back({&op, kCaptured});
    for (const Value* v : region->results) count(v);
    walk(*region, [&](const Op& inner) {
      for (const Value* v : inner.operands) count(v);
      for (const auto& nested : inner.regions)
        for (const Value* v : nested->results) count(v);
    });
  }
}

const Uses::Entry* Uses::find(const Value* v) const {
  auto it = entries_.find(v);
  return it == entries_.end() ? nullptr : &it->second;
}

std::span<const Uses::Use> Uses::of(const Value* v) const {
  const Entry* entry = find(v);
  return entry ? std::span<const Use>(entry->uses) : std::span<const Use>();
}

bool Uses::is_result(const Value* v) const {
  const Entry* entry = find(v);
  return entry && entry->is_result;
}

int Uses::count(const Value* v) const {
  const Entry* entry = find(v);
  return entry ? entry->count : 0;
}

int Uses::position(const Op* op) const {
  auto it = positions_.find(op);
  return it == positions_.end() ? -1 : it->second;
}

}  // namespace strata::ir
