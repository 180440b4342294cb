// Models with experts by MaxText's command lines: their keys, what is refused, and tiny runs that
// stop and go on.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "strata/base/file.h"
#include "strata/base/progress.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/model/decoder/model.h"
#include "strata/model/decoder/weights.h"
#include "strata/model/registry.h"
#include "strata/train/maxtext/models.h"
#include "strata/train/maxtext/translate.h"
#include "strata/train/report/mesh_report.h"
#include "strata/train/report/metrics.h"
#include "strata/train/run.h"
#include "strata/train/step/parallelism.h"
#include "strata/train/step/step_program.h"

namespace strata::train::maxtext {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class MaxTextExperts : public testing::Test {
 protected:
  MaxTextExperts() {
    compile::register_cpu();
    std::string name = testing::TempDir() + "experts_XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~MaxTextExperts() override { fs::remove_all(folder_); }

  Resolved of(std::vector<std::string> line) const {
    const Surroundings nothing = {[](const std::string&) -> const char* { return nullptr; }, 1};
    line.push_back("base_output_directory=" + folder_);
    return resolve(line, nothing);
  }
  std::string refusal(std::vector<std::string> line) const {
    line.insert(line.end(), {"run_name=r", "dataset_type=synthetic", "per_device_batch_size=1"});
    try {
      (void)translate(of(line));
    } catch (const ConfigError& e) {
      return e.what();
    }
    return "";
  }
  /// A model of some thousand weights.
  std::vector<std::string> tiny(const std::string& model, std::vector<std::string> more) const {
    std::vector<std::string> out = {"model_name=" + model,
                                    "override_model_config=true",
                                    "base_emb_dim=16",
                                    "base_num_query_heads=2",
                                    "base_num_kv_heads=2",
                                    "head_dim=8",
                                    "base_mlp_dim=24",
                                    "base_moe_mlp_dim=24",
                                    "base_num_decoder_layers=2",
                                    "vocab_size=256",
                                    "num_experts=4",
                                    "num_experts_per_tok=2",
                                    "max_target_length=24",
                                    "per_device_batch_size=4",
                                    "dataset_type=synthetic",
                                    "dtype=float32",
                                    "learning_rate=1e-2",

                                    "enable_dropout=false"};
    out.insert(out.end(), more.begin(), more.end());
    return out;
  }
  /// Steps and losses as written, without times.
  std::vector<std::string> train(const std::vector<std::string>& line, const std::string& name) {
    Translation t = translate(of(line));
    if (t.synthetic) {
      fs::create_directories(fs::path(t.synthetic->first).parent_path());
      std::ofstream(t.synthetic->first) << t.synthetic->second;
    }
    const int out =
        ::open((folder_ + "/" + name + ".log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    Progress progress(out);
    const Config c = read_config({}, t.keys);
    const auto result = run(c, progress);
    ::close(out);
    EXPECT_TRUE(result.ok()) << result.status().message();
    std::vector<std::string> lines;
    std::ifstream in(metrics_path(c));
    for (std::string each; std::getline(in, each);) {
      const auto from = each.find(",\"perf/"), to = each.find(",\"learning/moe");
      EXPECT_NE(to, std::string::npos) << each;
      lines.push_back(each.substr(0, from) + each.substr(to));
    }
    return lines;
  }
  std::string folder_;
};

TEST_F(MaxTextExperts, ModelFilesBecomePublishedConfigurations) {
  const auto config = [&](const std::string& name) {
    return json::parse(model_config(of({"run_name=r", "model_name=" + name})));
  };
  const json mixtral = config("mixtral-8x7b");
  EXPECT_EQ(mixtral["model_type"], "mixtral");
  EXPECT_EQ(mixtral["num_local_experts"], 8);
  EXPECT_EQ(mixtral["intermediate_size"], 14336);
  EXPECT_FALSE(mixtral.contains("capacity_factor"));
  const json qwen = config("qwen3-30b-a3b");
  EXPECT_EQ(qwen["model_type"], "qwen3_moe");
  EXPECT_EQ(qwen["num_experts"], 128);
  EXPECT_EQ(qwen["moe_intermediate_size"], 768);
  const json v3 = config("deepseek3-671b");
  EXPECT_EQ(v3["model_type"], "deepseek_v3");
  EXPECT_EQ(v3["first_k_dense_replace"], 3);
  EXPECT_EQ(v3["n_shared_experts"], 1);
  EXPECT_EQ(v3["rope_scaling"]["factor"], 40.0);
  EXPECT_EQ(config("deepseek2-16b")["model_type"], "deepseek_v2");
  const json kimi = config("kimi-k2-1t");
  EXPECT_EQ(kimi["routed_scaling_factor"], 2.827);
  EXPECT_EQ(kimi["rope_scaling"]["beta_fast"], 1.0);
  const json oss = config("gpt-oss-20b");
  EXPECT_EQ(oss["model_type"], "gpt_oss");
  EXPECT_EQ(oss["rope_parameters"]["truncate"], false);
  EXPECT_EQ(oss["swiglu_limit"], 7.0);
  const json scout = config("llama4-17b-16e");
  EXPECT_EQ(scout["no_rope_layers"][3], 0);
  EXPECT_EQ(scout["no_rope_layers"][4], 1);
  EXPECT_EQ(scout["moe_layers"].size(), 48U);
  EXPECT_EQ(scout["rope_scaling"]["rope_type"], "llama3");
  EXPECT_EQ(scout["use_qk_norm"], true);
  const json maverick = config("llama4-17b-128e");
  EXPECT_EQ(maverick["moe_layers"][1], 3);
  EXPECT_EQ(maverick["intermediate_size_mlp"], 16384);
  EXPECT_FALSE(maverick.contains("rope_scaling"));
  const json next = config("qwen3-next-80b-a3b");
  EXPECT_EQ(next["full_attention_interval"], 4);
  EXPECT_EQ(next["linear_num_value_heads"], 32);
  EXPECT_EQ(next["shared_expert_intermediate_size"], 512);
  // The published sizes in thousand millions of weights.
  for (const auto& [name, weights] : {std::pair("mixtral-8x7b", 46.7),
                                      {"qwen3-30b-a3b", 30.5},
                                      {"deepseek3-671b", 671.0},
                                      {"deepseek2-16b", 15.7},
                                      {"kimi-k2-1t", 1026.0},
                                      {"gpt-oss-20b", 20.9},
                                      {"gpt-oss-120b", 116.8},
                                      {"llama4-17b-16e", 107.8},
                                      {"llama4-17b-128e", 400.7},
                                      {"qwen3-next-80b-a3b", 79.7}}) {
    const model::ModelPtr m = model::make(
        "published",
        {{"config", model_config(of({"run_name=r", std::string("model_name=") + name}))}});
    double count = 0;
    for (const auto& w : model::decoder::weight_shapes(*model::decoder::options_of(*m))) {
      double size = 1e-9;
      for (const std::int64_t n : w.shape) size *= static_cast<double>(n);
      count += size;
    }
    EXPECT_NEAR(count, weights, 0.01 * weights) << name;
  }
}

TEST_F(MaxTextExperts, KeysReachTheModelAndTheTrainer) {
  const Translation t =
      translate(of(tiny("mixtral-8x7b", {"run_name=r", "sparse_matmul=false", "capacity_factor=1.5",
                                         "load_balance_loss_weight=0.02", "megablox=false"})));
  const Config c = read_config({}, t.keys);
  EXPECT_EQ(c.load_balance_loss_weight, 0.02);
  const model::ModelPtr m = model::make("published", c.model);
  EXPECT_EQ(model::decoder::options_of(*m)->experts.capacity, 1.5);
  EXPECT_EQ(model::decoder::options_of(*m)->experts.active, 2);
  // Where nothing may be dropped, the factor has nothing to say.
  const Translation sparse =
      translate(of(tiny("mixtral-8x7b", {"run_name=r", "capacity_factor=1.5"})));
  EXPECT_THAT(sparse.keys, Not(Contains(HasSubstr("capacity_factor"))));
}

TEST_F(MaxTextExperts, WhatABlockLacksIsRefused) {
  EXPECT_THAT(refusal({"model_name=mixtral-8x7b", "routed_bias=true"}),
              HasSubstr("routed_bias=True is not supported yet"));
  EXPECT_THAT(refusal({"model_name=mixtral-8x7b", "shared_experts=1"}),
              HasSubstr("shared_experts=1 is not supported yet"));
  EXPECT_THAT(refusal({"model_name=qwen3-30b-a3b", "routed_score_func=sigmoid"}),
              HasSubstr("routed_score_func=sigmoid is not supported yet"));
  EXPECT_THAT(refusal({"model_name=mixtral-8x7b", "float32_gate_logits=true"}),
              HasSubstr("float32_gate_logits=True"));
}

// The same bits whether a run goes through or stops in the middle.
TEST_F(MaxTextExperts, ATinyMixtralTrainsTwentyStepsAndGoesOnWithTheSameBits) {
  const auto line = [&](const char* name, const char* steps) {
    return tiny("mixtral-8x7b", {std::string("run_name=") + name, std::string("steps=") + steps,
                                 "learning_rate_schedule_steps=20", "checkpoint_period=10",
                                 "load_balance_loss_weight=0.01", "gradient_accumulation_steps=2"});
  };
  const std::vector<std::string> whole = train(line("whole", "20"), "whole");
  ASSERT_EQ(whole.size(), 20U);
  (void)train(line("parts", "11"), "parts");
  EXPECT_EQ(train(line("parts", "20"), "parts"), whole);
  const auto loss = [](const std::string& each) {
    return json::parse(each)["learning/lm_loss"].get<double>();
  };
  EXPECT_LT(loss(whole.back()), 0.9 * loss(whole.front()));
  const std::string log = read_file(folder_ + "/whole.log").value();
  EXPECT_THAT(log, HasSubstr(", moe_lb_loss: 0.01"));
  EXPECT_THAT(log, HasSubstr("experts: largest load "));
}

TEST_F(MaxTextExperts, LatentAttentionIsCutOverFsdp) {
  // DeepSeek-V3's own widths in two layers: what a chip holds is its share of weights and moments.
  const Resolved r =
      of({"run_name=r", "model_name=deepseek3-671b", "override_model_config=true",
          "base_num_decoder_layers=2", "first_num_dense_layers=1", "compile_topology=v5e-16",
          "compile_topology_num_slices=1", "ici_fsdp_parallelism=-1", "max_target_length=64",
          "num_experts=16", "n_routing_groups=-1", "topk_routing_group=-1",
          "per_device_batch_size=1"});
  const Config c = read_config({}, translate(r, false).keys, Data::optional);
  const StepProgram p = step_program(c, mesh_of(c));
  std::int64_t whole = 0, seen = 0;
  for (const StepValue& a : p.arguments) {
    if (!a.name.starts_with("params.")) continue;
    const bool is_latent = a.name.find("latent_attention") != std::string::npos;
    if (!is_latent || !a.name.ends_with(".kernel")) continue;
    ++seen;
    ASSERT_TRUE(a.sharding.has_value()) << a.name;
    const Shape part = Shape::of(a.sharding->shard_shape(a.type.shape().sizes()));
    whole += part.count() * 16 != a.type.shape().count();
  }
  EXPECT_EQ(whole, 0) << "of " << seen;
  EXPECT_EQ(seen, 10);  // query_a, query_b, kv_a, kv_b, out of both kinds of layers
}

TEST_F(MaxTextExperts, QwenAndDeepSeekTrainToo) {
  const std::vector<std::string> qwen =
      train(tiny("qwen3-30b-a3b", {"run_name=qwen", "steps=6", "load_balance_loss_weight=0.01",
                                   "sparse_matmul=false", "capacity_factor=1.0", "megablox=false"}),
            "qwen");
  ASSERT_EQ(qwen.size(), 6U);
  EXPECT_GT(json::parse(qwen.back())["experts/dropped"].get<double>(), 0);
  const std::vector<std::string> deepseek =
      train(tiny("deepseek3-671b",
                 {"run_name=deepseek", "steps=6", "num_experts=8", "n_routing_groups=4",
                  "topk_routing_group=2", "first_num_dense_layers=1", "q_lora_rank=12",
                  "kv_lora_rank=12", "qk_nope_head_dim=8", "qk_rope_head_dim=4", "v_head_dim=8",
                  "routed_bias_update_rate=0.01", "load_balance_loss_weight=0.001"}),
            "deepseek");
  ASSERT_EQ(deepseek.size(), 6U);
  for (const auto& lines : {qwen, deepseek})
    EXPECT_LT(json::parse(lines.back())["learning/lm_loss"].get<double>(),
              json::parse(lines.front())["learning/lm_loss"].get<double>());
}

TEST_F(MaxTextExperts, GptOssLlamaFourAndQwenNextTrainToo) {
  const std::pair<const char*, std::vector<std::string>> runs[] = {
      {"gpt-oss-20b",
       {"run_name=oss", "sliding_window_size=5", "max_position_embeddings=64",
        "original_max_position_embeddings=16", "rope_factor=4"}},
      {"llama4-17b-128e",
       {"run_name=llama4", "chunk_attn_window_size=8", "base_num_decoder_layers=4",
        "num_experts_per_tok=1", "nope_layer_interval=2", "use_qk_norm=true"}},
      {"qwen3-next-80b-a3b",
       {"run_name=next", "gdn_key_head_dim=4", "gdn_value_head_dim=6", "gdn_num_key_heads=2",
        "gdn_num_value_heads=4", "gdn_conv_kernel_dim=3", "inhomogeneous_layer_cycle_interval=2",
        "partial_rotary_factor=0.5"}},
  };
  for (auto [model, keys] : runs) {
    keys.insert(keys.end(), {"steps=6", "load_balance_loss_weight=0.01"});
    const std::vector<std::string> lines = train(tiny(model, keys), model);
    ASSERT_EQ(lines.size(), 6U) << model;
    EXPECT_LT(json::parse(lines.back())["learning/lm_loss"].get<double>(),
              json::parse(lines.front())["learning/lm_loss"].get<double>())
        << model;
  }
}

// Features of one block in another, and what a block lacks.
TEST_F(MaxTextExperts, WhatAnotherBlockHasIsRefused) {
  EXPECT_THAT(refusal({"attention_sink=true"}), HasSubstr("decoder_block=gpt_oss alone has it"));
  EXPECT_THAT(refusal({"temperature_tuning=true"}), HasSubstr("decoder_block=llama4 alone has it"));
  EXPECT_THAT(refusal({"model_name=gpt-oss-20b", "override_model_config=true",
                       "base_num_decoder_layers=3"}),
              HasSubstr("inhomogeneous_layer_cycle_interval=2 is not supported yet"));
  EXPECT_THAT(refusal({"model_name=llama4-17b-16e", "override_model_config=true",
                       "chunk_attn_window_size=0"}),
              HasSubstr("chunk_attn_window_size=0"));
  EXPECT_THAT(refusal({"model_name=qwen3-next-80b-a3b", "use_qk_norm_in_gdn=false"}),
              HasSubstr("use_qk_norm_in_gdn=False"));
}

}  // namespace
}  // namespace strata::train::maxtext
