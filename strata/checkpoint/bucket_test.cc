// Strata's own checkpoints in buckets, of which a request fails, is lost, or is the last one of its
// process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/base/file.h"
#include "strata/checkpoint/any_format.h"
#include "strata/checkpoint/checkpoint.h"
#include "strata/checkpoint/testing/memory_bucket.h"

namespace strata::checkpoint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing_buckets::Bucket;
using testing_buckets::new_bucket;

const std::string kRoot = "mem://b/run/checkpoints";
const Still kBase = {{"params", {"base"}}};

Checkpoint sample(std::int64_t step) {
  Checkpoint c{step, {}, {{"loss", "0.5"}}};
  c.parts["params"]["base"] = Literal::full(Type(DType::f32, Shape{8192}), 3);
  c.parts["params"]["w"] = Literal::full(Type(DType::f32, Shape{64}), static_cast<double>(step));
  c.parts["optimizer"]["count"] = Literal::scalar<std::int32_t>(static_cast<std::int32_t>(step));
  return c;
}

void expect_whole(std::int64_t step) {
  auto c = load(kRoot, step);
  ASSERT_TRUE(c.ok()) << c.status().message();
  const Checkpoint wanted = sample(step);
  EXPECT_EQ(c->notes, wanted.notes);
  for (const auto& [part, tensors] : wanted.parts)
    for (const auto& [name, t] : tensors) EXPECT_TRUE(c->parts.at(part).at(name).same_bits(t));
  EXPECT_THAT(verify(fmt::format("{}/{}", kRoot, step)), IsEmpty());
}

std::size_t chunks_in(const Bucket& bucket) {
  std::size_t out = 0;
  for (const auto& [key, bytes] : bucket.objects) out += key.find("/chunks/") != key.npos;
  return out;
}

TEST(StrataInABucket, IsSavedFoundListedVerifiedAndRemoved) {
  const auto bucket = new_bucket();
  EXPECT_THAT(*steps(kRoot), IsEmpty());
  for (std::int64_t step : {1, 2, 3}) ASSERT_TRUE(save(kRoot, sample(step), {.newest = 2}).ok());
  EXPECT_THAT(*steps(kRoot), ElementsAre(2, 3));
  expect_whole(2);
  expect_whole(3);
  EXPECT_EQ(any_format::find("mem://b/run")->checkpoint->step, 3);
  EXPECT_EQ(any_format::find(kRoot + "/2")->checkpoint->step, 2);
  EXPECT_EQ(any_format::all_of("mem://b/run")->size(), 2u);
  EXPECT_EQ(any_format::format_of(kRoot + "/2").value(), any_format::Format::strata);
  EXPECT_EQ(load_latest(kRoot)->folder, kRoot + "/3");
}

TEST(StrataInABucket, WhatStaysIsSentOnce) {
  const auto bucket = new_bucket();
  ASSERT_TRUE(save(kRoot, sample(1), {}, kBase).ok());
  EXPECT_GT(bucket->bytes_written, 32768u);
  bucket->bytes_written = 0;
  ASSERT_TRUE(save(kRoot, sample(2), {}, kBase).ok());
  EXPECT_LT(bucket->bytes_written, 2048u);
  expect_whole(1);
  expect_whole(2);
  EXPECT_EQ(chunks_in(*bucket), 1u);
  bucket->objects.erase(bucket->objects.lower_bound("run/checkpoints/chunks/"));
  EXPECT_THAT(verify(kRoot + "/1").at(0).message(), HasSubstr("the chunk is missing"));
}

TEST(StrataInABucket, WithoutItsManifestThereIsNone) {
  const auto bucket = new_bucket();
  ASSERT_TRUE(save(kRoot, sample(1)).ok());
  ASSERT_TRUE(save(kRoot, sample(2)).ok());
  bucket->objects.erase("run/checkpoints/2/manifest.json");
  EXPECT_THAT(*steps(kRoot), ElementsAre(1));
  EXPECT_EQ(load_latest(kRoot)->checkpoint->step, 1);
  EXPECT_THAT(load_latest(kRoot)->damaged, IsEmpty());
  ASSERT_TRUE(save(kRoot, sample(3)).ok());  // tidies up
  for (const auto& [key, bytes] : bucket->objects)
    EXPECT_EQ(key.find("checkpoints/2/"), key.npos) << key;
}

TEST(StrataInABucket, ASaveThatFailsAtAnyRequestLeavesTheOldStepOrTheNewOne) {
  int most = 0;
  {
    const auto bucket = new_bucket();
    ASSERT_TRUE(save(kRoot, sample(1), {}, kBase).ok());
    const int before = bucket->requests;
    ASSERT_TRUE(save(kRoot, sample(2), {.newest = 1}, kBase).ok());
    most = bucket->requests - before;
  }
  ASSERT_GT(most, 10);
  int old_ones = 0, new_ones = 0;
  for (int k = 0; k <= most; ++k) {
    for (bool lost : {false, true}) {
      const auto bucket = new_bucket();
      ASSERT_TRUE(save(kRoot, sample(1), {}, kBase).ok());
      bucket->fails_from = bucket->requests + k;
      bucket->answer_lost = lost;
      // The last request reads which chunks are needed; without an answer all of them stay.
      EXPECT_EQ(save(kRoot, sample(2), {.newest = 1}, kBase).ok(), k >= most - 1) << k;
      bucket->fails_from = -1;  // the next process
      auto latest = load_latest(kRoot);
      ASSERT_TRUE(latest.ok() && latest->checkpoint) << k;
      EXPECT_THAT(latest->damaged, IsEmpty()) << k;
      const auto all = *steps(kRoot);
      for (std::int64_t step : all) expect_whole(step);
      (latest->checkpoint->step == 2 ? new_ones : old_ones) += 1;
      ASSERT_TRUE(save(kRoot, sample(3), {.newest = 1}, kBase).ok()) << k;
      EXPECT_THAT(*steps(kRoot), ElementsAre(3)) << k;
      expect_whole(3);
      EXPECT_EQ(chunks_in(*bucket), 1u) << k;
      for (const auto& [key, bytes] : bucket->objects)
        EXPECT_TRUE(key.starts_with("run/checkpoints/3/") ||
                    key.starts_with("run/checkpoints/chunks/"))
            << k << " " << key;
    }
  }
  EXPECT_GT(old_ones, 10);
  EXPECT_GT(new_ones, 2);
}

TEST(StrataInABucket, AStepThatIsReplacedIsTheOldTheNewOrNone) {
  const auto changed = [] {
    Checkpoint c = sample(2);
    c.parts["params"]["w"] = Literal::full(Type(DType::f32, Shape{64}), 9);
    return c;
  };
  for (int k = 0, done = 0; !done; ++k) {
    const auto bucket = new_bucket();
    ASSERT_TRUE(save(kRoot, sample(1)).ok() && save(kRoot, sample(2)).ok());
    bucket->fails_from = bucket->requests + k;
    bucket->answer_lost = true;
    done = save(kRoot, changed()).ok();
    bucket->fails_from = -1;
    auto latest = load_latest(kRoot);
    ASSERT_TRUE(latest.ok() && latest->checkpoint) << k;
    EXPECT_THAT(latest->damaged, IsEmpty()) << k;
    if (latest->checkpoint->step == 1) continue;
    const double first = latest->checkpoint->parts["params"]["w"].number(0);
    EXPECT_TRUE(first == 2 || first == 9);
    if (done) EXPECT_EQ(first, 9);
  }
}

}  // namespace
}  // namespace strata::checkpoint
