// Tries a plugin in a child process: one that crashes, hangs or prints takes nothing of ours along.
//
//   plugin::Probe p = plugin::probe("/usr/lib/x.so");
//   if (!p.usable) fmt::print("{}\n", p.trouble);      // "it died by signal 11 (Segmentation
//   fault)"
#pragma once

#include <string>
#include <vector>

namespace strata::runtime::plugin {

struct Probe {
  bool usable = false;
  std::string trouble;               // why it is not usable, in a sentence
  std::string platform;              // "cuda"
  std::string version;               // of the platform, as the plugin says it
  int minor_version = 0;             // of PJRT: 0.minor
  std::vector<std::string> devices;  // what the plugin calls them
};

struct ProbeOptions {
  /// Whether a client is made and its devices are listed; else the library is loaded and
  /// initialised alone, which is what compiling for chips that are not here takes.
  bool client = true;
  double seconds = 60;
};

/// Loads the library in a child of this process and tells what became of it. The child is gone when
/// this returns.
Probe probe(const std::string& library, const ProbeOptions& options = {});

}  // namespace strata::runtime::plugin
