// A PJRT plugin of others: a shared library whose one symbol, GetPjrtApi, gives a table of
// functions.
//
//   auto library = plugin::Library::open("/usr/lib/libtpu.so");
//   if (!library) return library.status();
//   PJRT_Client_Create_Args create = plugin::args<PJRT_Client_Create_Args>();
//   if (Status s = (*library)->call(plugin::kClient_Create, create); !s.ok()) return s;
//
// Every call is checked against the table's size, and what fails names the library, the function,
// the plugin's code and its own words.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "strata/base/result.h"
#include "strata/runtime/plugin/abi.h"

namespace strata::runtime::plugin {

/// Places of functions in the table, by name: kClient_Create.
enum Slot : int {
#define STRATA_PJRT_NAMED(slot, name) k##name = slot,
  STRATA_PJRT_SLOTS(STRATA_PJRT_NAMED, STRATA_PJRT_NAMED)
#undef STRATA_PJRT_NAMED
};

/// Arguments of a function, all zero but for their size.
template <class Args>
Args args() {
  Args out{};
  out.struct_size = sizeof(Args);
  return out;
}

/// A loaded plugin. Immutable and never unloaded: plugins leave threads behind.
class Library {
 public:
  /// Loads the library and initialises the plugin. Codes: not_found; unsupported for a library
  /// without GetPjrtApi, of another major version, or older than the oldest that JAX takes (0.29);
  /// those of the plugin's own Plugin_Initialize.
  ///
  /// A plugin runs in this process with all that it does: probe.h tries one in a child first.
  static Result<std::shared_ptr<const Library>> open(const std::string& path);

  /// As it was opened.
  const std::string& path() const { return path_; }
  /// The plugin's minor version; its major one is 0.
  int minor_version() const { return api_->pjrt_api_version.minor_version; }
  /// Whether the table reaches that far and holds a function there.
  bool has(Slot slot) const;
  /// Calls a function. Code::unsupported where the plugin has none.
  template <class Args>
  [[nodiscard]] Status call(Slot slot, Args& args) const {
    return call_at(slot, &args);
  }
  /// The same where the answer does not matter: of functions that let go of things.
  template <class Args>
  void drop(Slot slot, Args& args) const {
    (void)call_at(slot, &args);
  }
  /// Waits for an event and destroys it; null is there at once.
  [[nodiscard]] Status await(PJRT_Event* event) const;
  /// What the plugin says of itself: "stablehlo_current_version" ("1.12.1") and the like.
  std::vector<std::pair<std::string, std::string>> attributes() const;

 private:
  Library(std::string path, const PJRT_Api* api) : path_(std::move(path)), api_(api) {}
  Status call_at(Slot slot, void* args) const;
  Status taken(Slot slot, PJRT_Error* error) const;
  std::string path_;
  const PJRT_Api* api_;
};
using LibraryPtr = std::shared_ptr<const Library>;

/// A named value as text: numbers of a list stand between dots.
std::string text_of(const PJRT_NamedValue& value);

}  // namespace strata::runtime::plugin
