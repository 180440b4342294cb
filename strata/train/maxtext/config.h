// MaxText's command lines as MaxText reads them.
//
//   maxtext::Resolved r = maxtext::resolve({"src/maxtext/configs/base.yml", "run_name=a",
//                                           "model_name=llama3.1-8b", "steps=10"});
//   r.values.at("num_decoder_layers");   // 32
//
// Later wins: base files, the model's file, key=value, variables M_KEY of the environment. Then
// types are made to fit (coerce.h), and upstream's validators derive and refuse (rules.h).
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "strata/train/maxtext/coerce.h"
#include "strata/train/maxtext/rules.h"
#include "strata/train/maxtext/value.h"

namespace strata::train::maxtext {

/// Values that do not fit their keys, or each other; of class ValidationError.
class Invalid : public Refused {
 public:
  explicit Invalid(std::vector<Misfit> misfits);
  const std::vector<Misfit>& misfits() const { return misfits_; }

 private:
  std::vector<Misfit> misfits_;
};

/// A configuration with every key of MaxText's, those that it derives too.
struct Resolved {
  Dict values;
  /// Where the value of each key comes from: "default", "my.yml", "models/llama2-7b.yml", "command
  /// line", "environment: M_STEPS", "derived from base_emb_dim, global_parameter_scale", or tables
  /// that were merged: "command line over default".
  std::map<std::string, std::string> sources;
  /// Keys that a person gave: on the command line, in the environment, in a file of theirs.
  std::set<std::string> given;
  /// What MaxText warns of.
  std::vector<std::string> warnings;
};

/// Variables of this process's environment, and its devices: all of the plugin whose device is the
/// process's own, else the CPU's.
Surroundings this_process();

/// What `[FILE.yml] key=value ...` means. A file is looked for as named, then among MaxText's own
/// (src/maxtext/configs/..., configs/...). Throws Refused with the class that MaxText would raise.
Resolved resolve(const std::vector<std::string>& arguments,
                 const Surroundings& around = this_process());

/// The default of a key: that of base.yml, else that of its type. Throws Error for no key.
Value default_of(const std::string& key);

}  // namespace strata::train::maxtext
