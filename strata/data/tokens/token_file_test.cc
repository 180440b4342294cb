#include "strata/data/tokens/token_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "strata/base/checksum.h"
#include "strata/base/file.h"
#include "strata/data/dataset.h"

namespace strata::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Bytes, but of a vocabulary that needs four bytes for a token.
class WideTokenizer : public tokenizer::ByteTokenizer {
 public:
  std::int64_t vocab_size() const override { return 70000; }
  std::string fingerprint() const override { return "wide"; }
};

class TokenFile : public testing::Test {
 protected:
  TokenFile() {
    std::string name = testing::TempDir() + "tokens_XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~TokenFile() override { std::filesystem::remove_all(folder_); }
  static Tokens some(const tokenizer::Tokenizer& tokenizer = tokenizer::ByteTokenizer()) {
    TokensBuilder builder(tokenizer);
    builder.add(std::vector<std::int32_t>{5, 6, 7});
    builder.add({});
    builder.add(std::vector<std::int32_t>{255});
    return std::move(builder).finish();
  }
  std::string written(const Tokens& tokens) const {
    EXPECT_TRUE(tokens.write(folder_ + "/a.tokens").ok());
    return *read_file(folder_ + "/a.tokens");
  }
  static Result<Tokens> decode(const std::string& bytes) {
    return Tokens::decode(std::make_shared<const std::string>(bytes), "t");
  }
  /// `bytes` with both checksums made right.
  static std::string signed_again(std::string bytes) {
    const std::uint32_t body = crc32c(std::string_view(bytes).substr(64));
    std::memcpy(bytes.data() + 40, &body, 4);
    const std::uint32_t header = crc32c(std::string_view(bytes).substr(0, 60));
    std::memcpy(bytes.data() + 60, &header, 4);
    return bytes;
  }
  template <class T>
  static std::string with(std::string bytes, std::size_t at, T value) {
    std::memcpy(bytes.data() + at, &value, sizeof value);
    return signed_again(bytes);
  }
  std::string folder_;
};

std::vector<std::int32_t> all(const Tokens& t) {
  std::vector<std::int32_t> out(static_cast<std::size_t>(t.size()));
  t.copy(0, out);
  return out;
}

TEST_F(TokenFile, ReadsWhatItWrites) {
  const WideTokenizer wide;
  const tokenizer::ByteTokenizer bytes;
  for (const tokenizer::Tokenizer* tokenizer : {static_cast<const tokenizer::Tokenizer*>(&bytes),
                                                static_cast<const tokenizer::Tokenizer*>(&wide)}) {
    const Tokens made = some(*tokenizer);
    ASSERT_TRUE(made.write(folder_ + "/x.tokens").ok());
    EXPECT_TRUE(Tokens::is_token_file(folder_ + "/x.tokens"));
    auto read = Tokens::open(folder_ + "/x.tokens");
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_THAT(all(*read), ElementsAre(5, 6, 7, 0, 0, 255, 0));
    EXPECT_EQ(read->documents(), 3);
    EXPECT_EQ(read->document(1), 4);
    EXPECT_EQ(read->document(3), 7);
    EXPECT_EQ(read->fingerprint(), tokenizer->fingerprint());
    EXPECT_EQ(read->vocab_size(), tokenizer->vocab_size());
    EXPECT_EQ(read->checksum(), made.checksum());
  }
}

/// The layout that the header promises, byte by byte.
TEST_F(TokenFile, HasTheDocumentedBytes) {
  const std::string bytes = written(some());
  EXPECT_EQ(bytes.size(), 64u + 8 + 8 * 4 + 2 * 7);
  EXPECT_EQ(bytes.substr(0, 8), "STRATOK1");
  auto u32 = [&](std::size_t at) {
    std::uint32_t v;
    return std::memcpy(&v, bytes.data() + at, 4), v;
  };
  EXPECT_EQ(u32(8), 2u);
  EXPECT_EQ(u32(12), 256u);
  EXPECT_EQ(u32(16), 7u);
  EXPECT_EQ(u32(24), 3u);
  EXPECT_EQ(u32(32), 0u);
  EXPECT_EQ(u32(36), 4u);
  EXPECT_EQ(bytes.substr(64, 8), std::string("byte\0\0\0\0", 8));
  EXPECT_EQ(u32(72 + 8), 4u);
  EXPECT_EQ(bytes.substr(104, 6), std::string("\5\0\6\0\7\0", 6));
}

/// Law: no byte may be changed, and none may be missing or added.
TEST_F(TokenFile, EveryDamageIsFound) {
  const std::string bytes = written(some());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string hurt = bytes;
      hurt[i] = static_cast<char>(hurt[i] ^ (1 << bit));
      EXPECT_EQ(decode(hurt).status().code(), Code::corrupt) << "byte " << i;
    }
    EXPECT_EQ(decode(bytes.substr(0, i)).status().code(), Code::corrupt) << i << " bytes";
  }
  EXPECT_EQ(decode(bytes + '\0').status().code(), Code::corrupt);
}

/// Files whose checksums are right and whose contents are not.
TEST_F(TokenFile, SaysWhatIsWrong) {
  const std::string bytes = written(some());
  auto message = [&](const std::string& wrong) { return decode(wrong).status().message(); };
  EXPECT_THAT(message(with<std::uint32_t>(bytes, 8, 3)), HasSubstr("tokens of 3 bytes"));
  EXPECT_THAT(message(with<std::uint32_t>(bytes, 12, 0)), HasSubstr("a vocabulary of 0"));
  EXPECT_THAT(message(with<std::uint32_t>(bytes, 12, 200)),
              HasSubstr("token 5 is 255 in a vocabulary of 200"));
  EXPECT_THAT(message(with<std::uint64_t>(bytes, 16, 8)),
              HasSubstr("it has 118 bytes and should have 120"));
  EXPECT_THAT(message(with<std::uint64_t>(bytes, 16, std::uint64_t{1} << 63)),
              HasSubstr("do not fit into 118 bytes"));
  EXPECT_THAT(message(with<std::uint64_t>(bytes, 24, ~std::uint64_t{0})),
              HasSubstr("do not fit into 118 bytes"));
  EXPECT_THAT(message(with<std::uint32_t>(bytes, 32, 256)), HasSubstr("separator 256"));
  EXPECT_THAT(message(with<std::uint32_t>(bytes, 44, 1)), HasSubstr("unknown fields"));
  EXPECT_THAT(message(with<std::uint64_t>(bytes, 72, 1)),
              HasSubstr("documents reach from 1 to 7 of 7 tokens"));
  EXPECT_THAT(message(with<std::uint64_t>(bytes, 80, 5)),
              HasSubstr("document 1 begins with token 5 and the next one with 5"));
  EXPECT_THAT(message("STRATOK1"), HasSubstr("it has 8 bytes"));
}

TEST_F(TokenFile, TrainsLikeTheTextItWasMadeOf) {
  std::string text;
  for (int i = 0; i < 900; ++i) text.push_back(static_cast<char>('a' + i * i % 26));
  std::ofstream(folder_ + "/text.txt") << text;
  TokensBuilder builder{tokenizer::ByteTokenizer()};
  builder.add(tokenizer::ByteTokenizer().encode(text));
  ASSERT_TRUE(std::move(builder).finish().write(folder_ + "/text.tokens").ok());
  DatasetOptions o{
      .train_files = {folder_ + "/text.txt"}, .batch = 2, .length = 16, .cache_folder = ""};
  auto of_text = Dataset::open(o);
  o.train_files = {folder_ + "/text.tokens"};
  auto of_tokens = Dataset::open(o);
  ASSERT_TRUE(of_tokens.ok()) << of_tokens.status().message();
  for (std::int64_t step = 0; step < 60; ++step)
    EXPECT_TRUE(of_text->batch(step).tokens.same_bits(of_tokens->batch(step).tokens));
  EXPECT_EQ(of_text->check_state(of_tokens->state(3)), "");
  // Several files of both kinds are one row.
  o.train_files = {folder_ + "/text.tokens," + folder_ + "/text.txt," + folder_ + "/text.tokens"};
  auto joined = Dataset::open(o);
  EXPECT_EQ(joined->sources()[0].tokens, 3 * 901);
  EXPECT_EQ(joined->sources()[0].documents, 3);
}

TEST_F(TokenFile, TokensOfAnotherTokenizerAreRefused) {
  ASSERT_TRUE(some(WideTokenizer()).write(folder_ + "/wide.tokens").ok());
  auto data = Dataset::open(
      {.train_files = {folder_ + "/wide.tokens"}, .batch = 1, .length = 2, .cache_folder = ""});
  EXPECT_THAT(data.status().message(),
              HasSubstr("its tokens are of the tokenizer wide, the run's is byte"));
  std::filesystem::resize_file(folder_ + "/wide.tokens", 100);
  auto cut = Dataset::open(
      {.train_files = {folder_ + "/wide.tokens"}, .batch = 1, .length = 2, .cache_folder = ""});
  EXPECT_EQ(cut.status().code(), Code::corrupt);
}

}  // namespace
}  // namespace strata::data
