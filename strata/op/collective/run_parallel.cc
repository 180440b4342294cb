// interpreter.run_parallel: a grid of processes, each running a function of the module.
//
// Contract (the interpreter dialect of StableHLO): operands are the arguments of all processes one
// after the other, in the order of replicas and then partitions; results likewise. Text says
// `programs = [[@f, @g], [@f, @g]]`, a row for each replica, and `infeed = [@a, @b]`, functions
// whose results the host feeds. Here they are `bodies`, the names in that order (programs, then
// infeed), which become regions once calls are inlined, and `replicas`, `partitions`.
//   (C1) programs is not empty and its rows are equally long; (C2) as many operands as the programs
//   take together, of their types; (C3) as many results as they return together, of their types;
//   (C4) an infeed function takes nothing and returns one tensor.
#include "strata/ir/text/attr_text.h"
#include "strata/ir/text/parser.h"
#include "strata/ir/text/printer.h"
#include "strata/op/collective/world.h"
#include "strata/op/evaluate.h"
#include "strata/op/quantized/quantized.h"
#include "strata/op/rules.h"

namespace strata::op {
namespace {

constexpr char kSelf[] = "run_parallel";
constexpr None kProcesses{"a grid of processes is run by the reference evaluator alone"};

std::int64_t replicas(const Op& op) { return op.attr<std::int64_t>("replicas"); }
std::int64_t partitions(const Op& op) { return op.attr<std::int64_t>("partitions"); }
std::size_t processes(const Op& op) {
  return static_cast<std::size_t>(replicas(op) * partitions(op));
}

void expect_types(const char* constraint, const char* what, const std::vector<Type>& programs,
                  const Values& values) {
  if (programs.size() != values.size())
    throw Error(kSelf, "{} {} for programs of {} ({})", values.size(), what, programs.size(),
                constraint);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!(programs[i] == values[i]->type()))
      throw Error(kSelf, "number {} of the {} is {}, of the programs {} ({})", i, what,
                  values[i]->type().to_string(), programs[i].to_string(), constraint);
}

void verify(const Op& op) {
  std::int64_t r = expect_attr<std::int64_t>(kSelf, op.attrs, "replicas"),
               p = expect_attr<std::int64_t>(kSelf, op.attrs, "partitions");
  const ir::Strings& bodies = expect_attr<ir::Strings>(kSelf, op.attrs, "bodies");
  if (r <= 0 || p <= 0 || r > 4096 || p > 4096 || static_cast<std::int64_t>(bodies.size()) < r * p)
    throw Error(kSelf, "needs programs, got a grid of {} by {} (C1)", r, p);
  if (op.regions.empty()) return;  // the functions are not known yet
  if (op.regions.size() != bodies.size())
    throw Error(kSelf, "{} regions for {} functions", op.regions.size(), bodies.size());
  std::vector<Type> arguments, results;
  for (std::size_t i = 0; i < processes(op); ++i) {
    for (const auto& a : op.regions[i]->arguments()) arguments.push_back(a->type());
    for (const Type& t : op.regions[i]->result_types()) results.push_back(t);
  }
  expect_types("C2", "operands", arguments, op.operands);
  expect_types("C3", "results", results, op.results());
  for (std::size_t i = processes(op); i < op.regions.size(); ++i) {
    const Block& feed = *op.regions[i];
    if (feed.num_arguments() != 0 || feed.results.size() != 1 ||
        !feed.results[0]->type().is_tensor())
      throw Error(kSelf, "@{} feeds the programs and must return one tensor (C4)", bodies[i]);
  }
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator& evaluator) {
  if (op.regions.empty()) throw Error(kSelf, "its programs should have been inlined");
  World& world = evaluator.process().world();
  for (std::size_t i = processes(op); i < op.regions.size(); ++i)
    world.infeed.push_back(evaluate(*op.regions[i], {}, evaluator.process()));
  std::vector<Literals> arguments, results(processes(op));
  for (std::size_t i = 0; i < processes(op); ++i) {
    auto count = static_cast<std::size_t>(op.regions[i]->num_arguments());
    arguments.emplace_back(operands.begin(), operands.begin() + static_cast<std::ptrdiff_t>(count));
    operands = operands.subspan(count);
  }
  run_grid(world, replicas(op), partitions(op), [&](Process& process) {
    auto i =
        static_cast<std::size_t>(process.id().replica * partitions(op) + process.id().partition);
    results[i] = op::evaluate(*op.regions[i], arguments[i], process);
  });
  Literals out;
  for (Literals& r : results) std::move(r.begin(), r.end(), std::back_inserter(out));
  return out;
}

// ---- text --------------------------------------------------------------------------------------

/// "[[@a, @b], [@c, @d]]" or "[@a, @b]": the names, and where rows begin.
void read_symbols(ir::TextParser& p, const ir::Draft& draft, const std::string& name,
                  ir::Strings& out, std::vector<std::size_t>& rows) {
  const std::string& text = p.need<ir::Opaque>(draft, name, "list of symbols").text;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[') rows.push_back(out.size());
    if (text[i] != '@') continue;
    bool is_quoted = text.substr(i + 1, 1) == "\"";
    std::size_t from = i + (is_quoted ? 2 : 1),
                to = is_quoted ? text.find('"', from) : text.find_first_of(",]", from);
    if (to == std::string::npos) to = text.size();
    out.push_back(text.substr(from, to - from));
    i = to - (is_quoted ? 0 : 1);
  }
}

void from_generic(ir::TextParser& p, ir::Draft& draft) {
  ir::Strings bodies;
  std::vector<std::size_t> rows, ignored;
  read_symbols(p, draft, "programs", bodies, rows);
  if (!rows.empty()) rows.erase(rows.begin());
  std::size_t width = rows.empty() ? 0 : bodies.size() / rows.size();
  for (std::size_t r = 0; r < rows.size(); ++r)
    if (rows[r] != r * width) width = 0;
  if (width == 0 || width * rows.size() != bodies.size())
    p.fail_at(p.op_offset(),
              "attribute 'programs' of run_parallel (C1) must be rows of equally many functions");
  if (draft.attrs.has("infeed")) read_symbols(p, draft, "infeed", bodies, ignored);
  draft.attrs.erase("programs");
  draft.attrs.erase("infeed");
  draft.attrs.set("bodies", std::move(bodies))
      .set("replicas", static_cast<std::int64_t>(rows.size()))
      .set("partitions", static_cast<std::int64_t>(width));
}

ir::GenericForm to_generic(const Op& op) {
  ir::GenericForm out{.attrs = op.attrs, .regions = {}, .owned = {}};
  for (const auto& r : op.regions) out.regions.push_back(r.get());
  const ir::Strings& bodies = op.attr<ir::Strings>("bodies");
  std::string programs, infeed;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    std::string symbol = ir::symbol_text(bodies[i]);
    auto column = static_cast<std::int64_t>(i) % partitions(op);
    if (i >= processes(op))
      infeed += (infeed.empty() ? "" : ", ") + symbol;
    else
      programs += fmt::format("{}{}{}",
                              column > 0         ? ", "
                              : programs.empty() ? "["
                                                 : ", [",
                              symbol, column + 1 == partitions(op) ? "]" : "");
  }
  for (const char* name : {"bodies", "replicas", "partitions"}) out.attrs.erase(name);
  out.attrs.set("programs", ir::Opaque{"[" + programs + "]"});
  if (!infeed.empty()) out.attrs.set("infeed", ir::Opaque{"[" + infeed + "]"});
  return out;
}
constexpr ir::TextFormat kText{.from_generic = from_generic, .to_generic = to_generic};

Work cost(const Op& op) { return move_cost(op); }

}  // namespace

const OpDef& run_parallel_def() {
  static const OpDef d{
      .info = {.name = "interpreter.run_parallel",
               .infer = nullptr,
               .has_effect = true,
               .isolated = true,
               .text = &kText,
               .verify = verify,
               .quantized = quantized::as_stated},
      .summary =
          "a grid of processes, each running a function of the module (interpreter.run_parallel)",
      .traits = {},
      .evaluate = evaluate,
      .jvp = kProcesses,
      .linearize = kProcesses,
      .transpose = kProcesses,
      .batch = kProcesses,
      .shard = kProcesses,
      .cost = cost,
      .lowering = kProcesses,
  };
  return d;
}

}  // namespace strata::op
