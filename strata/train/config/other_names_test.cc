#include "strata/train/config/other_names.h"

#include <gtest/gtest.h>

#include "strata/train/config/config.h"

namespace strata::train {
namespace {

TEST(OtherNames, ArriveAtKeys) {
  EXPECT_EQ(key_called("lr"), "learning_rate");
  EXPECT_EQ(key_called("LR"), "learning_rate");
  EXPECT_EQ(key_called("max-grad-norm"), "gradient_clipping_threshold");
  EXPECT_EQ(key_called("optimizer"), "opt_type");
  EXPECT_EQ(key_called("hidden_size"), "base_emb_dim");
  EXPECT_EQ(key_called("color"), "");
  EXPECT_EQ(key_called(""), "");
  EXPECT_EQ(key_called("n_head n_heads"), "");
}

TEST(OtherNames, AreOfKeysThatExistAndAreNone) {
  Config c;
  for (const Field& f : fields()) EXPECT_EQ(key_called(f.name), "") << f.name;
  for (const char* name : {"lr", "seed", "batch_size", "seq_len", "n_layer", "beta1", "out_dir",
                           "save_steps", "precision", "tokenizer", "dataset", "epochs"}) {
    const std::string_view key = key_called(name);
    EXPECT_TRUE(std::any_of(fields().begin(), fields().end(), [&](const Field& f) {
      return f.name == key;
    })) << name;
    try {
      set(c, name, "1");
      ADD_FAILURE() << name << " is a key";
    } catch (const ConfigError& e) {
      EXPECT_EQ(std::string(e.what()),
                fmt::format("unknown key '{}'; did you mean '{}'?", name, key));
    }
  }
}

}  // namespace
}  // namespace strata::train
