// The specification's constraints on operations that move elements: each broken once, with the
// message it earns.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/base/error.h"
#include "strata/op/build.h"
#include "strata/op/testing/refused.h"

namespace strata::op {
namespace {

/// Operations on arguments of a scratch block.
class Constraint : public ::testing::Test {
 protected:
  Value* array(DType dtype, Shape shape) {
    return block_.add_argument(Type(dtype, std::move(shape)));
  }
  Value* f32(Shape shape) { return array(DType::f32, std::move(shape)); }
  Op& create(const char* name, Values operands, Attrs attrs) {
    return b.create(def(name).info, std::move(operands), std::move(attrs));
  }
  Op& create(const char* name, Values operands, Attrs attrs, Type result) {
    return b.create(def(name).info, std::move(operands), std::move(attrs), {}, {std::move(result)});
  }

  Block block_;
  Builder b{block_};
};

class broadcast_in_dim_ : public Constraint {};
TEST_F(broadcast_in_dim_, c1) {
  EXPECT_REFUSED(create("stablehlo.broadcast_in_dim", {f32({2})},
                        {{"broadcast_dimensions", Ints{0}}}, Type(DType::f64, {2})),
                 "broadcast_in_dim: (C1) result dtype f64 differs from the operand's f32");
}
TEST_F(broadcast_in_dim_, c2) {
  EXPECT_REFUSED(broadcast_in_dim(b, f32({2}), {2, 3}, {}), "has 0 entries for an array of rank 1");
}
TEST_F(broadcast_in_dim_, c3) {
  EXPECT_REFUSED(broadcast_in_dim(b, f32({2}), {2, 3}, {2}),
                 "broadcast_dimensions[0] = 2 is outside of the result tensor<2x3xf32>");
  EXPECT_REFUSED(broadcast_in_dim(b, f32({2}), {2, 3}, {-1}), "broadcast_dimensions[0] = -1");
}
TEST_F(broadcast_in_dim_, c4) {
  EXPECT_REFUSED(broadcast_in_dim(b, f32({2, 2}), {2, 3}, {0, 0}), "names dimension 0 twice");
}
TEST_F(broadcast_in_dim_, c5) {
  EXPECT_REFUSED(broadcast_in_dim(b, f32({2}), {2, 3}, {1}),
                 "dimension 0 of tensor<2xf32> fits neither 1 nor dimension 1 of tensor<2x3xf32>");
}

class reshape_ : public Constraint {};
TEST_F(reshape_, c1) {
  EXPECT_REFUSED(create("stablehlo.reshape", {f32({2})}, {}, Type(DType::i32, {2})),
                 "result dtype i32");
}
TEST_F(reshape_, c2) {
  EXPECT_REFUSED(reshape(b, f32({2, 3}), {5}),
                 "cannot reshape tensor<2x3xf32> with 6 elements to tensor<5xf32> with 5");
}

class transpose_ : public Constraint {};
TEST_F(transpose_, c2) {
  EXPECT_REFUSED(transpose(b, f32({2, 3}), {0, 0}),
                 "permutation [0, 0] is none of the dimensions of tensor<2x3xf32>");
  EXPECT_REFUSED(transpose(b, f32({2, 3}), {0, 2}), "permutation [0, 2]");
  EXPECT_REFUSED(transpose(b, f32({2, 3}), {0}),
                 "permutation has 1 entries for an array of rank 2");
}
TEST_F(transpose_, c3) {
  EXPECT_EQ(transpose(b, f32({2, 3, 4}), {2, 0, 1})->type(), Type(DType::f32, {4, 2, 3}));
}

class slice_ : public Constraint {};
TEST_F(slice_, c2) {
  EXPECT_REFUSED(slice(b, f32({4}), {0, 0}, {4}, {1}),
                 "start_indices has 2 entries for an array of rank 1");
}
TEST_F(slice_, c3) {
  EXPECT_REFUSED(slice(b, f32({4}), {0}, {5}),
                 "slice: (C3) [0, 5) is no range within dimension 0 of tensor<4xf32>");
  EXPECT_REFUSED(slice(b, f32({4}), {3}, {2}), "[3, 2)");
  EXPECT_REFUSED(slice(b, f32({4}), {-1}, {2}), "[-1, 2)");
}
TEST_F(slice_, c4) {
  EXPECT_REFUSED(slice(b, f32({4}), {0}, {4}, {0}), "stride 0 of dimension 0 is not positive");
}
TEST_F(slice_, c5) { EXPECT_EQ(slice(b, f32({10}), {1}, {9}, {3})->type(), Type(DType::f32, {3})); }

class pad_ : public Constraint {};
TEST_F(pad_, c1) {
  EXPECT_REFUSED(pad(b, f32({2}), f32({1}), {0}, {0}),
                 "padding value of tensor<2xf32> must be a scalar of its dtype, got tensor<1xf32>");
  EXPECT_REFUSED(pad(b, f32({2}), array(DType::i32, {}), {0}, {0}), "got tensor<i32>");
}
TEST_F(pad_, c2) {
  EXPECT_REFUSED(pad(b, f32({2}), f32({}), {0}, {0, 1}), "edge_padding_high has 2 entries");
}
TEST_F(pad_, c3) {
  EXPECT_REFUSED(pad(b, f32({2}), f32({}), {0}, {0}, {-1}),
                 "interior padding -1 of dimension 0 is negative");
}
TEST_F(pad_, c4) {
  EXPECT_EQ(pad(b, f32({3}), f32({}), {1}, {-2}, {2})->type(), Type(DType::f32, {6}));
  EXPECT_REFUSED(pad(b, f32({3}), f32({}), {-2}, {-2}),
                 "leaves dimension 0 of tensor<3xf32> with size -1");
}

class concatenate_ : public Constraint {};
TEST_F(concatenate_, c1) {
  EXPECT_REFUSED(concatenate(b, {f32({2}), array(DType::i32, {2})}, 0),
                 "(C1) operands must have one element type, got tensor<2xf32> and tensor<2xi32>");
}
TEST_F(concatenate_, c2) {
  EXPECT_REFUSED(concatenate(b, {f32({2, 3}), f32({2, 4})}, 0),
                 "got tensor<2x3xf32> and tensor<2x4xf32>");
}
TEST_F(concatenate_, c3) { EXPECT_REFUSED(concatenate(b, {}, 0), "at least one operand"); }
TEST_F(concatenate_, c4) {
  EXPECT_REFUSED(concatenate(b, {f32({2})}, 1), "dimension 1 is outside of tensor<2xf32>");
}
TEST_F(concatenate_, c6) {
  EXPECT_EQ(concatenate(b, {f32({2, 3}), f32({5, 3})}, 0)->type(), Type(DType::f32, {7, 3}));
}

class iota_ : public Constraint {};
TEST_F(iota_, c1) {
  EXPECT_REFUSED(iota(b, Type(DType::f32, {2}), 1), "iota_dimension 1 is outside of tensor<2xf32>");
  EXPECT_REFUSED(iota(b, Type(DType::i1, {2}), 0), "dtype i1 is not admitted");
}

class reverse_ : public Constraint {};
TEST_F(reverse_, c2) {
  EXPECT_REFUSED(reverse(b, f32({2, 3}), {1, 1}),
                 "(C2) dimension 1 of tensor<2x3xf32> is named twice");
}
TEST_F(reverse_, c3) {
  EXPECT_REFUSED(reverse(b, f32({2}), {1}), "dimension 1 is outside of tensor<2xf32>");
}

class convert_ : public Constraint {};
TEST_F(convert_, c1) {
  EXPECT_REFUSED(create("stablehlo.convert", {f32({2})}, {}, Type(DType::i32, {3})),
                 "has another shape than the operand tensor<2xf32>");
}

class bitcast_convert_ : public Constraint {};
TEST_F(bitcast_convert_, c1) {
  EXPECT_EQ(bitcast_convert(b, f32({2}), DType::ui8)->type(), Type(DType::ui8, {2, 4}));
  EXPECT_EQ(bitcast_convert(b, array(DType::i16, {5, 2}), DType::f32)->type(),
            Type(DType::f32, {5}));
  EXPECT_REFUSED(bitcast_convert(b, array(DType::i16, {5}), DType::f32),
                 "the last dimension of the narrower array must be 2");
  EXPECT_EQ(bitcast_convert(b, array(DType::i1, {3, 8}), DType::ui8)->type(),
            Type(DType::ui8, {3}));
  EXPECT_REFUSED(bitcast_convert(b, array(DType::i1, {8}), DType::i16),
                 "the last dimension of the narrower array must be 16");
  EXPECT_REFUSED(create("stablehlo.bitcast_convert", {array(DType::f6E2M3FN, {3, 1})}, {},
                        Type(DType::i8, {3})),
                 "8 bits are no multiple of 6");
}
TEST_F(bitcast_convert_, c2) {
  EXPECT_REFUSED(
      create("stablehlo.bitcast_convert", {array(DType::c64, {2})}, {}, Type(DType::i64, {2})),
      "(C2) cannot reinterpret tensor<2xcomplex<f32>> as tensor<2xi64>");
}

class select_ : public Constraint {};
TEST_F(select_, c1) {
  EXPECT_REFUSED(select(b, array(DType::i1, {3}), f32({2}), f32({2})),
                 "the predicate tensor<3xi1> must be a scalar or have the shape of tensor<2xf32>");
  EXPECT_REFUSED(select(b, f32({}), f32({2}), f32({2})),
                 "the predicate must be i1, got tensor<f32>");
}
TEST_F(select_, c2) {
  EXPECT_REFUSED(select(b, array(DType::i1, {}), f32({2}), f32({3})),
                 "both choices must have one type");
}

class clamp_ : public Constraint {};
TEST_F(clamp_, c1) {
  EXPECT_REFUSED(clamp(b, f32({3}), f32({2}), f32({})), "a bound tensor<3xf32>");
}
TEST_F(clamp_, c2) {
  EXPECT_REFUSED(clamp(b, f32({}), f32({2}), f32({3})), "a bound tensor<3xf32>");
}
TEST_F(clamp_, c3) {
  EXPECT_REFUSED(
      clamp(b, array(DType::f64, {}), f32({2}), f32({})),
      "(C3) the bounds' dtype differs from the operand's, got tensor<f64> and tensor<2xf32>");
}

class compare_ : public Constraint {};
TEST_F(compare_, c1) {
  EXPECT_REFUSED(compare(b, f32({2}), array(DType::f64, {2}), "LT"),
                 "got tensor<2xf32> and tensor<2xf64>");
}
TEST_F(compare_, c2) {
  EXPECT_REFUSED(compare(b, f32({2}), f32({3}), "LT"), "got tensor<2xf32> and tensor<3xf32>");
}
TEST_F(compare_, c3) {
  Attrs attrs{{"comparison_direction", std::string("LT")}, {"compare_type", std::string("SIGNED")}};
  EXPECT_REFUSED(create("stablehlo.compare", {f32({2}), f32({2})}, attrs),
                 "(C3) compare_type SIGNED does not fit tensor<2xf32>");
  EXPECT_REFUSED(compare(b, f32({2}), f32({2}), "LESS"), "comparison_direction LESS is none of");
}

class elementwise_ : public Constraint {};
TEST_F(elementwise_, operands_have_equal_types) {
  EXPECT_REFUSED(add(b, f32({2}), f32({3})),
                 "add: (C1) operands must have equal types, got tensor<2xf32> and tensor<3xf32>");
  EXPECT_REFUSED(mul(b, f32({2}), array(DType::bf16, {2})),
                 "multiply: (C1) operands must have equal types");
}
TEST_F(elementwise_, dtypes_are_admitted) {
  EXPECT_REFUSED(exp(b, array(DType::i32, {2})),
                 "exponential: (I1) dtype i32 is not admitted; it takes floats");
  EXPECT_REFUSED(
      and_(b, f32({2}), f32({2})),
      "and: (I1) dtype f32 is not admitted; it takes booleans, signed integers, unsigned integers");
  EXPECT_REFUSED(neg(b, array(DType::i1, {2})), "negate: (I1) dtype i1 is not admitted");
  EXPECT_REFUSED(rem(b, array(DType::c64, {2}), array(DType::c64, {2})),
                 "remainder: (I1) dtype complex<f32> is not admitted");
}
TEST_F(elementwise_, a_dimension_that_is_not_static_takes_the_others_size) {
  Value* x = array(DType::f32, Shape(std::vector<Dim>{Dim::symbolic("B"), Dim(3)}));
  EXPECT_EQ(exp(b, x)->type(), x->type());
  EXPECT_EQ(add(b, x, f32({4, 3}))->type(), Type(DType::f32, {4, 3}));
  EXPECT_REFUSED(add(b, x, f32({4, 2})), "operands must have equal types");
}
TEST_F(elementwise_, errors_say_where) {
  b.set_location(ir::Location("program.cc:12"));
  EXPECT_REFUSED(add(b, f32({2}), f32({3})), "[at program.cc:12]");
  EXPECT_REFUSED(reshape(b, f32({2}), {3}), "[at program.cc:12]");
}

TEST(Catalog, FindsByOperationAndByName) {
  Block block;
  Builder b(block);
  Value* x = block.add_argument(Type(DType::f32, {2}));
  EXPECT_EQ(&def(*add(b, x, x)->op()), &def("stablehlo.add"));
  EXPECT_THROW(def("stablehlo.nothing"), InternalError);
  EXPECT_EQ(ir::Registry::global().find("stablehlo.add"), &def("stablehlo.add").info);
}

TEST(Catalog, IsInOrderOfNames) {
  for (std::size_t i = 1; i < catalog().size(); ++i)
    EXPECT_LT(catalog()[i - 1]->info.name, catalog()[i]->info.name);
}

}  // namespace
}  // namespace strata::op
