// Training over meshes of eight CPU devices: the losses of one, and the messages about mistakes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "strata/api/index.h"
#include "strata/api/numpy.h"
#include "strata/api/random.h"
#include "strata/api/sharding/devices.h"
#include "strata/checkpoint/checkpoint.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/train/config/router_options.h"
#include "strata/train/pipeline.h"
#include "strata/train/report/mesh_report.h"
#include "strata/train/run.h"
#include "strata/train/state.h"
#include "strata/train/step/parallelism.h"

namespace strata::train {
namespace {

using testing::AllOf;
using testing::HasSubstr;
namespace fs = std::filesystem;
using Keys = std::vector<std::string>;

Config tiny(Keys more = {}) {
  Keys keys = {"base_emb_dim=16",     "base_num_query_heads=8",
               "base_num_kv_heads=8", "head_dim=2",
               "base_mlp_dim=32",     "base_num_decoder_layers=2",
               "max_target_length=8", "per_device_batch_size=8",
               "learning_rate=1e-2",  "steps=20"};
  keys.insert(keys.end(), more.begin(), more.end());
  return read_config({}, keys, Data::optional);
}

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

class MeshRunTest : public testing::Test {
 protected:
  MeshRunTest() {
    compile::register_cpu();
    cpu_devices(8);
  }
  /// Of 20 steps on 8 sequences each; the state after them.
  std::pair<std::vector<double>, State> losses(const Config& c, int steps = 20,
                                               std::int64_t rows = 8) const {
    const auto mesh = mesh_of(c);
    State state = init_state(c);
    Step step = make_step(make_model(c), make_optimizer(c), step_options(c, *make_model(c)));
    if (mesh) {
      step = on_mesh(std::move(step), mesh, pipeline_of(c, *make_model(c)));
      state = put_on_mesh(std::move(state), *mesh);
    }
    std::vector<double> out;
    for (int i = 0; i < steps; ++i) {
      const Array tokens = random::randint(random::key(i), {rows, 9}, 0, 64);
      Batch batch{tokens[{slice(), slice(0, 8)}], tokens[{slice(), slice(1, 9)}]};
      if (mesh) batch = put_on_mesh(batch, *mesh);
      auto [outcome, next] = step(std::move(state), std::move(batch));
      state = std::move(next);
      out.push_back(outcome.loss.item<double>());
      if (outcome.mtp_loss) out.push_back(outcome.mtp_loss->item<double>());
      if (outcome.routers) {
        out.push_back(outcome.routers->load_balance.item<double>());
        out.push_back(outcome.routers->router_z.item<double>());
        out.push_back(1 + sum(outcome.routers->dropped).item<double>());
      }
    }
    return {std::move(out), std::move(state)};
  }
};

TEST_F(MeshRunTest, LossesAreThoseOfOneDevice) {
  const std::vector<double> whole = losses(tiny()).first;
  EXPECT_LT(whole.back(), whole.front() - 0.5);
  const auto differs = [&](const Keys& keys) {
    const Config c = tiny(keys);
    const auto [mine, state] = losses(c);
    double far = 0;
    for (std::size_t i = 0; i < whole.size(); ++i)
      far = std::max(far, std::abs(mine[i] / whole[i] - 1));
    const auto mesh = mesh_of(c);
    const std::int64_t predicted = predicted_bytes(state, *mesh), measured = measured_bytes(state);
    std::cout << fmt::format("  {}: losses {:.1e}, state {} bytes of a device, {} predicted\n",
                             axes_text(mesh->mesh()), far, measured, predicted);
    EXPECT_NEAR(static_cast<double>(measured) / static_cast<double>(predicted), 1, 0.05);
    return far;
  };
  EXPECT_LE(differs({"ici_data_parallelism=8"}), 1e-5);
  EXPECT_LE(differs({"ici_fsdp_parallelism=8"}), 1e-5);
  EXPECT_LE(differs({"ici_tensor_parallelism=8"}), 1e-5);
  EXPECT_LE(differs({"ici_data_parallelism=2", "ici_fsdp_parallelism=2", "ici_tensor_parallelism=2",
                     "gradient_accumulation_steps=2"}),
            1e-5);
  EXPECT_LE(differs({"ici_context_parallelism=4", "ici_data_parallelism=2"}), 1e-5);
}

/// A tiny Mixtral, whose routers' losses count; above 0 `capacity` bounds its experts.
Config mixtral(Keys more, const char* length = "max_target_length=8", double capacity = 0) {
  more.insert(
      more.begin(),
      {"decoder_block=published", "learning_rate=1e-2", "steps=20", "per_device_batch_size=8",
       "load_balance_loss_weight=0.1", "router_z_loss_weight=0.01", length,
       fmt::format(
           R"(config={{"model_type": "mixtral", "vocab_size": 64, "hidden_size": 16,
            "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 8,
            "num_key_value_heads": 8, "rms_norm_eps": 1e-5, "num_local_experts": 4,
            "num_experts_per_tok": 2, "capacity_factor": {}}})",
           capacity)});
  return read_config({}, more, Data::optional);
}

TEST_F(MeshRunTest, ExpertsSortTheTokensOfEachDevice) {
  const std::vector<double> whole = losses(mixtral({})).first;
  for (const Keys& keys :
       {Keys{"ici_fsdp_parallelism=8"}, Keys{"ici_fsdp_parallelism=4", "ici_tensor_parallelism=2"},
        Keys{"ici_data_parallelism=4", "ici_context_parallelism=2"},
        Keys{"ici_fsdp_parallelism=4", "ici_expert_parallelism=2"},
        Keys{"ici_fsdp_parallelism=2", "ici_tensor_parallelism=4"}}) {  // fewer parts than experts
    const std::vector<double> mine = losses(mixtral(keys)).first;
    for (std::size_t i = 0; i < whole.size(); ++i)
      EXPECT_NEAR(mine[i] / whole[i], 1, 1e-5) << keys[0] << ", figure " << i;
  }
  // No tokens move for their experts: of a step's gathers the largest part is weights.
  const auto moved = [&](const char* length) {
    const Config c = mixtral({"ici_fsdp_parallelism=8", "per_device_batch_size=1"}, length);
    return mesh_report(step_program(c, mesh_of(c))).collectives.at("all_gather").bytes;
  };
  EXPECT_LT(moved("max_target_length=64"), 1.1 * static_cast<double>(moved("max_target_length=8")));
}

TEST_F(MeshRunTest, TokensTravelToTheirExpertsAndBack) {
  // Loss, load balance and router z of each step are those of one device, also of micro-batches.
  const std::vector<double> whole = losses(mixtral({}), 3, 64).first;
  for (const char* parts : {"1", "2", "4", "8"}) {
    const Config c = mixtral({"ici_data_parallelism=2", "ici_expert_parallelism=4",
                              std::string("gradient_accumulation_steps=") + parts});
    const std::vector<double> mine = losses(c, 3, 64).first;
    ASSERT_EQ(mine.size(), 12u);
    for (std::size_t i = 0; i < whole.size(); ++i)
      EXPECT_NEAR(mine[i] / whole[i], 1, 1e-5) << parts << " micro-batches, figure " << i;
  }
  const auto collectives = [](const Keys& keys) {
    Keys all = keys;
    all.push_back("per_device_batch_size=1");
    const Config c = mixtral(all);
    return mesh_report(step_program(c, mesh_of(c))).collectives;
  };
  auto experts = collectives({"ici_data_parallelism=2", "ici_expert_parallelism=4"}),
       whole_ones = collectives({"ici_data_parallelism=2", "ici_fsdp_parallelism=4"});
  // Rows there and back and their sizes, forward and, but for the sizes, backward.
  EXPECT_GE(experts.at("all_to_all").times, 5);
  // Weights of experts stay where they are.
  EXPECT_LT(experts["all_gather"].bytes, whole_ones.at("all_gather").bytes);
  // What the backward pass keeps or computes again stays where it is, too.
  for (const char* policy : {"remat_policy=minimal", "remat_policy=full"})
    EXPECT_EQ(collectives({policy, "ici_data_parallelism=2", "ici_expert_parallelism=4"})
                  .at("all_gather")
                  .bytes,
              experts["all_gather"].bytes)
        << policy;
}

TEST_F(MeshRunTest, FullExpertsDropTheSameTokensOnAMesh) {
  const auto full = [](const Keys& keys) { return mixtral(keys, "max_target_length=8", 1); };
  const std::vector<double> whole = losses(full({}), 3).first;
  EXPECT_GT(whole[3], 1);  // some of the first step's choices found their expert full
  for (const Keys& keys :
       {Keys{"ici_fsdp_parallelism=8"}, Keys{"ici_data_parallelism=2", "ici_expert_parallelism=4"},
        Keys{"ici_data_parallelism=2", "ici_tensor_parallelism=4"}}) {
    const std::vector<double> mine = losses(full(keys), 3).first;
    ASSERT_EQ(mine.size(), whole.size());
    for (std::size_t i = 0; i < whole.size(); ++i)
      EXPECT_NEAR(mine[i] / whole[i], 1, 1e-5) << keys[0] << ", figure " << i;
  }
}

TEST_F(MeshRunTest, StagesHaveTheLossesOfOneDevice) {
  const Keys four = {"base_num_decoder_layers=4"};
  const std::vector<double> whole = losses(tiny(four)).first;
  const auto differs = [&](Keys keys) {
    keys.insert(keys.end(), four.begin(), four.end());
    const Config c = tiny(keys);
    const auto [mine, state] = losses(c);
    double far = 0;
    for (std::size_t i = 0; i < whole.size(); ++i)
      far = std::max(far, std::abs(mine[i] / whole[i] - 1));
    const std::int64_t predicted = predicted_bytes(state, *mesh_of(c)),
                       measured = measured_bytes(state);
    std::cout << fmt::format("  {} over {}: losses {:.1e}, state {} bytes of a device, {}\n",
                             pipeline_text(*pipeline_of(c, *make_model(c))),
                             axes_text(mesh_of(c)->mesh()), far, measured, predicted);
    EXPECT_NEAR(static_cast<double>(measured) / static_cast<double>(predicted), 1, 0.05);
    return far;
  };
  EXPECT_LE(differs({"ici_pipeline_parallelism=4", "per_device_batch_size=2"}), 1e-5);
  EXPECT_LE(differs({"ici_pipeline_parallelism=2", "num_layers_per_pipeline_stage=2",
                     "num_pipeline_microbatches=4", "per_device_batch_size=4"}),
            1e-5);
  EXPECT_LE(differs({"ici_pipeline_parallelism=2", "ici_data_parallelism=2",
                     "num_pipeline_microbatches=4", "per_device_batch_size=2"}),
            1e-5);
}

TEST_F(MeshRunTest, StagesOfLayersWithExperts) {
  // Loss, load balance and router z of each step.
  const std::vector<double> whole = losses(mixtral({}), 5).first;
  for (const Keys& keys : {Keys{"ici_pipeline_parallelism=2", "per_device_batch_size=4"},
                           Keys{"ici_pipeline_parallelism=2", "ici_data_parallelism=2",
                                "num_pipeline_microbatches=4", "per_device_batch_size=2"}}) {
    const std::vector<double> mine = losses(mixtral(keys), 5).first;
    ASSERT_EQ(mine.size(), whole.size());
    for (std::size_t i = 0; i < whole.size(); ++i)
      EXPECT_NEAR(mine[i] / whole[i], 1, 1e-5) << keys[1] << ", figure " << i;
  }
}

TEST_F(MeshRunTest, FurtherTokensHaveTheLossesOfOneDevice) {
  const char* further = "mtp_num_layers=1";
  const std::vector<double> whole = losses(mixtral({further}), 5).first;
  ASSERT_EQ(whole.size(), 5u * 5);
  for (const Keys& keys :
       {Keys{"ici_fsdp_parallelism=4", "per_device_batch_size=2", further},
        Keys{"ici_expert_parallelism=2", "ici_tensor_parallelism=2", "per_device_batch_size=2",
             further},
        Keys{"ici_context_parallelism=2", "per_device_batch_size=4", further},
        Keys{"ici_fsdp_parallelism=2", "gradient_accumulation_steps=2", "per_device_batch_size=2",
             further},
        Keys{"ici_pipeline_parallelism=2", "per_device_batch_size=4", further}}) {
    const std::vector<double> mine = losses(mixtral(keys), 5).first;
    ASSERT_EQ(mine.size(), whole.size());
    for (std::size_t i = 0; i < whole.size(); ++i)
      EXPECT_NEAR(mine[i] / whole[i], 1, 1e-5) << keys[0] << ", figure " << i;
  }
}

TEST_F(MeshRunTest, StagesThatDoNotFitAreNamed) {
  const auto said = [](Keys keys) {
    keys.push_back("base_num_decoder_layers=4");
    const Config c = tiny(keys);
    return message_of([&] { (void)pipeline_of(c, *make_model(c)); });
  };
  EXPECT_THAT(said({"ici_pipeline_parallelism=3"}), HasSubstr("the model has 4"));
  EXPECT_THAT(said({"ici_pipeline_parallelism=2", "num_pipeline_repeats=3"}),
              HasSubstr("x 3 repeats (num_pipeline_repeats=3) are 6 layers"));
  EXPECT_THAT(said({"ici_pipeline_parallelism=2", "num_pipeline_microbatches=3"}),
              HasSubstr("num_pipeline_microbatches=3: it is no multiple of 2 stages"));
  EXPECT_THAT(said({"ici_pipeline_parallelism=2", "pipeline_parallel_layers=2"}),
              HasSubstr("layers outside of stages are not supported yet"));
  EXPECT_THAT(said({"ici_pipeline_parallelism=2", "num_pipeline_microbatches=32"}),
              HasSubstr("16 sequences do not divide into so many"));
  EXPECT_EQ(pipeline_text({4, 1, 2, 4}),
            "pipeline: 4 stages of 1 layer, 2 repeats, 4 microbatches; bubble 27.3 %");
}

TEST_F(MeshRunTest, AReportTellsWhatMoves) {
  const auto of = [](const Keys& keys) {
    Keys all = keys;
    all.push_back("per_device_batch_size=1");
    const Config c = tiny(all);
    return mesh_report(step_program(c, mesh_of(c)));
  };
  const MeshReport data = of({"ici_data_parallelism=8"}), fsdp = of({"ici_fsdp_parallelism=8"});
  EXPECT_EQ(data.devices, 8);
  EXPECT_GT(data.state_bytes, 7 * fsdp.state_bytes);
  EXPECT_EQ(data.batch_bytes, 2 * 8 * 4);
  std::cout << data.to_string() << "\n" << fsdp.to_string() << "\n";
  EXPECT_GT(data.collectives.at("all_reduce").bytes, data.state_bytes / 4);
  EXPECT_GT(fsdp.collectives.at("all_gather").times, 0);
  EXPECT_THAT(fsdp.to_string(), AllOf(HasSubstr("mesh: 8 devices (fsdp=8)"),
                                      HasSubstr("each device holds"), HasSubstr("all_gather")));
}

TEST_F(MeshRunTest, ACheckpointOfEightDevicesGoesOnOnOneAndBack) {
  std::string name = testing::TempDir() + "mesh_XXXXXX";
  const std::string folder = ::mkdtemp(name.data());
  std::string text;
  for (int i = 0; i < 200; ++i) text += "verse " + std::to_string(i * i % 97) + " of a book.\n";
  std::ofstream(folder + "/text.txt") << text;
  const auto train = [&](const std::string& run_name, Keys keys) {
    for (const std::string& key :
         {"train_files=" + folder + "/text.txt", "base_output_directory=" + folder,
          "run_name=" + run_name, std::string("eval_interval=2"), std::string("eval_steps=1"),
          std::string("learning_rate_schedule_steps=6")})
      keys.push_back(key);
    Progress progress(STDERR_FILENO);
    auto r = run(tiny(keys), progress);
    EXPECT_TRUE(r.ok()) << r.status().message();
    return r.ok() ? r->loss : 0.f;
  };
  const float whole = train("one", {"steps=6"});
  (void)train("several", {"steps=2", "ici_fsdp_parallelism=-1", "per_device_batch_size=1"});
  (void)train("several", {"steps=4"});
  const float last = train("several", {"steps=6", "ici_fsdp_parallelism=4",
                                       "ici_tensor_parallelism=2", "per_device_batch_size=1"});
  EXPECT_NEAR(last / whole, 1, 1e-5);
  // Stages, then one device, then other stages.
  const Keys four = {"base_num_decoder_layers=4"};
  const auto with_four = [&](Keys keys) {
    keys.insert(keys.end(), four.begin(), four.end());
    return keys;
  };
  const float deep = train("deep", with_four({"steps=6"}));
  (void)train("staged", with_four({"steps=2", "ici_pipeline_parallelism=4",
                                   "ici_fsdp_parallelism=2", "per_device_batch_size=1"}));
  (void)train("staged", with_four({"steps=4"}));
  const float staged = train(
      "staged", with_four({"steps=6", "ici_pipeline_parallelism=2", "ici_tensor_parallelism=2",
                           "ici_data_parallelism=2", "per_device_batch_size=1"}));
  EXPECT_NEAR(staged / deep, 1, 1e-5);
  // What the run was told stands in its configuration, with -1 as it was meant.
  EXPECT_EQ(read_config(folder + "/several/config.yml", {}).ici_fsdp_parallelism, 4);
  fs::remove_all(folder);
}

TEST_F(MeshRunTest, MistakesAreNamed) {
  EXPECT_THAT(message_of([] { (void)with_devices(tiny({"ici_fsdp_parallelism=3"}), 8); }),
              HasSubstr("ici_fsdp_parallelism=3: that is 3 devices, and there are 8"));
  EXPECT_THAT(message_of([] {
                (void)with_devices(tiny({"ici_fsdp_parallelism=-1", "ici_data_parallelism=-1"}), 8);
              }),
              HasSubstr("one key may be -1"));
  EXPECT_THAT(message_of([] {
                (void)with_devices(tiny({"ici_fsdp_parallelism=-1", "ici_data_parallelism=3"}), 8);
              }),
              HasSubstr("that is a multiple of 3 devices, and there are 8"));
  EXPECT_THAT(message_of([] { (void)tiny({"logical_axis_rules=embedd: fsdp"}); }),
              AllOf(HasSubstr("'embedd' is no dimension"), HasSubstr("did you mean 'embed'")));
  EXPECT_THAT(message_of([] { (void)tiny({"logical_axis_rules=embed: fdsp"}); }),
              AllOf(HasSubstr("'fdsp' is no axis of a mesh"), HasSubstr("did you mean 'fsdp'")));
  const Config odd = tiny({"base_emb_dim=12", "ici_fsdp_parallelism=8"});
  EXPECT_THAT(message_of([&] { (void)step_program(odd, mesh_of(odd)); }),
              AllOf(HasSubstr("token_embedder"), HasSubstr("f32[256,12]"), HasSubstr("fsdp=8"),
                    HasSubstr("dimension 1 has size 12")));
  const Config heads = tiny({"base_num_kv_heads=4", "ici_tensor_parallelism=8"});
  EXPECT_THAT(
      message_of([&] { (void)step_program(heads, mesh_of(heads)); }),
      AllOf(HasSubstr("activation_kv_heads"), HasSubstr("has size 4"), HasSubstr("'tensor': 8")));
}

TEST_F(MeshRunTest, SlicesAreMajor) {
  const auto mesh = mesh_of(
      tiny({"ici_fsdp_parallelism=2", "ici_tensor_parallelism=2", "dcn_fsdp_parallelism=2"}));
  EXPECT_EQ(axes_text(mesh->mesh()), "fsdp=4, tensor=2");
  EXPECT_THAT(mesh->mesh().devices(), testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  const auto other = mesh_of(
      tiny({"ici_fsdp_parallelism=2", "ici_tensor_parallelism=2", "dcn_tensor_parallelism=2"}));
  // Device 4 begins the second slice: the other half of `tensor` for the first of `fsdp`.
  EXPECT_THAT(other->mesh().devices(), testing::ElementsAre(0, 1, 4, 5, 2, 3, 6, 7));
}

}  // namespace
}  // namespace strata::train
