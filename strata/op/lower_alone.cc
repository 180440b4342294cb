#include "strata/op/lower_alone.h"

#include "strata/op/rules.h"

namespace strata::op {
namespace {

constexpr int kLanes = 16;

/// Operands are loaded from parameters.
class Alone : public LowerContext {
 public:
  Alone(loop::Builder& builder, const Op& op) : LowerContext(builder) {
    for (Value* v : op.operands)
      operands_.push_back(builder.parameter(v->dtype(), v->shape().count(), loop::Ref::Mode::in));
  }
  loop::Inst* operand(const Op& op, int i, std::span<const loop::Index> index) override {
    return b.load(operands_[static_cast<std::size_t>(i)],
                  linearized(index, op.operand(i)->shape().sizes()));
  }

 private:
  std::vector<loop::Ref*> operands_;
};

/// Loops over the dimensions from `index.size()` on; `body` sees the whole index.
void nest(loop::Builder& b, const std::vector<std::int64_t>& sizes, std::vector<loop::Index> index,
          const std::function<void(const std::vector<loop::Index>&)>& body) {
  std::size_t d = index.size();
  if (d == sizes.size()) return body(index);
  auto inner = [&](loop::Index i) {
    std::vector<loop::Index> longer = index;
    longer.push_back(i);
    nest(b, sizes, std::move(longer), body);
  };
  if (d + 1 == sizes.size())
    b.vector(0, sizes[d], kLanes, inner);
  else
    b.for_(0, sizes[d], 1, inner);
}

}  // namespace

bool is_elemental(const Op& op) { return std::holds_alternative<Elementwise>(def(op).lowering); }

std::unique_ptr<loop::Kernel> lower_alone(const Op& op) {
  const auto* lowering = std::get_if<Elementwise>(&def(op).lowering);
  STRATA_CHECK(lowering != nullptr, "{} has no element-by-element lowering", op.name());
  auto kernel = std::make_unique<loop::Kernel>(std::string(short_name(op.name())));
  loop::Builder b(*kernel);
  Alone context(b, op);
  std::vector<loop::Ref*> targets;
  for (Value* r : op.results())
    targets.push_back(b.parameter(r->dtype(), r->shape().count(), loop::Ref::Mode::out));
  for (int r = 0; r < op.num_results(); ++r) {
    if (op.result(r)->shape().count() == 0) continue;
    std::vector<std::int64_t> sizes = op.result(r)->shape().sizes();
    nest(b, sizes, {}, [&](const std::vector<loop::Index>& index) {
      b.store(targets[static_cast<std::size_t>(r)], linearized(index, sizes),
              lowering->element(context, op, r, index));
    });
  }
  return kernel;
}

}  // namespace strata::op
