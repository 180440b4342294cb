// How results are sharded in explicit mode, and what is refused, case by case as JAX decides it
// (tools/goldens/explicit_sharding.py); and the numbers of those that are accepted are those of the
// same function on one device.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "strata/api/sharding/explicit.h"
#include "strata/api/testing.h"

namespace strata {
namespace {

using P = PartitionSpec;
using Arrays = std::vector<Array>;
using Case = std::function<Array(const Arrays&)>;

const PartitionSpec kUnreduced = P{}.with_unreduced({"x"}), kReduced = P{}.with_reduced({"x"});

const std::map<std::string, Case>& operations() {
  static const std::map<std::string, Case> all = {
      {"add", [](const Arrays& v) { return v[0] + v[1]; }},
      {"mul_sin", [](const Arrays& v) { return sin(v[0]) * v[1]; }},
      {"compare", [](const Arrays& v) { return v[0] < v[1]; }},
      {"select", [](const Arrays& v) { return where(v[0] > 0, v[1], v[2]); }},
      {"neg", [](const Arrays& v) { return -v[0]; }},
      {"exp", [](const Arrays& v) { return exp(v[0]); }},
      {"add_scalar", [](const Arrays& v) { return v[0] + 1.0f; }},
      {"cast", [](const Arrays& v) { return v[0].astype(int32); }},
      {"clip", [](const Arrays& v) { return clip(v[0], 0.0f, 1.0f); }},
      {"matmul", [](const Arrays& v) { return matmul(v[0], v[1]); }},
      {"einsum_bij_bjk", [](const Arrays& v) { return einsum("bij,bjk->bik", v[0], v[1]); }},
      {"einsum_ij_jk_ki", [](const Arrays& v) { return einsum("ij,jk->ki", v[0], v[1]); }},
      {"sum_0", [](const Arrays& v) { return v[0].sum(0); }},
      {"sum_1", [](const Arrays& v) { return v[0].sum(1); }},
      {"sum_all", [](const Arrays& v) { return v[0].sum(); }},
      {"mean_1", [](const Arrays& v) { return v[0].mean(1); }},
      {"max_0", [](const Arrays& v) { return v[0].max(0); }},
      {"prod_1", [](const Arrays& v) { return v[0].prod(1); }},
      {"argmax_0", [](const Arrays& v) { return v[0].argmax(0); }},
      {"argmax_1", [](const Arrays& v) { return v[0].argmax(1); }},
      {"sum_keep", [](const Arrays& v) { return v[0].sum({.axis = 1, .keepdims = true}); }},
      {"softmax", [](const Arrays& v) { return nn::softmax(v[0], 1); }},
      {"transpose", [](const Arrays& v) { return v[0].T(); }},
      {"transpose_201", [](const Arrays& v) { return transpose(v[0], {2, 0, 1}); }},
      {"expand_0", [](const Arrays& v) { return expand_dims(v[0], 0); }},
      {"expand_1", [](const Arrays& v) { return expand_dims(v[0], 1); }},
      {"squeeze_0", [](const Arrays& v) { return squeeze(v[0], 0); }},
      {"broadcast_to_3_8_16", [](const Arrays& v) { return broadcast_to(v[0], {3, 8, 16}); }},
      {"ravel", [](const Arrays& v) { return v[0].reshape(-1); }},
      {"reshape_4_2_16", [](const Arrays& v) { return v[0].reshape(4, 2, 16); }},
      {"reshape_2_4_16", [](const Arrays& v) { return v[0].reshape(2, 4, 16); }},
      {"reshape_8_4_4", [](const Arrays& v) { return v[0].reshape(8, 4, 4); }},
      {"reshape_16_8", [](const Arrays& v) { return v[0].reshape(16, 8); }},
      {"reshape_8_1_16", [](const Arrays& v) { return v[0].reshape(8, 1, 16); }},
      {"reshape_32_4", [](const Arrays& v) { return v[0].reshape(32, 4); }},
      {"slice_rows_0_4", [](const Arrays& v) { return lax::slice(v[0], {0, 0}, {4, 16}); }},
      {"slice_rows_0_3", [](const Arrays& v) { return lax::slice(v[0], {0, 0}, {3, 16}); }},
      {"slice_columns_0_8", [](const Arrays& v) { return lax::slice(v[0], {0, 0}, {8, 8}); }},
      {"slice_columns_0_7", [](const Arrays& v) { return lax::slice(v[0], {0, 0}, {8, 7}); }},
      {"slice_every_2", [](const Arrays& v) { return lax::slice(v[0], {0, 0}, {8, 16}, {2, 2}); }},
      {"pad_columns_1_1",
       [](const Arrays& v) { return lax::pad(v[0], 0.0f, {{0, 0, 0}, {1, 1, 0}}); }},
      {"pad_rows_1_0",
       [](const Arrays& v) { return lax::pad(v[0], 0.0f, {{1, 0, 0}, {0, 0, 0}}); }},
      {"flip_0", [](const Arrays& v) { return flip(v[0], 0); }},
      {"concatenate_0", [](const Arrays& v) { return concatenate({v[0], v[1]}, 0); }},
      {"concatenate_1", [](const Arrays& v) { return concatenate({v[0], v[1]}, 1); }},
      {"stack", [](const Arrays& v) { return stack({v[0], v[1]}); }},
      {"sort_0", [](const Arrays& v) { return lax::sort(v[0], 0); }},
      {"sort_1", [](const Arrays& v) { return lax::sort(v[0], 1); }},
      {"cumsum_0", [](const Arrays& v) { return lax::cumsum(v[0], 0); }},
      {"cumsum_1", [](const Arrays& v) { return lax::cumsum(v[0], 1); }},
      {"dynamic_slice", [](const Arrays& v) { return lax::dynamic_slice(v[0], {1, 2}, {8, 8}); }},
      {"dynamic_slice_rows",
       [](const Arrays& v) { return lax::dynamic_slice(v[0], {1, 2}, {2, 16}); }},
      {"dynamic_update_slice",
       [](const Arrays& v) { return lax::dynamic_update_slice(v[0], v[1], {0, 0}); }},
      {"take_rows", [](const Arrays& v) { return v[0][{v[1].astype(int32)}]; }},
      {"scatter_rows", [](const Arrays& v) { return v[0].at({v[1].astype(int32)}).add(v[2]); }},
      {"reduce_window",
       [](const Arrays& v) {
         return lax::reduce_window(v[0], 0.0f, [](Array a, Array b) { return a + b; }, {1, 2},
                                   {.window_strides = {1, 2}});
       }},
      {"scan_carry",
       [](const Arrays& v) {
         return scan([](Array c, std::nullptr_t) { return std::pair(c * 2, c.sum(1)); }, v[0],
                     nullptr, {.length = 3})
             .first;
       }},
      {"scan_ys",
       [](const Arrays& v) {
         return scan([](Array c, std::nullptr_t) { return std::pair(c * 2, c.sum(1)); }, v[0],
                     nullptr, {.length = 3})
             .second;
       }},
      {"scan_rows",
       [](const Arrays& v) {
         return scan([](Array c, Array r) { return std::pair(c, r * 2); }, Array(0.0f), v[0])
             .second;
       }},
      {"scan_changes",
       [](const Arrays& v) {
         return scan([](Array c, std::nullptr_t) { return std::pair(c.T(), nullptr); }, v[0],
                     nullptr, {.length = 2})
             .first;
       }},
      {"cond",
       [](const Arrays& v) {
         return cond(
             v[0].sum() < 1e9f, [](Array a, Array) { return a * 2; },
             [](Array, Array b) { return b + 1; }, v[0], v[1]);
       }},
      {"while",
       [](const Arrays& v) {
         return while_loop([](Array c) { return c.sum() < 3; }, [](Array c) { return c * 2; },
                           v[0]);
       }},
      {"grad_sum_sin",
       [](const Arrays& v) { return grad([](Array a) { return sin(a).sum(); })(v[0]); }},
      {"grad_matmul",
       [](const Arrays& v) { return grad([&](Array a) { return matmul(a, v[1]).sum(); })(v[0]); }},
      {"grad_matmul_right",
       [](const Arrays& v) {
         return grad([&](Array b) { return sin(matmul(v[0], b)).sum(); })(v[1]);
       }},
      {"vmap_sin", [](const Arrays& v) { return vmap([](Array r) { return sin(r); })(v[0]); }},
      {"vmap_sum", [](const Arrays& v) { return vmap([](Array r) { return r.sum(); })(v[0]); }},
      {"vmap_columns",
       [](const Arrays& v) {
         return vmap([](Array c) { return c * 2; }, {.in_axes = 1, .out_axes = 1})(v[0]);
       }},
      {"vmap_matmul",
       [](const Arrays& v) {
         return vmap([](Array r, Array b) { return matmul(r, b); }, {.in_axes = {0, none}})(v[0],
                                                                                            v[1]);
       }},
      {"sub", [](const Arrays& v) { return v[0] - v[1]; }},
      {"mul", [](const Arrays& v) { return v[0] * v[1]; }},
      {"div", [](const Arrays& v) { return v[0] / v[1]; }},
      {"maximum", [](const Arrays& v) { return maximum(v[0], v[1]); }},
      {"sin", [](const Arrays& v) { return sin(v[0]); }},
      {"astype_f16", [](const Arrays& v) { return v[0].astype(float16); }},
      {"mul_scalar", [](const Arrays& v) { return v[0] * 2.0f; }},
      {"div_scalar", [](const Arrays& v) { return v[0] / 2.0f; }},
      {"broadcast_to_8_16_3",
       [](const Arrays& v) { return broadcast_to(expand_dims(v[0], 2), {8, 16, 3}); }},
      {"where", [](const Arrays& v) { return where(ones({8, 16}).astype(bool_), v[0], v[1]); }},
      {"transposed", [](const Arrays& v) { return v[0].T(); }},
      {"dynamic_update",
       [](const Arrays& v) { return lax::dynamic_update_slice(v[0], v[1], {0, 0}); }},
      {"reshard_whole", [](const Arrays& v) { return reshard(v[0], P{}); }},
      {"reshard_x", [](const Arrays& v) { return reshard(v[0], P{"x", nullptr}); }},
      {"reshard_unreduced_x", [](const Arrays& v) { return reshard(v[0], kUnreduced); }},
      {"reshard_reduced_x", [](const Arrays& v) { return reshard(v[0], kReduced); }},
      {"reshard_y_unreduced_x",
       [](const Arrays& v) { return reshard(v[0], P{nullptr, "y"}.with_unreduced({"x"})); }},
      {"grad_reshard_reduced_x",
       [](const Arrays& v) {
         return grad([](const Array& a) { return sin(reshard(a, kReduced)).sum(); })(v[0]);
       }},
      {"dot_out_unreduced_x",
       [](const Arrays& v) { return dot(v[0], v[1], OutSharding(kUnreduced)); }},
      {"dot_out_unreduced_xy",
       [](const Arrays& v) {
         return dot(v[0], v[1], OutSharding(P{}.with_unreduced({"x", "y"})));
       }},
      {"dot_out_reduced_x", [](const Arrays& v) { return dot(v[0], v[1], OutSharding(kReduced)); }},
      {"einsum_out_y_unreduced_x",
       [](const Arrays& v) {
         return einsum("ij,jk->ik", {v[0], v[1]},
                       OutSharding(P{nullptr, "y"}.with_unreduced({"x"})));
       }},
      {"einsum_ki_out_unreduced_x",
       [](const Arrays& v) { return einsum("ij,jk->ki", {v[0], v[1]}, OutSharding(kUnreduced)); }},
      {"sum_0_out_unreduced_x",
       [](const Arrays& v) { return sum(v[0], 0, OutSharding(kUnreduced)); }},
      {"sum_1_out_unreduced_x",
       [](const Arrays& v) { return sum(v[0], 1, OutSharding(kUnreduced)); }},
      {"sum_0_out_whole", [](const Arrays& v) { return sum(v[0], 0, OutSharding(P{})); }},
      {"reshape_out_unreduced_x",
       [](const Arrays& v) { return reshape(v[0], {16, 8}, OutSharding(kUnreduced)); }},
      {"reshape_out_whole",
       [](const Arrays& v) { return reshape(v[0], {16, 8}, OutSharding(P{})); }},
      {"grad_dot_right",
       [](const Arrays& v) {
         return grad([&](const Array& b) { return sin(dot(v[0], b)).sum(); })(v[1]);
       }},
      {"grad_mul_right",
       [](const Arrays& v) {
         return grad([&](const Array& b) { return sin(v[0] * b).sum(); })(v[1]);
       }},
      {"grad_identity",
       [](const Arrays& v) {
         return std::get<0>(
             vjp([](const Array& a) { return reshard(a, P{}); }, v[0]).second(ones({8, 16})));
       }},
      {"scan_adds",
       [](const Arrays& v) {
         return scan([&](Array c, std::nullptr_t) { return std::pair(c + v[1], nullptr); }, v[0],
                     nullptr, {.length = 3})
             .first;
       }},
      {"cond_either",
       [](const Arrays& v) {
         return cond(
             true, [](Array a, Array) { return a; }, [](Array, Array b) { return b; }, v[0], v[1]);
       }},
  };
  return all;
}

struct Golden {
  std::string line, operation, expected;
  std::vector<std::vector<std::int64_t>> shapes;
  std::vector<PartitionSpec> specs;
};

/// The names after `what`, "{'x', 'y'}".
std::set<std::string> parse_names(const std::string& text, const std::string& what) {
  std::set<std::string> out;
  const std::size_t at = text.find(what);
  if (at == std::string::npos) return out;
  for (std::size_t i = at; text[i] != '}'; ++i)
    if (text[i] == '\'') {
      out.insert(text.substr(i + 1, 1));
      i += 2;
    }
  return out;
}

/// "P('x', ('x', 'y'), None, unreduced={'x'})"
PartitionSpec parse_spec(const std::string& whole) {
  std::vector<mesh::SpecEntry> entries;
  bool within = false;
  const std::string text =
      whole.substr(0, std::min(whole.find(" unreduced="), whole.find(" reduced=")));
  for (std::size_t i = 2; i < text.size(); ++i) {
    if (text[i] == '(') within = true, entries.emplace_back();
    if (text[i] == ')') within = false;
    if (text.compare(i, 4, "None") == 0) entries.emplace_back();
    if (text[i] != '\'') continue;
    if (!within) entries.emplace_back();
    entries.back().axes.push_back(text.substr(i + 1, 1));
    i += 2;
  }
  return PartitionSpec(entries)
      .with_unreduced(parse_names(whole, "unreduced="))
      .with_reduced(parse_names(whole, " reduced="));
}

std::vector<Golden> goldens() {
  std::ifstream in(std::filesystem::path(__FILE__).parent_path() / "goldens/explicit_sharding.txt");
  std::vector<Golden> out;
  for (std::string line; std::getline(in, line);) {
    if (line[0] == '#') continue;
    const std::size_t first = line.find(" | "), second = line.find(" | ", first + 1);
    Golden g{line, line.substr(0, first), line.substr(second + 3), {}, {}};
    std::size_t at = first;
    while ((at = line.find("f32[", at)) < second) {
      const std::size_t close = line.find(']', at);
      std::istringstream sizes(line.substr(at + 4, close - at - 4));
      auto& shape = g.shapes.emplace_back();
      for (std::string n; std::getline(sizes, n, ',');) shape.push_back(std::stoll(n));
      const std::size_t next = std::min(line.find(" f32[", close), second);
      g.specs.push_back(parse_spec(line.substr(close + 1, next - close - 1)));
      at = next;
    }
    out.push_back(std::move(g));
  }
  return out;
}

Array some(const std::vector<std::int64_t>& shape) {
  std::int64_t n = 1;
  for (std::int64_t s : shape) n *= s;
  return (arange(n) % 7 - 2).astype(float32).reshape(Sizes(shape));
}

/// What came of it, as the goldens say it.
std::string outcome(const Golden& g, const Mesh& mesh) {
  // One device, of which the same is said.
  const Mesh one = make_mesh({{"x", 1, AxisType::Explicit}, {"y", 1, AxisType::Explicit}});
  Arrays placed, alone;
  for (std::size_t i = 0; i < g.shapes.size(); ++i) {
    const Array x = some(g.shapes[i]);
    placed.push_back(device_put(x, NamedSharding(mesh, g.specs[i])));
    alone.push_back(device_put(x, NamedSharding(one, g.specs[i])));
  }
  const Case& f = operations().at(g.operation);
  try {
    PartitionSpec inside;
    const Array y = jit([&](const Arrays& v) {
      set_mesh around(mesh);
      const Array out = f(v);
      if (has_sharding_in_type(out)) inside = spec_of_type(out);
      return out;
    })(placed);
    const Array expected = [&] {
      set_mesh around(one);
      return device_get(jit([&](const Arrays& v) { return reshard(f(v), P{}); })(alone));
    }();
    // Sums that are cut are added in another order.
    EXPECT_TRUE(numpy::allclose(device_get(reshard(y, P{})), expected,
                                {.rtol = 1e-5, .atol = 1e-6, .equal_nan = true})
                    .item<bool>())
        << g.line;
    if (has_sharding_in_type(y)) {
      EXPECT_EQ(spec_of_type(y).to_string(), inside.to_string()) << g.line;
    }
    return inside.to_string();
  } catch (const Error& e) {
    return std::string("error ") + e.what();
  }
}

TEST(ExplicitGolden, ResultsLieAsJaxs) {
  cpu_devices(8);
  const Mesh mesh = make_mesh({{"x", 4, AxisType::Explicit}, {"y", 2, AxisType::Explicit}});
  const std::vector<Golden> all = goldens();
  EXPECT_GE(all.size(), 700u);
  for (const Golden& g : all) {
    const std::string got = outcome(g, mesh);
    if (g.expected.starts_with("error")) {
      EXPECT_TRUE(got.starts_with("error")) << g.line << "\n  got " << got;
    } else {
      EXPECT_EQ(got, g.expected) << g.line;
    }
  }
}

}  // namespace
}  // namespace strata
