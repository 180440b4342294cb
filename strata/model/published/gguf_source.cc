#include "strata/model/published/gguf_source.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace strata::model::published {

using checkpoint::Gguf;
using checkpoint::GgufTensor;
using checkpoint::GgufValue;

namespace {

class GgufSource : public TensorSource {
 public:
  GgufSource(const Gguf& file, std::string name) : file_(file), name_(std::move(name)) {
    for (const GgufTensor& t : file_.tensors()) shapes_[t.name] = t.shape;
  }
  Convention convention() const override { return Convention::gguf; }
  const std::map<std::string, std::vector<std::int64_t>>& shapes() const override {
    return shapes_;
  }
  Result<Literal> read(const std::string& name) const override {
    const GgufTensor* t = file_.tensor(name);
    if (!t) return Status(Code::not_found, "{}: there is no tensor '{}'", name_, name);
    Result<Literal> out = file_.numbers_of(*t);
    file_.release(*t);
    return out;
  }
  std::optional<BlockFormat> packed(const std::string& name) const override {
    const GgufTensor* t = file_.tensor(name);
    return t == nullptr ? std::nullopt : t->type.block();
  }
  Result<Literal> read_packed(const std::string& name) const override {
    const GgufTensor* t = file_.tensor(name);
    if (!t) return Status(Code::not_found, "{}: there is no tensor '{}'", name_, name);
    return file_.bytes_of(*t);
  }
  const std::string& name() const override { return name_; }

 private:
  Gguf file_;
  std::string name_;
  std::map<std::string, std::vector<std::int64_t>> shapes_;
};

template <class T>
nlohmann::json as_json(const T& x) {
  // The shortest decimal of an f32, not of the f64 that it widens to.
  if constexpr (std::is_same_v<T, float>)
    return std::isfinite(x) ? nlohmann::json::parse(fmt::format("{}", x), nullptr, false)
                            : nlohmann::json(nullptr);
  else
    return nlohmann::json(x);
}

bool has(const Gguf& file, const char* name) { return file.tensor(name) != nullptr; }

}  // namespace

std::string json_of(const GgufValue& value) {
  return std::visit(
      [](const auto& x) {
        nlohmann::json out;
        if constexpr (requires { x.push_back(x[0]); } && !requires { x.c_str(); }) {
          out = nlohmann::json::array();
          for (typename std::decay_t<decltype(x)>::value_type each : x)
            out.push_back(as_json(each));
        } else {
          out = as_json(x);
        }
        return out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
      },
      value);
}

TensorSourcePtr source_of(const Gguf& file, const std::string& name) {
  return std::make_shared<GgufSource>(file, name);
}

Result<GgufModel> open_gguf(const std::string& path) {
  Result<Gguf> file = Gguf::open(path);
  if (!file) return file.status();
  if (const auto type = file->text("general.type"); type && *type != "model")
    return Status(Code::unsupported, "{}: this is {}, no model", path, *type);
  Result<GgufMetadata> metadata = metadata_of(*file);
  if (!metadata) return metadata.status();
  return GgufModel{std::move(*metadata), source_of(*file, path)};
}

Result<GgufMetadata> metadata_of(const Gguf& file) {
  GgufMetadata out;
  for (const auto& [key, value] : file.metadata()) {
    if (key.starts_with("tokenizer.")) continue;
    if (const auto number = checkpoint::as_number(value); number && !std::isfinite(*number))
      return Status(Code::corrupt, "{} is no finite number", key);
    out.values[key] = json_of(value);
  }
  if (const GgufTensor* t = file.tensor("token_embd.weight")) out.embedding_shape = t->shape;
  out.has_output = has(file, "output.weight");
  out.query_bias = has(file, "blk.0.attn_q.bias");
  out.out_bias = has(file, "blk.0.attn_output.bias");
  out.mlp_bias = has(file, "blk.0.ffn_up.bias");
  const std::pair<const char*, std::vector<double>*> factors[] = {
      {"rope_freqs.weight", &out.rope_divisors},
      {"rope_factors_long.weight", &out.long_factors},
      {"rope_factors_short.weight", &out.short_factors}};
  for (const auto& [name, list] : factors) {
    const GgufTensor* t = file.tensor(name);
    if (!t) continue;
    const Result<Literal> numbers = file.numbers_of(*t);
    if (!numbers) return numbers.status();
    for (float x : numbers->span<float>()) list->push_back(static_cast<double>(x));
  }
  return out;
}

}  // namespace strata::model::published
