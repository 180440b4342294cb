#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <stdexcept>
#include <thread>

#include "strata/base/thread_pool.h"
#include "strata/data/dataset.h"
#include "strata/data/format/elements.h"
#include "strata/data/format/megatron.h"
#include "strata/data/prefetch.h"
#include "strata/data/row.h"

namespace strata::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class DataTest : public testing::Test {
 protected:
  DataTest() {
    std::string name = testing::TempDir() + "data_XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~DataTest() override { std::filesystem::remove_all(folder_); }
  std::string write(const std::string& name, const std::string& bytes) const {
    const std::string path = folder_ + "/" + name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  /// `n` letters, no two windows of which are alike.
  static std::string letters(int n, int seed = 1) {
    std::string out;
    for (int i = 0; i < n; ++i) out.push_back(static_cast<char>('a' + (i * i * seed + i / 7) % 26));
    return out;
  }
  DatasetOptions options(const std::string& files) const {
    return {
        .train_files = {files}, .eval_fraction = 0.1, .batch = 3, .length = 10, .cache_folder = ""};
  }
  static std::string refusal(const DatasetOptions& o) {
    auto data = Dataset::open(o);
    return data ? "accepted" : data.status().message();
  }
  static std::string text(const Literal& tokens) {
    std::string out;
    for (std::int32_t t : tokens.span<std::int32_t>()) out.push_back(static_cast<char>(t));
    return out;
  }
  std::string folder_;
};

TEST_F(DataTest, DocumentsAreFollowedBySeparators) {
  write("b.txt", "second");
  write("a.txt", "first");
  auto o = options(folder_ + "/*.txt");
  o.batch = 1, o.length = 12, o.eval_fraction = 0;
  auto data = Dataset::open(o);
  ASSERT_TRUE(data.ok()) << data.status().message();
  EXPECT_EQ(text(data->batch(0).tokens), std::string("first\0second", 12));
  EXPECT_EQ(text(data->batch(0).targets), std::string("irst\0second\0", 12));
  EXPECT_EQ(data->sources()[0].tokens, 13);
  EXPECT_EQ(data->sources()[0].documents, 2);
  EXPECT_EQ(data->batch(0).total_weights, 12);
  EXPECT_FALSE(data->batch(0).weights);
}

TEST_F(DataTest, TextsInMemoryAreASourceToo) {
  write("a.txt", letters(100)), write("b.txt", letters(60));
  auto files = Dataset::open(options(folder_ + "/*.txt")),
       memory = Dataset::of_documents({letters(100), letters(60)}, options(""));
  ASSERT_TRUE(memory.ok());
  EXPECT_TRUE(files->batch(3).tokens.same_bits(memory->batch(3).tokens));
  EXPECT_THAT(Dataset::of_documents({}, options("")).status().message(),
              HasSubstr("text has 0 tokens to train on"));
}

/// Law: in each epoch every window of a source is read once.
TEST_F(DataTest, AnEpochVisitsEachWindowOnce) {
  auto data = Dataset::open(
      options(write("a.txt", letters(1000)) + ",0.7;" + write("b.txt", letters(300, 3)) + ",0.3"));
  ASSERT_TRUE(data.ok()) << data.status().message();
  std::map<std::pair<std::size_t, std::int64_t>, std::multiset<std::int64_t>> seen;
  for (std::int64_t k = 0; k < 1000; ++k) {
    const ElementPlace e = data->element(k);
    seen[{e.source, e.epoch}].insert(e.window);
  }
  int whole = 0;
  for (const auto& [epoch, windows] : seen) {
    const auto n = static_cast<std::size_t>(data->sources()[epoch.first].windows);
    EXPECT_EQ(std::set(windows.begin(), windows.end()).size(), windows.size());
    EXPECT_LE(windows.size(), n);
    if (windows.size() < n) continue;
    EXPECT_EQ(*windows.begin(), 0);
    EXPECT_EQ(*windows.rbegin(), static_cast<std::int64_t>(n) - 1);
    ++whole;
  }
  EXPECT_GE(whole, 15);
}

/// Law: overlapping windows make every token but the first a target, once, up to the end that fills
/// no window.
TEST_F(DataTest, OverlappingWindowsLoseNoTarget) {
  for (int size : {11, 12, 20, 21, 22, 999}) {
    auto o = options(write("a.txt", letters(size - 1)));
    o.batch = 1, o.eval_fraction = 0;
    auto data = Dataset::open(o);
    ASSERT_TRUE(data.ok()) << data.status().message();
    const SourceInfo& s = data->sources()[0];
    EXPECT_EQ(s.windows, (size - 1) / 10);
    std::multiset<std::int64_t> targets;
    for (std::int64_t k = 0; k < s.windows; ++k) {
      const ElementPlace e = data->element(k);
      for (std::int64_t i = 1; i <= 10; ++i) targets.insert(e.token + i);
    }
    EXPECT_EQ(static_cast<std::int64_t>(targets.size()), (size - 1) / 10 * 10);
    EXPECT_EQ(std::set(targets.begin(), targets.end()).size(), targets.size());
    EXPECT_EQ(*targets.begin(), 1);
    EXPECT_EQ(*targets.rbegin(), (size - 1) / 10 * 10);
  }
}

TEST_F(DataTest, DisjointWindowsLoseTheLastTargetOfEach) {
  auto o = options(write("a.txt", letters(40)));
  o.batch = 1, o.eval_fraction = 0, o.window_mode = WindowMode::disjoint;
  auto data = Dataset::open(o);
  ASSERT_TRUE(data.ok());
  EXPECT_EQ(data->sources()[0].windows, 4);
  const std::string all = letters(40);
  for (std::int64_t k = 0; k < 4; ++k) {
    const Batch b = data->batch(k);
    const auto at = static_cast<std::size_t>(data->element(k).token);
    EXPECT_EQ(text(b.tokens), all.substr(at, 10));
    EXPECT_EQ(text(b.targets), all.substr(at + 1, 9) + std::string(1, '\0'));
    EXPECT_EQ(b.total_weights, 9);
    EXPECT_THAT(b.weights->span<float>(), ElementsAre(1, 1, 1, 1, 1, 1, 1, 1, 1, 0));
  }
}

TEST_F(DataTest, ABatchDependsOnItsNumberAndTheOptionsOnly) {
  auto o = options(write("a.txt", letters(1000)) + ",2;" + write("b.txt", letters(700, 5)));
  auto data = Dataset::open(o), again = Dataset::open(o);
  std::vector<Batch> forward;
  for (std::int64_t step = 0; step < 60; ++step) forward.push_back(data->batch(step));
  for (std::int64_t step = 59; step >= 0; --step) {
    const Batch b = again->batch(step);
    EXPECT_TRUE(b.tokens.same_bits(forward[static_cast<std::size_t>(step)].tokens));
    EXPECT_TRUE(b.targets.same_bits(forward[static_cast<std::size_t>(step)].targets));
  }
  o.seed = 6;
  EXPECT_FALSE(Dataset::open(o)->batch(37).tokens.same_bits(forward[37].tokens));
}

TEST_F(DataTest, PositionsCountWhatWasRead) {
  auto data = Dataset::open(
      options(write("a.txt", letters(200)) + ",0.7;" + write("b.txt", letters(700, 5)) + ",0.3"));
  std::vector<std::int64_t> read(2);
  for (std::int64_t step = 0; step < 50; ++step) {
    for (std::size_t s : {0, 1}) {
      const SourcePosition at = data->position(s, step);
      EXPECT_EQ(at.elements, read[s]);
      EXPECT_EQ(at.epoch * data->sources()[s].windows + at.index, read[s]);
    }
    for (std::int64_t b = 0; b < 3; ++b) ++read[data->element(step * 3 + b).source];
  }
  EXPECT_EQ(read[0] + read[1], 150);
  EXPECT_EQ(read[0], 105);
  EXPECT_DOUBLE_EQ(data->epochs(0, 50), 105.0 / static_cast<double>(data->sources()[0].windows));
}

TEST_F(DataTest, ASourceOfWeightZeroIsEvaluatedOnly) {
  auto data = Dataset::open(
      options(write("a.txt", letters(200)) + ",0;" + write("b.txt", letters(200, 5))));
  ASSERT_TRUE(data.ok()) << data.status().message();
  for (std::int64_t k = 0; k < 40; ++k) EXPECT_EQ(data->element(k).source, 1u);
  EXPECT_EQ(data->position(0, 10).elements, 0);
  EXPECT_GT(data->eval_batches(0), 0);
}

/// Law: the windows of an evaluation part hold each of its tokens but the first as a target once.
TEST_F(DataTest, EvaluationReadsEveryTarget) {
  for (int size : {30, 109, 500, 777}) {
    auto o = options(write("a.txt", letters(size)));
    o.eval_fraction = 0.5;
    auto data = Dataset::open(o);
    const SourceInfo& s = data->sources()[0];
    std::int64_t targets = 0;
    std::string read;
    for (std::int64_t i = 0; i < data->eval_batches(0); ++i) {
      const Batch b = data->eval_batch(0, i);
      targets += b.total_weights;
      for (std::size_t at = 0; at < 30; ++at) {
        if (b.weights->span<float>()[at] != 0)
          read.push_back(static_cast<char>(b.targets.span<std::int32_t>()[at]));
      }
    }
    EXPECT_EQ(targets, s.eval_tokens - 1);
    EXPECT_EQ(read, (letters(size) + std::string(1, '\0'))
                        .substr(static_cast<std::size_t>(s.train_tokens) + 1));
  }
}

TEST_F(DataTest, TheCutIsBetweenDocumentsWhereOneIsNear) {
  auto cut = [&](const std::string& files, double fraction) {
    auto o = options(files);
    o.eval_fraction = fraction;
    auto data = Dataset::open(o);
    return data ? data->sources()[0].train_tokens : -1;
  };
  for (char c = 'a'; c < 'k'; ++c)
    write(std::string("many/") + c + ".txt", letters(99));  // documents of 100 tokens
  EXPECT_EQ(cut(folder_ + "/many/*.txt", 0.1), 900);
  EXPECT_EQ(cut(folder_ + "/many/*.txt", 0.22), 800);
  EXPECT_EQ(cut(folder_ + "/many/*.txt", 0.05), 950);  // none is near
  EXPECT_EQ(cut(folder_ + "/many/*.txt", 0), 1000);
  EXPECT_EQ(cut(write("one.txt", letters(999)), 0.1), 900);
}

TEST_F(DataTest, ElementsNameTheirFiles) {
  write("x/a.txt", letters(55)), write("x/b.txt", letters(77)), write("x/c.txt", "");
  auto o = options(folder_ + "/x/*.txt");
  o.eval_fraction = 0;
  auto data = Dataset::open(o);
  EXPECT_EQ(data->sources()[0].files.size(), 3u);
  for (std::int64_t k = 0; k < 13; ++k) {
    const ElementPlace e = data->element(k);
    EXPECT_EQ(e.document, e.token < 56 ? 0 : 1);
    EXPECT_EQ(e.file, folder_ + (e.token < 56 ? "/x/a.txt" : "/x/b.txt"));
  }
}

TEST_F(DataTest, SaysWhatCannotBeTrainedOn) {
  const std::string good = write("good.txt", letters(300));
  EXPECT_THAT(refusal(options(write("empty.txt", ""))), HasSubstr("empty.txt: the file is empty"));
  EXPECT_THAT(refusal(options(write("nul.bin", std::string("text\0text", 9)))),
              HasSubstr("nul.bin: not a text file: byte 4 of 9 is NUL"));
  EXPECT_THAT(refusal(options(write("latin.txt", "abc\ncaf\xe9 ab"))),
              HasSubstr("latin.txt: not UTF-8: byte 7 of 11, in line 2, is 0xe9"));
  EXPECT_THAT(refusal(options(folder_ + "/absent.txt")), HasSubstr("absent.txt: cannot open"));
  EXPECT_THAT(refusal(options(folder_ + "/*.absent")), HasSubstr("*.absent: no file matches"));
  std::filesystem::create_directory(folder_ + "/nothing");  // others may be datasets
  EXPECT_THAT(refusal(options(folder_ + "/nothing")), HasSubstr("is a folder"));
  EXPECT_THAT(refusal(options(";;")), HasSubstr("train_files names no files"));
  EXPECT_THAT(refusal(options(good + ";0.5")), HasSubstr("'0.5' names no files"));
  EXPECT_THAT(refusal(options(good + ",0;" + good + ",0")),
              HasSubstr("the weights of the 2 sources sum to 0"));
  EXPECT_THAT(refusal(options(good + ",-1;" + good)), HasSubstr("the weight -1 of a source"));
  EXPECT_THAT(refusal(options(good + ",nan")), HasSubstr("the weight nan of a source"));
  EXPECT_THAT(refusal(options(good + ",inf")), HasSubstr("the weight inf of a source"));
  EXPECT_THAT(refusal(options(good + ",1e-12;" + good)), HasSubstr("too far apart"));
  EXPECT_THAT(refusal(options(write("short.txt", "short"))),
              HasSubstr("the text is too short: short has 6 tokens to train on, a window of "
                        "max_target_length=10 needs 11"));
  write("empties/a.txt", ""), write("empties/b.txt", "");
  EXPECT_THAT(refusal(options(folder_ + "/empties/*")),
              HasSubstr("the 2 files of empties are all empty"));
  auto small = options(good);
  small.vocab_size = 255;
  EXPECT_THAT(refusal(small), HasSubstr("vocab_size=255: the tokenizer (byte) has 256 tokens"));
}

TEST_F(DataTest, ReadsLinesOfJson) {
  auto o = options(
      write("a.jsonl",
            "{\"text\": \"one \\u00e9\"}\n\n{\"text\": \"\"}\n{\"id\": 1, \"text\": \"two\"}"));
  o.batch = 1, o.length = 9, o.eval_fraction = 0;
  auto data = Dataset::open(o);
  ASSERT_TRUE(data.ok()) << data.status().message();
  EXPECT_EQ(text(data->batch(0).tokens), std::string("one \xc3\xa9\0tw", 9));
  EXPECT_EQ(data->sources()[0].documents, 2);
  o.column = "body";
  EXPECT_THAT(refusal(o), HasSubstr("a.jsonl:1: no text under \"body\""));
  EXPECT_THAT(refusal(options(write("b.jsonl", "{\"text\": \"x\"}\n{oops\n"))),
              HasSubstr("b.jsonl:2: no JSON object"));
  EXPECT_THAT(refusal(options(write("c.jsonl", "[1]"))), HasSubstr("c.jsonl:1: no JSON object"));
  EXPECT_THAT(refusal(options(write("d.jsonl", "{\"text\": 3}"))),
              HasSubstr("d.jsonl:1: no text under \"text\""));
  EXPECT_THAT(refusal(options(write("e.jsonl", "{\"text\": \"a\\u0000b\"}"))),
              HasSubstr("e.jsonl:1: not a text: byte 1 of 3 is NUL"));
  auto escape = [&](const std::string& escapes) {
    return refusal(options(write("f.jsonl", "{\"text\": \"x\"}\n{\"text\": \"" + escapes + "\"}")));
  };
  EXPECT_THAT(escape("a\\ud83d b"), HasSubstr("f.jsonl:2: the escape \\ud83d is a lone surrogate"));
  EXPECT_THAT(escape("\\ud83d\\ude00\\uDE00"), HasSubstr("the escape \\uDE00 is a lone"));
  EXPECT_THAT(escape("\\ud83d\\ud83d\\ude00"), HasSubstr("the escape \\ud83d is a lone"));
  EXPECT_THAT(escape("\\\\ud83d \\q"), HasSubstr("f.jsonl:2: no JSON object"));
}

TEST_F(DataTest, EveryFormatIsASourceByItsPath) {
  const std::string lines = [&] {
    std::string out;
    for (int i = 1; i < 9; ++i) out += "{\"text\": \"" + letters(30, i) + "\"}\n";
    return out;
  }();
  const std::string jsonl = write("t.jsonl", lines);
  auto want = Dataset::open(options(jsonl));
  ASSERT_TRUE(want.ok()) << want.status().message();
  for (const char* name :
       {"t.array_record", "t.bagz", "t.csv", "t.tfrecord", "mds_folder", "t.tar"}) {
    SCOPED_TRACE(name);
    const std::string path = folder_ + "/" + name;
    ConvertOptions how;
    if (std::string_view(name) == "mds_folder") how.to_format = "mds";
    const auto made = convert_elements(jsonl, path, how);
    ASSERT_TRUE(made.ok()) << made.status().message();
    auto o = options(path);
    auto got = Dataset::open(o);
    ASSERT_TRUE(got.ok()) << got.status().message();
    EXPECT_EQ(got->sources()[0].checksum, want->sources()[0].checksum);
    EXPECT_EQ(text(got->batch(5).tokens), text(want->batch(5).tokens));
  }
  DatasetOptions other = options(folder_ + "/t.csv");
  other.column = "body";
  EXPECT_THAT(refusal(other), HasSubstr("record 0: there is no member body; there are text"));
}

TEST_F(DataTest, TokensThatOthersMadeAreASource) {
  auto writer = MegatronWriter::create(folder_ + "/m.bin", DType::ui16);
  ASSERT_TRUE(writer.ok());
  std::vector<std::string> documents;
  for (int i = 1; i < 8; ++i) {
    documents.push_back(letters(20 + i, i));
    std::vector<std::uint16_t> tokens(documents.back().begin(), documents.back().end());
    if (i % 2 == 0) tokens.push_back(0);  // the separator that Megatron appends, or none
    ASSERT_TRUE(writer->add(Literal::of(Shape({std::ssize(tokens)}), tokens)).ok());
    writer->end_document();
  }
  ASSERT_TRUE(writer->close().ok());
  const auto want = Dataset::of_documents(documents, options(""));
  auto got = Dataset::open(options(folder_ + "/m.idx"));
  ASSERT_TRUE(got.ok()) << got.status().message();
  EXPECT_EQ(text(got->batch(3).tokens), text(want->batch(3).tokens));
  EXPECT_EQ(got->sources()[0].documents, 7);

  auto large = MegatronWriter::create(folder_ + "/large.bin", DType::ui16);
  ASSERT_TRUE(large->add(Literal::of(Shape({2}), std::vector<std::uint16_t>{1, 999})).ok());
  large->end_document();
  ASSERT_TRUE(large->close().ok());
  EXPECT_THAT(refusal(options(folder_ + "/large.bin")),
              HasSubstr("record 0: token 1 is 999; the tokenizer (byte) has 256"));
}

TEST_F(DataTest, EveryTokenOfABatchHasItsFileRecordAndBytes) {
  std::map<std::string, std::vector<std::string>> files;
  for (int f = 0; f < 2; ++f) {
    std::string lines;
    const std::string path = folder_ + "/part" + std::to_string(f) + ".jsonl";
    for (int i = 1; i < 7; ++i) {
      files[path].push_back(letters(7 + 3 * i, i + 10 * f));
      lines += "{\"text\": \"" + files[path].back() + "\"}\n\n";
    }
    write("part" + std::to_string(f) + ".jsonl", lines);
  }
  for (const WindowMode mode : {WindowMode::overlapping, WindowMode::disjoint}) {
    auto o = options(folder_ + "/*.jsonl");
    o.window_mode = mode;
    const auto data = Dataset::open(o).value();
    for (std::int64_t step = 0; step < 6; ++step) {
      const std::string tokens = text(data.batch(step).tokens),
                        targets = text(data.batch(step).targets);
      for (std::int64_t b = 0; b < o.batch; ++b) {
        std::string said;
        for (const TokenPlace& place : data.where(step * o.batch + b)) {
          EXPECT_EQ(place.first, std::ssize(said));
          ASSERT_EQ(std::ssize(place.bytes), place.count + 1);
          const std::string& record =
              files.at(place.file).at(static_cast<std::size_t>(place.record));
          for (std::int64_t i = 0; i < place.count; ++i) {
            const auto from = static_cast<std::size_t>(place.bytes[static_cast<std::size_t>(i)]),
                       to = static_cast<std::size_t>(place.bytes[static_cast<std::size_t>(i) + 1]);
            said += from == to ? std::string(1, '\0') : record.substr(from, to - from);
          }
        }
        std::string want = tokens.substr(static_cast<std::size_t>(b * o.length), 10);
        if (mode == WindowMode::overlapping)
          want.push_back(targets[static_cast<std::size_t>((b + 1) * o.length - 1)]);
        EXPECT_EQ(said, want) << "step " << step << ", row " << b;
      }
    }
  }
}

TEST_F(DataTest, TheStateTellsWhatDiffers) {
  const std::string a = write("a.txt", letters(500)), b = write("b.txt", letters(400, 3));
  auto o = options(a + ",3;" + b);
  auto data = Dataset::open(o);
  const std::string state = data->state(12);
  EXPECT_THAT(state, HasSubstr("\"step\":12"));
  EXPECT_THAT(state, HasSubstr("\"elements\":27"));
  EXPECT_EQ(data->check_state(state), "");
  auto differs = [&](const DatasetOptions& other) {
    return Dataset::open(other)->check_state(state);
  };
  o.batch = 4;
  EXPECT_EQ(differs(o), "batch is 4 (the checkpoint has 3)");
  o.batch = 3;
  o.train_files = {a + ",2;" + b};
  EXPECT_EQ(differs(o), "a: weight is 2.0 (the checkpoint has 3.0)");
  o.train_files = {a};
  EXPECT_EQ(differs(o), "the number of sources is 1 (the checkpoint has 2)");
  o.train_files = {a + ",3;" + b};
  write("b.txt", letters(400, 9));
  EXPECT_EQ(differs(o), "b: the text is another one");
  for (const char* other : {"", "3", "{}", "[{}]", "{\"sources\":3}", "{\"sources\":[3,[]]}",
                            "{\"sources\":[{\"tokens\":501,\"crc32c\":[]},{}]}"})
    EXPECT_NE(data->check_state(other), "") << other;
}

/// Law: tokens are the same for any number of threads, and from the cache.
TEST_F(DataTest, ThreadsAndCacheChangeNothing) {
  std::string book;
  for (int i = 0; i < 6000; ++i)
    book += "verse " + std::to_string(i * i % 977) + " of " + letters(1 + i % 40, i) + "\n";
  auto model = tokenizer::train_tokenizer({book}, {.vocab_size = 512});
  ASSERT_TRUE(model.ok()) << model.status().message();
  auto o = options(write("book.txt", book) + ";" + write("other.txt", book.substr(5000, 90000)));
  o.tokenizer = *tokenizer::load_tokenizer("sentencepiece", write("t.model", *model));
  std::string states;
  for (int threads : {1, 2, 3, 8}) {
    set_num_threads(threads);
    auto data = Dataset::open(o);
    ASSERT_TRUE(data.ok()) << data.status().message();
    if (threads == 1) states = data->state(40);
    EXPECT_EQ(data->state(40), states);
  }
  set_num_threads(0);
  o.cache_folder = folder_ + "/cache";
  auto files = [&] {
    return std::distance(std::filesystem::directory_iterator(o.cache_folder), {});
  };
  EXPECT_EQ(Dataset::open(o)->state(40), states);
  EXPECT_EQ(files(), 2);
  auto again = Dataset::open(o);
  EXPECT_EQ(again->state(40), states);
  EXPECT_TRUE(again->batch(9).tokens.same_bits(Dataset::open(o)->batch(9).tokens));
  // A damaged file of the cache is as good as none; a text that changes has another name.
  for (const auto& entry : std::filesystem::directory_iterator(o.cache_folder))
    std::filesystem::resize_file(entry.path(), 100);
  EXPECT_EQ(Dataset::open(o)->state(40), states);
  write("other.txt", book.substr(5001, 90000));
  EXPECT_NE(Dataset::open(o)->state(40), states);
  EXPECT_EQ(files(), 3);
}

TEST_F(DataTest, TheCacheForgetsWhatWasNotUsedForLongest) {
  std::string book;
  for (int i = 0; i < 3000; ++i)
    book += "verse " + std::to_string(i * i % 977) + " of " + letters(1 + i % 40, i) + "\n";
  auto tokenizer = *tokenizer::load_tokenizer(
      "sentencepiece", write("t.model", *tokenizer::train_tokenizer({book}, {.vocab_size = 512})));
  RowOptions o{.column = "text",
               .cache_folder = folder_ + "/cache",
               .cache_bytes = 2000};  // one text's tokens
  auto names = [&] {
    std::set<std::string> out;
    for (const auto& entry : std::filesystem::directory_iterator(o.cache_folder))
      out.insert(entry.path().filename());
    return out;
  };
  const std::string path = write("x.txt", book.substr(0, 2000));
  ASSERT_TRUE(Row::read({.name = "x", .patterns = {path}}, *tokenizer, o).ok());
  const auto first = names();
  EXPECT_EQ(first.size(), 1u);
  write("x.txt", book.substr(3000, 2000));
  ASSERT_TRUE(Row::read({.name = "x", .patterns = {path}}, *tokenizer, o).ok());
  EXPECT_EQ(names().size(), 1u);
  EXPECT_NE(names(), first);
  // Where nothing can be written, nothing is lost but time.
  std::vector<std::string> notes;
  o.cache_folder = path + "/no-folder";
  o.note = [&](const std::string& note) { notes.push_back(note); };
  EXPECT_TRUE(Row::read({.name = "x", .patterns = {path}}, *tokenizer, o).ok());
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_THAT(notes[0], HasSubstr("tokens of x are not kept"));
}

TEST_F(DataTest, PrefetchedBatchesAreTheSame) {
  auto data = Dataset::open(options(write("a.txt", letters(500))));
  Prefetch next([&](std::int64_t step) { return data->batch(step); }, 7, 40);
  for (std::int64_t step = 7; step < 40; ++step)
    EXPECT_TRUE(next().tokens.same_bits(data->batch(step).tokens));
}

TEST_F(DataTest, TunedPrefetchKeepsTheOrder) {
  auto data = Dataset::open(options(write("a.txt", letters(500))));
  // No batch is there before it is asked for, so that training waits however busy the machine is.
  std::atomic<std::int64_t> asked = 0;
  Prefetch next(
      [&](std::int64_t step) {
        while (asked < step) std::this_thread::sleep_for(std::chrono::microseconds(50));
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        return data->batch(step);
      },
      3, 300, {.ahead = 1, .threads = 1, .most_ahead = 16, .most_threads = 4});
  for (std::int64_t step = 3; step < 300; ++step) {
    const Literal want = data->batch(step).tokens;
    asked = step;
    EXPECT_TRUE(next().tokens.same_bits(want)) << step;
  }
  EXPECT_EQ(next.options().ahead, 16u);
  EXPECT_EQ(next.options().threads, 4u);
}

TEST(Prefetch, IsNotTunedWhereNobodyWaits) {
  Prefetch next([](std::int64_t step) { return Batch{.total_weights = step}; }, 0, 20,
                {.ahead = 4, .threads = 1, .most_ahead = 64, .most_threads = 8});
  for (std::int64_t step = 0; step < 20; ++step) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_EQ(next().total_weights, step);
  }
  EXPECT_LE(next.options().ahead, 16u);  // a busy machine may let it wait once or twice
}

TEST(Prefetch, SeveralThreadsCarryExceptionsInTheirTurn) {
  Prefetch next(
      [](std::int64_t step) {
        if (step >= 5) throw std::runtime_error("no batch 5");
        return Batch{.total_weights = step};
      },
      0, 100, {.ahead = 8, .threads = 4, .most_ahead = 8, .most_threads = 4});
  for (std::int64_t step = 0; step < 5; ++step) EXPECT_EQ(next().total_weights, step);
  EXPECT_THROW(next(), std::runtime_error);
  EXPECT_THROW(next(), std::runtime_error);
}

TEST(Prefetch, CarriesExceptionsInTheirTurn) {
  Prefetch next(
      [](std::int64_t step) {
        if (step == 2) throw std::runtime_error("no batch 2");
        return Batch{.total_weights = step};
      },
      0, 10);
  EXPECT_EQ(next().total_weights, 0);
  EXPECT_EQ(next().total_weights, 1);
  EXPECT_THROW(next(), std::runtime_error);
  EXPECT_THROW(next(), std::runtime_error);
}

TEST(Prefetch, EndsWithoutBeingAsked) {
  std::atomic<int> made = 0;
  {
    Prefetch next([&](std::int64_t) { return ++made, Batch{}; }, 0, 1000000, 3);
    (void)next();
  }
  EXPECT_LE(made, 5);
}

}  // namespace
}  // namespace strata::data
