#include "strata/engine/embedder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "strata/api/numpy.h"
#include "strata/base/error.h"
#include "strata/base/file.h"
#include "strata/compile/cpu/cpu_client.h"

namespace strata::engine {
namespace {

using nlohmann::json;

const std::string kFolder =
    (std::filesystem::path(__FILE__).parent_path() / "testdata/sentences").string();

struct Golden {
  std::vector<std::string> texts;
  std::vector<std::vector<std::int32_t>> tokens;
  std::vector<std::vector<float>> vectors;
};
Golden golden() {
  compile::register_cpu();
  Golden out;
  for (const json& each : json::parse(read_file(kFolder + "/golden.json").value())) {
    out.texts.push_back(each["text"]);
    out.tokens.push_back(each["tokens"]);
    out.vectors.push_back(each["vector"]);
  }
  return out;
}

double cosine(const float* a, const std::vector<float>& b) {
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    const double x = static_cast<double>(a[i]), y = static_cast<double>(b[i]);
    ab += x * y, aa += x * x, bb += y * y;
  }
  return ab / std::sqrt(aa * bb);
}

TEST(Embedder, GivesTheVectorsOfTransformers) {
  const Golden want = golden();
  const Embedder embedder = Embedder::load(kFolder).value();
  for (std::size_t i = 0; i < want.texts.size(); ++i)
    EXPECT_EQ(embedder.tokens(want.texts[i]), want.tokens[i]) << want.texts[i];
  for (const std::int64_t batch : {1, 3, 32}) {
    const Array got = Embedder::load(kFolder, {.batch = batch}).value().vectors(want.texts);
    ASSERT_EQ(got.shape().sizes(), (std::vector<std::int64_t>{9, 16}));
    const std::vector<float> numbers = got.to_vector<float>();
    for (std::size_t i = 0; i < want.texts.size(); ++i) {
      EXPECT_GE(cosine(&numbers[i * 16], want.vectors[i]), 0.99999) << want.texts[i];
      for (std::size_t j = 0; j < 16; ++j)
        EXPECT_NEAR(numbers[i * 16 + j], want.vectors[i][j], 2e-6) << want.texts[i];
    }
  }
}

TEST(Embedder, DividesByTheLengthWhereAsked) {
  const std::vector<std::string> texts = {"A cat sat on the mat.", "one"};
  golden();
  const Embedder plain = Embedder::load(kFolder, {.normalize = false}).value();
  const Array unit = Embedder::load(kFolder).value().vectors(texts), raw = plain.vectors(texts);
  const auto lengths = [](const Array& x) {
    return numpy::sqrt(numpy::sum(x * x, 1)).to_vector<float>();
  };
  EXPECT_THAT(lengths(unit), testing::Each(testing::FloatNear(1, 1e-6f)));
  EXPECT_THAT(lengths(raw), testing::Each(testing::Not(testing::FloatNear(1, 1e-2f))));
  EXPECT_THAT(similarity(unit, raw).to_vector<float>()[0], testing::FloatNear(1, 1e-6f));
}

TEST(Embedder, RefusesWhatIsNoEncoderAndNoTexts) {
  golden();
  EXPECT_THROW((void)Embedder::load(kFolder).value().vectors({}), Error);
  EXPECT_THROW((void)Embedder::load(kFolder, {.batch = 0}), Error);
  EXPECT_EQ(Embedder::load(kFolder + "/nothing").status().code(), Code::not_found);
  const std::string llama = (std::filesystem::path(__FILE__).parent_path().parent_path() /
                             "model/testdata/published/llama")
                                .string();
  const Status decoder = Embedder::load(llama).status();
  EXPECT_EQ(decoder.code(), Code::unsupported);
  EXPECT_THAT(decoder.message(), testing::HasSubstr("llama is no encoder"));
}

TEST(Similarity, IsTheCosine) {
  golden();
  const Array a = array({{3.0f, 4.0f}, {0.0f, 0.0f}}), b = array({{4.0f, 3.0f}, {-3.0f, -4.0f}});
  EXPECT_THAT(similarity(a, b).to_vector<float>(),
              testing::Pointwise(testing::FloatNear(1e-6f), {0.96f, -1.0f, 0.0f, 0.0f}));
}

}  // namespace
}  // namespace strata::engine
