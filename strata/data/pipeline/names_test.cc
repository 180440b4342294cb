// What Grain's other public names give, as Grain 0.2.18 answered.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "strata/data/pipeline/data_loader.h"
#include "strata/data/pipeline/device_put.h"
#include "strata/data/pipeline/performance.h"
#include "strata/data/pipeline/pipeline.h"

namespace strata::data {
namespace {

using testing::ElementsAre;

std::vector<std::int64_t> numbers(const IterDataset& ds, std::int64_t most = 100) {
  std::vector<std::int64_t> out;
  for (const Element& e : ds.iterate().take(most)) out.push_back(e.integer());
  return out;
}

std::vector<Element> parts(const Element& e) {
  std::vector<Element> out;
  for (std::int64_t i = 0; i < e.integer() % 3; ++i) out.push_back(e.integer() * 10 + i);
  return out;
}

TEST(GrainNames, FlatMap) {
  const MapDataset ds = MapDataset::range(4, Mode::compat);
  EXPECT_EQ(ds.flat_map(parts, 3).size(), 12);
  EXPECT_THAT(numbers(ds.flat_map(parts, 3).to_iter_dataset()), ElementsAre(10, 20, 21));
  EXPECT_THAT(numbers(ds.to_iter_dataset().flat_map(parts)), ElementsAre(10, 20, 21));
  EXPECT_THROW(numbers(ds.flat_map(parts, 1).to_iter_dataset()), Error);
  RecordProperty("api",
                 "grain.experimental.FlatMapMapDataset "
                 "grain.experimental.FlatMapIterDataset");
}

TEST(GrainNames, SourcesAndSelections) {
  const MapDataset a = MapDataset::source(std::vector<Element>{0, 1, 2}),
                   b = MapDataset::range(100, 103);
  const MapDataset both = MapDataset::select_from_datasets(
      {a, b}, {5, [](std::int64_t i) { return std::pair{i % 2, i / 2}; }});
  EXPECT_THAT(numbers(both.to_iter_dataset()), ElementsAre(0, 100, 1, 101, 2));
  EXPECT_THAT(numbers(a.pipe([](const MapDataset& ds) { return ds.to_iter_dataset(); })),
              ElementsAre(0, 1, 2));
  EXPECT_THAT(numbers(a.to_iter_dataset().pipe([](const IterDataset& ds) { return ds.limit(2); })),
              ElementsAre(0, 1));
  RecordProperty("api",
                 "grain.MapDataset.select_from_datasets grain.transforms.DatasetSelectionMap "
                 "grain.MapDataset.source grain.MapDataset.pipe grain.IterDataset.pipe "
                 "grain.sources.RandomAccessDataSource");
}

TEST(GrainNames, PlacesAndReadingAhead) {
  auto it =
      MapDataset::range(10, Mode::compat).to_iter_dataset({.num_threads = 2}).batch(3).iterate();
  it.start_prefetch();
  Element e;
  ASSERT_TRUE(it.next(e).value());
  EXPECT_EQ(it.next_index(), 1);
  it.set_next_index(2);
  ASSERT_TRUE(it.next(e).value());
  EXPECT_EQ(e.array().integer(0), 6);
  RecordProperty("api",
                 "grain.experimental.get_next_index grain.experimental.set_next_index "
                 "grain.DatasetIterator.start_prefetch grain.ReadOptions");
}

TEST(GrainNames, OptionsOfFilters) {
  const auto none = [](const Element&) { return false; };
  const auto ds = MapDataset::range(5000).to_iter_dataset().filter(none);
  std::vector<std::string> warned;
  const auto warn = [&](const std::string& w) { warned.push_back(w); };
  EXPECT_TRUE(ds.with_options({.warn = warn}).iterate().take().empty());
  EXPECT_EQ(warned.size(), 1u);
  EXPECT_THROW(
      ds.with_options({.filter_raise_threshold_ratio = 0.5, .warn = warn}).iterate().take(), Error);
  RecordProperty("api",
                 "grain.experimental.DatasetOptions grain.experimental.WithOptionsIterDataset");
}

TEST(GrainNames, SamplersSayRecords) {
  const IndexSampler sampler(10, {}, true, 1, 42, Mode::compat);
  EXPECT_EQ(sampler.size(), 10);
  const RecordMetadata first = sampler.at(0);
  EXPECT_EQ(first.index, 0);
  EXPECT_EQ(first.record_key, 8);
  EXPECT_THROW(sampler.at(10), Error);
  RecordProperty("api", "grain.RecordMetadata grain.samplers.Sampler");
}

TEST(GrainNames, OperationsOfALoader) {
  const DataLoader loader(
      {.source = MapDataset::range(10, Mode::compat),
       .sampler = std::make_shared<IndexSampler>(10, ShardOptions{}, true, 1, 42, Mode::compat),
       .operations = {transforms::Filter{[](const Element& e) { return e.integer() % 3 != 0; }},
                      transforms::Map{[](const Element& e) { return Element(e.integer() * 10); }},
                      transforms::RandomMap{[](const Element& e, NumpyGenerator& rng) {
                        return Element(e.integer() * 1000 + rng.integers(0, 1000));
                      }},
                      transforms::Batch{3}}});
  std::vector<std::int64_t> got;
  for (const Element& batch : loader.iterate().take())
    for (std::int64_t i = 0; i < batch.array().count(); ++i)
      got.push_back(batch.array().integer(i));
  EXPECT_THAT(got, ElementsAre(80302, 70769, 50668, 10968, 20640, 40606));
  RecordProperty("api",
                 "grain.transforms.Map grain.transforms.Filter grain.transforms.RandomMap "
                 "grain.transforms.Batch");
}

TEST(GrainNames, ThreadsInTheOrderOfWorkers) {
  const auto ds = MapDataset::range(10, Mode::compat).shuffle(3).to_iter_dataset();
  const IterDataset threads = multithread_prefetch(ds, 3, 2);
  EXPECT_THAT(numbers(threads), ElementsAre(4, 7, 0, 8, 2, 5, 3, 6, 1, 9));
  EXPECT_EQ(numbers(multithread_prefetch(ds, 0, 2)), numbers(ds));
  DatasetIterator it = threads.iterate();
  ASSERT_EQ(it.take(4).size(), 4u);
  EXPECT_EQ(nlohmann::ordered_json::parse(it.state()).dump(),
            R"({"next_index_in_cycle":1,"next_index_in_datasets":3,"iterators_in_use_indices":)"
            R"([0,1,2],"iterators_in_use_states":[{"next_index":2},{"next_index":1},)"
            R"({"next_index":1}],"exhausted":[0,0,0],"future_states":{}})");
  RecordProperty("api", "grain.experimental.multithread_prefetch");
}

TEST(GrainNames, WorkersAndBuffersOfABudget) {
  const auto rows = [](std::int64_t n) {
    return MapDataset::range(n)
        .map([](const Element&) { return Literal(Type(DType::i32, {1000})); })
        .to_iter_dataset();
  };
  const IterDataset batches = rows(100).batch(4);
  const auto picked = [](const IterDataset& ds, const PerformanceBudget& budget) {
    const PerformanceConfig c = pick_performance_config(ds, budget);
    return std::pair{c.multiprocessing_options->num_workers, c.read_options->prefetch_buffer_size};
  };
  EXPECT_EQ(picked(batches, {.ram_budget_mb = 1, .max_workers = 200}), (std::pair{65, 262L}));
  EXPECT_EQ(picked(batches, {.ram_budget_mb = 1, .max_workers = 8, .max_buffer_size = 100}),
            (std::pair{8, 100L}));
  EXPECT_EQ(picked(batches, {.ram_budget_mb = 64, .max_workers = 8}), (std::pair{8, 1000L}));
  // Too few elements say nothing.
  EXPECT_EQ(picked(rows(3), {.ram_budget_mb = 1, .max_workers = 7, .max_buffer_size = 50}),
            (std::pair{7, 50L}));
  // What is read ahead of two sources is held for both.
  EXPECT_EQ(picked(IterDataset::mix({batches, batches}, std::vector<double>()),
                   {.ram_budget_mb = 1, .max_workers = 1000}),
            (std::pair{65, 131L}));
  EXPECT_THROW(pick_performance_config(batches, {.ram_budget_mb = -1}), Error);
  RecordProperty("api",
                 "grain.experimental.pick_performance_config grain.experimental.PerformanceConfig");
}

/// Whatever a budget picks, elements, states and what a restore gives are those of nobody's help.
TEST(GrainNames, WhatABudgetPicksNeverChangesTheOrder) {
  const auto graph = [](ReadOptions read) {
    const auto part = [&](std::int64_t from, std::uint64_t seed) {
      return MapDataset::range(from, from + 300)
          .shuffle(seed)
          .random_map(
              [](const Element& e, NumpyGenerator& random) {
                return Element(e.integer() * 1000 + random.integers(0, 1000));
              },
              seed)
          .to_iter_dataset(read)
          .filter([](const Element& e) { return e.integer() % 7 != 0; });
    };
    return IterDataset::mix({part(0, 1), part(1000, 2)}, std::vector<double>{0.7, 0.3})
        .window_shuffle(16, 5)
        .batch(8);
  };
  const auto plain = graph({.num_threads = 0, .prefetch_buffer_size = 0});
  std::vector<std::string> states, elements;
  auto iterator = plain.iterate();
  for (Element e; iterator.next(e).value();) {
    elements.push_back(e.to_string());
    states.push_back(iterator.state());
  }
  ASSERT_GT(elements.size(), 40u);
  std::set<std::int64_t> picked;
  for (const PerformanceBudget& budget :
       {PerformanceBudget{.ram_budget_mb = 0},
        {.ram_budget_mb = 1, .max_workers = 1, .max_buffer_size = 1},
        {.ram_budget_mb = 1, .max_workers = 2, .max_buffer_size = 17},
        {.ram_budget_mb = 64, .max_workers = 16, .max_buffer_size = 1000}}) {
    const PerformanceConfig c = pick_performance_config(plain, budget);
    picked.insert(c.read_options->prefetch_buffer_size);
    for (const int threads : {1, 2, c.multiprocessing_options->num_workers}) {
      auto tuned = graph({.num_threads = threads,
                          .prefetch_buffer_size = c.read_options->prefetch_buffer_size})
                       .prefetch(c.read_options->prefetch_buffer_size % 5 + 1)
                       .iterate();
      for (std::size_t i = 0; i < elements.size(); ++i) {
        Element e;
        ASSERT_TRUE(tuned.next(e).value());
        ASSERT_EQ(e.to_string(), elements[i]) << threads << " threads, element " << i;
        ASSERT_EQ(tuned.state(), states[i]) << threads << " threads, element " << i;
        if (i % 16 == 9) ASSERT_TRUE(tuned.set_state(states[i]).ok());
      }
    }
  }
  EXPECT_GE(picked.size(), 3u);
}

TEST(GrainNames, WhatElementsAreMadeOf) {
  const auto element = Element::dict({{"x", Literal(Type(DType::f32, {2, 3}))},
                                      {"n", 7},
                                      {"parts", Element::list({"text", 0.5})}});
  const auto spec = get_element_spec(MapDataset::source(std::vector<Element>{element}));
  EXPECT_THAT(spec, ElementsAre(LeafSpec{"n", Element::Kind::integer, DType::i64, {}},
                                LeafSpec{"parts/0", Element::Kind::text, {}, {}},
                                LeafSpec{"parts/1", Element::Kind::real, DType::f64, {}},
                                LeafSpec{"x", Element::Kind::array, DType::f32, {2, 3}}));
  EXPECT_TRUE(get_element_spec(MapDataset::range(0)).empty());
  RecordProperty("api", "grain.experimental.get_element_spec");
}

TEST(GrainNames, SequencesBeginWithATokenOfTheirOwn) {
  std::vector<Element> sequences;
  for (std::int32_t i = 0; i < 40; i += 10)
    sequences.push_back(
        Element::dict({{"a", Literal::of<std::int32_t>({5}, {i, i + 1, i + 2, i + 3, i + 4})}}));
  const auto ds = MapDataset::source(sequences).to_iter_dataset();
  ConcatThenSplitOptions o{.length_struct = {{"a", 4}},
                           .bos_features = {"a"},
                           .bos_token_id = 99,
                           .bos_handling = BOSHandling::replace_first_token_with_bos};
  std::vector<std::int32_t> rows;
  for (const Element& e : ds.concat_then_split(o).iterate().take())
    for (std::int32_t t : e.at("a").array().span<std::int32_t>()) rows.push_back(t);
  EXPECT_THAT(rows, ElementsAre(99, 1, 2, 3, 99, 99, 11, 12, 99, 14, 99, 21, 99, 23, 24, 99, 99, 32,
                                33, 34));
  o.bos_handling = BOSHandling::do_nothing;
  EXPECT_THROW(ds.concat_then_split(o), Error);
  EXPECT_THROW(ds.concat_then_split({.length_struct = {{"a", 4}},
                                     .bos_handling = BOSHandling::replace_first_token_with_bos}),
               Error);
  RecordProperty("api", "grain.experimental.BOSHandling");
}

TEST(GrainNames, ElementsOnADevice) {
  const auto ds = MapDataset::range(7).to_iter_dataset().map([](const Element& e) {
    const auto n = static_cast<std::int32_t>(e.integer());
    return Element::dict({{"row", Literal::of<std::int32_t>({2}, {n, n * n})}, {"n", n}});
  });
  const Device device = devices().front();
  for (const std::int64_t ahead : {0, 2, 9}) {
    DeviceIterator it = device_put(ds, device, {.device_buffer_size = ahead}).iterate();
    std::vector<std::int32_t> got;
    std::string middle;
    for (DeviceElement e; it.next(e).value();) {
      EXPECT_EQ(e.at("row").devices()[0], device);
      EXPECT_EQ(e.leaves.size(), 2u);
      for (std::int32_t x : e.at("row").literal().span<std::int32_t>()) got.push_back(x);
      if (got.size() == 6) middle = it.state();  // of three elements, whatever is ahead
    }
    EXPECT_THAT(got, ElementsAre(0, 0, 1, 1, 2, 4, 3, 9, 4, 16, 5, 25, 6, 36));
    DeviceElement e;
    EXPECT_FALSE(it.next(e).value());
    ASSERT_TRUE(it.set_state(middle).ok());
    ASSERT_TRUE(it.next(e).value());
    EXPECT_EQ(e.at("row").literal().span<std::int32_t>()[1], 9);
    EXPECT_FALSE(it.set_state("{").ok());
  }
  DeviceElement e;
  const auto texts = MapDataset::source(std::vector<Element>{"word"}).to_iter_dataset();
  auto words = device_put(texts, device).iterate();
  EXPECT_THROW((void)words.next(e), Error);
  EXPECT_THROW(device_put(ds, device, {.cpu_buffer_size = -1}), Error);
  RecordProperty("api", "grain.experimental.device_put");
}

TEST(GrainNames, ALoaderHasItsWorkersAndReadsAhead) {
  const DataLoader loader({.source = MapDataset::range(10, Mode::compat),
                           .sampler = std::make_shared<SequentialSampler>(10),
                           .worker_count = 2});
  EXPECT_EQ(loader.multiprocessing_options().num_workers, 2);
  auto it = loader.iterate();
  it.start_prefetch();
  EXPECT_EQ(it.take(3).back().integer(), 2);
  RecordProperty(
      "api", "grain.DataLoader.multiprocessing_options grain.DataLoaderIterator.start_prefetch");
}

}  // namespace
}  // namespace strata::data
