#include "strata/partition/rule.h"

#include <algorithm>
#include <map>
#include <string>

#include "strata/base/error.h"
#include "strata/mesh/cursor.h"
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

bool is_placement(const op::Op& op) {
  const ir::Attr* target = op.attrs.find("call_target_name");
  const std::string* name = target == nullptr ? nullptr : std::get_if<std::string>(target);
  return name != nullptr &&
         (*name == "MoveToHost" || *name == "MoveToDevice" || *name == "annotate_device_placement");
}

/// Along what is looked up or wound along nothing spreads; nor along a sorted dimension, unless no
/// other one could be cut.
bool is_blocked(const op::Op& op, const op::Factors& factors, std::size_t f) {
  if (factors.kinds[f] != 'n') return false;
  const std::string& name = op.name();
  if (name == "stablehlo.sort") {
    for (std::size_t i = 0; i < factors.sizes.size(); ++i)
      if (factors.kinds[i] == 'p' && factors.sizes[i] > 1) return true;
    return false;
  }
  return name == "stablehlo.dynamic_slice" || name == "stablehlo.dynamic_update_slice" ||
         name == "stablehlo.gather" || name == "stablehlo.rng_bit_generator" ||
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
  Rule out;
  if (op::def(op).shard)
    out.factors = (*op::def(op).shard)(op);
  else if (is_placement(op))
    out.factors = op::pointwise_factors(op);
  else
    return std::nullopt;
  for (std::size_t f = 0; f < out.factors.kinds.size(); ++f)
    out.blocked.push_back(is_blocked(op, out.factors, f));
  return out;
}

}  // namespace strata::spmd
