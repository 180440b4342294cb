#include "strata/runtime/plugin/topology.h"

#include <chrono>
#include <cmath>
#include <functional>
#include <optional>
#include <regex>

#include "strata/base/format/protobuf.h"
#include "strata/runtime/plugin/client.h"
#include "strata/runtime/plugin/library.h"

namespace strata::runtime::plugin {
namespace {

using protobuf::Reader;
using protobuf::Wire;

/// Lets go of a thing of the plugin's at the end.
struct Owned {
  ~Owned() { drop(); }
  std::function<void()> drop;
};

void read_topology(const Library& l, PJRT_TopologyDescription* topology, CompileReport& out) {
  auto name = args<PJRT_TopologyDescription_PlatformName_Args>();
  name.topology = topology;
  if (l.call(kTopologyDescription_PlatformName, name).ok())
    out.platform.assign(name.platform_name, name.platform_name_size);
  auto of = args<PJRT_TopologyDescription_GetDeviceDescriptions_Args>();
  of.topology = topology;
  if (!l.call(kTopologyDescription_GetDeviceDescriptions, of).ok()) return;
  out.chips = static_cast<std::int64_t>(of.num_descriptions);
  if (of.num_descriptions == 0) return;
  auto kind = args<PJRT_DeviceDescription_Kind_Args>();
  kind.device_description = of.descriptions[0];
  if (l.call(kDeviceDescription_Kind, kind).ok())
    out.kind.assign(kind.device_kind, kind.device_kind_size);
  auto attributes = args<PJRT_DeviceDescription_Attributes_Args>();
  attributes.device_description = of.descriptions[0];
  if (!l.call(kDeviceDescription_Attributes, attributes).ok()) return;
  for (std::size_t i = 0; i < attributes.num_attributes; ++i) {
    const PJRT_NamedValue& v = attributes.attributes[i];
    if (std::string_view(v.name, v.name_size) == "device_memory_bytes_limit" &&
        v.type == PJRT_NamedValue::kInt64)
      out.hbm_bytes = v.int64_value;
  }
}

void read_costs(const Library& l, PJRT_Executable* executable, CompileReport& out) {
  auto memory = args<PJRT_Executable_GetCompiledMemoryStats_Args>();
  memory.executable = executable;
  if (l.call(kExecutable_GetCompiledMemoryStats, memory).ok()) {
    out.argument_bytes = memory.argument_size_in_bytes;
    out.output_bytes = memory.output_size_in_bytes;
    out.alias_bytes = memory.alias_size_in_bytes;
    out.temp_bytes = memory.temp_size_in_bytes;
    out.code_bytes = memory.generated_code_size_in_bytes;
    out.peak_bytes = memory.peak_memory_in_bytes;
  }
  auto cost = args<PJRT_Executable_GetCostAnalysis_Args>();
  cost.executable = executable;
  if (!l.call(kExecutable_GetCostAnalysis, cost).ok()) return;
  for (std::size_t i = 0; i < cost.num_properties; ++i) {
    const PJRT_NamedValue& v = cost.properties[i];
    if (v.type != PJRT_NamedValue::kFloat) continue;
    const std::string_view name(v.name, v.name_size);
    if (name == "flops") out.flops = v.float_value;
    if (name == "bytes accessed") out.bytes_accessed = v.float_value;
  }
}

/// The optimised program: "hlo", or "hlo_with_config", whose first field it is.
Result<std::string> optimised(const Library& l, PJRT_Executable* executable) {
  PJRT_Program program{};
  program.struct_size = sizeof program;
  auto of = args<PJRT_Executable_OptimizedProgram_Args>();
  of.executable = executable;
  of.program = &program;
  if (Status s = l.call(kExecutable_OptimizedProgram, of); !s.ok()) return s;  // asks the size
  std::string code(program.code_size, '\0');
  program.code = code.data();
  if (Status s = l.call(kExecutable_OptimizedProgram, of); !s.ok()) return s;
  const std::string format(program.format, program.format_size);
  if (format == "hlo") return code;
  if (format != "hlo_with_config")
    return Status(Code::unsupported, "plugin {}: an optimised program as {}", l.path(), format);
  Reader fields(code);
  while (auto f = fields.next())
    if (f->is(1, Wire::bytes)) return std::string(f->bytes);
  return Status(Code::corrupt, "plugin {}: an optimised program without its module", l.path());
}

}  // namespace

std::optional<Shortage> shortage_of(std::string_view words) {
  static const std::regex forms(
      R"(\(([0-9.]{1,12})([KMGT]?)\) exceeds available HBM \(([0-9.]{1,12})([KMGT]?)\))"
      R"(|Used ([0-9.]{1,12})([KMGT]?) of ([0-9.]{1,12})([KMGT]?) hbm)");
  std::match_results<std::string_view::const_iterator> m;
  if (!std::regex_search(words.begin(), words.end(), m, forms)) return std::nullopt;
  const auto bytes = [&](std::size_t at) {
    const std::string unit = m[at + 1].str();
    const std::size_t power = unit.empty() ? 0 : std::string_view("KMGT").find(unit[0]) + 1;
    return std::llround(std::strtod(m[at].str().c_str(), nullptr) *
                        std::pow(1024.0, static_cast<double>(power)));
  };
  const std::size_t first = m[1].matched ? 1 : 5;
  return Shortage{bytes(first), bytes(first + 2)};
}

Result<CompileReport> compile_for(const TopologyOptions& options, std::string_view program,
                                  const CompileRequest& request) {
  auto opened = Library::open(options.library);
  if (!opened) return opened.status();
  const Library& l = **opened;
  CompileReport out;
  const NamedValues create(options.create);
  auto topology = args<PJRT_TopologyDescription_Create_Args>();
  topology.topology_name = options.topology.data();
  topology.topology_name_size = options.topology.size();
  topology.create_options = create.data();
  topology.num_options = create.size();
  if (Status s = l.call(kTopologyDescription_Create, topology); !s.ok())
    return Status(s.code(), "topology {}: {}", options.topology, s.message());
  const Owned mine{[&] {
    auto destroy = args<PJRT_TopologyDescription_Destroy_Args>();
    destroy.topology = topology.topology;
    l.drop(kTopologyDescription_Destroy, destroy);
  }};
  read_topology(l, topology.topology, out);
  if (const std::int64_t parts = request.partitions * request.replicas;
      out.chips > 0 && parts > out.chips)
    return Status(Code::invalid, "topology {}: it has {} chips, and the program has {} parts",
                  options.topology, out.chips, parts);

  std::string code(program), format = "mlir";
  const std::string wanted = compile_options(request);
  PJRT_Program p{sizeof p, nullptr, code.data(), code.size(), format.data(), format.size()};
  auto compile = args<PJRT_Compile_Args>();
  compile.topology = topology.topology;
  compile.program = &p;
  compile.compile_options = wanted.data();
  compile.compile_options_size = wanted.size();
  const auto begin = std::chrono::steady_clock::now();
  if (Status s = l.call(kCompile, compile); !s.ok()) return s;
  out.compile_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const Owned compiled{[&] {
    auto destroy = args<PJRT_Executable_Destroy_Args>();
    destroy.executable = compile.executable;
    l.drop(kExecutable_Destroy, destroy);
  }};
  read_costs(l, compile.executable, out);
  auto hlo = optimised(l, compile.executable);
  if (!hlo) return hlo.status();
  auto found = collectives_of(*hlo);
  if (!found) return found.status();
  out.collectives = std::move(*found);
  return out;
}

}  // namespace strata::runtime::plugin
