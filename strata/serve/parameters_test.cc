// Every sampling parameter that the server names: a value that is taken, what it does, and a value
// that is refused by its name.
#include "strata/serve/parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "strata/serve/fields.h"

namespace strata::serve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t kVocabulary = 100;

Parameters read(const std::string& fields, bool chat = false) {
  return read_parameters(parse_object("{" + fields + "}"), chat, {}, kVocabulary, 20);
}
ApiError refused(const std::string& fields, bool chat = false) {
  try {
    read(fields, chat);
  } catch (const ApiError& e) {
    return e;
  }
  return ApiError(200, "not refused: " + fields);
}

struct Case {
  std::string field;
  /// A request that names it, and what it then is; values that are refused.
  std::string taken;
  std::function<bool(const Parameters&)> acts;
  std::vector<std::string> wrong;
  std::string beside = {};  // what wrong values need beside them
};

const engine::Chain& chain(const Parameters& p) { return p.job.sampling.chain.value(); }

std::vector<Case> cases() {
  using P = const Parameters&;
  using Stage = engine::Chain::Stage;
  const auto s = [](auto member, auto value) {
    return [=](P p) { return p.job.sampling.*member == value; };
  };
  using S = engine::Sampling;
  return {
      {"n", R"("n": 3)", [](P p) { return p.n == 3 && p.best_of == 3; }, {"0", "65", "1.5"}},
      {"temperature", R"("temperature": 0.5)", s(&S::temperature, 0.5), {"-1", "2.1", "\"1\""}},
      {"top_p", R"("top_p": 0.5)", s(&S::top_p, 0.5), {"0", "1.1"}},
      {"min_p", R"("min_p": 0.5)", s(&S::min_p, 0.5), {"-0.1", "1.1"}},
      {"top_k", R"("top_k": 5)", s(&S::top_k, 5), {"-2", "0.5"}},
      {"presence_penalty", R"("presence_penalty": 1)", s(&S::presence_penalty, 1.0), {"-3", "3"}},
      {"frequency_penalty",
       R"("frequency_penalty": 1)",
       s(&S::frequency_penalty, 1.0),
       {"-3", "3"}},
      {"repetition_penalty",
       R"("repetition_penalty": 1.5)",
       s(&S::repetition_penalty, 1.5),
       {"0", "-1"}},
      {"seed", R"("seed": 7)", s(&S::seed, 7u), {"1.5", "\"7\"", "18446744073709551615"}},
      {"max_tokens", R"("max_tokens": 9)", [](P p) { return p.job.max_tokens == 9; }, {"0", "-1"}},
      {"min_tokens",
       R"("min_tokens": 2)",
       s(&S::min_tokens, 2),
       {"-1", "17"},
       R"("max_tokens": 16)"},
      {"stop",
       R"("stop": ["a", "b"])",
       [](P p) { return p.job.stop.size() == 2; },
       {"[\"\"]", "[1]", "5"}},
      {"stop_token_ids",
       R"("stop_token_ids": [4])",
       [](P p) { return p.job.stop_tokens == std::vector<std::int32_t>{4}; },
       {"[100]", "[-1]", "4"}},
      {"ignore_eos", R"("ignore_eos": true)", [](P p) { return p.job.ignore_eos; }, {"1"}},
      {"include_stop_str_in_output",
       R"("include_stop_str_in_output": true)",
       [](P p) { return p.job.include_stop; },
       {"\"yes\""}},
      {"bad_words",
       R"("bad_words": ["x"])",
       [](P p) { return p.bad_words == std::vector<std::string>{"x"}; },
       {"[\"\"]", "\"x\""}},
      {"logit_bias",
       R"("logit_bias": {"5": 300})",
       [](P p) { return p.job.sampling.logit_bias[0] == std::pair(5, 100.0f); },
       {R"({"100": 1})", R"({"a": 1})", R"({"1": "x"})"}},
      {"allowed_token_ids",
       R"("allowed_token_ids": [3])",
       [](P p) { return p.job.sampling.allowed_tokens->size() == 1; },
       {"[]", "[100]"}},
      {"logprobs", R"("logprobs": 2)", [](P p) { return p.job.logprobs == 2; }, {"21", "-1"}},
      {"prompt_logprobs",
       R"("prompt_logprobs": 2)",
       [](P p) { return p.job.prompt_logprobs == 2; },
       {"21", "-2"}},
      {"logprob_token_ids",
       R"("logprob_token_ids": [4, 2], "logprobs": 2)",
       [](P p) { return p.job.logprob_tokens == std::vector<std::int32_t>{4, 2}; },
       {"[100]", "[1, 2, 3]"},
       R"("logprobs": 2)"},
      {"thinking_token_budget",
       R"("thinking_token_budget": 5)",
       [](P p) { return p.thinking == 5; },
       {"-2"}},
      {"repetition_detection",
       R"("repetition_detection": {"max_pattern_size": 4})",
       [](P p) { return p.job.repetition_detection->max_size == 4; },
       {"3", R"({"max_pattern_size": 1, "min_pattern_size": 2})"}},
      {"structured_outputs",
       R"("structured_outputs": {"regex": "a"})",
       [](P p) { return p.form.has_value(); },
       {"3"}},
      {"skip_special_tokens",
       R"("skip_special_tokens": false)",
       [](P p) { return !p.job.skip_special; },
       {"3"}},
      {"spaces_between_special_tokens",
       R"("spaces_between_special_tokens": true)",
       [](P) { return true; },
       {"3"}},
      {"detokenize", R"("detokenize": false)", [](P p) { return !p.job.detokenize; }, {"3"}},
      {"flat_logprobs", R"("flat_logprobs": true)", [](P) { return true; }, {"3"}},
      {"output_kind", R"("output_kind": null)", [](P) { return true; }, {"2"}},
      {"stream_interval",
       R"("stream_interval": 4)",
       [](P p) { return p.stream_interval == 4; },
       {"0"}},
      {"priority", R"("priority": -2)", [](P p) { return p.job.priority == -2; }, {"0.5"}},
      {"extra_args", R"("extra_args": {})", [](P) { return true; }, {R"({"a": 1})"}},
      {"typical_p",
       R"("typical_p": 0.5)",
       [](P p) { return chain(p).typical_p == 0.5; },
       {"0", "2"}},
      {"top_n_sigma",
       R"("top_n_sigma": 1.5)",
       [](P p) { return chain(p).top_n_sigma == 1.5; },
       {"-2"}},
      {"xtc_probability",
       R"("xtc_probability": 0.5)",
       [](P p) { return chain(p).xtc_probability == 0.5; },
       {"-1", "2"}},
      {"xtc_threshold",
       R"("xtc_threshold": 0.3, "xtc_probability": 1)",
       [](P p) { return chain(p).xtc_threshold == 0.3; },
       {"-1", "2"}},
      {"dry_multiplier",
       R"("dry_multiplier": 0.8)",
       [](P p) { return chain(p).dry_multiplier == 0.8 && p.dry_breakers.size() == 4; },
       {"-1"}},
      {"dry_base",
       R"("dry_base": 2, "dry_multiplier": 1)",
       [](P p) { return chain(p).dry_base == 2; },
       {"0.5"}},
      {"dry_allowed_length",
       R"("dry_allowed_length": 3, "dry_multiplier": 1)",
       [](P p) { return chain(p).dry_allowed_length == 3; },
       {"-1"}},
      {"dry_penalty_last_n",
       R"("dry_penalty_last_n": 64, "dry_multiplier": 1)",
       [](P p) { return chain(p).dry_penalty_last_n == 64; },
       {"-2"}},
      {"dry_sequence_breakers",
       R"("dry_sequence_breakers": ["ab"], "dry_multiplier": 1)",
       [](P p) { return p.dry_breakers == std::vector<std::string>{"ab"}; },
       {"[\"\"]", "\"a\"", "[1]"}},
      {"mirostat", R"("mirostat": 2)", [](P p) { return chain(p).mirostat == 2; }, {"3", "-1"}},
      {"mirostat_tau",
       R"("mirostat_tau": 3, "mirostat": 1)",
       [](P p) { return chain(p).mirostat_tau == 3; },
       {"-1"}},
      {"mirostat_eta",
       R"("mirostat_eta": 0.5, "mirostat": 1)",
       [](P p) { return chain(p).mirostat_eta == 0.5; },
       {"-1"}},
      {"dynatemp_range",
       R"("dynatemp_range": 0.5)",
       [](P p) { return chain(p).dynatemp_range == 0.5; },
       {"-1"}},
      {"dynatemp_exponent",
       R"("dynatemp_exponent": 2, "dynatemp_range": 1)",
       [](P p) { return chain(p).dynatemp_exponent == 2; },
       {"-1"}},
      {"samplers",
       R"("samplers": ["temperature", "top_k"])",
       [](P p) { return chain(p).order == std::vector<Stage>{Stage::temperature, Stage::top_k}; },
       {"[\"infill\"]", "\"top_k\"", "[\"top_k\", \"top_k\"]"}},
  };
}

TEST(Parameters, EachIsTakenAndActsOrIsRefusedByName) {
  std::set<std::string> known;
  for (const Field& f : fields()) known.insert(f.name);
  for (const Case& c : cases()) {
    EXPECT_TRUE(known.contains(c.field)) << c.field;
    EXPECT_TRUE(c.acts(read(c.taken))) << c.taken;
    EXPECT_NO_THROW(read("\"" + c.field + "\": null")) << c.field;
    for (const std::string& value : c.wrong) {
      const std::string beside = c.beside.empty() ? "" : ", " + c.beside;
      const ApiError e = refused("\"" + c.field + "\": " + value + beside);
      EXPECT_EQ(e.status, 400) << c.field << " " << e.message;
      EXPECT_THAT(e.param, testing::StartsWith(c.field)) << value << " " << e.message;
    }
  }
}

TEST(Parameters, LlamaCppsNeutralValuesMakeNoChain) {
  EXPECT_FALSE(read(R"("typical_p": 1, "top_n_sigma": -1, "xtc_probability": 0, "mirostat": 0,
                       "mirostat_tau": 5, "dry_multiplier": 0, "dynatemp_range": 0)")
                   .job.sampling.chain);
  EXPECT_TRUE(read(R"("samplers": [])").job.sampling.chain);
}

TEST(Parameters, TextIsNeededWhereTextIsLookedAt) {
  EXPECT_EQ(refused(R"("detokenize": false, "stop": "a")").param, "stop");
  EXPECT_EQ(refused(R"("detokenize": false, "echo": true)").param, "echo");
  EXPECT_EQ(
      refused(R"("detokenize": false, "tools": [{"type": "function", "function": {"name": "f"}}])",
              true)
          .param,
      "tools");
}

TEST(Parameters, BeamsRefuseWhatTheyDoNotFollow) {
  for (const char* field :
       {R"("mirostat": 2)", R"("samplers": ["dry"])", R"("logprob_token_ids": [1])"})
    EXPECT_THAT(refused(std::string(R"("use_beam_search": true, )") + field).message,
                HasSubstr("use_beam_search"));
  EXPECT_NO_THROW(read(R"("use_beam_search": true, "typical_p": 1, "top_n_sigma": -1)"));
}

TEST(Parameters, FieldsThatNobodyKnowsAreNamed) {
  const Json body = parse_object(
      R"({"prompt": "a", "messages": [], "temprature": 1, "a\r\nb": 1, "user": "me", "guided_json": 1})");
  EXPECT_THAT(unknown_fields(body, false), ElementsAre("messages", "temprature", "a??b"));
  EXPECT_THAT(unknown_fields(body, true), ElementsAre("prompt", "temprature", "a??b"));
  EXPECT_EQ(refused(R"("modalities": ["audio"])", true).param, "modalities");
  EXPECT_NO_THROW(read(R"("modalities": ["text"], "store": false, "verbosity": "medium")", true));
  EXPECT_EQ(refused(R"("suffix": "x")").param, "suffix");
}

TEST(Parameters, BreakersAreTokensThatHoldThemOrBeginThem) {
  const tokenizer::ByteTokenizer bytes;
  EXPECT_EQ(breakers(bytes, {":"}), (std::vector<std::vector<std::int32_t>>{{58}}));
  EXPECT_EQ(breakers(bytes, {"ab", "b"}), (std::vector<std::vector<std::int32_t>>{{97, 98}, {98}}));
}

}  // namespace
}  // namespace strata::serve
