// Collectives of an optimised program in protobuf's wire format: which there are, how often they
// run, and of how many bytes.
#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "strata/base/format/protobuf.h"
#include "strata/runtime/plugin/topology.h"

namespace strata::runtime::plugin {
namespace {

using protobuf::Reader;
using protobuf::Wire;

constexpr std::array<std::string_view, 8> kCollectives = {
    "all-reduce",         "all-gather",           "reduce-scatter",    "all-to-all",
    "collective-permute", "collective-broadcast", "ragged-all-to-all", "send"};
constexpr std::int64_t kMost = std::int64_t{1} << 50;

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

/// Bytes of a shape; of a tuple its arrays', or where it is an asynchronous start's, which gives
/// its operands, then its results, then words of its context, the last array's.
std::optional<std::int64_t> bytes_of(std::string_view shape, bool start, int depth = 0) {
  if (depth > 16) return std::nullopt;
  std::int64_t elements = 1, inner = 0;
  std::uint64_t type = 0;
  bool tuple = false;
  const auto multiply = [&](std::uint64_t n) {
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
      const auto part = bytes_of(f->bytes, start, depth + 1);
      if (!part || inner > kMost) return std::nullopt;
      tuple = true;
      if (!start)
        inner += *part;
      else if (*part > 8)
        inner = *part;
    }
  }
  if (fields.broken()) return std::nullopt;
  return tuple ? inner : (elements * bits_of(type) + 7) / 8;
}

/// a b, of numbers from 0 on; kMost where it would be more.
std::int64_t product(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  return __builtin_mul_overflow(a, b, &out) ? kMost : std::min(out, kMost);
}

using Ids = std::vector<std::uint64_t>;

struct Instruction {
  std::string_view opcode, shape, literal, direction;
  std::uint64_t id = 0, channel = 0, element = 0;
  Ids operands, called;
};
struct Computation {
  std::string_view name;
  std::uint64_t id = 0, root = 0;
  std::vector<Instruction> instructions;
};

/// A number, or a packed list of them.
void read_ids(const Reader::Field& f, Ids& out) {
  if (f.wire == Wire::varint) out.push_back(f.value);
  if (f.wire != Wire::bytes) return;
  Reader packed(f.bytes);
  while (auto n = packed.varint()) out.push_back(*n);
}

std::optional<Instruction> read_instruction(std::string_view bytes) {
  Instruction out;
  Reader fields(bytes);
  while (auto f = fields.next()) {
    if (f->is(2, Wire::bytes)) out.opcode = f->bytes;
    if (f->is(3, Wire::bytes)) out.shape = f->bytes;
    if (f->is(8, Wire::bytes)) out.literal = f->bytes;
    if (f->is(13, Wire::varint)) out.element = f->value;
    if (f->is(26, Wire::varint)) out.channel = f->value;
    if (f->is(35, Wire::varint)) out.id = f->value;
    if (f->number == 36) read_ids(*f, out.operands);
    if (f->number == 38) read_ids(*f, out.called);
    if (f->is(63, Wire::bytes)) out.direction = f->bytes;
  }
  if (fields.broken()) return std::nullopt;
  return out;
}

std::optional<Computation> read_computation(std::string_view bytes) {
  Computation out;
  Reader fields(bytes);
  while (auto f = fields.next()) {
    if (f->is(1, Wire::bytes)) out.name = f->bytes;
    if (f->is(5, Wire::varint)) out.id = f->value;
    if (f->is(6, Wire::varint)) out.root = f->value;
    if (!f->is(2, Wire::bytes)) continue;
    auto instruction = read_instruction(f->bytes);
    if (!instruction) return std::nullopt;
    out.instructions.push_back(std::move(*instruction));
  }
  if (fields.broken()) return std::nullopt;
  return out;
}

/// An integer of one element.
std::optional<std::int64_t> number_of(std::string_view literal) {
  Reader fields(literal);
  std::optional<std::int64_t> out;
  while (auto f = fields.next()) {
    if (f->number < 4 || f->number > 7) continue;  // s32, s64, u32, u64
    Ids numbers;
    read_ids(*f, numbers);
    if (out || numbers.size() != 1) return std::nullopt;
    out = static_cast<std::int64_t>(numbers[0]);
  }
  return out;
}

class Module {
 public:
  /// False for what is no HloModuleProto.
  bool read(std::string_view hlo) {
    Reader fields(hlo);
    while (auto f = fields.next()) {
      if (f->is(6, Wire::varint)) entry_ = f->value;
      if (!f->is(3, Wire::bytes)) continue;
      auto computation = read_computation(f->bytes);
      if (!computation) return false;
      all_.push_back(std::move(*computation));
    }
    for (const Computation& c : all_) {
      by_id_.emplace(c.id, &c);
      for (const Instruction& i : c.instructions) {
        instructions_.emplace(i.id, &i);
        for (const std::uint64_t id : i.called) callers_[id].emplace_back(&c, &i);
      }
    }
    return !fields.broken();
  }

  std::optional<std::map<std::string, Collectives>> collectives() {
    std::map<std::string, Collectives> out;
    for (const Computation& c : all_) {
      const std::int64_t runs = runs_of(c, 0);
      for (const Instruction& i : c.instructions)
        if (!add(c, i, runs, out)) return std::nullopt;
    }
    return out;
  }

 private:
  const Instruction* instruction(const Ids& ids, std::size_t at) const {
    if (at >= ids.size()) return nullptr;
    const auto found = instructions_.find(ids[at]);
    return found == instructions_.end() ? nullptr : found->second;
  }
  /// How often a computation runs in one run of the program: through all that call it.
  std::int64_t runs_of(const Computation& c, int depth) {
    const auto callers = callers_.find(c.id);
    if (c.id == entry_ || callers == callers_.end() || depth > 64) return 1;
    if (const auto known = runs_.find(c.id); known != runs_.end()) return known->second;
    runs_[c.id] = 0;  // a program that calls itself is none
    std::int64_t out = 0;
    for (const auto& [caller, instruction] : callers->second)
      out = std::min(out + product(runs_of(*caller, depth + 1), turns(*instruction)), kMost);
    return runs_[c.id] = std::max<std::int64_t>(out, 1);
  }
  /// How often an instruction runs what it calls: of a loop whose counter goes from a constant to a
  /// constant by ones so often, else once.
  std::int64_t turns(const Instruction& loop) const {
    if (loop.opcode != "while" || loop.called.size() != 2) return 1;
    const auto condition = by_id_.find(loop.called[1]);
    if (condition == by_id_.end()) return 1;
    const Instruction* compare = instruction({condition->second->root}, 0);
    if (compare == nullptr || compare->opcode != "compare" || compare->direction != "LT") return 1;
    const Instruction *counter = instruction(compare->operands, 0),
                      *end = instruction(compare->operands, 1);
    if (counter == nullptr || counter->opcode != "get-tuple-element" || end == nullptr ||
        end->opcode != "constant")
      return 1;
    const Instruction* carried = instruction(loop.operands, 0);
    if (carried == nullptr) return 1;
    const Instruction* begin = instruction(carried->operands, counter->element);
    while (begin != nullptr && begin->opcode == "copy") begin = instruction(begin->operands, 0);
    const std::int64_t first =
        begin != nullptr && begin->opcode == "constant" ? number_of(begin->literal).value_or(0) : 0;
    return std::clamp<std::int64_t>(number_of(end->literal).value_or(1) - first, 1, 1 << 20);
  }
  bool add(const Computation& c, const Instruction& i, std::int64_t runs,
           std::map<std::string, Collectives>& out) {
    std::string_view opcode = i.opcode;
    const bool start = opcode.ends_with("-start");
    if (start) opcode.remove_suffix(6);
    for (std::string_view kind : kCollectives) {
      if (opcode != kind) continue;
      // One that is taken apart into steps is the same channel in several computations.
      if (i.channel != 0 && !channels_.insert(i.channel).second) return true;
      const auto result = bytes_of(i.shape, start);
      if (!result) return false;
      std::int64_t given = 0;
      for (std::size_t n = 0; n < i.operands.size(); ++n)
        if (const Instruction* operand = instruction(i.operands, n)) {
          const auto bytes = bytes_of(operand->shape, false);
          if (!bytes || given > kMost) return false;
          given += *bytes;
        }
      // libtpu's reduce-scatter is a computation of an all-reduce and a slice.
      const bool scattered = kind == "all-reduce" && c.name.starts_with("all-reduce-scatter");
      Collectives& all = out[scattered ? "reduce-scatter" : std::string(kind)];
      all.times = std::min(all.times + runs, kMost);
      all.bytes = std::min(all.bytes + product(std::max(*result, given), runs), kMost);
    }
    return true;
  }

  std::uint64_t entry_ = 0;
  std::vector<Computation> all_;
  std::unordered_map<std::uint64_t, const Computation*> by_id_;
  std::unordered_map<std::uint64_t, const Instruction*> instructions_;
  std::unordered_map<std::uint64_t, std::int64_t> runs_;
  std::unordered_map<std::uint64_t, std::vector<std::pair<const Computation*, const Instruction*>>>
      callers_;
  std::set<std::uint64_t> channels_;
};

}  // namespace

Result<std::map<std::string, Collectives>> collectives_of(std::string_view hlo) {
  const Status broken(Code::corrupt, "the optimised program is no HloModuleProto");
  Module module;
  if (!module.read(hlo)) return broken;
  auto out = module.collectives();
  if (!out) return broken;
  return std::move(*out);
}

}  // namespace strata::runtime::plugin
