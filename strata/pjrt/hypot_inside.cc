// hypot under the name that every glibc has: 2.35 gave it a new version, which a library that only
// names `hypot` would ask for.
#include <math.h>

extern "C" double strata_hypot_of_2_2_5(double x, double y) noexcept;
__asm__(".symver strata_hypot_of_2_2_5, hypot@GLIBC_2.2.5");

extern "C" double hypot(double x, double y) noexcept { return strata_hypot_of_2_2_5(x, y); }
