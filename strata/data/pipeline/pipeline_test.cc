// Orders that reference documents give, what native mode repairs, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <set>

#include "strata/data/pipeline/data_loader.h"
#include "strata/data/pipeline/elastic.h"

namespace strata::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::int64_t> numbers(std::vector<Element> elements) {
  std::vector<std::int64_t> out;
  for (const Element& e : elements) out.push_back(e.integer());
  return out;
}
std::vector<std::int64_t> numbers(const MapDataset& ds, std::int64_t most = 100) {
  return numbers(ds.to_iter_dataset().iterate().take(most));
}
std::vector<std::int64_t> row(const Element& batch) {
  const auto values = batch.array().span<std::int64_t>();
  return {values.begin(), values.end()};
}
MapDataset ten() { return MapDataset::range(10, Mode::compat); }
Element same(const Element& e) { return e; }

TEST(Pipeline, GivesGrainsOrders) {
  EXPECT_THAT(numbers(ten().shuffle(42).repeat(2)),
              ElementsAre(8, 6, 7, 9, 0, 5, 1, 2, 4, 3, 2, 0, 9, 1, 5, 7, 6, 8, 4, 3));
  EXPECT_THAT(numbers(ten().seed(42).shuffle()), ElementsAre(1, 7, 6, 9, 0, 8, 4, 5, 3, 2));
  EXPECT_THAT(numbers(ten().seed(42).map(same).shuffle()),
              ElementsAre(9, 8, 0, 3, 6, 4, 7, 2, 5, 1));
  EXPECT_THAT(numbers(ten().to_iter_dataset().window_shuffle(4, 3).iterate().take()),
              ElementsAre(1, 0, 3, 2, 7, 6, 4, 5, 8, 9));
  const MapDataset a = MapDataset::range(100, Mode::compat),
                   b = MapDataset::range(1000, 1100, 1, Mode::compat);
  EXPECT_EQ(MapDataset::mix({a, b}, {0.7, 0.3}).size(), 142);
  EXPECT_THAT(numbers(MapDataset::range(6, Mode::compat).shuffle(1).slice({}, {}, 2).repeat(3)),
              ElementsAre(5, 3, 4, 0, 1, 3, 4, 0, 2));
}

TEST(Pipeline, NativeModeKeepsASliceBehindAShuffle) {
  const auto got = numbers(MapDataset::range(60).shuffle(1).slice({}, {}, 2).repeat(3));
  const std::set<std::int64_t> first(got.begin(), got.begin() + 30);
  EXPECT_EQ(first.size(), 30u);
  for (std::size_t epoch : {1, 2}) {
    const auto begin = got.begin() + static_cast<std::ptrdiff_t>(30 * epoch);
    EXPECT_EQ(std::set(begin, begin + 30), first);
    EXPECT_NE(std::vector(begin, begin + 30), std::vector(got.begin(), got.begin() + 30));
  }
}

TEST(Pipeline, NativeModeLosesNoRecord) {
  const auto distinct = [](Mode mode) {
    const auto all = numbers(MapDataset::range(65537, mode).shuffle(42), kInfinite);
    return std::set(all.begin(), all.end()).size();
  };
  EXPECT_EQ(distinct(Mode::compat), 65536u);
  EXPECT_EQ(distinct(Mode::native), 65537u);
}

TEST(Pipeline, NativeMixturesAreExactAndChange) {
  const MapDataset a = MapDataset::range(7), b = MapDataset::range(100, 103);
  EXPECT_EQ(MapDataset::mix({a, b}, std::vector<double>{0.7, 0.3}).size(), 10);
  const std::vector<MixStage> stages = {{0, {1, 1}}, {4, {3, 1}}};
  const MapDataset x = MapDataset::range(100), y = MapDataset::range(1000, 1100);
  const MapDataset changing = MapDataset::mix(std::vector{x, y}, stages);
  const auto got = numbers(changing, 12);
  EXPECT_EQ(std::count_if(got.begin(), got.begin() + 4, [](auto v) { return v >= 1000; }), 2);
  EXPECT_EQ(std::count_if(got.begin() + 4, got.end(), [](auto v) { return v >= 1000; }), 2);
  EXPECT_EQ(std::set(got.begin(), got.end()).size(), 12u);
  auto iterator =
      IterDataset::mix(std::vector{x.to_iter_dataset(), y.to_iter_dataset()}, stages).iterate();
  EXPECT_EQ(numbers(iterator.take(12)), got);
  iterator.set_next_index(5);
  EXPECT_EQ(numbers(iterator.take(7)), std::vector(got.begin() + 5, got.end()));
}

/// Counts what is read of it.
class Counted : public RecordSource {
 public:
  std::int64_t size() const override { return std::int64_t{1} << 50; }
  Result<Element> read(std::int64_t index) const override { return ++reads, Element(index); }
  std::string name() const override { return "Counted"; }
  mutable std::atomic<int> reads = 0;
};

TEST(Pipeline, MixturesThatChangeAreRestoredWithoutReadingWhatIsBefore) {
  const auto a = std::make_shared<Counted>(), b = std::make_shared<Counted>();
  constexpr std::int64_t kStages = 1000, kEach = 1'000'000'007;
  std::vector<MixStage> stages;
  for (std::int64_t s = 0; s < kStages; ++s)
    stages.push_back({s * kEach, {static_cast<double>(1 + s % 9), 3}});
  const auto reads = [&] { return a->reads + b->reads; };
  const auto of = [](const std::shared_ptr<Counted>& source) {
    return MapDataset::source(source).seed(3).shuffle();
  };
  const MapDataset by_number = MapDataset::mix(std::vector{of(a), of(b)}, stages);
  const ReadOptions when_asked{.num_threads = 0, .prefetch_buffer_size = 0};
  const IterDataset graphs[] = {by_number.to_iter_dataset(when_asked),
                                IterDataset::mix(std::vector{of(a).to_iter_dataset(when_asked),
                                                             of(b).to_iter_dataset(when_asked)},
                                                 stages)};
  const auto begin = std::chrono::steady_clock::now();
  for (const IterDataset& ds : graphs) {
    for (const std::int64_t at : {kEach - 2, 500 * kEach - 1, (kStages - 1) * kEach + 12345}) {
      auto there = ds.iterate();
      there.set_next_index(at);
      const auto want = numbers(there.take(5));
      there.set_next_index(at);
      const std::string state = there.state();
      const int before = reads();
      auto again = ds.iterate();
      ASSERT_TRUE(again.set_state(state).ok());
      EXPECT_EQ(numbers(again.take(5)), want);
      EXPECT_EQ(reads() - before, 5);
      for (std::int64_t i = 0; i < 5; ++i)
        EXPECT_EQ(by_number[at + i].integer(), want[static_cast<std::size_t>(i)]);
    }
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

TEST(Pipeline, SplitsFeaturesOfUnequalLength) {
  const auto rows = [](Mode mode) {
    const auto range = [](std::int32_t n) {
      std::vector<std::int32_t> out;
      for (std::int32_t i = 0; i < n; ++i) out.push_back(i);
      return Literal::of({n}, out);
    };
    std::string out;
    for (const Element& e :
         MapDataset::source({Element::dict({{"f", range(6)}, {"g", range(12)}})}, mode)
             .to_iter_dataset()
             .concat_then_split({.length_struct = {{"f", 4}, {"g", 4}}})
             .iterate()
             .take())
      for (std::int32_t v : e.at("f").array().span<std::int32_t>()) out += std::to_string(v);
    return out;
  };
  EXPECT_EQ(rows(Mode::compat), "012300002345");
  EXPECT_EQ(rows(Mode::native), "012345000000");
}

TEST(Pipeline, ElasticIterationGoesOnWithAnotherNumberOfShards) {
  const MapDataset ds = MapDataset::range(40, Mode::compat).shuffle(5);
  ElasticIterator two(ds, 8, {.shard_index = 1, .shard_count = 2});
  Element e;
  ASSERT_TRUE(*two.next(e));
  EXPECT_THAT(row(e), ElementsAre(0, 20, 30, 27));
  ASSERT_TRUE(*two.next(e));
  EXPECT_THAT(row(e), ElementsAre(35, 21, 3, 12));
  ElasticIterator one(ds, 4, {});
  ASSERT_TRUE(one.set_state(two.state()).ok());
  ASSERT_TRUE(*one.next(e));
  EXPECT_THAT(row(e), ElementsAre(38, 23, 25, 9));
  EXPECT_FALSE(one.set_state("[]").ok());
  EXPECT_THROW(ElasticIterator(ds, 8, {.shard_index = 0, .shard_count = 3}), Error);
  RecordProperty("api", "grain.experimental.ElasticIterator");
}

std::vector<std::int64_t> keys(std::optional<ShardOptions> shard) {
  DataLoader loader(
      {.source = ten(),
       .sampler = std::make_shared<IndexSampler>(10, shard, true, 2, 42, Mode::compat)});
  return numbers(loader.iterate().take());
}

TEST(DataLoader, GivesGrainsRecords) {
  EXPECT_THAT(keys({}), ElementsAre(8, 6, 7, 9, 0, 5, 1, 2, 4, 3, 2, 0, 9, 1, 5, 7, 6, 8, 4, 3));
  EXPECT_THAT(keys(ShardOptions{0, 2}), ElementsAre(4, 1, 2, 3, 0, 2, 0, 3, 1, 4));
  EXPECT_THAT(keys(ShardOptions{1, 2}), ElementsAre(9, 6, 7, 8, 5, 7, 5, 8, 6, 9));
  DataLoader strided(
      {.source = ten(), .sampler = std::make_shared<SequentialSampler>(7, ShardOptions{1, 2})});
  EXPECT_THAT(numbers(strided.iterate().take()), ElementsAre(1, 3, 5));
  RecordProperty("api",
                 "grain.DataLoader grain.samplers.IndexSampler grain.samplers.SequentialSampler "
                 " grain.sharding.ShardOptions grain.sharding.NoSharding");
}

TEST(DataLoader, WritesAndReadsGrainsStates) {
  for (int workers : {0, 3}) {
    LoadOptions options{.num_epochs = 2,
                        .shuffle = true,
                        .seed = 42,
                        .worker_count = workers,
                        .source_repr = "RangeDataSource(start=0, stop=10, step=1)"};
    const DataLoader loader = load(ten(), options);
    auto it = loader.iterate();
    it.take(3);
    const std::string state = it.state();
    if (workers == 0) {
      EXPECT_THAT(state, HasSubstr("\"last_seen_indices\": {\n        \"0\": 2\n    }"));
      EXPECT_THAT(state,
                  HasSubstr("IndexSampler(num_records=10, shard_options=NoSharding(shard_index=0, "
                            "shard_count=1, drop_remainder=False), shuffle=True, num_epochs=2, "
                            "seed=42)"));
    }
    auto again = loader.iterate();
    ASSERT_TRUE(again.set_state(state).ok());
    EXPECT_EQ(numbers(again.take()), numbers(it.take()));
    options.seed = 43;
    EXPECT_THAT(load(ten(), options).iterate().set_state(state).message(), HasSubstr("seed=43"));
  }
  RecordProperty("api",
                 "grain.load grain.DataLoaderIterator grain.DataLoaderIterator.get_state "
                 " grain.DataLoaderIterator.set_state");
}

TEST(Pipeline, WorkersTakeTurns) {
  auto ds = ten().to_iter_dataset().batch(2).mp_prefetch({.num_workers = 2});
  std::vector<std::vector<std::int64_t>> got;
  for (const Element& e : ds.iterate().take()) got.push_back(row(e));
  EXPECT_THAT(got, ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3), ElementsAre(4, 6),
                               ElementsAre(5, 7), ElementsAre(8), ElementsAre(9)));
  RecordProperty(
      "api",
      "grain.IterDataset.mp_prefetch grain.MultiprocessingOptions grain.IterDataset.prefetch");
}

TEST(Pipeline, SaysWhatIsWrong) {
  EXPECT_THROW(ten().shuffle(), Error);
  EXPECT_THROW(ten().shuffle(std::uint64_t{1} << 32), Error);
  EXPECT_THROW(ten().filter([](const Element&) { return true; }).batch(2), Error);
  EXPECT_THROW(ten().repeat().repeat(), Error);
  EXPECT_THROW(MapDataset::range(0).to_iter_dataset().repeat().iterate().take(), Error);
  EXPECT_THROW(MapDataset::zip({ten(), MapDataset::range(3, Mode::compat)}), Error);
  EXPECT_THROW(MapDataset::concatenate({ten(), MapDataset::range(3)}), Error);
  auto iterator = ten().to_iter_dataset().iterate();
  EXPECT_THAT(iterator.set_state("{\"next_index\": 11}").message(), HasSubstr("0 to 10"));
  EXPECT_THAT(iterator.set_state("{").message(), HasSubstr("no JSON"));
  const std::string native = MapDataset::range(3).to_iter_dataset().iterate().state();
  EXPECT_THAT(iterator.set_state(native).message(), HasSubstr("compat mode"));
}

TEST(Pipeline, DrawsWhatTakesTheTime) {
  const auto ds = ten().shuffle(1).to_iter_dataset().map([](const Element& e) {
    double x = 1;
    for (int i = 0; i < 200000; ++i) x = x * 1.0000001 + 1e-9;
    return Element(x + e.real());
  });
  EXPECT_EQ(ds.describe(),
            "MapIterDataset\n"
            "  PrefetchIterDataset(num_threads=0, prefetch_buffer_size=500, allow_nones=False)\n"
            "    ShuffleMapDataset\n"
            "      RangeMapDataset(start=0, stop=10, step=1)\n");
  // A machine that is busy elsewhere may stop in any operation.
  std::string first;
  for (int i = 0; i < 5 && first.find("bottleneck") == first.npos; ++i) {
    const std::string timed = ds.describe(10);
    first = timed.substr(0, timed.find('\n'));
  }
  EXPECT_THAT(first, HasSubstr("bottleneck"));
}

}  // namespace
}  // namespace strata::data
