#include "strata/cli/compile_target.h"

#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <regex>

#include "strata/base/error.h"
#include "strata/base/text.h"
#include "strata/ir/export/jax_export.h"
#include "strata/ir/read.h"
#include "strata/runtime/plugin/find.h"
#include "strata/runtime/plugin/probe.h"
#include "strata/runtime/plugin/topology.h"

namespace strata::cli {
namespace {

namespace plugin = runtime::plugin;

struct Target {
  std::string library, topology;
};

/// "tpu:v5e:4x4", "plugin:/path/x.so:TOPOLOGY", "cuda:1x1x1".
Result<Target> read_target(const std::string& text) {
  std::size_t colon = text.find(':');
  std::string device = text.substr(0, colon);
  if (device == "plugin" && colon != std::string::npos) {
    colon = text.find(".so:", colon);
    device = text.substr(0, colon == std::string::npos ? colon : colon + 3);
    if (colon != std::string::npos) colon += 3;
  }
  if (colon == std::string::npos || colon + 1 == text.size())
    return Status(Code::invalid,
                  "--target={}: say a platform and a topology, as tpu:v5e:4x4 or tpu:v5p:2x2x1",
                  text);
  auto found = plugin::find_device(device);
  if (!found && found.status().code() == Code::invalid)
    return Status(Code::invalid,
                  "--target={}: no such platform; a TPU is tpu:v5e:4x4, another plugin's chips are "
                  "plugin:/path/x.so:TOPOLOGY",
                  text);
  if (!found) return found.status();
  if (found->library.empty())
    return Status(Code::invalid,
                  "--target={}: the CPU has no topology; without --target an object file is made",
                  text);
  return Target{found->library, text.substr(colon + 1)};
}

/// As the program's module says; 1 where it does not. Programs that Strata does not read whole go
/// over as they are, so this looks for the words alone.
std::int64_t partitions_of(std::string_view code) {
  if (ir::is_binary(code)) {
    auto module = ir::read(code);
    if (!module) return 1;
    const ir::Attrs& attrs = (*module)->attrs;
    return attrs.get_or<std::int64_t>("mhlo.num_partitions", 1);
  }
  static const std::regex words(R"(mhlo\.num_partitions\s*=\s*(\d{1,6}))");
  std::match_results<std::string_view::const_iterator> m;
  return std::regex_search(code.begin(), code.end(), m, words) ? std::stoll(m[1].str()) : 1;
}

std::string bytes_text(std::int64_t bytes) {
  return fmt::format("{}B", human_count(static_cast<double>(bytes)));
}

}  // namespace

std::string shortage_text(std::string_view words) {
  const auto shortage = plugin::shortage_of(words);
  if (!shortage) return "";
  return fmt::format("it takes {} of a chip that has {}, {} too much\n",
                     bytes_text(shortage->needed), bytes_text(shortage->available),
                     bytes_text(shortage->needed - shortage->available));
}

std::string largest_arrays(const ir::Module& module) {
  std::vector<std::pair<std::size_t, std::string>> all;
  const auto add = [&](const ir::Value& v, const std::string& what) {
    if (v.type().is_tensor() && v.type().shape().is_static())
      all.emplace_back(v.type().bytes(), fmt::format("{} {}", what, v.type().to_string()));
  };
  const auto walk = [&](const ir::Block& block, auto& self) -> void {
    for (const auto& op : block.ops()) {
      for (int i = 0; i < op->num_results(); ++i) add(*op->result(i), op->name());
      for (const auto& region : op->regions) self(*region, self);
    }
  };
  for (const auto& f : module.functions) {
    for (std::size_t i = 0; i < f->body.arguments().size(); ++i)
      add(*f->body.arguments()[i], fmt::format("argument {}", i));
    walk(f->body, walk);
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string out;
  std::size_t last = 0;
  for (int told = 0; const auto& [bytes, what] : all) {
    if (told == 3) break;
    if (bytes == last) continue;  // probably the same numbers once more
    last = bytes;
    out += fmt::format("{}{} ({})", told++ == 0 ? "" : ", ", what,
                       bytes_text(static_cast<std::int64_t>(bytes)));
  }
  return "the largest arrays, over all chips: " + out + "\n";
}

std::string report_json(const plugin::CompileReport& r, const std::string& target) {
  nlohmann::ordered_json collectives = nlohmann::ordered_json::object(),
                         moved = nlohmann::ordered_json::object();
  for (const auto& [name, c] : r.collectives) {
    std::string key = name;
    std::replace(key.begin(), key.end(), '-', '_');
    collectives[key] = c.times;
    moved[key] = c.bytes;
  }
  const nlohmann::ordered_json out = {{"target", target},
                                      {"chips", r.chips},
                                      {"kind", r.kind},
                                      {"hbm_bytes_per_chip", r.total_bytes()},
                                      {"hbm_bytes_limit", r.hbm_bytes},
                                      {"argument_bytes", r.argument_bytes},
                                      {"output_bytes", r.output_bytes},
                                      {"alias_bytes", r.alias_bytes},
                                      {"temp_bytes", r.temp_bytes},
                                      {"code_bytes", r.code_bytes},
                                      {"peak_bytes", r.peak_bytes},
                                      {"flops", r.flops},
                                      {"bytes_accessed", r.bytes_accessed},
                                      {"collectives", collectives},
                                      {"collective_bytes", moved},
                                      {"compile_s", r.compile_seconds}};
  return out.dump();
}

std::string report_text(const plugin::CompileReport& r, const std::string& target) {
  std::string out = fmt::format("{} of {} chips ({}), compiled in {:.1f} s\n", target, r.chips,
                                r.kind, r.compile_seconds);
  out += fmt::format("memory of a chip  {:>9}", bytes_text(r.total_bytes()));
  if (r.hbm_bytes > 0)
    out += fmt::format(
        " of {} ({:.1f} %)", bytes_text(r.hbm_bytes),
        100.0 * static_cast<double>(r.total_bytes()) / static_cast<double>(r.hbm_bytes));
  out += fmt::format(
      "\n  arguments       {:>9}\n  results         {:>9} (in arguments' memory: {})\n"
      "  temporaries     {:>9}\n  code            {:>9}\narithmetic        {:>9}FLOP\n",
      bytes_text(r.argument_bytes), bytes_text(r.output_bytes), bytes_text(r.alias_bytes),
      bytes_text(r.temp_bytes), bytes_text(r.code_bytes), human_count(r.flops));
  for (const auto& [name, c] : r.collectives)
    out += fmt::format("{:<20}{:>7} times, results of {}\n", name, c.times, bytes_text(c.bytes));
  return r.collectives.empty() ? out + "no collectives\n" : out;
}

Result<plugin::CompileReport> compile_code_for(const std::string& text, std::string_view code,
                                               std::int64_t partitions, bool shardy) {
  // A machine without TPUs is not asked for any: the compiler alone is wanted.
  ::setenv("TPU_SKIP_MDS_QUERY", "1", 0);
  ::setenv("TPU_ACCELERATOR_TYPE", "v5litepod-16", 0);
  ::setenv("TPU_WORKER_HOSTNAMES", "localhost", 0);
  // libtpu lets one process at a time have the chips, by a lock in /tmp; compilers need no chips.
  if (!plugin::has_tpu_chips()) ::setenv("ALLOW_MULTIPLE_LIBTPU_LOAD", "1", 0);
  auto target = read_target(text);
  if (!target) return target.status();
  if (const plugin::Probe p = plugin::probe(target->library, {.client = false}); !p.usable)
    return Status(Code::unsupported, "{} is not usable: {}", target->library, p.trouble);
  plugin::CompileRequest request{.partitions = partitions, .shardy = shardy};
  for (std::int64_t i = 0; i < request.partitions; ++i) request.devices.push_back(i);
  return plugin::compile_for({.library = target->library, .topology = target->topology}, code,
                             request);
}

int compile_for_target(const TargetOptions& o) {
  auto bytes = ir::read_program_file(o.program);
  if (!bytes) return fail(bytes.status());
  std::string_view code = *bytes;
  if (ir::is_jax_export(code)) {
    auto e = ir::read_jax_export(code, o.program);
    if (!e) return fail(e.status());
    code = e->program;
  }
  auto report =
      compile_code_for(o.target, code, o.partitions > 0 ? o.partitions : partitions_of(code),
                       code.find("sdy.") != code.npos);
  if (!report && report.status().code() == Code::no_space) {
    const auto module = ir::read(code);  // Strata need not know all that a plugin compiles
    std::cerr << fmt::format(
        "strata: {} does not fit: {}\n{}{}more chips (--target) with shardings over them make each "
        "part smaller\n",
        o.program, report.status().message(), shortage_text(report.status().message()),
        module ? largest_arrays(**module) : "");
    return kWorkFailed;
  }
  if (!report) return fail(report.status());
  if (o.json)
    std::cout << report_json(*report, o.target) << "\n";
  else
    std::cout << report_text(*report, o.target);
  if (report->hbm_bytes > 0 && report->total_bytes() > report->hbm_bytes) {
    std::cerr << fmt::format("strata: {} takes {} of each chip, {} more than it has\n", o.program,
                             bytes_text(report->total_bytes()),
                             bytes_text(report->total_bytes() - report->hbm_bytes));
    return kWorkFailed;
  }
  return kDone;
}

}  // namespace strata::cli
