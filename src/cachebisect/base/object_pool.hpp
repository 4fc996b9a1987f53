// A pool of reusable objects that threads borrow without a lock.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace cachebisect {

/// Thread safe. Keeps at most Capacity idle objects; further ones are destroyed when returned.
template <class T, std::size_t Capacity = 64>
class ObjectPool {
 public:
  ObjectPool() = default;
  ObjectPool(const ObjectPool&) = delete;
  ObjectPool& operator=(const ObjectPool&) = delete;
  ObjectPool(ObjectPool&&) = delete;
  ObjectPool& operator=(ObjectPool&&) = delete;
  ~ObjectPool() {
    for (std::atomic<T*>& slot : slots_) const std::unique_ptr<T> owned(slot.load());
  }

  /// Returns its object to the pool when destroyed.
  class Loan {
   public:
    Loan(ObjectPool& pool, std::unique_ptr<T> object) noexcept
        : pool_(&pool), object_(std::move(object)) {}
    Loan(Loan&&) noexcept = default;
    Loan& operator=(Loan&&) = delete;
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    ~Loan() {
      if (object_) pool_->put(std::move(object_));
    }
    T* operator->() const noexcept { return object_.get(); }
    T& operator*() const noexcept { return *object_; }

   private:
    ObjectPool* pool_;
    std::unique_ptr<T> object_;
  };

  /// An idle object, or a new one.
  [[nodiscard]] Loan borrow() { return borrow(std::make_unique<T>); }
  /// The same; make() returns a std::unique_ptr<T>.
  template <class Make>
  [[nodiscard]] Loan borrow(const Make& make) {
    for (std::atomic<T*>& slot : slots_) {
      if (slot.load(std::memory_order_relaxed) == nullptr) continue;
      if (T* object = slot.exchange(nullptr, std::memory_order_acquire))
        return Loan(*this, std::unique_ptr<T>(object));
    }
    return Loan(*this, make());
  }

 private:
  void put(std::unique_ptr<T> object) noexcept {
    for (std::atomic<T*>& slot : slots_) {
      T* empty = nullptr;
      if (slot.compare_exchange_strong(empty, object.get(), std::memory_order_release,
                                       std::memory_order_relaxed)) {
        static_cast<void>(object.release());
        return;
      }
    }
  }

  std::array<std::atomic<T*>, Capacity> slots_{};
};

}  // namespace cachebisect
