// The version of Strata, which CMakeLists.txt names too.
#pragma once

#define STRATA_VERSION "0.1.0"
