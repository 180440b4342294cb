// Families of models by name.
//
//   for (const model::Family* f : model::families()) std::cout << f->name << ": " << f->sentence;
//   model::ModelPtr m = model::make("llama2", {{"base_emb_dim", "64"}});
//
// A family adds itself with one line in families.cc. Its keys are MaxText's; whoever reads
// configurations (train::Config) takes names, ranges and defaults from here.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "strata/model/model.h"

namespace strata::model {

/// The configuration of a model as text, by key; a key that is absent has its default.
using Settings = std::map<std::string, std::string, std::less<>>;

/// What a configuration may set.
struct Key {
  /// Of the value, which is given as text.
  enum class Type { integer, number, text };
  std::string_view name;
  Type type;
  std::string_view sentence;
  /// The default as text.
  std::string_view value;
  /// Numbers: the range, ends included.
  double least = 0, most = 0;
  /// Texts: what they may be; empty for any.
  std::vector<std::string_view> choices = {};
  /// Whether it decides the shapes of weights.
  bool shapes = true;
};

/// A kind of model: its name, a sentence on it, the keys of its configuration, and how it is made.
struct Family {
  std::string name, sentence;
  std::vector<Key> keys;
  /// Of settings whose keys are known and whose values fit. Throws Error for what no single key
  /// shows, such as heads that do not divide.
  std::function<ModelPtr(const Settings& settings)> make;
};

/// All families, by name.
std::span<const Family> families();
/// Throws Error with the names there are, and the nearest one.
const Family& family(std::string_view name);
/// A model of a family. Throws Error for a key that the family lacks, naming the nearest, and for a
/// value out of its range.
ModelPtr make(std::string_view family, const Settings& settings = {});

/// The value of a key, or its default, as an integer; for families. Throws Error for a key that the
/// family lacks, and for a text that is no integer of its range.
std::int64_t integer(const Family& family, const Settings& settings, std::string_view key);
/// The value of a key, or its default, as a number. Throws Error for a key that the family lacks,
/// and for a text that is no number of its range.
double number(const Family& family, const Settings& settings, std::string_view key);
/// The value of a key, or its default, as it is. Throws Error for a key that the family lacks.
std::string text(const Family& family, const Settings& settings, std::string_view key);

}  // namespace strata::model
