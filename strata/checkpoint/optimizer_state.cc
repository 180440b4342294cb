#include "strata/checkpoint/optimizer_state.h"

#include "strata/api/trace/trace.h"
#include "strata/checkpoint/arrays.h"
#include "strata/checkpoint/safetensors.h"

namespace strata::checkpoint {

namespace {
constexpr const char* kOptimizer = "optimizer";
}  // namespace

Status save_optimizer_state(const optim::GradientTransformation& tx, const tree::Tree& state,
                            const std::string& filename) {
  std::map<std::string, Array> tensors;
  for (std::size_t i = 0; i < state.size(); ++i)
    tensors.emplace(state.entry(i).name, state.value(i));
  return save_file(tensors, filename, {{kOptimizer, tx.text()}});
}

Result<tree::Tree> load_optimizer_state(const optim::GradientTransformation& tx,
                                        const tree::Tree& like, const std::string& filename,
                                        ChangedOptimizer changed) {
  auto file = read_safetensors(filename);
  if (!file) return file.status();
  const auto said = file->metadata.find(kOptimizer);
  if (said == file->metadata.end())
    return Status(Code::invalid, "{} does not say of which optimizer it is", filename);
  const std::string& was = said->second;
  if (was != tx.text() && changed == ChangedOptimizer::is_refused)
    return Status(Code::invalid, "{} is the state of {}; the optimizer now is {}", filename, was,
                  tx.text());
  const auto invalid = [&](const std::string& what) {
    return Status(Code::invalid, "{}, the state of {}, {}; the optimizer now is {}", filename, was,
                  what, tx.text());
  };
  std::vector<Array> values;
  for (std::size_t i = 0; i < like.size(); ++i) {
    const std::string& name = like.entry(i).name;
    const auto found = file->tensors.find(name);
    if (found == file->tensors.end()) return invalid("lacks " + name);
    const Array array = internal::array_of(found->second, {}, {}, Where());
    if (array.type() != like.value(i).type())
      return invalid(fmt::format("has {} as {}, not {}", name, internal::describe(array.type()),
                                 internal::describe(like.value(i).type())));
    values.push_back(array);
  }
  std::vector<tree::Entry> entries(like.entries().begin(), like.entries().end());
  for (const auto& [name, tensor] : file->tensors) {
    if (like.contains(name)) continue;
    if (was != tx.text()) return invalid("has " + name + " besides");
    // What the rule adds in its first step, as measurements.
    entries.emplace_back(name, tree::kinds::variable);
    values.push_back(internal::array_of(tensor, {}, {}, Where()));
  }
  return tree::Tree(std::move(entries), std::move(values));
}

}  // namespace strata::checkpoint
