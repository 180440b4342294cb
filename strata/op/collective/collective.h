// What the operations between processes share: who works with whom, and what is demanded of the
// attributes that say so.
//
// `replica_groups` (i64 [groups, size], -1 where a group is shorter; empty: all in one group) holds
// ids, which stand for processes of the grid by one of four strategies (StableHLO, Collective ops).
// Attributes `channel_id`, `use_global_device_ids`, `has_dynamic_root` may be absent: 0 and false.
#pragma once

#include "strata/op/collective/world.h"
#include "strata/op/rules.h"

namespace strata::op::collective {

enum class Strategy : std::uint8_t {
  cross_replica,
  cross_partition,
  cross_replica_and_partition,
  flattened_ids
};

/// By channel_id and use_global_device_ids: all_gather, all_reduce, reduce_scatter.
Strategy joint_strategy(const Attrs& attrs);
/// By channel_id alone: all_to_all, collective_broadcast, collective_permute, collective_reduce.
Strategy exchange_strategy(const Attrs& attrs);

bool has_dynamic_root(const Attrs& attrs);

// ---- contract ----------------------------------------------------------------------------------
// Names of constraints ("C2") are those that the specification gives them for the operation.
/// Throws unless replica_groups is there, of the right kind, and its ids are `unique` and not
/// negative (`range`).
void expect_groups(std::string_view op, const Attrs& attrs, const char* unique, const char* range);
/// Throws unless use_global_device_ids comes with a channel.
void expect_channel_of_global_ids(std::string_view op, const Attrs& attrs, const char* constraint);
/// Throws unless source_target_pairs, where stated, are pairs (C1) with unique sources (C2) and
/// unique targets (C3), none negative (C4).
void expect_pairs(std::string_view op, const Attrs& attrs);
/// Throws unless there is an operand and all are tensors (I1).
void expect_tensors(std::string_view op, std::span<Value* const> operands);
/// With has_dynamic_root: throws unless the last of two operands or more is an i32 for each of the
/// others.
void expect_root(std::string_view op, std::span<Value* const> operands, const Attrs& attrs,
                 const char* constraint);
/// Processes in a group (the longest one), as far as it is known without the grid.
std::optional<std::int64_t> group_size(const Attrs& attrs, Strategy strategy);
/// What the computation of a reduction takes: the arguments' dtype of its region, or the operand's
/// for a plain combiner. Throws unless a region maps two scalars of one type to one of it, and
/// operands can be promoted to it.
std::vector<Type> infer_reduced(std::string_view op, std::span<Value* const> operands,
                                const Attrs& attrs, std::span<const std::unique_ptr<Block>> regions,
                                const char* constraint);

// ---- groups in a grid --------------------------------------------------------------------------
/// All groups; throws strata::Error for ids outside of the grid, which breaks `range`.
std::vector<ProcessGroup> groups(const Op& op, Strategy strategy, std::int64_t replicas,
                                 std::int64_t partitions, const char* range);
/// The group that holds the process; nothing when it is in none.
std::optional<ProcessGroup> group_of(const Op& op, Strategy strategy, const Process& process,
                                     const char* range);
/// The same for operations whose groups must cover the grid: throws when it is in none, which
/// breaks `cover`.
ProcessGroup own_group(const Op& op, Strategy strategy, const Process& process, const char* cover,
                       const char* range);
/// Values of all processes of the group in its order; throws when they differ in number or types.
std::vector<Literals> meet(const Op& op, const ProcessGroup& group, Process& process,
                           std::span<const Literal> given);
/// The place in its group of the root of a result: the first, or as the last operand says.
std::size_t root_of(const Op& op, std::size_t result, std::span<const Literal> operands,
                    const ProcessGroup& group);
/// Where a process stands in its group.
std::int64_t place_in(const ProcessGroup& group, const ProcessId& id);

// ---- values ------------------------------------------------------------------------------------
/// Operands of processes in order combined from left to right into `type`.
Literal reduced(const Op& op, const Type& type, const Literals& values, Evaluator& evaluator);
/// Parts of equal types side by side along a dimension.
Literal concatenated(const Literals& parts, const Type& type, std::int64_t dim);
/// Part `index` of `count` along a dimension.
Literal part(const Literal& x, const Type& type, std::int64_t dim, std::int64_t index);
/// Elements that stand for 0.
Literal zero(const Type& type);

// ---- one process alone -------------------------------------------------------------------------
/// Throws strata::Error (unsupported) when the operation needs more than the one process that
/// compiled code is.
void expect_alone(const Op& op);

/// An operand as a result of the computation's type.
Value* as_result(Builder& b, Value* v, const Type& type);

// ---- rules that collectives share --------------------------------------------------------------
inline constexpr None kBetweenProcesses{
    "between processes; of a group of one it is what its decomposition says"};
inline constexpr None kNoRegions{"split by dependence on the tangents"};
/// Every tensor with the batch's leading dimension (a root alone stays), and results of the types
/// with it.
struct BatchedOperands {
  Values operands;
  std::vector<Type> results;
};
BatchedOperands batched_operands(Builder& b, const Op& op, std::span<Value* const> operands,
                                 const std::vector<bool>& batched, std::int64_t size);
/// The same operation on other operands, its region too, results stated.
Op& again(Builder& b, const Op& op, Values operands, Attrs attrs, std::vector<Type> results);
Op& again(Builder& b, const Op& op, Values operands);
/// Linear in all its tensors together: the same operation on the tangents (the last operand, where
/// it is a root, has none).
JvpResult tensors_jvp(Builder& b, const Op& op, std::span<Value* const> operands,
                      std::span<Value* const> tangents);
/// The same for reductions, which are linear when they add; throws for others.
JvpResult sum_jvp(Builder& b, const Op& op, std::span<Value* const> operands,
                  std::span<Value* const> tangents);
/// A result's cotangent or zeros.
Values or_zero_cotangents(Builder& b, const Op& op, std::span<Value* const> cotangents);
/// Dimensions that keep their size and their place pass through; others stay whole.
Factors shard(const Op& op);
/// Bytes, and for reductions one operation for each element.
Work cost(const Op& op);

/// What differs between collectives.
struct Row {
  const char *name, *summary;
  decltype(ir::OpInfo::infer) infer = nullptr;  // or
  decltype(ir::OpInfo::verify) verify = nullptr;
  const char* inferred_by = "";  // ir/constraint.h
  Evaluate by_reference;
  Transpose transpose;
  Batch batch;
  Decompose decompose;
};
/// Of those that move operands, and of those that combine them by a computation.
OpDef moving(const Row& row);
OpDef reducing(const Row& row);

}  // namespace strata::op::collective
