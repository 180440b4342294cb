#include "strata/checkpoint/module_state.h"

#include <algorithm>

#include "strata/api/trace/trace.h"
#include "strata/base/text.h"

namespace strata::checkpoint::internal {

namespace {
std::string name_of(const tree::Entry& entry) { return entry.name.empty() ? "value" : entry.name; }
}  // namespace

Tensors state_of(const tree::Tree& state) {
  Tensors out;
  for (std::size_t i = 0; i < state.size(); ++i) {
    const Array& value = state.value(i);
    if (!value.has_value() || value.is_traced())
      strata::internal::fail(
          "state_of", "{} {}", name_of(state.entry(i)),
          value.has_value() ? "is traced and has no elements yet" : "has no value");
    out.emplace(name_of(state.entry(i)), value.literal());
  }
  return out;
}

Result<tree::Tree> restored(const tree::Tree& like, const Tensors& tensors) {
  using strata::internal::describe;
  std::vector<Array> values;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < like.size(); ++i) {
    names.push_back(name_of(like.entry(i)));
    const auto found = tensors.find(names.back());
    if (found == tensors.end())
      return Status(Code::invalid, "the checkpoint has no {}, which the tree has", names.back());
    Array value(found->second);
    if (like.value(i).has_value() && value.type() != like.value(i).type())
      return Status(Code::invalid, "{} is {} in the checkpoint and {} in the tree", names.back(),
                    describe(value.type()), describe(like.value(i).type()));
    values.push_back(std::move(value));
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  for (const auto& [name, tensor] : tensors)
    if (std::find(names.begin(), names.end(), name) == names.end())
      return Status(Code::invalid, "the tree has no {}{}", name, did_you_mean(name, known));
  return like.with_values(std::move(values));
}

}  // namespace strata::checkpoint::internal
