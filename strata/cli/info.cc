#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "strata/base/thread_pool.h"
#include "strata/base/version.h"
#include "strata/cli/command.h"
#include "strata/compile/llvm/code_cache.h"
#include "strata/compile/llvm/target.h"
#include "strata/compile/llvm/version.h"
#include "strata/runtime/client.h"
#include "strata/runtime/plugin/find.h"
#include "strata/runtime/plugin/probe.h"

namespace strata::cli {
namespace {

/// The features that are there and that decide how code is made.
std::string features(const compile::CpuTarget& target) {
  std::string out;
  for (const char* name : {"sse4.2", "avx", "avx2", "fma", "f16c", "avx512f", "avx512bw",
                           "avx512dq", "avx512vl", "avx512bf16", "avx512vnni", "amx-tile"}) {
    if (("," + target.features + ",").find(fmt::format(",+{},", name)) != std::string::npos)
      out += (out.empty() ? "" : " ") + std::string(name);
  }
  return out;
}

/// Where compiled code is kept between runs.
std::string cache_folder() {
  const char* wanted = std::getenv("STRATA_CACHE_DIR");
  if (wanted && !*wanted) return "off (STRATA_CACHE_DIR is empty)";
  // A file's place is FOLDER/code/xx/name.o.
  return std::filesystem::path(compile::CodeCache::standard().path(""))
      .parent_path()
      .parent_path()
      .parent_path()
      .string();
}

/// Plugins that were found, each tried in a process of its own.
nlohmann::ordered_json devices() {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  out.push_back({{"name", "cpu"}, {"usable", true}});
  for (const runtime::plugin::Place& place : runtime::plugin::places()) {
    if (!place.trouble.empty()) {
      out.push_back({{"name", place.name},
                     {"library", place.library},
                     {"from", place.from},
                     {"usable", false},
                     {"trouble", place.trouble}});
      continue;
    }
    const bool runs = place.name != "tpu" || runtime::plugin::has_tpu_chips();
    runtime::plugin::Probe p =
        runtime::plugin::probe(place.library, {.client = runs, .seconds = 60});
    if (p.usable && !runs) {
      p.usable = false;
      p.trouble = "this machine has no TPU; it compiles for them (strata compile --target=tpu:...)";
    }
    nlohmann::ordered_json one = {{"name", place.name},
                                  {"library", place.library},
                                  {"from", place.from},
                                  {"usable", p.usable}};
    if (p.usable)
      one.update({{"platform", p.platform}, {"pjrt", p.minor_version}, {"devices", p.devices}});
    else
      one["trouble"] = p.trouble;
    out.push_back(std::move(one));
  }
  return out;
}

/// A line of `devices`, for people.
std::string described(const nlohmann::ordered_json& d) {
  if (!d.contains("library")) return d["name"];
  const std::string head = d["library"] == "" ? d["name"].get<std::string>()
                                              : fmt::format("{} ({})", d["name"].get<std::string>(),
                                                            d["library"].get<std::string>());
  if (!d["usable"].get<bool>())
    return fmt::format("{}: not usable: {}", head, d["trouble"].get<std::string>());
  return fmt::format("{}: {}, {} of {}", head, d["platform"].get<std::string>(),
                     d["devices"].size(), d["devices"][0].get<std::string>());
}

int run(bool json) {
  const compile::CpuTarget& target = compile::CpuTarget::host();
  const nlohmann::ordered_json all = {{"version", STRATA_VERSION},
                                      {"device", runtime::default_client().platform()},
                                      {"cpu", target.cpu},
                                      {"features", features(target)},
                                      {"threads", num_threads()},
                                      {"code cache", cache_folder()},
                                      {"llvm", compile::llvm_version()},
                                      {"compiler", __VERSION__},
                                      {"devices", devices()}};
  if (json) {
    std::cout << all.dump() << "\n";
    return kDone;
  }
  for (const auto& [key, value] : all.items()) {
    if (key == "devices") {
      for (const auto& d : value) std::cout << fmt::format("{:<12}{}\n", "device", described(d));
      continue;
    }
    std::cout << fmt::format("{:<12}{}\n", key,
                             value.is_string() ? value.get<std::string>() : value.dump());
  }
  return kDone;
}

}  // namespace

void add_info(CommandLine& app, std::function<int()>& action) {
  CommandLine& command = app.add_subcommand("info", "says what this build is and what it runs on");
  command.description(
      "Says what this build is and what it runs on.\n\nExample:\n  strata info --json\n");
  auto json = std::make_shared<bool>(false);
  command.add_flag("--json", *json, "print one JSON object");
  command.callback([json, &action] { action = [json] { return run(*json); }; });
}

}  // namespace strata::cli
