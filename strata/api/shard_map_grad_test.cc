// Gradients within shard_map beside jax.shard_map's (tools/goldens/shard_map_grad.py): of the sum
// of all devices' losses where what varies is followed, each device's own where it is not.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "strata/api/lax/parallel.h"
#include "strata/api/sharding/shard_map.h"
#include "strata/api/testing.h"

namespace strata {
namespace {

const P XY = P{{"x", "y"}}, W = P();
const AxisNames kBoth = {"x", "y"};

Array gathered(const Array& a) { return lax::all_gather(a, "x", {.tiled = true}); }
Array scanned(const Array& w, const Array& v) {
  const auto body = [&](Array c, Array r) {
    return std::pair(c * 0.5f + lax::psum((v * w).sum() * r, "x"), nullptr);
  };
  return scan(body, lax::psum(v.sum(), "x") * 0.f, arange(1, 4).astype(float32)).first;
}

using OfV = std::function<Array(const Array&)>;
using OfBoth = std::function<Array(const Array&, const Array&)>;

const std::map<std::string, OfV>& of_v() {
  static const std::map<std::string, OfV> all = {
      {"local", [](const Array& v) { return (v * v).sum(); }},
      {"psum", [](const Array& v) { return lax::psum((v * v).sum(), kBoth); }},
      {"psum_x", [](const Array& v) { return lax::psum((v * v).sum(), "x"); }},
      {"psum_squared", [](const Array& v) { return square(lax::psum(v.sum(), kBoth)); }},
      {"psum_x_squared", [](const Array& v) { return square(lax::psum(v.sum(), "x")); }},
      {"psum_times_local", [](const Array& v) { return (lax::psum(v, "x") * v).sum(); }},
      {"psum_after_psum",
       [](const Array& v) { return lax::psum(sin(lax::psum(v.sum(), "x")) * v.sum(), "y"); }},
      {"pmean", [](const Array& v) { return lax::pmean((v * v).sum(), kBoth); }},
      {"normalised",
       [](const Array& v) {
         return (v[{slice(0, 1)}] * v / lax::psum((v * v).sum(), kBoth)).sum();
       }},
      {"gathered", [](const Array& v) { return square(gathered(v)).sum(); }},
      {"gathered_times_psum",
       [](const Array& v) { return (gathered(v) * lax::psum(v[{0}], "x")).sum(); }},
      {"scattered",
       [](const Array& v) {
         const Array both = numpy::concatenate({v, v * v}, 0);
         return square(lax::psum_scatter(both, "x", {.tiled = true})).sum();
       }},
      {"permuted",
       [](const Array& v) { return (lax::ppermute(v, "x", {{0, 1}, {1, 0}}) * v).sum(); }},
      {"exchanged",
       [](const Array& v) {
         return (lax::all_to_all(v, "y", 0, 0, {.tiled = true}) * v * v).sum();
       }},
      {"remat",
       [](const Array& v) {
         return remat([](const Array& a) { return lax::psum((a * a * a).sum(), kBoth); })(v);
       }},
  };
  return all;
}

const std::map<std::string, OfBoth>& of_w() {
  static const std::map<std::string, OfBoth> all = {
      {"local", [](const Array& w, const Array& v) { return (v * w).sum(); }},
      {"psum", [](const Array& w, const Array& v) { return lax::psum((v * w).sum(), kBoth); }},
      {"psum_x", [](const Array& w, const Array& v) { return lax::psum((v * w).sum(), "x"); }},
      {"pmean",
       [](const Array& w, const Array& v) { return lax::pmean((v * w * w).sum(), kBoth); }},
      {"twice", [](const Array& w, const Array& v) { return (v * w).sum() * sin(w); }},
      {"psum_of_same", [](const Array& w, const Array&) { return lax::psum(sin(w), "x") * 3.f; }},
      {"psum_of_same_times",
       [](const Array& w, const Array& v) { return lax::psum(sin(w), "x") * v.sum(); }},
      {"scanned", scanned},
      {"alone", [](const Array& w, const Array&) { return sin(w); }},
      {"by_place", [](const Array& w, const Array&) { return w * w * (lax::axis_index("y") + 1); }},
  };
  return all;
}

/// A whole function of both, and what its result's spec says.
struct Case {
  OfBoth f;
  P out;
};
std::map<std::string, Case> cases() {
  std::map<std::string, Case> out;
  for (const auto& [name, f] : of_v())
    out["v." + name] = {[f = f](const Array&, const Array& v) { return grad(f)(v); }, XY};
  for (const auto& [name, f] : of_w()) {
    out["w." + name] = {[f = f](const Array& w, const Array& v) { return grad(f)(w, v); }, W};
    out["w." + name + ".each"] = {[f = f](const Array& w, const Array& v) {
                                    return numpy::reshape(grad(f)(w, v), {1}) +
                                           v[{slice(0, 1)}] * 0.f;
                                  },
                                  XY};
  }
  out["fsdp"] = {[](const Array&, const Array& v) {
                   const auto loss = [&](const Array& a) { return (sin(a) * v[{0}]).sum(); };
                   return lax::psum_scatter(grad(loss)(gathered(v)), "x", {.tiled = true});
                 },
                 XY};
  out["vjp"] = {[](const Array& w, const Array& v) {
                  const auto [y, pull] = vjp([&](const Array& a) { return a * v; }, w);
                  return std::get<0>(pull(v));
                },
                W};
  out["second"] = {[](const Array& w, const Array& v) {
                     return grad([&](const Array& a) {
                       return square(grad(
                           [&](const Array& c) { return lax::psum(sin(v * c).sum(), kBoth); })(a));
                     })(w);
                   },
                   W};
  out["by_vmap"] = {[](const Array& w, const Array& v) {
                      return vmap([&](const Array& a) {
                        return grad([&](const Array& c) { return sin(v * c).sum(); })(a);
                      })(w * arange(3).astype(float32));
                    },
                    W};
  return out;
}

std::map<std::string, std::vector<double>> goldens() {
  std::ifstream in(std::filesystem::path(__FILE__).parent_path() / "goldens/shard_map_grad.txt");
  std::map<std::string, std::vector<double>> out;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string name, kind;
    words >> name >> kind;
    std::vector<double>& numbers = out[name + " " + kind];
    for (double x = 0; words >> x;) numbers.push_back(x);
  }
  return out;
}

struct Given {
  Mesh mesh = make_mesh({{"x", 2}, {"y", 2}});
  Array w = array(1.5f), v = arange(8).astype(float32) / 4.f + 1.f;
};

void expect_numbers(const Array& got, const std::vector<double>& want) {
  const Array whole = device_get(got);
  ASSERT_EQ(static_cast<std::size_t>(whole.size()), want.size());
  const std::vector<float> have = numpy::ravel(whole).to_vector<float>();
  for (std::size_t i = 0; i < want.size(); ++i)
    EXPECT_NEAR(have[i], want[i], 2e-5 * std::max(1.0, std::abs(want[i]))) << "element " << i;
}

TEST(ShardMapGrad, WithinIsAsJax) {
  cpu_devices(8);
  const Given given;
  const auto want = goldens();
  std::size_t seen = 0;
  for (const auto& [name, each] : cases())
    for (bool follows : {true, false}) {
      const auto it = want.find(name + (follows ? " vma" : " free"));
      if (it == want.end()) continue;
      SCOPED_TRACE(it->first);
      ++seen;
      const auto mapped = shard_map(
          each.f,
          {.mesh = given.mesh, .in_specs = {W, XY}, .out_specs = each.out, .check_vma = follows});
      expect_numbers(mapped(given.w, given.v), it->second);
    }
  EXPECT_EQ(seen + 1, want.size());
}

TEST(ShardMapGrad, OfAGradientWithin) {
  cpu_devices(8);
  const Given given;
  const auto inside =
      shard_map([](const Array& w, const Array& v) { return grad(of_w().at("twice"))(w, v); },
                {.mesh = given.mesh, .in_specs = {W, XY}, .out_specs = W});
  const Array of_second =
      grad<1>([&](const Array& w, const Array& v) { return inside(w, v); })(given.w, given.v);
  expect_numbers(of_second, goldens().at("outside vma"));
}

}  // namespace
}  // namespace strata
