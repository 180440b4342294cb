// The specification's constraints on operations between processes: each broken once, with the
// message it earns.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/base/error.h"
#include "strata/op/build.h"
#include "strata/op/testing/refused.h"
#include "strata/op/testing/run.h"

namespace strata::op {
namespace {

Literal table(std::int64_t rows, const std::vector<std::int64_t>& ids) {
  return Literal::of<std::int64_t>({rows, static_cast<std::int64_t>(ids.size()) / rows}, ids);
}

class CollectiveConstraint : public ::testing::Test {
 protected:
  Value* f32(Shape shape) { return block_.add_argument(Type(DType::f32, std::move(shape))); }
  Value* token() { return block_.add_argument(Type::token()); }
  static Type t(Shape shape) { return Type(DType::f32, std::move(shape)); }
  Op& make(const char* name, Values operands, Attrs attrs) {
    return b.create(def(name).info, std::move(operands), std::move(attrs));
  }
  Op& make(const char* name, Values operands, Attrs attrs, std::vector<Type> results) {
    return b.create(def(name).info, std::move(operands), std::move(attrs), {}, std::move(results));
  }
  /// Attributes of a sound operation, one of them replaced.
  static Attrs set(Attrs attrs, const char* name, ir::Attr value) {
    return attrs.set(name, std::move(value));
  }

  Block block_;
  Builder b{block_};
};

const Attrs kGather{{"all_gather_dim", std::int64_t{0}}, {"replica_groups", table(1, {0, 1})}};

TEST_F(CollectiveConstraint, all_gather) {
  const char* name = "stablehlo.all_gather";
  EXPECT_REFUSED(make(name, {f32({2})}, set(kGather, "all_gather_dim", std::int64_t{1}), {t({4})}),
                 "all_gather: (C1) all_gather_dim 1 is no dimension of tensor<2xf32>");  // C1
  EXPECT_REFUSED(make(name, {f32({2})}, set(kGather, "replica_groups", table(1, {1, 1})), {t({4})}),
                 "replica_groups holds 1 twice");  // C2
  EXPECT_REFUSED(
      make(name, {f32({2})}, set(kGather, "replica_groups", table(1, {-2, 1})), {t({4})}),
      "replica_groups holds -2");  // C4
  EXPECT_REFUSED(make(name, {f32({2})}, set(kGather, "use_global_device_ids", true), {t({4})}),
                 "use_global_device_ids needs a positive channel, got 0");  // C5
  EXPECT_REFUSED(make(name, {f32({2})}, kGather, {t({6})}),
                 "tensor<2xf32> cannot be gathered to tensor<6xf32>");  // C6
  EXPECT_REFUSED(make(name, {f32({2})}, kGather, {Type(DType::f64, {4})}), "cannot be gathered");
}

const Attrs kReduce{{"combiner", std::string("add")}, {"replica_groups", table(1, {0, 1})}};

TEST_F(CollectiveConstraint, all_reduce) {
  const char* name = "stablehlo.all_reduce";
  EXPECT_REFUSED(make(name, {f32({2})}, set(kReduce, "replica_groups", table(2, {0, 0}))),
                 "all_reduce: (C1) replica_groups holds 0 twice");  // C1
  EXPECT_REFUSED(make(name, {f32({2})}, set(kReduce, "use_global_device_ids", true)),
                 "needs a positive channel");  // C4
  EXPECT_REFUSED(make(name, {f32({2})}, set(kReduce, "combiner", std::string("xor"))),
                 "combiner xor does not exist for f32");  // C5
  EXPECT_REFUSED(make(name, {f32({2})}, set(kReduce, "combiner", std::string("region"))),
                 "needs one region, got 0");
  EXPECT_REFUSED(make(name, {f32({2})}, set(kReduce, "replica_groups", std::int64_t{1})),
                 "attribute replica_groups has the wrong kind");
  auto region = [](DType dtype) {
    std::vector<std::unique_ptr<Block>> out;
    out.push_back(
        testing::build({Type::scalar(dtype), Type::scalar(dtype)},
                       [](Builder& b, const Values& v) { return Values{add(b, v[0], v[1])}; }));
    return out;
  };
  EXPECT_REFUSED(b.create(def(name).info, {f32({2})},
                          set(kReduce, "combiner", std::string("region")), region(DType::f16)),
                 "tensor<2xf32> cannot be promoted to the computation's tensor<f16>");
}

TEST_F(CollectiveConstraint, reduce_scatter) {
  const char* name = "stablehlo.reduce_scatter";
  Attrs sound = set(kReduce, "scatter_dimension", std::int64_t{0});
  EXPECT_REFUSED(
      make(name, {f32({3})}, sound, {t({1})}),
      "reduce_scatter: (C1) dimension 0 of tensor<3xf32> cannot be cut into 2 equal parts");  // C1
  EXPECT_REFUSED(
      make(name, {f32({4})}, set(sound, "scatter_dimension", std::int64_t{-1}), {t({2})}),
      "scatter_dimension -1 is no dimension of");  // C2
  EXPECT_REFUSED(make(name, {f32({4})}, set(sound, "replica_groups", table(1, {3, 3})), {t({2})}),
                 "holds 3 twice");  // C3
  EXPECT_REFUSED(make(name, {f32({4})}, set(sound, "use_global_device_ids", true), {t({2})}),
                 "needs a positive channel");  // C6
  EXPECT_REFUSED(make(name, {f32({4})}, set(sound, "combiner", std::string("and")), {t({2})}),
                 "combiner and does not exist for f32");  // C7
  EXPECT_REFUSED(make(name, {f32({4})}, sound, {t({4})}),
                 "tensor<4xf32> cannot be scattered to tensor<4xf32>");  // C8
  EXPECT_REFUSED(make(name, {f32({4})}, sound, {Type(DType::f64, {2})}),
                 "cannot be scattered to tensor<2xf64>");  // C9
}

TEST_F(CollectiveConstraint, all_to_all) {
  const char* name = "stablehlo.all_to_all";
  Attrs sound{{"split_dimension", std::int64_t{0}},
              {"concat_dimension", std::int64_t{1}},
              {"split_count", std::int64_t{2}},
              {"replica_groups", table(1, {0, 1})}};
  EXPECT_REFUSED(make(name, {f32({2, 2})}, set(sound, "split_dimension", std::int64_t{2})),
                 "all_to_all: (C1) split_dimension 2 is no dimension of tensor<2x2xf32>");  // C1
  EXPECT_REFUSED(make(name, {f32({3, 2})}, sound),
                 "dimension 0 of tensor<3x2xf32> cannot be cut into 2 equal parts");  // C2
  EXPECT_REFUSED(make(name, {f32({2, 2})}, set(sound, "concat_dimension", std::int64_t{-1})),
                 "concat_dimension -1 is no dimension of");  // C3
  EXPECT_REFUSED(make(name, {f32({2, 2})}, set(sound, "split_count", std::int64_t{0})),
                 "split_count must be positive, got 0");  // C4
  EXPECT_REFUSED(make(name, {f32({2, 2})}, set(sound, "replica_groups", table(1, {1, 1}))),
                 "holds 1 twice");  // C5
  EXPECT_REFUSED(make(name, {f32({2, 2})}, set(sound, "replica_groups", table(1, {0, 1, 2}))),
                 "split_count is 2, but groups have 3 processes");  // C8
  EXPECT_EQ(make(name, {f32({2, 2})}, sound).result()->type().to_string(),
            "tensor<1x4xf32>");  // C9
}

TEST_F(CollectiveConstraint, collective_broadcast) {
  const char* name = "stablehlo.collective_broadcast";
  Attrs sound{{"replica_groups", table(1, {0, 1})}}, rooted = set(sound, "has_dynamic_root", true);
  EXPECT_REFUSED(make(name, {f32({2})}, set(sound, "replica_groups", table(1, {1, 1}))),
                 "collective_broadcast: (C1) replica_groups holds 1 twice");  // C1
  EXPECT_REFUSED(make(name, {f32({2})}, set(sound, "replica_groups", table(1, {-7}))),
                 "replica_groups holds -7");                  // C2
  EXPECT_REFUSED(make(name, {}, sound), "needs an operand");  // C3
  EXPECT_REFUSED(make(name, {f32({2})}, rooted),
                 "has_dynamic_root needs an operand and its root, got 1");  // C4
  EXPECT_REFUSED(make(name, {f32({2}), f32({1})}, rooted),
                 "roots must be tensor<1xi32>, got tensor<1xf32>");
  EXPECT_EQ(
      make(name, {f32({2}), block_.add_argument(Type(DType::i32, {1}))}, rooted).num_results(),
      1);  // C5
}

TEST_F(CollectiveConstraint, collective_reduce) {
  const char* name = "stablehlo.collective_reduce";
  EXPECT_REFUSED(make(name, {f32({2})}, set(kReduce, "replica_groups", table(1, {1, 1}))),
                 "collective_reduce: (C1) replica_groups holds 1 twice");  // C1
  EXPECT_REFUSED(make(name, {f32({2}), f32({2})}, set(kReduce, "has_dynamic_root", true)),
                 "roots must be tensor<1xi32>");  // C3
  EXPECT_REFUSED(make(name, {f32({2})}, set(kReduce, "combiner", std::string("or"))),
                 "combiner or does not exist for f32");  // C4
}

TEST_F(CollectiveConstraint, collective_permute) {
  const char* name = "stablehlo.collective_permute";
  auto pairs = [](std::int64_t rows, const std::vector<std::int64_t>& ids) {
    return Attrs{{"source_target_pairs", table(rows, ids)}};
  };
  EXPECT_REFUSED(
      make(name, {f32({2})}, pairs(1, {0, 1, 2})),
      "collective_permute: (C1) source_target_pairs must be pairs, got tensor<1x3xi64>");  // C1
  EXPECT_REFUSED(make(name, {f32({2})}, pairs(2, {0, 1, 0, 2})),
                 "0 is the source of two source_target_pairs");  // C2
  EXPECT_REFUSED(make(name, {f32({2})}, pairs(2, {0, 1, 2, 1})),
                 "1 is the target of two source_target_pairs");                               // C3
  EXPECT_REFUSED(make(name, {f32({2})}, pairs(1, {0, -1})), "source_target_pairs holds -1");  // C4
  EXPECT_EQ(make(name, {f32({2})}, pairs(1, {0, 1})).result()->type(), t({2}));               // C5
}

TEST_F(CollectiveConstraint, feeds) {
  EXPECT_REFUSED(make("stablehlo.infeed", {f32({})}, {}, {Type::token()}),
                 "infeed: (I1) the operand must be a token");
  EXPECT_REFUSED(make("stablehlo.infeed", {token()}, {}, std::vector<Type>{}),
                 "infeed: (C1) needs a result");  // C1
  EXPECT_REFUSED(make("stablehlo.infeed", {token()}, {}, {Type::token(), Type::token()}),
                 "result 0 must be a tensor");  // C2
  EXPECT_REFUSED(make("stablehlo.infeed", {token()}, {}, {t({})}),
                 "the last result must be a token, got tensor<f32>");  // C3
  EXPECT_REFUSED(make("stablehlo.outfeed", {f32({})}, {}),
                 "outfeed: (I2) the last operand must be a token");  // I2
  EXPECT_REFUSED(make("stablehlo.outfeed", {token(), token()}, {}),
                 "inputs must be tensors");  // I1
  EXPECT_REFUSED(make("stablehlo.after_all", {f32({})}, {}),
                 "after_all: (I1) operands must be tokens, got tensor<f32>");  // I1
}

TEST_F(CollectiveConstraint, channels) {
  auto channel = [](std::int64_t type, bool host) {
    return Attrs{
        {"channel_id", std::int64_t{1}}, {"channel_type", type}, {"is_host_transfer", host}};
  };
  EXPECT_REFUSED(make("stablehlo.send", {token()},
                      set(channel(1, false), "source_target_pairs", table(1, {1, 2, 3}))),
                 "send: (C1) source_target_pairs must be pairs");  // C1
  EXPECT_REFUSED(make("stablehlo.send", {token()},
                      set(channel(1, false), "source_target_pairs", table(2, {1, 2, 1, 3}))),
                 "1 is the source of two");  // C2
  EXPECT_REFUSED(
      make("stablehlo.recv", {token()},
           set(channel(1, false), "source_target_pairs", table(2, {1, 2, 3, 2})), {Type::token()}),
      "recv: (C3) 2 is the target of two");  // C3
  EXPECT_REFUSED(make("stablehlo.send", {token()}, channel(3, true)),
                 "send: (C5) channel type 3 does not go with is_host_transfer = true");  // C5
  EXPECT_REFUSED(make("stablehlo.recv", {token()}, channel(3, false), {Type::token()}),
                 "recv: (C5) channel type 3 does not go with is_host_transfer = false");  // C5
}

TEST_F(CollectiveConstraint, async) {
  auto body = [](int operations, bool inside) {
    std::vector<std::unique_ptr<Block>> out;
    out.push_back(testing::build({Type(DType::f32, {2})}, [&](Builder& b, const Values& v) {
      Value* x = v[0];
      for (int i = 0; i < operations; ++i) x = inside ? slice(b, x, {0}, {2}) : neg(b, x);
      return Values{x};
    }));
    return out;
  };
  const ir::OpInfo& start = def("stablehlo.async_start").info;
  EXPECT_REFUSED(b.create(start, {f32({2})}, {}, body(2, true)),
                 "async_start: (C1) the region must hold one operation, got 2");  // C1
  EXPECT_REFUSED(b.create(start, {f32({2})}, {}, body(1, false)),
                 "stablehlo.negate is no collective and no slice");  // C2
  EXPECT_REFUSED(b.create(start, {f32({3})}, {}, body(1, true)),
                 "stablehlo.slice works on other values than the operands");  // C3
  EXPECT_EQ(b.create(start, {f32({2})}, {}, body(1, true)).result()->type().to_string(),
            "!stablehlo.future<tensor<2xf32>>");  // C4
  EXPECT_REFUSED(make("stablehlo.async_done", {f32({2})}, {}),
                 "async_done: (I1) the operand must be a future");
}

TEST_F(CollectiveConstraint, run_parallel) {
  const ir::OpInfo& info = def("interpreter.run_parallel").info;
  auto attrs = [](std::int64_t replicas, ir::Strings bodies) {
    return Attrs{
        {"replicas", replicas}, {"partitions", std::int64_t{1}}, {"bodies", std::move(bodies)}};
  };
  auto body = [](std::size_t count) {
    std::vector<std::unique_ptr<Block>> out;
    for (std::size_t i = 0; i < count; ++i)
      out.push_back(
          testing::build({Type(DType::f32, {2})}, [](Builder&, const Values& v) { return v; }));
    return out;
  };
  EXPECT_REFUSED(b.create(info, {}, attrs(0, {}), {}, {}),
                 "run_parallel: (C1) needs programs, got a grid of 0 by 1");  // C1
  EXPECT_REFUSED(b.create(info, {}, attrs(1, {"f"}), body(1), {t({2})}),
                 "0 operands for programs of 1");  // C2
  EXPECT_REFUSED(b.create(info, {f32({2})}, attrs(1, {"f"}), body(1), {t({3})}),
                 "number 0 of the results is tensor<3xf32>, of the programs");  // C3
  EXPECT_REFUSED(b.create(info, {f32({2})}, attrs(1, {"f", "g"}), body(2), {t({2})}),
                 "@g feeds the programs and must return one tensor");  // C4
}

}  // namespace
}  // namespace strata::op
