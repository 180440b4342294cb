#include "strata/train/report/schedule_note.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata::train {
namespace {

std::string note(const std::string& pieces, std::int64_t steps) {
  return schedule_note(read_config(
      {}, {"train_files=a.txt", "lr_pieces=" + pieces, "steps=" + std::to_string(steps)}));
}

TEST(ScheduleNote, TellsOfPiecesThatARunDoesNotEndWith) {
  EXPECT_EQ(note("linear 0 -> 1e-3 over 10, cosine -> 1e-4 over 20", 4),
            "lr_pieces are 30 steps long, the run 4: it ends within them");
  EXPECT_EQ(note("linear 0 -> 1e-3 over 10, cosine -> 1e-4 over 20", 40),
            "lr_pieces are 30 steps long, the run 40: from there on the rate stays 0.0001");
}

TEST(ScheduleNote, IsEmptyForPiecesThatSayAll) {
  EXPECT_EQ(note("linear 0 -> 1e-3 over 10, cosine -> 1e-4 over 20", 30), "");
  EXPECT_EQ(note("linear 0 -> 1e-3 over 10, constant", 40), "");
  EXPECT_EQ(note("linear 0 -> 1e-3 over 10, constant 5", 40), "");
  EXPECT_EQ(schedule_note(read_config({}, {"train_files=a.txt"})), "");
}

}  // namespace
}  // namespace strata::train
