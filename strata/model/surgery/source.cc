#include "strata/model/surgery/source.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "strata/base/error.h"
#include "strata/base/file.h"
#include "strata/model/convert/convert.h"
#include "strata/model/convert/stacked.h"
#include "strata/type/literals_in_files.h"

namespace strata::model::surgery {

namespace fs = std::filesystem;

std::int64_t rows_of(const Sizes& shape) {
  std::int64_t out = 1;
  for (std::size_t d = 0; d + 1 < shape.size(); ++d) out *= shape[d];
  return out;
}

std::int64_t weights_of(const std::vector<Planned>& tensors) {
  std::int64_t out = 0;
  for (const Planned& t : tensors) out += rows_of(t.shape) * (t.shape.empty() ? 1 : t.shape.back());
  return out;
}

Result<SourcePtr> Source::open(const std::string& path, const std::string& beside,
                               const SurgeryOptions& o) {
  std::error_code error;
  std::string folder = path, temporary;
  const bool is_file = fs::is_regular_file(path, error);
  const bool is_directory = file_exists(path + "/config.json") ||
                            fs::is_directory(path + "/snapshots", error) ||
                            file_exists(path + "/model/model.safetensors");
  std::optional<conversion::Plan> stacked;
  if (!is_file && !is_directory) {
    auto tried = conversion::plan_stacked(path);
    if (!tried) return tried.status();
    stacked = std::move(*tried);
    if (!stacked) {
      // What cannot be read tensor by tensor becomes a directory first.
      const LiteralsInFiles scope;
      temporary = folder = beside;
      fs::remove_all(temporary, error);
      auto converted =
          convert(path, temporary,
                  {.format = "hugging_face", .config = o.config, .scan_axis = o.scan_axis});
      if (!converted) return converted.status();
    }
  }
  auto plan = stacked   ? Result<conversion::Plan>(std::move(*stacked))
              : is_file ? conversion::plan_to_hugging_face(folder, {})
                        : conversion::plan_directory(folder, {});
  if (!plan) return plan.status();
  auto out = std::shared_ptr<Source>(new Source(std::move(*plan)));
  out->temporary_ = temporary;
  out->config_ = json::parse(out->plan_.files.at("config.json"));
  out->model_ = conversion::described(out->plan_.files.at("config.json"));
  std::map<std::string, std::size_t>& names = out->places_;
  for (std::size_t i = 0; i < out->plan_.tensors.size(); ++i)
    names.emplace(out->plan_.tensors[i].name, i);
  for (const std::string& prefix : out->model_.names.prefixes)
    if (names.contains(prefix + out->model_.pairs().at(0).hugging_face)) {
      out->prefix_ = prefix;
      break;
    }
  return SourcePtr(out);
}

Source::~Source() {
  std::error_code error;
  if (!temporary_.empty()) fs::remove_all(temporary_, error);
}

Result<const Planned*> Source::find(const std::string& name) const {
  const auto it = places_.find(prefix_ + name);
  if (it != places_.end()) return &plan_.tensors[it->second];
  return Status(Code::corrupt, "the tensor {} is missing", prefix_ + name);
}

Status Source::row(const Planned& t, std::int64_t i, float* out) const {
  if (t.make) return t.make(i, out);
  return conversion::Rows(plan_.source.at(t.from), t.change).read(i, out);
}

Result<std::vector<float>> Source::all(const Planned& t) const {
  const std::int64_t rows = rows_of(t.shape), length = t.shape.empty() ? 1 : t.shape.back();
  std::vector<float> out(static_cast<std::size_t>(rows * length));
  for (std::int64_t i = 0; i < rows; ++i)
    if (Status s = row(t, i, out.data() + i * length); !s.ok()) return s;
  return out;
}

Made copied(const SourcePtr& source, const Planned& t, const std::string& name) {
  Planned out{
      .name = name, .shape = t.shape, .type = t.type, .from = "", .change = {}, .numbers = {}};
  out.make = [source, &t](std::int64_t i, float* to) { return source->row(t, i, to); };
  return {std::move(out), t.name};
}

Result<Surgery> finish(const SourcePtr& source, std::vector<Made> made, const json& config,
                       const std::string& to, const SurgeryOptions& o) {
  const std::string format = !o.format.empty()       ? o.format
                             : to.ends_with(".gguf") ? "gguf"
                                                     : "hugging_face";
  if (format != "gguf" && format != "hugging_face" && format != "strata" && format != "maxtext")
    throw Error("model", "there is no format '{}'; formats: gguf, hugging_face, strata, maxtext",
                format);
  const bool direct = format == "hugging_face";
  if (direct && !o.type.empty() && o.type != "F32" && o.type != "F16" && o.type != "BF16")
    throw Error("model", "type={}: a Hugging Face directory has F32, F16 or BF16", o.type);
  std::error_code error;
  if (fs::exists(to, error) && !(fs::is_directory(to, error) && fs::is_empty(to, error)))
    return Status(Code::exists, "{}: is there; give another name, or remove it", to);

  Surgery out;
  conversion::Plan plan;
  plan.files = source->files();
  json text = config;
  // On the way to another packaging nothing is rounded twice.
  const std::string type = o.type.empty() || direct ? o.type : "F32";
  if (!type.empty())
    text["dtype"] = type == "F32" ? "float32" : type == "F16" ? "float16" : "bfloat16";
  plan.files["config.json"] = out.config = text.dump(2) + "\n";
  // What it says of the file that the source was is not true of this one.
  plan.files.erase(conversion::kSidecar);
  const Described model = conversion::described(plan.files["config.json"]);
  std::set<std::string> names;
  for (Made& m : made) {
    out.tensors.emplace_back(m.tensor.name, m.of);
    names.insert(m.tensor.name);
    if (!type.empty()) m.tensor.type = *conversion::GgufType::named(type);
    plan.tensors.push_back(std::move(m.tensor));
  }
  for (const conversion::Pair& pair : model.pairs())
    if (!names.contains(source->named(pair.hugging_face)))
      throw Error("model", "the new config.json has a tensor {} that nothing is made into",
                  pair.hugging_face);
  out.layers_before = source->model().options.layers;
  out.layers_after = model.options.layers;
  out.weights_before = weights_of(source->tensors());
  out.weights_after = weights_of(plan.tensors);
  const std::string folder = direct ? to : to + ".directory";
  if (!direct) fs::remove_all(folder, error);
  const ConvertOptions how{.dry_run = o.dry_run, .shard_bytes = o.shard_bytes};
  Status status = write_hugging_face(folder, plan, how, out.files);
  if (!status.ok() || direct) {
    for (std::string& file : out.files) file = to + "/" + file;
    if (!status.ok()) return status;
    return out;
  }
  out.files = {to};
  if (o.dry_run) return out;
  const LiteralsInFiles scope;
  const auto converted =
      convert(folder, to, {.type = o.type, .format = format, .scan_axis = o.scan_axis});
  fs::remove_all(folder, error);
  if (!converted) return converted.status();
  out.files = converted->files;
  out.notes.insert(out.notes.end(), converted->notes.begin(), converted->notes.end());
  return out;
}

}  // namespace strata::model::surgery
