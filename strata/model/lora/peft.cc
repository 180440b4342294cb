#include "strata/model/lora/peft.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "strata/api/numpy.h"
#include "strata/base/error.h"
#include "strata/base/file.h"
#include "strata/checkpoint/safetensors.h"
#include "strata/model/decoder/model.h"
#include "strata/model/decoder/weights.h"
#include "strata/model/published/tensor_source.h"

namespace strata::model::lora {

namespace fs = std::filesystem;
using checkpoint::SafetensorsFile;
using decoder::AdapterOptions;
using decoder::Options;
using json = nlohmann::ordered_json;
using Sizes = std::vector<std::int64_t>;

namespace {

constexpr const char* kConfig = "adapter_config.json";
constexpr const char* kTensors = "adapter_model.safetensors";
constexpr const char* kPrefix = "base_model.model.";
constexpr const char* kA = ".lora_A.weight";
constexpr const char* kB = ".lora_B.weight";

std::int64_t layers_of(const Module& m, const Options& o) {
  return m.path.starts_with("layers/") ? o.layers : 1;
}

// ---- reading -----------------------------------------------------------------------------------

/// A copy of a tensor as f32.
Result<std::vector<float>> numbers_of(const SafetensorsFile& file, const std::string& name) {
  Result<Literal> tensor = file.read(name);
  if (!tensor) return tensor.status();
  if (!is_float(tensor->dtype()))
    return Status(Code::unsupported, "{}: tensor '{}' is {}; adapters are floating-point numbers",
                  file.path(), name, strata::name(tensor->dtype()));
  return astype(Array(std::move(*tensor)), DType::f32).to_vector<float>();
}

/// Reads an adapter file's tensors into the leaves of a model.
class Reader {
 public:
  Reader(const SafetensorsFile& file, const PeftConfig& config, const ModelPtr& base,
         const tree::Tree& params)
      : file_(file),
        config_(config),
        base_(base),
        o_(*decoder::options_of(*base)),
        params_(params),
        modules_(modules_of(o_)),
        prefixes_(names_of(o_).prefixes) {
    if (prefixes_.empty()) prefixes_.push_back("");
  }

  Result<Adapted> read() {
    for (const Module& m : modules_)
      if (Status s = find(m); !s.ok()) return s;
    if (Status s = expect_all_used(); !s.ok()) return s;
    const ModelPtr model = with_adapters(base_, adapters_);
    std::map<std::string, Array, std::less<>> leaves;
    for (const auto& [module, at] : places_) {
      auto [a, b] = std::pair(Literal(), Literal());
      if (Status s = read_module(*module, at, a, b); !s.ok()) return s;
      leaves.emplace(module->path + "/lora/a", Array(std::move(a)));
      leaves.emplace(module->path + "/lora/b", Array(std::move(b)));
    }
    const tree::Tree all =
        tree::of(decoder::make_weights(*decoder::options_of(*model), [&](std::string_view path,
                                                                         const Sizes&,
                                                                         decoder::WeightKind) {
          const auto it = leaves.find(path);
          return it == leaves.end() ? params_[path] : it->second;
        })).with_metadata([](const tree::Entry& e) { return decoder::logical_axes(e.name); });
    return Adapted{model, all};
  }

 private:
  /// The module's name in the file without endings, of a layer; empty where it is not there.
  std::string place_of(const Module& m, std::int64_t layer) const {
    std::string bare = published::numbered(m.published, layer);
    if (bare.starts_with(prefixes_[0])) bare.erase(0, prefixes_[0].size());
    for (const std::string& prefix : prefixes_) {
      const std::string name = kPrefix + prefix + bare;
      if (file_.tensors().contains(name + kA) || file_.tensors().contains(name + kB)) return name;
    }
    return "";
  }

  Status expect_shape(const std::string& name, const Sizes& want) const {
    const auto it = file_.tensors().find(name);
    if (it == file_.tensors().end())
      return Status(Code::corrupt, "{}: the tensor {} is missing", file_.path(), name);
    const Sizes got = it->second.type.shape().sizes();
    if (got == want) return {};
    return Status(Code::invalid, "{}: {} is [{}] and should be [{}]", file_.path(), name,
                  fmt::join(got, ", "), fmt::join(want, ", "));
  }

  Status find(const Module& m) {
    std::vector<std::string> at;
    std::string without;
    const std::int64_t layers = layers_of(m, o_);
    for (std::int64_t layer = 0; layer < layers; ++layer) {
      const std::string name = place_of(m, layer);
      if (!name.empty())
        at.push_back(name);
      else
        without = published::numbered(m.published, layer);
    }
    if (at.empty()) return {};
    if (!without.empty())
      return Status(Code::unsupported,
                    "{}: {} has no adapter and the same matrix of another layer has one; "
                    "supported are adapters in all layers alike",
                    file_.path(), without);
    const AdapterOptions adapter = config_.of(published::numbered(m.published, 0));
    for (std::int64_t layer = 0; layer < layers; ++layer) {
      const std::string& name = at[static_cast<std::size_t>(layer)];
      if (config_.of(published::numbered(m.published, layer)) != adapter)
        return Status(Code::unsupported, "{}: the rank or alpha of {} differs from layer to layer",
                      file_.path(), m.published);
      if (Status s = expect_shape(name + kA, {adapter.rank, m.in}); !s.ok()) return s;
      if (Status s = expect_shape(name + kB, {m.whole, adapter.rank}); !s.ok()) return s;
      used_.insert({name + kA, name + kB});
      if (Status s = expect_base(m, layer, name + ".base_layer.weight"); !s.ok()) return s;
    }
    adapters_.emplace(m.path, adapter);
    places_.emplace_back(&m, std::move(at));
    return {};
  }

  /// PEFT saves the output matrix beside an adapter of it: it must be the one that is here.
  Status expect_base(const Module& m, std::int64_t layer, const std::string& name) {
    if (!file_.tensors().contains(name)) return {};
    used_.insert(name);
    const Array& own = params_[m.path + "/kernel"];
    if (!own.state()) return {};
    Result<Literal> saved = file_.read(name);
    if (!saved) return saved.status();
    bool same = !m.is_fused() && is_float(own.dtype()) && is_float(saved->dtype()) &&
                saved->shape().sizes() == Sizes{m.out, m.in};
    if (same) {
      const Array mine = own.ndim() == 3 ? take(own, Array(layer), 0) : own;
      const Array other = astype(swapaxes(Array(std::move(*saved)), 0, 1), own.dtype());
      same = all(equal(mine, other)).item<bool>();
    }
    if (same) return {};
    return Status(Code::unsupported, "{}: {} is not the weight that the base has", file_.path(),
                  name);
  }

  Status expect_all_used() const {
    std::string unknown;
    int count = 0;
    for (const auto& [name, place] : file_.tensors()) {
      if (used_.contains(name)) continue;
      if (++count <= 4) unknown += (unknown.empty() ? "" : ", ") + name;
    }
    if (count > 4) unknown += fmt::format(" and {} more", count - 4);
    if (count > 0)
      return Status(Code::unsupported,
                    "{}: tensors that are no adapter of this model's matrices: {}", file_.path(),
                    unknown);
    if (!places_.empty()) return {};
    return Status(Code::invalid, "{}: there is no adapter in it", file_.path());
  }

  Status read_module(const Module& m, const std::vector<std::string>& at, Literal& a,
                     Literal& b) const {
    const std::int64_t layers = layers_of(m, o_), rank = adapters_.at(m.path).rank;
    Sizes of_a = {m.in, rank}, of_b = {rank, m.out};
    if (m.path.starts_with("layers/"))
      of_a.insert(of_a.begin(), layers), of_b.insert(of_b.begin(), layers);
    a = Literal(Type(DType::f32, Shape::of(of_a)));
    b = Literal(Type(DType::f32, Shape::of(of_b)));
    auto* to_a = a.mutable_span<float>().data();
    auto* to_b = b.mutable_span<float>().data();
    for (const std::string& name : at) {
      const auto from_a = numbers_of(file_, name + kA), from_b = numbers_of(file_, name + kB);
      if (!from_a) return from_a.status();
      if (!from_b) return from_b.status();
      for (std::int64_t r = 0; r < rank; ++r) {
        for (std::int64_t i = 0; i < m.in; ++i)
          to_a[i * rank + r] = (*from_a)[static_cast<std::size_t>(r * m.in + i)];
        for (std::int64_t o = 0; o < m.out; ++o)
          to_b[r * m.out + o] = (*from_b)[static_cast<std::size_t>((m.begin + o) * rank + r)];
      }
      to_a += m.in * rank, to_b += rank * m.out;
    }
    return {};
  }

  const SafetensorsFile& file_;
  const PeftConfig& config_;
  ModelPtr base_;
  const Options& o_;
  const tree::Tree& params_;
  std::vector<Module> modules_;
  std::vector<std::string> prefixes_;
  std::map<std::string, AdapterOptions, std::less<>> adapters_;
  std::vector<std::pair<const Module*, std::vector<std::string>>> places_;
  std::set<std::string> used_;
};

// ---- writing -----------------------------------------------------------------------------------

/// One adapter as PEFT has it: of a module, or of several that are published as one.
struct Published {
  std::string name;  // with {} for the layer
  AdapterOptions adapter;
  std::vector<const Module*> parts;
  std::vector<AdapterOptions> of_parts;
  bool is_shared = true;  // the parts' A are equal
};

std::vector<Published> published_adapters(const Options& o, const std::vector<Module>& modules,
                                          const tree::Tree& params) {
  std::vector<Published> out;
  for (const Module& m : modules) {
    const auto adapter = o.adapters.find(m.path);
    if (adapter == o.adapters.end()) continue;
    auto it = std::find_if(out.begin(), out.end(),
                           [&](const Published& p) { return p.name == m.published; });
    if (it == out.end())
      it = out.insert(out.end(), Published{m.published, adapter->second, {}, {}});
    it->parts.push_back(&m);
    it->of_parts.push_back(adapter->second);
  }
  for (Published& p : out) {
    const Array& first = params[p.parts[0]->path + "/lora/a"];
    for (std::size_t i = 1; i < p.parts.size(); ++i) {
      if (p.of_parts[i].scale() != p.adapter.scale() || p.of_parts[i].rslora != p.adapter.rslora)
        throw Error("lora",
                    "the adapters of {} have different factors: one published weight has one",
                    p.name);
      const Array& a = params[p.parts[i]->path + "/lora/a"];
      p.is_shared = p.is_shared && a.shape() == first.shape() && all(equal(a, first)).item<bool>();
    }
    if (p.is_shared) continue;
    // Side by side: ranks are added, and the scale stays.
    for (std::size_t i = 1; i < p.parts.size(); ++i) p.adapter.rank += p.of_parts[i].rank;
    const auto r = static_cast<double>(p.adapter.rank);
    p.adapter.alpha = p.of_parts[0].scale() * (p.adapter.rslora ? std::sqrt(r) : r);
  }
  return out;
}

/// The tensors of a layer of one adapter.
template <class T>
void write_layer(const Published& p, std::int64_t layer, const std::vector<Literal>& a,
                 const std::vector<Literal>& b, Literal& to_a, Literal& to_b) {
  T* out_a = reinterpret_cast<T*>(to_a.mutable_data());
  T* out_b = reinterpret_cast<T*>(to_b.mutable_data());
  std::int64_t begin = 0;  // of the part's ranks
  for (std::size_t i = 0; i < p.parts.size(); ++i) {
    const Module& m = *p.parts[i];
    const std::int64_t rank = p.of_parts[i].rank;
    const T* from_a = reinterpret_cast<const T*>(a[i].data()) + layer * m.in * rank;
    const T* from_b = reinterpret_cast<const T*>(b[i].data()) + layer * rank * m.out;
    for (std::int64_t r = 0; r < rank; ++r) {
      for (std::int64_t in = 0; in < m.in; ++in)
        out_a[(begin + r) * m.in + in] = from_a[in * rank + r];
      for (std::int64_t o = 0; o < m.out; ++o)
        out_b[(m.begin + o) * p.adapter.rank + begin + r] = from_b[r * m.out + o];
    }
    if (!p.is_shared) begin += rank;
  }
}

void add_tensors(const Published& p, const Options& o, const tree::Tree& params,
                 std::map<std::string, Literal>& out) {
  std::vector<Literal> a, b;
  for (const Module* m : p.parts) {
    a.push_back(params[m->path + "/lora/a"].literal());
    b.push_back(params[m->path + "/lora/b"].literal());
    for (const Literal* x : {&a.back(), &b.back()})
      if ((x->dtype() != DType::f32 && x->dtype() != DType::bf16) || x->dtype() != a[0].dtype())
        throw Error("lora", "adapters are written in f32 or bf16, {} is {}", m->path,
                    strata::name(x->dtype()));
  }
  const Module& first = *p.parts[0];
  for (std::int64_t layer = 0; layer < layers_of(first, o); ++layer) {
    Literal to_a(Type(a[0].dtype(), Shape::of(Sizes{p.adapter.rank, first.in})));
    Literal to_b(Type(a[0].dtype(), Shape::of(Sizes{first.whole, p.adapter.rank})));
    if (a[0].dtype() == DType::f32)
      write_layer<float>(p, layer, a, b, to_a, to_b);
    else
      write_layer<BFloat16>(p, layer, a, b, to_a, to_b);
    const std::string name = kPrefix + published::numbered(p.name, layer);
    out.emplace(name + kA, std::move(to_a));
    out.emplace(name + kB, std::move(to_b));
  }
}

/// The shortest end of a published name that no module without this adapter's name ends in.
std::string short_target(const std::string& published, const std::vector<Module>& modules) {
  const std::string zeroth = published::numbered(published, 0);
  std::size_t dot = zeroth.rfind('.');
  while (dot != std::string::npos) {
    const std::string end = zeroth.substr(dot + 1);
    const bool alone = std::all_of(modules.begin(), modules.end(), [&](const Module& m) {
      return m.published == published || !ends_in(published::numbered(m.published, 0), end);
    });
    // Beyond the number of the layer the end would mean one layer alone.
    if (alone || dot == 0) return end;
    dot = zeroth.rfind('.', dot - 1);
  }
  return zeroth;
}

json config_of(const std::vector<Published>& all, const Options& o,
               const std::vector<Module>& modules, const std::string& base) {
  // The rank and alpha of most, and patterns for the others.
  std::map<std::pair<std::int64_t, double>, int> counts;
  for (const Published& p : all) ++counts[{p.adapter.rank, p.adapter.alpha}];
  const auto usual =
      std::max_element(counts.begin(), counts.end(), [](const auto& x, const auto& y) {
        return x.second < y.second;
      })->first;
  json ranks = json::object(), alphas = json::object(), targets = json::array();
  for (const Published& p : all) {
    if (p.adapter.rslora != all[0].adapter.rslora)
      throw Error("lora", "{}", "adapters with and without rslora do not fit into one folder");
    const std::string end = short_target(p.name, modules);
    targets.push_back(end);
    if (p.adapter.rank != usual.first) ranks[end] = p.adapter.rank;
    if (p.adapter.alpha != usual.second) alphas[end] = p.adapter.alpha;
  }
  const auto number = [](double x) {
    return x == std::floor(x) && std::abs(x) < 1e15 ? json(static_cast<std::int64_t>(x)) : json(x);
  };
  json out = {{"peft_type", "LORA"},
              {"task_type", "CAUSAL_LM"},
              {"base_model_name_or_path", base.empty() ? json() : json(base)},
              {"bias", "none"},
              {"fan_in_fan_out", o.family == "gpt2"},
              {"inference_mode", true},
              {"init_lora_weights", true},
              {"lora_alpha", number(usual.second)},
              {"lora_dropout", 0.0},
              {"modules_to_save", nullptr},
              {"r", usual.first},
              {"rank_pattern", ranks},
              {"alpha_pattern", alphas},
              {"target_modules", targets},
              {"use_dora", false},
              {"use_rslora", all[0].adapter.rslora}};
  return out;
}

}  // namespace

Result<Adapted> load_peft(const std::string& folder, const ModelPtr& base,
                          const tree::Tree& params) {
  const Options* options = decoder::options_of(*base);
  if (!options || !options->adapters.empty())
    throw Error("lora", "an adapter is loaded beside a published decoder without one; {} is none",
                base->family());
  const Result<std::string> config_path = published::file_of(folder, kConfig);
  if (!config_path) return config_path.status();
  const Result<std::string> text = read_file(*config_path);
  if (!text) return text.status();
  std::error_code error;
  if (!file_exists(folder + "/" + kTensors) && fs::exists(folder + "/adapter_model.bin", error))
    return Status(Code::unsupported,
                  "{}: the adapter is a pickle (adapter_model.bin); save it as safetensors",
                  folder);
  const Result<std::string> path = published::file_of(folder, kTensors);
  if (!path) return path.status();
  const auto file = SafetensorsFile::open(*path);
  if (!file) return file.status();
  try {
    const PeftConfig config = PeftConfig::parse(*text);
    return Reader(*file, config, base, params).read();
  } catch (const Error& e) {
    return Status(e.is_unsupported() ? Code::unsupported : Code::invalid, "{}: {}", folder,
                  e.what());
  }
}

Status save_peft(const std::string& folder, const Adapted& adapted, const PeftOptions& options) {
  const Options* o = decoder::options_of(*adapted.model);
  if (!o || o->adapters.empty())
    throw Error("lora", "the model {} has no adapters to save", adapted.model->family());
  const std::vector<Module> modules = modules_of(*o);
  const std::vector<Published> all = published_adapters(*o, modules, adapted.params);
  checkpoint::TensorFile file{.tensors = {}, .metadata = {{"format", "pt"}}};
  for (const Published& p : all) add_tensors(p, *o, adapted.params, file.tensors);
  const json config = config_of(all, *o, modules, options.base_model);
  if (Status made = make_folders(folder); !made.ok()) return made;
  if (Status saved = checkpoint::write_safetensors((fs::path(folder) / kTensors).string(), file);
      !saved.ok())
    return saved;
  return write_file_atomic((fs::path(folder) / kConfig).string(), config.dump(2) + "\n");
}

}  // namespace strata::model::lora
