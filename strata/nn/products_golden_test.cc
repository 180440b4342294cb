// Products beside Flax's: Linear, LinearGeneral, Einsum, Conv, ConvTranspose, Embed, LoRA.
#include "strata/nn/linear.h"
#include "strata/nn/nnx_golden.h"

namespace strata::nn {
namespace {

TEST(NnxProducts, AreFlaxs) {
  NnxGolden golden("products");
  golden.on<Linear>(
      "Linear",
      [](const json& args, Rngs& rngs) {
        LinearOptions o;
        o.use_bias = args.value("use_bias", true);
        if (args.contains("dtype")) o.product.dtype = golden_dtype(args["dtype"]);
        if (args.contains("param_dtype")) o.param_dtype = golden_dtype(args["param_dtype"]);
        if (args.contains("preferred_element_type"))
          o.product.preferred_element_type = golden_dtype(args["preferred_element_type"]);
        return Linear(args["in_features"], args["out_features"], rngs, o);
      },
      [](Linear& l, const NnxCall& call) { return l(call.inputs[0]); });
  golden.run();
}

}  // namespace
}  // namespace strata::nn
