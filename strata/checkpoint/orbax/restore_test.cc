#include "strata/checkpoint/orbax/restore.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "strata/api/sharding/devices.h"
#include "strata/compile/cpu/cpu_client.h"

namespace strata::checkpoint::orbax {
namespace {

using testing::HasSubstr;

/// A store that counts what is read of data files.
class Counting : public MemoryStore {
 public:
  Result<std::string> read(const std::string& key, ByteRange range = {}) const override {
    auto out = MemoryStore::read(key, range);
    if (out && key.find("/d/") != key.npos) bytes += out->size();
    return out;
  }
  mutable std::atomic<std::uint64_t> bytes{0};
};

constexpr std::int64_t kRows = 64, kColumns = 48;

float value_at(int array, std::int64_t i) { return static_cast<float>(array * 10000 + i); }

class Restore : public testing::Test {
 protected:
  Restore() {
    compile::register_cpu();
    cpu_devices(8);
    store_ = std::make_shared<Counting>();
  }
  /// A tree of two arrays, a small one and a text; chunks of 8 rows.
  PyTree open(int zarr = 2) {
    std::vector<Leaf> leaves;
    for (int n = 0; n < 2; ++n) {
      Leaf leaf;
      leaf.path = {{"params"}, {fmt::format("layers_{}", n)}, {"w"}};
      leaf.value = Literal(Type(DType::f32, Shape::of({kRows, kColumns})));
      for (std::int64_t i = 0; i < kRows * kColumns; ++i) leaf.value->set_number(i, value_at(n, i));
      leaf.chunk = {8, kColumns};
      leaves.push_back(std::move(leaf));
    }
    Leaf step;
    step.path = {{"step"}};
    step.kind = Kind::scalar;
    step.value = Literal::scalar(std::int32_t{7});
    Leaf text;
    text.path = {{"name"}};
    text.kind = Kind::string;
    text.text = "x";
    leaves.push_back(step);
    leaves.push_back(text);
    EXPECT_TRUE(write_pytree(*store_, "", leaves, {.zarr_format = zarr, .compressed = false}).ok());
    PyTree out = PyTree::open(store_).value();
    (void)out.read(*out.find("step"));  // the database's node is in memory from here on
    store_->bytes = 0;
    return out;
  }
  static void expect_rows(const Array& got, int array, std::int64_t first) {
    const std::vector<float> all = got.to_vector<float>();
    for (std::size_t i = 0; i < all.size(); ++i)
      ASSERT_EQ(all[i], value_at(array, first * kColumns + static_cast<std::int64_t>(i))) << i;
  }
  std::shared_ptr<Counting> store_;
};

TEST_F(Restore, OntoAMeshOfAnyNumberOfDevices) {
  for (int zarr : {2, 3})
    for (std::int64_t devices : {1, 2, 4, 8}) {
      const PyTree tree = open(zarr);
      const Mesh m = make_mesh({{"x", devices}});
      const auto got = restore(
          tree, {{.name = "params/layers_1/w", .sharding = NamedSharding(m, {"x", nullptr})}},
          {.partial = true});
      ASSERT_TRUE(got.ok()) << got.status().message();
      const Array& w = got->at("params/layers_1/w");
      expect_rows(w, 1, 0);
      const auto shards = addressable_shards(w);
      ASSERT_EQ(std::ssize(shards), devices);
      for (std::int64_t i = 0; i < devices; ++i)
        expect_rows(shards[static_cast<std::size_t>(i)].data, 1, i * kRows / devices);
      // The other array was left alone, and this one was read once. Chunks of Zarr 3 have
      // checksums.
      const std::uint64_t checksums = zarr == 3 ? 8 * 4 : 0;
      EXPECT_EQ(store_->bytes, kRows * kColumns * 4 + checksums) << zarr << " " << devices;
    }
}

TEST_F(Restore, CopiesAreReadOnceAndColumnsTooAreCut) {
  const PyTree tree = open();
  const Mesh m = make_mesh({{"x", 2}, {"y", 4}});
  const auto got = restore(tree,
                           {{.name = "params/layers_0/w", .sharding = NamedSharding(m, {"x"})},
                            {.name = "params/layers_1/w",
                             .dtype = DType::bf16,
                             .sharding = NamedSharding(m, {nullptr, "y"})}},
                           {.partial = true});
  ASSERT_TRUE(got.ok()) << got.status().message();
  expect_rows(got->at("params/layers_0/w"), 0, 0);
  const Array& columns = got->at("params/layers_1/w");
  EXPECT_EQ(columns.dtype(), DType::bf16);
  EXPECT_EQ(addressable_shards(columns).front().data.shape().sizes(),
            (std::vector<std::int64_t>{kRows, kColumns / 4}));
  // Chunks are whole rows: each of the four parts of columns needs all of them.
  EXPECT_EQ(store_->bytes, kRows * kColumns * 4u * (1 + 4));
}

TEST_F(Restore, RulesSayWhereALeafLies) {
  const PyTree tree = open();
  const std::vector<PathRule> rules = {{"encoder/(\\d)/(.*)", "params/layers_\\1/\\2"},
                                       {"encoder/1/.*", "step"},
                                       {"encoder/1/(w)", "params/layers_1/\\1"}};
  EXPECT_EQ(stored_name("encoder/0/w", rules), "params/layers_0/w");
  EXPECT_EQ(stored_name("encoder/1/b", rules), "step");
  EXPECT_EQ(stored_name("encoder/1/w", rules), "params/layers_1/w");  // the last one wins
  EXPECT_EQ(stored_name("other", rules), "other");
  const auto got = restore(tree, {{.name = "encoder/1/w"}, {.name = "step"}}, {.rules = rules});
  ASSERT_TRUE(got.ok()) << got.status().message();
  expect_rows(got->at("encoder/1/w"), 1, 0);
  EXPECT_EQ(got->at("step").item<std::int32_t>(), 7);
  EXPECT_THROW((void)stored_name("a", {{"(", ""}}), Error);
  EXPECT_THROW((void)stored_name("a", {{"a", "\\1"}}), Error);
}

TEST_F(Restore, WhatDoesNotFitIsNamed) {
  const PyTree tree = open();
  const auto fails = [&](const std::vector<Wanted>& wanted, const RestoreOptions& options = {}) {
    const auto got = restore(tree, wanted, options);
    EXPECT_EQ(got.status().code(), Code::invalid);
    return got.status().message();
  };
  EXPECT_THAT(fails({{.name = "step"}}), HasSubstr("'params/layers_0/w' is stored, and nobody"));
  EXPECT_THAT(fails({{.name = "absent"}}, {.partial = true}), HasSubstr("'absent' is wanted"));
  EXPECT_THAT(fails({{.name = "a"}}, {.rules = {{"a", "b"}}}), HasSubstr("not stored as 'b'"));
  EXPECT_THAT(fails({{.name = "name"}}, {.partial = true}), HasSubstr("is no array"));
  EXPECT_THAT(
      fails({{.name = "params/layers_0/w", .shape = std::vector<std::int64_t>{4, 4}}},
            {.partial = true}),
      HasSubstr("wanted with the shape [4,4], and 'params/layers_0/w' is stored with [64,48]"));
  EXPECT_THROW((void)restore(tree, {{.name = "step"}, {.name = "step"}}, {.partial = true}), Error);
}

TEST_F(Restore, ShapesAreCutAndFilledUpWhereThatIsAsked) {
  const PyTree tree = open();
  const Mesh m = make_mesh({{"x", 4}});
  const auto got =
      restore(tree,
              {{.name = "params/layers_0/w",
                .shape = std::vector<std::int64_t>{80, 56},
                .sharding = NamedSharding(m, {"x"})},
               {.name = "params/layers_1/w", .shape = std::vector<std::int64_t>{16, kColumns}}},
              {.partial = true, .fit = true});
  ASSERT_TRUE(got.ok()) << got.status().message();
  const std::vector<float> filled = got->at("params/layers_0/w").to_vector<float>();
  for (std::int64_t r = 0; r < 80; ++r)
    for (std::int64_t c = 0; c < 56; ++c)
      ASSERT_EQ(filled[static_cast<std::size_t>(r * 56 + c)],
                r < kRows && c < kColumns ? value_at(0, r * kColumns + c) : 0);
  expect_rows(got->at("params/layers_1/w"), 1, 0);
  EXPECT_EQ(got->at("params/layers_1/w").shape().sizes()[0], 16);
}

TEST_F(Restore, AMissingChunkIsFoundByTheShardThatNeedsIt) {
  const PyTree whole = open();
  for (auto it = store_->values().begin(); it != store_->values().end();)
    it = it->first.find("ocdbt.process_0/d/") != std::string::npos && it->second.size() > 8000
             ? store_->values().erase(it)
             : std::next(it);
  const auto got = restore(whole, {{.name = "params/layers_0/w"}}, {.partial = true});
  EXPECT_EQ(got.status().code(), Code::corrupt);
}

}  // namespace
}  // namespace strata::checkpoint::orbax
