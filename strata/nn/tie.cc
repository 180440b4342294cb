#include "strata/nn/tie.h"

#include <algorithm>

namespace strata::nn {

namespace {
Array value_of(const tree::Tree& state, const Tie& tie) {
  const Array& source = state[tie.source];
  return tie.transposed ? source.T() : source;
}
void check_chain(std::span<const Tie> ties) {
  for (const Tie& tie : ties)
    for (const Tie& other : ties)
      if (tie.source == other.path)
        throw Error("tie", "{} is tied to {}, which is itself tied to {}", tie.path, tie.source,
                    other.source);
}
}  // namespace

tree::Tree untied(const tree::Tree& state, std::span<const Tie> ties) {
  check_chain(ties);
  std::vector<std::string> gone;
  for (const Tie& tie : ties) {
    (void)state[tie.source];
    (void)state[tie.path];
    gone.push_back(tie.path);
  }
  return state.filter(!tree::path_in(std::move(gone)));
}

tree::Tree tied(const tree::Tree& state, std::span<const Tie> ties) {
  check_chain(ties);
  std::vector<tree::Entry> entries(state.entries().begin(), state.entries().end());
  std::vector<Array> values(state.values().begin(), state.values().end());
  for (const Tie& tie : ties) {
    if (state.contains(tie.path))
      throw Error("tied", "{} is tied to {} and there is a value for it", tie.path, tie.source);
    values.push_back(value_of(state, tie));
    entries.emplace_back(std::string_view(tie.path), *state.entry(*state.find(tie.source)).kind);
  }
  return tree::Tree(std::move(entries), std::move(values));
}

namespace detail {
tree::Tree tie(const tree::Tree& state, std::span<const Tie> ties) {
  check_chain(ties);
  std::vector<tree::Entry> entries;
  std::vector<Array> values;
  for (const Tie& tie : ties) {
    const Array value = value_of(state, tie);
    const Array& before = state[tie.path];
    if (before.has_value() && before.type() != value.type())
      throw Error("tie", "{} is {}, {} gives {}", tie.path,
                  strata::internal::describe(before.type()), tie.source,
                  strata::internal::describe(value.type()));
    values.push_back(value);
    entries.push_back(state.entry(*state.find(tie.path)));
  }
  return tree::Tree(std::move(entries), std::move(values));
}
}  // namespace detail

}  // namespace strata::nn
