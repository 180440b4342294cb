// Text that ends where one of some strings appears: the one that is complete first (of several the
// longest), which is left out.
//
//   train::StopStrings stop({"\n\n", "END"});
//   std::cout << stop.add("one EN");      // "one ": the rest may yet become a stop string
//   std::cout << stop.add("TRY");         // "ENTRY"
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace strata::train {

class StopStrings {
 public:
  /// Empty strings are left out.
  explicit StopStrings(std::vector<std::string> strings);
  /// The next piece of the text; returns what is certain to stand before the first stop string.
  /// Nothing once that appeared.
  std::string add(std::string_view piece);
  /// What was held back, when the text ends by itself.
  std::string finish();
  bool found() const { return found_; }

 private:
  std::vector<std::string> strings_;
  std::string held_;
  bool found_ = false;
};

}  // namespace strata::train
