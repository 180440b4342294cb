// Surgery on every packaging, within little memory; what it predicts of losses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>

#include "strata/api/index.h"
#include "strata/api/numpy.h"
#include "strata/base/testing/process_memory.h"
#include "strata/checkpoint/any_format.h"
#include "strata/checkpoint/safetensors.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/model/convert/convert.h"
#include "strata/model/pretrained.h"
#include "strata/model/surgery/surgery.h"

namespace strata::model {
namespace {

namespace fs = std::filesystem;
namespace any_format = checkpoint::any_format;

const std::string kLlama =
    (fs::path(__FILE__).parent_path().parent_path() / "testdata/published/llama").string();

class SurgeryFormats : public testing::Test {
 protected:
  static void SetUpTestSuite() { compile::register_cpu(); }
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string at(const std::string& name) const { return (folder_ / name).string(); }
  static void expect_ok(const Result<Surgery>& done) {
    ASSERT_TRUE(done.ok()) << done.status().message();
  }
  /// The model of a directory in each packaging, by name.
  std::map<std::string, std::string> packagings(const std::string& dense) const {
    std::map<std::string, std::string> out = {{"sharded", at("sharded")},
                                              {"gguf", at("dense.gguf")},
                                              {"strata", at("run/checkpoints")},
                                              {"orbax", at("orbax/0")},
                                              {"maxtext", at("maxtext/0")}};
    SurgeryOptions small;
    small.shard_bytes = 4096;
    expect_ok(slice_layers(dense, out["sharded"], {.layers = "0-2", .write = small}));
    EXPECT_TRUE(fs::exists(out["sharded"] + "/model.safetensors.index.json"));
    EXPECT_TRUE(convert(dense, out["gguf"]).ok());
    EXPECT_TRUE(convert(dense, out["strata"], {.format = "strata"}).ok());
    const auto saved = any_format::find(out["strata"]);
    EXPECT_TRUE(saved.ok());
    EXPECT_TRUE(any_format::write(out["orbax"], *saved->checkpoint, any_format::Format::orbax,
                                  {.shards = 2})
                    .ok());
    EXPECT_TRUE(convert(dense, out["maxtext"], {.format = "maxtext"}).ok());
    return out;
  }

 private:
  fs::path folder_;
};

using Verb = std::function<Result<Surgery>(const std::string& from, const std::string& to,
                                           const SurgeryOptions& write)>;

TEST_F(SurgeryFormats, EveryVerbOnEveryPackaging) {
  const auto from = packagings(kLlama);
  const std::pair<const char*, Verb> verbs[] = {
      {"upscale",
       [](auto& f, auto& t, auto& w) { return upscale(f, t, {.to_layers = 4, .write = w}); }},
      {"upcycle",
       [](auto& f, auto& t, auto& w) {
         return upcycle(f, t,
                        {.experts = 4, .active = 2, .granularity = 2, .noise = 0.1, .write = w});
       }},
      {"prune",
       [](auto& f, auto& t, auto& w) {
         return prune(f, t, {.drop_layers = "1", .mlp_width = 12, .write = w});
       }},
      {"slice",
       [](auto& f, auto& t, auto& w) { return slice_layers(f, t, {.layers = "0,2", .write = w}); }},
      {"merge", [](auto& f, auto& t, auto& w) {
         return merge_models({f, kLlama}, t, {.weights = {3, 1}, .write = w});
       }}};
  for (const auto& [name, verb] : verbs) {
    const SurgeryOptions wide = {.type = "F32"};
    const std::string want = at(std::string("want-") + name);
    expect_ok(verb(kLlama, want, wide));
    for (const auto& [packaging, path] : from) {
      SCOPED_TRACE(std::string(name) + " of " + packaging);
      SurgeryOptions write = wide;
      if (packaging == "maxtext") write.config = kLlama;
      const std::string to = at(std::string(name) + "-" + packaging);
      expect_ok(verb(path, to, write));
      const auto same = compare(want, to);
      ASSERT_TRUE(same.ok()) << same.status().message();
      // MaxText folds a factor into queries, which is rounded once.
      EXPECT_TRUE(packaging == "maxtext" ? same->relative <= 1e-5 : same->same_bits)
          << same->relative;
    }
  }
  // Nothing is left beside what was written.
  for (const auto& entry : fs::directory_iterator(fs::path(at("x")).parent_path()))
    for (const char* trace : {".source", ".directory", ".compared"})
      EXPECT_EQ(entry.path().string().find(trace), std::string::npos) << entry.path();
}

TEST_F(SurgeryFormats, EveryTarget) {
  const UpcycleOptions o{.experts = 4, .active = 2};
  for (const auto& [format, name] : {std::pair("gguf", "a.gguf"), std::pair("strata", "b"),
                                     std::pair("maxtext", "c/0"), std::pair("hugging_face", "d")}) {
    SCOPED_TRACE(format);
    UpcycleOptions one = o;
    one.write.format = format, one.write.shard_bytes = 4096;
    const auto done = upcycle(kLlama, at(name), one);
    expect_ok(done);
    const std::string config = at(std::string(format) + ".json");
    std::ofstream(config) << done->config;
    const auto same = compare(kLlama, at(name), {.second_config = config});
    ASSERT_TRUE(same.ok()) << same.status().message();
    EXPECT_LE(same->relative, 1e-5);
  }
  EXPECT_TRUE(fs::exists(at("d/model.safetensors.index.json")));
}

TEST_F(SurgeryFormats, ScalingByPowersOfTwoIsExact) {
  // Each expert is its slice of the dense branch, to the bit; down times G, which rounds nothing.
  const auto dense = checkpoint::read_safetensors(kLlama + "/model.safetensors").value().tensors;
  for (const std::int64_t g : {2, 4, 8}) {
    SCOPED_TRACE(g);
    const std::string to = at(std::to_string(g));
    const auto done = upcycle(kLlama, to, {.experts = 2 * g, .active = g, .granularity = g});
    expect_ok(done);
    EXPECT_TRUE(done->same_function) << done->preserves;
    const auto made = checkpoint::read_safetensors(to + "/model.safetensors").value().tensors;
    for (std::int64_t e = 0; e < 2 * g; ++e) {
      const std::string expert = fmt::format("model.layers.1.block_sparse_moe.experts.{}.", e);
      const auto number = [](const Literal& t, std::int64_t i, std::int64_t j) {
        return t.number(i * t.shape()[1] + j);
      };
      const Literal &gate = made.at(expert + "w1.weight"), &down = made.at(expert + "w2.weight");
      const Literal& all_gate = dense.at("model.layers.1.mlp.gate_proj.weight");
      const Literal& all_down = dense.at("model.layers.1.mlp.down_proj.weight");
      const std::int64_t width = gate.shape()[0], begin = e % g * width;
      for (std::int64_t h = 0; h < width; ++h)
        for (std::int64_t d = 0; d < gate.shape()[1]; ++d) {
          ASSERT_EQ(number(gate, h, d), number(all_gate, begin + h, d));
          ASSERT_EQ(number(down, d, h), static_cast<double>(g) * number(all_down, d, begin + h));
        }
    }
    const auto same = compare(kLlama, to);
    EXPECT_LE(same->relative, 1e-6);
  }
  // Whole copies, equally weighted: halves and quarters of what was, added up, are what was, to
  // the bit. Of eighths a sum on the way is rounded.
  for (const std::int64_t active : {1, 2, 4, 8}) {
    const std::string to = at(fmt::format("copies-{}", active));
    expect_ok(upcycle(kLlama, to, {.experts = 8, .active = active, .router_deviation = 0}));
    const auto same = compare(kLlama, to);
    EXPECT_TRUE(same->same_bits || active == 8) << active;
    EXPECT_LE(same->relative, 1e-6) << active;
  }
}

TEST_F(SurgeryFormats, TheFirstLossOfADeeperModelIsThatOfItsLayersInTheirOrder) {
  expect_ok(upscale(kLlama, at("up"), {.to_layers = 4}));
  const auto dense = load(kLlama).value(), up = load(at("up")).value();
  const std::int32_t map[] = {0, 1, 1, 2};
  const Array rows = array({map[0], map[1], map[2], map[3]});
  std::vector<Array> values;
  for (std::size_t i = 0; i < dense.params.size(); ++i) {
    const Array& w = dense.params.value(i);
    values.push_back(dense.params.names()[i].starts_with("layers/") ? take(w, rows, 0) : w);
  }
  Array tokens = astype(arange(24) * 7 % dense.model->vocab_size(), DType::i32);
  tokens = reshape(tokens, {2, 12});
  const Array predicted =
      up.model->token_losses(dense.params.with_values(std::move(values)), tokens, tokens);
  const Array measured = up.model->token_losses(up.params, tokens, tokens);
  EXPECT_TRUE(array_equal(predicted, measured).item<bool>());
  // Where repeats add zero it is the dense model's.
  expect_ok(upscale(kLlama, at("zero"), {.layers = "0,1,1,2", .zero_repeats = true}));
  const auto same = compare(kLlama, at("zero"));
  EXPECT_TRUE(same->same_bits);
  EXPECT_EQ(same->loss_first, same->loss_second);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

/// Runs `f` while this process may take `megabytes` more of memory that is no file's.
template <class F>
void within(int megabytes, F f) {
  ::malloc_trim(0);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_DATA, &before), 0);
  const rlimit limit{process_memory("VmData:") + (rlim_t(megabytes) << 20), before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_DATA, &limit), 0);
  EXPECT_NO_THROW(f());
  ::setrlimit(RLIMIT_DATA, &before);
}

TEST_F(SurgeryFormats, ModelsOfAnySizeTakeLittleMemory) {
  // 71 MB of weights, the largest array of a checkpoint 16.8 MB, the largest tensor 4.2 MB.
  const std::string config =
      R"({"model_type": "llama", "vocab_size": 4096, "hidden_size": 256, "intermediate_size": 2048,
          "num_hidden_layers": 8, "num_attention_heads": 4, "num_key_value_heads": 4,
          "rms_norm_eps": 1e-05, "tie_word_embeddings": false, "dtype": "float32"})";
  {
    checkpoint::TensorFile file;
    const auto add = [&](const std::string& name, std::vector<std::int64_t> shape) {
      file.tensors.emplace(name, Literal(Type(DType::f32, Shape::of(shape))));
    };
    for (int i = 0; i < 8; ++i) {
      const std::string layer = fmt::format("model.layers.{}.", i);
      for (const char* name : {"q", "k", "v", "o"})
        add(layer + "self_attn." + name + "_proj.weight", {256, 256});
      add(layer + "mlp.gate_proj.weight", {2048, 256}),
          add(layer + "mlp.up_proj.weight", {2048, 256});
      add(layer + "mlp.down_proj.weight", {256, 2048});
      add(layer + "input_layernorm.weight", {256});
      add(layer + "post_attention_layernorm.weight", {256});
    }
    add("model.embed_tokens.weight", {4096, 256}), add("lm_head.weight", {4096, 256});
    add("model.norm.weight", {256});
    fs::create_directories(at("dense"));
    ASSERT_TRUE(checkpoint::write_safetensors(at("dense/model.safetensors"), file).ok());
    std::ofstream(at("dense/config.json")) << config;
  }
  ASSERT_TRUE(convert(at("dense"), at("run"), {.format = "strata"}).ok());
  ASSERT_TRUE(any_format::write(at("orbax/0"), *any_format::find(at("run"))->checkpoint,
                                any_format::Format::orbax, {.shards = 8})
                  .ok());
  ASSERT_TRUE(convert(at("dense"), at("maxtext/0"), {.format = "maxtext"}).ok());
  SurgeryOptions small;
  small.shard_bytes = 16 << 20;
  for (const char* from : {"dense", "run", "orbax/0", "maxtext/0"}) {
    SCOPED_TRACE(from);
    const std::string to = at(std::string("to-") + fs::path(from).begin()->string());
    SurgeryOptions write = small;
    if (from == std::string_view("maxtext/0")) write.config = at("dense");
    // Of MaxText's an array is decoded as a whole.
    within(write.config.empty() ? 32 : 56, [&] {
      expect_ok(upcycle(at(from), to + "-experts",
                        {.experts = 4, .active = 2, .granularity = 2, .write = write}));
      if (!write.config.empty()) return;  // what follows reads it in the same way
      expect_ok(upscale(at(from), to + "-deeper", {.to_layers = 10, .write = write}));
      expect_ok(prune(at(from), to + "-narrow", {.mlp_width = 1024, .write = write}));
      expect_ok(merge_models({at(from), at("dense")}, to + "-merged", {.write = write}));
    });
    fs::remove_all(to + "-experts"), fs::remove_all(to + "-deeper"), fs::remove_all(to + "-merged");
  }
  for (const char* format : {"gguf", "strata", "maxtext"}) {
    SCOPED_TRACE(format);
    SurgeryOptions write = small;
    write.format = format, write.type = "BF16";
    within(56, [&] {
      expect_ok(
          upscale(at("dense"), at(std::string("as-") + format), {.to_layers = 10, .write = write}));
    });
  }
}

#endif

}  // namespace
}  // namespace strata::model
