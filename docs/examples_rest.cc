// Calls of matrices' factors, spectra, operators and what the other two leave out, each with what
// it gives: the reference shows them beside the signatures (tools/reference.py), and the tests
// compare what this prints with the .txt beside it.
#include <strata/core.h>

#include "examples.h"
#include "strata/nn/norm/norm.h"
#include "strata/nn/wide.h"
#include "strata/optim/schedule/schedule.h"

using namespace strata;

namespace {

void factors() {
  SHOW(numpy::linalg::qr(array({{3.0f, 1.0f}, {4.0f, 2.0f}})).R.shape());
  SHOW(numpy::linalg::svd(array({{3.0f, 0.0f}, {0.0f, 4.0f}})).S);
  SHOW(numpy::linalg::svdvals(array({{3.0f, 0.0f}, {0.0f, 4.0f}})));
  SHOW(numpy::linalg::eig(array({{2.0f, 0.0f}, {0.0f, 3.0f}})).eigenvalues);
  SHOW(numpy::linalg::eigvals(array({{2.0f, 0.0f}, {0.0f, 3.0f}})));
  SHOW(numpy::linalg::eigh(array({{2.0f, 0.0f}, {0.0f, 1.0f}})).eigenvalues);
  SHOW(numpy::linalg::lstsq(array({{1.0f}, {1.0f}}), array({1.0f, 3.0f})).rank);
  SHOW(numpy::linalg::slogdet(array({{0.0f, 1.0f}, {1.0f, 0.0f}})).sign);
  SHOW(numpy::linalg::tensorsolve(eye(4).reshape({2, 2, 2, 2}), ones({2, 2})));
  SHOW(numpy::linalg::tensorinv(eye(4).reshape({2, 2, 2, 2})).shape());
  SHOW(numpy::linalg::outer(array({1, 2}), array({3, 4})));
  SHOW(numpy::linalg::cross(array({1, 0, 0}), array({0, 1, 0})));
  SHOW(numpy::linalg::diagonal(array({{1, 2}, {3, 4}})));
  SHOW(numpy::linalg::trace(array({{1, 2}, {3, 4}})));
  SHOW(lax::linalg::cholesky(array({{4.0f, 2.0f}, {2.0f, 5.0f}})));
  SHOW(lax::linalg::cholesky_update(array({{2.0f, 0.0f}, {0.0f, 2.0f}}), array({0.0f, 0.0f})));
  SHOW(lax::linalg::eig(array({{2.0f, 0.0f}, {0.0f, 3.0f}}))[0]);
  SHOW(lax::linalg::eigh(array({{2.0f, 0.0f}, {0.0f, 1.0f}})).second);
  SHOW(lax::linalg::hessenberg(eye(3)).first);
  SHOW(lax::linalg::householder_product(eye(2), zeros({2})));
  SHOW(lax::linalg::lu(array({{0.0f, 1.0f}, {2.0f, 3.0f}})));
  SHOW(lax::linalg::lu_pivots_to_permutation(array({1, 1}), 2));
  SHOW(lax::linalg::qr(eye(2)).size());
  SHOW(lax::linalg::schur(eye(2))[0]);
  SHOW(lax::linalg::svd(array({{3.0f, 0.0f}, {0.0f, 4.0f}}))[0]);
  SHOW(lax::linalg::symmetric_product(array({{1.0f}, {2.0f}}), zeros({2, 2})));
  SHOW(lax::linalg::triangular_solve(array({{2.0f, 0.0f}, {1.0f, 4.0f}}), array({{2.0f}, {5.0f}}),
                                     {.left_side = true, .lower = true}));
  SHOW(lax::linalg::tridiagonal_solve(array({0.0f, 1.0f}), array({2.0f, 2.0f}), array({1.0f, 0.0f}),
                                      array({{3.0f}, {3.0f}})));
  SHOW(scipy::linalg::cho_factor(array({{4.0f, 2.0f}, {2.0f, 5.0f}})).second);
  SHOW(scipy::linalg::cho_solve(scipy::linalg::cho_factor(array({{4.0f, 2.0f}, {2.0f, 5.0f}})),
                                array({6.0f, 7.0f})));
  SHOW(scipy::linalg::lu(array({{0.0f, 1.0f}, {2.0f, 3.0f}})).L);
  SHOW(scipy::linalg::lu_factor(array({{0.0f, 1.0f}, {2.0f, 3.0f}})));
  SHOW(scipy::linalg::lu_solve(scipy::linalg::lu_factor(array({{4.0f, 2.0f}, {2.0f, 5.0f}})),
                               array({6.0f, 7.0f})));
  SHOW(scipy::linalg::qr(eye(2)).R.shape());
  SHOW(scipy::linalg::svd(array({{3.0f, 0.0f}, {0.0f, 4.0f}})).S);
  SHOW(scipy::linalg::eigh(array({{2.0f, 0.0f}, {0.0f, 1.0f}})).eigenvalues);
  SHOW(scipy::linalg::hessenberg(eye(3)));
  SHOW(scipy::linalg::hessenberg_with_q(eye(3)).second);
  SHOW(scipy::linalg::schur(eye(2)).T);
  SHOW(scipy::linalg::rsf2csf(eye(2), eye(2)).T.dtype());
  SHOW(scipy::linalg::polar(array({{2.0f, 0.0f}, {0.0f, 3.0f}})).second);
  SHOW(scipy::linalg::solve_triangular(array({{2.0f, 0.0f}, {0.0f, 4.0f}}), array({2.0f, 2.0f})));
  SHOW(scipy::linalg::sqrtm(eye(2)));
  SHOW(scipy::linalg::funm(eye(2), [](Array x) { return x * 2; }));
  SHOW(scipy::linalg::expm_frechet(zeros({2, 2}), eye(2)).second);
  SHOW(scipy::linalg::solve_sylvester(eye(2), eye(2), 2 * eye(2)).shape());
  SHOW(scipy::linalg::eigh_tridiagonal(array({1.0f, 2.0f}), array({0.0f})).eigenvalues.shape());
  SHOW(scipy::linalg::fiedler_companion(array({1.0f, 2.0f, 3.0f})));
  SHOW(scipy::linalg::convolution_matrix(array({1, 2}), 2));
  SHOW(scipy::linalg::invpascal(2));
  SHOW(scipy::linalg::helmert(2));
}

void spectra() {
  SHOW(numpy::fft::irfft(
      array({std::complex<float>(4), std::complex<float>(0), std::complex<float>(0)})));
  SHOW(numpy::fft::hfft(array({1.0f, 1.0f}), {.n = 2}));
  SHOW(numpy::fft::ihfft(array({2.0f, 2.0f})));
  SHOW(numpy::fft::fft2(ones({2, 2})));
  SHOW(numpy::fft::ifft2(4 * ones({2, 2})));
  SHOW(numpy::fft::rfft2(ones({2, 2})));
  SHOW(numpy::fft::irfft2(numpy::fft::rfft2(ones({2, 2}))));
  SHOW(numpy::fft::fftn(ones({2, 2})));
  SHOW(numpy::fft::ifftn(4 * ones({2, 2})));
  SHOW(numpy::fft::rfftn(ones({2, 2})));
  SHOW(numpy::fft::irfftn(numpy::fft::rfftn(ones({2, 2}))));
  SHOW(lax::fft(ones({4}), lax::FftType::RFFT, {4}));
}

void more_arrays() {
  SHOW(numpy::piecewise(array({-1.0f, 2.0f}), {array({true, false})}, {0, 5}));
  SHOW(numpy::apply_along_axis([](Array row) { return sum(row); }, 1, array({{1, 2}, {3, 4}})));
  SHOW(numpy::apply_over_axes([](Array x, std::int64_t axis) { return sum(x, {.axis = axis}); },
                              array({{1, 2}, {3, 4}}), {0}));
  SHOW(numpy::histogram_bin_edges(array({1.0f, 3.0f}), 2));
  SHOW(numpy::sort_complex(array({2, 1})));
  SHOW(numpy::i0(array({1.0f})));
  SHOW(numpy::roots(array({1.0f, 0.0f, 0.0f})).dtype());
  SHOW(numpy::asarray(array({1, 2})));
  SHOW(numpy::intersect1d_indices(array({1, 2}), array({2, 3})).indices1);
  SHOW(numpy::dtype("float32"));
  SHOW(lax::reduce(array({1, 2, 3}), Array(0), [](Array a, Array b) { return a + b; }, {0}));
  SHOW(lax::broadcast_shapes({{2, 1}, {3}}));
  SHOW(lax::broadcast_to_rank(array({1, 2}), 2));
  SHOW(lax::broadcast_like(5, array({1, 2})));
  SHOW(lax::shape_as_value({2, 3}));
  SHOW(lax::stage(5));
  SHOW(lax::optimization_barrier({array({1, 2})}));
  SHOW(lax::dot_general(ones({2, 3}), ones({2, 3}),
                        {.lhs_contracting = {1}, .rhs_contracting = {1}}));
  SHOW(lax::conv_transpose(ones({1, 2, 1}), ones({2, 1, 1}), {2}, "VALID").shape());
  SHOW(lax::igamma_grad_a(array({1.0f}), array({1.0f})));
  SHOW(lax::random_gamma_grad(array({1.0f}), array({1.0f})));
  SHOW(vmap([](Array x) { return lax::pmean(x, "i"); }, {.axis_name = "i"})(array({1.0f, 3.0f})));
  SHOW(vmap([](Array x) { return lax::ppermute(x, "i", {{0, 1}, {1, 0}}); },
            {.axis_name = "i"})(array({5, 6})));
  SHOW(vmap([](Array x) { return lax::pshuffle(x, "i", {1, 0}); },
            {.axis_name = "i"})(array({5, 6})));
  SHOW(vmap([](Array x) { return lax::pbroadcast(x, "i", 1); }, {.axis_name = "i"})(array({5, 6})));
  SHOW(vmap([](Array x) { return x * lax::axis_size("i"); }, {.axis_name = "i"})(array({5, 6})));
  SHOW(scipy::special::hyp2f1(array({1.0f}), 1.0f, 2.0f, 0.5f));
  SHOW(scipy::special::owens_t(array({1.0f}), 1.0f));
  SHOW(scipy::special::wofz(array({std::complex<float>(0, 0)})));
  SHOW(x64_enabled());
  SHOW(random::PRNGKey(7));
  SHOW(random::key_words(random::Implementation::threefry2x32));
  SHOW(random::implementation("rbg") == random::Implementation::rbg);
  SHOW(random::name(random::Implementation::rbg));
  SHOW(random::key_dtype().to_string());
  SHOW(random::clone(random::key(7)).to_string());
  SHOW(random::wrap_key_data(random::key_data(random::key(7))).to_string());
  SHOW(random::double_sided_maxwell(random::key(0), 0.0f, 1.0f));
  SHOW(random::generalized_normal(random::key(0), 2.0f));
  SHOW(random::multinomial(random::key(0), 10, array({0.5f, 0.5f})).shape());
  SHOW(random::multivariate_normal(random::key(0), zeros({2}), eye(2)).shape());
  SHOW(array({1, 2}) + array({10, 20}));
  SHOW(array({1, 2}) - 1);
  SHOW(array({1, 2}) * 0.5f);
  SHOW(array({7, 8}) / 2);
  SHOW(array({7, -7}) % 3);
  SHOW(array({1, 2}) == 2);
  SHOW(array({1, 2}) != 2);
  SHOW(array({1, 2}) < 2);
  SHOW(array({1, 2}) <= 1);
  SHOW(array({1, 2}) > 1);
  SHOW(array({1, 2}) >= 2);
  SHOW(array({12, 10}) & 6);
  SHOW(array({12, 10}) | 6);
  SHOW(array({12, 10}) ^ 6);
  SHOW(~array({0, 5}));
  SHOW(array({8, -8}) >> 2);
  SHOW(array({1, 3}) << 2);
}

void more_trees() {
  SHOW(tree::flatten<Array>(std::pair{array({1}), array({2, 3})}).leaves.size());
  SHOW(tree::unflatten<Array>(std::pair{array({1}), array({2, 3})},
                              std::vector<Array>{array({5}), array({6})}));
  SHOW(tree::all(std::pair{Array(true), Array(false)}));
  SHOW(tree::broadcast(Array(7), std::pair{array({1}), array({2, 3})}));
  SHOW(tree::map_with_path([](const auto&, Array x) { return x + 1; },
                           std::pair{array({1}), array({2, 3})}));
  SHOW(tree::leaves_with_path<Array>(std::pair{array({1}), array({2, 3})}).size());
  SHOW(tree::keystr(tree::leaves_with_path<Array>(std::pair{array({1}), array({2, 3})})[1].first));
  SHOW(tree_util::tree_map([](Array x) { return x * 10; }, std::pair{array({1}), array({2, 3})}));
  SHOW(tree_util::tree_leaves(std::pair{array({1}), array({2, 3})}));
  SHOW(tree_util::tree_structure(std::pair{array({1}), array({2, 3})}).text());
  SHOW(tree_util::tree_unflatten(std::pair{array({1}), array({2, 3})},
                                 std::vector<Array>{array({5}), array({6})}));
  SHOW(tree_util::tree_all(std::pair{Array(true), Array(false)}));
  SHOW(tree_util::tree_broadcast(Array(7), std::pair{array({1}), array({2, 3})}));
  SHOW(optim::join_schedules({optim::constant_schedule(1.0), optim::constant_schedule(0.5)},
                             {10})(Array(12)));
  SHOW(optim::wsd_schedule(1.0, 10, 20, 10)(Array(15)));
  SHOW(nn::rms_norm(array({3.0f, 4.0f}), ones({2})));
  SHOW(nn::wide(bfloat16));
  SHOW(compute_type(bfloat16));
  SHOW(has_storage(float32));
  SHOW(linear_transpose([](Array x) { return 2 * x; }, Array(0.0f))(Array(3.0f)));
  SHOW(switch_(1,
               std::vector<std::function<Array(Array)>>{[](Array x) { return x; },
                                                        [](Array x) { return -x; }},
               Array(5)));
  SHOW(checkpoint_name(array({1, 2}), "kept"));
  SHOW(block_until_ready(std::pair{array({1}), array({2, 3})}));
}

}  // namespace

int main() {
  factors();
  spectra();
  more_arrays();
  more_trees();
}
