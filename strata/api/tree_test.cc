#include "strata/api/tree.h"

#include "strata/api/testing.h"

namespace strata {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::message_of;
using testing::shows_names;

struct Layer {
  Array w, b;
  STRATA_FIELDS(w, b)
};
struct Net {
  std::vector<Layer> layers;
  std::map<std::string, Array> extra;
  int heads = 2;
  STRATA_FIELDS(layers, extra, heads)
};
Net net() { return {{{Array(1), Array(2)}, {Array(3), Array(4)}}, {{"gate", Array(5)}}}; }
std::vector<int> numbers(const Net& n) {
  return tree::map_leaves<int>([](const Array& x) { return x.item<int>(); }, n);
}

TEST(Tree, LeavesAndStructure) {
  shows_names(
      "tree.flatten tree.leaves tree.unflatten tree.structure tree.map tree_util.tree_flatten "
      "tree_util.tree_leaves tree_util.tree_unflatten tree_util.tree_structure tree_util.tree_map");
  const auto flat = tree_util::tree_flatten(net());
  EXPECT_EQ(flat.leaves.size(), 5U);
  EXPECT_EQ(flat.structure, tree::structure(net()));
  EXPECT_EQ(tree_util::tree_structure(net()).text(),
            "{layers: [{w: *, b: *}, {w: *, b: *}], extra: {gate: *}, heads: 2}");
  EXPECT_EQ(tree_util::tree_leaves(net()).size(), tree::leaves<Array>(net()).size());
  EXPECT_THAT(numbers(tree::unflatten(net(), std::vector<Array>{9, 8, 7, 6, 5})),
              ElementsAre(9, 8, 7, 6, 5));
  EXPECT_THAT(numbers(tree_util::tree_unflatten(net(), std::vector<Array>{5, 6, 7, 8, 9})),
              ElementsAre(5, 6, 7, 8, 9));
  EXPECT_THAT(numbers(tree::map([](Array x, Array y) { return x * y; }, net(), net())),
              ElementsAre(1, 4, 9, 16, 25));
  EXPECT_THAT(numbers(tree_util::tree_map([](Array x) { return -x; }, net())),
              ElementsAre(-1, -2, -3, -4, -5));
  EXPECT_EQ(tree::flatten<Array>(std::vector<Array>{}).structure.leaves(), 0U);
  EXPECT_THAT(message_of([] { tree::unflatten(net(), std::vector<Array>{1}); }),
              HasSubstr("has 5 leaves, got 1"));
}

TEST(Tree, PathsAreKeys) {
  shows_names(
      "tree.flatten_with_path tree.leaves_with_path tree.map_with_path "
      "tree_util.tree_flatten_with_path tree_util.tree_leaves_with_path "
      "tree_util.tree_map_with_path "
      "tree_util.keystr tree_util.GetAttrKey tree_util.SequenceKey tree_util.DictKey");
  using namespace tree_util;
  const auto with = tree::leaves_with_path<Array>(net());
  EXPECT_EQ(with[2].first, (KeyPath{GetAttrKey{"layers"}, SequenceKey{1}, GetAttrKey{"w"}}));
  EXPECT_EQ(with[4].first, (KeyPath{GetAttrKey{"extra"}, DictKey{"gate"}}));
  EXPECT_EQ(with[2].second.item<int>(), 3);
  EXPECT_EQ(keystr(with[2].first), ".layers[1].w");
  EXPECT_EQ(keystr(with[4].first), ".extra['gate']");
  EXPECT_EQ(keystr(with[2].first, {.simple = true, .separator = "/"}), "layers/1/w");
  EXPECT_EQ(keystr({}), "");
  EXPECT_EQ(tree_leaves_with_path(net()).size(), 5U);
  EXPECT_EQ(tree::flatten_with_path<Array>(net()).first.size(), 5U);
  EXPECT_EQ(tree_flatten_with_path(net()).second, tree::structure(net()));
  const auto frozen = [](const KeyPath& path, const Array& x) {
    return keystr(path).ends_with(".b") ? Array(0) : x;
  };
  EXPECT_THAT(numbers(tree::map_with_path(frozen, net())), ElementsAre(1, 0, 3, 0, 5));
  EXPECT_THAT(numbers(tree_map_with_path([](const KeyPath&, Array x, Array y) { return x + y; },
                                         net(), net())),
              ElementsAre(2, 4, 6, 8, 10));
}

TEST(Tree, Reductions) {
  shows_names(
      "tree.reduce tree.reduce_associative tree.all tree_util.tree_reduce "
      "tree_util.tree_reduce_associative tree_util.tree_all");
  const auto minus = [](Array x, Array y) { return x - y; };
  EXPECT_EQ(tree::reduce(minus, net(), Array(20)).item<int>(), 5);
  EXPECT_EQ(tree::reduce<Array>(minus, net()).item<int>(), -13);
  EXPECT_EQ(tree_util::tree_reduce(minus, net(), Array(20)).item<int>(), 5);
  EXPECT_EQ(tree_util::tree_reduce(minus, net()).item<int>(), -13);
  EXPECT_EQ(
      tree::reduce_associative<Array>([](Array x, Array y) { return x + y; }, net()).item<int>(),
      15);
  EXPECT_EQ(
      tree_util::tree_reduce_associative([](Array x, Array y) { return maximum(x, y); }, net())
          .item<int>(),
      5);
  // Neighbours first: ((1 - 2) - (3 - 4)) - 5.
  EXPECT_EQ(tree::reduce_associative<Array>(minus, net()).item<int>(), -5);
  EXPECT_EQ(tree::reduce_associative<Array>(minus, std::vector<Array>{}, Array(7)).item<int>(), 7);
  EXPECT_THAT(message_of([&] { (void)tree::reduce<Array>(minus, std::vector<Array>{}); }),
              HasSubstr("[] has no leaves; give an initial value"));
  EXPECT_THAT(
      message_of([&] { (void)tree::reduce_associative<Array>(minus, std::vector<Array>{}); }),
      HasSubstr("[] has no leaves; give an identity"));
  EXPECT_TRUE(tree::all(net()));
  EXPECT_FALSE(tree_util::tree_all(std::pair(net(), Array(0))));
  EXPECT_TRUE(tree::all(std::vector<Array>{}));
}

TEST(Tree, PrefixesAndTreesOfTrees) {
  shows_names("tree.broadcast tree.transpose tree_util.tree_broadcast tree_util.tree_transpose");
  EXPECT_THAT(numbers(tree::broadcast(Array(7), net())), ElementsAre(7, 7, 7, 7, 7));
  struct Prefix {
    std::vector<Array> layers;
    Array extra;
    STRATA_FIELDS(layers, extra)
  };
  EXPECT_THAT(numbers(tree_util::tree_broadcast(Prefix{{Array(1), Array(2)}, Array(3)}, net())),
              ElementsAre(1, 1, 2, 2, 3));
  EXPECT_THAT(message_of([] { tree::broadcast(Prefix{{Array(1)}, Array(3)}, net()); }),
              HasSubstr("nothing stands at or above .layers[1].w"));

  const std::vector<Layer> rows = net().layers;
  struct Columns {
    std::vector<Array> w, b;
    STRATA_FIELDS(w, b)
  };
  const std::vector<Array> outer(2);
  const Columns columns = tree::transpose<Array>(outer, Layer(), rows, Columns{outer, outer});
  EXPECT_EQ(columns.w[1].item<int>(), 3);
  EXPECT_EQ(columns.b[0].item<int>(), 2);
  EXPECT_EQ(tree_util::tree_transpose(outer, Layer(), rows, Columns{outer, outer}).b[1].item<int>(),
            4);
  EXPECT_THAT(message_of([&] {
                tree::transpose<Array>(std::vector<Array>(3), Layer(), rows, Columns{outer, outer});
              }),
              HasSubstr("3 times 2 leaves are needed, got 4"));
}

TEST(Tree, OneLevel) {
  shows_names(
      "tree_util.flatten_one_level tree_util.flatten_one_level_with_keys tree_util.is_tree_node "
      "tree_util.all_leaves");
  using namespace tree_util;
  std::vector<std::size_t> sizes;
  flatten_one_level(net(),
                    [&](const auto& child) { sizes.push_back(tree::structure(child).leaves()); });
  EXPECT_THAT(sizes, ElementsAre(4, 1, 0));
  std::vector<std::string> keys;
  flatten_one_level_with_keys(
      net(), [&](const KeyEntry& key, const auto&) { keys.push_back(keystr({key})); });
  EXPECT_THAT(keys, ElementsAre(".layers", ".extra", ".heads"));
  static_assert(is_tree_node<Net> && is_tree_node<std::vector<Array>> && !is_tree_node<Array> &&
                !is_tree_node<int> && !is_tree_node<void*>);
  EXPECT_TRUE(all_leaves(std::vector<Array>(2)));
  EXPECT_FALSE(all_leaves(std::vector<Layer>(2)));
  EXPECT_TRUE(all_leaves(std::vector<Layer>()));
}

}  // namespace
}  // namespace strata
