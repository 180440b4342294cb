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

int run(bool json) {
  const compile::CpuTarget& target = compile::CpuTarget::host();
  const nlohmann::ordered_json all = {{"version", STRATA_VERSION},
                                      {"device", runtime::default_client().platform()},
                                      {"cpu", target.cpu},
                                      {"features", features(target)},
                                      {"threads", num_threads()},
                                      {"code cache", cache_folder()},
                                      {"llvm", compile::llvm_version()},
                                      {"compiler", __VERSION__}};
  if (json) {
    std::cout << all.dump() << "\n";
    return kDone;
  }
  for (const auto& [key, value] : all.items())
    std::cout << fmt::format("{:<12}{}\n", key,
                             value.is_string() ? value.get<std::string>() : value.dump());
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
