#include "strata/op/collective/collective.h"

#include <algorithm>
#include <set>

#include "strata/ir/constraint.h"
#include "strata/ir/text/format.h"
#include "strata/ir/text/type_text.h"
#include "strata/op/build.h"
#include "strata/op/evaluate.h"
#include "strata/op/quantized/quantized.h"
#include "strata/op/reduce/combiner.h"

namespace strata::op {
const OpDef& uniform_quantize_def();  // uniform_quantize.cc
}

namespace strata::op::collective {
namespace {

std::int64_t channel_id(const Attrs& attrs) { return attrs.get_or<std::int64_t>("channel_id", 0); }
bool uses_global_ids(const Attrs& attrs) {
  return attrs.get_or<bool>("use_global_device_ids", false);
}

/// Axes of a mesh are carried as text.
bool by_mesh(const Attrs& attrs) {
  const ir::Attr* a = attrs.find("replica_groups");
  return a != nullptr && std::holds_alternative<ir::Opaque>(*a);
}

std::vector<Ints> rows(const Literal& table) {
  std::vector<Ints> out;
  std::int64_t width = table.shape()[1];
  for (std::int64_t r = 0; r < table.shape()[0]; ++r) {
    Ints row;
    for (std::int64_t c = 0; c < width; ++c)
      if (std::int64_t id = table.integer(r * width + c); id != -1) row.push_back(id);
    if (!row.empty()) out.push_back(std::move(row));
  }
  return out;
}

const Literal& expect_table(std::string_view op, const Attrs& attrs, const std::string& name) {
  const Literal& table = expect_attr<Literal>(op, attrs, name);
  if (table.dtype() != DType::i64 || table.type().rank() != 2)
    throw Error(std::string(op), "{} must be a matrix of i64, got {}", name,
                table.type().to_string());
  return table;
}

std::string argument_types_text(const Block& region) {
  std::vector<Type> types;
  for (const auto& a : region.arguments()) types.push_back(a->type());
  return ir::type_list_text(types);
}

const Block* computation(const Op& op) {
  return op.regions.empty() ? nullptr : op.regions[0].get();
}

std::int64_t data_operands(const Op& op) {
  return static_cast<std::int64_t>(op.operands.size()) - (has_dynamic_root(op.attrs) ? 1 : 0);
}

/// A plain combiner accumulates as a reduction does: bf16 and f16 in f32, rounded once.
Literal reduced_plainly(Combiner combiner, const Literals& values, Evaluator& evaluator) {
  Block block;
  Builder b(block);
  DType dtype = values[0].dtype(),
        wide = is_complex(dtype) || values[0].type().is_quantized() ? dtype : accumulator(dtype);
  Value* total = nullptr;
  for (const Literal& x : values) {
    Value* next = block.add_argument(x.type());
    if (wide != dtype) next = convert(b, next, wide);
    total = total == nullptr ? next : combined(b, combiner, total, next);
  }
  block.results = {wide == dtype ? total : convert(b, total, dtype)};
  return evaluator.run(block, values)[0];
}

/// The value as one of the computation's element type (to_destination_type of the specification).
Literal promoted(const Literal& x, const Type& type, Evaluator& evaluator) {
  if (x.type() == type) return x;
  Block block;
  Builder b(block);
  block.results = {as_result(b, block.add_argument(x.type()), type)};
  return evaluator.run(block, std::array{x})[0];
}

Literal element(const Literal& x, const Type& type, std::int64_t i) {
  Literal out(type);
  copy_element(x, i, out, 0);
  return out;
}

Literal reduced_by_region(const Block& region, const Type& type, const Literals& values,
                          Evaluator& evaluator) {
  Type scalar = region.argument(0)->type();
  Literal total = promoted(values[0], type, evaluator);
  for (std::size_t v = 1; v < values.size(); ++v) {
    Literal next = promoted(values[v], type, evaluator), combined(type);
    for (std::int64_t i = 0; i < combined.count(); ++i)
      copy_element(
          evaluator.run(region, std::array{element(total, scalar, i), element(next, scalar, i)})[0],
          0, combined, i);
    total = std::move(combined);
  }
  return total;
}

bool is_promotable(const Type& from, const Type& to) {
  auto same_kind = [](DType a, DType b) {
    return (is_bool(a) && is_bool(b)) || (is_integer(a) && is_integer(b)) ||
           (is_float(a) && is_float(b)) || (is_complex(a) && is_complex(b));
  };
  if (from.is_quantized() != to.is_quantized()) return false;
  if (from.is_quantized() && from.quantization()->expressed != to.quantization()->expressed)
    return false;
  return same_kind(from.dtype(), to.dtype()) && bit_width(from.dtype()) <= bit_width(to.dtype());
}

}  // namespace

Strategy joint_strategy(const Attrs& attrs) {
  if (uses_global_ids(attrs)) return Strategy::flattened_ids;
  return channel_id(attrs) > 0 ? Strategy::cross_replica_and_partition : Strategy::cross_replica;
}
Strategy exchange_strategy(const Attrs& attrs) {
  return channel_id(attrs) > 0 ? Strategy::cross_partition : Strategy::cross_replica;
}

bool has_dynamic_root(const Attrs& attrs) { return attrs.get_or<bool>("has_dynamic_root", false); }

// ---- contract ----------------------------------------------------------------------------------

void expect_groups(std::string_view op, const Attrs& attrs, const char* unique, const char* range) {
  if (by_mesh(attrs)) return;
  std::set<std::int64_t> seen;
  for (const Ints& row : rows(expect_table(op, attrs, "replica_groups")))
    for (std::int64_t id : row) {
      if (id < 0) throw Error(std::string(op), "replica_groups holds {} ({})", id, range);
      if (!seen.insert(id).second)
        throw Error(std::string(op), "replica_groups holds {} twice ({})", id, unique);
    }
}

void expect_channel_of_global_ids(std::string_view op, const Attrs& attrs, const char* constraint) {
  if (uses_global_ids(attrs) && channel_id(attrs) <= 0)
    throw Error(std::string(op), "use_global_device_ids needs a positive channel, got {} ({})",
                channel_id(attrs), constraint);
}

void expect_pairs(std::string_view op, const Attrs& attrs) {
  if (!attrs.has("source_target_pairs")) return;
  const Literal& pairs = expect_table(op, attrs, "source_target_pairs");
  if (pairs.shape()[1] != 2 && pairs.count() > 0)
    throw Error(std::string(op), "source_target_pairs must be pairs, got {} (C1)",
                pairs.type().to_string());
  std::set<std::int64_t> seen[2];
  for (std::int64_t i = 0; i < pairs.count(); ++i) {
    std::int64_t id = pairs.integer(i);
    const char* role = i % 2 == 0 ? "source" : "target";
    if (id < 0) throw Error(std::string(op), "source_target_pairs holds {} (C4)", id);
    if (!seen[i % 2].insert(id).second)
      throw Error(std::string(op), "{} is the {} of two source_target_pairs (C{})", id, role,
                  i % 2 + 2);
  }
}

void expect_tensors(std::string_view op, std::span<Value* const> operands) {
  if (operands.empty()) throw Error(std::string(op), "needs an operand");
  for (const Value* v : operands)
    if (!v->type().is_tensor())
      throw Error(std::string(op), "operands must be tensors, got {} (I1)", v->type().to_string());
}

void expect_root(std::string_view op, std::span<Value* const> operands, const Attrs& attrs,
                 const char* constraint) {
  if (!has_dynamic_root(attrs)) return;
  if (operands.size() < 2)
    throw Error(std::string(op), "has_dynamic_root needs an operand and its root, got {} ({})",
                operands.size(), constraint);
  Type want(DType::i32, {static_cast<std::int64_t>(operands.size()) - 1});
  if (!(operands.back()->type() == want))
    throw Error(std::string(op), "roots must be {}, got {} ({})", want.to_string(),
                operands.back()->type().to_string(), constraint);
}

std::optional<std::int64_t> group_size(const Attrs& attrs, Strategy strategy) {
  if (by_mesh(attrs) || strategy == Strategy::cross_replica_and_partition) return std::nullopt;
  const Literal& table = attrs.get<Literal>("replica_groups");
  if (table.count() == 0) return std::nullopt;
  return table.shape()[1];
}

std::vector<Type> infer_reduced(std::string_view op, std::span<Value* const> operands,
                                const Attrs& attrs, std::span<const std::unique_ptr<Block>> regions,
                                const char* constraint) {
  std::vector<Type> out;
  std::optional<Combiner> combiner =
      parse_combiner(expect_attr<std::string>(op, attrs, "combiner"));
  if (!combiner)
    throw Error(std::string(op), "there is no combiner {}", attrs.get<std::string>("combiner"));
  if (*combiner != Combiner::region) {
    for (const Value* v : operands) {
      ir::under(constraint, [&] { expect_combiner(op, *combiner, v->dtype()); });
      out.push_back(v->type());
    }
    return out;
  }
  if (regions.size() != 1) throw Error(std::string(op), "needs one region, got {}", regions.size());
  const Block& region = *regions[0];
  bool fits = region.num_arguments() == 2 && region.results.size() == 1;
  for (int i = 0; fits && i < 2; ++i)
    fits = region.argument(i)->type() == region.results[0]->type() &&
           region.results[0]->type().is_tensor() && region.results[0]->rank() == 0;
  if (!fits)
    throw Error(std::string(op),
                "the computation must map two scalars of one type to one of it, got {} to {} ({})",
                argument_types_text(region), ir::type_list_text(region.result_types()), constraint);
  Type element = region.results[0]->type();
  for (const Value* v : operands) {
    if (!is_promotable(v->type(), element))
      throw Error(std::string(op), "{} cannot be promoted to the computation's {} ({})",
                  v->type().to_string(), element.to_string(), constraint);
    out.push_back(element.with(v->shape()));
  }
  return out;
}

// ---- groups in a grid --------------------------------------------------------------------------

std::vector<ProcessGroup> groups(const Op& op, Strategy strategy, std::int64_t replicas,
                                 std::int64_t partitions, const char* range) {
  std::string self(short_name(op.name()));
  if (by_mesh(op.attrs))
    throw Error(self, "groups said by axes of a mesh are not evaluated")
        .at(op.where.text())
        .unsupported();
  std::int64_t ids = strategy == Strategy::flattened_ids     ? replicas * partitions
                     : strategy == Strategy::cross_partition ? partitions
                                                             : replicas;
  std::vector<Ints> lists = rows(op.attr<Literal>("replica_groups"));
  if (lists.empty()) {
    lists.emplace_back();
    for (std::int64_t id = 0; id < ids; ++id) lists.back().push_back(id);
  }
  for (const Ints& list : lists)
    for (std::int64_t id : list)
      if (id < 0 || id >= ids)
        throw Error(self, "replica_groups holds {} in a grid of {} replicas and {} partitions ({})",
                    id, replicas, partitions, range)
            .at(op.where.text());
  std::vector<ProcessGroup> out;
  for (const Ints& list : lists) switch (strategy) {
      case Strategy::cross_replica:
        for (std::int64_t p = 0; p < partitions; ++p) {
          out.emplace_back();
          for (std::int64_t id : list) out.back().push_back({id, p});
        }
        break;
      case Strategy::cross_partition:
        for (std::int64_t r = 0; r < replicas; ++r) {
          out.emplace_back();
          for (std::int64_t id : list) out.back().push_back({r, id});
        }
        break;
      case Strategy::cross_replica_and_partition:
        out.emplace_back();
        for (std::int64_t p = 0; p < partitions; ++p)
          for (std::int64_t id : list) out.back().push_back({id, p});
        break;
      case Strategy::flattened_ids:
        out.emplace_back();
        for (std::int64_t id : list) out.back().push_back({id / partitions, id % partitions});
        break;
    }
  return out;
}

std::optional<ProcessGroup> group_of(const Op& op, Strategy strategy, const Process& process,
                                     const char* range) {
  for (ProcessGroup& g : groups(op, strategy, process.replicas(), process.partitions(), range))
    if (std::find(g.begin(), g.end(), process.id()) != g.end()) return std::move(g);
  return std::nullopt;
}

ProcessGroup own_group(const Op& op, Strategy strategy, const Process& process, const char* cover,
                       const char* range) {
  if (auto group = group_of(op, strategy, process, range)) return *std::move(group);
  throw Error(std::string(short_name(op.name())), "process ({}, {}) is in no group ({})",
              process.id().replica, process.id().partition, cover)
      .at(op.where.text());
}

std::vector<Literals> meet(const Op& op, const ProcessGroup& group, Process& process,
                           std::span<const Literal> given) {
  std::string self(short_name(op.name()));
  std::vector<Literals> all =
      process.meet(group, fmt::format("{} on channel {}", self, channel_id(op.attrs)),
                   Literals(given.begin(), given.end()));
  for (std::size_t p = 0; p < all.size(); ++p) {
    bool same = all[p].size() == given.size();
    for (std::size_t i = 0; same && i < given.size(); ++i)
      same = all[p][i].type() == given[i].type();
    if (!same)
      throw Error(self, "process ({}, {}) and process ({}, {}) bring operands of other types",
                  process.id().replica, process.id().partition, group[p].replica,
                  group[p].partition)
          .at(op.where.text());
  }
  return all;
}

std::size_t root_of(const Op& op, std::size_t result, std::span<const Literal> operands,
                    const ProcessGroup& group) {
  if (!has_dynamic_root(op.attrs)) return 0;
  std::int64_t root = operands.back().integer(static_cast<std::int64_t>(result));
  if (root < 0 || root >= static_cast<std::int64_t>(group.size()))
    throw Error(std::string(short_name(op.name())), "root {} is no place in a group of {}", root,
                group.size())
        .at(op.where.text());
  return static_cast<std::size_t>(root);
}

std::int64_t place_in(const ProcessGroup& group, const ProcessId& id) {
  return std::find(group.begin(), group.end(), id) - group.begin();
}

// ---- values ------------------------------------------------------------------------------------

Literal reduced(const Op& op, const Type& type, const Literals& values, Evaluator& evaluator) {
  if (const Block* region = computation(op))
    return reduced_by_region(*region, type, values, evaluator);
  return reduced_plainly(combiner_of(op), values, evaluator);
}

Literal concatenated(const Literals& parts, const Type& type, std::int64_t dim) {
  Literal out(type);
  auto d = static_cast<std::size_t>(dim);
  std::vector<std::int64_t> strides = out.shape().strides();
  std::int64_t start = 0;
  for (const Literal& part : parts) {
    for_each_index(part.shape(), [&](std::span<const std::int64_t> index, std::int64_t from) {
      copy_element(part, from, out, linear_index(index, strides) + start * strides[d]);
    });
    start += part.shape()[static_cast<int>(dim)];
  }
  return out;
}

Literal part(const Literal& x, const Type& type, std::int64_t dim, std::int64_t index) {
  std::vector<std::int64_t> strides = x.shape().strides();
  std::int64_t start =
      index * type.shape()[static_cast<int>(dim)] * strides[static_cast<std::size_t>(dim)];
  return moved(x, type,
               [&](std::span<const std::int64_t> at) { return start + linear_index(at, strides); });
}

Literal zero(const Type& type) {
  Literal out(type);
  if (!type.is_quantized()) return out;
  const Quantization& q = *type.quantization();
  for_each_index(type.shape(), [&](std::span<const std::int64_t> index, std::int64_t i) {
    out.set_integer(i, q.zero_points[q.axis < 0 ? 0
                                                : static_cast<std::size_t>(
                                                      index[static_cast<std::size_t>(q.axis)])]);
  });
  return out;
}

// ---- one process alone -------------------------------------------------------------------------

void expect_alone(const Op& op) {
  if (!by_mesh(op.attrs)) {
    bool alone = true;
    for (const Ints& list : rows(op.attr<Literal>("replica_groups")))
      alone = alone && list == Ints{0};
    if (alone) return;
  }
  throw Error(std::string(short_name(op.name())), "compiled programs run as one process")
      .at(op.where.text())
      .unsupported();
}

Value* as_result(Builder& b, Value* v, const Type& type) {
  if (v->type() == type) return v;
  if (!type.is_quantized()) return convert(b, v, type.dtype());
  return b.create(uniform_quantize_def().info, {v}, {}, {}, {type}).result();
}

// ---- rules that collectives share --------------------------------------------------------------

Op& again(Builder& b, const Op& op, Values operands, Attrs attrs, std::vector<Type> results) {
  std::vector<std::unique_ptr<Block>> regions;
  for (const auto& r : op.regions) regions.push_back(ir::clone(*r));
  return b.create(op.info(), std::move(operands), std::move(attrs), std::move(regions),
                  std::move(results));
}
Op& again(Builder& b, const Op& op, Values operands) {
  std::vector<Type> types;
  for (Value* r : op.results()) types.push_back(r->type());
  return again(b, op, std::move(operands), op.attrs, std::move(types));
}

JvpResult tensors_jvp(Builder& b, const Op& op, std::span<Value* const> operands,
                      std::span<Value* const> tangents) {
  Values results = again(b, op, Values(operands.begin(), operands.end())).results();
  if (all_null(tangents)) return {results, Values(results.size(), nullptr)};
  Values full;
  for (std::size_t i = 0; i < operands.size(); ++i)
    full.push_back(static_cast<std::int64_t>(i) < data_operands(op)
                       ? or_zeros(b, tangents[i], operands[i])
                       : operands[i]);
  return {std::move(results), again(b, op, std::move(full)).results()};
}

JvpResult sum_jvp(Builder& b, const Op& op, std::span<Value* const> operands,
                  std::span<Value* const> tangents) {
  bool adds = combiner_of(op) == Combiner::add;
  if (!adds && !all_null(tangents))
    throw Error(std::string(short_name(op.name())),
                "a reduction by {} between processes has no derivative", name(combiner_of(op)));
  return tensors_jvp(b, op, operands, tangents);
}

BatchedOperands batched_operands(Builder& b, const Op& op, std::span<Value* const> operands,
                                 const std::vector<bool>& batched, std::int64_t size) {
  BatchedOperands out;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    bool is_root = static_cast<std::int64_t>(i) >= data_operands(op);
    if (is_root && batched[i])
      throw Error(std::string(short_name(op.name())), "roots that differ in a batch").unsupported();
    out.operands.push_back(is_root ? operands[i]
                                   : batched_operand(b, operands[i], batched[i], size));
  }
  for (Value* r : op.results()) out.results.push_back(with_leading(r->type(), size));
  return out;
}

Values or_zero_cotangents(Builder& b, const Op& op, std::span<Value* const> cotangents) {
  Values out;
  for (std::size_t i = 0; i < cotangents.size(); ++i)
    out.push_back(cotangents[i] ? cotangents[i] : zeros(b, op.result(static_cast<int>(i))->type()));
  return out;
}

Factors shard(const Op& op) {
  FactorTable t(op);
  for (int r = 0; r < op.num_results(); ++r) {
    const Shape &from = op.operand(r)->shape(), &to = op.result(r)->shape();
    for (int d = 0; d < to.rank(); ++d) {
      bool kept = from.dim(d) == to.dim(d);
      int f = t.factor(kept ? 'p' : 'n', to.dim(d).bound());
      if (kept) t.operand(r, d, f);
      t.result(r, d, f);
      if (!kept) t.operand(r, d, t.factor('n', from.dim(d).bound()));
    }
  }
  for (int i = op.num_results(); i < static_cast<int>(op.operands.size()); ++i)
    for (int d = 0; d < op.operand(i)->rank(); ++d)
      t.operand(i, d, t.factor('n', op.operand(i)->shape().dim(d).bound()));
  return t.take();
}

Work cost(const Op& op) { return {op.attrs.has("combiner") ? elements(op) : 0, bytes_moved(op)}; }

// ---- definitions -------------------------------------------------------------------------------

namespace {

OpDef definition(const Row& row, const ir::TextFormat& text, const Traits& traits, Jvp jvp) {
  return {
      .info = ir::inferred_by(row.inferred_by, {.name = row.name,
                                                .infer = row.infer,
                                                .text = &text,
                                                .verify = row.verify,
                                                .quantized = quantized::per_tensor}),
      .summary = row.summary,
      .traits = traits,
      .evaluate = row.by_reference,
      .jvp = jvp,
      .linearize = kNoRegions,
      .transpose = row.transpose,
      .batch = row.batch,
      .shard = shard,
      .cost = cost,
      .lowering = kBetweenProcesses,
      .decompose = row.decompose,
  };
}

}  // namespace

OpDef moving(const Row& row) {
  return definition(row, ir::formats::collective, {.moves_only = true}, tensors_jvp);
}
OpDef reducing(const Row& row) {
  return definition(row, ir::formats::collective_reduce,
                    {.takes_complex = true, .takes_quantized = true}, sum_jvp);
}

}  // namespace strata::op::collective
