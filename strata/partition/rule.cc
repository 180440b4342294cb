#include "strata/partition/rule.h"

#include <algorithm>
#include <map>
#include <string>

#include "strata/base/error.h"
#include "strata/mesh/cursor.h"
#include "strata/op/index/indexing.h"
#include "strata/op/rules.h"

namespace strata::spmd {
namespace {

using Dims = std::vector<std::vector<int>>;

/// i, j, ..., z, then z_1, z_2, ...: the factors of one dimension run together.
std::vector<int> factors_of(mesh::Cursor& in, const std::string& word) {
  std::vector<int> out;
  for (std::size_t i = 0; i < word.size();) {
    if (word[i] < 'i' || word[i] > 'z') {
      in.fail("a factor is a letter from i to z");
      return out;
    }
    int f = word[i++] - 'i';
    if (i < word.size() && word[i] == '_') {
      std::size_t digits = ++i;
      while (i < word.size() && i < digits + 6 && word[i] >= '0' && word[i] <= '9') ++i;
      if (i == digits) {
        in.fail("z_ needs a number");
        return out;
      }
      f += std::stoi(word.substr(digits, i - digits));
    }
    out.push_back(f);
  }
  return out;
}

template <class F>
void list(mesh::Cursor& in, std::string_view close, F&& item) {
  if (in.consume(close)) return;
  do item();
  while (in.ok() && in.consume(","));
  in.expect(close);
}

std::vector<Dims> tensors(mesh::Cursor& in) {
  std::vector<Dims> out;
  in.expect("(");
  list(in, ")", [&] {
    in.expect("[");
    Dims dims;
    list(in, "]", [&] { dims.push_back(factors_of(in, in.word())); });
    out.push_back(std::move(dims));
  });
  return out;
}

// ---- where propagation knows more than computing on parts does
// ------------------------------------

/// A factor for each dimension, shared by the first operand and the result; needed whole and, where
/// the sizes differ, blocked where `whole` says.
template <class F>
Rule shared_rule(const op::Op& op, F&& whole) {
  Rule out;
  op::FactorTable t(op);
  for (int d = 0; d < op.operand(0)->rank(); ++d) {
    std::int64_t size = op.operand(0)->shape()[d];
    bool resized = size != op.result()->shape()[d], is_whole = resized || whole(d);
    int f = t.factor(is_whole ? 'n' : 'p', size);
    t.operand(0, d, f);
    t.result(0, d, f);
    out.blocked.push_back(is_whole && resized);
  }
  out.factors = t.take();
  return out;
}

/// The array and the result are cut alike; what is written into a part of a dimension must be whole
/// along it, unless it is known where.
Rule update_rule(const op::Op& op) {
  op::FactorTable t(op);
  bool known = true;
  for (std::size_t i = 2; i < op.operands.size(); ++i) {
    const op::Op* from = op.operands[i]->op();
    known = known && from != nullptr && from->name() == "stablehlo.constant";
  }
  for (int d = 0; d < op.result()->rank(); ++d) {
    std::int64_t size = op.result()->shape()[d], written = op.operand(1)->shape()[d];
    int f = t.factor('p', size);
    t.operand(0, d, f);
    t.result(0, d, f);
    t.operand(1, d, written == size ? f : t.factor(known ? 'p' : 'n', written));
  }
  Rule out{t.take(), {}};
  out.blocked.assign(out.factors.kinds.size(), false);
  return out;
}

/// Whether each operand is a slice of one array.
bool joins_slices(const op::Op& op) {
  const op::Value* source = nullptr;
  for (const op::Value* v : op.operands) {
    if (v->op() == nullptr || v->op()->name() != "stablehlo.slice") return false;
    if (source != nullptr && source != v->op()->operand(0)) return false;
    source = v->op()->operand(0);
  }
  return source != nullptr;
}

std::optional<Rule> wider_rule(const op::Op& op) {
  const std::string& name = op.name();
  if (name == "stablehlo.fft") {
    int first = op.result()->rank() - static_cast<int>(op.attr<ir::Ints>("fft_length").size());
    return shared_rule(op, [&](int d) { return d >= first; });
  }
  if (name == "stablehlo.dynamic_slice") return shared_rule(op, [](int) { return false; });
  if (name == "stablehlo.dynamic_update_slice") return update_rule(op);
  return std::nullopt;
}

/// Sizes and kinds that differ from those of computing on parts; and each dimension that no factor
/// stands for (of size 1, or stretched) has one of its own, so that it keeps its axes.
void adjust(const op::Op& op, op::Factors& factors) {
  auto fill = [&](Dims& dims, const op::Value* v) {
    for (std::size_t d = 0; d < dims.size(); ++d) {
      if (!dims[d].empty()) continue;
      dims[d] = {static_cast<int>(factors.kinds.size())};
      factors.kinds += 'p';
      factors.sizes.push_back(v->shape()[static_cast<int>(d)]);
    }
  };
  for (std::size_t i = 0; i < op.operands.size(); ++i) fill(factors.operands[i], op.operands[i]);
  for (int i = 0; i < op.num_results(); ++i)
    fill(factors.results[static_cast<std::size_t>(i)], op.result(i));
  const std::string& name = op.name();
  if (name == "stablehlo.concatenate" && !joins_slices(op))
    std::replace(factors.kinds.begin(), factors.kinds.end(), 'm', 'n');
  if (name == "stablehlo.rng_bit_generator")
    for (const auto& dim : factors.results[1])
      for (int f : dim) factors.kinds[static_cast<std::size_t>(f)] = 'p';
  if (name == "stablehlo.scatter") {
    // Where updates combine in any order, those of devices do.
    const std::string& combiner = op.attr<std::string>("combiner");
    bool combines = combiner != "region" && combiner != "assign";
    std::size_t inputs = (op.operands.size() - 1) / 2;
    for (const auto& dim : factors.operands[inputs])
      for (int f : dim) {
        auto has = [&](const std::vector<int>& other) {
          return std::count(other.begin(), other.end(), f) > 0;
        };
        const Dims& updates = factors.operands[inputs + 1];
        const Dims& into = factors.operands[0];
        char& kind = factors.kinds[static_cast<std::size_t>(f)];
        if (combines && kind == 'n' && std::any_of(updates.begin(), updates.end(), has) &&
            std::none_of(into.begin(), into.end(), has))
          kind = 'r';
      }
    // What is written a place at a time may be cut as the array is: others' updates are dropped.
    for (std::int64_t d : op::scatter_dims(op.attrs).dropped)
      for (int f : factors.operands[0][static_cast<std::size_t>(d)])
        factors.kinds[static_cast<std::size_t>(f)] = 'p';
  }
  if (name == "stablehlo.pad" || name == "stablehlo.slice" || name == "stablehlo.reduce_window") {
    bool by_operand = name != "stablehlo.reduce_window";
    const op::Value* sized = by_operand ? op.operand(0) : op.result();
    const Dims& dims = by_operand ? factors.operands[0] : factors.results[0];
    for (std::size_t d = 0; d < dims.size(); ++d)
      for (int f : dims[d])
        factors.sizes[static_cast<std::size_t>(f)] = sized->shape()[static_cast<int>(d)];
  }
  if (name == "stablehlo.all_gather" || name == "stablehlo.all_to_all" ||
      name == "stablehlo.reduce_scatter") {
    std::fill(factors.operands.begin(), factors.operands.end(), Dims(factors.operands[0]));
    std::fill(factors.results.begin(), factors.results.end(), Dims(factors.results[0]));
  }
}

// ---- custom calls by their target
// -----------------------------------------------------------------

std::string target_of(const op::Op& op) {
  const ir::Attr* target = op.attrs.find("call_target_name");
  const std::string* name = target == nullptr ? nullptr : std::get_if<std::string>(target);
  return name == nullptr ? "" : *name;
}

/// The first of the largest elements along the last dimension, or along `dim`: the others pass.
Rule top_rule(const op::Op& op, int dim) {
  op::FactorTable t(op);
  Rule out;
  for (int d = 0; d < op.operand(0)->rank(); ++d) {
    std::int64_t size = op.operand(0)->shape()[d];
    int f = t.factor(d == dim ? 'n' : 'p', size);
    out.blocked.push_back(d == dim);
    for (std::size_t i = 0; i < op.operands.size(); ++i)
      if (op.operands[i]->rank() == op.operand(0)->rank()) t.operand(static_cast<int>(i), d, f);
    for (int r = 0; r < op.num_results(); ++r) t.result(r, d, f);
  }
  out.factors = t.take();
  return out;
}

std::optional<Rule> target_rule(const op::Op& op) {
  static constexpr std::string_view kPointwise[] = {
      "MoveToHost",       "MoveToDevice",     "annotate_device_placement",
      "X64Combine",       "X64SplitHigh",     "X64SplitLow",
      "mhlo.erf",         "LayoutConstraint", "InspectSharding",
      "inspect_sharding", "CompactWyHelper",  "xla.megascale.provide_metadata"};
  std::string target = target_of(op);
  if (target == "mhlo.topk") return top_rule(op, op.operand(0)->rank() - 1);
  if (std::find(std::begin(kPointwise), std::end(kPointwise), target) == std::end(kPointwise))
    return std::nullopt;
  Rule out{op::pointwise_factors(op), {}};
  // The state of a generator of random bits is needed whole.
  bool is_state = false;
  for (const auto& other : op.block()->ops())
    is_state = is_state ||
               (other->name() == "stablehlo.rng_bit_generator" && other->operand(0)->op() == &op);
  out.blocked.assign(out.factors.kinds.size(), is_state);
  if (is_state) out.factors.kinds.assign(out.factors.kinds.size(), 'n');
  return out;
}

/// Along what is looked up or wound along nothing spreads; nor along a sorted dimension where
/// no other one could be cut.
bool is_blocked(const op::Op& op, const op::Factors& factors, std::size_t f) {
  if (factors.kinds[f] != 'n') return false;
  const std::string& name = op.name();
  if (name == "stablehlo.sort") {
    for (std::size_t i = 0; i < factors.sizes.size(); ++i)
      if (factors.kinds[i] == 'p' && factors.sizes[i] > 1) return false;
    return true;
  }
  return name == "stablehlo.gather" || name == "stablehlo.rng_bit_generator" ||
         name == "chlo.top_k";
}

}  // namespace

Rule parse_rule(std::string_view text) {
  mesh::Cursor in(text);
  Rule out;
  in.expect("#sdy.op_sharding_rule<");
  out.factors.operands = tensors(in);
  in.expect("->");
  out.factors.results = tensors(in);
  std::map<int, std::int64_t> sizes;
  if (in.consume("{"))
    list(in, "}", [&] {
      std::vector<int> f = factors_of(in, in.word());
      in.expect("=");
      std::int64_t size = in.number();
      if (f.size() == 1) sizes[f[0]] = size;
    });
  auto count = static_cast<int>(sizes.size());
  out.factors.kinds.assign(sizes.size(), 'p');
  out.blocked.assign(sizes.size(), false);
  for (const auto& [f, size] : sizes) {
    if (f < 0 || f >= count) in.fail("factors are numbered without gaps");
    out.factors.sizes.push_back(size);
  }
  auto kinds = [&](auto&& mark) {
    in.expect("=");
    in.expect("{");
    list(in, "}", [&] {
      for (int f : factors_of(in, in.word()))
        if (f < count) mark(static_cast<std::size_t>(f));
    });
  };
  for (bool any = true; any && in.ok();) {
    any = false;
    for (auto [word, letter] :
         {std::pair{"reduction", 'r'}, {"need_replication", 'n'}, {"permutation", 'm'}})
      if (in.consume(word)) {
        kinds([&, letter = letter](std::size_t f) { out.factors.kinds[f] = letter; });
        any = true;
      }
    if (in.consume("blocked_propagation")) {
      kinds([&](std::size_t f) { out.blocked[f] = true; });
      any = true;
    }
  }
  if (in.consume(",")) in.expect("custom");
  in.expect(">");
  for (const auto* side : {&out.factors.operands, &out.factors.results})
    for (const Dims& dims : *side)
      for (const auto& factors : dims)
        for (int f : factors)
          if (f >= count) in.fail("a factor has no size");
  if (!in.ok()) throw Error("sharding_rule", "{}: {}", text, in.status().message());
  return out;
}

std::optional<Rule> rule_of(const op::Op& op) {
  auto is_static = [](const op::Value* v) {
    return v->type().is_tensor() && v->shape().is_static();
  };
  op::Values results = op.results();
  if (!std::all_of(op.operands.begin(), op.operands.end(), is_static) ||
      !std::all_of(results.begin(), results.end(), is_static))
    return std::nullopt;
  const ir::Attr* stated = op.attrs.find("sdy.sharding_rule");
  if (const ir::Opaque* text = stated == nullptr ? nullptr : std::get_if<ir::Opaque>(stated)) {
    Rule out = parse_rule(text->text);
    auto fits = [](const Dims& dims, const op::Value* v) {
      return static_cast<int>(dims.size()) == v->rank();
    };
    if (!std::equal(out.factors.operands.begin(), out.factors.operands.end(), op.operands.begin(),
                    op.operands.end(), fits) ||
        !std::equal(out.factors.results.begin(), out.factors.results.end(), results.begin(),
                    results.end(), fits))
      throw Error("sharding_rule", "{} does not fit {}", text->text, op.name()).at(op.where.text());
    return out;
  }
  if (std::optional<Rule> wider = wider_rule(op)) return wider;
  Rule out;
  if (op::def(op).shard)
    out.factors = (*op::def(op).shard)(op);
  else
    return target_rule(op);
  adjust(op, out.factors);
  for (std::size_t f = 0; f < out.factors.kinds.size(); ++f)
    out.blocked.push_back(is_blocked(op, out.factors, f));
  return out;
}

}  // namespace strata::spmd
