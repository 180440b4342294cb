// Calls of lax, nn, random, scipy, ops, tree, optim and the transforms, each with what it gives:
// the reference shows them beside the signatures (tools/reference.py), and the tests compare what
// this prints with the .txt beside it.
#include <strata/core.h>

#include "examples.h"
#include "strata/optim/optim.h"

using namespace strata;

namespace {

void lax_elementwise() {
  SHOW(lax::abs(array({-1.5f, 2.0f})));
  SHOW(lax::neg(array({-1, 2})));
  SHOW(lax::sign(array({-2.5f, 3.0f})));
  SHOW(lax::square(array({-3, 4})));
  SHOW(lax::sqrt(array({4.0f, 2.0f})));
  SHOW(lax::rsqrt(array({4.0f, 2.0f})));
  SHOW(lax::cbrt(array({-8.0f, 27.0f})));
  SHOW(lax::reciprocal(array({4.0f, 0.5f})));
  SHOW(lax::exp(array({0.0f, 1.0f})));
  SHOW(lax::exp2(array({3.0f, 0.5f})));
  SHOW(lax::expm1(array({1e-5f, 1.0f})));
  SHOW(lax::log(array({1.0f, 10.0f})));
  SHOW(lax::log1p(array({1e-5f, 1.0f})));
  SHOW(lax::logistic(array({0.0f, 1.0f})));
  SHOW(lax::cos(array({0.0f, 1.0f})));
  SHOW(lax::sin(array({0.0f, 1.0f})));
  SHOW(lax::tan(array({0.0f, 1.0f})));
  SHOW(lax::acos(array({1.0f, 0.0f})));
  SHOW(lax::asin(array({1.0f, 0.0f})));
  SHOW(lax::atan(array({1.0f, 0.0f})));
  SHOW(lax::atan2(array({1.0f, 0.0f}), -1.0f));
  SHOW(lax::cosh(array({0.0f, 1.0f})));
  SHOW(lax::sinh(array({0.0f, 1.0f})));
  SHOW(lax::tanh(array({0.0f, 1.0f})));
  SHOW(lax::acosh(array({1.0f, 2.0f})));
  SHOW(lax::asinh(array({0.0f, 1.0f})));
  SHOW(lax::atanh(array({0.0f, 0.5f})));
  SHOW(lax::floor(array({-1.5f, 1.5f})));
  SHOW(lax::ceil(array({-1.5f, 1.5f})));
  SHOW(lax::round(array({0.5f, 1.5f})));
  SHOW(lax::is_finite(array({1.0f, numpy::inf})));
  SHOW(lax::erf(array({0.0f, 1.0f})));
  SHOW(lax::erfc(array({0.0f, 1.0f})));
  SHOW(lax::erf_inv(array({0.0f, 0.5f})));
  SHOW(lax::lgamma(array({0.5f, 5.0f})));
  SHOW(lax::digamma(array({1.0f, 2.0f})));
  SHOW(lax::polygamma(array({1.0f}), array({1.0f})));
  SHOW(lax::zeta(array({2.0f}), array({1.0f})));
  SHOW(lax::igamma(array({1.0f}), array({1.0f})));
  SHOW(lax::igammac(array({1.0f}), array({1.0f})));
  SHOW(lax::betainc(array({1.0f}), array({2.0f}), array({0.5f})));
  SHOW(lax::bessel_i0e(array({0.0f, 1.0f})));
  SHOW(lax::bessel_i1e(array({0.0f, 1.0f})));
  SHOW(lax::add(array({1, 2}), array({10, 20})));
  SHOW(lax::sub(array({1, 2}), array({10, 20})));
  SHOW(lax::mul(array({1, 2}), array({10, 20})));
  SHOW(lax::div(array({7, -7}), array({2, 2})));
  SHOW(lax::rem(array({7, -7}), array({3, 3})));
  SHOW(lax::pow(array({2.0f, 3.0f}), array({3.0f, 2.0f})));
  SHOW(lax::integer_pow(array({2, 3}), 3));
  SHOW(lax::max(array({1, 5}), array({3, 2})));
  SHOW(lax::min(array({1, 5}), array({3, 2})));
  SHOW(lax::nextafter(array({1.0f}), array({2.0f})) - 1.0f);
  SHOW(lax::eq(array({1, 2}), array({1, 3})));
  SHOW(lax::ne(array({1, 2}), array({1, 3})));
  SHOW(lax::lt(array({1, 2}), array({2, 2})));
  SHOW(lax::le(array({1, 2}), array({2, 2})));
  SHOW(lax::gt(array({1, 3}), array({2, 2})));
  SHOW(lax::ge(array({1, 2}), array({2, 2})));
  SHOW(lax::bitwise_and(array({12, 10}), 6));
  SHOW(lax::bitwise_or(array({12, 10}), 6));
  SHOW(lax::bitwise_xor(array({12, 10}), 6));
  SHOW(lax::bitwise_not(array({0, 5})));
  SHOW(lax::clz(array({1, 256})));
  SHOW(lax::population_count(array({7, 8})));
  SHOW(lax::mulhi(array({1 << 30}), array({8})));
  SHOW(lax::shift_left(array({1, 3}), 2));
  SHOW(lax::shift_right_arithmetic(array({8, -8}), 2));
  SHOW(lax::shift_right_logical(array({8, 16}), 2));
  SHOW(lax::complex(array({1.0f}), array({2.0f})));
  SHOW(lax::real(array({std::complex<float>(1, 2)})));
  SHOW(lax::imag(array({std::complex<float>(1, 2)})));
  SHOW(lax::conj(array({std::complex<float>(1, 2)})));
  SHOW(lax::reduce_precision(array({3.14159f}), 8, 7));
  SHOW(lax::select(array({true, false}), array({1, 2}), array({10, 20})));
  SHOW(lax::select_n(array({0, 1}), {array({1, 2}), array({10, 20})}));
  SHOW(lax::clamp(-1, array({-2, 0, 2}), 1));
  SHOW(lax::convert_element_type(array({-1.7f, 2.9f}), int32));
  SHOW(lax::bitcast_convert_type(array({1.0f}), int32));
  SHOW(lax::stop_gradient(array({1.0f})));
}

void lax_shapes() {
  SHOW(lax::slice(arange(6), {1}, {5}, {2}));
  SHOW(lax::slice_in_dim(arange(6), 1, -1));
  SHOW(lax::dynamic_slice(arange(6), {Array(4)}, {3}));
  SHOW(lax::dynamic_slice_in_dim(arange(6), 1, 3));
  SHOW(lax::dynamic_index_in_dim(arange(6), 2));
  SHOW(lax::index_in_dim(arange(6), 2));
  SHOW(lax::dynamic_update_slice(arange(6), array({7, 8}), {Array(1)}));
  SHOW(lax::dynamic_update_slice_in_dim(arange(6), array({7, 8}), 1, 0));
  SHOW(lax::dynamic_update_index_in_dim(arange(6), 7, 2, 0));
  SHOW(lax::pad(array({1, 2}), 0, {{1, 2, 1}}));
  SHOW(lax::broadcast_in_dim(array({1, 2}), {2, 3}, {0}));
  SHOW(lax::broadcast(array({1, 2}), {2}));
  SHOW(lax::iota(int32, 4));
  SHOW(lax::broadcasted_iota(int32, {2, 2}, 1));
  SHOW(lax::rev(array({1, 2, 3}), 0));
  SHOW(lax::reshape(arange(4), {2, 2}));
  SHOW(lax::transpose(array({{1, 2}, {3, 4}}), {1, 0}));
  SHOW(lax::expand_dims(array({1, 2}), {0}));
  SHOW(lax::squeeze(array({{1, 2}}), {0}));
  SHOW(lax::collapse(zeros({2, 3, 4}), 0, 2).shape());
  SHOW(lax::tile(array({1, 2}), {2}));
  SHOW(lax::concatenate({array({1, 2}), array({3})}, 0));
  SHOW(lax::stack({array({1, 2}), array({3, 4})}));
  SHOW(lax::split(arange(4), {1, 3}));
  SHOW(lax::unstack(array({{1, 2}, {3, 4}})));
  SHOW(lax::full({2}, 7));
  SHOW(lax::full_like(array({1, 2}), 7));
  SHOW(lax::empty({2}, int32));
  SHOW(lax::dtype(array({1.5f})));
  SHOW(lax::reduce_sum(array({{1, 2}, {3, 4}}), {0}));
  SHOW(lax::reduce_prod(array({{1, 2}, {3, 4}}), {0}));
  SHOW(lax::reduce_max(array({{1, 2}, {3, 4}}), {0}));
  SHOW(lax::reduce_min(array({{1, 2}, {3, 4}}), {0}));
  SHOW(lax::reduce_and(array({true, false}), {0}));
  SHOW(lax::reduce_or(array({true, false}), {0}));
  SHOW(lax::reduce_xor(array({true, false}), {0}));
  SHOW(lax::argmax(array({1, 5, 3}), 0, int32));
  SHOW(lax::argmin(array({1, 5, 3}), 0, int32));
  SHOW(lax::cumsum(array({1, 2, 3})));
  SHOW(lax::cumprod(array({1, 2, 3})));
  SHOW(lax::cummax(array({1, 3, 2})));
  SHOW(lax::cummin(array({2, 1, 3})));
  SHOW(lax::cumlogsumexp(array({0.0f, 0.0f})));
  SHOW(lax::sort(std::vector<Array>{array({3, 1, 2})}));
  SHOW(lax::sort_key_val(array({3, 1, 2}), array({30, 10, 20})));
  SHOW(lax::top_k(array({1, 5, 3}), 2));
  SHOW(lax::approx_max_k(array({1.0f, 5.0f, 3.0f}), 2));
  SHOW(lax::approx_min_k(array({1.0f, 5.0f, 3.0f}), 2));
  SHOW(lax::associative_scan([](Array a, Array b) { return a * b; }, array({1, 2, 3})));
  SHOW(lax::dot(array({1, 2}), array({3, 4})));
  SHOW(lax::batch_matmul(ones({2, 1, 3}), ones({2, 3, 1})).shape());
  SHOW(lax::conv(ones({1, 1, 4}), ones({1, 1, 2}), {1}, "VALID"));
  SHOW(vmap([](Array x) { return lax::psum(x, "i"); }, {.axis_name = "i"})(array({1, 2, 3})));
  SHOW(vmap([](Array x) { return lax::pmax(x, "i"); }, {.axis_name = "i"})(array({1, 2, 3})));
  SHOW(vmap([](Array x) { return lax::pmin(x, "i"); }, {.axis_name = "i"})(array({1, 2, 3})));
  SHOW(vmap([](Array x) { return x * lax::axis_index("i"); }, {.axis_name = "i"})(array({5, 6})));
  SHOW(vmap([](Array x) { return lax::all_gather(x, "i"); }, {.axis_name = "i"})(array({5, 6})));
}

void networks() {
  SHOW(nn::relu(array({-1.0f, 2.0f})));
  SHOW(nn::leaky_relu(array({-1.0f, 2.0f})));
  SHOW(nn::relu6(array({-1.0f, 8.0f})));
  SHOW(nn::identity(array({-1.0f})));
  SHOW(nn::hard_tanh(array({-2.0f, 0.5f})));
  SHOW(nn::hard_sigmoid(array({0.0f, 3.0f})));
  SHOW(nn::hard_silu(array({1.0f})));
  SHOW(nn::hard_swish(array({1.0f})));
  SHOW(nn::soft_sign(array({1.0f})));
  SHOW(nn::squareplus(array({0.0f})));
  SHOW(nn::mish(array({1.0f})));
  SHOW(nn::sparse_plus(array({0.0f})));
  SHOW(nn::sparse_sigmoid(array({0.0f})));
  SHOW(nn::log1mexp(array({1.0f})));
  SHOW(nn::glu(array({1.0f, 0.0f})));
  SHOW(nn::logmeanexp(array({0.0f, 1.0f})));
  SHOW(nn::sigmoid(array({0.0f, 1.0f})));
  SHOW(nn::log_sigmoid(array({0.0f})));
  SHOW(nn::softplus(array({0.0f})));
  SHOW(nn::silu(array({1.0f})));
  SHOW(nn::swish(array({1.0f})));
  SHOW(nn::gelu(array({1.0f})));
  SHOW(nn::elu(array({-1.0f, 2.0f})));
  SHOW(nn::celu(array({-1.0f, 2.0f})));
  SHOW(nn::selu(array({-1.0f, 2.0f})));
  SHOW(nn::softmax(array({0.0f, 1.0f})));
  SHOW(nn::log_softmax(array({0.0f, 1.0f})));
  SHOW(nn::one_hot(array({0, 2}), 3));
  SHOW(nn::standardize(array({1.0f, 3.0f})));
  SHOW(nn::dot_product_attention(ones({1, 2, 1, 4}), ones({1, 2, 1, 4}), ones({1, 2, 1, 4}))
           .shape());
  SHOW(nn::initializers::zeros(random::key(0), {2}, float32));
  SHOW(nn::initializers::ones(random::key(0), {2}, float32));
  SHOW(nn::initializers::constant(0.5)(random::key(0), {2}, float32));
  SHOW(nn::initializers::normal(0.02)(random::key(0), {2}, float32));
  SHOW(nn::initializers::uniform(0.1)(random::key(0), {2}, float32));
  SHOW(nn::initializers::truncated_normal(0.02)(random::key(0), {2}, float32));
  SHOW(nn::initializers::lecun_normal()(random::key(0), {1, 2}, float32));
  SHOW(nn::initializers::lecun_uniform()(random::key(0), {1, 2}, float32));
  SHOW(nn::initializers::glorot_normal()(random::key(0), {1, 2}, float32));
  SHOW(nn::initializers::glorot_uniform()(random::key(0), {1, 2}, float32));
  SHOW(nn::initializers::he_normal()(random::key(0), {1, 2}, float32));
  SHOW(nn::initializers::he_uniform()(random::key(0), {1, 2}, float32));
  SHOW(nn::initializers::orthogonal()(random::key(0), {2, 2}, float32).shape());
}

void random_numbers() {
  SHOW(random::key(7).to_string());
  SHOW(random::split(random::key(0), 3).shape());
  SHOW(random::fold_in(random::key(0), 1).to_string());
  SHOW(random::key_data(random::key(7)));
  SHOW(random::key_impl(random::key(7)));
  SHOW(random::bits(random::key(0), {2}));
  SHOW(random::uniform(random::key(0), {2}));
  SHOW(random::normal(random::key(0), {2}));
  SHOW(random::randint(random::key(0), {3}, 0, 10));
  SHOW(random::bernoulli(random::key(0), 0.5f, {3}));
  SHOW(random::permutation(random::key(0), 4));
  SHOW(random::choice(random::key(0), array({10, 20, 30}), {.shape = {2}}));
  SHOW(random::categorical(random::key(0), array({0.0f, 1.0f, 2.0f})));
  SHOW(random::truncated_normal(random::key(0), -1.0f, 1.0f, {2}));
  SHOW(random::cauchy(random::key(0), {2}));
  SHOW(random::exponential(random::key(0), {2}));
  SHOW(random::laplace(random::key(0), {2}));
  SHOW(random::logistic(random::key(0), {2}));
  SHOW(random::gumbel(random::key(0), {2}));
  SHOW(random::pareto(random::key(0), 3.0f));
  SHOW(random::rayleigh(random::key(0), 2.0f));
  SHOW(random::maxwell(random::key(0), {2}));
  SHOW(random::wald(random::key(0), 1.0f));
  SHOW(random::weibull_min(random::key(0), 1.0f, 2.0f));
  SHOW(random::triangular(random::key(0), 0.0f, 0.5f, 1.0f));
  SHOW(random::lognormal(random::key(0)));
  SHOW(random::gamma(random::key(0), 2.0f));
  SHOW(random::loggamma(random::key(0), 2.0f));
  SHOW(random::beta(random::key(0), 2.0f, 3.0f));
  SHOW(random::chisquare(random::key(0), 3.0f));
  SHOW(random::dirichlet(random::key(0), array({1.0f, 1.0f})));
  SHOW(random::t(random::key(0), 3.0f));
  SHOW(random::f(random::key(0), 3.0f, 4.0f));
  SHOW(random::poisson(random::key(0), 4.0f));
  SHOW(random::geometric(random::key(0), 0.5f));
  SHOW(random::binomial(random::key(0), 10, 0.5f));
  SHOW(random::rademacher(random::key(0), {3}));
  SHOW(random::ball(random::key(0), 2));
  SHOW(random::orthogonal(random::key(0), 2).shape());
}

void special() {
  SHOW(scipy::special::gamma(array({0.5f, 5.0f})));
  SHOW(scipy::special::gammasgn(array({-0.5f, 5.0f})));
  SHOW(scipy::special::gammaln(array({0.5f, 5.0f})));
  SHOW(scipy::special::loggamma(array({5.0f})));
  SHOW(scipy::special::digamma(array({1.0f})));
  SHOW(scipy::special::polygamma(1, array({1.0f})));
  SHOW(scipy::special::multigammaln(array({5.0f}), 2));
  SHOW(scipy::special::factorial(array({5})));
  SHOW(scipy::special::poch(array({2.0f}), 3));
  SHOW(scipy::special::comb(array({5}), 2));
  SHOW(scipy::special::gammainc(array({1.0f}), 1.0f));
  SHOW(scipy::special::gammaincc(array({1.0f}), 1.0f));
  SHOW(scipy::special::betainc(array({1.0f}), 2.0f, 0.5f));
  SHOW(scipy::special::beta(array({2.0f}), 3.0f));
  SHOW(scipy::special::betaln(array({2.0f}), 3.0f));
  SHOW(scipy::special::zeta(array({2.0f}), 1.0f));
  SHOW(scipy::special::erf(array({1.0f})));
  SHOW(scipy::special::erfc(array({1.0f})));
  SHOW(scipy::special::erfinv(array({0.5f})));
  SHOW(scipy::special::erfcx(array({1.0f})));
  SHOW(scipy::special::dawsn(array({1.0f})));
  SHOW(scipy::special::ndtr(array({0.0f, 1.96f})));
  SHOW(scipy::special::log_ndtr(array({-30.0f})));
  SHOW(scipy::special::ndtri(array({0.975f})));
  SHOW(scipy::special::expit(array({0.0f})));
  SHOW(scipy::special::logit(array({0.75f})));
  SHOW(scipy::special::xlogy(array({0.0f, 2.0f}), array({0.0f, 3.0f})));
  SHOW(scipy::special::xlog1py(array({0.0f, 2.0f}), array({-1.0f, 3.0f})));
  SHOW(scipy::special::entr(array({0.5f})));
  SHOW(scipy::special::rel_entr(array({0.5f}), 0.25f));
  SHOW(scipy::special::kl_div(array({0.5f}), 0.25f));
  SHOW(scipy::special::boxcox(array({2.0f}), 0.5f));
  SHOW(scipy::special::boxcox1p(array({1.0f}), 0.5f));
  SHOW(scipy::special::i0(array({1.0f})));
  SHOW(scipy::special::i0e(array({1.0f})));
  SHOW(scipy::special::i1(array({1.0f})));
  SHOW(scipy::special::i1e(array({1.0f})));
  SHOW(scipy::special::expi(array({1.0f})));
  SHOW(scipy::special::exp1(array({1.0f})));
  SHOW(scipy::special::expn(array({2.0f}), 1.0f));
  SHOW(scipy::special::sici(array({1.0f})));
  SHOW(scipy::special::fresnel(array({1.0f})));
  SHOW(scipy::special::spence(array({2.0f})));
  SHOW(scipy::special::bernoulli(4));
  SHOW(scipy::special::hyp1f1(array({1.0f}), 2.0f, 1.0f));
  SHOW(scipy::linalg::toeplitz(array({1, 2, 3})));
  SHOW(scipy::linalg::hankel(array({1, 2, 3})));
  SHOW(scipy::linalg::circulant(array({1, 2, 3})));
  SHOW(scipy::linalg::companion(array({1.0f, 2.0f, 3.0f})));
  SHOW(scipy::linalg::fiedler(array({1, 3, 6})));
  SHOW(scipy::linalg::leslie(array({1.0f, 2.0f}), array({0.5f})));
  SHOW(scipy::linalg::hilbert(2));
  SHOW(scipy::linalg::invhilbert(2));
  SHOW(scipy::linalg::pascal(3));
  SHOW(scipy::linalg::hadamard(2));
  SHOW(scipy::linalg::dft(2));
  SHOW(scipy::linalg::block_diag({array({{1}}), array({{2, 3}})}));
  SHOW(scipy::linalg::expm(zeros({2, 2})));
  SHOW(scipy::linalg::cholesky(array({{4.0f, 2.0f}, {2.0f, 5.0f}}), true));
  SHOW(scipy::linalg::solve(array({{2.0f, 0.0f}, {0.0f, 4.0f}}), array({2.0f, 2.0f})));
  SHOW(ops::segment_sum(array({1, 2, 3}), array({0, 0, 1})));
  SHOW(ops::segment_prod(array({1, 2, 3}), array({0, 0, 1})));
  SHOW(ops::segment_max(array({1, 2, 3}), array({0, 0, 1})));
  SHOW(ops::segment_min(array({1, 2, 3}), array({0, 0, 1})));
}

void trees() {
  SHOW(tree::leaves<Array>(std::pair{array({1}), array({2, 3})}));
  SHOW(tree::map([](Array x) { return x * 10; }, std::pair{array({1}), array({2, 3})}));
  SHOW(tree::paths(std::pair{array({1}), array({2, 3})}));
  SHOW(tree::structure(std::pair{array({1}), array({2, 3})}).text());
  SHOW(tree::reduce([](Array sum, Array x) { return sum + numpy::sum(x); },
                    std::pair{array({1}), array({2, 3})}, Array(0)));
  SHOW(optim::linear_schedule(1.0, 0.0, 10)(Array(5)));
  SHOW(optim::constant_schedule(0.1)(Array(5)));
  SHOW(optim::cosine_schedule(1.0, 0.0, 10)(Array(5)));
  SHOW(optim::cosine_decay_schedule(1.0, 10)(Array(5)));
  SHOW(optim::warmup_cosine_decay_schedule(0.0, 1.0, 10, 100)(Array(5)));
  SHOW(optim::global_norm(std::pair{array({3.0f}), array({4.0f})}));
  SHOW(optim::apply_updates(array({1.0f}), array({-0.5f})));
}

void transforms() {
  SHOW(grad([](Array x) { return x * x; })(3.0f));
  SHOW(value_and_grad([](Array x) { return x * x; })(3.0f));
  SHOW(jvp([](Array x) { return sin(x); }, std::tuple{Array(0.0f)}, std::tuple{Array(2.0f)}));
  SHOW(vjp([](Array x) { return sin(x); }, Array(0.0f)).second(Array(2.0f)));
  SHOW(linearize([](Array x) { return x * x; }, Array(3.0f)).second(Array(1.0f)));
  SHOW(jacfwd([](Array x) { return x * x; })(array({1.0f, 2.0f})));
  SHOW(jacrev([](Array x) { return x * x; })(array({1.0f, 2.0f})));
  SHOW(hessian([](Array x) { return sum(x * x * x); })(array({1.0f, 2.0f})));
  SHOW(vmap([](Array x) { return sum(x); })(array({{1, 2}, {3, 4}})));
  SHOW(jit([](Array x) { return x + 1; })(array({1, 2})));
  SHOW(remat([](Array x) { return sin(x); })(Array(0.0f)));
  SHOW(eval_shape([](Array x) { return dot(x, x); }, zeros({2, 2})).shape());
  SHOW(scan([](Array c, Array x) { return std::pair{c + x, c}; }, Array(0), array({1, 2, 3})));
  SHOW(while_loop([](Array i) { return i < 10; }, [](Array i) { return i * 2; }, Array(1)));
  SHOW(fori_loop(0, 3, [](Array i, Array x) { return x + i; }, Array(0)));
  SHOW(cond(Array(true), [](Array x) { return x; }, [](Array x) { return -x; }, Array(5)));
  SHOW(map([](Array x) { return x * x; }, array({1, 2, 3})));
  SHOW(pure_callback([](Array x) { return x + 1; }, Array(0), Array(5)));
  SHOW(array({{1, 2}, {3, 4}}, float32));
}

}  // namespace

int main() {
  lax_elementwise();
  lax_shapes();
  networks();
  random_numbers();
  special();
  trees();
  transforms();
}
