// What functions make where no dtype is given: 32 bits, and 64 under EnableX64, as jax_enable_x64
// has it.
#include "strata/api/testing.h"

namespace strata {
namespace {

using testing::expect_array;
using testing::type_of;

const char* real() { return x64_enabled() ? "f64" : "f32"; }
const char* whole() { return x64_enabled() ? "i64" : "i32"; }
std::string dtype_of(const Array& x) { return std::string(name(x.dtype())); }

void expect_floats(const std::vector<std::pair<const char*, Array>>& made) {
  for (const auto& [name, x] : made) EXPECT_EQ(dtype_of(x), real()) << name;
}
void expect_integers(const std::vector<std::pair<const char*, Array>>& made) {
  for (const auto& [name, x] : made) EXPECT_EQ(dtype_of(x), whole()) << name;
}

void check_creation() {
  expect_floats({{"zeros", zeros({2})},
                 {"ones", ones({2})},
                 {"empty", numpy::empty({2})},
                 {"full", full({2}, 1.5)},
                 {"eye", eye(2)},
                 {"identity", numpy::identity(2)},
                 {"tri", numpy::tri(2)},
                 {"linspace", linspace(0, 1, 3)},
                 {"logspace", numpy::logspace(0, 1, 3)},
                 {"geomspace", numpy::geomspace(1, 2, 3)},
                 {"arange", arange(0.0, 2.0)},
                 {"hamming", numpy::hamming(3)},
                 {"fromfunction", numpy::fromfunction([](Array i) { return i; }, {2})},
                 {"one_hot", nn::one_hot(arange(2), 2)},
                 {"array", array({1.5, 2.0})}});
  expect_integers({{"full", full({2}, 1)},
                   {"arange", arange(3)},
                   {"indices", numpy::indices({2, 2})},
                   {"sparse_indices", numpy::sparse_indices({2})[0]},
                   {"hadamard", scipy::linalg::hadamard(2)},
                   {"array", array({1, 2})}});
}

void check_places() {
  const Array x = array({3.f, 1.f, 2.f});
  expect_integers({{"argsort", numpy::argsort(x)},
                   {"lexsort", numpy::lexsort({x, x})},
                   {"argmax", argmax(x)},
                   {"nonzero", numpy::nonzero(x)[0]},
                   {"count_nonzero", numpy::count_nonzero(x)},
                   {"bincount", numpy::bincount(array({1, 2}))},
                   {"cumsum", cumsum(array({true}))}});
  // Upstream's are of 32 bits whatever the switch says.
  for (const Array& i : {numpy::searchsorted(x, x), numpy::argpartition(x, 1),
                         numpy::digitize(x, x), lax::top_k(x, 2).second})
    EXPECT_EQ(type_of(i).substr(0, 3), "i32");
}

void check_random() {
  namespace r = random;
  const r::Key key = r::key(7);
  const Array half = array(0.5f), one = array(1.f);
  expect_floats({{"uniform", r::uniform(key, 2)},
                 {"normal", r::normal(key, 2)},
                 {"truncated_normal", r::truncated_normal(key, -1, 1, 2)},
                 {"cauchy", r::cauchy(key, 2)},
                 {"exponential", r::exponential(key, 2)},
                 {"laplace", r::laplace(key, 2)},
                 {"logistic", r::logistic(key, 2)},
                 {"gumbel", r::gumbel(key, 2)},
                 {"pareto", r::pareto(key, one)},
                 {"rayleigh", r::rayleigh(key, one)},
                 {"maxwell", r::maxwell(key, 2)},
                 {"double_sided_maxwell", r::double_sided_maxwell(key, 0.f, 1.f, 2)},
                 {"wald", r::wald(key, one)},
                 {"weibull_min", r::weibull_min(key, 1.f, 1.f, 2)},
                 {"triangular", r::triangular(key, 0.f, half, one)},
                 {"lognormal", r::lognormal(key, 1.f, 2)},
                 {"gamma", r::gamma(key, one)},
                 {"loggamma", r::loggamma(key, one)},
                 {"beta", r::beta(key, one, one)},
                 {"dirichlet", r::dirichlet(key, array({1.f, 2.f}))},
                 {"chisquare", r::chisquare(key, one)},
                 {"t", r::t(key, one)},
                 {"f", r::f(key, one, one)},
                 {"generalized_normal", r::generalized_normal(key, one, 2)},
                 {"ball", r::ball(key, 3)},
                 {"binomial", r::binomial(key, array(3.f), half)},
                 {"multinomial", r::multinomial(key, array(3.f), array({0.5f, 0.5f}))}});
  expect_integers({{"randint", r::randint(key, 2, 0, 9)},
                   {"rademacher", r::rademacher(key, 2)},
                   {"geometric", r::geometric(key, half)},
                   {"poisson", r::poisson(key, array({3.f, 30.f}))},
                   {"categorical", r::categorical(key, array({1.f, 2.f}))},
                   {"permutation", r::permutation(key, 4)}});
  EXPECT_EQ(dtype_of(r::bits(key, 2)), x64_enabled() ? "ui64" : "ui32");
  for (const auto& init :
       {nn::initializers::lecun_normal(), nn::initializers::uniform(), nn::initializers::normal(),
        nn::initializers::constant(2.0), nn::Initializer(nn::initializers::zeros)})
    EXPECT_EQ(dtype_of(init(key, {2, 3})), real());
}

TEST(X64, DefaultsFollowTheSwitch) {
  for (bool on : {false, true}) {
    SCOPED_TRACE(on);
    const EnableX64 wide(on);
    check_creation();
    check_places();
    check_random();
  }
}

TEST(X64, NumbersAreUpstreams) {
  const EnableX64 wide;
  const random::Key key = random::key(7);
  EXPECT_EQ(
      random::uniform(key, 3).to_vector<double>(),
      (std::vector<double>{0x1.b02ec916e90c8p-1, 0x1.740517fe440a0p-5, 0x1.ccc4bd4ba0fd8p-3}));
  expect_array(random::normal(key, 3), "f64[3]",
               {0x1.02f070d8bd9d2p+0, -0x1.b0e95e22ccc17p+0, -0x1.82cc7a417f69ap-1}, 1e-15);
  EXPECT_EQ(random::bits(random::key(0), 2).to_vector<std::uint64_t>(),
            (std::vector<std::uint64_t>{7719171245655871230u, 3989946895414531357u}));
  expect_array(random::randint(random::key(0), 3, 0, 10), "i64[3]", {5, 1, 5});
  expect_array(random::poisson(random::key(0), 3.f, 3), "i64[3]", {0, 0, 4});
  expect_array(random::geometric(random::key(0), 0.5f, 3), "i64[3]", {2, 3, 1});
  expect_array(random::rademacher(random::key(0), 3), "i64[3]", {1, 1, -1});
  expect_array(random::permutation(random::key(0), 5), "i64[5]", {0, 1, 4, 3, 2});
}

TEST(X64, ReachesTraces) {
  const auto f =
      jit([] { return std::pair(zeros({2}) + random::uniform(random::key(1), 2), arange(2)); });
  EXPECT_EQ(type_of(f().first), "f32[2]");
  const EnableX64 wide;
  EXPECT_EQ(type_of(f().first), "f64[2]");
  EXPECT_EQ(type_of(f().second), "i64[2]");
}

}  // namespace
}  // namespace strata
