// Beside Grain's ElasticIterator and its interleaves dealt anew: testdata/elastic.json, by
// tools/goldens/grain_elastic.py.
#include "strata/data/pipeline/elastic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace strata::data {
namespace {

using Json = nlohmann::ordered_json;

const Json& golden() {
  static const Json all = Json::parse(
      std::ifstream(std::filesystem::path(__FILE__).parent_path() / "testdata/elastic.json"));
  return all;
}

std::vector<std::int64_t> row(const Element& e) {
  std::vector<std::int64_t> out;
  for (std::int64_t i = 0; i < e.array().count(); ++i) out.push_back(e.array().integer(i));
  return out;
}

TEST(Elastic, GivesGrainsRowsOnAnyNumberOfShardsAndWorkers) {
  for (const Json& c : golden()["elastic"]) {
    const MapDataset ds = MapDataset::range(c["n"].get<std::int64_t>(), Mode::compat)
                              .shuffle(c["seed"].get<std::uint64_t>());
    std::string state;
    for (const Json& run : c["runs"]) {
      SCOPED_TRACE(run.dump().substr(0, 200));
      const auto shards = run["shards"].get<std::int64_t>();
      const auto workers = run["workers"].get<int>();
      std::optional<MultiprocessingOptions> options;
      if (workers > 0) options = MultiprocessingOptions{.num_workers = workers};
      for (std::int64_t s = 0; s < shards; ++s) {
        ElasticIterator it(ds, c["batch"].get<std::int64_t>(),
                           {.shard_index = s, .shard_count = shards}, {}, options);
        if (!state.empty()) {
          ASSERT_TRUE(it.set_state(state).ok());
        }
        const Json& rows = run["rows"][static_cast<std::size_t>(s)];
        Element e;
        for (const Json& want : rows) {
          ASSERT_TRUE(it.next(e).value());
          EXPECT_EQ(row(e), want.get<std::vector<std::int64_t>>());
        }
        if (std::ssize(rows) < run["steps"].get<std::int64_t>()) {
          EXPECT_FALSE(it.next(e).value());
        }
        EXPECT_EQ(Json::parse(it.state()), run["states"][static_cast<std::size_t>(s)]);
      }
      state = run["states"][0].dump();
    }
  }
}

TEST(Elastic, NativeShardsEndTogether) {
  for (std::int64_t n : {0, 3, 14, 50, 53})
    for (std::int64_t shards : {1, 2, 4}) {
      const MapDataset ds = MapDataset::range(n).shuffle(3);
      std::vector<std::int64_t> seen;
      for (std::int64_t s = 0; s < shards; ++s) {
        ElasticIterator it(ds, 4, {.shard_index = s, .shard_count = shards});
        Element e;
        std::int64_t batches = 0;
        for (; it.next(e).value(); ++batches)
          for (std::int64_t v : row(e)) seen.push_back(v);
        EXPECT_EQ(batches, n / 4);
      }
      std::sort(seen.begin(), seen.end());
      EXPECT_EQ(std::unique(seen.begin(), seen.end()), seen.end());
      EXPECT_EQ(std::ssize(seen), n / 4 * 4);
    }
}

/// A state whose data sets begin where other hosts had come to: Grain's future_states.
TEST(Elastic, InterleavesGoOnFromShardsThatGrainDealtAnew) {
  bool future = false;
  for (const Json& c : golden()["dealt"]) {
    SCOPED_TRACE(c.dump().substr(0, 300));
    std::vector<IterDataset> datasets;
    for (std::int64_t i = 0; i < std::ssize(c["lengths"]); ++i)
      datasets.push_back(
          MapDataset::range(100 * i,
                            100 * i + c["lengths"][static_cast<std::size_t>(i)].get<std::int64_t>(),
                            1, Mode::compat)
              .to_iter_dataset());
    auto it = IterDataset::interleave(datasets, {.cycle_length = c["cycle"].get<std::int64_t>()})
                  .iterate();
    const Status status = it.set_state(c["state"].dump());
    ASSERT_TRUE(status.ok()) << status.message();
    Element e;
    std::size_t i = 0;
    for (const Json& want : c["elements"]) {
      EXPECT_EQ(Json::parse(it.state()), c["states"][i++]);
      ASSERT_TRUE(it.next(e).value());
      EXPECT_EQ(e.integer(), want.get<std::int64_t>());
    }
    EXPECT_FALSE(it.next(e).value());
    future = future || !c["state"]["future_states"].empty();
    Json wrong = c["state"];
    wrong["future_states"] = {{"99", Json::object()}};
    EXPECT_EQ(it.set_state(wrong.dump()).code(), Code::invalid);
  }
  EXPECT_TRUE(future);
}

}  // namespace
}  // namespace strata::data
