// strata-ops --table: the operations with their rules, from their definitions. See --help.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <set>

#include "strata/base/command_line.h"
#include "strata/base/error.h"
#include "strata/base/standard_output.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/op/catalog.h"
#include "strata/op/control/check.h"
#include "strata/op/def.h"
#include "strata/op/evaluate.h"
#include "strata/op/samples.h"
#include "strata/op/shape/refine.h"
#include "strata/train/maxtext/effects.h"

namespace {

using namespace strata;

const char* lowering(const op::Lowering& rule) {
  struct Name {
    const char* operator()(const op::Elementwise&) const { return "elemental"; }
    const char* operator()(op::Reduction (*)(const op::Op&)) const { return "reduction"; }
    const char* operator()(op::Contraction (*)(const op::Op&)) const { return "contraction"; }
    const char* operator()(const op::Update&) const { return "update"; }
    const char* operator()(const op::Structured&) const { return "driver"; }
    const char* operator()(const op::CustomKernel&) const { return "kernel"; }
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
  for (const op::OpDef* d : op::catalog())
    std::cout << fmt::format("- `{}`: {}\n", d->info.name, d->summary);
}

/// How many operations have each rule.
void counts() {
  const auto& all = op::catalog();
  auto count = [&](auto has) {
    return std::count_if(all.begin(), all.end(), [&](const op::OpDef* d) { return has(*d); });
  };
  std::cout << "| operations with | |\n|---|---|\n";
  std::cout << fmt::format("| a definition: inference, reference evaluation, cost | {} |\n",
                           all.size());
  std::cout << fmt::format("| forward derivative | {} |\n",
                           count([](const op::OpDef& d) { return static_cast<bool>(d.jvp); }));
  std::cout << fmt::format(
      "| transposition (the linear ones) | {} |\n",
      count([](const op::OpDef& d) { return static_cast<bool>(d.transpose); }));
  std::cout << fmt::format("| batching | {} |\n",
                           count([](const op::OpDef& d) { return static_cast<bool>(d.batch); }));
  std::cout << fmt::format("| sharding factors | {} |\n",
                           count([](const op::OpDef& d) { return static_cast<bool>(d.shard); }));
  std::cout << fmt::format("| machine code | {} |\n", count([](const op::OpDef& d) {
                             return !std::holds_alternative<op::None>(d.lowering);
                           }));
}

// ---- operation x rule x type -------------------------------------------------------------------

/// The element type that a sample is about: its first operand's, else its result's. Nothing for
/// tokens and the like.
std::optional<std::string> element_of(const op::OpDef& d, const op::Sample& s) {
  auto text = [](const Type& type) -> std::optional<std::string> {
    if (!type.is_tensor()) return std::nullopt;
    return type.is_quantized() ? "quantised " + std::string(name(type.dtype()))
                               : std::string(name(type.dtype()));
  };
  if (!s.operands.empty()) return text(s.operands[0].type());
  try {
    ir::Block block;
    ir::Builder b(block);
    const op::Op& made = op::build_sample(b, d, s, {});
    if (made.num_results() > 0) return text(made.result()->type());
  } catch (const Error&) {
  }
  return std::nullopt;
}

enum class Reach { none, reference, compiled };

/// An operation whose shapes depend on values is compiled for the values at hand.
std::shared_ptr<runtime::Executable> compiled(const ir::Block& block,
                                              const op::Literals& operands) {
  if (!op::needs_values(block)) return runtime::default_client().compile(block);
  std::vector<op::Known> known;
  for (const Literal& x : operands) known.push_back({x.type(), x});
  return runtime::default_client().compile(*op::refine(block, known));
}

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
  if (d.info.has_effect || std::any_of(block.results.begin(), block.results.end(),
                                       [](const ir::Value* v) { return !v->type().is_tensor(); }))
    return Reach::reference;
  try {
    std::vector<runtime::Buffer> got =
        compiled(block, s.operands)->run({s.operands.begin(), s.operands.end()});
    for (std::size_t r = 0; r < want.size(); ++r)
      if (!(got[r].type() == want[r].type()) ||
          op::compare({.kind = op::Demand::Kind::bits}, got[r].literal(), want[r]))
        return Reach::reference;
  } catch (const Error&) {
    return Reach::reference;
  }
  return Reach::compiled;
}

/// Element types of an operation's samples by how far the first samples of each get.
struct Types {
  std::string compiled, reference;
};
Types types_of(const op::OpDef& d) {
  constexpr int kSamplesOfType = 3;
  std::map<std::string, std::pair<int, Reach>> reached;
  for (const op::Sample& s : op::samples_of(d.info.name)) {
    std::optional<std::string> type = element_of(d, s);
    if (!type) continue;
    auto [it, first] = reached.try_emplace(*type, 0, Reach::compiled);
    if (it->second.first++ < kSamplesOfType)
      it->second.second = std::min(it->second.second, reach(d, s));
  }
  Types out;
  for (const auto& [type, found] : reached) {
    if (found.second == Reach::none) continue;
    std::string& list = found.second == Reach::compiled ? out.compiled : out.reference;
    list += (list.empty() ? "" : ", ") + type;
  }
  return out;
}

void table() {
  compile::register_cpu();
  std::cout << "| operation | jvp | linearize | transpose | batch | shard | lowering | types, "
               "compiled to the bits of the reference | by reference alone |\n"
               "|---|---|---|---|---|---|---|---|---|\n";
  for (const op::OpDef* d : op::catalog()) {
    Types types = types_of(*d);
    std::cout << fmt::format("| `{}` | {} | {} | {} | {} | {} | {} | {} | {} |\n", d->info.name,
                             mark(d->jvp), mark(d->linearize), mark(d->transpose), mark(d->batch),
                             mark(d->shard), lowering(d->lowering), types.compiled,
                             types.reference);
  }
  std::cout << fmt::format("\n{} operations\n", op::catalog().size());
}

// ---- upstream's names
// ----------------------------------------------------------------------------

/// Lines of a file, without comments. Throws Error where there is none.
std::vector<std::string> lines_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) throw Error("strata-ops", "there is no {}", file.string());
  std::vector<std::string> out;
  for (std::string line; std::getline(in, line);)
    if (!line.empty() && line[0] != '#') out.push_back(line);
  return out;
}
/// The same of lines with a tab: what stands before and behind it.
std::map<std::string, std::string> pairs_of(const std::filesystem::path& file) {
  std::map<std::string, std::string> out;
  for (const std::string& line : lines_of(file)) {
    const std::size_t tab = line.find('\t');
    if (tab == std::string::npos)
      throw Error("strata-ops", "{} has a line without a tab: {}", file.string(), line);
    out[line.substr(0, tab)] = line.substr(tab + 1);
  }
  return out;
}

/// The names whose tests passed: the lines of a file, or of each file of a folder.
std::set<std::string> names_tested(const std::filesystem::path& where) {
  std::vector<std::filesystem::path> files = {where};
  if (std::filesystem::is_directory(where)) {
    files.clear();
    for (const auto& file : std::filesystem::directory_iterator(where)) files.push_back(file);
  }
  std::set<std::string> out;
  for (const std::filesystem::path& file : files)
    for (std::string& name : lines_of(file)) out.insert(std::move(name));
  return out;
}

/// A family of upstream's names.
struct Names {
  std::vector<std::filesystem::path> lists;
  /// Why a name makes no sense here; and which are names of JAX's own functions.
  std::filesystem::path reasons;
  std::optional<std::filesystem::path> same;
  /// What stands before the names of the lists where tests and the table say them.
  std::string prefix = {};
};
Names names_of(const std::string& family, const std::string& folder) {
  const auto in = [&](const char* usual) {
    return std::filesystem::path(folder.empty() ? usual : folder.c_str());
  };
  if (family.empty()) {
    const std::filesystem::path names = in("strata/api/names");
    return {{names / "upstream.txt"}, names / "not_applicable.tsv", {}};
  }
  if (family == "optax.") {
    const std::filesystem::path names = in("strata/optim/names");
    return {{names / "optax.txt"}, names / "optax_not_applicable.tsv", {}, family};
  }
  if (family == "grain.") {
    const std::filesystem::path names = in("strata/data/names");
    return {{names / "grain.txt"}, names / "grain_not_applicable.tsv", {}, family};
  }
  if (family != "nnx.")
    throw Error("strata-ops",
                "there are names of JAX, 'nnx.', 'optax.', 'grain.' and 'maxtext.', not '{}'",
                family);
  const std::filesystem::path names = in("strata/nn/names");
  return {{names / "nnx.txt", names / "nnx_methods.txt"},
          names / "nnx_not_applicable.tsv",
          names / "nnx_same.tsv"};
}

/// A line of a list: "name(signature)", or "name = other" for another name of the same thing.
struct Listed {
  std::string name, other;
};
Listed listed(const std::string& line) {
  Listed out{line.substr(0, line.find_first_of("( ")), {}};
  const std::string equals = out.name + " = ";
  if (line.starts_with(equals)) out.other = line.substr(equals.size());
  return out;
}

/// Name x status: done, where a test of it or of another name of the same thing ran and passed (the
/// runner wrote which); not applicable, with the reason; missing.
void api(const Names& names, const std::filesystem::path& tested) {
  std::map<std::string, std::string> reasons = pairs_of(names.reasons), same;
  if (names.same) same = pairs_of(*names.same);
  const std::set<std::string> shown = names_tested(tested);
  std::vector<Listed> all;
  std::set<std::string> done, used;
  for (const std::filesystem::path& list : names.lists)
    for (const std::string& line : lines_of(list)) all.push_back(listed(line));
  for (const Listed& one : all) {
    const auto as_jax = same.find(one.name);
    if (shown.contains(names.prefix + one.name) ||
        (as_jax != same.end() && shown.contains(as_jax->second)))
      done.insert(one.other.empty() ? one.name : one.other);
  }
  int counts[3] = {};
  std::cout << "| name | status | reason |\n|---|---|---|\n";
  for (const Listed& one : all) {
    const std::string& thing = one.other.empty() ? one.name : one.other;
    const auto reason = reasons.find(thing), as_jax = same.find(one.name);
    const bool is_done = done.contains(thing);
    if (is_done && reason != reasons.end())
      throw Error("strata-ops", "{} is tested, and listed as not applicable", one.name);
    const int status = is_done ? 0 : reason != reasons.end() ? 1 : 2;
    static constexpr const char* kStatus[] = {"done", "not applicable", "missing"};
    ++counts[status];
    std::cout << fmt::format("| `{}{}` | {} | {} |\n", names.prefix, one.name, kStatus[status],
                             status == 1            ? reason->second
                             : as_jax != same.end() ? fmt::format("`jax.{}`", as_jax->second)
                                                    : "");
    used.insert({thing, one.name});
  }
  for (const std::string& name : used) {
    reasons.erase(name);
    same.erase(name);
  }
  const std::map<std::string, std::string>& left = reasons.empty() ? same : reasons;
  if (!left.empty())
    throw Error("strata-ops", "{} is in a list of reasons, and no list of names has it",
                left.begin()->first);
  std::cout << fmt::format("\n{} done, {} not applicable, {} missing\n", counts[0], counts[1],
                           counts[2]);
}

/// Keys of MaxText: what acts is done, what has no effect here is not applicable, what is refused
/// is missing.
void maxtext_keys() {
  namespace maxtext = train::maxtext;
  std::map<maxtext::Effect, int> counts;
  std::cout << "| key | status | what it does |\n|---|---|---|\n";
  for (const std::string& key : maxtext::key_names()) {
    const maxtext::KeyEffect effect = maxtext::effect_of(key);
    ++counts[effect.effect];
    std::cout << fmt::format("| `maxtext.{}` | {} | {} |\n", key, maxtext::to_string(effect.effect),
                             effect.sentence);
  }
  const int acting = counts[maxtext::Effect::acting], derived = counts[maxtext::Effect::derived];
  const int noted = counts[maxtext::Effect::noted], refused = counts[maxtext::Effect::refused];
  std::cout << fmt::format("\n{} acting, {} derived, {} noted, {} refused\n", acting, derived,
                           noted, refused)
            << fmt::format("{} done, {} not applicable, {} missing\n", acting + derived, noted,
                           refused);
}

int work(int argc, char** argv) {
  ::setenv("STRATA_CPU", "native,-avx512bf16,-amx-bf16",
           /*overwrite=*/0);  // the same table on any processor (docs/exceptions.md)
  CommandLine app(
      "Prints the operations with their rules, from their definitions.\n\nExample:\n  strata-ops "
      "--table");
  bool want_table = false, want_counts = false, want_reasons = false, want_summaries = false;
  bool want_api = false;
  std::string family, names,
      tested = (std::filesystem::path(argv[0]).parent_path() / "../checks/tested").string();
  app.add_flag("--api", want_api, "upstream's name x status (Markdown)");
  app.add_option(
      "family", family,
      "with --api: 'nnx.' for names of flax.nnx, 'optax.' for Optax's, 'grain.' for Grain's, "
      "'maxtext.' for keys");
  app.add_option("--names", names, "the folder of the lists of names, in place of the usual one");
  app.add_option("--tested", tested,
                 "a file or a folder that scripts/run_tests wrote: the names whose tests passed");
  app.add_flag("--table", want_table,
               "operation x rule x type, the types as far as samples reach them (Markdown)");
  app.add_flag("--counts", want_counts, "how many operations have each rule (Markdown)");
  app.add_flag("--summaries", want_summaries, "one sentence for each operation");
  app.add_flag("--reasons", want_reasons, "why a rule does not exist");
  if (auto status = app.parse(argc, argv)) return *status;
  if (!want_table && !want_counts && !want_reasons && !want_summaries && !want_api) {
    std::cerr << app.help();
    return 2;
  }
  if (want_table) table();
  if (want_counts) counts();
  if (want_summaries) summaries();
  if (want_reasons) reasons();
  try {
    if (want_api && family == "maxtext.")
      maxtext_keys();
    else if (want_api)
      api(names_of(family, names), tested);
  } catch (const Error& e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  strata::StandardOutput output;
  return output.finish("strata-ops", work(argc, argv), /*lost=*/1);
}
