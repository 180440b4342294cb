#include "strata/train/report/events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "strata/base/file.h"
#include "strata/train/report/metrics.h"

namespace strata::train {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
namespace fs = std::filesystem;

std::string two_events() {
  return encode_record(encode_event({.wall_time = 1.5, .file_version = kEventVersion})) +
         encode_record(encode_event({.wall_time = 2.5,
                                     .step = 300,
                                     .scalars = {{"learning/loss", 3.25f}, {"perf/x", -0.0f}}}));
}

// "\x1a\x0dbrain.Event:2" is field 3 of 13 bytes; wall time is field 1 of 64 bits, the step
// field 2.
TEST(Events, BytesAreProtobufs) {
  EXPECT_EQ(encode_event({.wall_time = 0, .file_version = kEventVersion}),
            std::string("\x09\0\0\0\0\0\0\0\0\x10\0\x1a\x0d"
                        "brain.Event:2",
                        26));
  EXPECT_EQ(encode_event({.step = 300, .scalars = {{"a", 1.0f}}}),
            std::string("\x09\0\0\0\0\0\0\0\0\x10\xac\x02\x2a\x0a\x0a\x08\x0a\x01"
                        "a\x15\0\0\x80\x3f",
                        24));
}

// tensorflow/core/lib/hash/crc32c.h: Mask(crc) = ((crc >> 15) | (crc << 17)) + 0xa282ead8;
// crc32c("123456789") = e3069283.
TEST(Events, ChecksumsAreMasked) {
  EXPECT_EQ(masked_crc32c("123456789"), ((0xe3069283u >> 15) | (0xe3069283u << 17)) + 0xa282ead8u);
}

TEST(Events, WhatIsWrittenIsRead) {
  const EventFile file = read_events(two_events(), "f");
  ASSERT_TRUE(file.damage.ok()) << file.damage.message();
  ASSERT_EQ(file.events.size(), 2u);
  EXPECT_EQ(file.events[0].file_version, kEventVersion);
  EXPECT_EQ(file.events[1].wall_time, 2.5);
  EXPECT_EQ(file.events[1].step, 300);
  EXPECT_THAT(file.events[1].scalars,
              ElementsAre(Pair("learning/loss", 3.25f), Pair("perf/x", -0.0f)));
  EXPECT_EQ(file.ends.back(), two_events().size());
}

TEST(Events, EveryCutLeavesTheWholeRecordsBeforeIt) {
  const std::string bytes = two_events();
  const std::size_t first = read_events(bytes, "f").ends[0];
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    const EventFile file = read_events(std::string_view(bytes).substr(0, n), "f");
    EXPECT_EQ(file.events.size(), n < first ? 0u : 1u) << n;
    EXPECT_EQ(file.damage.ok(), n == 0 || n == first) << n;
  }
}

TEST(Events, EveryFlippedBitIsFound) {
  const std::string bytes = two_events();
  for (std::size_t i = 0; i < bytes.size() * 8; ++i) {
    std::string hurt = bytes;
    hurt[i / 8] = static_cast<char>(hurt[i / 8] ^ (1 << i % 8));
    EXPECT_THAT(read_events(hurt, "f").damage.message(), HasSubstr("f: ")) << i;
  }
}

TEST(Events, FieldsThatAreNotKnownArePassedOver) {
  // Field 9 of each wire type, around a step.
  auto event = decode_event(std::string("\x48\x07\x10\x05\x49"
                                        "12345678"
                                        "\x4a\x02hi\x4d"
                                        "1234",
                                        22),
                            "f");
  ASSERT_TRUE(event.ok());
  EXPECT_EQ(event->step, 5);
  EXPECT_FALSE(decode_event(std::string("\x4b", 1), "f").ok());   // a wire type that there is not
  EXPECT_FALSE(decode_event(std::string(11, '\xff'), "f").ok());  // a number without end
  EXPECT_FALSE(decode_event(std::string("\x2a\x7f\x0a", 3), "f").ok());  // longer than the message
  EXPECT_FALSE(decode_event(std::string("\x2a\x02\x0a\x7f", 4), "f")
                   .ok());  // a value longer than its summary
  EXPECT_FALSE(
      decode_event(std::string("\x2a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11), "f").ok());
}

class MetricsTest : public testing::Test {
 protected:
  MetricsTest() {
    std::string name = testing::TempDir() + "metrics_XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~MetricsTest() override { fs::remove_all(folder_); }
  Metrics open(std::int64_t step) {
    auto m = Metrics::open({.lines = lines_path(), .events = folder_ + "/tensorboard"}, step);
    EXPECT_TRUE(m.ok()) << m.status().message();
    return std::move(*m);
  }
  std::string lines_path() const { return folder_ + "/metrics/m.jsonl"; }
  std::string events_path() const {
    return fs::directory_iterator(folder_ + "/tensorboard")->path();
  }
  std::vector<std::int64_t> steps_of_lines() const {
    std::vector<std::int64_t> out;
    auto lines = read_metrics(lines_path());
    for (const MetricsLine& line : *lines) out.push_back(line.step);
    return out;
  }
  std::vector<std::int64_t> steps_of_events() const {
    std::vector<std::int64_t> out;
    const EventFile file = read_events(*read_file(events_path()), "events");
    EXPECT_TRUE(file.damage.ok());
    EXPECT_EQ(file.events.at(0).file_version, kEventVersion);
    for (std::size_t i = 1; i < file.events.size(); ++i) out.push_back(file.events[i].step);
    return out;
  }
  std::string folder_;
};

TEST_F(MetricsTest, LinesHoldAllDigits) {
  ASSERT_TRUE(open(0).add(1, {{"learning/loss", 0.1f}, {"eval/kjv", std::nanf("")}}).ok());
  EXPECT_EQ(*read_file(lines_path()), "{\"step\":1,\"learning/loss\":0.1,\"eval/kjv\":null}\n");
}

TEST_F(MetricsTest, ARunThatGoesOnRepeatsNothing) {
  {
    Metrics m = open(0);
    for (std::int64_t step = 1; step <= 5; ++step)
      ASSERT_TRUE(m.add(step, {{"learning/loss", 1.0f}}).ok());
  }
  std::ofstream(lines_path(), std::ios::app) << "{\"step\":6,\"lo";
  std::ofstream(events_path(), std::ios::app) << "\x09half a record";
  ASSERT_TRUE(open(3).add(4, {{"learning/loss", 2.0f}}).ok());
  EXPECT_THAT(steps_of_lines(), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(steps_of_events(), ElementsAre(1, 2, 3, 4));
}

}  // namespace
}  // namespace strata::train
