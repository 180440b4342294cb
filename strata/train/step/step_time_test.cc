// Predicted times against sums done by hand.
#include "strata/train/step/step_time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "strata/train/config/config.h"

namespace strata::train {
namespace {

TEST(StepTime, ChipsGoByTheirNames) {
  for (const char* name : {"tpu:v5e:16x16", "v5e-256", "v5e:4x4"})
    EXPECT_EQ(chip_named(name).value().kind, "v5e") << name;
  for (const char* name : {"tpu:v5:2x2x1", "v5p-512"})
    EXPECT_EQ(chip_named(name).value().kind, "v5p") << name;
  for (const char* name : {"tpu:v9:4x4", "cuda:1x1x1", ""})
    EXPECT_FALSE(chip_named(name).has_value()) << name;
}

TEST(StepTime, IsARoofline) {
  const ChipSpeed chip{"x", 100, 10, 2, 2};
  const StepTime t = step_time(chip, {.flops = 200, .memory = 30, .links = 4, .dimensions = 3});
  EXPECT_DOUBLE_EQ(t.arithmetic, 2);
  EXPECT_DOUBLE_EQ(t.memory, 3);
  EXPECT_DOUBLE_EQ(t.links, 1);  // the torus has two dimensions
  EXPECT_DOUBLE_EQ(t.overlapped(), 3);
  EXPECT_DOUBLE_EQ(t.apart(), 6);
  EXPECT_EQ(t.bound(), "memory");
  EXPECT_DOUBLE_EQ(step_time(chip, {.links = 4}).links, 2);
  EXPECT_THAT(t.to_string(), testing::HasSubstr("3 s where all overlaps (memory bounds it), 6 s"));
}

TEST(StepTime, WorkIsThatOfTheStep) {
  Config c = read_config({}, {"remat_policy=full"}, Data::optional);
  MeshReport mesh{.devices = 4, .axes = "fsdp=4", .state_bytes = 100};
  const std::map<std::string, MovedBytes> moved = {{"all_gather", {2, 30}}, {"all_reduce", {1, 5}}};
  StepWork w = step_work(c, 300, mesh, moved);
  EXPECT_DOUBLE_EQ(w.flops, 400);  // forward a second time: 2 of 6 parts more
  EXPECT_DOUBLE_EQ(w.links, 35);
  EXPECT_DOUBLE_EQ(w.memory, 200 + 70);
  EXPECT_EQ(w.dimensions, 3);
  mesh.axes = "data=2, tensor=2";
  w = step_work(read_config({}, {}, Data::optional), 300, mesh, moved);
  EXPECT_DOUBLE_EQ(w.flops, 300);
  EXPECT_EQ(w.dimensions, 1);
  EXPECT_DOUBLE_EQ(received("all_gather", 40, 4), 30);
  EXPECT_DOUBLE_EQ(received("all_reduce", 40, 4), 60);
  EXPECT_DOUBLE_EQ(received("collective_permute", 40, 4), 40);
  EXPECT_DOUBLE_EQ(received("all_gather", 40, 1), 0);
}

}  // namespace
}  // namespace strata::train
