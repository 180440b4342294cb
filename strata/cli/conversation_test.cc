#include "strata/cli/conversation.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <sstream>
#include <streambuf>

namespace strata::cli {
namespace {

/// Answers with how many messages it was given and the last one; keeps what it was given.
struct Echo {
  std::vector<std::vector<Message>> asked;
  Result<Answer> operator()(const std::vector<Message>& messages,
                            const std::function<bool(std::string_view)>& piece) {
    asked.push_back(messages);
    Answer a{.tokens = 4, .prompt_tokens = 7, .prompt_seconds = 0.5, .seconds = 2};
    for (const std::string& p : {std::to_string(messages.size()), std::string(": "),
                                 messages.back().content, std::string(".")}) {
      a.text += p;
      if (!piece(p)) break;
    }
    return a;
  }
};

struct Said {
  std::string out, err;
  Echo echo;
  std::vector<Message> messages;
};
Said talk(const std::string& typed, ConversationOptions options = {}) {
  Said said;
  std::istringstream in(typed);
  std::ostringstream out, err;
  Conversation c([&](const auto& m, const auto& piece) { return said.echo(m, piece); }, options);
  EXPECT_TRUE(c.run(in, out, err).ok());
  said.out = out.str(), said.err = err.str(), said.messages = c.messages();
  return said;
}

TEST(Conversation, KeepsWhatBothSaid) {
  const Said said = talk("Hi\n\nAnd now?\n");
  EXPECT_EQ(said.out, "1: Hi.\n3: And now?.\n");
  ASSERT_EQ(said.messages.size(), 4u);
  EXPECT_EQ(said.messages[1].role, "assistant");
  EXPECT_EQ(said.messages[1].content, "1: Hi.");
  EXPECT_NE(said.err.find("(4 tokens, 2.0 tokens/s; 7 of the prompt in 0.50 s)"),
            std::string::npos);
}

TEST(Conversation, GoesOnBehindWhatWasSaidBefore) {
  const Said said =
      talk("And now?\n/reset\nAgain\n",
           {.system = "Be brief.",
            .messages = {{"system", "Be long."}, {"user", "Hi"}, {"assistant", "Ho"}}});
  ASSERT_EQ(said.echo.asked.size(), 2u);
  EXPECT_EQ(said.echo.asked[0].size(), 4u);
  EXPECT_EQ(said.echo.asked[0][0].content, "Be long.");
  EXPECT_EQ(said.echo.asked[1].size(), 2u);
  EXPECT_EQ(said.echo.asked[1][0].content, "Be brief.");
}

TEST(Conversation, ReadsMessagesOfSeveralLines) {
  const Said said =
      talk("one \\\ntwo\n\"\"\"\n/not a command\n\nthree\\\n\"\"\"\n\"\"\"\nleft open\n");
  ASSERT_EQ(said.echo.asked.size(), 3u);
  EXPECT_EQ(said.echo.asked[0].back().content, "one \ntwo");
  EXPECT_EQ(said.echo.asked[1].back().content, "/not a command\n\nthree\\\n");
  EXPECT_EQ(said.echo.asked[2].back().content, "left open\n");
}

TEST(Conversation, BeginsAnew) {
  const Said said = talk("Hi\n/reset\nHo\n/system Be brief.\nHa\n/system\n", {.system = "Sing."});
  ASSERT_EQ(said.echo.asked.size(), 3u);
  for (const auto& asked : said.echo.asked) ASSERT_EQ(asked.size(), 2u);
  EXPECT_EQ(said.echo.asked[1][0].content, "Sing.");
  EXPECT_EQ(said.echo.asked[2][0].content, "Be brief.");
  EXPECT_TRUE(said.err.ends_with("Be brief.\n> \n")) << said.err;
}

TEST(Conversation, TakesBackAndAsksAgain) {
  const Said said = talk("/undo\none\ntwo\n/undo\n/again\n/unknown\n/exit\nnot read\n");
  EXPECT_EQ(said.out, "1: one.\n3: two.\n1: one.\n");
  EXPECT_EQ(said.messages.size(), 2u);
  EXPECT_NE(said.err.find("nothing was asked yet"), std::string::npos);
  EXPECT_NE(said.err.find("/unknown: no such command; /help lists them"), std::string::npos);
}

TEST(Conversation, IsSavedAsALineOfJson) {
  const std::string path = testing::TempDir() + "conversation.jsonl";
  const Said said = talk("say \"hi\"\n/save " + path + "\n/save\n/save /no/such/folder/x\n");
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  EXPECT_EQ(line,
            "{\"messages\":[{\"role\":\"user\",\"content\":\"say \\\"hi\\\"\"},"
            "{\"role\":\"assistant\",\"content\":\"1: say \\\"hi\\\".\"}]}");
  EXPECT_NE(said.err.find("/save needs the name of a file"), std::string::npos);
  EXPECT_NE(said.err.find("/no/such/folder"), std::string::npos);
}

TEST(Conversation, CtrlCEndsTheAnswerAlone) {
  std::istringstream in("one\ntwo\n");
  std::ostringstream out, err;
  int pieces = 0;
  Conversation c(
      [&](const auto&, const auto& piece) -> Result<Answer> {
        Answer a;
        for (const char* p : {"a", "b", "c"}) {
          if (++pieces == 2) ::raise(SIGINT);
          a.text += p;
          if (!piece(p)) break;
        }
        return a;
      },
      {});
  EXPECT_TRUE(c.run(in, out, err).ok());
  EXPECT_EQ(out.str(), "ab\nabc\n");
  EXPECT_EQ(c.messages()[1].content, "ab");
  EXPECT_NE(err.str().find("(stopped; "), std::string::npos);
}

/// Ends a read as a terminal does where Ctrl-C is pressed, once.
struct Broken : std::stringbuf {
  using std::stringbuf::stringbuf;
  bool pressed = false;
  int_type underflow() override {
    if (!std::exchange(pressed, true)) {
      ::raise(SIGINT);
      return traits_type::eof();
    }
    return std::stringbuf::underflow();
  }
};

TEST(Conversation, CtrlCWhileNothingIsDrawnSaysHowToEnd) {
  Broken keys("after\n");
  keys.pubseekoff(0, std::ios::end, std::ios::in);
  std::istream in(&keys);
  std::ostringstream out, err;
  Conversation c([](const auto&, const auto&) -> Result<Answer> { return Answer{}; }, {});
  EXPECT_TRUE(c.run(in, out, err).ok());
  EXPECT_NE(err.str().find("(Ctrl-D or /exit ends)"), std::string::npos);
}

TEST(Conversation, SaysWhyThereIsNoAnswerAndGoesOn) {
  std::istringstream in("one\ntwo\n");
  std::ostringstream out, err;
  int asked = 0;
  Conversation c(
      [&](const auto& m, const auto&) -> Result<Answer> {
        EXPECT_EQ(m.size(), 1u);
        if (++asked == 1) return Status(Code::invalid, "the conversation is too long");
        return Answer{};
      },
      {});
  EXPECT_TRUE(c.run(in, out, err).ok());
  EXPECT_EQ(asked, 2);
  EXPECT_NE(err.str().find("the conversation is too long"), std::string::npos);
}

TEST(Conversation, EndsWhereItsAnswersGoNowhere) {
  std::istringstream in("one\ntwo\n");
  std::ostringstream out, err;
  out.setstate(std::ios::badbit);
  int asked = 0;
  Conversation c([&](const auto&, const auto&) -> Result<Answer> { return ++asked, Answer{}; }, {});
  EXPECT_FALSE(c.run(in, out, err).ok());
  EXPECT_EQ(asked, 1);
}

}  // namespace
}  // namespace strata::cli
