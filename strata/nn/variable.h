// Variables: arrays of a kind, with notes.
//
//   nn::Param kernel = init(key, {4, 8}, DType::f32);
//   kernel = kernel - 0.1f * g;              // another value; kind and notes stay
//   nn::Param sharded(w, {.out_sharding = {"embed", "mlp"}});
//
//   struct AdapterKind { static constexpr tree::Kind kind{"Adapter", &nn::ParamKind::kind}; };
//   using Adapter = nn::Variable<AdapterKind>;      // a kind of one's own, which is a Param
//
// A variable is an Array wherever one is expected. A plain Array in a module counts as a Param.
// Source: Flax NNX's Variable. Deviation: a variable holds one array; a tree of arrays is a struct
// of variables.
#pragma once

#include "strata/api/tree/tree.h"

namespace strata::nn {

using tree::Metadata;
using tree::MetadataPtr;

namespace detail {
/// Whether metadata has an entry: "out_sharding", "tag", or a note of the user's.
bool has_metadata(const Metadata& metadata, std::string_view name);
/// The metadata without an entry. Throws Error with the entries there are where it has none.
Metadata without_metadata(Metadata metadata, std::string_view name);
}  // namespace detail

/// An array whose kind the type says.
template <class K>
class Variable : public Array {
 public:
  Variable() = default;
  /// With the notes of another variable's value nothing is copied: they belong to the place.
  Variable(const Array& value) : Array(value) {}        // NOLINT: implicit by intent
  Variable(Array&& value) : Array(std::move(value)) {}  // NOLINT
  template <Scalar T>
  Variable(T value) : Array(value) {}  // NOLINT
  Variable(const Array& value, Metadata metadata) : Array(value) {
    set_metadata(std::move(metadata));
  }
  Variable(const Variable&) = default;
  Variable(Variable&&) noexcept = default;
  Variable& operator=(const Variable&) = default;
  Variable& operator=(Variable&&) noexcept = default;
  /// Another value; the notes stay.
  Variable& operator=(const Array& value) {
    Array::operator=(value);
    return *this;
  }
  Variable& operator=(Array&& value) {
    Array::operator=(std::move(value));
    return *this;
  }

  /// Its kind, which the type says.
  static constexpr const tree::Kind& kind() { return K::kind; }
  /// Notes; empty ones where nothing was noted.
  const Metadata& metadata() const {
    static const Metadata none;
    return metadata_ ? *metadata_ : none;
  }
  /// Puts other notes in place of those there are; empty ones leave none.
  void set_metadata(Metadata metadata) {
    metadata_ = metadata.empty() ? nullptr : std::make_shared<const Metadata>(std::move(metadata));
  }
  /// Whether it has an entry of metadata: "out_sharding", "tag", or a note of the user's.
  bool has_metadata(std::string_view name) const { return detail::has_metadata(metadata(), name); }
  /// Removes an entry of metadata. Throws Error, naming the entries there are, where it has none.
  void del_metadata(std::string_view name) {
    set_metadata(detail::without_metadata(metadata(), name));
  }
  /// A copy with another value, or with other notes.
  Variable replace(const Array& value) const {
    Variable out = *this;
    out = value;
    return out;
  }
  Variable replace(const Array& value, Metadata metadata) const {
    return {value, std::move(metadata)};
  }

  MetadataPtr& metadata_ref() { return metadata_; }
  const MetadataPtr& metadata_ref() const { return metadata_; }
  /// Joins the notes to a structure's text.
  void append_metadata(std::string& text) const {
    if (metadata_) text += "(" + metadata_->to_string() + ")";
  }

 private:
  MetadataPtr metadata_;
};

/// The root of all kinds, under which filters find every variable.
struct VariableStateKind {
  static constexpr const tree::Kind& kind = tree::kinds::variable;
};
/// The kind of `Param`.
struct ParamKind {
  static constexpr const tree::Kind& kind = tree::kinds::param;
};
/// The kind of `LoRAParam`; a Param.
struct LoRAParamKind {
  static constexpr tree::Kind kind{"LoRAParam", &tree::kinds::param};
};
/// The kind of `BatchStat`.
struct BatchStatKind {
  static constexpr tree::Kind kind{"BatchStat", &tree::kinds::variable};
};
/// The kind of `Cache`.
struct CacheKind {
  static constexpr tree::Kind kind{"Cache", &tree::kinds::variable};
};
/// The kind of `Intermediate`.
struct IntermediateKind {
  static constexpr tree::Kind kind{"Intermediate", &tree::kinds::variable};
};
/// The kind of `Perturbation`; an Intermediate.
struct PerturbationKind {
  static constexpr tree::Kind kind{"Perturbation", &IntermediateKind::kind};
};
/// The kind of `RngState`.
struct RngStateKind {
  static constexpr tree::Kind kind{"RngState", &tree::kinds::variable};
};
/// The kind of `RngKey`; an RngState.
struct RngKeyKind {
  static constexpr tree::Kind kind{"RngKey", &RngStateKind::kind};
};
/// The kind of `RngCount`; an RngState.
struct RngCountKind {
  static constexpr tree::Kind kind{"RngCount", &RngStateKind::kind};
};
/// The kind of `OptState`.
struct OptStateKind {
  static constexpr tree::Kind kind{"OptState", &tree::kinds::variable};
};
/// The kind of `OptArray`; an OptState.
struct OptArrayKind {
  static constexpr tree::Kind kind{"OptArray", &OptStateKind::kind};
};
/// The kind of `OptVariable`; an OptState.
struct OptVariableKind {
  static constexpr tree::Kind kind{"OptVariable", &OptStateKind::kind};
};
/// The kind of `MetricState`.
struct MetricStateKind {
  static constexpr tree::Kind kind{"MetricState", &tree::kinds::variable};
};

/// What is trained.
using Param = Variable<ParamKind>;
/// A low-rank adapter's matrix; a Param.
using LoRAParam = Variable<LoRAParamKind>;
/// Statistics of batches: running means and variances, estimates of singular values.
using BatchStat = Variable<BatchStatKind>;
/// Keys and values of tokens seen, and how many there are.
using Cache = Variable<CacheKind>;
/// What `sow` put aside.
using Intermediate = Variable<IntermediateKind>;
/// Zeros that were added to a value, so that its gradient can be asked for.
using Perturbation = Variable<PerturbationKind>;
/// What a stream of random numbers holds: a key, or a count of calls.
using RngState = Variable<RngStateKind>;
/// The key of a stream, ui32[..., n].
using RngKey = Variable<RngKeyKind>;
/// How often a stream was asked, ui32 of its keys' shape.
using RngCount = Variable<RngCountKind>;
/// What an optimizer remembers, such as its count of steps.
using OptState = Variable<OptStateKind>;
/// What an optimizer remembers that belongs to no parameter.
using OptArray = Variable<OptArrayKind>;
/// What an optimizer remembers of a parameter: a moment, say.
using OptVariable = Variable<OptVariableKind>;
/// Sums and counts of metrics.
using MetricState = Variable<MetricStateKind>;

/// Leaves of a kind of variable: `of<Param>()`. Plain arrays count as Param.
template <class V>
tree::Filter of() {
  return tree::of_kind(V::kind());
}
using tree::everything;
using tree::Filter;
using tree::nothing;

}  // namespace strata::nn

template <class K>
inline constexpr bool strata::tree::is_leaf<strata::nn::Variable<K>> = true;
