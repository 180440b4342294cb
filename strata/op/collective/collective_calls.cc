#include "strata/op/collective/collective_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "strata/ir/text/attr_text.h"
#include "strata/op/build.h"
#include "strata/op/calculus/support.h"
#include "strata/op/collective/collective.h"
#include "strata/op/collective/collective_target.h"
#include "strata/op/reduce/combiner.h"

namespace strata::op {
const OpDef& custom_call_def();  // custom_call.cc
const OpDef& map_def();          // map.cc
}  // namespace strata::op

namespace strata::op::collective {
namespace {

constexpr const char* kNames[] = {"stablehlo.all_gather",           "stablehlo.all_reduce",
                                  "stablehlo.all_to_all",           "stablehlo.collective_permute",
                                  "stablehlo.collective_broadcast", "stablehlo.collective_reduce",
                                  "stablehlo.partition_id",         "stablehlo.reduce_scatter",
                                  "stablehlo.replica_id",           "stablehlo.cross-replica-sum"};
constexpr const char* kRagged = "ragged_all_to_all";

bool is_ragged(const Op& op) {
  return op.name() == "stablehlo.custom_call" &&
         op.attr<std::string>("call_target_name") == kRagged;
}
bool is_collective(const Op& op) {
  return std::find(std::begin(kNames), std::end(kNames), op.name()) != std::end(kNames) ||
         is_ragged(op);
}

std::vector<Type> result_types(const Op& op) {
  std::vector<Type> out;
  for (const Value* r : op.results()) out.push_back(r->type());
  return out;
}

/// Groups as one list of devices, -1 behind each.
Ints flat(const std::vector<ProcessGroup>& groups, std::int64_t partitions) {
  Ints out;
  for (const ProcessGroup& g : groups) {
    for (const ProcessId& p : g) out.push_back(p.replica * partitions + p.partition);
    out.push_back(-1);
  }
  return out;
}

/// What a ragged_all_to_all says in its configuration.
struct RaggedGroups {
  std::vector<Ints> groups;
  bool has_channel = false;
};
RaggedGroups ragged_groups(const Op& op) {
  const ir::Attr* config = op.attrs.find("backend_config");
  const auto* text = config ? std::get_if<ir::Opaque>(config) : nullptr;
  RaggedGroups out;
  try {
    if (text == nullptr) throw ir::SyntaxError{Code::invalid, 0, "there is none"};
    ir::Cursor c(text->text);
    c.expect("{");
    const Attrs attrs = ir::parse_attr_entries(c, {});
    const ir::Attr* stated = attrs.find("replica_groups");
    const auto* table = stated ? std::get_if<Literal>(stated) : nullptr;
    if (table == nullptr || table->type().rank() != 2)
      throw ir::SyntaxError{Code::invalid, 0, "it has no replica_groups"};
    for (std::int64_t i = 0; i < table->count(); ++i) {
      if (i % table->shape()[1] == 0) out.groups.emplace_back();
      out.groups.back().push_back(table->integer(i));
    }
    out.has_channel = attrs.has("channel_id");
  } catch (const ir::SyntaxError& e) {
    throw Error(kRagged, "its configuration does not say the groups: {}", e.message)
        .at(op.where.text());
  }
  return out;
}

class Calls {
 public:
  Calls(std::int64_t replicas, std::int64_t partitions)
      : replicas_(replicas), partitions_(partitions) {}

  void rewrite(Block& block) {
    ir::ValueMap map;
    std::vector<std::unique_ptr<Op>> old = std::move(block.ops()), dead;
    block.ops().clear();
    Builder b(block);
    for (auto& op : old) {
      op->operands = map(op->operands);
      for (auto& region : op->regions) ir::replace_uses(*region, map);
      if (!is_collective(*op)) {
        for (auto& region : op->regions) rewrite(*region);
        block.append(std::move(op));
        continue;
      }
      At at(b, *op);
      Values results = called(b, *op);
      for (int i = 0; i < op->num_results(); ++i)
        map.set(op->result(i), results[static_cast<std::size_t>(i)]);
      dead.push_back(std::move(op));
    }
    block.results = map(block.results);
  }

 private:
  Values called(Builder& b, const Op& op) {
    const std::string_view name = op.name();
    if (name == "stablehlo.partition_id" || name == "stablehlo.replica_id")
      return call(b, op, {{"own", std::string(name.substr(10))}}, {}, result_types(op));
    if (is_ragged(op)) return ragged(b, op);
    if (name == "stablehlo.collective_permute") return permute(b, op);
    const bool joint = name == "stablehlo.all_gather" || name == "stablehlo.all_reduce" ||
                       name == "stablehlo.reduce_scatter";
    const bool covers =
        joint || name == "stablehlo.all_to_all" || name == "stablehlo.cross-replica-sum";
    const Strategy strategy = joint ? joint_strategy(op.attrs) : exchange_strategy(op.attrs);
    const std::vector<ProcessGroup> all = groups(op, strategy, replicas_, partitions_, "C3");
    Attrs attrs{{"groups", flat(all, partitions_)}};
    if (covers) expect_cover(op, all);
    if (name == "stablehlo.all_gather") {
      attrs.set("dim", op.attr<std::int64_t>("all_gather_dim"));
      return call(b, op, attrs, op.operands, result_types(op));
    }
    if (name == "stablehlo.all_to_all") {
      attrs.set("split", op.attr<std::int64_t>("split_dimension"))
          .set("concat", op.attr<std::int64_t>("concat_dimension"));
      return call(b, op, attrs, op.operands, result_types(op));
    }
    if (name == "stablehlo.collective_broadcast") {
      if (has_dynamic_root(op.attrs)) attrs.set("dynamic_root", true);
      return call(b, op, attrs, op.operands, result_types(op));
    }
    return reduction(b, op, all, std::move(attrs));
  }

  void expect_cover(const Op& op, const std::vector<ProcessGroup>& all) const {
    std::vector<bool> in(static_cast<std::size_t>(replicas_ * partitions_));
    for (const ProcessGroup& g : all)
      for (const ProcessId& p : g)
        in[static_cast<std::size_t>(p.replica * partitions_ + p.partition)] = true;
    for (std::size_t i = 0; i < in.size(); ++i)
      if (!in[i])
        throw Error(std::string(short_name(op.name())), "process ({}, {}) is in no group",
                    static_cast<std::int64_t>(i) / partitions_,
                    static_cast<std::int64_t>(i) % partitions_)
            .at(op.where.text());
  }

  Values call(Builder& b, const Op& op, Attrs attrs, const Values& operands,
              const std::vector<Type>& results, const char* as = nullptr) const {
    attrs.set("operation", as != nullptr ? std::string(as) : std::string(short_name(op.name())))
        .set("channel", op.attrs.get_or<std::int64_t>("channel_id", 0))
        .set("call_target_name", std::string(kCollectiveTarget));
    return b.create(custom_call_def().info, operands, std::move(attrs), {}, results).results();
  }

  Values permute(Builder& b, const Op& op) const {
    const bool by_partition = exchange_strategy(op.attrs) == Strategy::cross_partition;
    const std::int64_t ids = by_partition ? partitions_ : replicas_,
                       others = by_partition ? replicas_ : partitions_;
    const Literal& stated = op.attr<Literal>("source_target_pairs");
    std::vector<std::int64_t> members;
    for (std::int64_t i = 0; i < stated.count(); ++i) {
      members.push_back(stated.integer(i));
      if (stated.integer(i) >= ids)
        throw Error("collective_permute",
                    "source_target_pairs holds {} in a grid of {} replicas and {} partitions (C4)",
                    stated.integer(i), replicas_, partitions_)
            .at(op.where.text());
    }
    std::sort(members.begin(), members.end());
    members.erase(std::unique(members.begin(), members.end()), members.end());
    Ints all, pairs;
    for (std::int64_t k = 0; k < others && !members.empty(); ++k) {
      auto device = [&](std::int64_t id) {
        return by_partition ? k * partitions_ + id : id * partitions_ + k;
      };
      for (std::int64_t id : members) all.push_back(device(id));
      all.push_back(-1);
      for (std::int64_t i = 0; i < stated.count(); ++i) pairs.push_back(device(stated.integer(i)));
    }
    return call(b, op, {{"groups", std::move(all)}, {"pairs", std::move(pairs)}}, op.operands,
                result_types(op));
  }

  Values ragged(Builder& b, const Op& op) const {
    if (op.operands.size() != 6 || op.num_results() != 1)
      throw Error(kRagged, "takes six operands, got {}", op.operands.size()).at(op.where.text());
    const RaggedGroups stated = ragged_groups(op);
    Ints all;
    for (const Ints& g : stated.groups)
      for (std::int64_t k = 0; k < (stated.has_channel ? replicas_ : partitions_); ++k) {
        for (std::int64_t id : g) {
          if (id < 0 || id >= (stated.has_channel ? partitions_ : replicas_))
            throw Error("ragged_all_to_all", "replica_groups holds {}", id).at(op.where.text());
          all.push_back(stated.has_channel ? k * partitions_ + id : id * partitions_ + k);
        }
        all.push_back(-1);
      }
    return call(b, op, {{"groups", std::move(all)}}, op.operands, result_types(op), kRagged);
  }

  /// The computation of values in order, from the left, into the type.
  Value* combined_of(Builder& b, const Op& op, const Values& values, const Type& type) const {
    if (!op.regions.empty()) {
      Ints dims;
      for (std::int64_t d = 0; d < type.rank(); ++d) dims.push_back(d);
      Value* total = as_result(b, values[0], type);
      for (std::size_t i = 1; i < values.size(); ++i) {
        std::vector<std::unique_ptr<Block>> region;
        region.push_back(ir::clone(op.region(0)));
        total = b.create(map_def().info, {total, as_result(b, values[i], type)},
                         {{"dimensions", dims}}, std::move(region))
                    .result();
      }
      return total;
    }
    const Combiner combiner =
        op.name() == "stablehlo.cross-replica-sum" ? Combiner::add : combiner_of(op);
    const DType dtype = type.dtype(), wide = is_complex(dtype) ? dtype : accumulator(dtype);
    Value* total = nullptr;
    for (Value* v : values) {
      Value* next = wide == dtype ? v : convert(b, v, wide);
      total = total == nullptr ? next : combined(b, combiner, total, next);
    }
    return wide == dtype ? total : convert(b, total, dtype);
  }

  Values reduction(Builder& b, const Op& op, const std::vector<ProcessGroup>& all, Attrs attrs) {
    const bool rooted = op.name() == "stablehlo.collective_reduce",
               scattered = op.name() == "stablehlo.reduce_scatter";
    if (rooted && has_dynamic_root(op.attrs))
      throw Error("collective_reduce", "compiled programs know no roots that are computed")
          .at(op.where.text())
          .unsupported();
    if (scattered) attrs.set("dim", op.attr<std::int64_t>("scatter_dimension"));
    const bool plain = op.regions.empty();
    const Combiner combiner = !plain                                       ? Combiner::region
                              : op.name() == "stablehlo.cross-replica-sum" ? Combiner::add
                                                                           : combiner_of(op);
    bool native = plain && !rooted;
    for (const Value* v : op.operands) native &= adds_natively(combiner, v->dtype());
    if (native) {
      attrs.set("combiner", std::string(name(combiner)));
      return call(b, op, std::move(attrs), op.operands, result_types(op),
                  scattered ? "reduce_scatter" : "all_reduce");
    }
    const std::size_t n = all.empty() ? 1 : all[0].size();
    for (const ProcessGroup& g : all)
      if (g.size() != n)
        throw Error(std::string(short_name(op.name())), "groups of {} and {} processes", n,
                    g.size())
            .at(op.where.text())
            .unsupported();
    Values out;
    for (int r = 0; r < op.num_results(); ++r) {
      Value* x = op.operand(r);
      // A part of everyone's, or the whole: [n, shape].
      std::vector<std::int64_t> stacked =
          scattered ? op.result(r)->type().shape().sizes() : x->type().shape().sizes();
      const Type part = x->type().with(Shape::of(stacked));
      stacked.insert(stacked.begin(), static_cast<std::int64_t>(n));
      Value* each = call(b, op, attrs, {x}, {x->type().with(Shape::of(stacked))},
                         scattered ? "scatter_stack" : "stack")[0];
      Values values;
      for (std::size_t i = 0; i < n; ++i)
        values.push_back(reshape(
            b,
            slice_dim(b, each, 0, static_cast<std::int64_t>(i), static_cast<std::int64_t>(i) + 1),
            part.shape()));
      Value* total = combined_of(b, op, values, op.result(r)->type());
      if (rooted) total = call(b, op, attrs, {total}, {total->type()}, "keep_at_root")[0];
      out.push_back(total);
    }
    return out;
  }

  const std::int64_t replicas_, partitions_;
};

}  // namespace

bool has_collectives(const Block& block) {
  bool found = false;
  ir::walk(block, [&](const Op& op) { found |= is_collective(op); });
  return found;
}

void to_calls(Block& block, std::int64_t replicas, std::int64_t partitions) {
  if (has_collectives(block)) Calls(replicas, partitions).rewrite(block);
}

}  // namespace strata::op::collective
