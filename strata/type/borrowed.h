// Memory that a literal reads and nobody writes to: a caller's array, a mapped file.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace strata {

/// The bytes at `data` as a literal's storage. `release`, where given, runs once, when the last
/// copy of the pointer dies. A literal of such bytes is never unique (Literal::is_unique), so that
/// no program that is given it as a donated argument writes to them.
std::shared_ptr<std::byte[]> borrowed_bytes(const std::byte* data, std::function<void()> release);

}  // namespace strata
