// Shardy's attributes as text. Source: shardy/dialect/sdy/ir/bytecode.td, and the assembly formats
// of attrs.td and printers.cc.
#include <fmt/format.h>

#include "strata/ir/bytecode/entries.h"
#include "strata/ir/text/attr_text.h"

namespace strata::ir::bytecode {
namespace {

enum Code : std::uint64_t {
  kManualAxes,
  kMeshAxis,
  kMesh,
  kSubAxis,
  kAxis,
  kDimension,
  kSharding,
  kPerValue,
  kDimensionMapping,
  kTensorMapping,
  kRule,
  kAxes,
  kListOfAxes,
  kAllToAll,
  kAllToAlls,
  kShardingUnreduced,
  kPerValueUnreduced,
  kShardingReduced,
};

/// `#sdy.sharding<...>` without what names its kind, as it is shown inside another attribute.
std::string stripped(std::string text) {
  std::size_t opening = text.find_first_of("<{");
  return text.substr(0, 1) == "#" && opening != std::string::npos ? text.substr(opening) : text;
}

/// "a, b" of attributes that are numbered.
std::string joined(Entries& entries, ByteReader& r) {
  std::string out;
  for (std::size_t n = r.count("attributes"); n > 0; --n)
    out += (out.empty() ? "" : ", ") + stripped(entries.attribute_text(r));
  return out;
}

std::string mesh(Entries& entries, ByteReader& r) {
  std::string axes = joined(entries, r),
              devices = fmt::format("{}", fmt::join(Entries::numbers(r), ", "));
  return fmt::format("<[{}]{}>", axes, devices.empty() ? "" : ", device_ids=[" + devices + "]");
}

/// "x":(1)2
std::string axis(Entries& entries, ByteReader& r) {
  std::string out = quoted(entries.string(r));
  std::optional<std::size_t> part = entries.optional_attribute(r);
  return part ? out + ":" + attr_text(entries.value(*part)) : out;
}

/// {"x", ?}p1
std::string dimension(Entries& entries, ByteReader& r) {
  std::string axes = joined(entries, r);
  bool is_closed = r.byte("a truth value") != 0;
  auto [priority, has_priority] = r.flagged("a priority");
  if (!is_closed) axes += axes.empty() ? "?" : ", ?";
  return fmt::format("{{{}}}{}", axes, has_priority ? fmt::format("p{}", priority) : "");
}

/// <@mesh, [{"x"}, {}], replicated={"y"}>
std::string sharding(Entries& entries, ByteReader& r, std::uint64_t code) {
  std::string where = entries.attribute_text(r);
  if (where.substr(0, 1) == "#") where = "mesh" + stripped(where);
  std::string out = fmt::format("<{}, [{}]", where, joined(entries, r));
  if (std::string axes = joined(entries, r); !axes.empty()) out += ", replicated={" + axes + "}";
  if (code != kSharding) {
    std::string axes = joined(entries, r);
    constexpr std::string_view reductions[] = {"", "max", "min"};
    std::int64_t reduction = code == kShardingReduced ? r.signed_varint("a reduction") : 0;
    if (reduction < 0 || reduction >= static_cast<std::int64_t>(std::size(reductions)))
      r.unsupported("reduction {} of a sharding is not supported", reduction);
    if (!axes.empty()) out += fmt::format(", unreduced={}{{{}}}", reductions[reduction], axes);
  }
  return out + ">";
}

/// i, j, ... z, z_1, z_2
std::string factor(std::int64_t index) {
  constexpr std::int64_t letters = 'z' - 'i' + 1;
  return index < letters ? std::string(1, static_cast<char>('i' + index))
                         : fmt::format("z_{}", index - letters + 1);
}

std::string factors(const Ints& values, std::string_view between) {
  std::string out;
  for (std::int64_t v : values) out += (out.empty() ? "" : std::string(between)) + factor(v);
  return out;
}

Ints factor_numbers(ByteReader& r) {
  Ints out = Entries::numbers(r);
  for (std::int64_t v : out)
    if (v < 0) r.fail("factor {}", v);
  return out;
}

/// <([i, j])->([i, j]) {i=8, j=2} reduction={j}, custom>
std::string rule(Entries& entries, ByteReader& r) {
  Ints sizes = Entries::numbers(r);
  std::string taken = joined(entries, r), given = joined(entries, r),
              out = fmt::format("<({})->({})", taken, given), list;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    list +=
        fmt::format("{}{}={}", i > 0 ? ", " : "", factor(static_cast<std::int64_t>(i)), sizes[i]);
  if (!sizes.empty()) out += " {" + list + "}";
  for (const char* kind : {"reduction", "need_replication", "permutation", "blocked_propagation"})
    if (Ints which = factor_numbers(r); !which.empty())
      out += fmt::format(" {}={{{}}}", kind, factors(which, ", "));
  return out + (r.byte("a truth value") != 0 ? ", custom>" : ">");
}

Attr attribute(Entries& entries, ByteReader& r) {
  std::uint64_t code = r.varint("the kind of an attribute");
  switch (code) {
    case kManualAxes: return Opaque{"#sdy<manual_axes{" + joined(entries, r) + "}>"};
    case kMeshAxis: {
      std::string name = quoted(entries.string(r));
      return Opaque{fmt::format("{}={}", name, r.signed_varint("a size"))};
    }
    case kMesh: return Opaque{"#sdy.mesh" + mesh(entries, r)};
    case kSubAxis: {
      std::int64_t before = r.signed_varint("a size");
      return Opaque{fmt::format("({}){}", before, r.signed_varint("a size"))};
    }
    case kAxis: return Opaque{axis(entries, r)};
    case kDimension: return Opaque{dimension(entries, r)};
    case kSharding:
    case kShardingUnreduced:
    case kShardingReduced: return Opaque{"#sdy.sharding" + sharding(entries, r, code)};
    case kPerValue:
    case kPerValueUnreduced: return Opaque{"#sdy.sharding_per_value<[" + joined(entries, r) + "]>"};
    case kDimensionMapping: return Opaque{factors(factor_numbers(r), "")};
    case kTensorMapping: return Opaque{"[" + joined(entries, r) + "]"};
    case kRule: return Opaque{"#sdy.op_sharding_rule" + rule(entries, r)};
    default: r.unsupported("an attribute of Shardy of kind {} is not supported", code);
  }
}

}  // namespace

const DialectEntries kShardyEntries{"sdy", attribute, nullptr};

}  // namespace strata::ir::bytecode
