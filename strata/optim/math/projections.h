// Nearest points of sets, for trees as one vector.
//
//   params = optim::projections::projection_simplex(params);
//   Array x = optim::projections::projection_l2_ball(optim::one_tree(x)).value(0);
//
// Source: Optax's projections.
#pragma once

#include "strata/optim/math/trees.h"

namespace strata::optim {

/// An array as a tree of one leaf, whose path is empty.
Tree one_tree(Array x);

namespace projections {

/// max(x, 0)
Tree projection_non_negative(const Tree& x);
/// Elements between those of two trees, or between two numbers.
Tree projection_box(const Tree& x, const Tree& lower, const Tree& upper);
Tree projection_box(const Tree& x, const Rate& lower, const Rate& upper);
/// Elements between 0 and scale.
Tree projection_hypercube(const Tree& x, const Rate& scale = 1.0);
/// Not negative, with the sum `scale`. Source: Duchi et al., Efficient Projections onto the l1-Ball
/// (2008).
Tree projection_simplex(const Tree& x, const Rate& scale = 1.0);
/// Sizes with the sum `scale`.
Tree projection_l1_sphere(const Tree& x, const Rate& scale = 1.0);
/// Sizes with at most the sum `scale`.
Tree projection_l1_ball(const Tree& x, const Rate& scale = 1.0);
/// Of norm `scale`.
Tree projection_l2_sphere(const Tree& x, const Rate& scale = 1.0);
/// Of at most the norm `scale`.
Tree projection_l2_ball(const Tree& x, const Rate& scale = 1.0);
/// Elements between -scale and scale.
Tree projection_linf_ball(const Tree& x, const Rate& scale = 1.0);
/// The multiple of a that is nearest.
Tree projection_vector(const Tree& x, const Tree& a);
/// <a, x> = b.
Tree projection_hyperplane(const Tree& x, const Tree& a, const Rate& b);
/// <a, x> of at most b.
Tree projection_halfspace(const Tree& x, const Tree& a, const Rate& b);

}  // namespace projections
}  // namespace strata::optim
