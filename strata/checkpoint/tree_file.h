// A tree in one safetensors file: `save(params, "p.safetensors")`, `load(params, "p.safetensors")`.
//
//   if (Status saved = save(params, "p.safetensors"); !saved) return fail(saved);
//   Result<Params> params = load(Params(), "p.safetensors");
//   if (!params) return fail(params.status());
//
// The tensors are called as the tree's paths: "w", "layers[0].b", "['gate']"; that of a tree that
// is one array is called "value". Other programs read the file as any other of safetensors. For
// runs that go on: folders of several parts, of which the newest stay (checkpoint.h).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "strata/api/array.h"
#include "strata/base/result.h"

namespace strata {

namespace internal {
template <class T>
concept TreeOfArrays = requires(const T& t) { tree::leaves<Array>(t); };
Status save_leaves(const std::vector<std::string>& paths, std::span<const Array> leaves,
                   const std::string& filename);
strata::Result<std::vector<Array>> load_leaves(const std::vector<std::string>& paths,
                                               std::span<const Array> like,
                                               const std::string& filename);
}  // namespace internal

/// Writes the arrays of a tree. The old file or the whole new one is there, whatever happens;
/// numbers and strings of the tree are not written. Code::unsupported for dtypes that the format
/// has no name for (c128, i4, ...), else codes of write_safetensors. Throws Error for traced arrays
/// and for those without a value.
template <internal::TreeOfArrays T>
Status save(const T& tree, const std::string& filename) {
  return internal::save_leaves(tree::paths(tree), tree::leaves<Array>(tree), filename);
}

/// A tree like `like` with the arrays of a file that `save` wrote. Those of `like` say which shapes
/// and dtypes must come; one without a value takes what comes. As everywhere, 64-bit elements
/// become 32-bit ones unless x64 is on. Code::invalid where the file lacks an array of the tree,
/// has one that the tree has not, or one of another shape or dtype: the message names it. Codes of
/// read_safetensors besides.
template <internal::TreeOfArrays T>
Result<T> load(T like, const std::string& filename) {
  auto arrays = internal::load_leaves(tree::paths(like), tree::leaves<Array>(like), filename);
  if (!arrays) return arrays.status();
  return tree::unflatten<Array>(std::move(like), *arrays);
}

}  // namespace strata
