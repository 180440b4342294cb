// Texts of the engine, how likely a model finds them, and questions as lines of JSON.
#include "strata/engine/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "strata/api/nn.h"
#include "strata/api/numpy.h"
#include "strata/api/random.h"
#include "strata/base/error.h"
#include "strata/engine/requests.h"
#include "strata/engine/score.h"
#include "strata/model/llama/family.h"

namespace strata::engine {
namespace {

using nlohmann::ordered_json;
using testing::HasSubstr;
using Tokens = std::vector<std::int32_t>;

/// A model of bytes.
const LanguageModel& bytes() {
  static const LanguageModel lm = [] {
    LanguageModel out;
    out.model = llama::model({.vocab_size = 256,
                              .base_emb_dim = 16,
                              .base_num_decoder_layers = 2,
                              .base_num_query_heads = 4,
                              .base_num_kv_heads = 2,
                              .head_dim = 6,
                              .base_mlp_dim = 20});
    out.params = out.model->init(random::key(5)).map([](const Array& w) { return w * 1.7f; });
    out.tokenizer = std::make_shared<tokenizer::ByteTokenizer>();
    out.generation.eos = {0};
    out.max_length = 128;
    out.name = "bytes";
    return out;
  }();
  return lm;
}
Tokens tokens_of(const std::string& text) { return bytes().tokenizer->encode(text); }

TextOutput draw(TextRequest request, std::string* streamed = nullptr) {
  TextEngine e(bytes(), options_for(bytes(), 128));
  if (streamed != nullptr) request.on_text = [=](std::string_view s) { *streamed += s; };
  return e.run(e.submit(std::move(request)));
}

TEST(Text, IsWhatTheTokensSay) {
  std::string streamed;
  const TextOutput out = draw({.tokens = tokens_of("Once"),
                               .sampling = {.temperature = 1.3, .seed = 7},
                               .max_tokens = 40,
                               .ignore_eos = true},
                              &streamed);
  EXPECT_EQ(out.tokens.size(), 40u);
  EXPECT_EQ(out.end, End::max_tokens);
  EXPECT_EQ(out.text, streamed);
  tokenizer::DecodeStream stream(*bytes().tokenizer, true);
  std::string want;
  for (const std::int32_t t : out.tokens) want += stream.step(t);
  EXPECT_EQ(out.text, want + stream.finish());
}

TEST(Text, EndsBeforeAStopStringOfSeveralTokens) {
  const TextRequest free{.tokens = tokens_of("Once"),
                         .sampling = {.temperature = 1, .top_k = 20, .seed = 3},
                         .max_tokens = 60,
                         .ignore_eos = true};
  const std::string whole = draw(free).text;
  // A piece of what comes, of whole characters.
  for (std::size_t at = 0; at + 3 < whole.size(); at += 5) {
    const std::string stop = whole.substr(at, 3);
    if (std::any_of(stop.begin(), stop.end(), [](char c) { return (c & 0x80) != 0; })) continue;
    TextRequest r = free;
    r.stop = {"never there", stop};
    std::string streamed;
    const TextOutput out = draw(r, &streamed);
    EXPECT_EQ(out.text, whole.substr(0, whole.find(stop)));
    EXPECT_EQ(streamed, out.text);
    EXPECT_EQ(out.end, End::stop);
  }
}

TEST(Text, EndsWhereTheModelDoes) {
  LanguageModel lm = bytes();
  const TextOutput free = draw({.tokens = tokens_of("ab"), .max_tokens = 12, .ignore_eos = true});
  lm.generation.eos = {free.tokens[5]};
  TextEngine e(lm, options_for(lm, 128));
  const TextOutput out = e.run(e.submit({.tokens = tokens_of("ab"), .max_tokens = 12}));
  EXPECT_EQ(out.end, End::stop);
  EXPECT_LE(out.tokens.size(), 6u);
  EXPECT_EQ(out.tokens.back(), free.tokens[5]);
}

TEST(Score, IsTheLogSoftmaxOfForward) {
  const Tokens tokens = tokens_of(std::string(90, 'x') + "the quick brown fox");
  const Scorer scorer(bytes().model, bytes().params, 128);
  const Scored s = scorer.score(tokens);
  ASSERT_EQ(s.logprobs.size(), tokens.size() - 1);
  const Array logits =
      bytes().model->forward(bytes().params, numpy::expand_dims(array(tokens), 0)).at(0).get();
  const Array want = nn::log_softmax(logits, -1);
  const Array best = numpy::argmax(logits, -1);
  for (std::size_t t = 0; t + 1 < tokens.size(); ++t) {
    const auto i = static_cast<std::int32_t>(t);
    EXPECT_NEAR(s.logprobs[t], (want[{i, tokens[t + 1]}].item<float>()), 1e-5);
    EXPECT_EQ(s.greedy[t], best[i].item<std::int32_t>() == tokens[t + 1]);
  }
  EXPECT_LT(numpy::max(numpy::abs(scorer.logits(tokens) - logits)).item<float>(), 1e-4f);
}

TEST(Score, HasTheBitsOfTheEngine) {
  const TextOutput out =
      draw({.tokens = tokens_of("Once upon"), .max_tokens = 50, .ignore_eos = true});
  Tokens all = tokens_of("Once upon");
  const std::size_t before = all.size();
  all.insert(all.end(), out.tokens.begin(), out.tokens.end());
  const Scored s = Scorer(bytes().model, bytes().params, 128).score(all);
  for (std::size_t i = 0; i < out.tokens.size(); ++i)
    EXPECT_EQ(s.logprobs[before - 1 + i], out.logprobs[i]) << i;
}

TEST(Score, RefusesWhatTheModelCannotRead) {
  const Scorer scorer(bytes().model, bytes().params, 8);
  EXPECT_THROW((void)scorer.score(Tokens{1}), Error);
  EXPECT_THROW((void)scorer.score(Tokens(10, 1)), Error);
  EXPECT_THROW((void)scorer.score(Tokens{1, 256}), Error);
  EXPECT_THROW((void)scorer.score(Tokens{1, -1}), Error);
}

TEST(Perplexity, CountsEachTokenOnce) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += "line " + std::to_string(i * i) + ".\n";
  const Tokens tokens = tokens_of(text);
  const Scorer scorer(bytes().model, bytes().params, 64);
  for (const std::int64_t stride : {1, 16, 63}) {
    const Perplexity p = perplexity(scorer, std::span(tokens).first(100), 64, stride);
    EXPECT_EQ(p.tokens, 99);
    EXPECT_GT(p.perplexity(), 1);
  }
  const Perplexity short_text = perplexity(scorer, std::span(tokens).first(30), 64, 32);
  double nats = 0;
  for (const float l : scorer.score(std::span(tokens).first(30)).logprobs) nats -= l;
  EXPECT_DOUBLE_EQ(short_text.nats, nats);
  EXPECT_THROW((void)perplexity(scorer, tokens, 64, 64), Error);
}

ordered_json ask(Answers& answers, const ordered_json& request) {
  return ordered_json::parse(answers.to(request.dump()));
}

TEST(Answers, AreOfTheContinuationAlone) {
  Answers answers(bytes(), {.max_length = 128});
  const Scorer scorer(bytes().model, bytes().params, 128);
  const Scored s = scorer.score(tokens_of("The sky is blue"));
  double want = 0;
  for (std::size_t i = s.logprobs.size() - 5; i < s.logprobs.size(); ++i) want += s.logprobs[i];
  // The space belongs to the continuation, wherever it stands.
  for (const auto& [context, continuation] :
       {std::pair{"The sky is", " blue"}, std::pair{"The sky is ", "blue"}}) {
    const ordered_json a = ask(answers, {{"id", 3}, {"loglikelihood", {context, continuation}}});
    EXPECT_DOUBLE_EQ(a["logprob"].get<double>(), want);
    EXPECT_EQ(a["id"], 3);
    EXPECT_FALSE(a["greedy"].get<bool>());
  }
  // A context that is too long loses its beginning.
  const ordered_json long_one = ask(answers, {{"loglikelihood", {std::string(500, 'a'), "bc"}}});
  Tokens kept(127, 'a');  // the last one is not read, so there are 129
  kept.push_back('b'), kept.push_back('c');
  const Scored last = scorer.score(kept);
  EXPECT_DOUBLE_EQ(long_one["logprob"].get<double>(), static_cast<double>(last.logprobs[126]) +
                                                          static_cast<double>(last.logprobs[127]));
}

TEST(Answers, AreOfTheWholeText) {
  Answers answers(bytes(), {.max_length = 32});
  const std::string text = "a text of more tokens than the thirty-two that there is room for";
  const ordered_json a = ask(answers, {{"loglikelihood_rolling", text}});
  EXPECT_EQ(a["tokens"].get<std::size_t>(), text.size());
  // A text that fits: token 0 stands before it.
  Tokens with_prefix = tokens_of("short");
  with_prefix.insert(with_prefix.begin(), 0);
  double want = 0;
  for (const float l : Scorer(bytes().model, bytes().params, 32).score(with_prefix).logprobs)
    want += static_cast<double>(l);
  EXPECT_DOUBLE_EQ(ask(answers, {{"loglikelihood_rolling", "short"}})["logprob"].get<double>(),
                   want);
  // A longer one is scored in windows of 32; the last reads 32 tokens too, and counts what is new.
  ASSERT_EQ(text.size() % 32, 0U);
  const std::string longer = text + "ever";
  Tokens all = tokens_of(longer);
  all.insert(all.begin(), 0);
  want = 0;
  for (const auto& [first, scored] : {std::pair{0, 32}, {32, 32}, {36, 4}}) {
    const Tokens window(all.begin() + first, all.begin() + first + 33);
    const Scored s = Scorer(bytes().model, bytes().params, 32).score(window);
    for (int i = 32 - scored; i < 32; ++i)
      want += static_cast<double>(s.logprobs[static_cast<std::size_t>(i)]);
  }
  EXPECT_DOUBLE_EQ(ask(answers, {{"loglikelihood_rolling", longer}})["logprob"].get<double>(),
                   want);
}

TEST(Answers, AreTextsUntilAString) {
  Answers answers(bytes(), {.max_length = 128});
  const std::string whole =
      ask(answers, {{"generate", "Once"}, {"max_tokens", 30}})["text"].get<std::string>();
  const ordered_json again =
      ask(answers, {{"generate", "Once"}, {"max_tokens", 30}, {"until", {"zzzz"}}});
  EXPECT_EQ(again["text"].get<std::string>(), whole);
}

TEST(Answers, SayWhatIsWrong) {
  Answers answers(bytes(), {.max_length = 64});
  const auto why = [&](const std::string& line) {
    const ordered_json a = ordered_json::parse(answers.to(line));
    return a.value("error", "no error");
  };
  EXPECT_THAT(why("{"), HasSubstr("no JSON object"));
  EXPECT_THAT(why("[]"), HasSubstr("no JSON object"));
  EXPECT_THAT(why("{}"), HasSubstr("asks for none of loglikelihood"));
  EXPECT_THAT(why(R"({"loglikelihood": "x"})"), HasSubstr("not [context, continuation]"));
  EXPECT_THAT(why(R"({"loglikelihood": ["x", 1]})"),
              HasSubstr("the continuation is 1, not a text"));
  EXPECT_THAT(why(R"({"generate": "x", "max_tokens": 64})"), HasSubstr("max_tokens=64"));
  EXPECT_THAT(why(R"({"generate": "x", "temperature": "hot"})"), HasSubstr("another type"));
  EXPECT_THAT(why(R"({"generate": "x", "temperature": -1})"), HasSubstr("temperature"));
  const std::string many = "{\"loglikelihood\": [\"x\", \"" + std::string(65, 'y') + "\"]}";
  EXPECT_THAT(why(many), HasSubstr("65 tokens"));
}

TEST(GenerationConfig, IsReadAsTransformersReadsIt) {
  const auto read = [](const char* text) { return read_generation_config(text, "g.json"); };
  const auto greedy = read(R"({"eos_token_id": [2, 7], "bos_token_id": 1, "temperature": 0.6})");
  ASSERT_TRUE(greedy);
  EXPECT_EQ(greedy->sampling.temperature, 0);
  EXPECT_EQ(greedy->eos, (Tokens{2, 7}));
  EXPECT_EQ(greedy->bos, 1);
  const auto samples = read(
      R"({"do_sample": true, "temperature": 0.6, "top_p": 0.9, "eos_token_id": 2, "top_k": null,
          "max_new_tokens": 12, "stop_strings": "END", "num_beams": 4, "typical_p": 1.0})");
  ASSERT_TRUE(samples);
  EXPECT_EQ(samples->sampling.temperature, 0.6);
  EXPECT_EQ(samples->sampling.top_k, 50);
  EXPECT_EQ(samples->sampling.top_p, 0.9);
  EXPECT_EQ(samples->max_new_tokens, 12);
  EXPECT_EQ(samples->stop_strings, std::vector<std::string>{"END"});
  EXPECT_EQ(samples->ignored, std::vector<std::string>{"num_beams=4"});
  for (const char* wrong : {"", "[]", R"({"eos_token_id": "x"})", R"({"eos_token_id": -1})",
                            R"({"do_sample": 1})", R"({"do_sample": true, "temperature": "hot"})",
                            R"({"do_sample": true, "top_p": 7})", R"({"stop_strings": [1]})"})
    EXPECT_FALSE(read(wrong)) << wrong;
}

}  // namespace
}  // namespace strata::engine
