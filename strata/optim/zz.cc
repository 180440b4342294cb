#include "strata/optim/optim.h"
