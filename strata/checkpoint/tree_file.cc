#include "strata/checkpoint/tree_file.h"

#include "strata/api/trace/trace.h"
#include "strata/checkpoint/arrays.h"

namespace strata::internal {
namespace {

std::string name_of(const std::string& path) { return path.empty() ? "value" : path; }

}  // namespace

Status save_leaves(const std::vector<std::string>& paths, std::span<const Array> leaves,
                   const std::string& filename) {
  std::map<std::string, Array> tensors;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (!leaves[i].has_value()) fail("save", "{} has no value", name_of(paths[i]));
    if (!tensors.emplace(name_of(paths[i]), leaves[i]).second)
      fail("save", "two arrays of the tree are called {}", name_of(paths[i]));
  }
  return checkpoint::save_file(tensors, filename);
}

strata::Result<std::vector<Array>> load_leaves(const std::vector<std::string>& paths,
                                               std::span<const Array> like,
                                               const std::string& filename) {
  auto tensors = checkpoint::load_file(filename);
  if (!tensors) return tensors.status();
  std::vector<Array> out;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const std::string name = name_of(paths[i]);
    const auto found = tensors->find(name);
    if (found == tensors->end())
      return Status(Code::invalid, "{}: there is no {}, which the tree has", filename, name);
    if (like[i].has_value() && found->second.type() != like[i].type())
      return Status(Code::invalid, "{}: {} is {}, and {} in the tree", filename, name,
                    describe(found->second.type()), describe(like[i].type()));
    out.push_back(found->second);
    tensors->erase(found);
  }
  if (!tensors->empty())
    return Status(Code::invalid, "{}: the tree has no {}", filename, tensors->begin()->first);
  return out;
}

}  // namespace strata::internal
