// Grids of processes: who meets whom, in what order, and what is stated when they do not.
#include "strata/op/collective/world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/base/error.h"
#include "strata/op/collective/collective.h"
#include "strata/op/evaluate.h"
#include "strata/op/testing/grid.h"
#include "strata/op/testing/refused.h"

namespace strata::op {
namespace {

using ::testing::HasSubstr;

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

Literal number(std::int64_t v) { return Literal::scalar(v); }

TEST(World, one_process_at_a_time_in_the_order_of_ids) {
  World world;
  std::string order;
  run_grid(world, 2, 2, [&](Process& p) {
    order += fmt::format("{}{} ", p.id().replica, p.id().partition);
    p.meet({{0, 0}, {0, 1}, {1, 0}, {1, 1}}, "all", {});
    order += fmt::format("{}{}' ", p.id().replica, p.id().partition);
  });
  EXPECT_EQ(order, "00 01 10 11 11' 00' 01' 10' ");
}

TEST(World, a_meeting_gives_everyone_what_all_gave) {
  World world;
  std::vector<std::int64_t> sums(3);
  run_grid(world, 3, 1, [&](Process& p) {
    auto me = static_cast<std::size_t>(p.id().replica);
    for (std::int64_t round = 0; round < 50; ++round)
      for (const Literals& given :
           p.meet({{2, 0}, {1, 0}, {0, 0}}, "sum", {number(p.id().replica * 100 + round)}))
        sums[me] += given[0].integer(0);
  });
  EXPECT_EQ(sums[0], 50 * 300 + 3 * 49 * 25);
  EXPECT_EQ(sums, std::vector<std::int64_t>(3, sums[0]));
}

TEST(World, channels_keep_their_order_and_recv_waits) {
  World world;
  std::vector<std::int64_t> got;
  run_grid(world, 2, 1, [&](Process& p) {
    if (p.id().replica == 0)
      for (int i = 0; i < 3; ++i) got.push_back(p.receive(7)[0].integer(0));
    else
      for (int i = 0; i < 3; ++i) p.send(7, {number(i)});
  });
  EXPECT_EQ(got, (std::vector<std::int64_t>{0, 1, 2}));
}

TEST(World, what_nobody_received_stays_for_the_host) {
  World world;
  run_grid(world, 1, 1, [&](Process& p) { p.send(3, {number(5)}); });
  ASSERT_EQ(world.channels[3].size(), 1u);
  EXPECT_EQ(world.channels[3][0][0].integer(0), 5);
}

TEST(World, processes_that_wait_for_each_other_are_told) {
  World world;
  EXPECT_THAT(
      error_of([&] { run_grid(world, 2, 1, [&](Process& p) { p.receive(p.id().replica); }); }),
      HasSubstr(
          "processes wait for ever: (0, 0) in recv on channel 0; (1, 0) in recv on channel 1"));
  EXPECT_THAT(error_of([&] { run_grid(world, 1, 1, [&](Process& p) { p.receive(4); }); }),
              HasSubstr("in recv on channel 4"));
}

TEST(World, different_collectives_do_not_meet) {
  World world;
  EXPECT_THAT(error_of([&] {
                run_grid(world, 2, 1, [&](Process& p) {
                  p.meet({{0, 0}, {1, 0}}, p.id().replica == 0 ? "all_gather" : "all_reduce", {});
                });
              }),
              HasSubstr("(0, 0) in all_gather of (0, 0) (1, 0); (1, 0) in all_reduce of"));
  EXPECT_THAT(error_of([&] {
                run_grid(world, 2, 1, [&](Process& p) {
                  if (p.id().replica == 0) p.meet({{0, 0}, {1, 0}}, "all_gather", {});
                });
              }),
              HasSubstr("(0, 0) in all_gather"));
}

TEST(World, the_first_error_ends_all) {
  World world;
  EXPECT_THAT(error_of([&] {
                run_grid(world, 3, 1, [&](Process& p) {
                  if (p.id().replica == 1) throw Error("program", "has had enough");
                  p.meet({{0, 0}, {1, 0}, {2, 0}}, "sum", {});
                });
              }),
              HasSubstr("program: has had enough"));
}

// ---- collectives in grids ----------------------------------------------------------------------

using testing::each;
using testing::groups;
using testing::Rows;
using testing::table;
using testing::with;

Type i64(std::int64_t rows, std::int64_t columns) { return Type(DType::i64, {rows, columns}); }

TEST(Collective, all_gather_by_each_strategy) {
  auto gather = [](Attrs attrs, std::int64_t size) {
    return [attrs = with(std::move(attrs), "all_gather_dim", std::int64_t{1}), size](Builder& b,
                                                                                     Value* x) {
      return b.create(def("stablehlo.all_gather").info, {x}, attrs, {}, {i64(1, size)}).results();
    };
  };
  EXPECT_EQ(each(2, 2, 1, gather(groups(table({{1, 0}})), 2)),
            (Rows{{20, 0}, {30, 10}, {20, 0}, {30, 10}}));
  EXPECT_EQ(each(2, 2, 1, gather(groups(table({{0, 1}}), 1), 4)), (Rows(4, {0, 20, 10, 30})));
  EXPECT_EQ(each(2, 2, 1, gather(groups(table({{0, 3}, {2, 1}}), 1, true), 2)),
            (Rows{{0, 30}, {20, 10}, {20, 10}, {0, 30}}));
  EXPECT_EQ(each(3, 1, 1, gather(groups(table({})), 3)), (Rows(3, {0, 10, 20})));
  EXPECT_THAT(
      error_of([&] { each(2, 1, 1, gather(groups(table({{0, 2}})), 2)); }),
      testing::says(
          "all_gather: (C4) replica_groups holds 2 in a grid of 2 replicas and 1 partitions"));
  EXPECT_THAT(error_of([&] { each(2, 1, 1, gather(groups(table({{0}})), 1)); }),
              testing::says("all_gather: (C3) process (1, 0) is in no group"));
}

TEST(Collective, all_reduce) {
  EXPECT_EQ(each(2, 1, 2,
                 [](Builder& b, Value* x) {
                   return b
                       .create("stablehlo.all_reduce", {x},
                               with(groups(table({{0, 1}})), "combiner", std::string("add")))
                       .results();
                 }),
            (Rows{{10, 12}, {10, 12}}));
}

TEST(Collective, a_region_combines_from_the_left) {
  auto region = [] {
    std::vector<std::unique_ptr<Block>> out;
    Type s = Type::scalar(DType::i64);
    out.push_back(testing::build({s, s}, [](Builder& b, const Values& v) {
      return b.create("stablehlo.subtract", {v[0], v[1]}).results();
    }));
    return out;
  };
  EXPECT_EQ(each(3, 1, 1,
                 [&](Builder& b, Value* x) {
                   return b
                       .create(def("stablehlo.all_reduce").info, {x},
                               with(groups(table({{2, 0, 1}})), "combiner", std::string("region")),
                               region())
                       .results();
                 }),
            (Rows(3, {10})));
}

TEST(Collective, collective_broadcast_and_reduce) {
  EXPECT_EQ(each(4, 1, 1,
                 [](Builder& b, Value* x) {
                   return b.create("stablehlo.collective_broadcast", {x}, groups(table({{2, 1}})))
                       .results();
                 }),
            (Rows{{0}, {20}, {20}, {0}}));
  EXPECT_EQ(each(3, 1, 1,
                 [](Builder& b, Value* x) {
                   return b
                       .create("stablehlo.collective_reduce", {x},
                               with(groups(table({{2, 1, 0}})), "combiner", std::string("add")))
                       .results();
                 }),
            (Rows{{0}, {0}, {30}}));
}

TEST(Collective, ids) {
  auto id = [](const char* name) {
    return [name](Builder& b, Value*) { return b.create(name, {}).results(); };
  };
  EXPECT_EQ(each(2, 2, 1, id("stablehlo.replica_id")), (Rows{{0}, {0}, {1}, {1}}));
  EXPECT_EQ(each(2, 2, 1, id("stablehlo.partition_id")), (Rows{{0}, {1}, {0}, {1}}));
}

TEST(Collective, an_adjoint_moves_back) {
  // <f(v), w> = <v, f'(w)> summed over the whole grid.
  auto forward = each(2, 1, 2, [](Builder& b, Value* x) {
    return b
        .create(def("stablehlo.all_gather").info, {x},
                with(groups(table({{1, 0}})), "all_gather_dim", std::int64_t{1}), {}, {i64(1, 4)})
        .results();
  });
  auto back = each(2, 1, 4, [](Builder& b, Value* x) {
    Block block;
    Value* v = block.add_argument(i64(1, 2));
    Builder inner(block);
    Op& op = inner.create(def("stablehlo.all_gather").info, {v},
                          with(groups(table({{1, 0}})), "all_gather_dim", std::int64_t{1}), {},
                          {i64(1, 4)});
    return (*def("stablehlo.all_gather").transpose)(b, op, Values{nullptr}, {true}, Values{x});
  });
  std::int64_t left = 0, right = 0;
  for (std::int64_t p = 0; p < 2; ++p) {
    for (std::int64_t i = 0; i < 4; ++i)
      left += forward[static_cast<std::size_t>(p)][static_cast<std::size_t>(i)] * (10 * p + i);
    for (std::int64_t i = 0; i < 2; ++i)
      right += back[static_cast<std::size_t>(p)][static_cast<std::size_t>(i)] * (10 * p + i);
  }
  EXPECT_EQ(left, right);
}

}  // namespace
}  // namespace strata::op
