#include "strata/mesh/mesh.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/mesh/cursor.h"
#include "strata/mesh/sharding.h"
#include "strata/mesh/spec.h"

namespace strata::mesh {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string error_of(auto f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

const Mesh kMesh({{"x", 2}, {"y", 4}});

TEST(Mesh, PrintsAsShardyAndJaxDo) {
  EXPECT_EQ(kMesh.to_shardy(), R"(<["x"=2, "y"=4]>)");
  EXPECT_EQ(kMesh.to_string(), "Mesh('x': 2, 'y': 4, axis_types=(Auto, Auto))");
  EXPECT_EQ(kMesh.repr(),
            "Mesh(axis_sizes=(2, 4), axis_names=('x', 'y'), axis_types=(Auto, Auto))");
  EXPECT_EQ(Mesh({{"a", 2, AxisType::Explicit}}).to_string(),
            "Mesh('a': 2, axis_types=(Explicit,))");
}

TEST(Mesh, ReadsWhatItPrints) {
  for (const char* text :
       {R"(<["a"=2, "b"=4]>)", R"(<["a"=3, "b"=2], device_ids=[0, 2, 4, 1, 3, 5]>)", "<[]>",
        "<[], device_ids=[3]>", "<[], device_ids=[0]>", R"(<["q\"\\"=1]>)"}) {
    Result<Mesh> mesh = parse_mesh(text);
    ASSERT_TRUE(mesh.ok()) << text << mesh.status().message();
    EXPECT_EQ(mesh->to_shardy(), text);
  }
}

TEST(Mesh, RefusesWhatIsNone) {
  for (auto [text, message] : std::vector<std::pair<const char*, const char*>>{
           {"", "expected '<'"},
           {"<[\"a\"=2]", "expected '>'"},
           {"<[\"a\"=0]>", "size 0"},
           {"<[\"a\"=2, \"a\"=2]>", "stands twice"},
           {"<[\"a\"=99999999999999999999]>", "beyond 64 bits"},
           {"<[\"a\"=2], device_ids=[0, 1]>", "the order itself"},
           {"<[\"a\"=2], device_ids=[1, 2]>", "device 2 of a mesh of 2"},
           {"<[\"a\"=2], device_ids=[1]>", "1 devices for axes whose sizes make 2"},
           {"<[\"a\"=1099511627776]>", "more than the"},
           {"<[\"a\"=2]> x", "something follows"}})
    EXPECT_THAT(parse_mesh(text).status().message(), HasSubstr(message)) << text;
  EXPECT_THAT(error_of([] { return Mesh({{"x", 2}}, {4, 4}); }),
              HasSubstr("device 4 stands twice"));
  EXPECT_THAT(error_of([] { kMesh.axis_size("z"); }), HasSubstr("no axis 'z'"));
}

TEST(AxisRef, PartsOfOneAxis) {
  AxisRef a("a"), b("b");
  auto part = [](std::int64_t pre, std::int64_t size) { return AxisRef("a", pre, size); };
  // The examples of Shardy's attrs.td.
  EXPECT_TRUE(a.contains(part(2, 2)) && part(1, 8).contains(part(1, 4)) && a.contains(a) &&
              part(2, 16).contains(part(4, 2)) && part(2, 2).contains(part(2, 2)));
  EXPECT_FALSE(part(1, 4).contains(part(2, 4)) || part(2, 4).contains(part(1, 2)) ||
               a.contains(AxisRef("b", 1, 2)));
  EXPECT_TRUE(part(1, 2).prefix_of(a) && part(2, 2).prefix_of(part(2, 4)) && a.prefix_of(a));
  EXPECT_FALSE(part(1, 4).prefix_of(part(1, 2)) || part(1, 4).prefix_of(part(2, 8)) ||
               part(1, 2).prefix_of(b));
  EXPECT_TRUE(a.overlaps(part(2, 2)) && part(1, 4).overlaps(part(2, 4)) &&
              part(2, 8).overlaps(part(4, 2)));
  EXPECT_FALSE(part(1, 4).overlaps(part(4, 2)) || part(1, 2).overlaps(part(4, 2)) ||
               part(1, 4).overlaps(AxisRef("b", 2, 4)));
  EXPECT_EQ(a.prefix_without(part(2, 2)), part(1, 2));
  EXPECT_EQ(part(2, 2).prefix_without(part(2, 2)), std::nullopt);
  EXPECT_EQ(part(1, 4).prefix_without(part(2, 4)), part(1, 2));
  EXPECT_EQ(part(2, 4).prefix_without(part(1, 4)), std::nullopt);
  EXPECT_EQ(part(2, 8).prefix_without(part(4, 2)), part(2, 2));
  EXPECT_EQ(part(1, 2).prefix_without(part(4, 2)), part(1, 2));
  EXPECT_EQ(a.common_prefix(a), a);
  EXPECT_EQ(a.common_prefix(b), std::nullopt);
  EXPECT_EQ(part(1, 4).common_prefix(a), part(1, 4));
  EXPECT_EQ(a.common_prefix(part(1, 4)), part(1, 4));
  EXPECT_EQ(part(2, 8).common_prefix(part(2, 4)), part(2, 4));
  EXPECT_TRUE(part(2, 4).can_merge(part(8, 2)));
  EXPECT_FALSE(part(1, 2).can_merge(part(4, 2)) || part(2, 4).can_merge(part(1, 2)));
  AbstractMesh eight({{"a", 8}});
  EXPECT_EQ(part(1, 2).merge(part(2, 4), eight), a);
  EXPECT_EQ(part(1, 2).merge(part(2, 2), eight), part(1, 4));
  EXPECT_THAT(merged({part(1, 2), part(2, 2), part(4, 2)}, eight), ElementsAre(a));
  // A part's coordinate is its digit of the axis' own.
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(part(1, 2).coordinate(eight, i), i / 4);
    EXPECT_EQ(part(2, 2).coordinate(eight, i), i / 2 % 2);
    EXPECT_EQ(part(4, 2).coordinate(eight, i), i % 2);
  }
}

TEST(TensorSharding, ReadsWhatItPrints) {
  for (
      const char* text :
      {R"(#sdy.sharding<@m, [{"a"}, {"b":(1)2, ?}p1, {}, {?}], replicated={"b":(2)2}, unreduced={"c"}>)",
       R"(#sdy.sharding<@m, []>)", R"(#sdy.sharding<mesh<["a"=2]>, [{"a"}p0]>)",
       R"(#sdy.sharding<@"my mesh", [{?}p3], unreduced=max{"x", "y"}>)",
       R"(#sdy.sharding<mesh<[], device_ids=[3]>, []>)"}) {
    Result<TensorSharding> sharding = parse_sharding(text);
    ASSERT_TRUE(sharding.ok()) << sharding.status().message();
    EXPECT_EQ(sharding->to_attribute(), text);
  }
  const char* two = R"(#sdy.sharding_per_value<[<@m, [{"a"}]>, <@m, [{}]>]>)";
  EXPECT_EQ(per_value_attribute(*parse_shardings(two)), two);
  EXPECT_EQ(per_value_attribute(*parse_shardings(R"([#sdy.sharding<@m, [{"a"}]>, <@m, [{}]>])")),
            two);
  EXPECT_EQ(parse_shardings("[]")->size(), 0u);
}

TEST(TensorSharding, EveryPrefixIsRefused) {
  std::string text =
      R"(#sdy.sharding<@m, [{"a"}, {"b":(1)2, ?}p1], replicated={"b":(2)2}, unreduced=max{"c"}>)";
  for (std::size_t n = 0; n < text.size(); ++n)
    EXPECT_FALSE(parse_sharding(text.substr(0, n)).ok()) << text.substr(0, n);
  EXPECT_FALSE(parse_sharding(text + ">").ok());
}

TEST(TensorSharding, IsVerifiedAsShardyDoes) {
  AbstractMesh mesh({{"a", 2}, {"b", 4}, {"c", 8}});
  auto message = [&](const char* text, std::vector<std::int64_t> shape, bool divides = false) {
    return verify(*parse_sharding(text), mesh, shape, divides).message();
  };
  EXPECT_EQ(message(R"(<@m, [{"a"}, {"b"}]>)", {8, 8}), "");
  EXPECT_EQ(message(R"(<@m, [{"a"}]>)", {8, 8}), "sharding doesn't match tensor rank: 1 != 2");
  EXPECT_EQ(message(R"(<@m, [{"z"}]>)", {8}), "unknown axis name: \"z\"");
  EXPECT_EQ(message(R"(<@m, [{"a"}, {"a"}]>)", {8, 8}), "duplicate axis ref: \"a\"");
  EXPECT_EQ(message(R"(<@m, [{"a"}], replicated={"a"}>)", {8}), "duplicate axis ref: \"a\"");
  EXPECT_EQ(message(R"(<@m, [{"c":(1)2, "c":(2)2}]>)", {8}),
            "two consecutive sub-axes can be merged: \"c\":(1)2, \"c\":(2)2");
  EXPECT_EQ(message(R"(<@m, [{"c":(1)4}, {"c":(2)2}]>)", {8, 8}),
            "overlapping sub-axes: \"c\":(1)4, \"c\":(2)2");
  EXPECT_EQ(message(R"(<@m, [{"c":(1)3}]>)", {8}),
            "sub-axis next pre-size 3 doesn't divide the size of the full axis 8: \"c\":(1)3");
  EXPECT_EQ(message(R"(<@m, [{"c":(1)8}]>)", {8}),
            "sub-axis size is equal to the full axis size: \"c\":(1)8");
  EXPECT_EQ(message(R"(<@m, [{"c"}, {"c":(1)2}]>)", {8, 8}),
            "both sub-axis and full-axis are used for axis name: \"c\"");
  EXPECT_EQ(message(R"(<@m, [{}p1]>)", {8}), "dim 0 is empty and closed but has a priority");
  EXPECT_EQ(message(R"(<@m, [{}], replicated={"b", "a"}>)", {8}),
            "replicated axes are not ordered w.r.t. mesh");
  EXPECT_EQ(message(R"(<@m, [{"b"}]>)", {6}), "");
  EXPECT_EQ(message(R"(<@m, [{"b"}]>)", {6}, true),
            "dim 0 with size 6 is not divisible by its sharded size 4");
}

TEST(PartitionSpec, PrintsAsJaxDoes) {
  EXPECT_EQ(P().to_string(), "P()");
  EXPECT_EQ(P{"x"}.to_string(), "P('x',)");
  EXPECT_EQ((P{"x", nullptr}).to_string(), "P('x', None)");
  EXPECT_EQ((P{{"x", "y"}, nullptr}).to_string(), "P(('x', 'y'), None)");
  EXPECT_EQ((P{unconstrained(), "x"}).to_string(), "P(UNCONSTRAINED, 'x')");
  EXPECT_EQ((P{nullptr, "x"}).with_unreduced({"y"}).to_string(), "P(None, 'x', unreduced={'y'})");
  EXPECT_EQ(P{"x"}.with_reduced({"y"}).to_string(), "P('x', reduced={'y'})");
  EXPECT_EQ(P{"x"}.with_reduced({"y"}).cotangent(), P{"x"}.with_unreduced({"y"}));
  EXPECT_EQ(NamedSharding(kMesh, {"x"}, "pinned_host").to_string(),
            "NamedSharding(mesh=Mesh('x': 2, 'y': 4, axis_types=(Auto, Auto)), spec=P('x',), "
            "memory_kind=pinned_host)");
}

TEST(NamedSharding, NamesMistakes) {
  EXPECT_THAT(error_of([] { NamedSharding(kMesh, {"z"}); }), HasSubstr("axis 'z' of P('z',)"));
  EXPECT_THAT(error_of([] { NamedSharding(kMesh, {"x", "x"}); }), HasSubstr("'x' stands twice"));
  EXPECT_THAT(error_of([] { NamedSharding(kMesh, {"x", "y"}).shard_shape({5, 4}); }),
              HasSubstr("dimension 0 of size 5 cannot be cut into 2"));
  EXPECT_THAT(error_of([] { NamedSharding(kMesh, {"x", "y"}).shard_shape({4}); }),
              HasSubstr("2 entries for an array of rank 1"));
  EXPECT_THAT(error_of([] { NamedSharding(kMesh, P{"x"}.with_unreduced({"y"})); }),
              HasSubstr("not Explicit"));
}

// The parts by the definition: coordinates on the axes of the spec, read as one number.
TEST(NamedSharding, EveryDeviceHoldsItsPart) {
  NamedSharding s(kMesh, {{"y", "x"}, nullptr});
  EXPECT_THAT(s.shard_shape({16, 3}), ElementsAre(2, 3));
  auto indices = s.indices({16, 3});
  ASSERT_EQ(indices.size(), 8u);
  for (std::int64_t x = 0; x < 2; ++x)
    for (std::int64_t y = 0; y < 4; ++y) {
      std::int64_t tile = y * 2 + x;
      EXPECT_THAT(indices[x * 4 + y], ElementsAre(Range{tile * 2, tile * 2 + 2}, Range{0, 3}));
    }
}

TEST(NamedSharding, GoesToShardyAndBack) {
  NamedSharding s(kMesh, {{"x", "y"}, nullptr, unconstrained()});
  TensorSharding t = s.to_tensor_sharding("mesh", 4);
  EXPECT_EQ(t.to_attribute(), R"(#sdy.sharding<@mesh, [{"x", "y"}, {}, {?}, {}]>)");
  EXPECT_EQ(to_spec(t).value(), (P{{"x", "y"}, nullptr, unconstrained(), nullptr}));
  EXPECT_THAT(to_spec(*parse_sharding(R"(<@m, [{"a":(1)2}]>)")).status().message(),
              HasSubstr("part of an axis"));
  NamedSharding one(Mesh({{"x", 2}, {"y", 1}}), {{"x", "y"}}),
      other(Mesh({{"x", 2}, {"y", 1}}), {"x"});
  EXPECT_TRUE(one.is_equivalent_to(other, 1));
  EXPECT_FALSE(one.is_equivalent_to(NamedSharding(other.mesh(), {}), 1));
}

}  // namespace
}  // namespace strata::mesh
