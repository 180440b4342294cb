#include "strata/runtime/plugin/topology.h"

#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <optional>
#include <regex>

#include "strata/base/protobuf.h"
#include "strata/runtime/plugin/client.h"
#include "strata/runtime/plugin/library.h"

namespace strata::runtime::plugin {
namespace {

using protobuf::Reader;
using protobuf::Wire;

constexpr std::array<std::string_view, 8> kCollectives = {
    "all-reduce",         "all-gather",           "reduce-scatter",    "all-to-all",
    "collective-permute", "collective-broadcast", "ragged-all-to-all", "send"};

/// Bits of an element by xla.PrimitiveType; 0 for what is no array.
std::int64_t bits_of(std::uint64_t type) {
  switch (type) {
    case 1:
    case 2:
    case 6:
    case 19:
    case 20:
    case 23:
    case 24:
    case 25:
    case 28:
    case 29:
    case 33: return 8;
    case 3:
    case 7:
    case 10:
    case 16: return 16;
    case 4:
    case 8:
    case 11: return 32;
    case 5:
    case 9:
    case 12:
    case 15: return 64;
    case 18: return 128;
    case 21:
    case 22:
    case 32: return 4;
    case 26:
    case 27: return 2;
    case 30:
    case 31: return 1;
    default: return 0;
  }
}

/// Bytes of the last array of a shape: an asynchronous start gives its operands, then its results.
std::optional<std::int64_t> bytes_of(std::string_view shape, int depth = 0) {
  if (depth > 16) return std::nullopt;
  std::int64_t elements = 1, inner = 0;
  std::uint64_t type = 0;
  bool tuple = false;
  const auto multiply = [&](std::uint64_t n) {
    constexpr std::int64_t kMost = std::int64_t{1} << 50;
    const bool fits = n <= static_cast<std::uint64_t>(kMost) &&
                      !__builtin_mul_overflow(elements, static_cast<std::int64_t>(n), &elements);
    return fits && elements <= kMost;
  };
  Reader fields(shape);
  while (auto f = fields.next()) {
    if (f->is(2, Wire::varint)) type = f->value;
    if (f->is(3, Wire::varint) && !multiply(f->value)) return std::nullopt;
    if (f->is(3, Wire::bytes)) {
      Reader dims(f->bytes);
      while (auto n = dims.varint())
        if (!multiply(*n)) return std::nullopt;
    }
    if (f->is(4, Wire::bytes)) {
      const auto part = bytes_of(f->bytes, depth + 1);
      if (!part) return std::nullopt;
      tuple = true;
      if (*part > 8) inner = *part;  // what follows a start's results are words of its context
    }
  }
  if (fields.broken()) return std::nullopt;
  return tuple ? inner : (elements * bits_of(type) + 7) / 8;
}

bool read_instruction(std::string_view bytes, std::map<std::string, Collectives>& out) {
  std::string_view opcode, shape;
  Reader fields(bytes);
  while (auto f = fields.next()) {
    if (f->is(2, Wire::bytes)) opcode = f->bytes;
    if (f->is(3, Wire::bytes)) shape = f->bytes;
  }
  if (fields.broken()) return false;
  if (opcode.ends_with("-start")) opcode.remove_suffix(6);
  for (std::string_view kind : kCollectives) {
    if (opcode != kind) continue;
    const auto size = bytes_of(shape);
    if (!size) return false;
    Collectives& c = out[std::string(kind)];
    ++c.times;
    c.bytes += *size;
  }
  return true;
}

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

Result<std::map<std::string, Collectives>> collectives_of(std::string_view hlo) {
  std::map<std::string, Collectives> out;
  const Status broken(Code::corrupt, "the optimised program is no HloModuleProto");
  Reader module(hlo);
  while (auto computation = module.next()) {
    if (!computation->is(3, Wire::bytes)) continue;
    Reader fields(computation->bytes);
    while (auto f = fields.next())
      if (f->is(2, Wire::bytes) && !read_instruction(f->bytes, out)) return broken;
    if (fields.broken()) return broken;
  }
  if (module.broken()) return broken;
  return out;
}

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
