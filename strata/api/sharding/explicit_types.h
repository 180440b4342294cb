// Shardings that are part of traced types: what `record` (record.cc) asks of explicit mode. Private
// to this room; users enter by explicit.h.
//
// A traced array whose mesh has Explicit axes is the result of a sharding constraint that carries
// the types of the mesh's axes (kAxisTypes). So its sharding is found beside the value, transforms
// carry it as they carry any constraint, and where explicit mode is not used nothing is asked.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "strata/api/array.h"
#include "strata/api/sharding/axis_types.h"
#include "strata/api/trace/trace.h"
#include "strata/mesh/spec.h"

namespace strata::internal {

/// The sharding in the array's type, with axes as the region around sees them (auto_axes); nothing
/// where no axis of its mesh is Explicit.
std::optional<Typed> typed(const Array& x);

/// x constrained to that sharding, as a typed value. Of a scalar a type says only what it is
/// unreduced and reduced over; `was_summed`: whether x is either.
ir::Value* with_type(ir::Builder& b, ir::Value* x, const Typed& type, bool was_summed = false);

/// `Array::weak` says which array was read: function.h reads an argument's type and weakness and at
/// once makes the trace's argument of them, which is then sharded as that array is.
void note_read(const ArrayState& state);
/// The sharding of an argument of that type that is made of the array read last; `number`: which
/// argument of the trace.
std::optional<Typed> read_for(const Type& type, std::size_t number);
/// Of the arguments of the next trace, behind the first, the axes that vmap takes away.
void dropped_axes(const std::vector<std::optional<int>>& axes);
/// Throws Error where an axis that cuts a mapped dimension cuts a value of the function, too.
void expect_not_within(const ir::Block& block, std::span<const Array> leaves,
                       const std::vector<std::optional<int>>& mapped);
/// The next trace's arguments are parts of one device (shard_map): their types say nothing.
void local_arguments();
/// x typed so.
Array lying_as(const Array& x, const mesh::Mesh& mesh, const mesh::PartitionSpec& spec);

/// What was recorded from operation `first` of the block on, checked; and its results with their
/// types. Throws Error for operands that explicit mode refuses, unless transforms wrote the
/// operations (then they are left to the compiler), or `AnyResultScope` is around.
ir::Values with_types(Trace& trace, std::size_t first, std::span<const Array> operands,
                      ir::Values results);

/// Between these two operations whose result is ambiguous are left to the compiler. `asked`: what
/// they are to give as addends (null: not checked); lives until the end.
void new_any_result(const mesh::PartitionSpec* asked);
void end_any_result();

/// Between these two the named axes (none: all) have this type on this thread.
void begin_axes_as(std::vector<std::string> axes, mesh::AxisType type);
void end_axes_as();
/// The mesh with the types that the region around gives its axes.
mesh::Mesh seen(const mesh::Mesh& mesh);

/// The mesh of `set_mesh`, by thread; null for none.
const mesh::Mesh*& current_mesh();
/// What a program depends on beyond its arguments.
void append_explicit_settings(std::string& key);

}  // namespace strata::internal
