#include "strata/nn/state.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace strata::nn {

std::vector<std::vector<std::string>> find_duplicates(const tree::Tree& state) {
  std::vector<std::vector<std::string>> groups;
  std::map<const void*, std::size_t> place;  // looked up only; groups stand in the order of leaves
  for (std::size_t i = 0; i < state.size(); ++i) {
    const void* held = state.value(i).state().get();
    if (!held) continue;
    const auto [it, fresh] = place.emplace(held, groups.size());
    if (fresh) groups.emplace_back();
    groups[it->second].push_back(state.entry(i).name);
  }
  std::erase_if(groups, [](const auto& g) { return g.size() < 2; });
  return groups;
}

tree::Tree diff(const tree::Tree& a, const tree::Tree& b) {
  return a.filter(
      tree::where([&](const tree::Entry& entry, const Array&) { return !b.contains(entry.name); }));
}

tree::Tree as_pure(const tree::Tree& state) {
  std::vector<tree::Entry> entries;
  for (const tree::Entry& entry : state.entries()) entries.emplace_back(entry.path);
  return tree::Tree(std::move(entries), {state.values().begin(), state.values().end()});
}

std::map<std::string, Array> to_pure_dict(const tree::Tree& state) {
  std::map<std::string, Array> out;
  for (std::size_t i = 0; i < state.size(); ++i) out.emplace(state.entry(i).name, state.value(i));
  return out;
}

tree::Tree replace_by_pure_dict(tree::Tree state, const std::map<std::string, Array>& values) {
  for (const auto& [name, value] : values) state.set(name, value);
  return state;
}

namespace {
/// The number that a text says, as Python's int() reads it: spaces around, leading zeros, and
/// single underscores between digits.
std::optional<std::size_t> number_of(std::string_view text) {
  const auto space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && space(text.front())) text.remove_prefix(1);
  while (!text.empty() && space(text.back())) text.remove_suffix(1);
  if (text.starts_with('+')) text.remove_prefix(1);
  std::string digits;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (std::isdigit(static_cast<unsigned char>(text[i])))
      digits += text[i];
    else if (text[i] != '_' || i == 0 || i + 1 == text.size() || text[i - 1] == '_')
      return {};
  }
  std::size_t out = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
  if (digits.empty() || error != std::errc()) return {};
  return out;
}
}  // namespace

tree::Tree restore_int_paths(const tree::Tree& state) {
  std::vector<tree::Entry> entries;
  for (const tree::Entry& entry : state.entries()) {
    tree::KeyPath path = entry.path;
    for (tree::KeyEntry& key : path)
      if (const std::optional<std::size_t> number = number_of(tree::key_text(key)))
        key = tree::SequenceKey{*number};
    entries.emplace_back(std::move(path), *entry.kind, entry.metadata);
  }
  return tree::Tree(std::move(entries), {state.values().begin(), state.values().end()});
}

namespace detail {

Array copy_of(const Array& x) {
  if (!x.has_value() || x.is_traced()) return x;
  return Array(x.literal());
}

MetadataPtr joined_notes(const MetadataPtr& before, const Metadata& notes) {
  Metadata out = before ? *before : Metadata();
  if (!notes.out_sharding.empty()) out.out_sharding = notes.out_sharding;
  if (!notes.tag.empty()) out.tag = notes.tag;
  for (const auto& [name, note] : notes.notes) out.notes[name] = note;
  return std::make_shared<const Metadata>(std::move(out));
}

void check_types(const tree::Tree& wanted, const tree::Tree& given) {
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::optional<std::size_t> at = given.find(wanted.entry(i).name);
    if (!at || !wanted.value(i).has_value() || !given.value(*at).has_value()) continue;
    const Type& have = given.value(*at).type();
    if (have != wanted.value(i).type())
      throw Error("restore", "{} is {}, the state has {}", wanted.entry(i).name,
                  strata::internal::describe(wanted.value(i).type()),
                  strata::internal::describe(have));
  }
}

}  // namespace detail

}  // namespace strata::nn
