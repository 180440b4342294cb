// Conversations come back with the bits they had, from memory, from disk and after a restart; files
// that are damaged are refused.
#include "strata/engine/park.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <random>

#include "strata/base/checksum.h"
#include "strata/base/error.h"
#include "strata/base/file.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/engine/testing/small_model.h"

namespace strata::engine {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::prompt;
using Tokens = std::vector<std::int32_t>;

class ParkTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { compile::register_cpu(); }
  void SetUp() override {
    folder_ = ::testing::TempDir() + "/park_test_" + std::to_string(::getpid());
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  Options options(std::optional<DType> pages_dtype = {}) const {
    return {.pages = 20, .page_size = 8, .max_batch = 2, .pages_dtype = pages_dtype};
  }
  /// Of the first turn of a conversation: what was said and drawn.
  Tokens talk(Engine& e) const {
    const Request r{
        .tokens = prompt(1, 41), .sampling = {.temperature = 0.8, .seed = 4}, .max_tokens = 10};
    Tokens all = r.tokens;
    const Output out = testing::outputs(e, {r})[0];
    all.insert(all.end(), out.tokens.begin(), out.tokens.end());
    return all;
  }
  Output go_on(Engine& e, Tokens all) const {
    const Tokens question = prompt(2, 7);
    all.insert(all.end(), question.begin(), question.end());
    return testing::outputs(
        e, {{.tokens = all, .sampling = {.temperature = 0.8, .seed = 5}, .max_tokens = 12}})[0];
  }
  /// Fills the cache with other things.
  static void crowd(Engine& e) {
    for (unsigned i = 0; i < 3; ++i)
      testing::outputs(e, {{.tokens = prompt(100 + i, 150), .max_tokens = 1}});
  }
  std::string only_file() const {
    std::vector<std::string> names = *list_folder(folder_);
    EXPECT_EQ(names.size(), 1u);
    return folder_ + "/" + names.at(0);
  }

  const model::ModelPtr model_ = testing::small_model();
  const tree::Tree params_ = testing::weights(*model_);
  std::string folder_;
};

TEST_F(ParkTest, ComesBackFromMemory) {
  Engine e(model_, params_, options());
  const Tokens all = talk(e);
  const Output want = go_on(e, all);
  EXPECT_EQ(want.shared_tokens, 50) << "three pages, and a part of one";
  Conversations rest(e, {});
  ASSERT_TRUE(rest.park("a", all).ok());
  EXPECT_EQ(rest.memory(), 48 * 4 + 48 * 2 * 2 * 2 * 6 * 4);
  crowd(e);
  EXPECT_EQ(go_on(e, all).shared_tokens, 0) << "they are gone";
  crowd(e);
  EXPECT_EQ(*rest.resume("a"), 48);
  e.check();
  const Output got = go_on(e, all);
  EXPECT_EQ(got.shared_tokens, 48);
  EXPECT_EQ(got.tokens, want.tokens);
  EXPECT_EQ(got.logprobs, want.logprobs);
  EXPECT_EQ(*rest.resume("a"), 48) << "they are there";
  EXPECT_EQ(*rest.resume("b"), 0);
  EXPECT_TRUE(rest.forget("a").ok());
  EXPECT_EQ(rest.memory(), 0);
  EXPECT_EQ(*rest.resume("a"), 0);
  EXPECT_EQ(e.statistics().free_pages, 20);
}

TEST_F(ParkTest, ComesBackAfterARestart) {
  for (const std::optional<DType> dtype : {std::optional<DType>(), {DType::i8}, {DType::bf16}}) {
    fs::remove_all(folder_);
    Tokens all;
    Output want;
    {
      Engine e(model_, params_, options(dtype));
      all = talk(e);
      Conversations rest(e, {.folder = folder_});
      ASSERT_TRUE(rest.park("a", all).ok());
      EXPECT_FALSE(fs::exists(folder_)) << "memory is enough so far";
      ASSERT_TRUE(rest.flush().ok());
      EXPECT_GT(rest.disk(), 0);
      want = go_on(e, all);
    }
    Engine e(model_, params_, options(dtype));
    Conversations rest(e, {.folder = folder_});
    const auto found = rest.resume("a");
    ASSERT_TRUE(found.ok()) << found.status().message();
    EXPECT_EQ(*found, 48);
    const Output got = go_on(e, all);
    EXPECT_EQ(got.shared_tokens, 48);
    EXPECT_EQ(got.tokens, want.tokens);
    EXPECT_EQ(got.logprobs, want.logprobs);
  }
}

TEST_F(ParkTest, OthersPagesAreNotUsed) {
  Engine e(model_, params_, options());
  const Tokens all = talk(e);
  const std::optional<Parked> parked = e.park(all);
  Conversations rest(e, {.folder = folder_});
  ASSERT_TRUE(rest.park("a", all).ok() && rest.flush().ok());
  Engine trained(model_, testing::weights(*model_, 12), options()),
      narrow(model_, params_, options(DType::i8));
  for (Engine* other : {&trained, &narrow}) {
    Conversations theirs(*other, {.folder = folder_});
    EXPECT_EQ(*theirs.resume("a"), 0);
    EXPECT_THROW(other->resume(*parked), Error);
  }
  // After other weights nothing that was kept is of use.
  e.set_params(testing::weights(*model_, 12));
  EXPECT_EQ(*rest.resume("a"), 0);
}

TEST_F(ParkTest, LimitsMoveTheLongestUnusedOut) {
  Engine e(model_, params_, options());
  const Tokens all = talk(e);
  Conversations rest(e, {.memory = 12000, .folder = folder_, .disk = 25000});
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    ASSERT_TRUE(rest.park(name, all).ok());
    EXPECT_LE(rest.memory(), 12000);
    EXPECT_LE(rest.disk(), 25000);
  }
  EXPECT_EQ(*rest.resume("a"), 0) << "neither memory nor disk has room for it";
  EXPECT_EQ(*rest.resume("d"), 48) << "on disk";
  EXPECT_EQ(*rest.resume("e"), 48);
  Conversations nowhere(e, {.memory = 10});
  EXPECT_TRUE(nowhere.park("a", all).ok());
  EXPECT_EQ(nowhere.memory(), 0);
  EXPECT_EQ(*nowhere.resume("a"), 0);
  EXPECT_THROW(Conversations(e, {.memory = -1}), Error);
}

TEST_F(ParkTest, FewPagesTakeTheBeginning) {
  Engine e(model_, params_, options());
  const Tokens all = talk(e);
  const std::optional<Parked> parked = e.park(all);
  ASSERT_TRUE(parked);
  // A request holds all pages but three.
  crowd(e);
  const Id id = e.submit({.tokens = prompt(300, 130), .max_tokens = 20});
  for (int i = 0; i < 3; ++i) e.step();
  const std::int64_t free = e.statistics().free_pages;
  ASSERT_LT(free, 6);
  EXPECT_EQ(e.resume(*parked), free * 8);
  e.check();
  EXPECT_EQ(e.statistics().free_pages, free);
  e.cancel(id);
}

TEST_F(ParkTest, DamagedAndTruncatedFilesAreRefused) {
  Engine e(model_, params_, options());
  const Tokens all = talk(e);
  std::optional<Parked> parked = e.park(all);
  ASSERT_TRUE(parked);
  EXPECT_FALSE(e.park(all, "other"));
  parked->salt = "salt\x01";
  const std::string bytes = encode(*parked, "name");
  const auto whole = decode(bytes, "f");
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(whole->name, "name");
  EXPECT_EQ(whole->parked.salt, "salt\x01");
  EXPECT_EQ(whole->parked.tokens, parked->tokens);
  EXPECT_TRUE(whole->parked.contents[1].same_bits(parked->contents[1]));
  for (std::size_t length = 0; length < bytes.size(); length += length < 600 ? 1 : 97)
    ASSERT_FALSE(decode(bytes.substr(0, length), "f").ok()) << length;
  EXPECT_FALSE(decode(bytes + "x", "f").ok());
  std::mt19937 random(3);
  for (int i = 0; i < 300; ++i) {
    std::string damaged = bytes;
    damaged[i < 200 ? static_cast<std::size_t>(i) : random() % bytes.size()] ^=
        static_cast<char>(1 << (random() % 8));
    ASSERT_FALSE(decode(damaged, "f").ok()) << i;
  }
  std::string other = bytes;
  other[8] = 2;
  EXPECT_EQ(decode(other, "f").status().code(), Code::unsupported);
  // Headers that lie, with a right checksum.
  const auto with_header = [&](const std::string& from, const std::string& to) {
    std::string lie = bytes.substr(0, bytes.size() - 4);
    const std::size_t at = lie.find(from);
    EXPECT_NE(at, std::string::npos);
    lie.replace(at, from.size(), to);
    const auto grown = static_cast<char>(lie[12] + static_cast<char>(to.size() - from.size()));
    lie[12] = grown;
    const std::uint32_t sum = crc32c(lie);
    for (int i = 0; i < 4; ++i) lie += static_cast<char>(sum >> (8 * i));
    return decode(lie, "f");
  };
  EXPECT_TRUE(with_header("\"tokens\":48", "\"tokens\":48").ok());
  for (const auto& [from, to] : {std::pair("\"tokens\":48", "\"tokens\":49"),
                                 {"\"tokens\":48", "\"tokens\":-1"},
                                 {"\"tokens\":48", "\"tokens\":{}"},
                                 {"\"f32\"", "\"f99\""},
                                 {"\"shape\":[2,6", "\"shape\":[9,6"},
                                 {"\"shape\":[2,6", "\"shape\":[4611686018427387904,8"},
                                 {"\"name\":\"6e", "\"name\":\"zz"}})
    EXPECT_FALSE(with_header(from, to).ok()) << to;
  // A damaged file fails once and is gone.
  {
    Conversations rest(e, {.folder = folder_});
    ASSERT_TRUE(rest.park("a", all).ok() && rest.flush().ok());
  }
  std::string file = *read_file(only_file());
  file[file.size() / 2] ^= 1;
  ASSERT_TRUE(write_file_atomic(only_file(), file).ok());
  Conversations rest(e, {.folder = folder_});
  const auto got = rest.resume("a");
  ASSERT_FALSE(got.ok());
  EXPECT_THAT(got.status().message(), HasSubstr("damaged"));
  EXPECT_EQ(*rest.resume("a"), 0);
  EXPECT_TRUE(list_folder(folder_)->empty());
}

}  // namespace
}  // namespace strata::engine
