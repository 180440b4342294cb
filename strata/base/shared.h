// A value that copies share: one word, counted, written only by whoever holds it alone.
//
//   Shared<std::string> a = Shared<std::string>::of("x"), b = a;   // one string
//   b.own() += "y";                                                // b has its own now
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace strata {

template <class T>
class Shared {
 public:
  constexpr Shared() = default;  // holds nothing
  template <class... Args>
  static Shared of(Args&&... args) {
    return Shared(new Node{{1}, T{std::forward<Args>(args)...}});
  }
  Shared(const Shared& other) : node_(other.node_) {
    if (node_ != nullptr) node_->uses.fetch_add(1, std::memory_order_relaxed);
  }
  Shared(Shared&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  Shared& operator=(Shared other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~Shared() {
    if (node_ != nullptr && node_->uses.fetch_sub(1, std::memory_order_acq_rel) == 1)
      discard(node_);
  }

  explicit operator bool() const { return node_ != nullptr; }
  const T& operator*() const { return node_->value; }
  const T* operator->() const { return &node_->value; }
  const T* get() const { return node_ == nullptr ? nullptr : &node_->value; }
  /// The value, to be written: copied first unless nobody else holds it; made when there is none.
  T& own() {
    if (node_ == nullptr)
      *this = of();
    else if (node_->uses.load(std::memory_order_acquire) != 1)
      *this = of(node_->value);
    return node_->value;
  }

 private:
  struct Node {
    std::atomic<std::uint32_t> uses;
    T value;
  };
  /// Specialised where a header that many sources read leaves the end of its T to one of them.
  static void discard(Node* node) { delete node; }
  explicit Shared(Node* node) : node_(node) {}
  Node* node_ = nullptr;
};

}  // namespace strata
