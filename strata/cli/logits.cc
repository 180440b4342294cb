#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "strata/api/index.h"
#include "strata/api/numpy.h"
#include "strata/api/transform/jit.h"
#include "strata/base/error.h"
#include "strata/base/thread_pool.h"
#include "strata/checkpoint/arrays.h"
#include "strata/cli/command.h"
#include "strata/model/int8_activations.h"
#include "strata/model/pretrained.h"

namespace strata::cli {
namespace {

using nlohmann::ordered_json;

struct Options {
  std::string model, adapter, tokens, out, dtype = "float32", activations = "float";
  bool json = false;
  int threads = 0;
};

/// "1,2,3" as (1, 3). Throws Error for anything else, and for ids beyond the vocabulary.
Array tokens_of(const std::string& text, std::int64_t vocabulary) {
  std::vector<std::int32_t> out;
  std::size_t at = 0;
  while (at <= text.size()) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    std::int32_t id = -1;
    const auto [stop, error] = std::from_chars(text.data() + at, text.data() + end, id);
    if (error != std::errc() || stop != text.data() + end || id < 0 || id >= vocabulary)
      throw Error("logits",
                  "--tokens {}: allowed are numbers from 0 to {}, with commas between them", text,
                  vocabulary - 1);
    out.push_back(id);
    at = end + 1;
  }
  const auto count = static_cast<std::int64_t>(out.size());
  return Array(Literal::of(Shape({1, count}), out));
}

/// What was computed, by the names that it has in a file.
using Tensors = std::map<std::string, Array>;

Result<Tensors> decode(const Options& o, const model::LoadOptions& how) {
  Result<model::Pretrained> p = model::load(o.model, how);
  if (!p) return p.status();
  const Array tokens = tokens_of(o.tokens, p->model->vocab_size());
  const model::ModelPtr m =
      o.activations == "int8" ? model::with_int8_activations(p->model) : p->model;
  const Array logits = jit([&](const tree::Tree& w, const Array& t) {
    return astype(m->forward(w, t), DType::f32);
  })(p->params, tokens);
  return Tensors{{"logits", logits[0]}};
}

Result<Tensors> encode(const Options& o, const model::LoadOptions& how) {
  Result<model::PretrainedEncoder> p = model::load_encoder(o.model, how);
  if (!p) return p.status();
  const Array tokens = tokens_of(o.tokens, p->encoder->vocab_size());
  const Array mask = ones_like(tokens);
  const Array hidden = jit([&](const tree::Tree& w, const Array& t) {
    return astype(p->encoder->hidden(w, t, ones_like(t)), DType::f32);
  })(p->params, tokens);
  return Tensors{{"hidden", hidden[0]}, {"vector", model::pooled(hidden, mask, p->pooling)[0]}};
}

/// The likeliest tokens behind the last one, and the logarithm of the sum of all exponentials.
ordered_json next_of(const Array& logits) {
  constexpr std::size_t kShown = 5;
  const std::vector<float> last = logits[-1].to_vector<float>();
  std::vector<std::size_t> order(last.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::size_t shown = std::min(kShown, order.size());
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(),
      [&](std::size_t a, std::size_t b) { return last[a] != last[b] ? last[a] > last[b] : a < b; });
  ordered_json out = ordered_json::array();
  for (std::size_t i = 0; i < shown; ++i)
    out.push_back({{"token", order[i]}, {"logit", last[order[i]]}});
  return {{"next", out}, {"logsumexp", logsumexp(logits[-1], -1).item<double>()}};
}

int run(const Options& o) {
  if (o.threads > 0) set_num_threads(o.threads);
  const DType dtype = o.dtype == "bfloat16" ? DType::bf16 : DType::f32;
  const model::LoadOptions how{
      .dtype = dtype, .weights = dtype, .packed = o.activations == "int8", .adapter = o.adapter};
  Result<Tensors> made = decode(o, how);
  if (!made && made.status().code() == Code::unsupported && o.adapter.empty()) {
    Result<Tensors> encoded = encode(o, how);
    if (encoded) made = std::move(encoded);
  }
  if (!made) return fail(made.status());
  if (!o.out.empty())
    if (Status saved = checkpoint::save_file(*made, o.out); !saved) return fail(saved);
  ordered_json shown =
      made->contains("logits") ? next_of(made->at("logits")) : ordered_json::object();
  for (const auto& [name, tensor] : *made) shown["shapes"][name] = tensor.shape().sizes();
  if (o.json) {
    std::cout << shown.dump() << "\n";
  } else if (made->contains("logits")) {
    for (const auto& each : shown["next"])
      std::cout << fmt::format("{:>8} {:10.4f}\n", each["token"].get<std::int64_t>(),
                               each["logit"].get<double>());
  } else {
    std::cout << made->at("vector") << "\n";
  }
  return kDone;
}

}  // namespace

void add_logits(CommandLine& app, std::function<int()>& action) {
  CommandLine& command =
      app.add_subcommand("logits", "shows what a published model makes of tokens");
  command.description(
      "Computes the logits of a Hugging Face directory or GGUF file for the tokens given, and "
      "prints "
      "the likeliest ones to follow;\n"
      "of an encoder, the pooled vector.\n\n"
      "Example:\n  strata logits --model SmolLM2-135M-Instruct.Q4_1.gguf --tokens "
      "504,3575,282,4649,314 --out logits.safetensors\n");
  auto o = std::make_shared<Options>();
  command
      .add_option("--model", o->model,
                  "a Hugging Face directory, a cache's models--org--name, or a GGUF file")
      .required();
  add_adapter(command, o->adapter);
  command.add_option("--tokens", o->tokens, "their numbers, with commas between them").required();
  command.add_option("--out", o->out,
                     "writes the tensor logits (positions, vocabulary) in f32 to this safetensors "
                     "file; of an encoder hidden and vector");
  command.add_option("--dtype", o->dtype, "of weights and products: float32 or bfloat16")
      .one_of({"float32", "bfloat16"})
      .show_default();
  add_activations(command, o->activations);
  add_threads(command, o->threads);
  add_device(command);
  command.add_flag("--json", o->json, "print one JSON object instead");
  command.callback([o, &action] { action = [o] { return run(*o); }; });
}

}  // namespace strata::cli
