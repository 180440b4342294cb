// strata-ops --table: the operations with their rules, from their definitions. See --help.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <map>
#include <optional>

#include "strata/base/error.h"
#include "strata/compile/cpu_client.h"
#include "strata/op/catalog.h"
#include "strata/op/check.h"
#include "strata/op/def.h"
#include "strata/op/evaluate.h"
#include "strata/op/samples.h"

namespace {

using namespace strata;

const char* lowering(const op::Lowering& rule) {
  struct Name {
    const char* operator()(const op::Elemental&) const { return "elemental"; }
    const char* operator()(op::Reduction (*)(const op::Op&)) const { return "reduction"; }
    const char* operator()(op::Contraction (*)(const op::Op&)) const { return "contraction"; }
    const char* operator()(const op::Update&) const { return "update"; }
    const char* operator()(const op::Structured&) const { return "driver"; }
    const char* operator()(const op::Whole&) const { return "kernel"; }
    const char* operator()(const op::Native&) const { return "native kernel"; }
    const char* operator()(const op::None&) const { return ""; }
  };
  return std::visit(Name(), rule);
}

template <class F>
const char* mark(const op::Rule<F>& rule) {
  return rule ? "yes" : "";
}

/// Reasons for rules that do not exist, one line each.
template <class F>
void reason(const std::string& operation, const char* rule, const op::Rule<F>& given) {
  if (!given) std::cout << fmt::format("- `{}`, {}: {}\n", operation, rule, given.reason());
}

void table() {
  std::cout << "| operation | jvp | linearize | transpose | batch | shard | lowering |\n|---|---|---|---|---|---|---|\n";
  for (const op::OpDef* d : op::catalog()) {
    std::cout << fmt::format("| `{}` | {} | {} | {} | {} | {} | {} |\n", d->info.name, mark(d->jvp), mark(d->linearize), mark(d->transpose),
                             mark(d->batch), mark(d->shard), lowering(d->lowering));
  }
  std::cout << fmt::format("\n{} operations\n", op::catalog().size());
}

void reasons() {
  for (const op::OpDef* d : op::catalog()) {
    reason(d->info.name, "jvp", d->jvp);
    reason(d->info.name, "transpose", d->transpose);
    reason(d->info.name, "batch", d->batch);
    reason(d->info.name, "shard", d->shard);
    if (const auto* none = std::get_if<op::None>(&d->lowering))
      std::cout << fmt::format("- `{}`, lowering: {}\n", d->info.name, none->reason);
  }
}

void summaries() {
  for (const op::OpDef* d : op::catalog()) std::cout << fmt::format("- `{}`: {}\n", d->info.name, d->summary);
}

/// How many operations have each rule.
void counts() {
  const auto& all = op::catalog();
  auto count = [&](auto has) { return std::count_if(all.begin(), all.end(), [&](const op::OpDef* d) { return has(*d); }); };
  std::cout << "| operations with | |\n|---|---|\n";
  std::cout << fmt::format("| a definition: inference, reference evaluation, cost | {} |\n", all.size());
  std::cout << fmt::format("| forward derivative | {} |\n", count([](const op::OpDef& d) { return static_cast<bool>(d.jvp); }));
  std::cout << fmt::format("| transposition (the linear ones) | {} |\n",
                           count([](const op::OpDef& d) { return static_cast<bool>(d.transpose); }));
  std::cout << fmt::format("| batching | {} |\n", count([](const op::OpDef& d) { return static_cast<bool>(d.batch); }));
  std::cout << fmt::format("| sharding factors | {} |\n", count([](const op::OpDef& d) { return static_cast<bool>(d.shard); }));
  std::cout << fmt::format("| machine code | {} |\n",
                           count([](const op::OpDef& d) { return !std::holds_alternative<op::None>(d.lowering); }));
}

// ---- operation x type ---------------------------------------------------------------------------------------------

/// The dtype that a sample is about: its first operand's, else its result's.
std::optional<DType> dtype_of(const op::OpDef& d, const op::Sample& s) {
  if (!s.operands.empty()) return s.operands[0].dtype();
  try {
    ir::Block block;
    ir::Builder b(block);
    const op::Op& made = op::build_sample(b, d, s, {});
    if (made.num_results() > 0 && made.result()->type().is_tensor()) return made.result()->dtype();
  } catch (const Error&) {
  }
  return std::nullopt;
}

enum class Reach { none, reference, compiled };

/// How far a sample gets: evaluated by reference, and compiled to the same bits.
Reach reach(const op::OpDef& d, const op::Sample& s) {
  ir::Block block;
  op::Values arguments;
  for (const Literal& x : s.operands) arguments.push_back(block.add_argument(x.type()));
  op::Literals want;
  try {
    ir::Builder b(block);
    block.results = op::build_sample(b, d, s, arguments).results();
    want = op::evaluate(block, s.operands);
  } catch (const Error&) {
    return Reach::none;
  }
  if (d.info.has_effect || std::any_of(block.results.begin(), block.results.end(), [](const ir::Value* v) { return !v->type().is_tensor(); })) return Reach::reference;
  try {
    auto executable = runtime::default_client().compile(block);
    std::vector<runtime::Buffer> got = executable->run({s.operands.begin(), s.operands.end()});
    for (std::size_t r = 0; r < want.size(); ++r)
      if (!(got[r].type() == want[r].type()) || op::compare({.kind = op::Demand::Kind::bits}, got[r].literal(), want[r])) return Reach::reference;
  } catch (const Error&) {
    return Reach::reference;
  }
  return Reach::compiled;
}

/// For each operation the dtypes of its samples, by how far the first samples of each dtype get.
void types() {
  compile::register_cpu();
  constexpr int kSamplesOfDtype = 3;
  std::cout << "| operation | by reference and compiled, to the same bits | by reference alone |\n|---|---|---|\n";
  for (const op::OpDef* d : op::catalog()) {
    std::map<DType, std::pair<int, Reach>> reached;
    for (const op::Sample& s : op::samples_of(d->info.name)) {
      std::optional<DType> dtype = dtype_of(*d, s);
      if (!dtype) continue;
      auto [it, first] = reached.try_emplace(*dtype, 0, Reach::compiled);
      if (it->second.first++ < kSamplesOfDtype) it->second.second = std::min(it->second.second, reach(*d, s));
    }
    std::string both, alone;
    for (const auto& [dtype, found] : reached) {
      if (found.second == Reach::none) continue;
      std::string& list = found.second == Reach::compiled ? both : alone;
      list += (list.empty() ? "" : " ") + std::string(name(dtype));
    }
    std::cout << fmt::format("| `{}` | {} | {} |\n", d->info.name, both, alone);
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Prints the operations with their rules, from their definitions.\n\nExample:\n  strata-ops --table"};
  bool want_types = false, want_table = false, want_counts = false, want_reasons = false, want_summaries = false;
  app.add_flag("--table", want_table, "operation x rule (Markdown)");
  app.add_flag("--types", want_types, "operation x dtype: what its samples reach by reference and compiled (Markdown)");
  app.add_flag("--counts", want_counts, "how many operations have each rule (Markdown)");
  app.add_flag("--summaries", want_summaries, "one sentence for each operation");
  app.add_flag("--reasons", want_reasons, "why a rule does not exist");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  if (!want_types && !want_table && !want_counts && !want_reasons && !want_summaries) {
    std::cerr << app.help();
    return 2;
  }
  if (want_table) table();
  if (want_types) types();
  if (want_counts) counts();
  if (want_summaries) summaries();
  if (want_reasons) reasons();
}
