#include "strata/train/generate.h"

#include <algorithm>
#include <chrono>

#include "strata/api/index.h"
#include "strata/api/jit.h"
#include "strata/base/file.h"
#include "strata/train/state.h"
#include "strata/train/stop.h"

namespace strata::train {
namespace {

using Row = std::vector<std::int32_t>;

/// Tokens that are read at once; the last ones of a prompt are read in a chunk of this size too,
/// filled up behind them.
constexpr std::int64_t kChunk = 64;

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// `folder`: the checkpoint's. The tokenizer may lie there, or in the run's folder.
Result<std::shared_ptr<const tokenizer::Tokenizer>> find_tokenizer(const std::string& folder,
                                                                   const Config& config) {
  if (config.tokenizer_type == "byte") return tokenizer::load_tokenizer("byte", "");
  for (const std::string& near : {folder, folder + "/../.."})
    if (const std::string file = near + "/tokenizer.model"; file_exists(file))
      return tokenizer::load_tokenizer(config.tokenizer_type, file);
  return tokenizer::load_tokenizer(config.tokenizer_type, config.tokenizer_path);
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
  auto found = checkpoint::find(path);
  if (!found) return found.status();
  Config config = config_of(*found->checkpoint);
  auto params = params_from_checkpoint(*found->checkpoint, config);
  if (!params) return params.status();
  auto tokenizer = find_tokenizer(found->folder, config);
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
  auto body = [model = model_](const tree::Tree& p, const Array& tokens, const Array& first,
                               const Array& only, const tree::Tree& cache) {
    auto [logits, next] = model->extend(p, tokens, first, cache, only);
    return std::pair(astype(squeeze(logits, {1}), DType::f32), next);
  };
  extend_ = [step = jit(body, {.donate_argnums = {4}, .name = "extend"}), params = params_](
                const Array& tokens, int first, int only, tree::Tree cache) {
    return step(params, tokens, Array(first), Array(only), std::move(cache));
  };
}

/// Rows of tokens of equal length, read into a cache as far as they were not yet.
class Reader {
 public:
  Reader(const Generator& generator, std::int64_t rows)
      : g_(generator),
        rows_(rows),
        length_(g_.config_.max_target_length),
        cache_(g_.model_->init_cache(rows, length_)) {}

  /// Compiles what `logits` runs.
  void warm_up() {
    for (const std::int64_t size : {std::min(kChunk, length_), std::int64_t{1}})
      cache_ = g_.extend_(zeros({rows_, size}, DType::i32), 0, 0, std::move(cache_)).second;
  }

  /// Logits (rows, V) behind the last token, f32.
  Literal logits(const std::vector<Row>& rows) {
    const auto tokens = static_cast<std::int64_t>(rows[0].size());
    if (const std::int64_t begin = window_begin(tokens, length_); begin != begin_)
      begin_ = begin, filled_ = 0;
    Literal out;
    while (begin_ + filled_ < tokens) out = read(rows, tokens - begin_ - filled_);
    return out;
  }

 private:
  Literal read(const std::vector<Row>& rows, std::int64_t left) {
    const std::int64_t size = left == 1 ? 1 : std::min(kChunk, length_);
    // A chunk that would stand out behind the cache reads some tokens once more, to the same bits.
    const std::int64_t from = std::min(filled_, length_ - size),
                       last = std::min(filled_ + left, from + size);
    std::vector<std::int32_t> chunk;
    for (const Row& row : rows)
      for (std::int64_t i = from; i < from + size; ++i)
        chunk.push_back(i < last ? row[static_cast<std::size_t>(begin_ + i)] : 0);
    auto [logits, next] = g_.extend_(array(chunk, Sizes{rows_, size}), static_cast<int>(from),
                                     static_cast<int>(last - 1 - from), std::move(cache_));
    cache_ = std::move(next);
    filled_ = last;
    return logits.literal();
  }

  const Generator& g_;
  std::int64_t rows_, length_, begin_ = 0, filled_ = 0;
  tree::Tree cache_;
};

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

}  // namespace

Generated Generator::generate(
    std::string_view prompt, const GenerateOptions& o,
    const std::function<void(std::int64_t, std::string_view)>& piece) const {
  Row tokens = tokenizer_->encode(prompt);
  if (tokens.empty()) tokens.push_back(tokenizer_->separator());
  Generated out;
  out.prompt_tokens = static_cast<std::int64_t>(tokens.size());
  std::vector<Row> rows(static_cast<std::size_t>(o.num_samples), tokens);
  std::vector<Writer> writers;
  for (std::int64_t s = 0; s < o.num_samples; ++s)
    writers.emplace_back(*tokenizer_, o, [&piece, s](std::string_view text) { piece(s, text); });

  const double start = seconds_now();
  Reader reader(*this, o.num_samples);
  reader.warm_up();
  const double compiled = seconds_now();
  Literal logits = reader.logits(rows);
  const double read = seconds_now();
  const Sampling sampling{o.temperature, o.top_k, o.top_p};
  const auto vocabulary = static_cast<std::size_t>(model_->vocab_size()),
             known = static_cast<std::size_t>(tokenizer_->vocab_size());
  for (std::int64_t i = 0; i < o.max_tokens; ++i) {
    if (i > 0) logits = reader.logits(rows);
    bool all_done = true;
    for (std::size_t s = 0; s < rows.size(); ++s) {
      const std::uint64_t seed = o.seed + s;
      const std::int32_t token =
          sample(logits.span<float>().subspan(s * vocabulary, known), sampling,
                 uniform_number(seed, static_cast<std::uint64_t>(i)));
      rows[s].push_back(token);
      if (!writers[s].done) writers[s].add(token, !o.ignore_eos, *tokenizer_);
      all_done = all_done && writers[s].done;
    }
    if (all_done) break;
  }
  for (Writer& w : writers)
    if (!w.done) w.close(Sample::End::max_tokens);
  out.compile_seconds = compiled - start;
  out.prompt_seconds = read - compiled;
  out.decode_seconds = seconds_now() - read;
  for (Writer& w : writers) out.samples.push_back(std::move(w.sample));
  return out;
}

Generated Generator::generate(std::string_view prompt, const GenerateOptions& options,
                              const std::function<void(std::string_view)>& piece) const {
  GenerateOptions one = options;
  one.num_samples = 1;
  return generate(prompt, one, [&](std::int64_t, std::string_view text) { piece(text); });
}

}  // namespace strata::train
