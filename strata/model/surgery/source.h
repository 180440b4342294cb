// A model of any packaging as the tensors of a Hugging Face directory, by rows; and a new one
// written. Private to strata/model/surgery.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "strata/model/convert/plan.h"
#include "strata/model/surgery/surgery.h"

namespace strata::model::surgery {

using conversion::Described;
using conversion::Planned;
using conversion::Sizes;
using json = nlohmann::ordered_json;

/// A model that is read.
class Source {
 public:
  /// `beside`: a name at which a folder may be made, which goes with the source.
  static Result<std::shared_ptr<const Source>> open(const std::string& path,
                                                    const std::string& beside,
                                                    const SurgeryOptions& options);
  ~Source();
  const Described& model() const { return model_; }
  const json& config() const { return config_; }
  /// The files beside the weights.
  const std::map<std::string, std::string>& files() const { return plan_.files; }
  /// By the family's name, without a prefix; with it, as the new one is to be called.
  Result<const Planned*> find(const std::string& name) const;
  std::string named(const std::string& name) const { return prefix_ + name; }
  const std::vector<Planned>& tensors() const { return plan_.tensors; }
  /// Row i of a tensor, f32.
  Status row(const Planned& tensor, std::int64_t i, float* out) const;
  /// All of it.
  Result<std::vector<float>> all(const Planned& tensor) const;

 private:
  explicit Source(conversion::Plan plan) : plan_(std::move(plan)) {}
  conversion::Plan plan_;
  Described model_;
  json config_;
  std::map<std::string, std::size_t> places_;
  std::string prefix_, temporary_;
};
using SourcePtr = std::shared_ptr<const Source>;

std::int64_t rows_of(const Sizes& shape);
std::int64_t weights_of(const std::vector<Planned>& tensors);

/// A new tensor with what it is made of, in words.
struct Made {
  Planned tensor;
  std::string of;
};
/// The tensor as it is, under a new name.
Made copied(const SourcePtr& source, const Planned& tensor, const std::string& name);

/// Writes the new model, whose files are the source's but for config.json, and says what was done.
/// Throws Error where the new config.json asks for tensors that are not made.
Result<Surgery> finish(const SourcePtr& source, std::vector<Made> made, const json& config,
                       const std::string& to, const SurgeryOptions& options);

}  // namespace strata::model::surgery
