// A plugin's device behind runtime::Client: programs are compiled and run by the plugin.
//
//   auto client = plugin::make_client({.library = "/usr/lib/pjrt_c_api_cpu_plugin.so"});
//   if (!client) return client.status();
//   auto executable = (*client)->compile(block);        // StableHLO's portable bytecode goes over
//
// What a program makes stays on the device, and so does what is put there: arguments that are
// elsewhere are taken over by each run, results are fetched when somebody looks at them. Donated
// arguments without another handle give their memory to results. Calls return before they have run
// where the plugin works so. Operations of our own (strata.*) become StableHLO's first. Bits are
// what the plugin gives, which may differ from the embedded CPU's.
//
// What a plugin refuses throws strata::Error, which names the program, the plugin, its function and
// its words; where it has no memory left, also the largest arrays that are there.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "strata/ir/graph.h"
#include "strata/runtime/client.h"
#include "strata/runtime/plugin/library.h"

namespace strata::runtime::plugin {

struct ClientOptions {
  /// A path of a shared library.
  std::string library;
  /// Which of the devices that this process may use computes, by their order.
  int device = 0;
  /// What the plugin's client is created with, by name. Whole numbers and true or false go as
  /// such, anything else as a string: {"memory_fraction", "0.5"} is a float where it has a point.
  std::vector<std::pair<std::string, std::string>> create = {};
};

/// A client of that one device. Fails as Library::open and the plugin's Client_Create do;
/// Code::invalid where it has no such device, or none at all.
Result<std::unique_ptr<Client>> make_client(const ClientOptions& options);
/// The same of each device that this process may use, of one client of the plugin's; `device` does
/// not matter.
Result<std::vector<std::unique_ptr<Client>>> make_clients(const ClientOptions& options);

/// Named values of strings, for as long as this lives.
class NamedValues {
 public:
  explicit NamedValues(const std::vector<std::pair<std::string, std::string>>& values);
  const PJRT_NamedValue* data() const { return values_.data(); }
  std::size_t size() const { return values_.size(); }

 private:
  std::vector<std::pair<std::string, std::string>> texts_;
  std::vector<PJRT_NamedValue> values_;
};

/// A block as a program that the compiler of a platform takes: StableHLO's bytecode of the release,
/// with products of groups as transform::products_of says. Arguments in
/// `donated` positions say that their memory may become a result's. Throws Error (unsupported) for
/// what StableHLO cannot say.
std::string portable_program(const ir::Block& block, const std::string& name,
                             const std::string& release, const std::string& platform,
                             const std::vector<bool>& donated = {});
/// The release of StableHLO to send to a plugin: what it says of itself, as far as we write it.
std::string release_for(const Library& library);

}  // namespace strata::runtime::plugin
