#include "strata/checkpoint/manager/manager.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "strata/base/file.h"

namespace strata::checkpoint {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::optional<std::int64_t> number(const json& j) {
  if (j.is_null()) return {};
  return j.get<std::int64_t>();
}

PreservationPolicy policy_of(const json& c) {
  const std::string name = c["policy"];
  const json& a = c["arguments"];
  if (name == "latest_n") return latest_n(number(a[0]));
  if (name == "every_n_steps") return every_n_steps(a[0], a[1], number(a[2]));
  if (name == "every_n_steps_closest") return every_n_steps_closest(a[0], number(a[1]));
  if (name == "every_n_seconds") return every_n_seconds(a[0]);
  EXPECT_EQ(name, "best_n");
  return best_n("loss", number(a[0]), a[1], a[2]);
}

TEST(Policy, RandomHistoriesAsOrbaxKeepsThem) {
  const std::string path = (fs::path(__FILE__).parent_path() / "testdata/policies.json").string();
  const json cases = json::parse(read_file(path).value());
  ASSERT_EQ(cases.size(), 300u);
  for (const json& c : cases) {
    std::vector<CheckpointInfo> infos;
    for (std::size_t i = 0; i < c["steps"].size(); ++i) {
      CheckpointInfo info{c["steps"][i], c["times"][i].get<std::int64_t>() * 1000000000, {}};
      if (!c["metrics"][i].is_null())
        info.metrics = std::map<std::string, double>{{"loss", c["metrics"][i]}};
      infos.push_back(info);
    }
    EXPECT_EQ(policy_of(c)(infos, 0), c["kept"].get<std::vector<bool>>()) << c.dump();
  }
  EXPECT_THROW((void)every_n_steps(0), Error);
}

TEST(Policy, DurationsUnionsAndDecisions) {
  constexpr std::int64_t kSecond = 1000000000;
  const std::vector<CheckpointInfo> infos = {
      {1, 0, {}}, {2, 50 * kSecond, {}}, {3, 90 * kSecond, {}}};
  EXPECT_EQ(latest_duration(60)(infos, 100 * kSecond), (std::vector<bool>{false, true, true}));
  EXPECT_EQ(any_of({latest_n(1), custom_steps({1})})(infos, 0),
            (std::vector<bool>{true, false, true}));
  EXPECT_TRUE(save_every(5)({.step = 10}));
  EXPECT_FALSE(save_every(5)({.step = 11}));
  EXPECT_TRUE(save_when_any({save_on({3}), save_first()})({.step = 4}));
  EXPECT_FALSE(save_continuously(9)({.step = 4, .latest = infos[2], .now = 95 * kSecond}));
  EXPECT_TRUE(save_continuously(5)({.step = 4, .latest = infos[2], .now = 95 * kSecond}));
  EXPECT_FALSE(save_continuously(5)({.step = 4, .saving = true}));
}

class ManagerTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "strata_manager_XXXXXX").string();
    root_ = ::mkdtemp(name.data());
  }
  void TearDown() override { fs::remove_all(root_); }
  static orbax::Contents contents(float x) {
    orbax::Contents out;
    orbax::Leaf leaf{.path = {{"w"}}};
    leaf.value = Literal::full(Type(DType::f32, {4}), x);
    out.items["state"] = {leaf};
    out.files["data"] = {{"process_0-of-1.json", fmt::format("{{\"next_index\":{}}}", x)}};
    return out;
  }
  std::vector<std::string> names() const { return list_folder(root_).value(); }
  std::string root_;
};

TEST_F(ManagerTest, TheBestAndTheLatestStay) {
  Manager manager =
      Manager::open(root_, {.prefix = "run",
                            .digits = 4,
                            .decision = save_every(2),
                            .preservation = any_of({latest_n(2), best_n("loss", 1, true, false)})})
          .value();
  for (std::int64_t step = 0; step < 12; ++step) {
    if (!manager.should_save(step)) continue;
    ASSERT_TRUE(manager
                    .save(step, contents(static_cast<float>(step)),
                          std::map<std::string, double>{
                              {"loss", std::abs(5.0 - static_cast<double>(step))}})
                    .ok());
  }
  ASSERT_TRUE(manager.wait().ok());
  EXPECT_EQ(names(), (std::vector<std::string>{"run_0006", "run_0008", "run_0010"}));
  EXPECT_EQ(manager.latest_step(), 10);
  EXPECT_EQ(manager.best_step("loss", true), 6);
  EXPECT_FALSE(manager.should_save(10));
  EXPECT_EQ(manager.save(8, contents(0)).code(), Code::exists);
  // Another process finds the same.
  const Manager again = Manager::open(root_, {.prefix = "run", .digits = 4}).value();
  EXPECT_EQ(again.best_step("loss", true), 6);
  const auto tree = again.directory(6)->tree("state").value();
  EXPECT_EQ(tree.read(*tree.find("w"))->number(0), 6);
  EXPECT_EQ(read_file(root_ + "/run_0006/data/process_0-of-1.json").value(), "{\"next_index\":6}");
  EXPECT_EQ(again.directory(7).status().code(), Code::not_found);
}

TEST_F(ManagerTest, FailuresAreToldAndRemoveNothing) {
  Manager manager = Manager::open(root_, {.preservation = latest_n(1)}).value();
  ASSERT_TRUE(manager.save(1, contents(1)).ok());
  ASSERT_TRUE(manager.wait().ok());
  orbax::Contents bad = contents(2);
  bad.items["state"][0].value = Literal(Type(DType::f32, {0}));
  ASSERT_TRUE(manager.save(2, bad).ok());
  const Status told = manager.save(3, contents(3));
  EXPECT_EQ(told.code(), Code::invalid);
  EXPECT_NE(told.message().find("no elements"), std::string::npos);
  EXPECT_EQ(manager.latest_step(), 1);
  EXPECT_EQ(names(), std::vector<std::string>{"1"});
  ASSERT_TRUE(manager.save(3, contents(3)).ok());
  ASSERT_TRUE(manager.wait().ok());
  EXPECT_EQ(names(), std::vector<std::string>{"3"});
}

TEST_F(ManagerTest, WhatWasInterruptedIsRemoved) {
  fs::create_directories(root_ + "/5" + orbax::kTemporary + "/state");
  const Manager reading = Manager::open(root_, {.read_only = true}).value();
  EXPECT_EQ(names().size(), 1u);
  Manager manager = Manager::open(root_).value();
  EXPECT_TRUE(names().empty());
  EXPECT_FALSE(manager.latest_step());
  ASSERT_TRUE(manager.save(5, contents(5)).ok());
  ASSERT_TRUE(manager.wait().ok());
  EXPECT_TRUE(manager.remove(5).ok());
  EXPECT_EQ(manager.remove(5).code(), Code::not_found);
  EXPECT_TRUE(names().empty());
}

TEST_F(ManagerTest, OldStepsMayBeMovedAside) {
  Manager manager = Manager::open(root_, {.preservation = latest_n(1), .aside = "old"}).value();
  for (const std::int64_t step : {1, 2, 3})
    ASSERT_TRUE(manager.save(step, contents(static_cast<float>(step))).ok());
  ASSERT_TRUE(manager.wait().ok());
  EXPECT_EQ(names(), (std::vector<std::string>{"3", "old"}));
  EXPECT_EQ(list_folder(root_ + "/old").value(), (std::vector<std::string>{"1", "2"}));
  EXPECT_TRUE(orbax::verify(root_ + "/old/2").empty());
  EXPECT_TRUE(manager.remove(3).ok());
  EXPECT_EQ(list_folder(root_ + "/old")->size(), 3u);
  EXPECT_FALSE(Manager::open(root_).value().latest_step());
}

TEST_F(ManagerTest, AFolderThatIsNotThereIsMadeUnlessThatIsRefused) {
  EXPECT_EQ(Manager::open(root_ + "/none", {.create = false}).status().code(), Code::not_found);
  EXPECT_TRUE(names().empty());
  EXPECT_TRUE(Manager::open(root_ + "/made").ok());
  EXPECT_EQ(names(), std::vector<std::string>{"made"});
}

TEST_F(ManagerTest, TheFolderHasMetadataOfItsOwn) {
  ASSERT_TRUE(Manager::open(root_, {.metadata = R"({"a":1})"}).ok());
  // As Orbax 0.12.8 writes it, and the first one stays.
  EXPECT_EQ(json::parse(read_file(root_ + "/metadata/_ROOT_METADATA").value()),
            json::parse(R"({"internal_metadata": {}, "custom_metadata": {"a": 1}})"));
  EXPECT_EQ(Manager::open(root_, {.metadata = R"({"a":2})"})->metadata().value(), R"({"a":1})");
  EXPECT_EQ(Manager::open(root_ + "/other")->metadata().value(), "{}");
  EXPECT_THROW((void)Manager::open(root_ + "/bad", {.metadata = "[]"}), Error);
  ASSERT_TRUE(write_file_synced(root_ + "/metadata/_ROOT_METADATA", std::string_view("x")).ok());
  EXPECT_EQ(Manager::open(root_)->metadata().status().code(), Code::corrupt);
}

TEST_F(ManagerTest, ASaveMayBeWaitedForAtOnce) {
  Manager manager = Manager::open(root_, {.asynchronous = false}).value();
  ASSERT_TRUE(manager.save(1, contents(1)).ok());
  EXPECT_TRUE(orbax::verify(root_ + "/1").empty());
}

/// The least time that one of five saves keeps its caller.
std::chrono::microseconds blocked(const std::string& root, const orbax::Contents& contents) {
  auto least = std::chrono::microseconds::max();
  for (int i = 0; i < 5; ++i) {
    Manager manager = Manager::open(root + std::to_string(i)).value();
    orbax::Contents given = contents;  // shares the arrays
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_TRUE(manager.save(1, std::move(given)).ok());
    least = std::min(least, std::chrono::duration_cast<std::chrono::microseconds>(
                                std::chrono::steady_clock::now() - begin));
    EXPECT_TRUE(manager.wait().ok());
  }
  return least;
}

// At most 1 ms and 1 us for each array, whatever their size.
TEST_F(ManagerTest, ASaveBlocksItsCallerForTheListOfItsArraysAlone) {
  orbax::Contents many, large;
  for (int i = 0; i < 1000; ++i) {
    orbax::Leaf leaf{.path = {{fmt::format("w{}", i)}}};
    leaf.value = Literal(Type(DType::f32, Shape{16}));
    many.items["state"].push_back(std::move(leaf));
  }
  orbax::Leaf leaf{.path = {{"w"}}};
  leaf.value = Literal(Type(DType::f32, Shape{1 << 24}));
  large.items["state"] = {leaf};
  EXPECT_LE(blocked(root_ + "/many", many).count(), 1000 + 1000);
  EXPECT_LE(blocked(root_ + "/large", large).count(), 1000 + 1);
}

// Each option of Orbax's CheckpointManagerOptions and its kin, as options.tsv has them.
TEST_F(ManagerTest, EveryOptionOfOrbaxIsAccountedFor) {
  const fs::path here = fs::path(__FILE__).parent_path();
  std::ifstream names(here / "testdata/options.txt"), table(here / "names/options.tsv");
  std::string source = read_file(__FILE__).value();
  source += read_file((here / "../orbax/bucket_test.cc").string()).value();
  std::set<std::string> wanted, have;
  for (std::string line; std::getline(names, line);)
    if (!line.empty() && line[0] != '#') wanted.insert(line);
  std::string line;
  std::getline(table, line);
  while (std::getline(table, line)) {
    std::vector<std::string> cells;
    std::stringstream row(line);
    for (std::string cell; std::getline(row, cell, '\t');) cells.push_back(cell);
    ASSERT_EQ(cells.size(), 4u) << line;
    have.insert(cells[0]);
    EXPECT_TRUE(cells[1] == "done" || cells[1] == "not applicable" || cells[1] == "missing")
        << line;
    if (cells[1] == "done")
      EXPECT_NE(source.find(", " + cells[3] + ")"), source.npos) << "no such test: " << line;
  }
  EXPECT_EQ(have, wanted);
}

}  // namespace
}  // namespace strata::checkpoint
