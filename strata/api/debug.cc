#include "strata/api/debug.h"

#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <iostream>
#include <map>
#include <mutex>

#include "strata/api/compose.h"
#include "strata/api/debug_nans.h"
#include "strata/api/lax.h"
#include "strata/op/evaluate.h"

namespace strata {
namespace internal {

Array without_derivative(const Array& x) {
  return is_inexact(x.dtype()) && x.is_traced() ? lax::stop_gradient(x) : x;
}

namespace {

/// A format in pieces: text, then the number of an array and how it is written; -1 behind the last
/// text.
struct Piece {
  std::string text;
  int array;
  std::string spec;
};

std::vector<Piece> pieces_of(const std::string& format) {
  std::vector<Piece> out;
  std::string text;
  int next = 0;
  for (std::size_t i = 0; i < format.size(); ++i) {
    const bool twice = i + 1 < format.size() && format[i + 1] == format[i];
    if (format[i] == '{' && !twice) {
      const std::size_t end = format.find('}', i);
      if (end == std::string::npos)
        fail("debug.print", "\"{}\" opens a brace that nothing closes", format);
      const std::string field = format.substr(i + 1, end - i - 1),
                        number = field.substr(0, field.find(':'));
      if (number.find_first_not_of("0123456789") != std::string::npos)
        fail("debug.print", "arrays are numbered, got \"{{{}}}\" in \"{}\"", field, format);
      const int array = number.empty() ? next++ : std::stoi(number);
      out.push_back({std::exchange(text, ""), array,
                     field.find(':') == std::string::npos ? "" : field.substr(field.find(':'))});
      i = end;
      continue;
    }
    if ((format[i] == '{' || format[i] == '}') && twice) ++i;
    text += format[i];
  }
  out.push_back({text, -1, ""});
  return out;
}

std::string written(const Array& x, const std::string& spec) {
  if (spec.empty()) return x.to_string();
  if (is_inexact(x.dtype())) return fmt::format(fmt::runtime("{" + spec + "}"), x.item<double>());
  return fmt::format(fmt::runtime("{" + spec + "}"), x.item<std::int64_t>());
}

}  // namespace

void check_format(const std::string& format, std::size_t count) {
  std::vector<bool> used(count, false);
  for (const Piece& p : pieces_of(format)) {
    if (p.array < 0) continue;
    if (static_cast<std::size_t>(p.array) >= count)
      fail("debug.print", "\"{}\" asks for array {} of {}", format, p.array, count);
    used[static_cast<std::size_t>(p.array)] = true;
  }
  for (std::size_t i = 0; i < count; ++i)
    if (!used[i]) fail("debug.print", "\"{}\" does not print array {} of {}", format, i, count);
}

void print_line(const std::string& format, const std::vector<Array>& arrays) {
  std::string line;
  for (const Piece& p : pieces_of(format))
    line +=
        p.text + (p.array < 0 ? "" : written(arrays[static_cast<std::size_t>(p.array)], p.spec));
  std::cout << line + "\n" << std::flush;
}

// ---- NaN ---------------------------------------------------------------------------------------

namespace {

thread_local bool looking = false;

using op::Literals;

/// The first element that is NaN, or -1.
std::int64_t first_nan(const Literal& l) {
  if (!is_inexact(l.dtype()) || !has_storage(l.dtype())) return -1;
  const std::vector<std::complex<double>> values = Array(l).to_vector<std::complex<double>>();
  const auto it = std::find_if(values.begin(), values.end(), [](std::complex<double> v) {
    return std::isnan(v.real()) || std::isnan(v.imag());
  });
  return it == values.end() ? -1 : it - values.begin();
}

std::string shown(const Literal& l) {
  return l.count() <= 8 ? describe(l.type()) + " " + Array(l).to_string() : describe(l.type());
}

[[noreturn]] void blame(const ir::Block& given, const Literals& arguments,
                        const std::string& program) {
  const std::unique_ptr<ir::Block> block = ir::clone(given);
  std::map<const ir::Value*, Literal> known;
  block->results.clear();
  for (const auto& op : block->ops())
    for (ir::Value* v : op->results())
      if (v->type().is_tensor()) block->results.push_back(v);
  const Literals values = op::evaluate(*block, arguments);
  for (std::size_t i = 0; i < arguments.size(); ++i)
    known[block->argument(static_cast<int>(i))] = arguments[i];
  for (std::size_t i = 0; i < values.size(); ++i) known[block->results[i]] = values[i];
  for (const auto& op : block->ops())
    for (ir::Value* v : op->results()) {
      const auto it = known.find(v);
      if (it == known.end()) continue;
      const std::int64_t at = first_nan(it->second);
      if (at < 0) continue;
      std::string of;
      for (const ir::Value* operand : op->operands)
        if (const auto found = known.find(operand); found != known.end())
          of += (of.empty() ? "" : " and ") + shown(found->second);
      const std::string_view name = op->name();
      throw Error("debug_nans",
                  "{} made NaN: element {} of {}, from {}; keep such elements away with where "
                  "before it, or switch debug_nans off",
                  std::string(name.substr(name.find('.') + 1)), at, describe(v->type()),
                  of.empty() ? "nothing" : of)
          .at(op->where.text());
    }
  fail("debug_nans", "{} made NaN, which its operations, run one by one, do not", program);
}

}  // namespace

void check_nans(const ir::Block* block, std::span<const runtime::Buffer> arguments,
                std::span<const runtime::Buffer> results, const std::string& program) {
  for (std::size_t r = 0; r < results.size(); ++r) {
    const Literal l = results[r].literal();
    const std::int64_t at = first_nan(l);
    if (at < 0) continue;
    if (block == nullptr)
      fail("debug_nans",
           "result {} of {} has NaN: element {} of {}; to learn which operation made it, switch "
           "debug_nans on before the first call and donate nothing",
           r, program, at, describe(l.type()));
    Literals inputs;
    for (const runtime::Buffer& a : arguments) inputs.push_back(a.literal());
    blame(*block, inputs, program);
  }
}

namespace {
struct Graph {
  std::shared_ptr<const runtime::Executable>
      executable;  // lives on, so that no other one takes its address
  std::unique_ptr<const ir::Block> block;
};
struct Kept {
  std::mutex mutex;
  std::map<const runtime::Executable*, Graph> graphs;
};
Kept& kept() {
  static Kept& k = *new Kept;
  return k;
}
}  // namespace

void keep_graph(std::shared_ptr<const runtime::Executable> executable, const ir::Block& block) {
  std::lock_guard lock(kept().mutex);
  const runtime::Executable* key = executable.get();
  kept().graphs[key] = {std::move(executable), ir::clone(block)};
}
const ir::Block* kept_graph(const runtime::Executable* executable) {
  std::lock_guard lock(kept().mutex);
  const auto it = kept().graphs.find(executable);
  return it == kept().graphs.end() ? nullptr : it->second.block.get();
}

}  // namespace internal

debug_nans::debug_nans(bool on) : before_(internal::looking) { internal::looking = on; }
debug_nans::~debug_nans() { internal::looking = before_; }
bool debug_nans::enabled() { return internal::looking; }

}  // namespace strata
