// chlo.broadcast_*: samples, and what does not stretch.
#include "strata/op/build.h"
#include "strata/op/catalog.h"
#include "strata/op/evaluate.h"
#include "strata/op/samples.h"
#include "strata/op/shape/refine.h"
#include "strata/op/testing/refused.h"

namespace strata::op {
namespace {

/// The first dtype of which the plain operation takes all its operands; nothing where there is no
/// plain operation.
std::optional<DType> admitted(const OpDef& d, int count) {
  for (DType dtype : {DType::f32, DType::i32}) {
    Block block;
    Values operands;
    for (int i = 0; i < count; ++i)
      operands.push_back(block.add_argument(Type(i == 0 && count == 3 ? DType::i1 : dtype, {2})));
    Attrs attrs;
    if (d.info.name == "chlo.broadcast_compare")
      attrs.set("comparison_direction", std::string("LT"))
          .set("compare_type", std::string("FLOAT"));
    try {
      d.info.infer(operands, attrs, {});
      return dtype;
    } catch (const Error&) {
    }
  }
  return std::nullopt;
}

void add(const OpDef& d, std::vector<Sample>& out) {
  int count = d.info.name == "chlo.broadcast_select" ? 3 : 2;
  std::optional<DType> dtype = admitted(d, count);
  if (!dtype) return;
  auto one = [&](const char* what, Shape first, Shape second, Ints dims) {
    Attrs attrs;
    if (!dims.empty()) attrs.set("broadcast_dimensions", dims);
    if (d.info.name == "chlo.broadcast_compare")
      attrs.set("comparison_direction", std::string("LT"))
          .set("compare_type", std::string("FLOAT"));
    Literals operands{random_literal(Type(count == 3 ? DType::i1 : *dtype, first), 1, 0.5, 3),
                      random_literal(Type(*dtype, second), 2, 1.5, 4)};
    if (count == 3) operands.push_back(random_literal(Type(*dtype, first), 3));
    // Of polygamma and zeta one operand has no derivative; next_after jumps.
    bool smooth = d.info.name.find("gamma") == std::string::npos &&
                  d.info.name.find("zeta") == std::string::npos &&
                  d.info.name.find("next") == std::string::npos;
    out.push_back({.what = what,
                   .operands = std::move(operands),
                   .attrs = std::move(attrs),
                   .smooth = smooth,
                   .batchable = dims.empty() && first.rank() == second.rank()});
  };
  one("both stretch", {3, 1}, {1, 4}, {});
  one("a row", {3, 4}, {4}, count == 3 ? Ints{} : Ints{1});
  one("a scalar", {3, 4}, {}, {});
  one("no elements", {0, 4}, {1, 4}, {});
}

const bool registered = [] {
  for (const OpDef* d : catalog())
    if (d->info.name.starts_with("chlo.broadcast_"))
      add_samples(d->info.name, [d](std::vector<Sample>& out) { add(*d, out); });
  return true;
}();

const bool constant_registered = add_samples("chlo.constant", [](std::vector<Sample>& out) {
  for (const Shape& shape : {Shape{2, 3}, Shape{}, Shape{0}})
    out.push_back({.what = "stated",
                   .operands = {},
                   .attrs = {{"value", random_literal(Type(DType::f32, shape), 1)}}});
});
const bool conj_registered = add_samples("chlo.conj", [](std::vector<Sample>& out) {
  for (const Shape& shape : {Shape{2, 3}, Shape{}, Shape{0}}) {
    std::vector<Dim> dims = shape.dims();
    dims.emplace_back(2);
    out.push_back(
        {.what = "numbers",
         .operands = {Literal(Type(DType::c64, shape),
                              random_literal(Type(DType::f32, Shape(dims)), 1).storage())}});
  }
});

TEST(chlo_broadcast, of_open_shapes_is_plain_stablehlo) {
  Block block;
  Value* x = block.add_argument(Type(DType::f32, Shape({Dim::unknown(), Dim(3)})));
  Value* y = block.add_argument(Type(DType::f32, Shape({Dim::unknown()})));
  Builder b(block);
  Op& op = b.create(def("chlo.broadcast_add").info, {x, y});
  EXPECT_EQ(op.result()->type().to_string(), "tensor<?x3xf32>");
  block.results = op.results();
  Literals in{random_literal(Type(DType::f32, {2, 3}), 1),
              random_literal(Type(DType::f32, {1}), 2)};
  Literal sum = evaluate(block, in)[0];
  EXPECT_EQ(sum.type().to_string(), "tensor<2x3xf32>");
  EXPECT_EQ(sum.span<float>()[4], in[0].span<float>()[4] + in[1].span<float>()[0]);
  Values plain = def(op).decompose(b, op, op.operands);
  EXPECT_EQ(plain[0]->op()->name(), "stablehlo.add");
  block.results = plain;
  EXPECT_TRUE(evaluate(block, in)[0].same_bits(sum));
}

using chlo_broadcast_ = testing::Constraint;
TEST_F(chlo_broadcast_, shapes_that_do_not_stretch) {
  EXPECT_REFUSED(create("chlo.broadcast_add", {f32({2}), f32({3})}),
                 "broadcast_add: tensor<2xf32> and tensor<3xf32> do not stretch to one shape");
}
TEST_F(chlo_broadcast_, dimensions_out_of_order) {
  EXPECT_REFUSED(create("chlo.broadcast_add", {f32({2, 3, 4}), f32({3, 2})},
                        {{"broadcast_dimensions", Ints{1, 0}}}),
                 "is not in order");
}
TEST_F(chlo_broadcast_, the_plain_operation_has_its_own) {
  EXPECT_REFUSED(create("chlo.broadcast_and", {f32({2}), f32({2})}), "and: ");
}

}  // namespace
}  // namespace strata::op
