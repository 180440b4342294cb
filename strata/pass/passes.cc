// The table of passes. What each does and why it is right stands in its own header.

#include "strata/ir/pass/pass.h"
#include "strata/op/control.h"
#include "strata/op/def.h"
#include "strata/op/foreign/foreign.h"
#include "strata/op/legalize.h"
#include "strata/op/shape/tuple.h"
#include "strata/pass/data_movement/add_to_update.h"
#include "strata/pass/data_movement/iota_to_batch_dims.h"
#include "strata/pass/data_movement/mask_sinking.h"
#include "strata/pass/data_movement/read_before_update.h"
#include "strata/pass/data_movement/scatter_to_select.h"
#include "strata/pass/data_movement/scatter_transpose_folding.h"
#include "strata/pass/data_movement/slice_propagation.h"
#include "strata/pass/data_movement/transpose_folding.h"
#include "strata/pass/data_movement/transpose_sinking.h"
#include "strata/pass/decompose.h"
#include "strata/pass/dot/accumulator_folding.h"
#include "strata/pass/dot/attention.h"
#include "strata/pass/dot/block_sparsity.h"
#include "strata/pass/dot/degenerate_dots.h"
#include "strata/pass/dot/dot_batch_layout.h"
#include "strata/pass/dot/dot_chunking.h"
#include "strata/pass/dot/dot_slicing.h"
#include "strata/pass/dot/mask_sparsity.h"
#include "strata/pass/dot/split_k.h"
#include "strata/pass/erase_tokens.h"
#include "strata/pass/loop/loop_dot_batching.h"
#include "strata/pass/loop/loop_invariant_code_motion.h"
#include "strata/pass/loop/loop_unrolling.h"
#include "strata/pass/loop/while_to_scan.h"
#include "strata/pass/pass.h"
#include "strata/pass/simplify.h"
#include "strata/pass/splat_constants.h"
#include "strata/pass/split_barriers.h"
#include "strata/transform/remat.h"

namespace strata::pass {
namespace {

using BlockPtr = std::unique_ptr<ir::Block>;

/// A pass whose function changes the block in place and says whether it did.
template <bool (*run)(ir::Block&)>
bool in_place(BlockPtr& block, Remarks*) {
  return run(*block);
}
/// A pass whose function does not say so: counted as a change.
template <void (*run)(ir::Block&)>
bool unknown_change(BlockPtr& block, Remarks*) {
  run(*block);
  return true;
}

bool erase_tuples(BlockPtr& block, Remarks*) {
  if (!op::has_tuples(*block)) return false;
  block = op::without_tuples(*block);
  return true;
}

bool legalize_types(BlockPtr& block, Remarks*) {
  bool needed = false;
  ir::walk(*block, [&](const ir::Op& op) { needed |= op::needs_legalizing(op); });
  if (needed) block = op::legalize(*block);
  return needed;
}

bool attention_remarks(BlockPtr& block, Remarks* remarks) {
  if (!remarks) return false;
  for (std::string& line : describe_attention(*block)) remarks->push_back(std::move(line));
  return false;
}

bool chunk(BlockPtr& block, Remarks* remarks) {
  std::vector<std::string> lines = chunk_dots(*block);
  const bool found = !lines.empty();
  if (remarks)
    for (std::string& line : lines) remarks->push_back(std::move(line));
  return found;
}

void cse(ir::Block& block) { ir::cse(block); }

const std::vector<Pass>& table() {
  using enum Property;
  static const std::vector<Pass> passes = {
      {"erase-tuples",
       "takes tuples apart, so that each element is a value of its own",
       true,
       false,
       {no_tuples},
       erase_tuples},
      {"splat-constants",
       "makes large constants of one value broadcasts of a scalar",
       false,
       false,
       {},
       unknown_change<shrink_splat_constants>},
      {"resolve-custom-calls",
       "brings custom calls of known handlers into the form that runs",
       true,
       false,
       {},
       unknown_change<op::foreign::resolve>},
      {"expand-transform-ops",
       "replaces remat, custom_jvp and custom_vjp by what they compute",
       true,
       false,
       {no_transform_ops},
       unknown_change<transform::expand>},
      {"erase-tokens",
       "makes tokens arrays of no elements",
       true,
       false,
       {no_tokens},
       in_place<erase_tokens>},
      {"decompose-unlowered",
       "replaces operations without a lowering by those they stand for",
       true,
       false,
       {},
       in_place<decompose_unlowered>},
      {"legalize-types",
       "says complex, narrow and quantised values by types that kernels know",
       true,
       false,
       {},
       legalize_types},
      {"decompose-without-kernel",
       "replaces operations that no kernel takes by simpler ones",
       true,
       false,
       {kernel_operations},
       in_place<decompose_without_kernel>},
      {"loop-unrolling",
       "writes out short elementwise loops of known length",
       false,
       false,
       {},
       unknown_change<unroll_loops>},
      {"simplify",
       "applies algebraic rewrites that change no bit, and drops dead code",
       false,
       true,
       {},
       unknown_change<simplify>},
      {"transpose-sinking",
       "moves transpositions of dots down to the next dot",
       false,
       false,
       {},
       in_place<sink_transposes>},
      {"slice-propagation",
       "moves slices up through elementwise operations to concatenations",
       false,
       false,
       {},
       in_place<propagate_slices>},
      {"dot-slicing",
       "computes only the slice of a dot that is read",
       false,
       false,
       {},
       in_place<slice_dots>},
      {"iota-to-batch-dims",
       "makes iota indices of gathers and scatters batch dimensions",
       false,
       false,
       {},
       in_place<convert_iota_indices_to_batch_dims>},
      {"scatter-to-select",
       "makes scatters of one number per row selects over an iota",
       false,
       false,
       {},
       in_place<convert_scatter_to_select>},
      {"transpose-folding",
       "folds a transposition of a dot's result into the dot",
       false,
       false,
       {},
       in_place<fold_transposes_into_dots>},
      {"degenerate-dots",
       "makes dots whose sums have one term elementwise multiplications",
       false,
       false,
       {},
       in_place<convert_degenerate_dots>},
      {"dot-batch-layout",
       "transposes an operand of a dot so that its batch is outermost",
       false,
       false,
       {},
       in_place<move_dot_batches_outermost>},
      {"scatter-transpose-folding",
       "lets scatters read transposed updates as they lie",
       false,
       false,
       {},
       in_place<fold_transposes_into_scatters>},
      {"mask-sinking",
       "moves a select around an update into the part that is updated",
       false,
       false,
       {},
       in_place<sink_masks_into_updates>},
      {"add-to-update",
       "adds into an array in place of adding an array of zeros but for a part",
       false,
       false,
       {},
       in_place<fold_adds_into_updates>},
      {"dce",
       "drops operations without effects whose results nobody uses",
       false,
       true,
       {},
       unknown_change<ir::remove_dead>},
      {"attention-remarks",
       "says where attention is, and what is in the way of it",
       false,
       false,
       {},
       attention_remarks},
      {"dot-chunking",
       "computes dots larger than the caches, and their readers, in row chunks",
       false,
       false,
       {},
       chunk},
      {"accumulator-folding",
       "lets sums of micro-batches' gradients go on from one to the next",
       false,
       false,
       {},
       in_place<fold_accumulators>},
      {"licm",
       "moves what does not change from iteration to iteration out of loops",
       false,
       false,
       {},
       unknown_change<hoist_loop_invariants>},
      {"cse", "merges operations that compute the same", false, true, {}, unknown_change<cse>},
      {"while-to-scan",
       "makes while loops that count scans of known length",
       false,
       false,
       {},
       in_place<convert_while_to_scan>},
      {"loop-dot-batching",
       "computes dots of all iterations of a scan at once, outside of it",
       false,
       false,
       {},
       in_place<batch_dots_across_iterations>},
      {"split-k",
       "splits the sum of a dot over very many terms into pieces",
       false,
       false,
       {},
       in_place<split_k>},
      {"split-barriers",
       "makes one optimisation barrier for each value",
       true,
       false,
       {single_value_barriers},
       in_place<split_barriers>},
      {"read-before-update",
       "orders reads of an array before the update that may overwrite it",
       false,
       false,
       {},
       in_place<order_reads_before_updates>},
      {"block-sparsity",
       "marks dots with operands that have blocks of zeros",
       false,
       false,
       {},
       unknown_change<mark_block_sparsity>},
      {"mask-sparsity",
       "marks dots of which a mask shows only a band",
       false,
       false,
       {},
       unknown_change<mark_mask_sparsity>},
  };
  return passes;
}

/// Whether an operation is one of those for which `found` returns true, anywhere in the block.
template <class Found>
bool any_op(const ir::Block& block, const Found& found) {
  bool any = false;
  ir::walk(block, [&](const ir::Op& op) { any = any || found(op); });
  return any;
}

bool has_token(const ir::Block& block) {
  for (int i = 0; i < block.num_arguments(); ++i)
    if (block.argument(i)->type().is_token()) return true;
  return any_op(block, [](const ir::Op& op) {
    for (const ir::Value* v : op.results())
      if (v->type().is_token()) return true;
    return false;
  });
}

}  // namespace

std::span<const Pass> all_passes() { return table(); }

const Pass* find_pass(std::string_view name) {
  for (const Pass& pass : table())
    if (pass.name == name) return &pass;
  return nullptr;
}

std::string_view name_of(Property property) {
  switch (property) {
    case Property::no_tuples: return "no-tuples";
    case Property::no_transform_ops: return "no-transform-ops";
    case Property::no_tokens: return "no-tokens";
    case Property::kernel_operations: return "kernel-operations";
    case Property::single_value_barriers: return "single-value-barriers";
  }
  return "";
}

bool holds(Property property, const ir::Block& block) {
  switch (property) {
    case Property::no_tuples: return !op::has_tuples(block);
    case Property::no_transform_ops: return !any_op(block, transform::is_expandable);
    case Property::no_tokens: return !has_token(block);
    case Property::kernel_operations:
      return !any_op(block,
                     [](const ir::Op& op) { return op::def(op).decompose && !has_kernel(op); });
    case Property::single_value_barriers:
      return !any_op(block, [](const ir::Op& op) {
        return op::def(op).traits.barrier && op.num_results() > 1;
      });
  }
  return false;
}

std::unique_ptr<ir::Function> as_function(std::string name, const ir::Block& block) {
  auto out = std::make_unique<ir::Function>(std::move(name));
  for (const ir::Value* v : block.argument_values()) out->body.add_argument(v->type());
  ir::Builder b(out->body);
  out->body.results = ir::inline_block(b, block, out->body.argument_values());
  return out;
}

void add_passes() {
  static const bool added = [] {
    for (const Pass& pass : table()) {
      // Operations on tokens do not verify once their types are gone, so that one has no text.
      if (ir::Passes::global().find(pass.name) || pass.name == "erase-tokens") continue;
      ir::Passes::global().add(
          {std::string(pass.name), std::string(pass.summary), [&pass](ir::Module& module) {
             for (auto& f : module.functions) {
               std::unique_ptr<ir::Block> block = ir::clone(f->body);
               pass.run(block, nullptr);
               auto out = as_function(f->name, *block);
               out->is_public = f->is_public;
               out->has_visibility = f->has_visibility;
               out->arg_attrs = f->arg_attrs;
               out->result_attrs = f->result_attrs;
               out->attrs = f->attrs;
               f = std::move(out);
             }
           }});
    }
    return true;
  }();
  (void)added;
}

}  // namespace strata::pass
