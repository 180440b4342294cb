// Two tiers in one process, and in several on this machine: the program starts itself again, once
// for each process, and each says what it restored.
#include "strata/checkpoint/tiers.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <vector>

#include "strata/api/sharding/distributed.h"
#include "strata/base/file.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/runtime/distributed/wire.h"

namespace strata::checkpoint {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
namespace fs = std::filesystem;

/// More than one piece of a transfer where `elements` is large.
Checkpoint sample(std::int64_t step, const std::string& shard, std::int64_t elements = 5000) {
  Checkpoint c{step, {}, {{"loss", "0.25"}}};
  std::vector<float> w(static_cast<std::size_t>(elements), static_cast<float>(shard.size()));
  for (std::size_t i = 0; i < w.size(); i += 97)
    w[i] = static_cast<float>(step) + static_cast<float>(i);
  c.parts["params"]["w"] = Literal::of<float>({elements}, w);
  c.parts["params"]["empty"] = Literal(Type(DType::f32, Shape{0}));
  c.parts["optimizer"]["count"] = Literal::scalar<std::int32_t>(static_cast<std::int32_t>(step));
  return c;
}

bool same(const Checkpoint& a, const Checkpoint& b) {
  if (a.step != b.step || a.notes != b.notes) return false;
  for (const auto& [part, tensors] : b.parts)
    for (const auto& [name, t] : tensors)
      if (!a.parts.count(part) || !a.parts.at(part).count(name) ||
          !a.parts.at(part).at(name).same_bits(t))
        return false;
  return true;
}

TierOptions options_of(const std::string& folder, int process, const std::string& shard) {
  return {.local = fmt::format("{}/local{}", folder, process),
          .local_period = 1,
          .local_keep = 2,
          .persistent = folder + "/persistent",
          .persistent_period = 4,
          .shard = shard};
}

std::string env(const char* name) { return std::getenv(name) ? std::getenv(name) : ""; }

class Parts : public testing::Environment {
 public:
  void SetUp() override {
    const std::string folder = env("STRATA_TEST_TIERS");
    if (folder.empty()) return;
    int status = 0;
    try {
      compile::register_cpu();
      distributed::initialize({.local_devices = 2});
      const int self = distributed::process_index();
      // Two shards where there are four processes: of 0 and 2, and of 1 and 3.
      const std::string shard = distributed::process_count() == 4 && self % 2 ? "odd" : "even";
      Tiers tiers(options_of(folder, self, shard));
      auto restored = tiers.restore();
      if (!restored) throw Error("restore", restored.status().message());
      std::cout << "\n>>>\n";
      if (!restored->checkpoint) {
        std::cout << "nothing" << std::endl;
      } else {
        const char* names[] = {"nowhere", "local", "peer", "persistent"};
        const std::int64_t elements = std::atoll(env("STRATA_TEST_ELEMENTS").c_str());
        const bool persistent = restored->from == Restored::From::persistent;
        std::cout << names[static_cast<int>(restored->from)] << " " << restored->checkpoint->step
                  << " " << restored->peer << " "
                  << (same(*restored->checkpoint, sample(restored->checkpoint->step,
                                                         persistent ? "even" : shard, elements))
                          ? "same"
                          : "other")
                  << std::endl;
      }
    } catch (const std::exception& e) {
      std::cout << "\n>>>\nfailed: " << e.what() << std::endl;
      status = 1;
    }
    std::exit(status);
  }
};
[[maybe_unused]] testing::Environment* const parts = testing::AddGlobalTestEnvironment(new Parts);

class TiersTest : public testing::Test {
 protected:
  TiersTest() {
    std::string name = testing::TempDir() + "tiers_XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~TiersTest() override { fs::remove_all(folder_); }
  std::string local(int p) const { return fmt::format("{}/local{}", folder_, p); }
  /// Local steps of n processes, two shards where there are four.
  void put(int n, std::vector<std::int64_t> steps, std::int64_t elements = 5000) {
    for (int p = 0; p < n; ++p)
      for (std::int64_t step : steps)
        ASSERT_TRUE(save(local(p), sample(step, n == 4 && p % 2 ? "odd" : "even", elements)).ok());
  }
  /// What n processes restore.
  std::vector<std::string> restore(int n, std::int64_t elements = 5000) {
    const int probe = *runtime::distributed::listen_at("127.0.0.1", 0);
    const int port = runtime::distributed::port_of(probe);
    ::close(probe);
    std::vector<pid_t> children;
    for (int p = 0; p < n; ++p) {
      const pid_t child = ::fork();
      if (child == 0) {
        ::setenv("STRATA_TEST_TIERS", folder_.c_str(), 1);
        ::setenv("STRATA_TEST_ELEMENTS", std::to_string(elements).c_str(), 1);
        ::setenv("STRATA_COORDINATOR_ADDRESS", fmt::format("127.0.0.1:{}", port).c_str(), 1);
        ::setenv("STRATA_NUM_PROCESSES", std::to_string(n).c_str(), 1);
        ::setenv("STRATA_PROCESS_ID", std::to_string(p).c_str(), 1);
        const int fd = ::open(fmt::format("{}/said{}", folder_, p).c_str(),
                              O_CREAT | O_TRUNC | O_WRONLY, 0600);
        ::dup2(fd, 1);
        ::execl("/proc/self/exe", "tiers", "--gtest_filter=TiersTest.*", nullptr);
        ::_exit(127);
      }
      children.push_back(child);
    }
    std::vector<std::string> out;
    for (int p = 0; p < n; ++p) {
      ::waitpid(children[static_cast<std::size_t>(p)], nullptr, 0);
      std::ifstream in(fmt::format("{}/said{}", folder_, p));
      std::stringstream text;
      text << in.rdbuf();
      const std::string all = text.str();
      const std::size_t at = all.find(">>>\n");
      out.push_back(at == all.npos ? all : all.substr(at + 4, all.find('\n', at + 4) - at - 4));
    }
    return out;
  }
  std::string folder_;
};

using Said = std::vector<std::string>;

TEST_F(TiersTest, OneProcessSavesOftenHereAndRarelyThere) {
  {
    Tiers tiers(options_of(folder_, 0, "even"));
    EXPECT_FALSE(tiers.restore()->checkpoint);
    for (std::int64_t step = 1; step <= 6; ++step) {
      EXPECT_TRUE(tiers.due(step));
      ASSERT_TRUE(tiers.save(sample(step, "even")).ok());
    }
    ASSERT_TRUE(tiers.wait().ok());
  }
  EXPECT_EQ(*steps(local(0)), (std::vector<std::int64_t>{5, 6}));
  EXPECT_EQ(*steps(folder_ + "/persistent"), std::vector<std::int64_t>{4});
  Tiers again(options_of(folder_, 0, "even"));
  auto restored = again.restore();
  EXPECT_EQ(restored->from, Restored::From::local);
  EXPECT_TRUE(same(*restored->checkpoint, sample(6, "even")));
  // A damaged one is passed over; without the local folder the persistent one is there.
  fs::resize_file(local(0) + "/6/params.safetensors", 100);
  restored = again.restore();
  EXPECT_TRUE(same(*restored->checkpoint, sample(5, "even")));
  EXPECT_EQ(restored->damaged.size(), 1u);
  fs::remove_all(local(0));
  restored = again.restore();
  EXPECT_EQ(restored->from, Restored::From::persistent);
  EXPECT_EQ(restored->checkpoint->step, 4);
}

TEST_F(TiersTest, APersistentStepThatIsNewerIsTaken) {
  Tiers tiers(options_of(folder_, 0, "even"));
  ASSERT_TRUE(save(local(0), sample(3, "even")).ok());
  ASSERT_TRUE(save(folder_ + "/persistent", sample(4, "even")).ok());
  EXPECT_EQ(tiers.restore()->from, Restored::From::persistent);
  EXPECT_EQ(tiers.restore()->checkpoint->step, 4);
  ASSERT_TRUE(tiers.save(sample(7, "even"), {}, /*last=*/true).ok() && tiers.wait().ok());
  EXPECT_EQ(tiers.restore()->from, Restored::From::local);
  fs::remove_all(local(0));
  EXPECT_EQ(tiers.restore()->checkpoint->step, 7);
}

TEST_F(TiersTest, APersistentStepThatLacksSomethingIsPassedOver) {
  TierOptions options = options_of(folder_, 0, "even");
  options.check = [](const Checkpoint& c) {
    return c.step < 8 ? Status() : Status(Code::corrupt, "a tensor is missing");
  };
  for (const std::int64_t step : {4, 8})
    ASSERT_TRUE(save(folder_ + "/persistent", sample(step, "even")).ok());
  const auto restored = Tiers(options).restore();
  EXPECT_EQ(restored->checkpoint->step, 4);
  ASSERT_EQ(restored->damaged.size(), 1u);
  EXPECT_EQ(restored->damaged[0].message(), folder_ + "/persistent/8: a tensor is missing");
}

TEST_F(TiersTest, OneOfTwoThatLostItsFolderGetsItFromItsPeer) {
  // More than one piece of 4 MiB.
  const std::int64_t elements = 1'200'000;
  put(2, {3}, elements);
  fs::remove_all(local(1));
  EXPECT_EQ(restore(2, elements), (Said{"local 3 -1 same", "peer 3 0 same"}));
  EXPECT_THAT(verify(local(1) + "/3"), IsEmpty()) << "it keeps it again";
}

TEST_F(TiersTest, OfFourEachShardIsGivenByItsReplica) {
  put(4, {5, 6});
  ASSERT_TRUE(save(folder_ + "/persistent", sample(4, "even")).ok());
  fs::remove_all(local(0));
  fs::resize_file(local(3) + "/6/optimizer.safetensors", 9);  // damaged: as if it were lost
  EXPECT_EQ(restore(4),
            (Said{"peer 6 2 same", "local 6 -1 same", "local 6 -1 same", "peer 6 1 same"}));
}

TEST_F(TiersTest, AStepOfWhichAShardIsLostIsNotWhole) {
  put(4, {5, 6});
  ASSERT_TRUE(save(folder_ + "/persistent", sample(4, "even")).ok());
  for (int p : {1, 3}) fs::remove_all(local(p) + "/6");
  EXPECT_EQ(restore(4),
            (Said{"local 5 -1 same", "local 5 -1 same", "local 5 -1 same", "local 5 -1 same"}));
  for (int p : {1, 3}) fs::remove_all(local(p));
  EXPECT_EQ(restore(4), (Said(4, "persistent 4 -1 same")));
}

TEST_F(TiersTest, WithoutAnyThereIsNothing) { EXPECT_EQ(restore(2), (Said(2, "nothing"))); }

}  // namespace
}  // namespace strata::checkpoint
