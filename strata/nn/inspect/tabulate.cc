#include "strata/nn/inspect/tabulate.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>

#include "strata/api/transform/grad.h"
#include "strata/ir/graph.h"
#include "strata/op/calculus/support.h"

namespace strata::nn {

namespace detail {

namespace {

/// Variables of a module by kind.
class Variables : public tree::Visitor {
 public:
  void enter(const tree::Step& step) override { path_.push_back(tree::key_of(step)); }
  void leave() override { path_.pop_back(); }
  void leaf(Array& value, const tree::Kind& kind, MetadataPtr*) override {
    if (!value.has_value()) return;
    const bool is_key = kind.is_a(RngKey::kind());
    const std::string name(kind.is_a(RngState::kind()) ? RngState::kind().name() : kind.name());
    const Type type = value.type();
    const std::int64_t bytes = type.shape().count() * byte_width(type.dtype());
    const std::int64_t words = is_key && value.ndim() > 0 ? value.shape(-1) : 1;
    VariableCount& count = subtree[name];
    count.elements += type.shape().count() / std::max<std::int64_t>(words, 1);
    count.bytes += bytes;
    if (path_.size() == 1) own[name].emplace(tree::key_text(path_[0]), type);
  }
  std::map<std::string, std::map<std::string, Type>> own;
  std::map<std::string, VariableCount> subtree;

 private:
  tree::KeyPath path_;
};

/// The operations of a block from one on that these values need, what they need from before as
/// arguments; results of floats first.
struct Part {
  strata::internal::Program program;
  std::vector<Type> arguments;
  std::size_t floats = 0;
};
Part part_of(const ir::Block& block, std::size_t first, const ir::Values& results) {
  Part out;
  ir::Values ordered;
  for (const bool floats : {true, false}) {
    for (ir::Value* v : results)
      if (is_float(v->dtype()) == floats) ordered.push_back(v);
    if (floats) out.floats = ordered.size();
  }
  out.program.block = std::make_unique<ir::Block>();
  ir::Builder builder(*out.program.block);
  ir::ValueMap map;
  for (std::size_t i = first; i < block.ops().size(); ++i) ir::clone(builder, *block.ops()[i], map);
  for (ir::Value* v : ordered) out.program.block->results.push_back(map(v));
  ir::remove_dead(*out.program.block);
  for (const ir::Value* v : ir::close_over(*out.program.block)) out.arguments.push_back(v->type());
  return out;
}

double flops_of(const Part& part) { return op::cost_of(*part.program.block).flops; }

/// Of the values and their derivatives by all arguments.
double vjp_flops_of(const Part& part) {
  strata::internal::Trace trace(strata::internal::Trace::Kind::nested);
  std::vector<Array> arguments, cotangents;
  for (const Type& type : part.arguments) arguments.push_back(trace.argument(type, false));
  auto [results, linear] = strata::internal::linearize(part.program, arguments, part.floats);
  for (std::size_t i = 0; i < part.floats; ++i)
    cotangents.push_back(trace.argument(results[i].type(), false));
  for (Array& gradient : linear.pull(cotangents))
    if (gradient.has_value()) results.push_back(std::move(gradient));
  const strata::internal::Program both = trace.finish(results);
  ir::remove_dead(*both.block);
  return op::cost_of(*both.block).flops;
}

std::string row_path(const ModuleScope& scope) {
  const std::string path = scope.path();
  if (std::string_view(scope.method()) == ModuleScope::kCall) return path;
  return path.empty() ? scope.method() : path + "/" + scope.method();
}
std::vector<Type> types_of(std::span<const Array> arrays) {
  std::vector<Type> out;
  for (const Array& a : arrays) out.push_back(a.type());
  return out;
}

}  // namespace

std::string short_name(const std::type_info& type) {
  int status = 0;
  char* text = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  std::string name = status == 0 ? text : type.name();
  std::free(text);
  name = name.substr(0, name.find('<'));
  const std::size_t colon = name.rfind(':');
  return colon == std::string::npos ? name : name.substr(colon + 1);
}

void CallRecorder::begins(const ModuleScope& scope) {
  const ModuleScope* outer = scope.outer();
  if (outer && outer->object() == scope.object() && outer->type() == scope.type() &&
      !open_.empty() && open_.back().scope == outer) {
    rows_[open_.back().row].type = scope.name();  // the same module, which knows its name
    return;
  }
  SummaryRow row{.path = row_path(scope), .type = scope.name()};
  Variables variables;
  scope.accept(variables);
  row.variables = std::move(variables.own);
  row.subtree = std::move(variables.subtree);
  const strata::internal::Trace* trace = strata::internal::Trace::current();
  const ir::Block* block = trace ? &const_cast<strata::internal::Trace*>(trace)->block() : nullptr;
  open_.push_back({&scope, rows_.size(), block, block ? block->ops().size() : 0});
  rows_.push_back(std::move(row));
}

void CallRecorder::ends(const ModuleScope& scope) {
  if (!open_.empty() && open_.back().scope == &scope) open_.pop_back();
}

void CallRecorder::returned(const ModuleScope& scope, std::span<const Array> inputs,
                            std::span<const Array> outputs) {
  if (open_.empty() || open_.back().scope != &scope) return;
  const Open& open = open_.back();
  SummaryRow& row = rows_[open.row];
  row.inputs = types_of(inputs);
  row.outputs = types_of(outputs);
  if (!options_.compute_flops && !options_.compute_vjp_flops) return;
  strata::internal::Trace* trace = strata::internal::Trace::current();
  if (!trace || &trace->block() != open.block) return;
  const Part part = part_of(*open.block, open.first_op, trace->values(outputs));
  if (options_.compute_flops) row.flops = flops_of(part);
  if (options_.compute_vjp_flops) row.vjp_flops = vjp_flops_of(part);
}

Summary CallRecorder::finish() {
  Summary out;
  out.has_flops = options_.compute_flops;
  out.has_vjp_flops = options_.compute_vjp_flops;
  if (!rows_.empty()) out.totals = rows_[0].subtree;
  for (const auto& [kind, count] : out.totals) {
    out.total.elements += count.elements;
    out.total.bytes += count.bytes;
  }
  for (SummaryRow& row : rows_) {
    const auto length =
        row.path.empty() ? 0 : std::count(row.path.begin(), row.path.end(), '/') + 1;
    if (options_.depth && static_cast<std::size_t>(length) > *options_.depth) continue;
    const bool seen = std::any_of(out.rows.begin(), out.rows.end(), [&](const SummaryRow& other) {
      return other.path == row.path && other.inputs == row.inputs;
    });
    if (!seen) out.rows.push_back(std::move(row));
  }
  return out;
}

}  // namespace detail

std::vector<std::string> Summary::columns() const {
  std::vector<std::string> out = {"path", "type", "inputs", "outputs"};
  if (has_flops) out.push_back("flops");
  if (has_vjp_flops) out.push_back("vjp_flops");
  for (const auto& [kind, count] : totals) out.push_back(kind);
  return out;
}

namespace {

using Lines = std::vector<std::string>;

Lines describe(const std::vector<Type>& types) {
  Lines out;
  for (const Type& type : types) out.push_back(strata::internal::describe(type));
  return out;
}
std::string describe(const VariableCount& count) {
  return fmt::format("{} ({} bytes)", count.elements, count.bytes);
}
std::string describe(const std::optional<double>& flops) {
  return flops ? fmt::format("{:.0f}", *flops) : std::string();
}

/// Cells of several lines, side by side, with a rule above and below each row.
class Table {
 public:
  void add(std::vector<Lines> cells) {
    widths_.resize(std::max(widths_.size(), cells.size()), 0);
    for (std::size_t i = 0; i < cells.size(); ++i)
      for (const std::string& line : cells[i]) widths_[i] = std::max(widths_[i], line.size());
    rows_.push_back(std::move(cells));
  }
  std::string to_string() const {
    std::string rule = "+";
    for (std::size_t width : widths_) rule += std::string(width + 2, '-') + "+";
    std::string out = rule + "\n";
    for (const std::vector<Lines>& row : rows_) {
      std::size_t height = 1;
      for (const Lines& cell : row) height = std::max(height, cell.size());
      for (std::size_t k = 0; k < height; ++k) {
        out += "|";
        for (std::size_t i = 0; i < widths_.size(); ++i)
          out += fmt::format(" {:<{}} |", i < row.size() && k < row[i].size() ? row[i][k] : "",
                             widths_[i]);
        out += "\n";
      }
      out += rule + "\n";
    }
    return out;
  }

 private:
  std::vector<std::vector<Lines>> rows_;
  std::vector<std::size_t> widths_;
};

}  // namespace

std::string Summary::to_string() const {
  Table table;
  std::vector<Lines> head;
  for (const std::string& column : columns()) head.push_back({column});
  table.add(std::move(head));
  for (const SummaryRow& row : rows) {
    std::vector<Lines> cells = {
        {row.path}, {row.type}, describe(row.inputs), describe(row.outputs)};
    if (has_flops) cells.push_back({describe(row.flops)});
    if (has_vjp_flops) cells.push_back({describe(row.vjp_flops)});
    for (const auto& [kind, total_of_kind] : totals) {
      Lines cell;
      const auto own = row.variables.find(kind);
      if (own != row.variables.end())
        for (const auto& [name, type] : own->second)
          cell.push_back(fmt::format("{}: {}", name, strata::internal::describe(type)));
      const auto below = row.subtree.find(kind);
      if (below != row.subtree.end()) cell.push_back(describe(below->second));
      cells.push_back(std::move(cell));
    }
    table.add(std::move(cells));
  }
  std::vector<Lines> last(4 + has_flops + has_vjp_flops);
  last.back() = {"total"};
  for (const auto& [kind, count] : totals) last.push_back({describe(count)});
  table.add(std::move(last));
  return table.to_string() + fmt::format("total: {}\n", describe(total));
}

}  // namespace strata::nn
