#include "strata/compile/pipeline.h"

#include <algorithm>

#include "strata/compile/stage_times.h"
#include "strata/ir/pass/pass.h"
#include "strata/op/def.h"
#include "strata/op/foreign.h"
#include "strata/op/legalize.h"
#include "strata/op/lower_region.h"
#include "strata/op/quantized.h"
#include "strata/op/sort_key.h"
#include "strata/op/tuple.h"
#include "strata/transform/all_turns.h"
#include "strata/transform/attention.h"
#include "strata/transform/batch_first.h"
#include "strata/transform/carried_sums.h"
#include "strata/transform/counted.h"
#include "strata/transform/hoist.h"
#include "strata/transform/long_sums.h"
#include "strata/transform/masked_updates.h"
#include "strata/transform/needed_band.h"
#include "strata/transform/one_hot.h"
#include "strata/transform/own_row.h"
#include "strata/transform/reads_first.h"
#include "strata/transform/remat.h"
#include "strata/transform/risen_slices.h"
#include "strata/transform/row_chunks.h"
#include "strata/transform/simplify.h"
#include "strata/transform/single_terms.h"
#include "strata/transform/sliced_products.h"
#include "strata/transform/splats.h"
#include "strata/transform/sums_in_place.h"
#include "strata/transform/sunk_transpose.h"
#include "strata/transform/turned.h"
#include "strata/transform/turned_updates.h"
#include "strata/transform/unroll.h"
#include "strata/transform/zero_blocks.h"

namespace strata::compile {
namespace {

/// Whether one of several passes changed something; all of them have run, in their order.
bool any(std::initializer_list<bool> changed) {
  return std::find(changed.begin(), changed.end(), true) != changed.end();
}

/// Barriers of several values become one for each: they have done their work (equal computations on
/// both sides were kept apart), and kernels make one value each.
void split_barriers(ir::Block& block) {
  ir::ValueMap map;
  std::vector<std::unique_ptr<ir::Op>> old = std::move(block.ops());
  block.ops().clear();
  ir::Builder b(block);
  for (auto& op : old) {
    op->operands = map(op->operands);
    for (auto& region : op->regions) {
      ir::replace_uses(*region, map);
      split_barriers(*region);
    }
    if (op->num_results() < 2 || !op::def(*op).traits.barrier) {
      block.append(std::move(op));
      continue;
    }
    for (int i = 0; i < op->num_results(); ++i)
      map.set(op->result(i), b.create(op->info(), {op->operand(i)}).result());
  }
  block.results = map(block.results);
}

/// Tokens become arrays of no elements, which cost nothing: the order of effects is that of the
/// operations.
void erase_tokens(ir::Block& block) {
  auto erase = [](ir::Value* v) {
    if (v->type().is_token()) v->set_type(Type(DType::ui8, {0}));
  };
  for (ir::Value* v : block.argument_values()) erase(v);
  for (auto& op : block.ops()) {
    for (ir::Value* v : op->results()) erase(v);
    for (auto& region : op->regions) erase_tokens(*region);
  }
}

bool has_lowering(const ir::Op& op) {
  return !std::holds_alternative<op::None>(op::def(op).lowering);
}
/// What is quantised becomes an operation on numbers first.
bool has_lowering_or_scales(const ir::Op& op) {
  return has_lowering(op) || (op::is_quantized(op) && !op::takes_stored(op));
}
/// Of sorts by keys the decomposition has better ones.
bool has_kernel(const ir::Op& op) {
  return has_lowering(op) && op::regions_fit_kernels(op) && !op::sorts_by_keys(op);
}

/// Operations that are not `kept` become those that they stand for.
void decompose(ir::Block& block, bool (*kept)(const ir::Op&)) {
  ir::ValueMap map;
  std::vector<std::unique_ptr<ir::Op>> old = std::move(block.ops());
  block.ops().clear();
  ir::Builder b(block);
  for (auto& op : old) {
    op->operands = map(op->operands);
    for (auto& region : op->regions) ir::replace_uses(*region, map);
    if (!op::def(*op).decompose || kept(*op)) {
      for (auto& region : op->regions) decompose(*region, kept);
      block.append(std::move(op));
      continue;
    }
    auto body = op::decomposition(*op);
    decompose(*body, kept);
    ir::Values results = ir::inline_block(b, *body, op->operands);
    for (int i = 0; i < op->num_results(); ++i)
      map.set(op->result(i), results[static_cast<std::size_t>(i)]);
  }
  block.results = map(block.results);
}

/// Whether an operation works on types that kernels do not know.
bool strange(const ir::Block& block) {
  bool found = false;
  ir::walk(block, [&](const ir::Op& op) { found |= op::needs_legalizing(op); });
  return found;
}

}  // namespace

std::unique_ptr<ir::Block> prepare(const ir::Block& block, std::vector<std::string>* said) {
  Stage stage("prepare");
  std::unique_ptr<ir::Block> out =
      op::has_tuples(block) ? op::without_tuples(block) : ir::clone(block);
  transform::shrink_splats(*out);
  op::foreign::resolve(*out);
  transform::expand(*out);
  erase_tokens(*out);
  decompose(*out, has_lowering_or_scales);
  if (strange(*out)) out = op::legalize(*out);
  decompose(*out,
            has_kernel);  // which regions fit is known now that their types are those of kernels
  {
    Stage writes("  unroll");
    transform::unroll(*out);
  }
  {
    Stage simplifies("  simplify");
    transform::simplify(*out);
    if (any({transform::sink_transposes(*out), transform::raise_slices(*out),
             transform::slice_products(*out)}))
      transform::simplify(*out);
    if (any({transform::find_own_rows(*out), transform::select_one_hot(*out),
             transform::turn_products(*out), transform::map_single_terms(*out),
             transform::put_batches_first(*out), transform::turn_updates(*out),
             transform::mask_updates(*out), transform::sum_in_place(*out)}))
      ir::remove_dead(*out);
  }
  {
    Stage chunks("  chunks");
    if (said) *said = transform::describe_attention(*out);
    std::vector<std::string> lines = transform::chunk_rows(*out);
    if (said) said->insert(said->end(), lines.begin(), lines.end());
    transform::carry_sums(*out);
  }
  {
    Stage loops("  loops");
    transform::hoist(*out);
    ir::cse(*out);
    if (transform::count_loops(*out)) transform::simplify(*out);
    if (transform::multiply_all_turns(*out)) transform::simplify(*out);
  }
  if (transform::split_long_sums(*out)) ir::cse(*out);
  split_barriers(*out);
  ir::remove_dead(*out);  // a barrier keeps all of its values; each by itself may be used by nobody
  transform::read_first(*out);
  transform::mark_zero_blocks(*out);
  transform::mark_needed_bands(*out);
  return out;
}

}  // namespace strata::compile
