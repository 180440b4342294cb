// A variable by itself: its value, its metadata, copies.
#include "strata/nn/variable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/api/testing.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/nn/state.h"

namespace strata::nn {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Variables : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { compile::register_cpu(); }
};

TEST_F(Variables, MetadataComesAndGoesByName) {
  testing::shows_names("nnx.Variable.has_metadata nnx.Variable.del_metadata");
  Param p(array({1.0f}), {.out_sharding = {"embed"}, .tag = "t", .notes = {{"from", "here"}}});
  for (const char* name : {"out_sharding", "tag", "from"}) {
    EXPECT_TRUE(p.has_metadata(name)) << name;
    p.del_metadata(name);
    EXPECT_FALSE(p.has_metadata(name)) << name;
  }
  EXPECT_TRUE(p.metadata().empty());
  EXPECT_EQ(p.metadata_ref(), nullptr);
  p.set_metadata({.tag = "t", .notes = {{"from", "here"}}});
  try {
    p.del_metadata("form");
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), AllOf(HasSubstr("no metadata form"), HasSubstr("[tag, from]")));
  }
  EXPECT_TRUE(p.has_metadata("from"));
}

TEST_F(Variables, CopiesBringValueAndMetadata) {
  testing::shows_names("nnx.Variable.copy_from nnx.Variable.replace");
  const Param p(array({1.0f, 2.0f}), {.tag = "t"});
  Param q(array({5.0f}));
  q = p;
  EXPECT_EQ(q.to_vector<float>(), (std::vector<float>{1, 2}));
  EXPECT_EQ(q.metadata().tag, "t");
  // An array brings its value alone.
  q = array({7.0f});
  EXPECT_EQ(q.item<float>(), 7);
  EXPECT_EQ(q.metadata().tag, "t");
  const Param r = p.replace(array({3.0f})), s = p.replace(array({3.0f}), {.tag = "u"});
  EXPECT_EQ(r.item<float>(), 3);
  EXPECT_EQ(r.metadata().tag, "t");
  EXPECT_EQ(s.metadata().tag, "u");
  EXPECT_EQ(p.to_vector<float>(), (std::vector<float>{1, 2}));
}

TEST_F(Variables, AreStatesOfOneLeaf) {
  testing::shows_names("nnx.Variable.to_state nnx.Variable.update_from_state");
  const BatchStat mean(array({1.0f, 2.0f}), {.tag = "t"});
  const tree::Tree state = tree::of(mean);
  ASSERT_EQ(state.size(), 1u);
  EXPECT_EQ(state.entry(0).name, "");
  EXPECT_EQ(state.entry(0).kind, &BatchStat::kind());
  BatchStat other(numpy::zeros({2}));
  tree::assign(other, state);
  EXPECT_EQ(other.to_vector<float>(), (std::vector<float>{1, 2}));
  EXPECT_EQ(other.metadata().tag, "t");
}

TEST_F(Variables, PureStatesHaveNeitherKindsNorMetadata) {
  testing::shows_names("nnx.as_pure");
  struct Two {
    BatchStat mean;
    Param kernel;
    STRATA_FIELDS(mean, kernel)
  };
  const Two two{array({1.0f}), Param(array({2.0f}), {.tag = "t"})};
  const tree::Tree pure = as_pure(tree::of(two));
  EXPECT_EQ(pure.names(), (std::vector<std::string>{"mean", "kernel"}));
  for (const tree::Entry& entry : pure.entries()) {
    EXPECT_EQ(entry.kind, &tree::kinds::param) << entry.name;
    EXPECT_EQ(entry.metadata, nullptr) << entry.name;
  }
  EXPECT_EQ(pure["kernel"].state(), two.kernel.state());
}

}  // namespace
}  // namespace strata::nn
