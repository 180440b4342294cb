// All-reduces that stand at one place: which are joined and which are not.
#include "strata/partition/addends/join_reduces.h"

#include <gtest/gtest.h>

#include "strata/base/error.h"
#include "strata/ir/text/parser.h"
#include "strata/ir/text/printer.h"
#include "strata/ir/verify.h"
#include "strata/op/collective/world.h"

namespace strata::spmd {
namespace {

std::string reduce(const std::string& to, const std::string& from, const std::string& type,
                   const std::string& combiner = "add", const std::string& groups = "[[0, 1]]") {
  return "  " + to + " = \"stablehlo.all_reduce\"(" + from + ") ({\n^bb0(%a: tensor<" +
         type.substr(type.rfind('x') + 1) + ">, %b: tensor<" + type.substr(type.rfind('x') + 1) +
         ">):\n  %s = stablehlo." + combiner + " %a, %b : tensor<" +
         type.substr(type.rfind('x') + 1) + ">\n  stablehlo.return %s : tensor<" +
         type.substr(type.rfind('x') + 1) + ">\n}) {replica_groups = dense<" + groups +
         "> : tensor<" + (groups == "[[0, 1]]" ? "1x2" : "2x1") +
         "xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, "
         "use_global_device_ids} : (tensor<" +
         type + ">) -> tensor<" + type + ">\n";
}

struct Joined {
  std::unique_ptr<ir::Module> module;
  int joined;
  std::size_t reduces = 0;
};
Joined joined(const std::string& body, const std::string& results, const std::string& types,
              std::int64_t most = 1 << 20) {
  auto module =
      ir::parse("func.func @main(%x: tensor<3xf32>, %y: tensor<2x2xf32>, %z: tensor<4xi32>) -> (" +
                    types + ") {\n" + body + "  return " + results + " : " + types + "\n}\n",
                "test");
  if (!module) throw Error("test", "{}", module.status().message());
  Joined out{std::move(*module), 0};
  ir::Block& block = out.module->entry()->body;
  out.joined = join_all_reduces(block, most);
  const Status status = ir::verify(*out.module);
  if (!status.ok()) throw Error("test", "{}", status.message());
  ir::walk(block, [&](const ir::Op& op) { out.reduces += op.name() == "stablehlo.all_reduce"; });
  return out;
}

TEST(JoinReduces, NeighboursBecomeOne) {
  const std::string body =
      reduce("%0", "%x", "3xf32") + "  %c = stablehlo.constant dense<1.0> : tensor<3xf32>\n" +
      reduce("%1", "%y", "2x2xf32") + "  %2 = stablehlo.add %0, %c : tensor<3xf32>\n";
  const Joined j = joined(body, "%2, %1", "tensor<3xf32>, tensor<2x2xf32>");
  EXPECT_EQ(j.joined, 1);
  EXPECT_EQ(j.reduces, 1u);
}

TEST(JoinReduces, OthersStayApart) {
  const auto apart = [](const std::string& second, const std::string& type) {
    const Joined j = joined(reduce("%0", "%x", "3xf32") + second, "%0, %1",
                            "tensor<3xf32>, tensor<" + type + ">");
    return j.reduces == 2 && j.joined == 0;
  };
  EXPECT_TRUE(apart(reduce("%1", "%0", "3xf32"), "3xf32"));  // of the first's result
  EXPECT_TRUE(apart(reduce("%1", "%z", "4xi32"), "4xi32"));  // another element type
  EXPECT_TRUE(apart(reduce("%1", "%y", "2x2xf32", "maximum"), "2x2xf32"));
  EXPECT_TRUE(apart(reduce("%1", "%y", "2x2xf32", "add", "[[0], [1]]"), "2x2xf32"));
  EXPECT_TRUE(apart("  %t = stablehlo.sine %y : tensor<2x2xf32>\n" +  // behind a computation
                        reduce("%1", "%t", "2x2xf32"),
                    "2x2xf32"));
}

TEST(JoinReduces, RegionsThatUseOneAreRewritten) {
  const std::string body =
      reduce("%0", "%y", "2x2xf32") + reduce("%1", "%y", "2x2xf32") +
      "  %p = stablehlo.constant dense<true> : tensor<i1>\n"
      "  %2 = \"stablehlo.if\"(%p) ({\n    stablehlo.return %0 : tensor<2x2xf32>\n  }, {\n"
      "    stablehlo.return %1 : tensor<2x2xf32>\n  }) : (tensor<i1>) -> tensor<2x2xf32>\n";
  EXPECT_EQ(joined(body, "%2", "tensor<2x2xf32>").reduces, 1u);
}

TEST(JoinReduces, UpToSoManyBytes) {
  const std::string body =
      reduce("%0", "%y", "2x2xf32") + reduce("%1", "%y", "2x2xf32") + reduce("%2", "%y", "2x2xf32");
  const std::string types = "tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>";
  EXPECT_EQ(joined(body, "%0, %1, %2", types, 32).reduces, 2u);
  EXPECT_EQ(joined(body, "%0, %1, %2", types, 48).reduces, 1u);
  EXPECT_EQ(joined(body, "%0, %1, %2", types, 16).reduces, 3u);
}

}  // namespace
}  // namespace strata::spmd
