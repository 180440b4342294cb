// Laws of adapters: what a fresh one changes, what it costs, how it merges; wrong requests and
// damaged files.
#include "strata/model/lora/lora.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "strata/api/index.h"
#include "strata/api/numpy.h"
#include "strata/api/packed.h"
#include "strata/api/random.h"
#include "strata/api/transform/grad.h"
#include "strata/api/transform/jit.h"
#include "strata/base/error.h"
#include "strata/base/file.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/model/decoder/model.h"
#include "strata/model/lora/peft.h"
#include "strata/model/pretrained.h"

namespace strata::model::lora {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::filesystem::path kData =
    std::filesystem::path(__FILE__).parent_path().parent_path() / "testdata";

/// A Llama whose matrices fit blocks of 32.
decoder::Options llama(DType dtype = DType::f32) {
  decoder::Options o{.family = "llama",
                     .vocab_size = 40,
                     .width = 32,
                     .layers = 2,
                     .query_heads = 4,
                     .kv_heads = 2,
                     .head_dim = 8,
                     .mlp_width = 64};
  o.attention_scale = 0.35;
  o.ropes = {{.width = 8}};
  o.dtype = dtype;
  o.initial_deviation = 0.3;
  return o;
}

/// The same with all matrices of the layers and the embedding in packed blocks.
Adapted packed_llama(const char* format = "Q4_0") {
  decoder::Options o = llama();
  const tree::Tree dense = decoder::model(o)->init(random::key(1));
  const BlockFormat blocks = BlockFormat::named(format);
  const tree::Tree packed = dense.map([&](const tree::Entry& e, const Array& w) {
    const bool is_table = e.name == "embedder/embedding";
    if (!is_table && !e.name.ends_with("/kernel")) return w;
    o.packed.emplace(e.name, blocks);
    return pack(is_table ? w : swapaxes(w, -1, -2), blocks).blocks;
  });
  return {decoder::model(o), packed};
}
Adapted dense_llama(DType dtype = DType::f32) {
  const ModelPtr m = decoder::model(llama(dtype));
  return {m, m->init(random::key(1))};
}

bool same_bits(const Array& x, const Array& y) {
  const Literal a = x.literal(), b = y.literal();
  return a.type() == b.type() && std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}
double distance(const Array& x, const Array& y) {
  return max(abs(astype(x, DType::f32) - astype(y, DType::f32))).item<double>();
}
template <class F>
std::string refused(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing was thrown";
}
Array tokens() { return random::randint(random::key(5), {2, 7}, 0, 40); }

Adapted with(const Adapted& base, const LoraOptions& options) {
  const ModelPtr m = with_adapters(base.model, options);
  return {m, add_adapters(m, base.params, random::key(3))};
}
/// The same with every B drawn too.
Adapted drawn(Adapted m) {
  std::int64_t n = 0;
  m.params = m.params.map([&](const tree::Entry& e, const Array& w) {
    ++n;
    return e.name.ends_with("/lora/b")
               ? random::normal(random::key(100 + n), w.shape().sizes()) * 0.2
               : w;
  });
  return m;
}

class LoraTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { compile::register_cpu(); }
};

TEST_F(LoraTest, AFreshAdapterChangesNoBit) {
  for (const Adapted& base :
       {dense_llama(), dense_llama(DType::bf16), packed_llama(), packed_llama("Q8_0")}) {
    const Adapted m =
        with(base, {.rank = 3, .alpha = 6, .target_modules = {"all-linear", "lm_head"}});
    const auto logits = [&](const Adapted& a) {
      return jit([&](const tree::Tree& w) { return a.model->forward(w, tokens()); })(a.params);
    };
    const auto losses = [&](const Adapted& a) {
      return jit([&](const tree::Tree& w) {
        return a.model->token_losses(w, tokens(), tokens() * 0 + 3);
      })(a.params);
    };
    EXPECT_TRUE(same_bits(logits(base), logits(m)));
    EXPECT_TRUE(same_bits(losses(base), losses(m)));
    EXPECT_FALSE(same_bits(logits(base), logits(drawn(m))));
  }
}

TEST_F(LoraTest, ItsLeavesStandBesideTheWeights) {
  const Adapted base = dense_llama();
  const Adapted m =
      with(base, {.rank = 3, .alpha = 6, .target_modules = {"q_proj", "mlp.down_proj"}});
  EXPECT_THAT(m.params.filter(adapters()).names(),
              ElementsAre("layers/attention/query/lora/a", "layers/attention/query/lora/b",
                          "layers/mlp/down/lora/a", "layers/mlp/down/lora/b"));
  EXPECT_EQ(m.params["layers/mlp/down/lora/a"].shape(), Shape({2, 64, 3}));
  EXPECT_EQ(m.params["layers/mlp/down/lora/b"].shape(), Shape({2, 3, 32}));
  const auto place = *m.params.find("layers/mlp/down/lora/a");
  EXPECT_THAT(m.params.entry(place).metadata->out_sharding,
              ElementsAre("layers", "mlp", "lora_rank"));
  const Adapted back = base_of(m.model, m.params);
  EXPECT_TRUE(tree::equal(back.params, base.params));
  EXPECT_TRUE(same_bits(back.model->forward(back.params, tokens()),
                        base.model->forward(base.params, tokens())));
}

TEST_F(LoraTest, FirstAsAreAsWide) {
  const auto widest = [&](decoder::AdapterInit init) {
    const Adapted m = with(dense_llama(), {.rank = 8, .target_modules = {"q_proj"}, .init = init});
    return max(abs(m.params["layers/attention/query/lora/a"])).item<double>();
  };
  const double peft = 1 / std::sqrt(32.0), he = std::sqrt(6 / 32.0);
  EXPECT_GT(widest(decoder::AdapterInit::kaiming_uniform), 0.9 * peft);
  EXPECT_LE(widest(decoder::AdapterInit::kaiming_uniform), peft);
  EXPECT_GT(widest(decoder::AdapterInit::he_uniform), 0.9 * he);
  EXPECT_LE(widest(decoder::AdapterInit::he_uniform), he);
  EXPECT_NEAR(widest(decoder::AdapterInit::gaussian), 3.3 / 8, 1.0 / 8);
  EXPECT_EQ(init_named("he_uniform"), decoder::AdapterInit::he_uniform);
}

TEST_F(LoraTest, TheFactorIsAlphaOverRankOrItsRoot) {
  EXPECT_EQ((decoder::AdapterOptions{.rank = 4, .alpha = 6}).scale(), 1.5);
  EXPECT_EQ((decoder::AdapterOptions{.rank = 4, .alpha = 6, .rslora = true}).scale(), 3);
}

TEST_F(LoraTest, MergedItComputesTheSame) {
  const Adapted m = drawn(with(dense_llama(), {.rank = 3, .alpha = 6}));
  const Adapted whole = merged(m.model, m.params);
  EXPECT_TRUE(whole.params.filter(adapters()).empty());
  EXPECT_LE(
      distance(whole.model->forward(whole.params, tokens()), m.model->forward(m.params, tokens())),
      1e-4);
  const Adapted narrow =
      drawn(with({m.model ? dense_llama().model : nullptr,
                  dense_llama().params.map([](const Array& w) { return astype(w, DType::bf16); })},
                 {.rank = 3, .alpha = 6}));
  EXPECT_EQ(merged(narrow.model, narrow.params).params["layers/mlp/up/kernel"].dtype(),
            DType::bf16);
}

TEST_F(LoraTest, APackedBaseIsDequantisedOrPackedAgain) {
  const Adapted m =
      drawn(with(packed_llama("Q8_0"), {.rank = 3, .alpha = 6, .target_modules = {"up_proj"}}));
  const Array want = m.model->forward(m.params, tokens());
  const Adapted wide = merged(m.model, m.params);
  EXPECT_EQ(wide.params["layers/mlp/up/kernel"].type().to_string(), "tensor<2x32x64xf32>");
  EXPECT_EQ(wide.params["layers/mlp/down/kernel"].dtype(), DType::ui8);
  EXPECT_LE(distance(wide.model->forward(wide.params, tokens()), want), 1e-4);
  const Adapted again = merged(m.model, m.params, {.packed = true});
  EXPECT_EQ(again.params["layers/mlp/up/kernel"].dtype(), DType::ui8);
  EXPECT_LE(distance(again.model->forward(again.params, tokens()), want),
            0.2 * std::abs(max(want).item<double>()));
  EXPECT_THAT(refused([&] { (void)merged(m.model, m.params, {.unpacked = DType::f16}); }),
              HasSubstr("f32 or bf16"));
}

/// Slopes through packed weights are those through the numbers in the blocks.
TEST_F(LoraTest, GradientsThroughBlocksAreThoseThroughTheirNumbers) {
  for (const char* format : {"Q4_0", "Q8_0"}) {
    const Adapted m = drawn(with(packed_llama(format), {.rank = 3, .alpha = 6}));
    decoder::Options o = *decoder::options_of(*m.model);
    const tree::Tree numbers = m.params.map([&](const tree::Entry& e, const Array& w) {
      const auto it = o.packed.find(e.name);
      if (it == o.packed.end()) return w;
      const Array whole = unpack(Packed{w, it->second});
      return e.name.ends_with("/kernel") ? swapaxes(whole, -1, -2) : whole;
    });
    o.packed.clear();
    const Adapted dense{decoder::model(o), numbers};
    const auto slopes = [&](const Adapted& a) {
      const tree::Tree rest = a.params.filter(!adapters());
      return value_and_grad([&](const tree::Tree& p) {
        return mean(a.model->token_losses(tree::merge({rest, p}), tokens(), tokens() * 0 + 3));
      })(a.params.filter(adapters()));
    };
    const auto [loss, packed] = slopes(m);
    const auto [dense_loss, wanted] = slopes(dense);
    EXPECT_NEAR(loss.item<double>(), dense_loss.item<double>(), 1e-5);
    for (const std::string& name : wanted.names())
      EXPECT_LE(distance(packed[name], wanted[name]), 1e-5) << name;
  }
}

TEST_F(LoraTest, TargetsAreNamesEndsOrExpressions) {
  const decoder::Options o = llama();
  const auto paths = [&](std::vector<std::string> targets) {
    std::vector<std::string> out;
    for (const auto& [path, adapter] : select(o, {.target_modules = std::move(targets)}))
      out.push_back(path);
    return out;
  };
  EXPECT_EQ(paths({"all-linear"}).size(), 7u);
  EXPECT_THAT(paths({"lm_head"}), ElementsAre("logits"));
  EXPECT_THAT(paths({"self_attn.q_proj", "v_proj"}),
              ElementsAre("layers/attention/query", "layers/attention/value"));
  EXPECT_THAT(paths({".*\\.(gate|up)_proj"}), ElementsAre("layers/mlp/gate", "layers/mlp/up"));
  EXPECT_THAT(paths({"layers/mlp/(down|up)"}), ElementsAre("layers/mlp/down", "layers/mlp/up"));
}

TEST_F(LoraTest, WrongRequestsAreRefusedByName) {
  const decoder::Options o = llama();
  const auto why = [&](const LoraOptions& options) {
    return refused([&] { (void)select(o, options); });
  };
  EXPECT_THAT(why({.target_modules = {"proj"}}), HasSubstr("proj"));
  EXPECT_THAT(why({.target_modules = {"proj"}}), HasSubstr("q_proj"));
  EXPECT_THAT(why({.target_modules = {}}), HasSubstr("target_modules is empty"));
  EXPECT_THAT(why({.target_modules = {"embed_tokens"}}), HasSubstr("embeddings"));
  EXPECT_THAT(why({.target_modules = {"model.layers.1.mlp.up_proj"}}), HasSubstr("1 of 2 layers"));
  EXPECT_THAT(why({.target_modules = {"(q_proj"}}), HasSubstr("regular"));
  EXPECT_THAT(why({.rank = 0}), HasSubstr("rank=0"));
  EXPECT_THAT(why({.alpha = 0}), HasSubstr("alpha=0"));
  EXPECT_THAT(refused([] { (void)init_named("pissa"); }), HasSubstr("kaiming_uniform"));
  const Adapted m = with(dense_llama(), {});
  EXPECT_THAT(refused([&] { (void)with_adapters(m.model, LoraOptions{}); }),
              HasSubstr("has adapters"));
  decoder::Options tied = o;
  tied.tied = true;
  EXPECT_THAT(refused([&] { (void)select(tied, {.target_modules = {"lm_head"}}); }),
              HasSubstr("no such matrix"));
  EXPECT_THAT(refused([&] { (void)save_peft("nowhere", dense_llama()); }),
              HasSubstr("no adapters"));
}

// ---- files -------------------------------------------------------------------------------------

std::string config_with(const std::string& more) {
  return R"({"peft_type": "LORA", "r": 4, "lora_alpha": 6)" + more + "}";
}

TEST_F(LoraTest, ConfigurationsThatMeanMoreAreRefused) {
  const auto why = [](const std::string& more) {
    return refused([&] { (void)PeftConfig::parse(config_with(more)); });
  };
  EXPECT_THAT(why(R"(, "use_dora": true)"), HasSubstr("use_dora"));
  EXPECT_THAT(why(R"(, "bias": "all")"), HasSubstr("bias"));
  EXPECT_THAT(why(R"(, "modules_to_save": ["lm_head"])"), HasSubstr("modules_to_save"));
  EXPECT_THAT(why(R"(, "lora_bias": true)"), HasSubstr("lora_bias"));
  EXPECT_THAT(why(R"(, "alora_invocation_tokens": [1])"), HasSubstr("alora"));
  EXPECT_THAT(why(R"(, "layer_replication": [[0, 2]])"), HasSubstr("layer_replication"));
  EXPECT_THAT(why(R"(, "init_lora_weights": "pissa")"), HasSubstr("pissa"));
  EXPECT_THAT(why(R"(, "trainable_token_indices": [3])"), HasSubstr("trainable_token_indices"));
  EXPECT_THAT(why(R"(, "of_tomorrow": 1)"), HasSubstr("of_tomorrow"));
  EXPECT_THAT(why(R"(, "rank_pattern": {"layers\\.1\\..*": 3})"), HasSubstr("regular expression"));
  EXPECT_THAT(why(R"(, "rank_pattern": {"q_proj": 0})"), HasSubstr("rank_pattern"));
  EXPECT_THAT(why(R"(, "alpha_pattern": [3])"), HasSubstr("alpha_pattern"));
  EXPECT_THAT(refused([] { (void)PeftConfig::parse(R"({"peft_type": "IA3"})"); }),
              HasSubstr("IA3"));
  EXPECT_THAT(refused([] { (void)PeftConfig::parse("[]"); }), HasSubstr("JSON"));
  EXPECT_THAT(refused([] { (void)PeftConfig::parse(R"({"peft_type": "LORA", "r": 1e9})"); }),
              HasSubstr("r:"));
}

TEST_F(LoraTest, PatternsHoldAtADotTheFirstOne) {
  const PeftConfig c = PeftConfig::parse(config_with(
      R"(, "rank_pattern": {"mlp.up_proj": 2, "up_proj": 3}, "alpha_pattern": {"q_proj": 1.5})"));
  EXPECT_EQ(c.of("model.layers.0.mlp.up_proj").rank, 2);
  EXPECT_EQ(c.of("model.layers.0.other.up_proj").rank, 3);
  EXPECT_EQ(c.of("model.layers.0.mlp.group_proj").rank, 4);
  EXPECT_EQ(c.of("model.layers.0.self_attn.q_proj").alpha, 1.5);
}

/// A folder that is removed at the end.
class Folder {
 public:
  explicit Folder(const std::string& name) : path(testing::TempDir() + name) {
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  void write(const char* file, const std::string& bytes) const {
    std::ofstream(path + "/" + file, std::ios::binary) << bytes;
  }
  std::string path;
};

TEST_F(LoraTest, DamagedFilesAreStatuses) {
  const std::string of = (kData / "peft" / "llama").string();
  const Pretrained base = load((kData / "published" / "llama").string()).value();
  const std::string config = read_file(of + "/adapter_config.json").value();
  const std::string tensors = read_file(of + "/adapter_model.safetensors").value();
  const Folder folder("damaged_adapter");
  const auto status = [&] { return load_peft(folder.path, base.model, base.params).status(); };
  EXPECT_EQ(status().code(), Code::not_found);
  folder.write("adapter_config.json", config);
  EXPECT_EQ(status().code(), Code::not_found);
  folder.write("adapter_model.bin", "pickle");
  EXPECT_EQ(status().code(), Code::unsupported);
  folder.write("adapter_model.safetensors", tensors);
  EXPECT_TRUE(status().ok());
  for (std::size_t cut = 0; cut < tensors.size(); cut += 97) {
    folder.write("adapter_model.safetensors", tensors.substr(0, cut));
    EXPECT_FALSE(status().ok()) << cut;
  }
  // Every byte of the header changed: refused, or the change is one that says nothing.
  for (std::size_t at = 0; at < 1200; at += 7) {
    std::string changed = tensors;
    changed[at] = static_cast<char>(changed[at] ^ 5);
    folder.write("adapter_model.safetensors", changed);
    (void)status();
  }
  folder.write("adapter_model.safetensors", tensors);
  for (std::size_t cut = 0; cut < config.size() - 2; cut += 13) {
    folder.write("adapter_config.json", config.substr(0, cut));
    EXPECT_EQ(status().code(), Code::invalid) << cut;
  }
  folder.write("adapter_config.json", config_with(R"(, "rank_pattern": {"q_proj": 7})"));
  EXPECT_THAT(status().message(), HasSubstr("should be [7, 16]"));
}

TEST_F(LoraTest, AnAdapterOfAnotherModelIsRefused) {
  const Pretrained other = load((kData / "published" / "gpt2").string()).value();
  const Status s =
      load_peft((kData / "peft" / "llama").string(), other.model, other.params).status();
  EXPECT_EQ(s.code(), Code::unsupported);
  EXPECT_THAT(s.message(), HasSubstr("no adapter of this model's matrices"));
}

TEST_F(LoraTest, LayersOfTwoKindsHaveNone) {
  const Pretrained gemma4 = load((kData / "published" / "gemma4").string()).value();
  EXPECT_THAT(refused([&] { (void)select(*decoder::options_of(*gemma4.model), {}); }),
              HasSubstr("adapters of gemma4_text, whose layers are of two kinds"));
}

}  // namespace
}  // namespace strata::model::lora
