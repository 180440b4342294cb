#include "strata/checkpoint/orbax/restore.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <regex>
#include <set>

#include "strata/base/error.h"

namespace strata::checkpoint::orbax {
namespace {

using Sizes = std::vector<std::int64_t>;

/// A failure on the way out of a callback.
struct Failed {
  Status status;
};

std::string shape_text(const Sizes& shape) { return fmt::format("[{}]", fmt::join(shape, ",")); }

/// A box of the wanted array: what is stored of it, and zeros where nothing is.
Result<Literal> read_box(const PyTree& tree, const Leaf& leaf, const Type& stored,
                         const Sizes& begin, const Sizes& sizes) {
  Sizes have = sizes;
  bool whole = true, nothing = false;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::int64_t most = stored.shape().sizes()[i];
    have[i] = std::clamp<std::int64_t>(most - begin[i], 0, sizes[i]);
    whole &= have[i] == sizes[i];
    nothing |= have[i] == 0;
  }
  if (whole) return tree.read(leaf, begin, sizes);
  Literal out(Type(stored.dtype(), Shape::of(sizes)));
  if (nothing) return out;
  auto part = tree.read(leaf, begin, have);
  if (!part) return part.status();
  // Row by row of the part.
  const std::size_t width = byte_width(stored.dtype()), rank = sizes.size();
  const std::int64_t row = have.back();
  Sizes at(rank);
  for (std::int64_t from = 0; from < part->count(); from += row) {
    std::int64_t to = 0;
    for (std::size_t i = 0; i < rank; ++i) to = to * sizes[i] + at[i];
    std::memcpy(
        reinterpret_cast<char*>(out.mutable_data()) + static_cast<std::size_t>(to) * width,
        reinterpret_cast<const char*>(part->data()) + static_cast<std::size_t>(from) * width,
        static_cast<std::size_t>(row) * width);
    for (std::size_t i = rank - 1; i-- > 0;) {
      if (++at[i] < have[i]) break;
      at[i] = 0;
    }
  }
  return out;
}

Result<Array> restore_one(const PyTree& tree, const Leaf& leaf, const Wanted& w, bool fit) {
  auto array = tree.array(leaf);
  if (!array) return array.status();
  const Type stored = array->type();
  const Sizes shape = w.shape.value_or(stored.shape().sizes());
  const bool same_rank = shape.size() == stored.shape().sizes().size();
  if (shape != stored.shape().sizes() && !(fit && same_rank))
    return Status(Code::invalid, "'{}' is wanted with the shape {}, and '{}' is stored with {}",
                  w.name, shape_text(shape), leaf.name(), shape_text(stored.shape().sizes()));
  const auto part = [&](const Sizes& begin, const Sizes& sizes) {
    auto value = read_box(tree, leaf, stored, begin, sizes);
    if (!value) throw Failed{value.status()};
    const Array out(std::move(*value));
    return w.dtype && *w.dtype != out.dtype() ? out.astype(*w.dtype) : out;
  };
  try {
    if (!w.sharding) return part(Sizes(shape.size()), shape);
    return make_array_from_callback(shape, *w.sharding, [&](const ShardIndex& index) {
      Sizes begin, sizes;
      for (const mesh::Range& range : index) {
        begin.push_back(range.begin);
        sizes.push_back(range.end - range.begin);
      }
      return part(begin, sizes);
    });
  } catch (Failed& failed) {
    return std::move(failed.status);
  }
}

}  // namespace

std::string stored_name(const std::string& name, const std::vector<PathRule>& rules) {
  std::string out = name;
  for (const PathRule& rule : rules) {
    std::smatch match;
    try {
      if (!std::regex_match(name, match, std::regex(rule.pattern))) continue;
    } catch (const std::regex_error& e) {
      throw Error("orbax::restore", "'{}' is no regular expression: {}", rule.pattern, e.what());
    }
    out.clear();
    for (std::size_t i = 0; i < rule.stored.size(); ++i) {
      const bool group = rule.stored[i] == '\\' && i + 1 < rule.stored.size() &&
                         rule.stored[i + 1] >= '1' && rule.stored[i + 1] <= '9';
      if (!group) {
        out += rule.stored[i];
        continue;
      }
      const auto n = static_cast<std::size_t>(rule.stored[++i] - '0');
      if (n >= match.size())
        throw Error("orbax::restore", "'{}' has no group {}, which '{}' names", rule.pattern, n,
                    rule.stored);
      out += match[n].str();
    }
  }
  return out;
}

Result<std::map<std::string, Array>> restore(const PyTree& tree, const std::vector<Wanted>& wanted,
                                             const RestoreOptions& options) {
  std::map<std::string, const Leaf*> stored;
  for (const Leaf& leaf : tree.leaves()) stored.emplace(leaf.name(), &leaf);
  std::vector<const Leaf*> from;
  std::set<std::string> names, used;
  for (const Wanted& w : wanted) {
    if (!names.insert(w.name).second) throw Error("orbax::restore", "'{}' is wanted twice", w.name);
    const std::string name = stored_name(w.name, options.rules);
    const auto found = stored.find(name);
    const std::string as = name == w.name ? "" : fmt::format(" as '{}'", name);
    if (found == stored.end())
      return Status(Code::invalid, "'{}' is wanted, and is not stored{}", w.name, as);
    if (!found->second->is_array())
      return Status(Code::invalid, "'{}' is wanted, and what is stored{} is no array", w.name, as);
    used.insert(name);
    from.push_back(found->second);
  }
  for (const auto& [name, leaf] : stored)
    if (leaf->is_array() && !used.count(name) && !options.partial && options.rules.empty())
      return Status(Code::invalid, "'{}' is stored, and nobody wants it; ask for a partial restore",
                    name);
  std::map<std::string, Array> out;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    auto array = restore_one(tree, *from[i], wanted[i], options.fit);
    if (!array) return array.status();
    out.emplace(wanted[i].name, std::move(*array));
  }
  return out;
}

}  // namespace strata::checkpoint::orbax
