#include "strata/model/published/gguf_source.h"

#include <nlohmann/json.hpp>

#include "strata/checkpoint/gguf.h"

namespace strata::model::published {

using checkpoint::Gguf;
using nlohmann::json;

namespace {

/// A value as JSON; floats by the shortest text that names them.
json json_of(const checkpoint::GgufValue& value) {
  const auto one = []<class T>(const T& v) -> json {
    if constexpr (std::is_same_v<T, float>)
      return json::parse(fmt::format("{}", v), nullptr, false);
    else
      return v;
  };
  return std::visit(
      [&]<class T>(const T& v) -> json {
        if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
          return one(v);
        } else {
          json out = json::array();
          for (const auto& element : v) {
            const typename T::value_type copy = element;
            out.push_back(one(copy));
          }
          return out;
        }
      },
      value);
}

class Source : public TensorSource {
 public:
  Source(Gguf file, std::string path) : file_(std::move(file)), path_(std::move(path)) {
    for (const checkpoint::GgufTensor& t : file_.tensors()) shapes_[t.name] = t.shape;
  }
  Convention convention() const override { return Convention::gguf; }
  const std::map<std::string, std::vector<std::int64_t>>& shapes() const override {
    return shapes_;
  }
  Result<Literal> read(const std::string& name) const override {
    const checkpoint::GgufTensor& tensor = *file_.tensor(name);
    Result<Literal> out = file_.numbers_of(tensor);
    file_.release(tensor);
    return out;
  }
  const std::string& name() const override { return path_; }
  const Gguf& file() const { return file_; }

 private:
  Gguf file_;
  std::string path_;
  std::map<std::string, std::vector<std::int64_t>> shapes_;
};

/// The numbers of a tensor, if it is there.
Result<std::vector<double>> numbers(const Gguf& file, const char* name) {
  const checkpoint::GgufTensor* tensor = file.tensor(name);
  std::vector<double> out;
  if (!tensor) return out;
  const Result<Literal> values = file.numbers_of(*tensor);
  if (!values) return values.status();
  for (std::int64_t i = 0; i < values->count(); ++i) out.push_back(values->number(i));
  return out;
}

}  // namespace

Result<GgufModel> open_gguf(const std::string& path) {
  Result<Gguf> opened = Gguf::open(path);
  if (!opened) return opened.status();
  auto source = std::make_shared<const Source>(std::move(*opened), path);
  const Gguf& file = source->file();
  if (const auto type = file.text("general.type"); type && *type != "model")
    return Status(Code::unsupported, "{}: this is {}, no model", path, *type);
  if (const auto parts = file.integer("split.count"); parts && *parts > 1)
    return Status(Code::unsupported, "{}: one of {} parts of a model; they must be merged first",
                  path, *parts);
  GgufModel out;
  GgufMetadata& m = out.metadata;
  for (const auto& [key, value] : file.metadata()) {
    if (key.starts_with("tokenizer.")) continue;
    const json as_json = json_of(value);
    if (as_json.is_discarded())
      return Status(Code::corrupt, "{}: {} is no finite number", path, key);
    m.values[key] = as_json.dump(-1, ' ', false, json::error_handler_t::replace);
  }
  const auto has = [&](const char* name) { return file.tensor(name) != nullptr; };
  if (const auto* embedding = file.tensor("token_embd.weight"))
    m.embedding_shape = embedding->shape;
  m.has_output = has("output.weight");
  m.query_bias = has("blk.0.attn_q.bias");
  m.out_bias = has("blk.0.attn_output.bias");
  m.mlp_bias = has("blk.0.ffn_up.bias");
  const std::pair<const char*, std::vector<double>*> lists[] = {
      {"rope_freqs.weight", &m.rope_divisors},
      {"rope_factors_long.weight", &m.long_factors},
      {"rope_factors_short.weight", &m.short_factors}};
  for (const auto& [name, list] : lists) {
    Result<std::vector<double>> values = numbers(file, name);
    if (!values) return values.status();
    *list = std::move(*values);
  }
  out.tensors = source;
  return out;
}

}  // namespace strata::model::published
