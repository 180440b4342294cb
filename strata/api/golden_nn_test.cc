// How the functions of nn.h are called.
#include "strata/api/golden.h"

namespace strata {
namespace {

#define STRATA_UNARY(name) STRATA_GOLDEN("nn." #name, nn::name(c.x(0)))

STRATA_UNARY(relu);
STRATA_UNARY(relu6);
STRATA_UNARY(sigmoid);
STRATA_UNARY(log_sigmoid);
STRATA_UNARY(softplus);
STRATA_UNARY(sparse_plus);
STRATA_UNARY(sparse_sigmoid);
STRATA_UNARY(soft_sign);
STRATA_UNARY(silu);
STRATA_UNARY(swish);
STRATA_UNARY(mish);
STRATA_UNARY(hard_sigmoid);
STRATA_UNARY(hard_silu);
STRATA_UNARY(hard_swish);
STRATA_UNARY(hard_tanh);
STRATA_UNARY(selu);
STRATA_UNARY(identity);
STRATA_UNARY(tanh);
STRATA_UNARY(log1mexp);

STRATA_GOLDEN("nn.celu", nn::celu(c.x(0), c.array("alpha").value_or(Array(1.0))));
STRATA_GOLDEN("nn.elu", nn::elu(c.x(0), c.array("alpha").value_or(Array(1.0))));
STRATA_GOLDEN("nn.leaky_relu",
              nn::leaky_relu(c.x(0), c.array("negative_slope").value_or(Array(0.01))));
STRATA_GOLDEN("nn.squareplus", nn::squareplus(c.x(0), c.array("b").value_or(Array(4))));
STRATA_GOLDEN("nn.gelu", nn::gelu(c.x(0), c.flag("approximate", true)));
STRATA_GOLDEN("nn.glu", nn::glu(c.x(0), c.integer("axis", -1)));
STRATA_GOLDEN("nn.softmax", nn::softmax(c.x(0), c.has("axis") ? c.axes() : Axes(-1)));
STRATA_GOLDEN("nn.log_softmax", nn::log_softmax(c.x(0), c.has("axis") ? c.axes() : Axes(-1)));
STRATA_GOLDEN("nn.logsumexp",
              nn::logsumexp(c.x(0), {.axis = c.axes(), .keepdims = c.flag("keepdims")}));
STRATA_GOLDEN("nn.logmeanexp",
              nn::logmeanexp(c.x(0), {.axis = c.axes(), .keepdims = c.flag("keepdims")}));
STRATA_GOLDEN("nn.standardize", nn::standardize(c.x(0), c.has("axis") ? c.axes() : Axes(-1),
                                                c.number("epsilon", 1e-5)));
STRATA_GOLDEN("nn.one_hot", nn::one_hot(c.x(0), c.integer("num_classes"),
                                        c.dtype().value_or(float32), c.integer("axis", -1)));

}  // namespace
}  // namespace strata
