// Conversions in shards that are killed everywhere: every record stands in one shard.
#include "strata/data/format/convert_shards.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <random>

#include "strata/base/error.h"
#include "strata/base/file.h"

namespace strata::data {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class ConvertShards : public testing::Test {
 protected:
  ConvertShards() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    std::string text;
    for (int i = 0; i < kRecords; ++i) {
      if (i == 7) text += "{broken\n";
      text += fmt::format("{{\"n\": {}, \"text\": \"record {}\"}}\n", i, i);
    }
    EXPECT_TRUE(write_file_atomic(folder_ + "/from.jsonl", text + "{broken too\n").ok());
  }

  Result<ConvertedShards> convert(const std::string& to, ConvertOptions o = {}) const {
    o.on_damage = OnDamage::quarantine;
    if (to.ends_with("_mds")) o.to_format = "mds";
    return convert_in_shards(folder_ + "/from.jsonl", folder_ + "/" + to, kShard, o);
  }

  /// Names of what is in the folder, its source left out.
  std::vector<std::string> names() const {
    auto out = list_folder(folder_).value();
    std::erase(out, "from.jsonl");
    return out;
  }

  std::vector<std::int64_t> numbers(const std::string& name, const std::string& ending) const {
    std::vector<std::int64_t> out;
    for (int i = 0; i < kShards; ++i) {
      const std::string path =
          fmt::format("{}/{}-{:05}-of-{:05}{}", folder_, name, i, kShards, ending);
      auto scanner = open_elements(path);
      EXPECT_TRUE(scanner.ok()) << scanner.status().message();
      if (!scanner) return out;
      for (Element e; (*scanner)->next(e).value();) out.push_back(e.at("n").integer());
    }
    return out;
  }

  static std::vector<std::int64_t> all() {
    std::vector<std::int64_t> out(kRecords);
    for (int i = 0; i < kRecords; ++i) out[static_cast<std::size_t>(i)] = i;
    return out;
  }

  static constexpr int kRecords = 23, kShard = 5, kShards = 5;
  const std::string folder_ = ::testing::TempDir() + "convert_shards";
};

TEST_F(ConvertShards, NamesSayHowManyThereAre) {
  const auto done = convert("to.array_record");
  ASSERT_TRUE(done.ok()) << done.status().message();
  EXPECT_EQ(done->total.records, kRecords);
  EXPECT_EQ(done->total.damaged, 2);
  EXPECT_EQ(done->shards, kShards);
  EXPECT_EQ(done->resumed, 0);
  EXPECT_EQ(numbers("to", ".array_record"), all());
  EXPECT_THAT(names(),
              ElementsAre("to-00000-of-00005.array_record", "to-00001-of-00005.array_record",
                          "to-00001-of-00005.array_record.quarantine.jsonl",
                          "to-00002-of-00005.array_record", "to-00003-of-00005.array_record",
                          "to-00004-of-00005.array_record",
                          "to-00004-of-00005.array_record.quarantine.jsonl"));
}

TEST_F(ConvertShards, FoldersAndCompressedFilesAreShardsToo) {
  ASSERT_TRUE(convert("to.jsonl.zst").ok());
  EXPECT_EQ(numbers("to", ".jsonl.zst"), all());
  const auto mds = convert("to_mds");
  ASSERT_TRUE(mds.ok()) << mds.status().message();
  EXPECT_EQ(numbers("to_mds", ""), all());
}

/// The child ends itself by SIGKILL before the n-th write, sync or rename; the parent goes on.
TEST_F(ConvertShards, KilledBeforeEveryWriteItGoesOn) {
  int points = 0;
  for (bool killed = true; killed; ++points) {
    const std::string to = fmt::format("k{}.tfrecord", points);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      int left = points;
      testing_hooks::set_before_io([&](const char*) {
        if (left-- == 0) ::kill(::getpid(), SIGKILL);
      });
      ::_exit(convert(to).ok() ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    killed = WIFSIGNALED(status);
    if (!killed) {
      ASSERT_EQ(WEXITSTATUS(status), 0);
    }
    if (killed) {
      const auto done = convert(to);
      ASSERT_TRUE(done.ok()) << points << ": " << done.status().message();
      // Killed when all had its name and the journal was away, it is one more conversion.
      EXPECT_EQ(done->total.records, kRecords) << points;
      EXPECT_EQ(done->total.damaged, 2) << points;
    }
    EXPECT_EQ(numbers(fmt::format("k{}", points), ".tfrecord"), all()) << points;
    const auto left = names();
    EXPECT_EQ(std::ssize(left), kShards + 2) << points << ": " << testing::PrintToString(left);
    for (const std::string& name : left) fs::remove_all(folder_ + "/" + name);
  }
  EXPECT_GT(points, 30);
}

/// Killed at random moments, again and again, until it comes to its end.
TEST_F(ConvertShards, KilledAgainAndAgainItEnds) {
  std::mt19937 random(1);
  for (const char* ending : {".array_record", ".jsonl.gz"}) {
    const std::string to = std::string("r") + ending;
    int kills = 0;
    for (bool killed = true; killed; ++kills) {
      ASSERT_LT(kills, 200);
      const pid_t child = ::fork();
      ASSERT_GE(child, 0);
      if (child == 0) {
        ConvertOptions o;
        int left = 1 + static_cast<int>(random() % 4);  // of two calls for a shard
        o.progress = [&](std::int64_t, double) {
          if (--left == 0) ::kill(::getpid(), SIGKILL);
        };
        ::_exit(convert(to, o).ok() ? 0 : 1);
      }
      random.discard(1);
      int status = 0;
      ASSERT_EQ(::waitpid(child, &status, 0), child);
      killed = WIFSIGNALED(status);
      if (!killed) ASSERT_EQ(WEXITSTATUS(status), 0);
    }
    EXPECT_GT(kills, 3);
    EXPECT_EQ(numbers("r", ending), all());
    EXPECT_EQ(std::ssize(names()), kShards + 2);
    for (const std::string& name : names()) fs::remove_all(folder_ + "/" + name);
  }
}

TEST_F(ConvertShards, AJournalOfAnotherConversionIsRefused) {
  const pid_t child = ::fork();
  if (child == 0) {
    ConvertOptions o;
    int left = 4;
    o.progress = [&](std::int64_t, double) {
      if (--left == 0) ::kill(::getpid(), SIGKILL);
    };
    ::_exit(convert("j.bagz", o).ok() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  ConvertOptions o;
  o.limit = 9;
  EXPECT_THAT(convert("j.bagz", o).status().message(), HasSubstr("of another conversion"));
  const auto done = convert("j.bagz");
  ASSERT_TRUE(done.ok()) << done.status().message();
  EXPECT_EQ(done->resumed, 2 * kShard);
  EXPECT_EQ(numbers("j", ".bagz"), all());
}

TEST_F(ConvertShards, NoRecordsAreOneShardAndALimitIsKept) {
  ASSERT_TRUE(write_file_atomic(folder_ + "/none.jsonl", "").ok());
  const auto none = convert_in_shards(folder_ + "/none.jsonl", folder_ + "/n.jsonl", 5, {});
  ASSERT_TRUE(none.ok()) << none.status().message();
  EXPECT_EQ(none->shards, 1);
  EXPECT_TRUE(file_exists(folder_ + "/n-00000-of-00001.jsonl"));
  ConvertOptions o;
  o.limit = 10;
  const auto ten = convert("t.jsonl", o);
  EXPECT_EQ(ten->total.records, 10);
  EXPECT_EQ(ten->shards, 2);
  EXPECT_THROW((void)convert_in_shards("a.jsonl", "b.jsonl", 0, {}), Error);
  EXPECT_EQ(convert_in_shards(folder_ + "/from.jsonl", folder_ + "/x.what", 5, {}).status().code(),
            Code::invalid);
}

}  // namespace
}  // namespace strata::data
