// What is drawn depends on tokens, seed and number alone, and is what the plain forward pass would
// have drawn.
#include "strata/train/evaluate/generate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "strata/api/index.h"
#include "strata/api/random.h"
#include "strata/api/transform/jit.h"
#include "strata/base/error.h"
#include "strata/base/text.h"
#include "strata/base/thread_pool.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/engine/sampling.h"
#include "strata/train/state.h"

namespace strata::train {
namespace {

class GenerateTest : public testing::Test {
 protected:
  GenerateTest() { compile::register_cpu(); }
  ~GenerateTest() override { set_num_threads(0); }

  static Config tiny(std::int64_t length, const std::string& dtype = "float32") {
    Config c;
    c.model = {
        {"base_emb_dim", "16"}, {"base_num_query_heads", "2"}, {"base_num_kv_heads", "1"},
        {"head_dim", "8"},      {"base_mlp_dim", "24"},        {"base_num_decoder_layers", "2"},
        {"dtype", dtype}};
    c.max_target_length = length;
    return c;
  }
  /// Untrained weights draw from all bytes, which is what these laws are about.
  static Generator generator(const Config& c) {
    return Generator(c, std::make_shared<tokenizer::ByteTokenizer>(),
                     make_model(c)->init(random::key(5)));
  }
  static std::vector<std::string> texts(const Generator& g, const std::string& prompt,
                                        const GenerateOptions& o) {
    std::vector<std::string> streamed(static_cast<std::size_t>(o.num_samples));
    const Generated all = g.generate(prompt, o, [&](std::int64_t s, std::string_view text) {
      streamed[static_cast<std::size_t>(s)] += text;
    });
    for (std::size_t s = 0; s < streamed.size(); ++s)
      EXPECT_EQ(streamed[s], all.samples[s].text) << "pieces make up the text";
    return streamed;
  }
  static std::string text(const Generator& g, const std::string& prompt, const GenerateOptions& o) {
    return texts(g, prompt, o)[0];
  }
};

/// The slow one: for each token a whole forward pass over the window, filled up to its length.
std::string plain(const Config& c, std::string prompt, const GenerateOptions& o) {
  const tokenizer::ByteTokenizer tokenizer;
  const model::ModelPtr model = make_model(c);
  const tree::Tree params = model->init(random::key(5));
  const std::vector<engine::Sampling> sampling = {{.temperature = o.temperature,
                                                   .top_k = o.top_k,
                                                   .top_p = o.top_p,
                                                   .min_p = o.min_p,
                                                   .seed = o.seed}};
  const auto next = jit([&](const Array& window, const Array& last, const engine::Rows& rows) {
    const Array logits = astype(model->forward(params, window), float32);
    return engine::draw(take(logits, last, 1), rows).token;
  });
  std::vector<std::int32_t> tokens = tokenizer.encode(prompt);
  tokenizer::StreamDecoder decoder(tokenizer);
  std::string out;
  for (std::int32_t i = 0; i < o.max_tokens; ++i) {
    const auto begin = static_cast<std::size_t>(
        window_begin(static_cast<std::int64_t>(tokens.size()), c.max_target_length));
    std::vector<std::int32_t> window(tokens.begin() + static_cast<std::ptrdiff_t>(begin),
                                     tokens.end());
    const auto last = static_cast<int>(window.size()) - 1;
    window.resize(static_cast<std::size_t>(c.max_target_length), 65);
    tokens.push_back(next(array(window, Sizes{1, c.max_target_length}), Array(last),
                          engine::rows(sampling, std::span(&i, 1)))
                         .to_vector<std::int32_t>()[0]);
    out += decoder.add(tokens.back());
  }
  return out + decoder.finish();
}

TEST_F(GenerateTest, IsWhatWholeForwardPassesDraw) {
  for (const char* dtype : {"float32", "bfloat16"}) {
    const Config c = tiny(12, dtype);
    const Generator g = generator(c);
    for (const char* prompt :
         {"a", "twelve bytes", "a prompt that is longer than the model's window, and more"}) {
      const GenerateOptions o{
          .max_tokens = 20, .temperature = 1, .top_k = 100, .seed = 3, .ignore_eos = true};
      EXPECT_EQ(text(g, prompt, o), plain(c, prompt, o)) << dtype << ", " << prompt;
    }
  }
}

TEST_F(GenerateTest, ChunksAndStepsReadTheSame) {
  // Prompts on both sides of the sizes of chunks and windows.
  const Config c = tiny(100);
  const Generator g = generator(c);
  for (const std::size_t size : {63u, 64u, 65u, 99u, 100u, 101u, 150u, 151u}) {
    const std::string prompt = std::string(size, 'x');
    const GenerateOptions o{.max_tokens = 3, .temperature = 1, .ignore_eos = true};
    EXPECT_EQ(text(g, prompt, o), plain(c, prompt, o)) << size;
  }
}

/// The first 128 bytes, so that every text is whole.
class Ascii : public tokenizer::ByteTokenizer {
 public:
  std::int64_t vocab_size() const override { return 128; }
};

TEST_F(GenerateTest, WhereThePromptEndsMakesNoDifference) {
  const Config c = tiny(16);
  const Generator g(c, std::make_shared<Ascii>(), make_model(c)->init(random::key(5)));
  const GenerateOptions greedy{.max_tokens = 40, .temperature = 0, .ignore_eos = true};
  const std::string prompt = "Begin", whole = text(g, prompt, greedy);
  for (const std::size_t cut : {1u, 7u, 20u, 33u}) {
    GenerateOptions rest = greedy;
    rest.max_tokens -= static_cast<std::int64_t>(cut);
    EXPECT_EQ(whole.substr(0, cut) + text(g, prompt + whole.substr(0, cut), rest), whole) << cut;
  }
}

TEST_F(GenerateTest, WindowsBeginInSteps) {
  EXPECT_EQ(window_begin(1, 8), 0);
  EXPECT_EQ(window_begin(8, 8), 0);
  EXPECT_EQ(window_begin(9, 8), 4);
  EXPECT_EQ(window_begin(12, 8), 4);
  EXPECT_EQ(window_begin(13, 8), 8);
  for (std::int64_t length : {1, 2, 3, 7, 64})
    for (std::int64_t n = 1, before = 0; n < 300; ++n) {
      const std::int64_t begin = window_begin(n, length);
      EXPECT_GE(begin, before);
      EXPECT_LE(n - begin, length);
      EXPECT_GT(
          n - begin,
          begin == 0 ? 0 : length - std::max<std::int64_t>(1, length / 2) - (length > 1 ? 0 : 1))
          << n << " of " << length;
      before = begin;
    }
}

TEST_F(GenerateTest, SamplesAreThoseOfTheirSeedsAlone) {
  const Generator g = generator(tiny(12));
  GenerateOptions o{.max_tokens = 25, .temperature = 1, .seed = 40, .num_samples = 3};
  const std::vector<std::string> together = texts(g, "Once", o);
  for (std::size_t i = 0; i < 3; ++i) {
    GenerateOptions one = o;
    one.num_samples = 1;
    one.seed = o.seed + i;
    EXPECT_EQ(text(g, "Once", one), together[i]) << i;
  }
  EXPECT_NE(together[0], together[1]);
}

TEST_F(GenerateTest, PromptsAreThoseOfTheirCallsAlone) {
  const Generator g = generator(tiny(12));
  // More texts than run at once, some longer than the window.
  const std::vector<std::string> prompts = {"Once", "", "a text that is longer than the window",
                                            "x"};
  const GenerateOptions o{
      .max_tokens = 15, .temperature = 1, .min_p = 0.01, .seed = 7, .num_samples = 5};
  const std::vector<Generated> together =
      g.generate(prompts, o, [](std::size_t, std::int64_t, std::string_view) {});
  ASSERT_EQ(together.size(), prompts.size());
  const Generator other = generator(tiny(12));
  for (std::size_t p = 0; p < prompts.size(); ++p) {
    const std::vector<std::string> alone = texts(other, prompts[p], o);
    for (std::size_t s = 0; s < 5; ++s) EXPECT_EQ(together[p].samples[s].text, alone[s]) << p << s;
  }
}

TEST_F(GenerateTest, ACallThatEndsEarlyLeavesNothingBehind) {
  const Generator g = generator(tiny(12));
  const GenerateOptions o{.max_tokens = 20, .temperature = 1, .ignore_eos = true};
  const std::string whole = text(g, "Once", o);
  int pieces = 0;
  const auto stop = [&](std::string_view) {
    if (++pieces == 3) throw std::runtime_error("nobody reads on");
  };
  EXPECT_THROW(g.generate("Twice", o, stop), std::runtime_error);
  EXPECT_EQ(text(g, "Once", o), whole);
}

TEST_F(GenerateTest, ThreadsChangeNothing) {
  const Generator g = generator(tiny(12));
  const GenerateOptions o{.max_tokens = 25, .temperature = 1};
  set_num_threads(1);
  const std::string one = text(g, "Once", o);
  set_num_threads(3);
  EXPECT_EQ(text(g, "Once", o), one);
}

TEST_F(GenerateTest, StopStringsEndASampleAndAreLeftOut) {
  const Generator g = generator(tiny(12));
  GenerateOptions o{.max_tokens = 30, .temperature = 1, .seed = 2, .ignore_eos = true};
  const std::string whole = text(g, "Once", o);
  const std::string stop = whole.substr(8, 3);
  o.stop = {"never to be met", stop};
  const Generated ended = g.generate("Once", o, [](std::string_view) {});
  EXPECT_EQ(ended.samples[0].text, whole.substr(0, whole.find(stop)));
  EXPECT_EQ(ended.samples[0].end, Sample::End::stop);
  EXPECT_LT(ended.samples[0].tokens, 30);
}

/// Bytes, of which one is declared the separator.
class Separated : public tokenizer::ByteTokenizer {
 public:
  explicit Separated(std::int32_t separator) : separator_(separator) {}
  std::int32_t separator() const override { return separator_; }

 private:
  std::int32_t separator_;
};

TEST_F(GenerateTest, ADocumentEndsAtItsSeparator) {
  const Config c = tiny(12);
  const tree::Tree params = make_model(c)->init(random::key(5));
  // The token that is drawn first.
  const GenerateOptions greedy{.max_tokens = 5, .temperature = 0};
  const std::string prompt = "Once";
  const auto first = static_cast<std::int32_t>(
      argmax(make_model(c)->forward(params,
                                    array({{'O', 'n', 'c', 'e', 0, 0, 0, 0, 0, 0, 0, 0}}))[{0, 3}])
          .item<int>());
  const Generator g(c, std::make_shared<Separated>(first), params);
  const Generated ended = g.generate(prompt, greedy, [](std::string_view) {});
  EXPECT_EQ(ended.samples[0].end, Sample::End::document);
  EXPECT_EQ(ended.samples[0].text, "");
  EXPECT_EQ(ended.samples[0].tokens, 1);
  GenerateOptions on = greedy;
  on.ignore_eos = true;
  EXPECT_EQ(g.generate(prompt, on, [](std::string_view) {}).samples[0].tokens, 5);
}

TEST_F(GenerateTest, EveryPieceIsWholeText) {
  const Generator g = generator(tiny(12));
  std::string all;
  g.generate("\xc3", {.max_tokens = 200, .temperature = 1, .ignore_eos = true},
             [&](std::string_view piece) {
               EXPECT_EQ(invalid_utf8(piece), 0u);
               all += piece;
             });
  EXPECT_THAT(all, testing::HasSubstr("\xef\xbf\xbd")) << "random bytes have some that are no text";
}

TEST_F(GenerateTest, AnEmptyPromptBeginsADocument) {
  const Generator g = generator(tiny(12));
  const GenerateOptions o{.max_tokens = 10, .temperature = 1, .ignore_eos = true};
  EXPECT_EQ(text(g, "", o), text(g, std::string(1, '\0'), o));
}

TEST_F(GenerateTest, ATokenizerTooLargeIsRefused) {
  Config c = tiny(12);
  const tree::Tree params = make_model(c)->init(random::key(5));
  c.model["vocab_size"] = "100";
  EXPECT_THROW(Generator(c, std::make_shared<tokenizer::ByteTokenizer>(), params), Error);
}

}  // namespace
}  // namespace strata::train
