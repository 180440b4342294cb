#include "strata/api/transform/stages.h"

#include "strata/api/trace/call.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/compile/plan/make_plan.h"
#include "strata/ir/pass/pass.h"
#include "strata/ir/text/printer.h"
#include "strata/op/calculus/support.h"

namespace strata {
namespace {

std::int64_t bytes_of(const std::vector<Type>& types) {
  std::size_t bytes = 0;
  for (const Type& type : types) bytes += type.bytes();
  return static_cast<std::int64_t>(bytes);
}

}  // namespace

std::string Lowered::as_text() const {
  ir::Module module;
  module.name = "jit_" + name_;
  ir::Function& f = module.add("main");
  for (std::size_t i = 0; i < static_cast<std::size_t>(program_->block->num_arguments()); ++i)
    f.body.add_argument(program_->block->argument(static_cast<int>(i))->type());
  ir::Builder b(f.body);
  f.body.results = ir::inline_block(b, *program_->block, f.body.argument_values());
  ir::outline_composites(module);
  return ir::print(module);
}

CostAnalysis Lowered::cost_analysis() const {
  const op::Work work = op::cost_of(block());
  return {work.flops, work.bytes};
}

namespace internal {

CostAnalysis cost_analysis(const Bound& bound) {
  CostAnalysis out{.flops = op::cost_of(*bound.program->block).flops};
  for (const compile::LaunchCost& work : compile::launch_costs(*bound.program->block))
    out.bytes_accessed += work.read + work.written;
  return out;
}

MemoryAnalysis memory_analysis(const Bound& bound) {
  const runtime::Executable& executable = *bound.executable;
  MemoryAnalysis out{.argument_size_in_bytes = bytes_of(executable.argument_types()),
                     .output_size_in_bytes = bytes_of(executable.result_types()),
                     .temp_size_in_bytes = static_cast<std::int64_t>(executable.temporary_bytes())};
  for (std::size_t r = 0; r < bound.bytes.size(); ++r)
    if (executable.donor_of(r) >= 0)
      out.alias_size_in_bytes += static_cast<std::int64_t>(bound.bytes[r]);
  out.generated_code_size_in_bytes =
      compile::native_bytes(*bound.program->block, {.donated = bound.donated, .name = bound.name});
  return out;
}

std::string as_native(const Bound& bound) {
  return compile::native_text(*bound.program->block,
                              {.donated = bound.donated, .name = bound.name});
}

}  // namespace internal
}  // namespace strata
