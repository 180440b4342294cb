#include "strata/api/sharding/explicit.h"

#include <fmt/format.h>

#include <algorithm>

#include "strata/api/sharding/explicit_types.h"
#include "strata/api/sharding/placement.h"

namespace strata {
namespace {

using internal::describe;
using internal::fail;
using internal::Site;
using internal::Typed;

/// The mesh that a spec is of: that of the first array that is sharded over one, or of `set_mesh`;
/// with the types that the region around gives its axes.
Mesh mesh_for(const char* name, std::span<const Array> arrays, const PartitionSpec& spec) {
  for (const Array& x : arrays) {
    if (const std::optional<Typed> t = internal::typed(x)) return t->mesh;
    if (!x.is_traced() && has_named_sharding(x)) return internal::seen(named_sharding(x).mesh());
  }
  const Mesh* mesh = internal::current_mesh();
  if (mesh == nullptr)
    fail(name, "{} is of no mesh: no array lies on one, and there is no set_mesh(mesh) around",
         spec.to_string());
  return internal::seen(*mesh);
}

/// The mesh's sharding by the spec, for x. Throws Error as NamedSharding, with x's type.
NamedSharding sharding_for(const char* name, const Array& x, const Mesh& mesh,
                           const PartitionSpec& spec) {
  try {
    return NamedSharding(mesh, spec);
  } catch (const Error& e) {
    fail(name, "{}: {}", describe(x.type()), e.message());
  }
}

void expect_explicit(const char* name, const NamedSharding& sharding) {
  for (const mesh::SpecEntry& entry : sharding.spec().entries())
    for (const std::string& axis : entry.axes) {
      const auto at = sharding.mesh().abstract().find(axis);
      if (sharding.mesh().axes()[*at].type != AxisType::Explicit)
        fail(name, "{} names the axis {}, which is {} in {}; with_sharding_constraint is for those",
             sharding.spec().to_string(), axis, mesh::name_of(sharding.mesh().axes()[*at].type),
             sharding.mesh().to_string());
    }
}

Array moved(const char* name, const Array& x, const NamedSharding& sharding) {
  if (sharding.spec().entries().size() > static_cast<std::size_t>(x.ndim()))
    fail(name, "{} has {} entries, and {} has {} dimensions", sharding.spec().to_string(),
         sharding.spec().entries().size(), describe(x.type()), x.ndim());
  expect_explicit(name, sharding);
  try {
    (void)sharding.shard_shape(x.shape().sizes());
  } catch (const Error& e) {
    fail(name, "{} as {}: {}", describe(x.type()), sharding.spec().to_string(), e.message());
  }
  internal::use_explicit(sharding.mesh());
  const std::optional<Typed> before = internal::typed(x);
  const bool eager = !internal::Trace::current() && !x.is_traced();
  if (eager && (!before || before->sums.unreduced.empty())) return device_put(x, sharding);
  const Typed type{sharding.mesh(),
                   spmd::axes_of(sharding.spec(), static_cast<std::size_t>(x.ndim())),
                   spmd::sums_of(sharding.spec())};
  return internal::emit_one({x}, x.weak(), [&](ir::Builder& b, const ir::Values& v) {
    return internal::with_type(b, v[0], type, before && before->sums.any());
  });
}

}  // namespace

set_mesh::set_mesh(Mesh mesh) : mesh_(std::move(mesh)), before_(internal::current_mesh()) {
  internal::use_explicit(mesh_);
  internal::current_mesh() = &mesh_;
}
set_mesh::~set_mesh() { internal::current_mesh() = before_; }

bool has_sharding_in_type(const Array& x) { return internal::typed(x).has_value(); }

PartitionSpec spec_of_type(const Array& x, Where where) {
  Site site(where);
  const std::optional<Typed> t = internal::typed(x);
  if (!t) fail("spec_of_type", "{} lies on no mesh with Explicit axes", describe(x.type()));
  return t->spec();
}

Array reshard(const Operand& x, const PartitionSpec& spec) {
  Site site(x);
  const Mesh mesh = mesh_for("reshard", std::span(&x.array, 1), spec);
  return moved("reshard", x.array, sharding_for("reshard", x.array, mesh, spec));
}
Array reshard(const Operand& x, const NamedSharding& sharding) {
  Site site(x);
  return moved("reshard", x.array, NamedSharding(internal::seen(sharding.mesh()), sharding.spec()));
}

namespace internal {

AnyResultScope::AnyResultScope(const PartitionSpec* asked) { new_any_result(asked); }
AnyResultScope::~AnyResultScope() { end_any_result(); }

AxisTypeScope::AxisTypeScope(std::vector<std::string> axes, AxisType type) {
  begin_axes_as(std::move(axes), type);
}
AxisTypeScope::~AxisTypeScope() { end_axes_as(); }

namespace {
/// What comes of `asked` by upstream's rules: a product is never reduced, and a sum is reduced, and
/// where nothing is asked unreduced, as its operand is. Throws Error for functions whose results
/// cannot be either.
PartitionSpec as_upstream(const char* self, std::span<const Array> operands,
                          const PartitionSpec& asked) {
  const std::string_view name = self;
  const spmd::Sums wanted = spmd::sums_of(asked);
  const std::optional<Typed> first = operands.empty() ? std::nullopt : typed(operands[0]);
  if (name == "dot" || name == "matmul" || name == "einsum") return asked.with_reduced({});
  if (name == "sum" && first) {
    const PartitionSpec out = asked.with_reduced(first->sums.reduced);
    return wanted.unreduced.empty() ? out.with_unreduced(first->sums.unreduced) : out;
  }
  if (name == "reshape" && wanted != (first ? first->sums : spmd::Sums()))
    fail("reshape", "{} is to lie as {}; a reshape keeps what is unreduced or reduced (reshard)",
         first ? first->spec().to_string() : "an operand that lies on no mesh", asked.to_string());
  if (wanted.any() && (name == "take" || name == "get" || name == "ragged_dot"))
    fail(self, "its result cannot be unreduced or reduced, as {} says; move it then (reshard)",
         asked.to_string());
  return asked;
}
}  // namespace

Array lying(const char* name, const Array& result, std::span<const Array> operands,
            const OutSharding& out) {
  const PartitionSpec spec = as_upstream(name, operands, out.spec());
  return moved(name, result, sharding_for(name, result, mesh_for(name, operands, spec), spec));
}

void reshard_all(const char* name, const std::vector<Array*>& arrays,
                 const OneOrMore<PartitionSpec>& specs, std::span<const Array> like) {
  if (specs.empty()) return;
  if (!specs.is_one() && specs.size() != arrays.size())
    fail(name, "{} specs for {} arrays", specs.size(), arrays.size());
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const PartitionSpec& spec = specs[specs.is_one() ? 0 : i];
    *arrays[i] =
        moved(name, *arrays[i], sharding_for(name, *arrays[i], mesh_for(name, like, spec), spec));
  }
}

}  // namespace internal
}  // namespace strata
