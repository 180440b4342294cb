// Checkpoints in buckets, of which a request fails, is lost, or is the last one of its process.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>

#include "strata/base/file.h"
#include "strata/base/object_store/object_store.h"
#include "strata/base/presence.h"
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
    EXPECT_EQ(any_format::format_of(path).value(),
              api == 1 ? any_format::Format::orbax : any_format::Format::orbax2);
  }
  ASSERT_TRUE(orbax::save("mem://b/run/3", contents_of(8), {.tree = {.ocdbt = false}}).ok());
  expect_whole("mem://b/run/3", 8);
  EXPECT_EQ(orbax::load("mem://b/run")->step, 3);  // the newest
  EXPECT_EQ(any_format::all_of("mem://b/run").value().size(), 3u);
  EXPECT_EQ(any_format::find("mem://b/run")->checkpoint->step, 3);
  EXPECT_EQ(any_format::format_of("mem://b/none").value(), std::nullopt);
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

/// What a function answers where the n-th request fails: an error, or what it answers without.
template <class F, class Answer>
void expect_never_absent(testing_buckets::Bucket& bucket, F&& ask, const Answer& wanted) {
  bucket.fails_from = -1;
  bucket.requests = 0;
  ASSERT_EQ(ask().value(), wanted);
  const int requests = bucket.requests;
  EXPECT_GT(requests, 0);
  for (int n = 0; n < requests; ++n) {
    bucket.requests = 0;
    bucket.fails_from = n;
    bucket.fails_until = n + 1;
    const auto answer = ask();
    if (answer) {
      EXPECT_EQ(*answer, wanted) << n;
    } else {
      EXPECT_EQ(answer.status().code(), Code::io) << answer.status().message();
    }
  }
  bucket.fails_from = -1;
}

// "It is not there" is an answer that a program begins anew by: a lost request must not give it.
TEST(Bucket, AFailedRequestIsNeverAnAbsence) {
  const auto bucket = new_bucket();
  ASSERT_TRUE(orbax::save("mem://b/run/checkpoints/1", contents_of(1), {.api = 2}).ok());
  ASSERT_TRUE(orbax::save("mem://b/run/checkpoints/2", contents_of(2)).ok());
  ASSERT_TRUE(save("mem://b/own/checkpoints", {3, {{"params", {}}}, {}}).ok());
  const std::string root = "mem://b/run/checkpoints", one = root + "/1";
  expect_never_absent(*bucket, [&] { return is_there(one); }, true);
  expect_never_absent(*bucket, [&] { return is_there(one + "/commit_success.txt"); }, true);
  expect_never_absent(*bucket, [&] { return orbax::is_checkpoint(one); }, true);
  expect_never_absent(*bucket, [&] { return root_of("mem://b/run"); }, root);
  expect_never_absent(
      *bucket, [&] { return any_format::format_of(one); },
      std::optional(any_format::Format::orbax2));
  expect_never_absent(
      *bucket, [&] { return any_format::format_of("mem://b/own"); },
      std::optional(any_format::Format::strata));
  auto number = [](auto all) -> Result<std::size_t> {
    if (!all) return all.status();
    return all->size();
  };
  expect_never_absent(*bucket, [&] { return number(any_format::all_of("mem://b/run")); }, 2u);
  expect_never_absent(*bucket, [&] { return number(any_format::steps(root)); }, 2u);
  auto step = [](auto found) -> Result<std::int64_t> {
    if (!found) return found.status();
    return found->checkpoint ? found->checkpoint->step : -1;
  };
  for (const auto& [path, wanted] : {std::pair("mem://b/run", 2), std::pair("mem://b/own", 3)})
    expect_never_absent(*bucket, [&, p = path] { return step(any_format::find(p)); }, wanted);
  // A run's newest step is passed over for its damage alone.
  expect_never_absent(*bucket, [&] { return step(any_format::load_latest(root)); }, 2);
  // Where the answer is a bool alone, the failure is an exception.
  bucket->requests = 0;
  bucket->fails_from = 0;
  EXPECT_THROW((void)file_exists(one), Error);
  bucket->fails_from = -1;
  EXPECT_TRUE(file_exists(one));
  EXPECT_FALSE(file_exists("nowhere://b/x"));
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

// A network may carry a request twice, and the second time late: at once, or after more of the
// save, of the next save, and of removals went by. Whatever it is, the newest step is whole.
TEST(Bucket, DoubledRequestsLeaveTheNewestStepWhole) {
  for (const int later : {0, 1, 3, 7, 20, 60}) {
    const auto bucket = new_bucket();
    bucket->again_after = later;
    for (int step = 1; step <= 4; ++step) {
      auto manager = Manager::open("mem://b/run", {.preservation = latest_n(2)});
      ASSERT_TRUE(manager.ok()) << later << " " << manager.status().message();
      ASSERT_TRUE(manager->save(step, contents_of(static_cast<float>(step))).ok());
      ASSERT_TRUE(manager->wait().ok()) << later;
      const auto latest = any_format::load_latest("mem://b/run");
      ASSERT_TRUE(latest.ok() && latest->checkpoint) << later;
      EXPECT_EQ(latest->checkpoint->step, step) << later;
      EXPECT_THAT(latest->damaged, testing::IsEmpty());
      expect_whole(fmt::format("mem://b/run/{}", step), static_cast<float>(step));
    }
  }
}

TEST(Bucket, SlowRequestsBlockNobody) {
  const auto bucket = new_bucket();
  auto manager = Manager::open("mem://b/run");
  bucket->slow = std::chrono::milliseconds(10);
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_TRUE(manager->save(1, contents_of(1)).ok());
  const auto blocked = std::chrono::steady_clock::now() - begin;
  ASSERT_TRUE(manager->wait().ok());
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_LT(blocked, took / 4);
  bucket->slow = {};
  expect_whole("mem://b/run/1", 1);
}

// The mark is written where there is none: of two that save one step, one hears of it.
TEST(Bucket, WhoCommitsAStepSecondIsTold) {
  const auto bucket = new_bucket();
  bucket->before_write = [&](const std::string& key) {
    if (key == "run/1/commit_success.txt") bucket->objects[key] = "of another process";
  };
  const Status second = orbax::save("mem://b/run/1", contents_of(1));
  EXPECT_EQ(second.code(), Code::exists) << second.message();
  EXPECT_EQ(bucket->objects.at("run/1/commit_success.txt"), "of another process");
  bucket->before_write = [&](const std::string& key) {
    if (key == "own/2/manifest.json") bucket->objects[key] = "{}";
  };
  EXPECT_EQ(save("mem://b/own", {2, {{"params", {}}}, {}}).code(), Code::exists);
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
