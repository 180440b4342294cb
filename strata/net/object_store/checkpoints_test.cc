// Checkpoints over the wire: both interfaces, and a server that loses and doubles.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "strata/base/object_store/object_store.h"
#include "strata/checkpoint/manager/manager.h"
#include "strata/checkpoint/orbax/directory.h"
#include "strata/net/object_store/gcs.h"
#include "strata/net/object_store/s3.h"
#include "strata/net/object_store/testing/bucket_server.h"

namespace strata::net {
namespace {

using checkpoint::Manager;
namespace orbax = checkpoint::orbax;
using testing::BucketServer;
using testing::Fault;

class CheckpointsInBuckets : public ::testing::TestWithParam<const char*> {
 protected:
  CheckpointsInBuckets() {
    const RetryPolicy at_once{.most = 4, .wait = [](std::chrono::milliseconds) {}};
    const std::string url = server_.url();
    register_object_store("gst", [=](const std::string& name) {
      return open_gcs(name, {.endpoint = url, .retry = at_once});
    });
    register_object_store("s3t", [=](const std::string& name) {
      return open_s3(name, {.endpoint = url,
                            .credentials = [] { return S3Credentials{"id", "secret", ""}; },
                            .retry = at_once});
    });
    server_.page = 1000;
  }
  BucketServer server_;
  const std::string root_ = std::string(GetParam()) + "://bucket/run";
};

orbax::Contents contents_of(int step) {
  orbax::Contents out;
  for (const char* name : {"a", "b"}) {
    orbax::Leaf leaf;
    leaf.path = {{name}};
    leaf.kind = orbax::Kind::numpy_array;
    leaf.value = Literal(Type(DType::f32, Shape::of({30, 30})));
    for (std::int64_t k = 0; k < 900; ++k) leaf.value->set_number(k, static_cast<double>(step + k));
    out.items["state"].push_back(std::move(leaf));
  }
  out.files["data"]["process_0-of-1.json"] = "{}";
  return out;
}

void expect_whole(const std::string& path, int step) {
  const auto c = orbax::load(path);
  ASSERT_TRUE(c.ok()) << c.status().message();
  const orbax::Contents wanted = contents_of(step);
  for (const orbax::Leaf& leaf : wanted.items.at("state"))
    EXPECT_TRUE(c->parts.at("state").at(leaf.name()).same_bits(*leaf.value)) << path;
}

TEST_P(CheckpointsInBuckets, AManagerKeepsItsSteps) {
  auto manager = Manager::open(root_, {.preservation = checkpoint::latest_n(2)});
  ASSERT_TRUE(manager.ok()) << manager.status().message();
  for (int step : {1, 2, 3}) ASSERT_TRUE(manager->save(step, contents_of(step)).ok());
  ASSERT_TRUE(manager->wait().ok());
  const auto steps = orbax::steps(root_);
  ASSERT_TRUE(steps.ok());
  ASSERT_EQ(steps->size(), 2u);
  for (const auto& [step, folder] : *steps) expect_whole(folder, static_cast<int>(step));
  EXPECT_NO_THROW((void)server_.object("bucket/run/3/commit_success.txt"));
  // The mark of a step that goes is removed before anything else of it.
  for (const std::string& r : server_.requests()) {
    if (!r.starts_with("DELETE ") || r.find("run") == r.npos) continue;
    EXPECT_NE(r.find("commit_success.txt"), r.npos) << r;
    break;
  }
}

TEST_P(CheckpointsInBuckets, LostAndDoubledRequestsChangeNothing) {
  int request = 0;
  for (int round = 1; round <= 6; ++round) {
    std::vector<Fault> plan;
    for (int i = 0; i < 120; ++i) {
      ++request;
      plan.push_back(request % 3 != 0   ? Fault::none
                     : request % 2 != 0 ? Fault::lost_answer
                                        : Fault::unavailable);
    }
    server_.plan(plan);
    auto manager = Manager::open(root_);
    ASSERT_TRUE(manager.ok()) << manager.status().message();
    ASSERT_TRUE(manager->save(round, contents_of(round)).ok());
    const Status saved = manager->wait();
    ASSERT_TRUE(saved.ok()) << saved.message();
    expect_whole(root_, round);
    server_.plan({});
    expect_whole(fmt::format("{}/{}", root_, round), round);
  }
}

TEST_P(CheckpointsInBuckets, AServerThatGoesAwayLeavesTheOldStep) {
  for (std::size_t good = 0; good < 24; ++good) {
    auto manager = Manager::open(root_);
    ASSERT_TRUE(manager.ok());
    const int next = static_cast<int>(manager->latest_step().value_or(0)) + 1;
    std::vector<Fault> plan(good, Fault::none);
    plan.insert(plan.end(), 400, Fault::unavailable);
    server_.plan(plan);
    ASSERT_TRUE(manager->save(next, contents_of(next)).ok());
    const Status saved = manager->wait();
    server_.plan({});
    const auto steps = orbax::steps(root_);
    ASSERT_TRUE(steps.ok());
    for (const auto& [step, folder] : *steps) expect_whole(folder, static_cast<int>(step));
    if (saved.ok()) {
      EXPECT_EQ(steps->back().first, next);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Interfaces, CheckpointsInBuckets, ::testing::Values("gst", "s3t"));

}  // namespace
}  // namespace strata::net
