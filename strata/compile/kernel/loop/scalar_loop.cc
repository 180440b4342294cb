#include "strata/compile/kernel/loop/scalar_loop.h"

#include "strata/compile/kernel/loop/branch_around.h"
#include "strata/op/control/scan.h"
#include "strata/op/lower_region.h"

namespace strata::compile {
namespace {

using ir::Block;
using ir::Op;
using ir::Value;

/// A reduction inside longer than this is worth kernels of its own.
constexpr std::int64_t kMostReduced = 64;

class ScalarLoop {
 public:
  ScalarLoop(const Op& op, const Fusion& fusion) : op_(op) {
    built_.kernel = std::make_unique<loop::Kernel>("loop");
    builder_ = std::make_unique<loop::Builder>(*built_.kernel);
    context_ = std::make_unique<KernelContext>(*builder_, fusion, built_);
  }

  Built run_while() {
    const Block &condition = op_.region(0), &body = op_.region(1);
    std::vector<Inst*> carries = locals(0, op_.operands.size());
    builder_->while_([&] { return block(condition, now(carries))[0]; },
                     [&] { assign(carries, block(body, now(carries))); });
    return finish(carries);
  }

  Built run_scan() {
    op::ScanParts parts(op_);
    std::vector<Inst*> consts, carries = locals(parts.consts, parts.carries);
    for (std::size_t i = 0; i < parts.consts; ++i)
      consts.push_back(context_->at(op_.operands[i], {}));
    builder_->for_(0, parts.length, 1, [&](Index i) {
      Index at = parts.reverse ? Index(parts.length - 1) - i : i;
      std::vector<Inst*> arguments = consts;
      for (Inst* c : carries) arguments.push_back(builder_->get(c));
      for (std::size_t x = 0; x < parts.xs; ++x)
        arguments.push_back(
            context_->at(op_.operands[parts.consts + parts.carries + x], std::vector<Index>{at}));
      std::vector<Inst*> results = block(parts.body, arguments);
      for (std::size_t y = 0; y < parts.ys; ++y)
        builder_->store(context_->output(op_.result(static_cast<int>(parts.carries + y))), at,
                        results[parts.carries + y]);
      results.resize(parts.carries);
      assign(carries, results);
    });
    return finish(carries);
  }

 private:
  std::vector<Inst*> locals(std::size_t first, std::size_t count) {
    std::vector<Inst*> out;
    for (std::size_t i = 0; i < count; ++i)
      out.push_back(builder_->local(context_->at(op_.operands[first + i], {})));
    return out;
  }
  std::vector<Inst*> now(const std::vector<Inst*>& carries) {
    std::vector<Inst*> out;
    for (Inst* c : carries) out.push_back(builder_->get(c));
    return out;
  }
  std::vector<Inst*> block(const Block& region, const std::vector<Inst*>& arguments) {
    return op::lower_region(*context_, region, arguments);
  }
  void assign(const std::vector<Inst*>& carries, const std::vector<Inst*>& values) {
    for (std::size_t i = 0; i < carries.size(); ++i) builder_->set(carries[i], values[i]);
  }
  Built finish(const std::vector<Inst*>& carries) {
    for (std::size_t i = 0; i < carries.size(); ++i)
      builder_->store(context_->output(op_.result(static_cast<int>(i))), 0,
                      builder_->get(carries[i]));
    branch_around_long_sides(*built_.kernel);
    Built out;
    out.kernels.push_back(std::move(built_));
    return out;
  }

  const Op& op_;
  BuiltKernel built_;
  std::unique_ptr<loop::Builder> builder_;
  std::unique_ptr<KernelContext> context_;
};

}  // namespace

std::optional<Built> build_scalar_loop(const Op& op, const Fusion& fusion) {
  const auto* structured = std::get_if<op::Structured>(&op::def(op).lowering);
  if (!structured) return std::nullopt;
  for (const auto& region : op.regions)
    if (op::emission(*region, kMostReduced) == op::Emission::none) return std::nullopt;
  if (structured->kind == op::Structured::Kind::while_) return ScalarLoop(op, fusion).run_while();
  if (structured->kind == op::Structured::Kind::scan) return ScalarLoop(op, fusion).run_scan();
  return std::nullopt;
}

}  // namespace strata::compile
