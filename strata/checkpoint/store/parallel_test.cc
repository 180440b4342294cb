#include "strata/checkpoint/store/parallel.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>

#include "strata/base/thread_pool.h"
#include "strata/checkpoint/orbax/pytree.h"

namespace strata::checkpoint {
namespace {

/// The pool's number of threads for a test.
struct Threads {
  explicit Threads(int n) { set_num_threads(n); }
  ~Threads() { set_num_threads(0); }
};

TEST(Parallel, TheFirstFailureIsTheOneOfTheLowestNumber) {
  const Threads threads(4);
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    testing_hooks::inject_yields(seed);
    const Status s = for_each(
        100, [](std::int64_t i) { return i % 30 == 29 ? Status(Code::io, "{}", i) : Status(); });
    EXPECT_EQ(s.message(), "29");
  }
  testing_hooks::inject_yields(0);
  EXPECT_TRUE(for_each(0, [](std::int64_t) { return Status(Code::io, "never"); }).ok());
}

TEST(Parallel, BytesAreTakenInOrderAndFewAreHeld) {
  const Threads threads(3);
  std::atomic<std::int64_t> held{0}, most{0};
  std::string taken;
  const auto size = [](std::int64_t i) {
    return static_cast<std::uint64_t>(i % 7 == 3 ? 900 : 100);
  };
  const auto grow = [&](std::int64_t n) {
    const std::int64_t now = held += n;
    for (std::int64_t m = most; now > m && !most.compare_exchange_weak(m, now);) {
    }
  };
  const Status s =
      in_order(50,
               {.bytes = size,
                .make =
                    [&](std::int64_t i) {
                      grow(static_cast<std::int64_t>(size(i)));
                      return std::string(size(i), static_cast<char>('0' + i));
                    },
                .take =
                    [&](std::int64_t i, const Payload& bytes) {
                      EXPECT_EQ(bytes.view(), std::string(size(i), static_cast<char>('0' + i)));
                      taken += bytes.view()[0];
                      grow(-static_cast<std::int64_t>(bytes.size()));
                      return Status();
                    }},
               1000);
  EXPECT_TRUE(s.ok());
  std::string wanted;
  for (int i = 0; i < 50; ++i) wanted += static_cast<char>('0' + i);
  EXPECT_EQ(taken, wanted);
  EXPECT_LE(most, 1800);  // two of the large ones
  EXPECT_EQ(held, 0);
}

TEST(Parallel, WhatCannotBeTakenEndsIt) {
  std::atomic<int> made{0};
  const Status s = in_order(
      1000,
      {.bytes = [](std::int64_t) { return std::uint64_t{10}; },
       .make =
           [&](std::int64_t) {
             ++made;
             return std::string(10, ' ');
           },
       .take = [](std::int64_t i,
                  const Payload&) { return i == 5 ? Status(Code::no_space, "full") : Status(); }},
      20);
  EXPECT_EQ(s.code(), Code::no_space);
  EXPECT_LT(made, 10);
  EXPECT_THROW(
      (void)in_order(3, {.bytes = [](std::int64_t) { return std::uint64_t{1}; },
                         .make = [](std::int64_t) -> std::string { throw Error("x", "y"); },
                         .take = [](std::int64_t, const Payload&) { return Status(); }}),
      Error);
}

TEST(Parallel, PayloadsThatLieElsewhereAreCopiedOnlyToBeOwned) {
  const std::string array = "an array of more bytes than a short string has";
  Payload lying = Payload::of(array), moved = std::move(lying);
  EXPECT_EQ(moved.view().data(), array.data());
  Payload owned = std::move(moved).own();
  EXPECT_NE(owned.view().data(), array.data());
  const char* at = owned.view().data();
  const Payload kept = std::move(owned);
  EXPECT_EQ(kept.view().data(), at);
  EXPECT_EQ(kept.view(), array);
}

/// A tree of arrays of many chunks, written without a database, so that no name is random.
std::map<std::string, std::string> written_by(int threads, int zarr) {
  const Threads pool(threads);
  std::vector<orbax::Leaf> leaves;
  for (int n = 0; n < 5; ++n) {
    orbax::Leaf leaf;
    leaf.path = {{fmt::format("w{}", n)}};
    leaf.value = Literal(Type(DType::f32, Shape::of({64, 48})));
    for (std::int64_t k = 0; k < leaf.value->count(); ++k)
      leaf.value->set_number(k, static_cast<double>(k % (n + 11)));
    leaf.chunk = {16, 10};
    leaves.push_back(std::move(leaf));
  }
  MemoryStore store;
  EXPECT_TRUE(orbax::write_pytree(store, "", leaves, {.ocdbt = false, .zarr_format = zarr}).ok());
  return store.values();
}

TEST(Parallel, TheBytesOfATreeDoNotDependOnTheThreads) {
  for (int zarr : {2, 3}) {
    const auto one = written_by(1, zarr);
    EXPECT_GT(one.size(), 100u);
    for (int threads : {2, 3, 8}) EXPECT_EQ(written_by(threads, zarr), one) << threads;
  }
}

}  // namespace
}  // namespace strata::checkpoint
