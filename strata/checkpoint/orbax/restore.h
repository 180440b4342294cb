// What a program wants of a stored tree: some leaves, under other names, in other dtypes, on a
// mesh.
//
//   Mesh m = make_mesh({{"x", 4}});
//   auto got = orbax::restore(*tree, {{.name = "encoder/w", .sharding = NamedSharding(m, {"x"})},
//                                     {.name = "encoder/b", .dtype = DType::bf16}},
//                             {.rules = {{"encoder/(.*)", "params/layers_0/\\1"}}, .partial =
//                             true});
//   Array w = got->at("encoder/w");
//
// Of an array that is cut over a mesh only what its devices hold is read, each part once, and of a
// stored shard only the inner chunks that a part meets. Source: google/orbax, `restore` with
// `partial_restore`, `ArrayRestoreArgs` and transformations (checkpoint/orbax/checkpoint/
// transform_utils.py). Deviations: rules say paths, not functions of values; where a rule's name is
// not stored, that is an error and no fallback.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "strata/api/array.h"
#include "strata/api/sharding/sharding.h"
#include "strata/checkpoint/orbax/pytree.h"

namespace strata::checkpoint::orbax {

/// A leaf that is wanted.
struct Wanted {
  /// Its name in the program's tree: keys joined by `/`.
  std::string name;
  /// Elements become these, as `astype` converts; none: as stored.
  std::optional<DType> dtype = {};
  /// The shape that must be stored; none: any.
  std::optional<std::vector<std::int64_t>> shape = {};
  /// Where it goes; none: one array that is bound nowhere.
  std::optional<NamedSharding> sharding = {};
};

/// Where a leaf is that is called otherwise in the program: the whole name matches `pattern`
/// (ECMAScript), and `\1` to `\9` in `stored` are its groups.
struct PathRule {
  std::string pattern, stored;
};

struct RestoreOptions {
  /// Every rule that matches counts, the last one wins; names that none matches stay.
  std::vector<PathRule> rules = {};
  /// Stored arrays that nobody wants are left alone. Without this, and without rules, they are an
  /// error, as with Orbax.
  bool partial = false;
  /// A stored shape may differ from the wanted one: it is cut, or filled up with zeros.
  bool fit = false;
};

/// Reads what is wanted. As everywhere, 64-bit elements become 32-bit ones unless x64 is on.
/// Code::invalid for a leaf that is not stored or is no array, one of another shape, and a stored
/// one that nobody wants: the message names it. Code::corrupt as PyTree::read. Throws Error for a
/// pattern that is no regular expression, a name that is wanted twice, and a sharding that does not
/// divide the shape.
Result<std::map<std::string, Array>> restore(const PyTree& tree, const std::vector<Wanted>& wanted,
                                             const RestoreOptions& options = {});

/// The name under which a leaf is stored, by the rules.
std::string stored_name(const std::string& name, const std::vector<PathRule>& rules);

}  // namespace strata::checkpoint::orbax
