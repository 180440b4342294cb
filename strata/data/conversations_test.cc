// Conversations: what is read, what is refused with file and line; as tokens; as rows.
#include "strata/data/conversations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <set>

#include "strata/data/chat_tokens.h"
#include "strata/data/dataset.h"
#include "strata/data/packing.h"

namespace strata::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string refusal(const std::string& bytes, const std::string& columns = "messages") {
  auto all = conversations_of(bytes, "c.jsonl", columns);
  return all ? "accepted" : all.status().message();
}

constexpr const char* kGood =
    R"({"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"bc"}]})";

TEST(Conversations, AreReadLineByLine) {
  auto all = conversations_of(std::string("\xef\xbb\xbf") + kGood + "\n\n  \r\n" + kGood, "c.jsonl",
                              "messages");
  ASSERT_TRUE(all) << all.status().message();
  ASSERT_EQ(all->size(), 2u);
  EXPECT_EQ((*all)[1].where, "c.jsonl:4");
  auto pairs = conversations_of(
      R"({"prompt":"x","completion":"y"})"
      "\n"
      R"({"prompt":[{"role":"user","content":"a"}],"completion":[{"role":"assistant","content":"b"}]})",
      "p.jsonl", "prompt,completion");
  ASSERT_TRUE(pairs) << pairs.status().message();
  EXPECT_EQ((*pairs)[0].completion, "y");
  EXPECT_EQ((*pairs)[1].prompt_messages, 1u);
}

TEST(Conversations, DamagedLinesAreRefusedWithFileAndLine) {
  const std::string good = std::string(kGood) + "\n";
  const std::pair<std::string, const char*> cases[] = {
      {"{", "c.jsonl:2: no JSON: "},
      {"[1]", "c.jsonl:2: no JSON object"},
      {"{}", "c.jsonl:2: there is no \"messages\""},
      {R"({"messages":"hi"})", "c.jsonl:2: no list of messages under \"messages\""},
      {R"({"messages":[]})", "c.jsonl:2: no list of messages"},
      {R"({"messages":[1]})", "c.jsonl:2: message 1: no JSON object"},
      {R"({"messages":[{"content":"a"}]})", "message 1: no text under \"role\""},
      {R"({"messages":[{"role":"user"}]})", "message 1: no text under \"content\""},
      {R"({"messages":[{"role":"user","content":7}]})", "message 1: no text under \"content\""},
      {R"({"messages":[{"role":"user","content":[{"type":"image"}]}]})", "a list of parts"},
      {R"({"messages":[{"role":"user","content":"a"}]})", "no message has the role assistant"},
      {"{\"messages\":\"\xff\"}", "c.jsonl:2: not UTF-8: byte 13 of the line is 0xff"},
      {std::string(100, '[') + std::string(100, ']'), "nests deeper than 64"},
      {R"({"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}],"tools":1})",
       "\"tools\" is no list"},
      {R"({"messages":[{"role":"user","content":"\ud800"}]})", "c.jsonl:2: no JSON: "},
  };
  for (const auto& [line, message] : cases)
    EXPECT_THAT(refusal(good + line), HasSubstr(message)) << line;
  std::string many = R"({"messages":[)";
  for (int i = 0; i < 1001; ++i) many += R"({"role":"user","content":"a"},)";
  many.back() = ']';
  EXPECT_THAT(refusal(many + "}"), HasSubstr("1001 messages; at most 1000"));
  const auto pair = [](const std::string& line) { return refusal(line, "prompt,completion"); };
  EXPECT_THAT(pair(R"({"prompt":"a"})"), HasSubstr("there is no \"completion\""));
  EXPECT_THAT(pair(R"({"prompt":"a","completion":""})"), HasSubstr("\"completion\" is empty"));
  EXPECT_THAT(pair(R"({"prompt":"a","completion":[]})"), HasSubstr("are a text and a list"));
  EXPECT_THAT(pair(R"({"prompt":[],"completion":[]})"), HasSubstr("under \"prompt\""));
}

TEST(Conversations, AnyPrefixAndAnyFlippedByteIsReadOrRefused) {
  const std::string whole = std::string(kGood) + "\n" + kGood + "\n";
  std::mt19937 draw(1);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    (void)refusal(whole.substr(0, i));
    std::string flipped = whole;
    flipped[i] = static_cast<char>(draw());
    (void)refusal(flipped);
    EXPECT_EQ(refusal(whole), "accepted");
  }
}

// -- As tokens: bytes, so that a token is a character. A template of letters ------------------

tokenizer::ChatTemplate parsed(const std::string& text) {
  auto out = tokenizer::ChatTemplate::parse(text);
  EXPECT_TRUE(out) << (out ? "" : out.status().message());
  return *out;
}
const char* kPlain =
    "{% for m in messages %}{{ m.role[0] + m.content + ';' }}{% endfor %}"
    "{% if add_generation_prompt %}a{% endif %}";
const char* kMarked =
    "{% for m in messages %}{% if m.role == 'assistant' %}a{% generation %}{{ m.content }}"
    "{% endgeneration %};{% else %}{{ m.role[0] + m.content + ';' }}{% endif %}{% endfor %}";
/// Writes earlier answers otherwise, as templates that drop what was thought do.
const char* kForgetful =
    "{% for m in messages %}{{ m.role[0] + (m.content if loop.last else 'x') + ';' }}{% endfor %}"
    "{% if add_generation_prompt %}a{% endif %}";

/// Text and what is learned of it: "u.. ab!" with ^ below.
std::string learned(const std::string& line, const char* chat, bool answers_only = true,
                    const std::string& columns = "messages") {
  auto all = conversations_of(line, "c.jsonl", columns);
  if (!all) return all.status().message();
  const tokenizer::ChatTemplate t = parsed(chat);
  auto e = example_of((*all)[0], {.tokenizer = std::make_shared<tokenizer::ByteTokenizer>(),
                                  .chat_template = &t,
                                  .answers_only = answers_only});
  if (!e) return e.status().message();
  std::string out;
  for (std::size_t i = 0; i < e->tokens.size(); ++i) {
    const char c = static_cast<char>(e->tokens[i]);
    out += e->learned[i] ? static_cast<char>(std::toupper(c)) : c;
  }
  return out;
}

TEST(ChatTokens, AnswersAreFoundByMarkersElseByPrefixes) {
  const std::string two =
      R"({"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"one"},)"
      R"({"role":"user","content":"r"},{"role":"assistant","content":"two"}]})";
  EXPECT_EQ(learned(two, kPlain), "uq;aONE;ur;aTWO;");
  EXPECT_EQ(learned(two, kMarked), "uq;aONE;ur;aTWO;");
  EXPECT_EQ(learned(two, kPlain, false), "UQ;AONE;UR;ATWO;");
  EXPECT_THAT(learned(two, kForgetful), HasSubstr("c.jsonl:1: where the answer in message 2"));
  EXPECT_THAT(learned(two, kForgetful), HasSubstr("{% generation %}"));
  EXPECT_THAT(learned(R"({"messages":[{"role":"assistant","content":"one"}]})", kPlain),
              HasSubstr("message 1 is the assistant's: it answers nothing"));
  EXPECT_THAT(learned(two, "{{ raise_exception('no') }}"), HasSubstr("c.jsonl:1: "));
}

TEST(ChatTokens, CompletionsAreWhatFollowsThePrompt) {
  const char* list =
      R"({"prompt":[{"role":"user","content":"q"}],"completion":[{"role":"assistant","content":"b"}]})";
  EXPECT_EQ(learned(list, kPlain, true, "prompt,completion"), "uq;aB;");
  EXPECT_EQ(learned(R"({"prompt":"sky","completion":" is"})", kPlain, true, "prompt,completion"),
            std::string("sky IS\0", 7));
}

TEST(ChatTokens, MarkersOfSomeBytesOnly) {
  const std::string one =
      R"({"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"one"}]})";
  std::string text = learned(one, kMarked);
  EXPECT_EQ(text, "uq;aONE;");
}

// -- Packing ----------------------------------------------------------------------------------

TEST(Packing, IsBestFitDecreasing) {
  const std::int64_t lengths[] = {7, 3, 5, 2, 3};
  EXPECT_THAT(pack_best_fit(lengths, 8),
              ElementsAre(ElementsAre(0), ElementsAre(2, 1), ElementsAre(4, 3)));
  EXPECT_TRUE(pack_best_fit({}, 8).empty());
}

TEST(Packing, HoldsEachItemOnceWithinTheCapacity) {
  std::mt19937 draw(7);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<std::int64_t> lengths(draw() % 60);
    for (std::int64_t& n : lengths) n = 1 + draw() % 32;
    std::set<std::size_t> seen;
    for (const auto& bin : pack_best_fit(lengths, 32)) {
      std::int64_t sum = 0;
      for (const std::size_t i : bin) {
        EXPECT_TRUE(seen.insert(i).second);
        sum += lengths[i];
      }
      EXPECT_LE(sum, 32);
    }
    EXPECT_EQ(seen.size(), lengths.size());
  }
}

// -- As a data set ----------------------------------------------------------------------------

class ConversationData : public testing::Test {
 protected:
  ConversationData() {
    std::string name = testing::TempDir() + "chats_XXXXXX";
    folder_ = ::mkdtemp(name.data());
    std::ofstream out(folder_ + "/chats.jsonl");
    for (int i = 0; i < 40; ++i)
      out << fmt::format(
          R"({{"messages":[{{"role":"user","content":"{}"}},{{"role":"assistant","content":"{}"}}]}})"
          "\n",
          std::string(1 + i % 5, 'q'), std::string(1 + i % 7, 'z'));
  }
  ~ConversationData() override { std::filesystem::remove_all(folder_); }
  DatasetOptions options() const {
    return {.train_files = {folder_ + "/chats.jsonl"},
            .column = "messages",
            .eval_fraction = 0.1,
            .batch = 2,
            .length = 24,
            .chat_template = parsed(kPlain),
            .cache_folder = ""};
  }
  std::string folder_;
};

TEST_F(ConversationData, RowsHoldWholeConversationsWithTheirOwnPositions) {
  auto data = Dataset::open(options());
  ASSERT_TRUE(data) << data.status().message();
  const SourceInfo& s = data->sources()[0];
  EXPECT_EQ(s.documents, 40);
  std::int64_t learned = 0;
  for (std::int64_t step = 0; step < s.windows; step += 2) {
    const Batch b = data->batch(step / 2);
    ASSERT_TRUE(b.weights && b.segments && b.positions);
    const auto tokens = b.tokens.span<std::int32_t>(), targets = b.targets.span<std::int32_t>(),
               segments = b.segments->span<std::int32_t>(),
               positions = b.positions->span<std::int32_t>();
    const auto weights = b.weights->span<float>();
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const bool row_begins = i % 24 == 0;
      if (segments[i] == 0) {
        EXPECT_EQ(tokens[i], 0);
        EXPECT_EQ(weights[i], 0);
        continue;
      }
      const bool begins = row_begins || segments[i] != segments[i - 1];
      EXPECT_EQ(positions[i], begins ? 0 : positions[i - 1] + 1);
      EXPECT_EQ(tokens[i] == 'u', begins);
      const bool ends = i % 24 == 23 || segments[i + 1] != segments[i];
      if (ends) EXPECT_EQ(weights[i], 0);
      if (!ends) EXPECT_EQ(targets[i], tokens[i + 1]);
      if (weights[i] != 0) EXPECT_TRUE(targets[i] == 'z' || targets[i] == ';');
      sum += weights[i] != 0;
    }
    EXPECT_EQ(sum, b.total_weights);
    learned += sum;
  }
  EXPECT_GT(learned, 0);
  // The last ones are kept.
  EXPECT_EQ(data->eval_batches(0), 1);
  EXPECT_GT(data->eval_batch(0, 0).total_weights, 0);
}

TEST_F(ConversationData, EveryTokenOfABatchHasItsFileRecordAndBytes) {
  std::ofstream(folder_ + "/texts.jsonl")
      << "\n{\"prompt\":\"ab\",\"completion\":\"cdefghijkl\"}\n\n"
         "{\"prompt\":\"xy\",\"completion\":\"z\"}\n{\"prompt\":\"1\",\"completion\":\"2\"}\n";
  const std::vector<std::string> texts = {"abcdefghijkl", "xyz", "12"};
  const auto text_of = [&](const TokenPlace& place) {
    const auto i = static_cast<std::size_t>(place.record);
    if (place.file.ends_with("texts.jsonl")) return texts.at(i);
    EXPECT_EQ(place.file, folder_ + "/chats.jsonl");
    return "u" + std::string(1 + i % 5, 'q') + ";a" + std::string(1 + i % 7, 'z') + ";";
  };
  for (const bool of_texts : {false, true})
    for (const bool packing : {false, true})
      for (const Truncation how : {Truncation::keep_start, Truncation::keep_end}) {
        DatasetOptions o = options();
        o.packing = packing, o.truncation = how, o.length = packing ? 24 : 10;
        if (of_texts) o.train_files = {folder_ + "/texts.jsonl"}, o.column = "prompt,completion";
        const Dataset data = Dataset::open(o).value();
        std::set<std::int64_t> records;
        for (std::int64_t k = 0; k < data.sources()[0].windows; ++k) {
          const Batch b = data.batch(k / o.batch);
          const auto tokens = b.tokens.span<std::int32_t>();
          std::int64_t next = 0;
          for (const TokenPlace& place : data.where(k)) {
            EXPECT_EQ(place.first, next);
            next += place.count;
            ASSERT_EQ(std::ssize(place.bytes), place.count + 1);
            EXPECT_EQ(place.bytes[0], place.token);  // tokens are bytes here
            const std::string text = text_of(place);
            for (std::int64_t i = 0; i < place.count; ++i) {
              const auto from = static_cast<std::size_t>(place.bytes[static_cast<std::size_t>(i)]),
                         to =
                             static_cast<std::size_t>(place.bytes[static_cast<std::size_t>(i) + 1]);
              const std::int32_t token =
                  tokens[static_cast<std::size_t>(k % o.batch * o.length + place.first + i)];
              if (from == to)  // the end of a text
                EXPECT_TRUE(of_texts && from == text.size() && token == 0);
              else
                EXPECT_EQ(text.substr(from, to - from), std::string(1, static_cast<char>(token)));
            }
            records.insert(place.record);
          }
          for (; next < o.length; ++next)
            EXPECT_EQ(tokens[static_cast<std::size_t>(k % o.batch * o.length + next)], 0);
        }
        EXPECT_GE(std::ssize(records), of_texts ? 2 : 20);
      }
}

TEST_F(ConversationData, BatchesDependOnTheirNumberAlone) {
  auto data = Dataset::open(options()), again = Dataset::open(options());
  ASSERT_TRUE(data && again);
  for (const std::int64_t step : {9, 3, 0}) {
    const Batch a = data->batch(step), b = again->batch(step);
    EXPECT_TRUE(std::ranges::equal(a.tokens.span<std::int32_t>(), b.tokens.span<std::int32_t>()));
    EXPECT_TRUE(std::ranges::equal(a.weights->span<float>(), b.weights->span<float>()));
  }
  EXPECT_EQ(data->check_state(again->state(3)), "");
  DatasetOptions o = options();
  o.packing = false;
  auto apart = Dataset::open(o);
  ASSERT_TRUE(apart);
  EXPECT_FALSE(apart->batch(0).segments.has_value());
  EXPECT_EQ(apart->sources()[0].windows, 36);
  EXPECT_THAT(apart->check_state(data->state(3)), HasSubstr("packing is false"));
}

TEST_F(ConversationData, LongOnesAreCutAsTold) {
  DatasetOptions o = options();
  o.length = 8;
  const auto first = [&](Truncation how) {
    o.truncation = how;
    auto data = Dataset::open(o);
    return data ? fmt::format("{}", data->sources()[0].documents) : data.status().message();
  };
  EXPECT_EQ(first(Truncation::keep_start), "32");  // of eight no answer is left
  EXPECT_EQ(first(Truncation::keep_end), "40");
  const int dropped = std::stoi(first(Truncation::drop));
  EXPECT_LT(dropped, 40);
  EXPECT_GT(dropped, 0);
  EXPECT_THAT(first(Truncation::refuse), HasSubstr("chats.jsonl:"));
  EXPECT_THAT(first(Truncation::refuse), HasSubstr("tokens are more than max_target_length=8"));
  o.length = 2;
  EXPECT_THAT(first(Truncation::drop), HasSubstr("has no conversation to learn from"));
  o = options();
  o.train_files = {folder_ + "/chats.txt"};
  EXPECT_THAT(first(Truncation::drop), HasSubstr("whose names end in .jsonl"));
}

}  // namespace
}  // namespace strata::data
