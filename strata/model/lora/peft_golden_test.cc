// Adapters beside released PEFT: logits, losses, gradients and merged weights of tiny models with
// what it saved; written again, the same tensors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "strata/api/index.h"
#include "strata/api/numpy.h"
#include "strata/api/transform/grad.h"
#include "strata/api/transform/jit.h"
#include "strata/checkpoint/arrays.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/model/decoder/model.h"
#include "strata/model/lora/peft.h"
#include "strata/model/pretrained.h"

namespace strata::model::lora {
namespace {

using Tensors = std::map<std::string, Array>;

const std::filesystem::path kData =
    std::filesystem::path(__FILE__).parent_path().parent_path() / "testdata";

struct Case {
  const char *name, *base;
};
std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.name; }

Tensors file(const std::string& path) { return checkpoint::load_file(path).value(); }

double most(const Array& a) { return max(abs(a)).item<double>(); }
/// The largest difference, relative to what is wanted.
double distance(const Array& got, const Array& want) {
  EXPECT_EQ(got.shape(), want.shape());
  const double d = most(got - want) / most(want);
  return std::isnan(d) ? 1 : d;
}
bool same_bits(const Array& x, const Array& y) {
  const Literal a = x.literal(), b = y.literal();
  return a.type() == b.type() && std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

class PeftGolden : public testing::TestWithParam<Case> {
 protected:
  static void SetUpTestSuite() { compile::register_cpu(); }
  std::string folder() const { return (kData / "peft" / GetParam().name).string(); }
  std::string base() const { return (kData / "published" / GetParam().base).string(); }
  Tensors golden() const { return file(folder() + "/golden.safetensors"); }
  Adapted adapted() const {
    const Pretrained p = load(base(), {.adapter = folder()}).value();
    return {p.model, p.params};
  }
  static Array logits_of(const Adapted& m, const Array& tokens) {
    return jit([&](const tree::Tree& w, const Array& t) { return m.model->forward(w, t); })(
        m.params, tokens);
  }
};

TEST_P(PeftGolden, GivesItsLogits) {
  const Tensors want = golden();
  const double d = distance(logits_of(adapted(), want.at("tokens")), want.at("logits"));
  EXPECT_LE(d, 1e-5);
}

TEST_P(PeftGolden, PagesGiveThemToo) {
  const Tensors want = golden();
  const Array tokens = want.at("tokens");
  const Adapted m = adapted();
  const auto length = tokens.shape(1);
  const Batch whole{tokens, zeros({2}, DType::i32), full({2}, length, DType::i32),
                    expand_dims(arange(2), 1)};
  const Array logits =
      m.model->extend_pages(m.params, whole, m.model->init_pages(2, length), true).first;
  EXPECT_LE(distance(logits, want.at("logits")), 1e-5);
}

/// PEFT's gradient of a module's tensor as ours of all parts of the module.
TEST_P(PeftGolden, GivesItsLossAndGradients) {
  const Tensors want = golden();
  const Adapted m = adapted();
  const Array tokens = want.at("tokens");
  const Array read = tokens[{slice(), slice(0, -1)}], targets = tokens[{slice(), slice(1, none)}];
  const tree::Tree mine = m.params.filter(adapters()), rest = m.params.filter(!adapters());
  const auto [loss, gradients] = value_and_grad([&](const tree::Tree& p) {
    return mean(m.model->token_losses(tree::merge({rest, p}), read, targets));
  })(mine);
  EXPECT_NEAR(loss.item<double>(), want.at("loss").item<double>(), 1e-5);
  const decoder::Options& o = *decoder::options_of(*m.model);
  std::map<std::string, Array> got;
  for (const Module& module : modules_of(o)) {
    if (!o.adapters.contains(module.path)) continue;
    const bool stacked = module.path.starts_with("layers/");
    for (std::int64_t layer = 0; layer < (stacked ? o.layers : 1); ++layer) {
      const std::string name =
          "gradient.base_model.model." + published::numbered(module.published, layer);
      const auto of = [&](const char* leaf) {
        const Array g = gradients[module.path + "/lora/" + leaf];
        return swapaxes(stacked ? g[static_cast<int>(layer)] : g, 0, 1);
      };
      // A is shared by the parts of a fused matrix, B is theirs one below the other.
      const auto add = [&](const char* ending, const Array& g, auto join) {
        const auto [it, is_new] = got.emplace(name + ending, g);
        if (!is_new) it->second = join(it->second, g);
      };
      add(".lora_A.weight", of("a"), [](const Array& x, const Array& y) { return x + y; });
      add(".lora_B.weight", of("b"),
          [](const Array& x, const Array& y) { return concatenate({x, y}, 0); });
    }
  }
  int compared = 0;
  for (const auto& [name, gradient] : want) {
    if (!name.starts_with("gradient.")) continue;
    ASSERT_TRUE(got.contains(name)) << name;
    EXPECT_LE(distance(got.at(name), gradient), 1e-4) << name;
    ++compared;
  }
  EXPECT_EQ(compared, static_cast<int>(got.size()));
}

TEST_P(PeftGolden, MergesToItsWeights) {
  const Tensors want = golden();
  const Pretrained p = load(base(), {.adapter = folder()}).value();
  const Adapted whole = merged(p.model, p.params);
  EXPECT_FALSE(has_adapters(*whole.model));
  EXPECT_LE(distance(logits_of(whole, want.at("tokens")), want.at("logits")), 1e-5);
  const std::string out = testing::TempDir() + "merged_" + GetParam().name;
  ASSERT_TRUE(save_pretrained(out, p.config, whole.params).ok());
  const Tensors written = file(out + "/model.safetensors");
  std::filesystem::remove_all(out);
  int compared = 0;
  for (const auto& [name, tensor] : want) {
    if (!name.starts_with("merged.")) continue;
    EXPECT_LE(distance(written.at(name.substr(7)), tensor), 1e-6) << name;
    ++compared;
  }
  EXPECT_GT(compared, 0);
}

TEST_P(PeftGolden, WrittenOutItHasTheSameTensors) {
  const std::string out = testing::TempDir() + "peft_" + GetParam().name;
  ASSERT_TRUE(save_peft(out, adapted(), {.base_model = GetParam().base}).ok());
  const Tensors before = file(folder() + "/adapter_model.safetensors");
  const Tensors after = file(out + "/adapter_model.safetensors");
  for (const auto& [name, tensor] : before) {
    if (name.ends_with(".base_layer.weight")) continue;
    ASSERT_TRUE(after.contains(name)) << name;
    EXPECT_TRUE(same_bits(tensor, after.at(name))) << name;
  }
  const Pretrained again = load(base(), {.adapter = out}).value();
  EXPECT_TRUE(tree::equal(again.params, adapted().params));
  std::filesystem::remove_all(out);
}

/// Parts of a fused matrix that went ways of their own still fit into one adapter of PEFT's.
TEST_P(PeftGolden, PartsWithTheirOwnAAreWrittenSideBySide) {
  Adapted m = adapted();
  std::int64_t n = 0;
  m.params = m.params.map([&](const tree::Entry& e, const Array& w) {
    return e.name.ends_with("/lora/a") ? w * (1 + 0.25 * static_cast<double>(n++)) : w;
  });
  const Array tokens = golden().at("tokens");
  const std::string out = testing::TempDir() + "peft_parts_" + GetParam().name;
  ASSERT_TRUE(save_peft(out, m).ok());
  const Pretrained again = load(base(), {.adapter = out}).value();
  std::filesystem::remove_all(out);
  EXPECT_LE(distance(logits_of({again.model, again.params}, tokens), logits_of(m, tokens)), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Adapters, PeftGolden,
                         testing::Values(Case{"llama", "llama"}, Case{"llama_patterns", "llama"},
                                         Case{"qwen2", "qwen2"}, Case{"phi3", "phi3"},
                                         Case{"gpt2", "gpt2"}),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace strata::model::lora
