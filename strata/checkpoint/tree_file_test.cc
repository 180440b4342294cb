// Trees to files and back in a line each, and what does not match.
#include "strata/checkpoint/tree_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/checkpoint/arrays.h"
#include "strata/core.h"

namespace strata {
namespace {

using ::testing::HasSubstr;

struct Layer {
  Array w, b;
  STRATA_FIELDS(w, b)
};
struct Net {
  std::vector<Layer> layers;
  std::map<std::string, Array> gates;
  Array scale;
  int heads = 2;
  STRATA_FIELDS(layers, gates, scale, heads)
};

std::string temporary(const std::string& name) { return ::testing::TempDir() + name; }

Net net() {
  return {{{arange(6).reshape(2, 3), ones({3})}, {zeros({3, 1}), array({7.0f}, bfloat16)}},
          {{"in", array({true, false})}},
          Array(2.5f),
          4};
}

TEST(TreeFile, ATreeComesBack) {
  const std::string path = temporary("net.safetensors");
  const Net saved = net();
  ASSERT_TRUE(save(saved, path).ok());
  for (const Net& like : {saved, Net{{Layer(), Layer()}, {{"in", Array()}}, Array(), 4}}) {
    const Result<Net> again = load(like, path);
    ASSERT_TRUE(again.ok()) << again.status().message();
    EXPECT_EQ(tree::structure(*again), tree::structure(saved));
    const auto got = tree::leaves<Array>(*again), want = tree::leaves<Array>(saved);
    for (std::size_t i = 0; i < want.size(); ++i) {
      EXPECT_EQ(got[i].type(), want[i].type());
      EXPECT_TRUE(got[i].literal().same_bits(want[i].literal()));
    }
  }
  const auto tensors = checkpoint::load_file(path);
  ASSERT_TRUE(tensors.ok());
  EXPECT_TRUE(tensors->contains("layers[1].b"));
  EXPECT_TRUE(tensors->contains("gates['in']"));
}

TEST(TreeFile, OneArrayIsATree) {
  const std::string path = temporary("one.safetensors");
  ASSERT_TRUE(save(arange(3), path).ok());
  const Result<Array> again = load(Array(), path);
  ASSERT_TRUE(again.ok());
  EXPECT_THAT(again->to_vector<int>(), ::testing::ElementsAre(0, 1, 2));
}

TEST(TreeFile, SaysWhatDoesNotMatch) {
  const std::string path = temporary("differs.safetensors");
  ASSERT_TRUE(save(net(), path).ok());
  auto message = [&](const Net& like) {
    const Result<Net> again = load(like, path);
    EXPECT_EQ(again.status().code(), Code::invalid);
    return again.status().message();
  };
  Net like = net();
  like.layers[0].w = zeros({3, 2});
  EXPECT_THAT(message(like), ::testing::AllOf(HasSubstr("differs.safetensors: layers[0].w is "
                                                        "i32[2,3], and f32[3,2] in the tree")));
  like = net();
  like.layers.emplace_back();
  EXPECT_THAT(message(like), HasSubstr("there is no layers[2].w, which the tree has"));
  like = net();
  like.gates.clear();
  EXPECT_THAT(message(like), HasSubstr("the tree has no gates['in']"));
  EXPECT_EQ(load(net(), temporary("nowhere.safetensors")).status().code(), Code::not_found);
  EXPECT_EQ(save(net(), temporary("no/such/folder.safetensors")).code(), Code::not_found);
  Net none = net();
  none.scale = Array();
  EXPECT_THROW((void)save(none, path), Error);
}

}  // namespace
}  // namespace strata
