// The reference evaluator as a device: slow, obvious, and bit for bit what compiled code gives.
// `STRATA_BACKEND=reference` makes it the process's client, to tell a wrong program from a wrong
// compilation.
#pragma once

#include <memory>

#include "strata/runtime/client.h"

namespace strata::runtime {

std::unique_ptr<Client> make_reference_client();

}  // namespace strata::runtime
