// A config.json: values by key, with the checks that every family needs.
//
//   const Config c = Config::parse(text);
//   o.width = c.integer("hidden_size");
//   o.epsilon = c.number("rms_norm_eps", 1e-6);
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata::model::published {

/// A JSON object. null counts as absent everywhere. All functions throw Error, naming the key and
/// what stands there, for a value of another type or one that is needed and absent.
class Config {
 public:
  /// Throws Error for text that is no JSON object, is larger than 4 MiB or nested deeper than 64,
  /// or has a key twice.
  static Config parse(std::string_view text);

  bool has(std::string_view key) const;
  /// Whether the key stands there at all, if only as null.
  bool names(std::string_view key) const;
  std::int64_t integer(std::string_view key) const;
  std::int64_t integer(std::string_view key, std::int64_t fallback) const;
  double number(std::string_view key) const;
  double number(std::string_view key, double fallback) const;
  bool flag(std::string_view key, bool fallback) const;
  /// A soft cap: null says that there is none, which is 0; a key that does not stand there is the
  /// fallback.
  double cap(std::string_view key, double fallback) const;
  std::string text(std::string_view key) const;
  std::string text(std::string_view key, std::string_view fallback) const;
  /// Lists; empty where the key is absent.
  std::vector<double> numbers(std::string_view key) const;
  std::vector<std::int64_t> integers(std::string_view key) const;
  std::vector<std::string> texts(std::string_view key) const;
  std::vector<bool> flags(std::string_view key) const;
  /// An object below the key; none where it is absent.
  std::optional<Config> child(std::string_view key) const;
  /// The same, where what stands there may be something else.
  bool has_object(std::string_view key) const;
  /// The value as JSON text, for messages.
  std::string as_json(std::string_view key) const;

 private:
  struct Object;
  explicit Config(std::shared_ptr<const Object> object) : object_(std::move(object)) {}
  std::shared_ptr<const Object> object_;
};

}  // namespace strata::model::published
