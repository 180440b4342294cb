// Orbax's own stored compatibility checkpoints, many of them damaged on purpose: what
// orbax-checkpoint 0.12 does with each (testdata/orbax/compatibility/upstream.json) beside what is
// done here.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "strata/checkpoint/orbax/directory.h"

namespace strata::checkpoint::orbax {
namespace {

namespace fs = std::filesystem;

/// Endings of folders that are treated otherwise here, and why.
const std::map<std::string, std::string>& differences() {
  static const std::map<std::string, std::string> all = {
      {"missing_pytree_data_file__sharding",
       "read here: arrays come as they are, and no devices need be known"},
      {"dummy_checkpointable_added",
       "all items are read here, as by load_checkpointables, which refuses the damaged one too"},
      {"v0_checkpoints/composite_checkpoint/checkpoint_metadata_missing/"
       "pytree_checkpointable_has_metadata",
       "items without _CHECKPOINT_METADATA are none here, as for load_checkpointables"},
  };
  return all;
}

/// How many arrays are read; nothing where the folder is refused.
std::optional<std::size_t> arrays_in(const std::string& folder) {
  const auto c = load(folder);
  if (!c) return {};
  std::size_t n = 0;
  for (const auto& [part, tensors] : c->parts) n += tensors.size();
  return n;
}

TEST(OrbaxCompatibility, EachStoredFolderIsReadOrRefusedAsUpstreamDoes) {
  const fs::path root =
      fs::path(__FILE__).parent_path().parent_path() / "testdata" / "orbax" / "compatibility";
  std::ifstream file(root / "upstream.json");
  const auto upstream = nlohmann::json::parse(file);
  std::size_t equal = 0, explained = 0;
  for (const auto& [name, row] : upstream["folders"].items()) {
    const auto& theirs = row["load"];
    const bool reads = theirs["does"] == "reads";
    const auto ours = arrays_in((root / name).string());
    const auto why = std::find_if(differences().begin(), differences().end(),
                                  [&](const auto& known) { return name.ends_with(known.first); });
    const bool same =
        ours.has_value() == reads && (!reads || *ours >= theirs["arrays"].get<std::size_t>());
    std::cout << fmt::format("{}: upstream {}, here {}{}\n", name,
                             theirs["does"].get<std::string>(), ours ? "reads" : "refuses",
                             same || why == differences().end() ? "" : ", " + why->second);
    equal += same;
    explained += !same && why != differences().end();
    EXPECT_TRUE(same || why != differences().end()) << name;
  }
  std::cout << fmt::format("{} folders: {} as upstream, {} explained\n", equal + explained, equal,
                           explained);
  EXPECT_EQ(upstream["folders"].size(), equal + explained);
  EXPECT_GE(equal + explained, 40u);
}

}  // namespace
}  // namespace strata::checkpoint::orbax
