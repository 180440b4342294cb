#include "strata/embed/object.h"

#include "strata/api/trace/trace.h"
#include "strata/compile/llvm/object_file.h"
#include "strata/compile/pipeline.h"
#include "strata/compile/plan/make_plan.h"
#include "strata/embed/c_header.h"
#include "strata/op/foreign/foreign.h"

namespace strata::embed {
namespace {

/// As Program::signature, of fixed shapes.
std::string signature_of(const Program& program, const Program::Fixed& fixed) {
  auto described = [](const std::vector<Program::Port>& ports) {
    std::string out;
    for (const Program::Port& p : ports)
      out += fmt::format("{}{}: {}", out.empty() ? "" : ", ", p.name, internal::describe(p.type));
    return out;
  };
  return fmt::format("{}({}) -> ({})", program.name(), described(fixed.inputs),
                     described(fixed.outputs));
}

}  // namespace

Object compile_object(const Program& program, const ObjectOptions& o) {
  const compile::CpuTarget target = compile::CpuTarget::named(o.cpu);
  const Program::Fixed fixed = program.fixed(o.inputs);
  const std::string signature = signature_of(program, fixed);
  Object out;
  out.header =
      c_header({o.name, o.source, o.object, o.cpu, signature, fixed.inputs, fixed.outputs});
  const auto ready = compile::prepare(*fixed.body);
  ir::walk(*ready, [](const ir::Op& op) {
    if (op::foreign::is_resolved(op))
      throw Error("compile",
                  "the program calls a handler that only this process has: object files carry none")
          .unsupported()
          .at(op.where.text());
  });
  const compile::Plan plan = compile::make_plan(*ready, {}, target);
  out.object = compile::make_object_file(plan, {o.name, signature});
  return out;
}

}  // namespace strata::embed
