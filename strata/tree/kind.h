// What is known of a leaf beside its value: what kind of variable it is, and what was noted of it.
//
//   const tree::Kind adapter("Adapter", &tree::kinds::param);   // an adapter is a parameter, too
//   adapter.is_a(tree::kinds::param)                            // true
//
// Kinds are compared by address, so each is one object with static storage. Source of the idea:
// Flax NNX's Variable types and their metadata.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace strata::tree {

/// A kind of variable: a name, and the kind of which it is a special case (none for the root).
class Kind {
 public:
  constexpr explicit Kind(const char* name, const Kind* parent = nullptr)
      : name_(name), parent_(parent) {}
  Kind(const Kind&) = delete;
  Kind& operator=(const Kind&) = delete;

  /// Its name, as messages and structures have it.
  constexpr std::string_view name() const { return name_; }
  /// The kind of which it is a special case; null for the root.
  constexpr const Kind* parent() const { return parent_; }
  /// Whether this is `other` or a special case of it.
  constexpr bool is_a(const Kind& other) const {
    for (const Kind* k = this; k; k = k->parent_)
      if (k == &other) return true;
    return false;
  }

 private:
  const char* name_;
  const Kind* parent_;
};

namespace kinds {
/// The root of all kinds.
inline constexpr Kind variable("Variable");
/// What is trained. A leaf that is a plain array counts as one.
inline constexpr Kind param("Param", &variable);
}  // namespace kinds

/// What was noted of a variable; part of a tree's structure, so that a change means another
/// program.
struct Metadata {
  /// The logical or mesh axis that shards each dimension, "" for none; empty: no sharding noted.
  std::vector<std::string> out_sharding;
  /// The name of the stream that a key or count belongs to; filters find it by `with_tag`.
  std::string tag;
  /// Further metadata of the user, by name.
  std::map<std::string, std::string> notes;

  /// Whether nothing was noted.
  bool empty() const { return out_sharding.empty() && tag.empty() && notes.empty(); }
  /// "out_sharding=(embed, mlp), tag=params", as messages and structures have it.
  std::string to_string() const;
  bool operator==(const Metadata&) const = default;
};
/// Shared and unchanging; null where nothing was noted.
using MetadataPtr = std::shared_ptr<const Metadata>;
/// Equal in content.
bool equal(const MetadataPtr& a, const MetadataPtr& b);

}  // namespace strata::tree
