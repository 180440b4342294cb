// What Grain's other public names give, as Grain 0.2.18 answered.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/data/pipeline/data_loader.h"
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

}  // namespace
}  // namespace strata::data
