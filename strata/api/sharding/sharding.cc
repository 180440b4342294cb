#include "strata/api/sharding/sharding.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "strata/api/sharding/placement.h"
#include "strata/api/trace/trace.h"
#include "strata/runtime/device.h"

namespace strata {
namespace {

using internal::describe;
using internal::fail;
using internal::Placement;
using internal::Site;

/// Throws in the user's terms what does not fit the array.
void expect_divides(const char* self, const Type& type, const NamedSharding& sharding) {
  const std::size_t entries = sharding.spec().entries().size();
  if (entries > static_cast<std::size_t>(type.rank()))
    fail(self, "{} has {} entries, and {} has {} dimensions", sharding.spec().to_string(), entries,
         describe(type), type.rank());
  for (std::size_t d = 0; d < entries; ++d) {
    std::int64_t pieces = 1;
    for (const std::string& axis : sharding.spec().entries()[d].axes)
      pieces *= sharding.mesh().axis_size(axis);
    const std::int64_t size = type.shape()[static_cast<int>(d)];
    if (size % pieces != 0)
      fail(self, "dimension {} of {} has size {}, which the {} devices of {} over {} do not divide",
           d, describe(type), size, pieces, sharding.spec().to_string(),
           sharding.mesh().to_string());
  }
}
void expect_constrained(const char* self, const NamedSharding& sharding) {
  for (const mesh::SpecEntry& e : sharding.spec().entries())
    if (e.unconstrained)
      fail(self, "{} leaves a dimension to the compiler, which constraints within programs may",
           sharding.spec().to_string());
}

/// The placement of an array of that type under the sharding. Throws as the two above, and for
/// devices that are not there.
Placement& placement_for(const char* self, const Type& type, const NamedSharding& sharding) {
  expect_divides(self, type, sharding);
  expect_constrained(self, sharding);
  return Placement::of(sharding);
}

std::vector<ShardIndex> indices_of(const Type& type, const NamedSharding& sharding) {
  return sharding.indices(type.shape().sizes());
}

}  // namespace

Mesh make_mesh(std::vector<mesh::MeshAxis> axes, Where where) {
  Site site(where);
  Mesh out(std::move(axes));
  Placement::of(NamedSharding(out, PartitionSpec()));  // looks for the devices
  return out;
}

std::string to_string(const ShardIndex& index, const Shape& shape) {
  std::string out;
  for (std::size_t d = 0; d < index.size(); ++d) {
    const bool whole = index[d].begin == 0 && index[d].end == shape[static_cast<int>(d)];
    out += d > 0 ? ", " : "";
    out += whole ? "slice(None, None, None)"
                 : fmt::format("slice({}, {}, None)", index[d].begin, index[d].end);
  }
  return index.size() == 1 ? "(" + out + ",)" : "(" + out + ")";
}

bool has_named_sharding(const Array& x) { return internal::sharded(x) != nullptr; }

NamedSharding named_sharding(const Array& x) {
  const auto there = internal::sharded(x);
  if (there == nullptr)
    fail("named_sharding", "{} lies on {}, not on a mesh", describe(x.type()),
         x.devices().front().to_string());
  return there->device().sharding();
}

std::vector<Shard> addressable_shards(const Array& x) {
  const auto there = internal::sharded(x);
  if (there == nullptr) {
    ShardIndex all;
    for (std::int64_t size : x.shape().sizes()) all.push_back({0, size});
    return {{x.devices().front(), std::move(all), 0, x}};
  }
  const Placement& placement = there->device();
  const std::vector<ShardIndex> indices = indices_of(x.type(), placement.sharding());
  std::vector<Shard> out;
  for (std::size_t d = 0; d < indices.size(); ++d) {
    if (!placement.is_here(d)) continue;
    const auto before = indices.begin() + static_cast<std::ptrdiff_t>(d);
    runtime::Buffer part = there->parts()[d];
    out.push_back({Device(*placement.devices()[d]), indices[d],
                   static_cast<int>(std::count(indices.begin(), before, indices[d])),
                   internal::concrete(std::move(part).bound(), x.weak())});
  }
  return out;
}

bool is_fully_addressable(const Array& x) {
  const auto there = internal::sharded(x);
  return there == nullptr || there->device().is_all_here();
}

bool is_fully_replicated(const Array& x) {
  const auto there = internal::sharded(x);
  return there == nullptr || there->device().sharding().is_fully_replicated();
}

Array device_put(const Array& x, const NamedSharding& sharding, Where where) {
  Site site(where);
  if (internal::Trace::current() || x.is_traced())
    return lax::with_sharding_constraint(Operand(x, where), sharding);
  Placement& placement = placement_for("device_put", x.type(), sharding);
  if (!is_fully_addressable(x) && named_sharding(x) != sharding) {
    if (!(named_sharding(x).mesh() == sharding.mesh()))
      fail("device_put",
           "{} lies on {}, in part in other processes, and cannot be put on the mesh {}",
           describe(x.type()), named_sharding(x).mesh().to_string(), sharding.mesh().to_string());
    return jit([&](const Array& a) { return lax::with_sharding_constraint(a, sharding); },
               JitOptions{.name = "device_put"})(x);
  }
  const runtime::Buffer buffer = x.buffer();
  return internal::concrete(runtime::Buffer(buffer.type(), placement.put(buffer)).bound(),
                            x.weak());
}

Array make_array_from_callback(const Sizes& shape, const NamedSharding& sharding,
                               const std::function<Array(const ShardIndex&)>& data, Where where) {
  constexpr const char* self = "make_array_from_callback";
  Site site(where);
  const Type untyped(DType::f32, Shape::of(shape.get()));
  Placement& placement = placement_for(self, untyped, sharding);
  const Sizes part(sharding.shard_shape(shape.get()));
  const std::vector<ShardIndex> indices = indices_of(untyped, sharding);
  std::vector<std::pair<ShardIndex, Array>> made;
  std::vector<runtime::Buffer> parts;
  for (std::size_t d = 0; d < indices.size(); ++d) {
    if (!placement.is_here(d)) {
      parts.emplace_back();
      continue;
    }
    auto it = std::find_if(made.begin(), made.end(),
                           [&](const auto& each) { return each.first == indices[d]; });
    if (it == made.end()) {
      Array x = data(indices[d]);
      if (x.shape() != Shape::of(part.get()) ||
          x.dtype() != (made.empty() ? x : made[0].second).dtype())
        fail(self, "the part {} of shape {} came as {}, not as {}",
             strata::to_string(indices[d], untyped.shape()), describe(untyped.shape()),
             describe(x.type()),
             describe(Type((made.empty() ? x : made[0].second).dtype(), Shape::of(part.get()))));
      made.emplace_back(indices[d], std::move(x));
      it = made.end() - 1;
    }
    const runtime::Buffer buffer = it->second.buffer();
    parts.emplace_back(buffer.type(), placement.devices()[d]->put(buffer));
  }
  if (made.empty()) fail(self, "no device of {} is of this process", sharding.mesh().to_string());
  return internal::sharded_array(placement, untyped.with(made[0].second.dtype()), std::move(parts),
                                 false);
}

Array make_array_from_single_device_arrays(const Sizes& shape, const NamedSharding& sharding,
                                           const std::vector<Array>& arrays, Where where) {
  constexpr const char* self = "make_array_from_single_device_arrays";
  Site site(where);
  const Type untyped(DType::f32, Shape::of(shape.get()));
  Placement& placement = placement_for(self, untyped, sharding);
  std::size_t own = 0;
  for (std::size_t d = 0; d < placement.devices().size(); ++d) own += placement.is_here(d);
  if (arrays.size() != own || own == 0)
    fail(self, "{} arrays for the {} devices of {}{}", arrays.size(), own,
         sharding.mesh().to_string(),
         own == placement.devices().size() ? "" : " that are of this process");
  const Type type = untyped.with(arrays[0].dtype());
  const Type part = type.with(Shape::of(sharding.shard_shape(shape.get())));
  std::vector<runtime::Buffer> parts(placement.devices().size());
  for (const Array& x : arrays) {
    if (x.type() != part)
      fail(self, "a part of {} over {} is {}, got {}", describe(type), sharding.spec().to_string(),
           describe(part), describe(x.type()));
    const std::vector<Device> lies = x.devices();
    const auto& all = placement.devices();
    const auto at = std::find(all.begin(), all.end(), &lies.front().get());
    if (lies.size() != 1 || at == all.end() || !x.buffer().there())
      fail(self, "an array on {} is no part on a device of {}", lies.front().to_string(),
           sharding.mesh().to_string());
    runtime::Buffer& place = parts[static_cast<std::size_t>(at - all.begin())];
    if (place.there()) fail(self, "two arrays lie on {}", lies.front().to_string());
    place = x.buffer();
  }
  return internal::sharded_array(placement, type, std::move(parts), false);
}

Array lax::with_sharding_constraint(const Operand& x, const mesh::NamedSharding& sharding) {
  constexpr const char* self = "with_sharding_constraint";
  Site site(x);
  expect_divides(self, x->type(), sharding);
  if (!internal::Trace::current() && !x->is_traced()) return device_put(x.array, sharding, x.where);
  const std::string text =
      internal::sharding_attribute(sharding, static_cast<std::size_t>(x->ndim()));
  return internal::emit_one({x.array}, x->weak(), [&](ir::Builder& b, const ir::Values& v) {
    return b.create("sdy.sharding_constraint", {v[0]}, {{"sharding", ir::Opaque{text}}}).result();
  });
}

void internal::check_shardings(const char* option, std::size_t given, std::size_t count) {
  if (given != count)
    fail("jit", "{} has {} shardings for {} {}", option, given, count,
         std::string(option) == "in_shardings" ? "arguments" : "arrays of the result");
}

}  // namespace strata
