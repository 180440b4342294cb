#include "strata/train/evaluate/generate.h"

#include <algorithm>
#include <chrono>

#include "strata/api/transform/jit.h"
#include "strata/base/error.h"
#include "strata/checkpoint/any_format.h"
#include "strata/train/evaluate/stop.h"
#include "strata/train/run_tokenizer.h"
#include "strata/train/state.h"

namespace strata::train {
namespace {

using Row = std::vector<std::int32_t>;

/// Texts that run at once; more wait.
constexpr std::int64_t kMostAtOnce = 16;
constexpr std::int64_t kPageSize = 16;

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

std::string_view name(Sample::End end) {
  switch (end) {
    case Sample::End::max_tokens: return "max_tokens";
    case Sample::End::stop: return "stop";
    case Sample::End::document: return "document";
  }
  return "";
}

double Generated::tokens_per_second() const {
  std::int64_t tokens = 0;
  for (const Sample& s : samples) tokens += s.tokens;
  return decode_seconds > 0 ? static_cast<double>(tokens) / decode_seconds : 0;
}

std::int64_t window_begin(std::int64_t tokens, std::int64_t length) {
  if (tokens <= length) return 0;
  const std::int64_t half = std::max<std::int64_t>(1, length / 2);
  return (tokens - length + half - 1) / half * half;
}

Result<Generator> Generator::load(const std::string& path) {
  auto found = checkpoint::any_format::find(path, [](const checkpoint::Checkpoint& c) {
    return params_from_checkpoint(c, config_of(c)).status();
  });
  if (!found) return found.status();
  Config config = config_of(*found->checkpoint);
  auto params = params_from_checkpoint(*found->checkpoint, config);
  if (!params) return params.status();
  auto tokenizer = tokenizer_of_run(found->folder, config);
  if (!tokenizer) return tokenizer.status();
  Generator out(std::move(config), std::move(*tokenizer), *params, found->checkpoint->step);
  out.damaged_ = std::move(found->damaged);
  return out;
}

Generator::Generator(Config config, std::shared_ptr<const tokenizer::Tokenizer> tokenizer,
                     const tree::Tree& params, std::int64_t step)
    : config_(std::move(config)),
      model_(make_model(config_)),
      tokenizer_(std::move(tokenizer)),
      step_(step) {
  if (tokenizer_->vocab_size() > model_->vocab_size())
    throw Error("generate", "the tokenizer has {} tokens, the model {}", tokenizer_->vocab_size(),
                model_->vocab_size());
  params_ = jit([model = model_](const tree::Tree& p) { return model->cast(p, model->dtype()); },
                {.name = "cast"})(params);
}

namespace {

/// A sample on its way from tokens to text.
struct Writer {
  Writer(const tokenizer::Tokenizer& tokenizer, const GenerateOptions& options,
         std::function<void(std::string_view)> hand_on)
      : decoder(tokenizer), stop(options.stop), hand_on(std::move(hand_on)) {}

  void add(std::int32_t token, bool separator_ends, const tokenizer::Tokenizer& tokenizer) {
    ++sample.tokens;
    if (separator_ends && token == tokenizer.separator()) return close(Sample::End::document);
    put(stop.add(decoder.add(token)));
    if (stop.found()) done = true, sample.end = Sample::End::stop;
  }
  void close(Sample::End end) {
    put(stop.add(decoder.finish()));
    put(stop.finish());
    done = true;
    sample.end = stop.found() ? Sample::End::stop : end;
  }
  void put(const std::string& text) {
    sample.text += text;
    if (!text.empty()) hand_on(text);
  }

  tokenizer::StreamDecoder decoder;
  StopStrings stop;
  std::function<void(std::string_view)> hand_on;
  Sample sample;
  bool done = false;
};

/// One text: its tokens, and the request that draws them now.
struct Text {
  std::size_t prompt = 0;
  std::int64_t sample = 0;
  Row tokens;
  engine::Id request = 0;
  std::int64_t drawn = 0;
  std::string error;
};

/// Leaves nothing in an engine where a call ends early: listeners would outlive what they write to.
struct LeaveNothing {
  engine::Engine& engine;
  ~LeaveNothing() { engine.reset(); }
};

}  // namespace

std::vector<Generated> Generator::generate(
    std::span<const std::string> prompts, const GenerateOptions& o,
    const std::function<void(std::size_t, std::int64_t, std::string_view)>& piece) const {
  const std::int64_t length = config_.max_target_length;
  std::vector<Generated> out(prompts.size());
  std::vector<Text> texts;
  std::vector<Writer> writers;
  for (std::size_t p = 0; p < prompts.size(); ++p) {
    Row tokens = tokenizer_->encode(prompts[p]);
    if (tokens.empty()) tokens.push_back(tokenizer_->separator());
    out[p].prompt_tokens = static_cast<std::int64_t>(tokens.size());
    for (std::int64_t s = 0; s < o.num_samples; ++s) {
      texts.push_back({p, s, tokens});
      writers.emplace_back(*tokenizer_, o,
                           [&piece, p, s](std::string_view text) { piece(p, s, text); });
    }
  }
  if (texts.empty()) return out;

  const double start = seconds_now();
  const std::lock_guard lock(shared_->mutex);
  const std::int64_t at_once = std::min(static_cast<std::int64_t>(texts.size()), kMostAtOnce);
  if (!shared_->engine || shared_->engine->options().max_batch < at_once) {
    // A window of `length` tokens and the token that is drawn behind it.
    const std::int64_t pages = (length + 1 + kPageSize - 1) / kPageSize;
    shared_->engine = nullptr;  // its cache makes room
    shared_->engine =
        std::make_unique<engine::Engine>(model_, params_,
                                         engine::Options{.pages = pages * at_once,
                                                         .page_size = kPageSize,
                                                         .max_batch = at_once,
                                                         .max_length = length + 1,
                                                         .vocabulary = tokenizer_->vocab_size()});
    shared_->engine->warm_up(at_once);
  }
  engine::Engine& engine = *shared_->engine;
  const double compiled = seconds_now();
  double read = 0;  // when the first token was drawn

  const std::function<void(std::size_t)> go_on = [&](std::size_t i) {
    Text& t = texts[i];
    const std::int64_t begin = window_begin(static_cast<std::int64_t>(t.tokens.size()), length);
    engine::Request request{
        .tokens = Row(t.tokens.begin() + static_cast<std::ptrdiff_t>(begin), t.tokens.end()),
        .sampling = {.temperature = o.temperature,
                     .top_k = o.top_k,
                     .top_p = o.top_p,
                     .min_p = o.min_p,
                     .seed = o.seed + static_cast<std::uint64_t>(t.sample)},
        .max_tokens = o.max_tokens - t.drawn,
        .first_position = t.drawn};
    request.on_token = [&, i](const engine::Token& token) {
      Text& text = texts[i];
      if (read == 0) read = seconds_now();
      text.tokens.push_back(token.token);
      ++text.drawn;
      writers[i].add(token.token, !o.ignore_eos, *tokenizer_);
      if (writers[i].done) engine.cancel(token.id);
    };
    request.on_end = [&, i](engine::Id id, const engine::Output& output) {
      Text& text = texts[i];
      const engine::End end = output.end;
      text.error = output.error;
      engine.take(id);
      text.request = 0;
      if (writers[i].done || end == engine::End::error) return;
      if (end == engine::End::length)
        go_on(i);  // the older half of the window is let go
      else
        writers[i].close(Sample::End::max_tokens);
    };
    t.request = engine.submit(std::move(request));
  };
  const LeaveNothing guard{engine};
  // The first sample of a prompt reads it; the others find its pages.
  for (std::size_t i = 0; i < texts.size(); ++i)
    if (texts[i].sample == 0) go_on(i);
  while (o.num_samples > 1 && std::any_of(texts.begin(), texts.end(), [](const Text& t) {
           return t.request != 0 && t.drawn == 0;
         }))
    engine.step();
  for (std::size_t i = 0; i < texts.size(); ++i)
    if (texts[i].sample != 0) go_on(i);
  while (engine.step()) {
  }
  for (const Text& t : texts)
    if (!t.error.empty()) throw Error("generate", "{}", t.error);
  const double done = seconds_now();
  for (Generated& g : out) {
    g.compile_seconds = compiled - start;
    g.prompt_seconds = read - compiled;
    g.decode_seconds = done - read;
  }
  for (std::size_t i = 0; i < texts.size(); ++i)
    out[texts[i].prompt].samples.push_back(std::move(writers[i].sample));
  return out;
}

Generated Generator::generate(
    std::string_view prompt, const GenerateOptions& options,
    const std::function<void(std::int64_t, std::string_view)>& piece) const {
  const std::string one(prompt);
  return std::move(generate(std::span(&one, 1), options,
                            [&](std::size_t, std::int64_t sample, std::string_view text) {
                              piece(sample, text);
                            })
                       .front());
}

Generated Generator::generate(std::string_view prompt, const GenerateOptions& options,
                              const std::function<void(std::string_view)>& piece) const {
  GenerateOptions one = options;
  one.num_samples = 1;
  return generate(prompt, one, [&](std::int64_t, std::string_view text) { piece(text); });
}

}  // namespace strata::train
