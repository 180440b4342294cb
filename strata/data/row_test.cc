// Texts become tokens in memory or streamed through a file: the same ones, and the second way in
// bounded memory.
#include "strata/data/row.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "strata/base/testing/process_memory.h"
#include "strata/data/compression/stream.h"
#include "strata/data/dataset.h"
#include "strata/data/documents.h"
#include "strata/data/format/elements.h"
#include "strata/data/tokens/tokens_writer.h"
#include "strata/tokenizer/tokenizer.h"

namespace strata::data {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class RowTest : public testing::Test {
 protected:
  RowTest() {
    std::string name = testing::TempDir() + "row_XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~RowTest() override { fs::remove_all(folder_); }
  std::string write(const std::string& name, const std::string& bytes) const {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  std::string folder_;
};

/// Lines of words, some of several bytes a character.
std::string prose(int lines, int seed) {
  static const char* kWords[] = {"verse", "light", "größer", "日本", "and", "the", "0x1f", "naïve"};
  std::string out;
  for (std::int64_t i = 0; i < lines; ++i) {
    for (std::int64_t j = 0; j < 1 + (i * seed) % 9; ++j)
      out += std::string(kWords[static_cast<std::size_t>((i * i + j * seed) % 8)]) + " ";
    for (std::int64_t j = 0; j < 5; ++j)
      out += static_cast<char>('a' + (i * i / 3 + i * j * seed) % 26);
    out += " " + std::to_string(i * i % 977) + "\n";
  }
  return out;
}

std::vector<std::int32_t> all_tokens(const Row& row) {
  std::vector<std::int32_t> out(static_cast<std::size_t>(row.size()));
  row.copy(0, out);
  return out;
}

void expect_same(const Row& a, const Row& b) {
  ASSERT_EQ(a.size(), b.size());
  ASSERT_EQ(a.documents(), b.documents());
  EXPECT_EQ(a.checksum(), b.checksum());
  EXPECT_EQ(a.files(), b.files());
  EXPECT_EQ(all_tokens(a), all_tokens(b));
  for (std::int64_t d = 0; d < a.documents(); ++d) {
    ASSERT_EQ(a.document(d), b.document(d));
    ASSERT_EQ(a.file_of(d), b.file_of(d));
    ASSERT_EQ(a.record_of(d), b.record_of(d));
  }
}

/// Law: what is held in memory and what is streamed are the same row, whatever the files are.
TEST_F(RowTest, StreamedTextsAreTheSameTokens) {
  const std::string book = prose(3000, 7);
  std::string lines;
  for (int i = 0; i < 200; ++i)
    lines +=
        "{\"text\": \"line " + std::to_string(i) + " ü\"}\n" + (i % 9 ? "" : "\n{\"text\":\"\"}\n");
  Source source{.name = "mixed"};
  source.patterns = {write("a.txt", book), write("b.jsonl", lines), write("empty.txt", ""),
                     write("mark.txt", "\xef\xbb\xbf" + prose(50, 3))};
  const std::string packed = folder_ + "/c.jsonl.gz";
  auto output = Output::create(packed).value();
  ASSERT_TRUE(output.write(lines).ok() && output.close().ok());
  source.patterns.push_back(packed);
  const std::string records = folder_ + "/d.tfrecord", tokens = folder_ + "/e.npy";
  auto writer = create_elements(records).value();
  for (int i = 0; i < 40; ++i)
    ASSERT_TRUE(writer->add(Element::dict({{"text", "record " + std::to_string(i)}})).ok());
  ASSERT_TRUE(writer->close().ok());
  auto arrays = create_elements(tokens).value();
  for (int i = 0; i < 30; ++i)
    ASSERT_TRUE(arrays->add(Literal::of<std::int32_t>({3}, {i, i + 1, i + 2})).ok());
  ASSERT_TRUE(arrays->close().ok());
  source.patterns.insert(source.patterns.end(), {records, tokens, write("z.txt", prose(20, 5))});

  const auto model = tokenizer::train_tokenizer({book}, {.vocab_size = 512}).value();
  const auto pieces = *tokenizer::load_tokenizer("sentencepiece", write("t.model", model));
  const tokenizer::ByteTokenizer bytes;
  for (const tokenizer::Tokenizer* t :
       {static_cast<const tokenizer::Tokenizer*>(&bytes), &*pieces}) {
    SCOPED_TRACE(t->type());
    const RowOptions held{.column = "text", .cache_folder = ""};
    RowOptions streamed = held;
    streamed.memory_bytes = 0;
    const Row twin = Row::read(source, *t, held).value();
    EXPECT_GT(twin.documents(), 400);
    expect_same(twin, Row::read(source, *t, streamed).value());
    // The cache holds the same files under the same names either way.
    streamed.cache_folder = folder_ + "/cache";
    for (int i = 0; i < 2; ++i) expect_same(twin, Row::read(source, *t, streamed).value());
    const auto files = [&] {
      return fs::exists(streamed.cache_folder)
                 ? std::distance(fs::directory_iterator(streamed.cache_folder), {})
                 : 0;
    };
    const auto before = files();
    EXPECT_EQ(before, t->type() == "byte" ? 0 : 2);
    streamed.memory_bytes = held.memory_bytes;
    expect_same(twin, Row::read(source, *t, streamed).value());
    EXPECT_EQ(files(), before);
    // A cache that cannot be written costs time alone.
    streamed.memory_bytes = 0;
    streamed.cache_folder = source.patterns[0] + "/no-folder";
    expect_same(twin, Row::read(source, *t, streamed).value());
  }
}

/// A document longer than what is looked at to cut it.
TEST_F(RowTest, LongDocumentsAreCutWhereTheyAreInMemory) {
  const std::string book = prose(2000, 7);
  std::string text;
  while (text.size() < (std::size_t{9} << 20)) text += book;
  text[text.size() / 2] = ' ';
  const Source source{.name = "long", .patterns = {write("long.txt", text)}};
  const RowOptions held{.column = "text", .cache_folder = ""};
  RowOptions streamed = held;
  streamed.memory_bytes = 0;
  const tokenizer::ByteTokenizer bytes;
  expect_same(Row::read(source, bytes, held).value(), Row::read(source, bytes, streamed).value());
}

/// A text's mistakes are told alike when it is read whole and piece by piece.
TEST_F(RowTest, FaultsAreSaidAlike) {
  const std::string good = prose(200000, 7);  // several pieces
  ASSERT_GT(good.size(), std::size_t{3} << 20);
  const std::size_t far = good.find('\n', good.size() - 1000) + 1;
  const auto with = [&](std::size_t at, const std::string& bytes) {
    return good.substr(0, at) + bytes + good.substr(at);
  };
  std::string latin = with(far, "\xe9"), nul = with(far, std::string(1, '\0'));
  struct Ignore : TextSink {
    Status add(std::string_view) override { return {}; }
    Status end_document() override { return {}; }
  } ignore;
  const std::string json = "{\"text\": \"x\"}\n";
  for (const auto& [name, text] : std::vector<std::pair<std::string, std::string>>{
           {"latin.txt", latin},
           {"nul.txt", nul},
           {"both.txt", with(1000, "\xff") + std::string(1, '\0')},
           {"marked.txt", "\xef\xbb\xbf" + latin},
           {"cut.txt", good.substr(0, far) + "\xe6\x97"},
           {"edge.txt", std::string((1 << 20) - 1, 'a') + "\xe6\x97"},
           {"packed.txt", "PK\x03\x04 a zip archive"},
           {"latin.jsonl", json + json + "{\"text\": \"\xe9\"}\n"},
           {"wrong.jsonl", json + "\n" + json + "{\"text\": 7}\n" + json},
           {"open.jsonl", json + "{\"text\": \n" + json},
           {"later.jsonl", json + "{]\n" + json + "\xe9\n"},
           {"half.jsonl", json + "{\"text\": \"\\ud83d\"}\n"}}) {
    SCOPED_TRACE(name);
    const std::string path = write(name, text);
    const auto whole = read_documents(path);
    const Status pieces = stream_documents(path, {}, ignore);
    ASSERT_FALSE(whole.ok());
    EXPECT_EQ(pieces.message(), whole.status().message());
    EXPECT_EQ(pieces.code(), whole.status().code());
  }
  std::string edge((1 << 20) - 2, 'a');
  edge += "日本";
  EXPECT_TRUE(stream_documents(write("fine.txt", edge), {}, ignore).ok());
  EXPECT_FALSE(stream_documents(folder_ + "/none.txt", {}, ignore).ok());
}

TEST_F(RowTest, DocumentsThatChangedAreRefused) {
  const tokenizer::ByteTokenizer bytes;
  const std::vector<std::int32_t> word = {'w'};
  auto few = TokensWriter::create("", bytes, 2).value();
  ASSERT_TRUE(few.add_part(word).ok() && few.end_document().ok());
  EXPECT_THAT(std::move(few).finish().status().message(), HasSubstr("changed"));
  auto many = TokensWriter::create(folder_ + "/x.tokens", bytes, 1).value();
  ASSERT_TRUE(many.add_part(word).ok() && many.end_document().ok());
  EXPECT_THAT(many.end_document().message(), HasSubstr("there were 1 documents"));
  {
    auto lost = TokensWriter::create(folder_ + "/y.tokens", bytes, 1).value();
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);  // what `many` still writes
  EXPECT_EQ(TokensWriter::create(folder_ + "/no/y.tokens", bytes, 1).status().code(),
            Code::not_found);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/// Bytes of this process' own memory, mapped files not counted.
std::int64_t own_memory() { return static_cast<std::int64_t>(process_memory("RssAnon:")); }

/// A text of 96 MB takes no more memory than its rounds, which are of 8 MB and their tokens.
TEST_F(RowTest, MemoryDoesNotGrowWithTheText) {
  constexpr std::int64_t kText = std::int64_t{96} << 20;
  std::string block = prose(20000, 7);
  std::ofstream file(folder_ + "/large.txt", std::ios::binary);
  std::int64_t bytes = 0;
  for (; bytes < kText; bytes += std::ssize(block)) file << block;
  file.close();
  std::int64_t most = 0;
  const std::int64_t before = own_memory();
  RowOptions o{.column = "text", .cache_folder = "", .memory_bytes = 1 << 20};
  o.progress = [&](const std::string&) { most = std::max(most, own_memory()); };
  const auto row = Row::read({.name = "large", .patterns = {folder_ + "/large.txt"}},
                             tokenizer::ByteTokenizer(), o);
  ASSERT_TRUE(row.ok()) << row.status().message();
  EXPECT_EQ(row->size(), bytes + 1);
  EXPECT_GT(most, 0);
  EXPECT_LT(std::max(most, own_memory()) - before, kText * 2 / 3);
  RecordProperty("megabytes", static_cast<int>((most - before) >> 20));
}
#endif

}  // namespace
}  // namespace strata::data
