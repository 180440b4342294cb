#include "strata/api/lax/staging.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <set>

#include "strata/api/trace/compose.h"

namespace strata::lax {
namespace {

using internal::Builder;
using internal::describe;
using internal::fail;
using internal::Site;
using internal::Value;
using internal::Values;

/// `"data"=2, "model"=4`
std::string mesh_text(const NamedSharding& s) {
  std::string out;
  for (const auto& [axis, size] : s.mesh)
    out += fmt::format("{}\"{}\"={}", out.empty() ? "" : ", ", axis, size);
  return out;
}

void check_axes(const NamedSharding& s) {
  std::set<std::string> used;
  for (const PartitionDim& d : s.spec)
    for (const std::string& axis : d.axes()) {
      const bool known =
          std::any_of(s.mesh.begin(), s.mesh.end(), [&](const auto& a) { return a.first == axis; });
      if (!known)
        fail("with_sharding_constraint", "the mesh <{}> has no axis \"{}\"", mesh_text(s), axis);
      if (!used.insert(axis).second)
        fail("with_sharding_constraint", "axis \"{}\" cuts twice", axis);
    }
}

/// `#sdy.sharding<mesh<["data"=2]>, [{"data"}, {}]>`
std::string sharding_text(const NamedSharding& s, int rank) {
  std::string dims;
  for (int d = 0; d < rank; ++d) {
    std::string axes;
    if (const auto i = static_cast<std::size_t>(d); i < s.spec.size()) {
      for (const std::string& axis : s.spec[i].axes())
        axes += fmt::format("{}\"{}\"", axes.empty() ? "" : ", ", axis);
      if (s.spec[i].is_open()) axes = "?";
    }
    dims += fmt::format("{}{{{}}}", d ? ", " : "", axes);
  }
  return fmt::format("#sdy.sharding<mesh<[{}]>, [{}]>", mesh_text(s), dims);
}

/// With as many digits as the number needs.
std::string float_text(double v) {
  const std::string few = fmt::format("{:e}", v);
  return std::stod(few) == v ? few : fmt::format("{:.16e}", v);
}

std::string attribute_text(const CompositeAttribute& a) {
  struct {
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(std::int64_t v) const { return fmt::format("{} : i64", v); }
    std::string operator()(double v) const { return float_text(v) + " : f64"; }
    std::string operator()(const std::string& v) const { return fmt::format("\"{}\"", v); }
    std::string operator()(const std::vector<std::int64_t>& v) const {
      return fmt::format("[{}]", fmt::join(v, ", "));
    }
  } text;
  return std::visit(text, a);
}

std::string attributes_text(const std::map<std::string, CompositeAttribute>& attributes) {
  std::string out;
  for (const auto& [name, value] : attributes)
    out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", name, attribute_text(value));
  return "{" + out + "}";
}

}  // namespace

Array create_token(Where where) {
  Site site(where);
  if (!internal::Trace::current()) return Array(Literal(Type::token()));
  return internal::emit_one({}, false, [](Builder& b, const Values&) {
    return b.create("stablehlo.create_token", Values{}).result();
  });
}

Array after_all(const std::vector<Array>& tokens, Where where) {
  Site site(where);
  for (const Array& t : tokens)
    if (!t.type().is_token()) fail("after_all", "tokens are needed, got {}", describe(t.type()));
  if (!internal::Trace::current()) return Array(Literal(Type::token()));
  return internal::emit_one(tokens, false, [](Builder& b, const Values& v) {
    return b.create("stablehlo.after_all", v).result();
  });
}

void detail::dce_sink(std::span<const Array> values, const DceSink& options) {
  if (!options.prevent_mlir_dce || !internal::Trace::current()) return;
  for (const Array& x : values)
    internal::emit(std::span(&x, 1), [](Builder& b, const Values& v) {
      const ir::OpInfo& call = *ir::Registry::global().find("stablehlo.custom_call");
      return b
          .create(call, v,
                  {{"call_target_name", std::string("dce_sink")}, {"has_side_effect", true}}, {},
                  {})
          .results();
    });
}

Array with_sharding_constraint(const Operand& x, const NamedSharding& s) {
  Site site(x);
  if (s.spec.size() > static_cast<std::size_t>(x->ndim()))
    fail("with_sharding_constraint", "{} dimensions are said of {}", s.spec.size(),
         describe(x->type()));
  check_axes(s);
  return internal::emit_one({x.array}, x->weak(), [&](Builder& b, const Values& v) {
    return b
        .create("sdy.sharding_constraint", v,
                {{"sharding", ir::Opaque{sharding_text(s, v[0]->rank())}}})
        .result();
  });
}

void detail::check_branch(const internal::Program& chosen, const internal::Program& other) {
  const std::vector<Type> expected = chosen.block->result_types(),
                          got = other.block->result_types();
  if (got.size() != expected.size())
    fail("platform_dependent", "functions return {} and {} arrays", expected.size(), got.size());
  for (std::size_t r = 0; r < got.size(); ++r)
    if (!(got[r] == expected[r]))
      fail("platform_dependent", "result {} is {} on one platform and {} on another", r,
           describe(expected[r]), describe(got[r]));
}

std::vector<Array> detail::composite(const internal::Program& p, std::span<const Array> arguments,
                                     const std::string& name, const Composite& options) {
  static const std::regex kName("[a-zA-Z][a-zA-Z0-9_]*([.][a-zA-Z0-9_$]+)+");
  if (!std::regex_match(name, kName))
    fail("composite", "the name \"{}\" has no dialect in front, as \"my.name\" has", name);
  for (const Array& c : p.captured)
    if (c.is_traced())
      fail("composite",
           "the function of {} uses a traced array from outside, {}; give it as an argument", name,
           describe(c.type()));
  if (!internal::Trace::current()) return internal::call(p, arguments);
  const std::vector<Array> operands =
      internal::joined(std::vector<Array>(arguments.begin(), arguments.end()), p.captured);
  return internal::emit(
      operands,
      [&](Builder& b, const Values& v) {
        std::vector<std::unique_ptr<ir::Block>> regions;
        regions.push_back(ir::clone(*p.block));
        return b
            .create("strata.composite", v,
                    {{"name", name},
                     {"version", options.version},
                     {"composite_attributes", ir::Opaque{attributes_text(options.attributes)}}},
                    std::move(regions))
            .results();
      },
      p.weak);
}

}  // namespace strata::lax
