// Where norms round: each kind beside its formula, number by number, in bf16.
#include "strata/model/decoder/norms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/api/numpy.h"
#include "strata/api/random.h"
#include "strata/compile/cpu/cpu_client.h"

namespace strata::model::decoder {
namespace {

float rounded(float x) { return static_cast<float>(BFloat16(x)); }

TEST(NormTest, EachKindRoundsWhereUpstreamDoes) {
  compile::register_cpu();
  const Array x = astype(random::normal(random::key(0), {6, 16}), DType::bf16);
  const Array w = astype(random::normal(random::key(1), {16}), DType::bf16);
  const std::vector<float> scale = astype(w, DType::f32).to_vector<float>();
  // The quotient alone, in f32.
  const std::vector<float> unit =
      Norm{.scale = ones({16}), .bias = {}}(astype(x, DType::f32), NormKind::llama, 1e-6)
          .to_vector<float>();
  std::size_t apart = 0;  // numbers for which the place matters
  for (NormKind kind : {NormKind::llama, NormKind::gemma, NormKind::olmo2}) {
    const Array y = Norm{.scale = w, .bias = {}}(x, kind, 1e-6);
    EXPECT_EQ(y.dtype(), DType::bf16);
    const std::vector<float> got = astype(y, DType::f32).to_vector<float>();
    for (std::size_t i = 0; i < got.size(); ++i) {
      const float s = scale[i % 16];
      const float early = rounded(rounded(unit[i]) * s), late = rounded(unit[i] * s);
      if (kind == NormKind::llama) EXPECT_EQ(got[i], early) << i;
      if (kind == NormKind::gemma) EXPECT_EQ(got[i], rounded(unit[i] * (1 + s))) << i;
      if (kind == NormKind::olmo2) EXPECT_EQ(got[i], late) << i;
      if (early != late) ++apart;
    }
  }
  EXPECT_GT(apart, 0u);
}

TEST(NormTest, LayerNormTakesMeanAndDeviationOff) {
  compile::register_cpu();
  const Array x = random::normal(random::key(0), {3, 16}) * 3 + 5;
  const Norm norm{.scale = full({16}, 2.0, DType::f32), .bias = full({16}, 0.5, DType::f32)};
  const Array y = norm(x, NormKind::layer_norm, 1e-9);
  for (float m : mean(y, {.axis = -1}).to_vector<float>()) EXPECT_NEAR(m, 0.5, 1e-5);
  for (float v : var(y, {.axis = -1}).to_vector<float>()) EXPECT_NEAR(v, 4, 1e-4);
}

}  // namespace
}  // namespace strata::model::decoder
