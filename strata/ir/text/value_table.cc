#include "strata/ir/text/value_table.h"

namespace strata::ir {

void ValueTable::open(bool isolated) {
  int visible = isolated || scopes_.empty() ? level() + 1 : scopes_.back().visible;
  scopes_.push_back({undo_.size(), visible});
}

void ValueTable::close() {
  while (undo_.size() > scopes_.back().undo) {
    slot(undo_.back().name) = undo_.back();
    undo_.pop_back();
  }
  scopes_.pop_back();
}

const ValueTable::Entry* ValueTable::find(std::string_view name) const {
  const Entry& e = slot(name);
  return e.count > 0 && !scopes_.empty() && e.level >= scopes_.back().visible ? &e : nullptr;
}

bool ValueTable::define(Entry entry) {
  if (find(entry.name) != nullptr) return false;
  entry.level = level();
  Entry& e = slot(entry.name);
  bool is_new = e.name.data() == nullptr;
  undo_.push_back(e);
  undo_.back().name = entry.name;
  e = entry;
  if (is_new && ++used_ * 2 > slots_.size()) grow();
  return true;
}

std::size_t ValueTable::hash(std::string_view name) {
  std::uint64_t h = 0xcbf29ce484222325u;
  for (char c : name) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return static_cast<std::size_t>(h ^ (h >> 29));
}

ValueTable::Entry& ValueTable::slot(std::string_view name) {
  std::size_t mask = slots_.size() - 1;
  for (std::size_t i = hash(name) & mask;; i = (i + 1) & mask)
    if (slots_[i].name.data() == nullptr || slots_[i].name == name) return slots_[i];
}

void ValueTable::grow() {
  std::vector<Entry> old(slots_.size() * 2);
  old.swap(slots_);
  for (const Entry& e : old)
    if (e.name.data() != nullptr) slot(e.name) = e;
}

}  // namespace strata::ir
