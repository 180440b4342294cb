#include "strata/tree/tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {
struct Num {
  double v = 0;
};
struct Layer {
  Num w, b;
  STRATA_FIELDS(w, b)
};
enum class Mode { train = 1, test = 2 };
struct Model {
  Num embed;
  std::vector<Layer> layers;
  std::map<std::string, Num> extra;
  std::optional<Num> bias;
  std::variant<Num, Layer> head;
  int heads = 4;
  std::string name = "m";
  Mode mode = Mode::train;
  STRATA_FIELDS(embed, layers, extra, bias, head, heads, name, mode)
};
struct Nothing {
  int ignored = 0;
  STRATA_SOME_FIELDS()
};
struct Wide {
  Num a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z;
  STRATA_FIELDS(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z)
};
struct Grid {  // a kind of node of its own
  Num cells[2][2];
};
Model model() {
  return {{1}, {{{2}, {3}}, {{4}, {5}}}, {{"b", {7}}, {"a", {6}}}, Num{8}, Layer{{9}, {10}}};
}
}  // namespace

template <>
inline constexpr bool strata::tree::is_leaf<Num> = true;
template <>
struct strata::tree::Node<Grid> {
  static constexpr const char* open = "#";
  static constexpr const char* close = "#";
  template <class U, class F>
  static void visit(U& t, F&& f) {
    for (std::size_t i = 0; i < 4; ++i) f(Step::element(i), t.cells[i / 2][i % 2]);
  }
};

namespace {
namespace tree = strata::tree;
using testing::ElementsAre;

std::vector<double> values(const auto& t) {
  return tree::map_leaves<double>([](Num n) { return n.v; }, t);
}

TEST(Tree, LeavesComeInTheOrderOfFieldsElementsAndKeys) {
  EXPECT_THAT(values(model()), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
}

TEST(Tree, PathsReadAsCode) {
  EXPECT_THAT(
      tree::paths(model(), "params"),
      ElementsAre("params.embed", "params.layers[0].w", "params.layers[0].b", "params.layers[1].w",
                  "params.layers[1].b", "params.extra['a']", "params.extra['b']", "params.bias[0]",
                  "params.head[1].w", "params.head[1].b"));
}

TEST(Tree, StructureHoldsStaticDataAndTheActiveMember) {
  Model a = model(), b = model();
  EXPECT_EQ(tree::structure(a).text(),
            "{embed: *, layers: [{w: *, b: *}, {w: *, b: *}], extra: {a: *, b: *}, bias: <*>, "
            "head: |{w: *, b: *}|, heads: 4, name: \"m\", mode: 1}");
  EXPECT_EQ(tree::structure(a).leaves(), 10u);
  EXPECT_EQ(tree::structure(a), tree::structure(b));
  b.heads = 8;
  EXPECT_NE(tree::structure(a), tree::structure(b));
  b = model();
  b.bias.reset();
  EXPECT_NE(tree::structure(a), tree::structure(b));
}

TEST(Tree, MapCombinesCorrespondingLeaves) {
  Model sum = tree::map([](Num a, Num b) { return Num{a.v + 10 * b.v}; }, model(), model());
  EXPECT_THAT(values(sum), ElementsAre(11, 22, 33, 44, 55, 66, 77, 88, 99, 110));
  EXPECT_EQ(sum.name, "m");
}

TEST(Tree, MapTakesAnotherTypeOfEqualStructure) {
  std::array<Num, 2> a{Num{1}, Num{2}};
  std::vector<Num> b{{3}, {4}};
  EXPECT_THAT(values(tree::map([](Num x, Num y) { return Num{x.v * y.v}; }, a, b)),
              ElementsAre(3, 8));
}

TEST(Tree, MapRefusesAnotherStructure) {
  try {
    tree::map([](Num x, Num) { return x; }, std::vector<Num>(2), std::vector<Num>(3));
    FAIL();
  } catch (const strata::Error& e) {
    EXPECT_STREQ(e.what(),
                 "tree::map: structure of tree 1 is [*, *, *], that of the first is [*, *]");
  }
}

TEST(Tree, UnflattenUndoesFlatten) {
  Model m = model();
  auto [leaves, structure] = tree::flatten<Num>(m);
  for (Num& n : leaves) n.v += 1;
  Model back = tree::unflatten(m, leaves);
  EXPECT_THAT(values(back), ElementsAre(2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  leaves.pop_back();
  EXPECT_THROW(tree::unflatten(m, leaves), strata::Error);
}

TEST(Tree, TuplesPairsAndOwnNodes) {
  auto t = std::tuple(Num{1}, std::pair(Num{2}, 3), Grid{{{{4}, {5}}, {{6}, {7}}}}, Nothing{});
  EXPECT_EQ(tree::structure(t).text(), "(*, (*, 3), #*, *, *, *#, {})");
  EXPECT_THAT(values(t), ElementsAre(1, 2, 4, 5, 6, 7));
}

TEST(Tree, ManyFields) { EXPECT_EQ(tree::structure(Wide{}).leaves(), 26u); }

static_assert(tree::TreeLike<Model> && !tree::TreeLike<void*>);
static_assert(tree::is_tree<Model> && tree::is_tree<std::pair<Grid, std::vector<Layer>>>);
static_assert(tree::TreeLike<std::vector<void*>> && !tree::is_tree<std::vector<void*>>);
static_assert(!tree::is_tree<std::map<std::string, std::optional<void*>>>);

// Constructors and private members hide from the compiler how many members there are.
template <class Hidden>
class Made {
 public:
  explicit Made(double v) : w{v} {}
  Num w;
  STRATA_FIELDS(w)
 private:
  [[maybe_unused]] Hidden hidden_ = {};
};
class Whole {
 public:
  explicit Whole(double v) : w{v}, name("whole") {}
  virtual ~Whole() = default;
  bool flag = false;
  Num w;
  std::string name;
  STRATA_FIELDS(w, name, flag)
};
class Part {
 public:
  explicit Part(double v) : w{v} {}
  Num w;
  STRATA_SOME_FIELDS(w)
 private:
  [[maybe_unused]] std::string cache_;
};

std::string refusal(const auto& t) {
  try {
    (void)tree::paths(t);
  } catch (const strata::Error& e) {
    return e.what();
  }
  return "";
}

TEST(Fields, AMemberThatAClassLeavesOutIsRefused) {
  EXPECT_EQ(refusal(Made<Num>(1)),
            "STRATA_FIELDS: (w) leaves out a member: 8 of the struct's 16 bytes are of none of "
            "these; list all members, or say STRATA_SOME_FIELDS where no program depends on the "
            "others");
  EXPECT_EQ(refusal(Made<Num>(1)).size(), refusal(Made<Num>(2)).size());  // and again
  EXPECT_NE(refusal(std::vector<Made<std::string>>{Made<std::string>(1)}), "");
  EXPECT_EQ(refusal(std::vector<Made<std::string>>()), "");
}

TEST(Fields, ClassesThatListAllOrSaySoAreTrees) {
  EXPECT_EQ(refusal(Whole(1)), "");
  EXPECT_EQ(refusal(Part(1)), "");
  EXPECT_THAT(values(std::pair(Whole(3), Part(4))), ElementsAre(3, 4));
}
}  // namespace
