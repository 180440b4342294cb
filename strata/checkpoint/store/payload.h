// Bytes on their way to a store: made for it, or lying in an array that is saved.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace strata::checkpoint {

/// Bytes that this owns, or that are elsewhere, outlive it and are not copied.
class Payload {
 public:
  Payload() = default;
  Payload(std::string owned) : owned_(std::move(owned)) {}  // NOLINT: a text is one
  /// What is elsewhere and outlives this.
  static Payload of(std::string_view elsewhere) {
    Payload out;
    out.elsewhere_ = elsewhere;
    return out;
  }
  std::string_view view() const { return owned_ ? std::string_view(*owned_) : elsewhere_; }
  std::size_t size() const { return view().size(); }
  /// The bytes to be changed; a copy of those that are elsewhere.
  std::string own() && { return owned_ ? std::move(*owned_) : std::string(elsewhere_); }

 private:
  std::optional<std::string> owned_;
  std::string_view elsewhere_;
};

}  // namespace strata::checkpoint
