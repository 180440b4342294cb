#include "strata/ir/text/value_table.h"

#include "strata/base/check.h"

namespace strata::ir {

void ValueTable::open(bool isolated) {
  auto visible = isolated || scopes_.empty() ? static_cast<std::uint32_t>(level()) + 1
                                             : scopes_.back().visible;
  scopes_.push_back({entries_.size(), visible});
}

void ValueTable::close() {
  while (entries_.size() > scopes_.back().first) {
    const Entry& e = entries_.back();
    Slot& s = slot(name_of(e), hash(name_of(e)));
    s.entry = e.shadowed;
    if (e.shadowed == 0) --used_;
    entries_.pop_back();
  }
  scopes_.pop_back();
}

const ValueTable::Entry* ValueTable::find(std::string_view name) const {
  std::uint32_t at = const_cast<ValueTable*>(this)->slot(name, hash(name)).entry;
  if (at == 0 || scopes_.empty()) return nullptr;
  const Entry& e = entries_[at - 1];
  return e.level >= scopes_.back().visible ? &e : nullptr;
}

bool ValueTable::define(std::string_view name, Value* value, int count) {
  std::uint32_t h = hash(name);
  Slot& s = slot(name, h);
  if (s.entry != 0 && entries_[s.entry - 1].level >= scopes_.back().visible) return false;
  STRATA_CHECK(entries_.size() < UINT32_MAX && name.size() < UINT32_MAX);
  entries_.push_back({name.data(), value, static_cast<std::uint32_t>(name.size()),
                      static_cast<std::uint32_t>(count), static_cast<std::uint32_t>(level()),
                      s.entry});
  bool is_new = s.entry == 0;
  s = {static_cast<std::uint32_t>(entries_.size()), h};
  if (is_new && ++used_ * 4 > slots_.size() * 3) grow();
  return true;
}

std::uint32_t ValueTable::hash(std::string_view name) {
  std::uint64_t h = 0xcbf29ce484222325u;
  for (char c : name) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return static_cast<std::uint32_t>(h ^ (h >> 32));
}

ValueTable::Slot& ValueTable::slot(std::string_view name, std::uint32_t h) {
  std::size_t mask = slots_.size() - 1;
  for (std::size_t i = h & mask;; i = (i + 1) & mask)
    if (slots_[i].entry == 0 ||
        (slots_[i].hash == h && name_of(entries_[slots_[i].entry - 1]) == name))
      return slots_[i];
}

/// Names move in the order in which they were first defined.
void ValueTable::grow() {
  slots_.assign(slots_.size() * 2, Slot());
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    std::uint32_t h = hash(name_of(entries_[i]));
    slot(name_of(entries_[i]), h) = {static_cast<std::uint32_t>(i + 1), h};
  }
}

}  // namespace strata::ir
