// Checkpoints in buckets, of which a request fails, is lost, or is the last one of its process.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <future>

#include "strata/base/file.h"
#include "strata/base/object_store.h"
#include "strata/checkpoint/any_format.h"
#include "strata/checkpoint/manager/manager.h"
#include "strata/checkpoint/orbax/directory.h"
#include "strata/checkpoint/testing/memory_bucket.h"

namespace strata::checkpoint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using testing_buckets::new_bucket;

orbax::Contents contents_of(float value, int arrays = 3) {
  orbax::Contents out;
  for (int i = 0; i < arrays; ++i) {
    orbax::Leaf leaf;
    leaf.path = {{"params"}, {fmt::format("w{}", i)}};
    leaf.kind = orbax::Kind::numpy_array;
    leaf.value = Literal(Type(DType::f32, Shape::of({40, 80})));
    for (std::int64_t k = 0; k < 3200; ++k)
      leaf.value->set_number(k, value + static_cast<double>(k * i));
    leaf.chunk = {10, 80};
    out.items["state"].push_back(std::move(leaf));
  }
  out.json["meta"] = "{}";
  out.files["data"]["process_0-of-1.json"] = fmt::format("{{\"next\":{}}}", value);
  return out;
}

void expect_whole(const std::string& path, float value) {
  const Result<Checkpoint> c = orbax::load(path);
  ASSERT_TRUE(c.ok()) << c.status().message();
  const orbax::Contents wanted = contents_of(value);
  for (const orbax::Leaf& leaf : wanted.items.at("state"))
    EXPECT_TRUE(c->parts.at("state").at(leaf.name()).same_bits(*leaf.value)) << leaf.name();
  EXPECT_EQ(read_file(path + "/data/process_0-of-1.json").value(),
            wanted.files.at("data").at("process_0-of-1.json"));
  EXPECT_TRUE(orbax::verify(path).empty());
}

TEST(Bucket, BothLayoutsAreWrittenAndReadThere) {
  const auto bucket = new_bucket();
  for (int api : {1, 2}) {
    const std::string path = fmt::format("mem://b/run/{}", api);
    ASSERT_TRUE(orbax::save(path, contents_of(7), {.api = api}).ok());
    expect_whole(path, 7);
    EXPECT_EQ(any_format::format_of(path),
              api == 1 ? any_format::Format::orbax : any_format::Format::orbax2);
  }
  ASSERT_TRUE(orbax::save("mem://b/run/3", contents_of(8), {.tree = {.ocdbt = false}}).ok());
  expect_whole("mem://b/run/3", 8);
  EXPECT_EQ(orbax::load("mem://b/run")->step, 3);  // the newest
  EXPECT_EQ(any_format::all_of("mem://b/run").value().size(), 3u);
  EXPECT_EQ(any_format::find("mem://b/run")->checkpoint->step, 3);
  EXPECT_EQ(any_format::format_of("mem://b/none"), std::nullopt);
}

TEST(Bucket, WithoutItsMarkThereIsNoCheckpoint) {
  const auto bucket = new_bucket();
  ASSERT_TRUE(orbax::save("mem://b/run/1", contents_of(1)).ok());
  ASSERT_TRUE(orbax::save("mem://b/run/2", contents_of(2)).ok());
  bucket->objects.erase("run/2/commit_success.txt");
  EXPECT_EQ(orbax::steps("mem://b/run").value().size(), 1u);
  EXPECT_EQ(orbax::load("mem://b/run")->step, 1);
  const Status unfinished = orbax::Directory::open("mem://b/run/2").status();
  EXPECT_EQ(unfinished.code(), Code::corrupt);
  EXPECT_THAT(unfinished.message(), HasSubstr("commit_success.txt is missing"));
  // One that only reads sees the same and changes nothing; another tidies up.
  const std::size_t objects = bucket->objects.size();
  EXPECT_EQ(Manager::open("mem://b/run", {.read_only = true})->latest_step(), 1);
  EXPECT_EQ(bucket->objects.size(), objects);
  EXPECT_EQ(Manager::open("mem://b/run")->latest_step(), 1);
  for (const auto& [key, bytes] : bucket->objects) EXPECT_TRUE(key.starts_with("run/1/")) << key;
}

// A request that fails once is an error, and never taken for the absence of a mark.
TEST(Bucket, AStepIsNotTakenForUnfinishedWhereARequestFails) {
  const auto bucket = new_bucket();
  ASSERT_TRUE(orbax::save("mem://b/run/1", contents_of(1)).ok());
  const auto objects = bucket->objects;
  bucket->requests = 0;
  ASSERT_TRUE(Manager::open("mem://b/run").ok());
  const int requests = bucket->requests;
  for (int n = 0; n < requests; ++n) {
    bucket->requests = 0;
    bucket->fails_from = n;
    bucket->fails_until = n + 1;
    (void)Manager::open("mem://b/run");
    EXPECT_EQ(bucket->objects, objects) << "request " << n << " of " << requests;
  }
}

TEST(Bucket, ABoxIsReadByRanges) {
  const auto bucket = new_bucket();
  ASSERT_TRUE(orbax::save("mem://b/run/1", contents_of(5), {.tree = {.compressed = false}}).ok());
  const auto tree = orbax::Directory::open("mem://b/run/1")->tree("state");
  const orbax::Leaf& leaf = *tree->find("params/w1");
  (void)tree->read(leaf, {0, 0}, {1, 1});  // fetches the database's nodes
  bucket->bytes_read = 0;
  const Literal rows = tree->read(leaf, {10, 0}, {10, 80}).value();
  EXPECT_EQ(bucket->bytes_read, 10u * 80 * 4);
  EXPECT_EQ(rows.number(0), 5 + 800);
}

TEST(Bucket, OldStepsGoWhileTheNextOnesAreSaved) {
  const auto bucket = new_bucket();
  auto manager = Manager::open("mem://b/run", {.preservation = latest_n(1)});
  std::promise<void> released;  // ends before the manager, which then waits for nobody
  const std::shared_future<void> may_go = released.get_future().share();
  ASSERT_TRUE(manager->save(1, contents_of(1)).ok());
  ASSERT_TRUE(manager->wait().ok());
  bucket->before_remove = [may_go](const std::string& key) {
    if (key.starts_with("run/1/")) may_go.wait();
  };
  ASSERT_TRUE(manager->save(2, contents_of(2)).ok());  // step 1 cannot go before it is released
  for (std::int64_t step : {3, 4})
    ASSERT_TRUE(manager->save(step, contents_of(static_cast<float>(step))).ok());
  expect_whole("mem://b/run/1", 1);
  released.set_value();
  ASSERT_TRUE(manager->wait().ok());
  const auto left = orbax::steps("mem://b/run").value();
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0].first, 4);
  EXPECT_EQ(manager->checkpoints().size(), 1u);
}

TEST(Bucket, ARemovalThatFailsIsToldOnceAndCostsNoSave) {
  const auto bucket = new_bucket();
  auto manager = Manager::open("mem://b/run", {.preservation = latest_n(1)});
  ASSERT_TRUE(manager->save(1, contents_of(1)).ok());
  ASSERT_TRUE(manager->wait().ok());
  bucket->before_remove = [&](const std::string& key) {
    if (key.starts_with("run/1/")) bucket->fails_from = bucket->requests;
  };
  ASSERT_TRUE(manager->save(2, contents_of(2)).ok());
  EXPECT_EQ(manager->wait().code(), Code::io);
  bucket->before_remove = {};
  bucket->fails_from = -1;
  EXPECT_EQ(manager->latest_step(), 2);
  expect_whole("mem://b/run/2", 2);
  EXPECT_TRUE(manager->save(3, contents_of(3)).ok());
  EXPECT_TRUE(manager->wait().ok());
}

/// Keeps two steps, the second of which is being saved; gives what saving it came to.
Status save_two(int& requests, const std::function<void()>& between) {
  auto manager = Manager::open("mem://b/run", {.preservation = latest_n(1)});
  if (!manager) return manager.status();
  if (Status s = manager->save(1, contents_of(1)); !s.ok()) return s;
  if (Status s = manager->wait(); !s.ok()) return s;
  between();
  Status s = manager->save(2, contents_of(2));
  if (s.ok()) s = manager->wait();
  requests = 0;
  return s;
}

TEST(Bucket, ASaveThatFailsAtAnyRequestLeavesTheOldStepOrTheNewOne) {
  int most = 0;
  {
    const auto bucket = new_bucket();
    int ignored, before = 0;
    ASSERT_TRUE(save_two(ignored, [&] { before = bucket->requests; }).ok());
    most = bucket->requests - before;
    EXPECT_EQ(orbax::steps("mem://b/run").value().size(), 1u);  // the old one was removed
  }
  ASSERT_GT(most, 10);
  int old_ones = 0, new_ones = 0;
  for (int k = 0; k <= most; ++k) {
    for (bool lost : {false, true}) {
      const auto bucket = new_bucket();
      int ignored;
      const Status s = save_two(ignored, [&] {
        bucket->fails_from = bucket->requests + k;
        bucket->answer_lost = lost;
      });
      EXPECT_EQ(s.ok(), k == most) << k;
      bucket->fails_from = -1;
      const auto steps = orbax::steps("mem://b/run");
      ASSERT_TRUE(steps.ok());
      ASSERT_FALSE(steps->empty()) << k;
      for (const auto& [step, folder] : *steps) expect_whole(folder, static_cast<float>(step));
      (steps->back().first == 2 ? new_ones : old_ones) += 1;
      // The next process tidies up and goes on.
      auto manager = Manager::open("mem://b/run", {.preservation = latest_n(1)});
      ASSERT_TRUE(manager.ok());
      ASSERT_TRUE(manager->save(3, contents_of(3)).ok() && manager->wait().ok()) << k;
      EXPECT_EQ(orbax::steps("mem://b/run").value().size(), 1u);
      expect_whole("mem://b/run/3", 3);
      for (const auto& [key, bytes] : bucket->objects)
        EXPECT_TRUE(key.starts_with("run/3/")) << k << " " << key;
    }
  }
  EXPECT_GT(old_ones, 20);
  EXPECT_GT(new_ones, 2);
}

}  // namespace
}  // namespace strata::checkpoint
