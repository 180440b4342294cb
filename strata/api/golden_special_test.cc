// How the functions of scipy/ with headers of their own are called.
#include "strata/api/golden.h"
#include "strata/api/scipy/error_functions.h"
#include "strata/api/scipy/exponential_integrals.h"
#include "strata/api/scipy/hypergeometric.h"
#include "strata/api/scipy/sequences.h"

namespace strata {
namespace {

namespace special = scipy::special;

#define STRATA_SPECIAL(name) STRATA_GOLDEN("scipy.special." #name, special::name(c.x(0)))
STRATA_SPECIAL(erfcx);
STRATA_SPECIAL(dawsn);
STRATA_SPECIAL(wofz);
STRATA_SPECIAL(ndtri);
STRATA_SPECIAL(exp1);
STRATA_SPECIAL(fresnel);
STRATA_SPECIAL(spence);
STRATA_SPECIAL(expi);
STRATA_SPECIAL(sici);
STRATA_GOLDEN("scipy.special.expn", special::expn(c.x(0), c.x(1)));
STRATA_GOLDEN("scipy.special.owens_t", special::owens_t(c.x(0), c.x(1)));
STRATA_GOLDEN("scipy.special.comb",
              special::comb(c.x(0), c.x(1), {.repetition = c.flag("repetition")}));
STRATA_GOLDEN("scipy.special.bessel_jn",
              special::bessel_jn(c.x(0), {.v = c.integer("v"), .n_iter = c.integer("n_iter", 50)}));
STRATA_GOLDEN("scipy.special.bernoulli", special::bernoulli(c.integer("n")));
STRATA_GOLDEN("scipy.special.sph_harm_y",
              special::sph_harm_y(c.x(0), c.x(1), c.x(2), c.x(3), c.maybe("n_max")));
STRATA_GOLDEN("scipy.special.hyp1f1", special::hyp1f1(c.x(0), c.x(1), c.x(2)));
STRATA_GOLDEN("scipy.special.hyp2f1", special::hyp2f1(c.x(0), c.x(1), c.x(2), c.x(3)));

}  // namespace
}  // namespace strata
