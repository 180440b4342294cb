// How convolutions and pools are padded.
#pragma once

#include "strata/api/lax.h"

namespace strata::nn {

/// "SAME", "VALID" and what else its user knows ("CIRCULAR", "REFLECT", "CAUSAL" of Conv); a number
/// for all sides; a number for each axis; or numbers before and after each. Throws Error, with the
/// number of axes, where there are not as many.
///
///   {.padding = "CIRCULAR"}  {.padding = 1}  {.padding = {1, 0}}  {.padding = {{2, 0}, {0, 1}}}
class Padding {
 public:
  /// Numbers before and after each axis.
  using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;
  Padding() = default;
  Padding(const char* name) : name_(name) {}             // NOLINT: implicit by intent
  Padding(std::string name) : name_(std::move(name)) {}  // NOLINT
  template <std::integral T>
  Padding(T all) : all_(static_cast<std::int64_t>(all)) {}  // NOLINT
  Padding(std::initializer_list<std::int64_t> each) : Padding(std::vector<std::int64_t>(each)) {}
  Padding(std::initializer_list<std::pair<std::int64_t, std::int64_t>> pairs) : pairs_(pairs) {}
  explicit Padding(const std::vector<std::int64_t>& each) {
    for (std::int64_t n : each) pairs_.emplace_back(n, n);
  }
  explicit Padding(Pairs pairs) : pairs_(std::move(pairs)) {}

  /// Empty where there are numbers.
  const std::string& name() const { return name_; }
  /// As lax has it, for so many axes.
  lax::WindowPadding of(const char* operation, std::size_t axes) const;
  std::string static_text() const;

 private:
  std::string name_;
  std::optional<std::int64_t> all_;
  Pairs pairs_;
};

/// One number for each axis: 1 where there is none, the same for all where there is one. Throws
/// Error otherwise.
std::vector<std::int64_t> for_each_axis(const char* operation, const char* what, const Sizes& given,
                                        std::size_t axes);

}  // namespace strata::nn

template <>
inline constexpr bool strata::tree::is_static<strata::nn::Padding> = true;
