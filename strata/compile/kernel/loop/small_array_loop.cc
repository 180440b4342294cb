#include "strata/compile/kernel/loop/small_array_loop.h"

#include "strata/compile/fuse/fuse.h"
#include "strata/compile/kernel/loop/branch_around.h"
#include "strata/compile/kernel/loop/scalarized_block.h"
#include "strata/op/control/scan.h"

namespace strata::compile {
namespace {

using ir::Block;
using ir::Op;
using ir::Value;

/// Scalar instructions that run while a kernel is started and its operands go through memory.
constexpr double kOfALaunch = 100;

class SmallLoopKernel {
 public:
  SmallLoopKernel(const Op& op, const Fusion& fusion) : op_(op) {
    built_.kernel = std::make_unique<loop::Kernel>("loop");
    builder_ = std::make_unique<loop::Builder>(*built_.kernel);
    outer_ = std::make_unique<KernelContext>(*builder_, fusion, built_);
    inner_ = std::make_unique<ScalarizedBlock>(*outer_);
    for (const auto& region : op.regions)
      for (const Value* v : ir::captures(*region))
        if (ScalarizedBlock::is_small(v)) inner_->set(v, elements_of(v));
  }

  void run_while() {
    const Block &condition = op_.region(0), &body = op_.region(1);
    for (std::size_t i = 0; i < op_.operands.size(); ++i) {
      int n = static_cast<int>(i);
      carries_.push_back(carry(n, op_.operands[i], body.results[i] == body.argument(n)));
    }
    builder_->while_(
        [&] {
          enter(condition, 0);
          std::vector<Elements> holds = inner_->run(condition);
          for (std::size_t i = 0; i < carries_.size();
               ++i)  // the body reads the same memory under another name
            if (carries_[i].memory &&
                !inner_->lies_in(condition.argument(static_cast<int>(i)), carries_[i].memory))
              inner_->fail();
          return inner_->failed() ? builder_->constant_bits(DType::i1, 0) : holds[0][0];
        },
        [&] {
          enter(body, 0);
          leave(body, inner_->run(body));
        });
    finish();
  }

  void run_scan() {
    op::ScanParts parts(op_);
    const Block& body = parts.body;
    xs_ = parts.xs;
    for (std::size_t i = 0; i < parts.consts; ++i)
      constant(op_.operands[i], body.argument(static_cast<int>(i)));
    for (std::size_t i = 0; i < parts.carries; ++i) {
      const Value* argument = body.argument(static_cast<int>(parts.consts + i));
      carries_.push_back(
          carry(static_cast<int>(i), op_.operands[parts.consts + i], body.results[i] == argument));
    }
    builder_->for_(0, parts.length, 1, [&](Index i) {
      Index at = parts.reverse ? Index(parts.length - 1) - i : i;
      enter(body, parts.consts);
      for (std::size_t x = parts.consts + parts.carries; x < op_.operands.size(); ++x) {
        const Value* slice = body.argument(static_cast<int>(x));
        if (!ScalarizedBlock::is_small(slice)) return inner_->fail();
        std::int64_t count = slice->shape().count();
        Elements elements;
        for (std::int64_t k = 0; k < count; ++k)
          elements.push_back(builder_->load(outer_->input(op_.operands[x]), at * count + k));
        inner_->set(slice, std::move(elements));
      }
      std::vector<Elements> results = inner_->run(body);
      for (std::size_t y = parts.carries; y < results.size(); ++y) {
        std::int64_t count = body.results[y]->shape().count();
        if (results[y].size() != static_cast<std::size_t>(count)) return inner_->fail();
        loop::Ref* stack = outer_->output(op_.result(static_cast<int>(y)));
        for (std::int64_t k = 0; k < count; ++k)
          builder_->store(stack, at * count + k, results[y][static_cast<std::size_t>(k)]);
      }
      leave(body, std::move(results));
    });
    finish();
  }

  std::optional<SmallArrayLoop> take() {
    if (inner_->failed() || inner_->excess() > kOfALaunch * static_cast<double>(launches()))
      return std::nullopt;
    branch_around_long_sides(*built_.kernel);
    SmallArrayLoop out;
    std::size_t first = op_.operands.size() - xs_ - carries_.size();
    for (std::size_t i = 0; i < carries_.size(); ++i)
      if (carries_[i].memory)
        out.in_place.push_back({op_.operands[first + i], op_.result(static_cast<int>(i))});
    out.built.kernels.push_back(std::move(built_));
    return out;
  }

 private:
  /// A carry: elements that never change, or locals, or memory.
  struct Carry {
    Elements constant, locals;
    loop::Ref* memory = nullptr;
  };

  /// Kernels that the driver would start in each iteration.
  std::size_t launches() const {
    std::size_t n = 0;
    for (const auto& region : op_.regions) n += fuse(*region).groups.size();
    return n;
  }

  Elements elements_of(const Value* v) {
    Elements out;
    for (std::int64_t k = 0; k < v->shape().count(); ++k) out.push_back(outer_->at_offset(v, k));
    return out;
  }

  /// What a scan's body calls `argument`: its elements, or the memory it is read from.
  void constant(const Value* v, const Value* argument) {
    if (ScalarizedBlock::is_small(v))
      inner_->set(argument, elements_of(v));
    else if (v->shape().is_static() && loop::is_loop_dtype(v->dtype()))
      inner_->set_memory(argument, outer_->input(v));
    else
      inner_->fail();
  }

  Carry carry(int result, const Value* initial, bool stays) {
    Carry out;
    if (!ScalarizedBlock::is_small(initial)) {
      const Value* v = op_.result(result);
      if (!v->shape().is_static() || !loop::is_loop_dtype(v->dtype()))
        inner_->fail();
      else
        out.memory = outer_->output(v);
    } else if (stays) {
      out.constant = elements_of(initial);
    } else {
      out.locals = inner_->locals(elements_of(initial));
    }
    return out;
  }
  Elements now(const Carry& c) { return c.locals.empty() ? c.constant : inner_->now(c.locals); }

  /// The carries as the block's arguments, which begin at `first`.
  void enter(const Block& block, std::size_t first) {
    for (std::size_t i = 0; i < carries_.size(); ++i) {
      const Value* argument = block.argument(static_cast<int>(first + i));
      if (carries_[i].memory)
        inner_->set_memory(argument, carries_[i].memory);
      else
        inner_->set(argument, now(carries_[i]));
    }
  }
  /// The block's results as the carries of the next iteration; those in memory have to be there
  /// already.
  void leave(const Block& body, std::vector<Elements> results) {
    for (std::size_t i = 0; i < carries_.size(); ++i) {
      if (carries_[i].memory) {
        if (!inner_->lies_in(body.results[i], carries_[i].memory)) inner_->fail();
      } else if (!carries_[i].locals.empty()) {
        inner_->assign(carries_[i].locals, results[i]);
      }
    }
  }
  void finish() {
    for (std::size_t i = 0; i < carries_.size(); ++i) {
      if (carries_[i].memory) continue;
      Elements last = now(carries_[i]);
      for (std::size_t k = 0; k < last.size(); ++k)
        builder_->store(outer_->output(op_.result(static_cast<int>(i))),
                        static_cast<std::int64_t>(k), last[k]);
    }
  }

  const Op& op_;
  BuiltKernel built_;
  std::unique_ptr<loop::Builder> builder_;
  std::unique_ptr<KernelContext> outer_;
  std::unique_ptr<ScalarizedBlock> inner_;
  std::vector<Carry> carries_;
  std::size_t xs_ = 0;
};

}  // namespace

std::optional<SmallArrayLoop> build_small_array_loop(const Op& op, const Fusion& fusion) {
  const auto* structured = std::get_if<op::Structured>(&op::def(op).lowering);
  if (!structured) return std::nullopt;
  bool is_while = structured->kind == op::Structured::Kind::while_;
  if (!is_while && structured->kind != op::Structured::Kind::scan) return std::nullopt;
  SmallLoopKernel kernel(op, fusion);
  is_while ? kernel.run_while() : kernel.run_scan();
  return kernel.take();
}

}  // namespace strata::compile
