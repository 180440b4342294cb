#include "strata/train/maxtext/translate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "strata/model/registry.h"
#include "strata/train/maxtext/effects.h"
#include "strata/train/maxtext/models.h"
#include "strata/train/maxtext/upstream.h"

namespace strata::train::maxtext {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

Resolved of(std::vector<std::string> line) {
  const Surroundings nothing = {[](const std::string&) -> const char* { return nullptr; }, 1};
  line.insert(line.end(), {"run_name=r", "base_output_directory=out"});
  return resolve(line, nothing);
}

std::string refusal(const std::vector<std::string>& line) {
  try {
    (void)translate(of(line));
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "";
}

TEST(MaxTextTranslate, NothingIsComputedAgainByNone) {
  // In YAML none is no value.
  const Translation t = translate(of({"dataset_type=synthetic", "remat_policy=none"}));
  EXPECT_THAT(t.keys, Contains("remat_policy=full_save"));
}

TEST(MaxTextTranslate, PoliciesOfTheBackwardPassAreMaxTexts) {
  const auto policy = [](std::vector<std::string> keys) {
    keys.insert(keys.begin(), "dataset_type=synthetic");
    for (const std::string& key : translate(of(keys)).keys)
      if (key.starts_with("remat_policy=")) return key.substr(key.find('=') + 1);
    return std::string();
  };
  for (const std::string name :
       {"full", "minimal", "minimal_with_context", "save_dot_with_context_except_mlp",
        "save_dot_except_mlpwi", "save_dot_except_mlp", "save_qkv_proj", "save_out_proj"})
    EXPECT_EQ(policy({"remat_policy=" + name}), name);
  EXPECT_EQ(policy({"remat_policy=minimal_with_quantization"}), "minimal");
  EXPECT_EQ(policy({"remat_policy=custom"}), "full");
  EXPECT_EQ(policy({"remat_policy=custom", "query_proj=device", "mlpwo=offload"}),
            "names:query_proj,mlpwo");
  EXPECT_EQ(policy({"remat_policy=minimal_offloaded"}), "minimal");
  EXPECT_THAT(translate(of({"dataset_type=synthetic", "remat_policy=minimal_offloaded"})).notes,
              Contains(testing::HasSubstr("stays in the device's memory")));
  EXPECT_THAT(translate(of({"dataset_type=synthetic", "query_proj=device"})).notes,
              Contains(testing::HasSubstr("query_proj=device accepted, no effect here")));
  EXPECT_THAT(refusal({"dataset_type=synthetic", "remat_policy=some"}),
              testing::HasSubstr("there are none, minimal_with_context, minimal"));
}

TEST(MaxTextTranslate, KeysBecomeThoseOfTheTrainer) {
  const Translation t = translate(
      of({"dataset_type=synthetic", "steps=7", "learning_rate=1e-4", "per_device_batch_size=2",
          "max_target_length=16", "remat_policy=minimal_flash", "model_name=qwen3-0.6b"}));
  EXPECT_THAT(t.keys, Contains("steps=7"));
  EXPECT_THAT(t.keys, Contains("learning_rate=0.0001"));
  EXPECT_THAT(t.keys, Contains("remat_policy=minimal_with_context"));
  EXPECT_THAT(t.keys, Contains("max_num_checkpoints_to_keep=0"));
  ASSERT_TRUE(t.synthetic);
  EXPECT_EQ(t.synthetic->first, "out/r/synthetic.txt");
  EXPECT_EQ(t.synthetic->second.size(), 2 * 16 + 1u);
  const Config c = read_config({}, t.keys);
  EXPECT_EQ(c.decoder_block, "published");
  EXPECT_EQ(c.steps, 7);
  EXPECT_EQ(c.log_period, 1);
}

TEST(MaxTextTranslate, DefaultsOfRatesAndMomentsAreMaxTexts) {
  const Config c =
      read_config({}, translate(of({"dataset_type=synthetic", "per_device_batch_size=1"})).keys);
  EXPECT_EQ(c.learning_rate, 3e-5);
  EXPECT_EQ(c.adam_b2, 0.95);
  EXPECT_EQ(c.steps, 150001);
  EXPECT_EQ(c.learning_rate_schedule_steps, 150001);
  EXPECT_EQ(c.checkpoint_period, 10000);
}

TEST(MaxTextTranslate, ModelsHaveTheirPublishedConfigurations) {
  const auto config = [](const std::string& name) {
    // MaxText scans no layers of gemma4_small.
    const char* scan = name.starts_with("gemma4-e") ? "scan_layers=false" : "scan_layers=true";
    return nlohmann::json::parse(model_config(of({"model_name=" + name, scan})));
  };
  const auto llama = config("llama3.1-8b");
  EXPECT_EQ(llama["model_type"], "llama");
  EXPECT_EQ(llama["num_key_value_heads"], 8);
  EXPECT_EQ(llama["rope_scaling"]["rope_type"], "llama3");
  EXPECT_FALSE(config("llama3-8b").contains("rope_scaling"));
  EXPECT_EQ(config("gemma2-2b")["num_hidden_layers"], 26);
  EXPECT_EQ(config("gemma3-4b")["rope_scaling"]["factor"], 8.0);
  EXPECT_EQ(config("gemma3-27b")["query_pre_attn_scalar"], 168);
  EXPECT_EQ(config("qwen3-0.6b")["tie_word_embeddings"], true);
  const auto gemma4 = config("gemma4-26b");
  EXPECT_EQ(gemma4["per_layer_config"].size(), 5);
  EXPECT_EQ(gemma4["per_layer_config"]["29"]["num_key_value_heads"], 2);
  EXPECT_EQ(gemma4["rope_parameters"]["full_attention"]["partial_rotary_factor"], 0.25);
  EXPECT_EQ(gemma4["num_experts"], 128);
  EXPECT_FALSE(config("gemma4-31b").contains("num_experts"));
  // Of E2B each fifth layer has no window, of E4B each sixth; the last 20 and 18 share keys.
  const auto e2b = config("gemma4-e2b"), e4b = config("gemma4-e4b");
  EXPECT_EQ(e2b["per_layer_config"].size(), 7);
  EXPECT_EQ(e4b["per_layer_config"].size(), 7);
  EXPECT_EQ(e2b["num_kv_shared_layers"], 20);
  EXPECT_EQ(e2b["use_double_wide_mlp"], true);
  EXPECT_EQ(e4b["num_kv_shared_layers"], 18);
  EXPECT_EQ(e4b["hidden_size_per_layer_input"], 256);
}

TEST(MaxTextTranslate, EveryDenseFamilyTrainsATinyModel) {
  for (const char* block : {"llama2-7b", "mistral-7b", "gemma-2b", "gemma2-2b", "gemma3-4b",
                            "qwen2.5-1.5b", "qwen3-0.6b", "olmo3-7b"}) {
    const Resolved r =
        of({std::string("model_name=") + block, "override_model_config=true", "base_emb_dim=32",
            "base_num_query_heads=4", "base_num_kv_heads=2", "head_dim=8", "base_mlp_dim=64",
            "base_num_decoder_layers=4", "vocab_size=256", "max_target_length=16"});
    const model::ModelPtr model = model::make("published", {{"config", model_config(r)}});
    EXPECT_GT(model->count(), 1000) << block;
    EXPECT_EQ(model->vocab_size(), 256) << block;
  }
}

TEST(MaxTextTranslate, WhatIsNotBuiltIsRefusedByKeyAndValue) {
  EXPECT_EQ(refusal({"quantization=int8"}), "quantization=int8 is not supported yet");
  EXPECT_EQ(refusal({"model_name=gemma2-2b", "mtp_num_layers=1"}),
            "mtp_num_layers=1 is not supported yet: decoder_block=gemma2 has layers of several "
            "kinds");
  EXPECT_THAT(refusal({"quantization=int8", "dropout_rate=0.1"}),
              testing::AllOf(HasSubstr("quantization=int8 is not supported yet"),
                             HasSubstr("dropout_rate=0.1 is not supported yet")));
  EXPECT_THAT(refusal({"per_device_batch_size=0.5"}), HasSubstr("per_device_batch_size=0.5"));
  EXPECT_THAT(refusal({"mlp_activations=[gelu,linear]"}), HasSubstr("mlp_activations="));
  EXPECT_THAT(refusal({"global_head_dim=64"}),
              HasSubstr("global_head_dim=64 is not supported yet: decoder_block=gemma4 alone"));
  EXPECT_THAT(
      refusal({"model_name=deepseek2-16b", "override_model_config=true", "rope_type=default"}),
      HasSubstr("mscale=0.707 is not supported yet: with rope_type=default there is 0"));
  EXPECT_THAT(refusal({"num_kv_shared_layers=1"}),
              HasSubstr("num_kv_shared_layers=1 is not supported yet: decoder_block=gemma4_small"));
  EXPECT_THAT(refusal({"model_name=deepseek4-284b", "attention=dot_product"}),
              HasSubstr("is not supported yet"));
}

/// The key of that name among those that a command line becomes.
std::string key_of(std::vector<std::string> line, const std::string& name) {
  line.push_back("dataset_type=synthetic");
  for (const std::string& key : translate(of(line)).keys)
    if (key.starts_with(name + "=")) return key.substr(name.size() + 1);
  return "";
}

TEST(MaxTextTranslate, MasksAreSearchedInMaxTextsPaths) {
  const auto mask = [](const std::string& expressions, std::vector<std::string> more = {}) {
    more.push_back("adamw_mask=" + expressions);
    return key_of(std::move(more), "adamw_mask");
  };
  EXPECT_EQ(mask("mlp/wi_[01]"), "layers/mlp/gate/kernel;layers/mlp/up/kernel");
  EXPECT_EQ(
      mask("['^token_embedder', \"scale$\"]"),
      "embedder/embedding;final_norm/scale;layers/attention_norm/scale;layers/mlp_norm/scale");
  EXPECT_EQ(mask("layers_1"), "");
  EXPECT_EQ(mask("(?i)QUERY(?=/kernel)"), "layers/attention/query/kernel");
  EXPECT_EQ(mask("norm", {"opt_type=sgd"}), "");
  EXPECT_EQ(mask("moe_layers.*shared_experts/wo", {"model_name=deepseek3-671b"}),
            "layers/experts/shared/down/kernel");
  EXPECT_THAT(refusal({"adamw_mask=(", "dataset_type=synthetic"}),
              HasSubstr("'(' is no regular expression"));
  EXPECT_THAT(refusal({"adamw_mask=layers_1/mlp/wo", "scan_layers=false", "dataset_type=synthetic",
                       "base_num_decoder_layers=2"}),
              AllOf(HasSubstr("adamw_mask="), HasSubstr("it means layers 1 of"),
                    HasSubstr("layers/mlp/down/kernel")));
  EXPECT_EQ(key_of({"trainable_parameters_mask=layers_[02]/mlp/wo", "scan_layers=false",
                    "base_num_decoder_layers=3"},
                   "trainable_parameters_mask"),
            "layers/mlp/down/kernel:0,2");
  EXPECT_THAT(refusal({"trainable_parameters_mask=nothing", "dataset_type=synthetic"}),
              HasSubstr("nothing is left to train"));
  EXPECT_EQ(key_of({"trainable_parameters_mask=attention/(query|key)", "opt_type=sgd"},
                   "trainable_parameters_mask"),
            "layers/attention/key/kernel;layers/attention/query/kernel");
}

TEST(MaxTextTranslate, MuonTakesMaxTextsMatrices) {
  const auto matrices = [](std::vector<std::string> line) {
    line.push_back("opt_type=muon");
    const auto rows =
        nlohmann::json::parse(key_of(std::move(line), "optimizer.muon_weight_dimension_numbers"));
    return rows[0]["match"].get<std::vector<std::string>>();
  };
  EXPECT_THAT(matrices({}),
              UnorderedElementsAre("layers/attention/key/kernel", "layers/attention/out/kernel",
                                   "layers/attention/query/kernel", "layers/attention/value/kernel",
                                   "layers/mlp/down/kernel", "layers/mlp/gate/kernel",
                                   "layers/mlp/up/kernel"));
  const std::string router = "layers/experts/router/kernel";
  EXPECT_THAT(matrices({"model_name=qwen3-30b-a3b"}), Contains(router));
  EXPECT_THAT(matrices({"model_name=qwen3-30b-a3b", "muon_include_routers=false"}),
              testing::Not(Contains(router)));
  EXPECT_EQ(key_of({"opt_type=muon", "muon_consistent_rms=0.2"}, "optimizer.consistent_rms"),
            "0.2");
  EXPECT_EQ(key_of({"opt_type=muon"}, "optimizer.consistent_rms"), "");
  EXPECT_EQ(key_of({"opt_type=muon", "weight_dtype=bfloat16"}, "mu_dtype"), "bfloat16");
  EXPECT_THAT(matrices({"model_name=qwen3-30b-a3b", "muon_type=maxtext_muon",
                        "muon_include_routers=false"}),
              Contains(router));
  EXPECT_THAT(refusal({"opt_type=muon", "muon_type=dion"}),
              HasSubstr("muon_type=dion is not supported yet"));
}

TEST(MaxTextTranslate, WhatHasNoEffectIsSaidOnce) {
  const Translation t = translate(
      of({"dataset_type=synthetic", "sa_block_q=128", "ici_fsdp_parallelism=1", "steps=3"}));
  EXPECT_THAT(t.notes, UnorderedElementsAre(
                           "sa_block_q=128 accepted, no effect here, because kernels choose their "
                           "own tiles"));
}

TEST(MaxTextTranslate, AxesOfTheMeshAreOurs) {
  const auto on = [](int devices, std::vector<std::string> arguments) {
    for (const char* key : {"run_name=a", "base_output_directory=runs", "dataset_type=synthetic",
                            "per_device_batch_size=2"})
      arguments.emplace_back(key);
    return translate(
        resolve(arguments, {[](const std::string&) -> const char* { return nullptr; }, devices}));
  };
  EXPECT_THAT(on(8, {}).keys, Contains("ici_fsdp_parallelism=8"));  // base.yml's -1
  const Translation t = on(8, {"ici_tensor_parallelism=2", "logical_axis_rules=[['norm', []]]"});
  EXPECT_THAT(t.keys,
              AllOf(Contains("ici_fsdp_parallelism=4"), Contains("ici_tensor_parallelism=2"),
                    Contains(HasSubstr("embed: fsdp, fsdp_transpose, context"))));
  EXPECT_EQ(read_config({}, t.keys).logical_axis_rules.back(), "norm: ");
  const auto message = [&](std::vector<std::string> arguments) {
    try {
      (void)on(8, std::move(arguments));
    } catch (const ConfigError& e) {
      return std::string(e.what());
    }
    return std::string("nothing was thrown");
  };
  EXPECT_THAT(message({"ici_fsdp_parallelism=3"}),
              AllOf(HasSubstr("ici_fsdp_parallelism=3: that is 3 devices, and there are 8"),
                    HasSubstr("STRATA_NUM_CPU_DEVICES")));
  const auto stages = on(8, {"ici_pipeline_parallelism=2", "num_pipeline_microbatches=4",
                             "base_num_decoder_layers=4"})
                          .keys;
  EXPECT_THAT(stages,
              AllOf(Contains("ici_pipeline_parallelism=2"), Contains("num_pipeline_microbatches=4"),
                    Contains("num_layers_per_pipeline_stage=1")));
  EXPECT_THAT(message({"ici_pipeline_parallelism=2", "pipeline_delay_activation_forwarding=true"}),
              HasSubstr("pipeline_delay_activation_forwarding"));
  EXPECT_THAT(message({"ici_sequence_parallelism=2"}),
              HasSubstr("ici_sequence_parallelism=2 is not supported yet"));
}

TEST(MaxTextTranslate, FilesOfTextAreRead) {
  const Translation t =
      translate(of({"dataset_type=grain", "grain_train_files=a*.txt,0.3;b.txt,0.7",
                    "tokenizer_path=t.model", "model_name=default"}));
  EXPECT_THAT(t.keys, Contains("train_files=a*.txt,0.3;b.txt,0.7"));
  EXPECT_THAT(t.keys, Contains("tokenizer_path=t.model"));
  EXPECT_THAT(refusal({"dataset_type=tfds"}), HasSubstr("dataset_type=tfds"));
}

TEST(MaxTextTranslate, EvaluationsReadTheirFiles) {
  const std::vector<std::string> hf = {"dataset_type=hf",        "hf_path=json",
                                       "hf_train_files=a.jsonl", "hf_eval_files=b.jsonl",
                                       "tokenizer_path=t.model", "eval_data_columns=body",
                                       "per_device_batch_size=3"};
  const auto with = [](std::vector<std::string> line, const std::vector<std::string>& more) {
    line.insert(line.end(), more.begin(), more.end());
    return translate(of(line)).keys;
  };
  EXPECT_THAT(with(hf, {"eval_interval=5", "eval_steps=7", "eval_start_step=10",
                        "eval_per_device_batch_size=2", "target_eval_loss=3.5"}),
              testing::IsSupersetOf({"eval_files=b.jsonl", "eval_data_columns=body",
                                     "eval_interval=5", "eval_steps=7", "eval_start_step=10",
                                     "eval_per_device_batch_size=2", "target_eval_loss=3.5"}));
  // MaxText's usual ones: the batch of training, the whole set, behind step 0.
  EXPECT_THAT(with(hf, {"eval_interval=5"}),
              testing::IsSupersetOf({"eval_per_device_batch_size=3", "eval_steps=-1",
                                     "eval_start_step=0", "target_eval_loss=0"}));
  EXPECT_THAT(with(hf, {}), testing::Not(Contains(testing::StartsWith("eval_"))));
  EXPECT_THAT(with({"dataset_type=grain", "grain_train_files=a", "tokenizer_path=t.model",
                    "grain_eval_files=b,1;c,2", "eval_interval=5"},
                   {}),
              Contains("eval_files=b,1;c,2"));
  EXPECT_THAT(with({"dataset_type=synthetic", "eval_interval=5"}, {}),
              testing::IsSupersetOf({"eval_files=out/r/synthetic.txt", "eval_steps=1"}));
  EXPECT_THAT(with({"dataset_type=synthetic", "eval_interval=5", "per_device_batch_size=1.5"}, {}),
              testing::IsSupersetOf({"micro_batch_size=1", "eval_per_device_batch_size=1.5"}));
}

TEST(MaxTextTranslate, TokenizersAreOfThisMachine) {
  const std::string folder =
      std::filesystem::path(__FILE__).parent_path().parent_path().parent_path() /
      "tokenizer/testdata/huggingface/smollm.json";
  const auto with = [](std::vector<std::string> more) {
    more.insert(more.end(), {"dataset_type=hf", "hf_path=text", "hf_train_files=a.txt"});
    return more;
  };
  const Translation t = translate(
      of(with({"tokenizer_type=huggingface", "tokenizer_path=" + folder, "model_name=default"})));
  EXPECT_THAT(t.keys, Contains("tokenizer_type=huggingface"));
  EXPECT_THAT(t.keys, Contains("tokenizer_path=" + folder));
  // What MaxText makes of a model's name is told by that name.
  EXPECT_THAT(refusal(with({"model_name=llama3.1-8b"})),
              AllOf(testing::StartsWith("model_name=llama3.1-8b: the tokenizer "
                                        "meta-llama/Llama-3.1-8B is not on this machine"),
                    HasSubstr("tokenizer_path=FOLDER"),
                    HasSubstr("tokenizer_type=sentencepiece tokenizer_path=FILE.model")));
  EXPECT_THAT(
      refusal(with({"tokenizer_type=huggingface", "tokenizer_path=gpt2"})),
      testing::StartsWith("tokenizer_path=gpt2: the tokenizer gpt2 is not on this machine"));
  EXPECT_THAT(refusal(with({"model_name=qwen3-0.6b", "tokenizer_path=t.model"})),
              HasSubstr("tokenizer_path=t.model: tokenizer_type=huggingface (as of "
                        "model_name=qwen3-0.6b) reads a folder"));
  EXPECT_THAT(refusal(with({"tokenizer_type=tiktoken"})), HasSubstr("tokenizer_type=tiktoken"));
  EXPECT_THAT(refusal(with({})), HasSubstr("tokenizer_path is not set"));
  EXPECT_EQ(refusal(with({"load_parameters_path=/nowhere/model", "model_name=llama3.1-8b"})), "");
}

TEST(MaxTextTranslate, AModelsOwnTokenizerMayBeNamedBesideIt) {
  namespace fs = std::filesystem;
  std::string model = testing::TempDir() + "own_tokenizer_XXXXXX";
  ASSERT_NE(mkdtemp(model.data()), nullptr);
  std::ofstream(model + "/tokenizer.model") << "its pieces";
  std::ofstream(model + "/same.model") << "its pieces";
  std::ofstream(model + "/other.model") << "other pieces";
  const auto keys = [&](const std::string& tokenizer) {
    return translate(of({"dataset_type=hf", "hf_path=text", "hf_train_files=a.txt",
                         "load_parameters_path=" + model, "tokenizer_type=sentencepiece",
                         "tokenizer_path=" + tokenizer}))
        .keys;
  };
  for (const std::string& own : {model, model + "/tokenizer.model", model + "/same.model"})
    for (const std::string& key : keys(own)) EXPECT_FALSE(key.starts_with("tokenizer")) << own;
  // Another one would change what is trained on: the trainer refuses it.
  EXPECT_THAT(keys(model + "/other.model"), Contains("tokenizer_path=" + model + "/other.model"));
  fs::remove_all(model);
}

TEST(MaxTextTranslate, CommandLinesAreToldApart) {
  EXPECT_TRUE(is_maxtext({"src/maxtext/configs/base.yml", "steps=3"}));
  EXPECT_TRUE(is_maxtext({"configs/base.yml"}));
  EXPECT_TRUE(is_maxtext({"model_name=llama2-7b"}));
  EXPECT_FALSE(is_maxtext({"steps=3", "train_files=a"}));
  EXPECT_TRUE(is_maxtext({"src/maxtext/configs/nothing.yml"}));
  EXPECT_FALSE(is_maxtext({"nothing.yml"}));
  EXPECT_FALSE(is_maxtext({"configs/nothing.yml"}));
  EXPECT_FALSE(is_maxtext({}));
}

TEST(MaxTextTranslate, AKeyIsExplained) {
  EXPECT_EQ(explain("base_emb_dim", of({"model_name=llama3.1-8b"})),
            "base_emb_dim: int\ndefault: 2048\nvalue: 4096 (models/llama3.1-8b.yml)\n"
            "effect: acting: width of the residual stream\n");
  EXPECT_THAT(explain("quantization", of({})), HasSubstr("effect: refused"));
  EXPECT_THROW((void)explain("stepz", of({})), ConfigError);
}

TEST(MaxTextTranslate, EveryKeyHasAnEffect) {
  int counts[4] = {};
  for (const std::string& key : key_names()) ++counts[static_cast<int>(effect_of(key).effect)];
  EXPECT_EQ(counts[0] + counts[1] + counts[2] + counts[3],
            static_cast<int>(upstream()["keys"].size()));
  EXPECT_GT(counts[0], 60);
}

TEST(MaxTextTranslate, TokensOfAccessAreNeverShown) {
  const Surroundings around = {[](const std::string& name) -> const char* {
                                 return name == "HF_TOKEN" ? "hf_secret" : nullptr;
                               },
                               1};
  const Resolved r = resolve({"run_name=r"}, around);
  EXPECT_EQ(str(r.values.at("hf_access_token")), "hf_secret");
  for (const std::string& line : config_lines(r))
    EXPECT_THAT(line, testing::Not(HasSubstr("hf_secret")));
  EXPECT_THAT(explain("hf_access_token", r), testing::Not(HasSubstr("hf_secret")));
}

}  // namespace
}  // namespace strata::train::maxtext
