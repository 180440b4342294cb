// Chapter 22: saves a training run while it goes on, loses it, goes on from what was saved with the
// same bits, and takes parts of a checkpoint elsewhere. tutorial/22_checkpoints.md walks through
// it.
#include <strata/core.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "strata/api/sharding/sharding.h"
#include "strata/checkpoint/any_format.h"
#include "strata/checkpoint/checkpoint.h"
#include "strata/checkpoint/manager/manager.h"
#include "strata/checkpoint/orbax/restore.h"
#include "strata/checkpoint/tiers.h"

using namespace strata;
namespace orbax = checkpoint::orbax;

namespace {

struct State {
  Array w, momentum;
  STRATA_FIELDS(w, momentum)
};

State first_state() { return {zeros({8, 4}), zeros({8, 4})}; }

/// One step of gradient descent with momentum on a batch that follows from the step's number.
State train(const State& s, int step) {
  static auto one = jit([](const State& at, const Array& x) {
    auto loss = [&](const Array& w) {
      return mean(square(dot(x, w) - x.sum({.axis = 1, .keepdims = true})));
    };
    Array m = at.momentum * 0.9f + grad(loss)(at.w);
    return State{at.w - m * 0.05f, m};
  });
  return one(s, random::normal(random::fold_in(random::key(0), step), {16, 8}));
}

/// A state as leaves of a checkpoint, and back.
orbax::Contents contents(const State& s, int step) {
  orbax::Contents out;
  auto add = [&](const char* name, const Array& x) {
    orbax::Leaf leaf;
    leaf.path = {{"params"}, {name}};
    leaf.kind = orbax::Kind::numpy_array;
    leaf.value = x.literal();
    out.items["state"].push_back(leaf);
  };
  add("w", s.w);
  add("momentum", s.momentum);
  out.files["data"]["process_0-of-1.json"] = "{\"next_step\":" + std::to_string(step) + "}";
  return out;
}

bool same(const State& a, const State& b) {
  return a.w.to_vector<float>() == b.w.to_vector<float>() &&
         a.momentum.to_vector<float>() == b.momentum.to_vector<float>();
}

/// A base that stays as it is below an adapter that learns: three steps hold it once.
bool written_once(const std::string& root) {
  checkpoint::Checkpoint c;
  c.parts["params"] = {{"base", ones({256, 256}).literal()}, {"adapter", zeros({8}).literal()}};
  for (c.step = 1; c.step <= 3; ++c.step)
    if (!checkpoint::save(root, c, {}, {{"params", {"base"}}}).ok()) return false;
  std::uintmax_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root))
    if (entry.is_regular_file()) bytes += entry.file_size();
  std::printf("three steps of 256 KiB take less than 300 KiB: %s\n",
              bytes < 300 * 1024 ? "yes" : "no");
  return checkpoint::load_latest(root)->checkpoint->parts["params"].count("base") == 1;
}

/// Each step in memory, each tenth where it lasts.
bool in_two_tiers(const std::string& root) {
  const checkpoint::TierOptions options{.local = root + "/memory",
                                        .local_period = 1,
                                        .persistent = root + "/lasting",
                                        .persistent_period = 10};
  {
    checkpoint::Tiers tiers(options);
    for (int step = 1; step <= 12; ++step)
      if (tiers.due(step))
        if (!tiers.save({step, {{"params", {{"w", full({4}, step).literal()}}}}, {}}).ok())
          return false;
    if (!tiers.wait().ok()) return false;
  }
  auto restored = checkpoint::Tiers(options).restore();
  std::printf("from memory: step %d\n", static_cast<int>(restored->checkpoint->step));
  std::filesystem::remove_all(options.local);  // the machine was lost
  restored = checkpoint::Tiers(options).restore();
  std::printf("from what lasts: step %d\n", static_cast<int>(restored->checkpoint->step));
  return restored->from == checkpoint::Restored::From::persistent;
}

}  // namespace

int main() {
  std::string name = (std::filesystem::temp_directory_path() / "checkpoints_XXXXXX").string();
  const std::string root = ::mkdtemp(name.data());

  // A run of thirty steps that saves every fourth, keeps the two newest, and is lost after 22.
  State unbroken = first_state();
  {
    auto manager = checkpoint::Manager::open(
        root, {.decision = checkpoint::save_every(4), .preservation = checkpoint::latest_n(2)});
    State s = first_state();
    for (int step = 1; step <= 22; ++step) {
      s = train(s, step);
      if (!manager->should_save(step)) continue;
      if (Status saved = manager->save(step, contents(s, step)); !saved.ok())
        return std::puts(saved.message().c_str());
    }
  }  // the manager waits for the save that is under way
  for (int step = 1; step <= 30; ++step) unbroken = train(unbroken, step);

  // Another process finds the newest step that is whole.
  auto manager = checkpoint::Manager::open(root);
  for (const auto& c : manager->checkpoints())
    std::printf("found step %d\n", static_cast<int>(c.step));
  int step = static_cast<int>(*manager->latest_step());
  auto tree = manager->directory(step)->tree("state");
  auto arrays = orbax::restore(*tree, {{.name = "params/w"}, {.name = "params/momentum"}});
  State s{arrays->at("params/w"), arrays->at("params/momentum")};
  while (step < 30) s = train(s, ++step);
  const bool went_on = same(s, unbroken);
  std::printf("the same bits as the unbroken run: %s\n", went_on ? "yes" : "no");

  // The weights alone, under another program's names, in bf16, cut over four devices.
  cpu_devices(4);
  Mesh mesh = make_mesh({{"x", 4}});
  auto part = orbax::restore(*tree,
                             {{.name = "encoder/kernel",
                               .dtype = bfloat16,
                               .sharding = NamedSharding(mesh, {"x", nullptr})}},
                             {.rules = {{"encoder/kernel", "params/w"}}});
  const Array& kernel = part->at("encoder/kernel");
  std::printf("each device holds %s of %s\n",
              addressable_shards(kernel).front().data.shape().to_string().c_str(),
              kernel.type().to_string().c_str());

  // What is damaged is found.
  const std::string folder = manager->folder(*manager->latest_step());
  std::printf("wrong with it: %d\n", static_cast<int>(orbax::verify(folder).size()));
  std::filesystem::remove(folder + "/state/manifest.ocdbt");
  std::printf("without one of its files: %d\n", static_cast<int>(orbax::verify(folder).size()));
  const bool others = written_once(root + "/tuned") && in_two_tiers(root);
  std::filesystem::remove_all(root);
  return went_on && others ? 0 : 1;
}
