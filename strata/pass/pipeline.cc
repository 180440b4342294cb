// In which order the passes run, and how.

#include <algorithm>
#include <cstdlib>

#include "strata/base/error.h"
#include "strata/base/stage_times.h"
#include "strata/base/text.h"
#include "strata/ir/text/printer.h"
#include "strata/ir/verify.h"
#include "strata/pass/pass.h"

namespace strata::pass {
namespace {

constexpr Step kPipeline[] = {
    {"erase-tuples", "first: no other pass knows tuples"},
    {"splat-constants", "before anybody asks a large literal whether it is one value"},
    {"resolve-custom-calls", "before decompositions: a call may stand for an operation"},
    {"expand-transform-ops", "derivatives are taken by now; inner programs join the outer one"},
    {"erase-tokens", "before types are legalised, which tokens have none of"},
    {"decompose-unlowered", "before types are legalised: scales are read from quantised types"},
    {"legalize-types", "before anybody asks which regions fit kernels"},
    {"decompose-without-kernel", "which regions fit is known now that types are legal"},
    {"loop-unrolling", "before simplify, for which written out iterations are most of the work"},
    {"simplify", "the program is in kernel operations; later passes look for simple forms"},
    {"transpose-sinking", "before folding: a transposition that reaches a dot costs nothing"},
    {"slice-propagation", "needs concatenations that simplify has joined"},
    {"dot-slicing", "after slice-propagation, which brings slices to dots"},
    {"simplify", "transpositions and slices that met cancel", true},
    {"iota-to-batch-dims", "before scatter-to-select, which asks for batch dimensions"},
    {"scatter-to-select", "before fusion, so that nothing is written"},
    {"transpose-folding", "after sinking: what is left stands beside its dot"},
    {"degenerate-dots", "before layout: maps need none"},
    {"dot-batch-layout", "after folding, which may turn the operand by itself"},
    {"scatter-transpose-folding", "after scatter-to-select: of the scatters that stay"},
    {"mask-sinking", "before licm: loops then cost the part that they write"},
    {"add-to-update", "after mask-sinking, which leaves the sums bare"},
    {"dce", "what was rewritten is dead", true},
    {"attention-remarks", "before chunking, which takes attention's dots apart"},
    {"dot-chunking", "after folding: it asks how rows go through the final dots"},
    {"accumulator-folding", "after chunking, which must see dots as they are"},
    {"licm", "before while-to-scan: what is invariant is no carry"},
    {"cse", "hoisted operations of several loops may be equal"},
    {"while-to-scan", "after licm, so that only what changes is carried"},
    {"simplify", "joins the reshapes at the edges of slices", true},
    {"loop-dot-batching", "needs scans of known length"},
    {"simplify", "slices of batched dots meet", true},
    {"split-k", "after batching across iterations, which makes sums longer"},
    {"cse", "pieces of equal sums are equal", true},
    {"split-barriers", "equal computations on both sides were kept apart until here"},
    {"dce", "a barrier keeps all its values; each by itself may be used by nobody"},
    {"read-before-update", "the order is final from here on"},
    {"block-sparsity", "marks for kernels: nothing rewrites dots any more"},
    {"mask-sparsity", "marks for kernels: nothing rewrites dots any more"},
};

std::size_t count_operations(const ir::Block& block) {
  std::size_t count = 0;
  ir::walk(block, [&](const ir::Op&) { ++count; });
  return count;
}

bool is_disabled(const PipelineOptions& options, std::string_view name) {
  return std::find(options.disabled.begin(), options.disabled.end(), name) !=
         options.disabled.end();
}

void check_disabled(const PipelineOptions& options) {
  for (const std::string& name : options.disabled) {
    const Pass* pass = find_pass(name);
    if (!pass) {
      std::vector<std::string_view> names;
      for (const Pass& known : all_passes()) names.push_back(known.name);
      throw Error("STRATA_DISABLE_PASS", "no pass '{}'{}", name, did_you_mean(name, names));
    }
    if (pass->required)
      throw Error("STRATA_DISABLE_PASS",
                  "'{}' cannot be left out: programs do not compile without it", name);
  }
}

/// Stops with the program printed where it or a property does not hold.
void verify_after(const Pass& pass, const ir::Block& block, std::vector<Property>& established,
                  bool had_tokens) {
  // Operations on tokens do not verify once their types are gone.
  const Status verified = had_tokens ? Status() : ir::verify(block);
  STRATA_CHECK(verified.ok(), "pass {} broke the program: {}", pass.name, verified.message());
  established.insert(established.end(), pass.establishes.begin(), pass.establishes.end());
  for (Property property : established)
    STRATA_CHECK(holds(property, block), "after pass {} the program has not {}\n{}", pass.name,
                 name_of(property), ir::print(*as_function("main", block)));
}

}  // namespace

std::span<const Step> pipeline() { return kPipeline; }

const PipelineOptions& PipelineOptions::from_environment() {
  static const PipelineOptions options = [] {
    PipelineOptions out;
    if (const char* names = std::getenv("STRATA_DISABLE_PASS"))
      for (std::string_view rest = names; !rest.empty();) {
        const std::size_t comma = std::min(rest.find(','), rest.size());
        if (comma > 0) out.disabled.emplace_back(rest.substr(0, comma));
        rest.remove_prefix(std::min(comma + 1, rest.size()));
      }
    if (const char* verify = std::getenv("STRATA_VERIFY_PASSES"))
      out.verify = std::string_view(verify) == "1";
    check_disabled(out);
    return out;
  }();
  return options;
}

std::unique_ptr<ir::Block> run_pipeline(std::unique_ptr<ir::Block> block, Remarks* remarks,
                                        const PipelineOptions& options) {
  check_disabled(options);
  std::vector<Property> established;
  bool changed = false;  // since the last cleanup
  bool had_tokens = false;
  for (const Step& step : kPipeline) {
    const Pass* pass = find_pass(step.pass);
    STRATA_CHECK(pass, "the pipeline names no pass '{}'", step.pass);
    if (is_disabled(options, pass->name) || (step.if_changed && !changed)) continue;
    const std::size_t before = options.after ? count_operations(*block) : 0;
    const double began = options.after ? thread_seconds() : 0;
    bool did;
    {
      Stage stage(pass->name);
      did = pass->run(block, remarks);
    }
    changed = pass->cleanup ? false : changed || did;
    had_tokens |= did && pass->name == "erase-tokens";
    if (options.verify) verify_after(*pass, *block, established, had_tokens);
    if (options.after)
      options.after({pass, did, before, count_operations(*block), thread_seconds() - began},
                    *block);
  }
  return block;
}

}  // namespace strata::pass
