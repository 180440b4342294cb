#include "strata/model/maxtext/checkpoint.h"

#include <algorithm>
#include <filesystem>

#include "strata/base/presence.h"
#include "strata/checkpoint/orbax/directory.h"
#include "strata/type/strided.h"

namespace strata::model::maxtext {

namespace orbax = checkpoint::orbax;

namespace {

/// The tensors of the item that has MaxText's tree; null where none has.
const checkpoint::Tensors* tree_of(const checkpoint::Checkpoint& c) {
  for (const auto& [part, tensors] : c.parts) {
    const auto at = tensors.lower_bound(kParams);
    if (at != tensors.end() && at->first.starts_with(kParams)) return &tensors;
  }
  return nullptr;
}

/// (L, E) -> (E, L).
Literal transposed(const Literal& matrix) {
  const std::int64_t rows = matrix.shape()[0], columns = matrix.shape()[1];
  Literal out(Type(matrix.dtype(), Shape({columns, rows})));
  const std::int64_t dims[] = {rows, columns};
  const std::size_t width =
      matrix.bytes() / static_cast<std::size_t>(std::max<std::int64_t>(matrix.count(), 1));
  const auto size = static_cast<std::int64_t>(width);
  const std::int64_t from[] = {columns * size, size}, to[] = {size, rows * size};
  copy_strided(dims, width, matrix.data(), from, out.mutable_data(), to);
  return out;
}

}  // namespace

Result<checkpoint::Checkpoint> open_checkpoint(const std::string& path) {
  std::filesystem::path folder = path;
  if (!folder.has_filename()) folder = folder.parent_path();
  const std::filesystem::path above = folder.parent_path();
  const auto item = is_there((folder / "_METADATA").string());
  if (!item) return item.status();
  if (*item) {
    const auto step = orbax::is_checkpoint(above.string());
    if (!step) return step.status();
    if (*step) folder = above;
  }
  auto out = orbax::load(folder.string());
  if (!out) return out;
  if (tree_of(*out)) return out;
  return Status(Code::invalid, "{}: no checkpoint of MaxText's: there is nothing below {}", path,
                kParams);
}

Result<bool> is_checkpoint(const std::string& path) {
  const auto is_none = [](const Status& s) {
    return s.code() == Code::not_found || s.code() == Code::corrupt;
  };
  std::string folder = path;
  const auto itself = orbax::is_checkpoint(folder);
  if (!itself) return itself.status();
  if (!*itself) {
    const auto all = orbax::steps(path);
    if (!all && !is_none(all.status())) return all.status();
    if (!all || all->empty()) return false;
    folder = all->back().second;
  }
  const auto directory = orbax::Directory::open(folder);
  if (!directory && !is_none(directory.status())) return directory.status();
  if (!directory) return false;
  for (const std::string& item : directory->trees()) {
    const auto tree = directory->tree(item);
    if (!tree && !is_none(tree.status())) return tree.status();
    if (!tree) continue;
    for (const orbax::Leaf& leaf : tree->leaves())
      if (leaf.name().starts_with(kParams)) return true;
  }
  return false;
}

Arrays arrays_below(const checkpoint::Checkpoint& saved, const std::string& prefix) {
  Arrays out;
  const checkpoint::Tensors* tensors = tree_of(saved);
  if (!tensors) return out;
  for (auto at = tensors->lower_bound(prefix);
       at != tensors->end() && at->first.starts_with(prefix); ++at)
    out.emplace(at->first.substr(prefix.size()), at->second);
  return out;
}

Arrays arrays_of_params(const checkpoint::Checkpoint& saved, std::int64_t scan_axis) {
  Arrays out = arrays_below(saved, kParams);
  for (auto& [name, value] : arrays_below(saved, kNoParameters))
    if (name.ends_with(kChoiceBias))
      out.emplace(name, scan_axis == 0 || value.shape().rank() != 2 ? value : transposed(value));
  return out;
}

Result<tree::Tree> params_of(const checkpoint::Checkpoint& saved, const decoder::Options& options,
                             std::int64_t scan_axis) {
  const Arrays arrays = arrays_of_params(saved, scan_axis);
  return from_maxtext(options, arrays, layout_of(arrays, scan_axis));
}

orbax::Leaf leaf_at(const std::string& path, Literal value) {
  orbax::Leaf out;
  out.kind = orbax::Kind::numpy_array;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string key = path.substr(begin, end - begin);
    out.path.push_back({key, key.find_first_not_of("0123456789") == key.npos});
    begin = end + 1;
  }
  out.value = std::move(value);
  return out;
}

void add_leaves(std::vector<orbax::Leaf>& leaves, const std::string& folder, Arrays arrays) {
  for (auto& [name, value] : arrays) leaves.push_back(leaf_at(folder + name, std::move(value)));
}

Status write_leaves(const std::string& path, std::vector<orbax::Leaf> leaves, bool scanned) {
  orbax::Contents contents;
  contents.items["items"] = std::move(leaves);
  contents.custom = scanned ? R"({"scan_layers": true})" : R"({"scan_layers": false})";
  return orbax::save(path, contents, {.api = 2, .tree = {}});
}

Status write_params(const std::string& path, const tree::Tree& params,
                    const decoder::Options& options, const Layout& layout) {
  std::vector<orbax::Leaf> leaves;
  add_leaves(
      leaves, kParams,
      to_maxtext(
          options, params,
          {.scanned = layout.scanned, .scan_axis = layout.scan_axis, .cycle = layout.cycle}));
  return write_leaves(path, std::move(leaves), layout.scanned);
}

}  // namespace strata::model::maxtext
