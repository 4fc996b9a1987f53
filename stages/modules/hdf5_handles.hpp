// What every call of libhdf5 needs: its lock, its handles closed, its errors as text.
#pragma once

#include <mutex>
#include <string>
#include <utility>

#include <hdf5.h>

#include "cachebisect/base/printable.hpp"

namespace cachebisect::stages {

/// libhdf5 has one lock for all files, or none. This one serves both kinds.
inline std::mutex& hdf5_mutex() {
  static std::mutex mutex;
  return mutex;
}

/// While it lives, this thread alone calls libhdf5, which prints nothing.
class Hdf5Section {
 public:
  Hdf5Section() : lock_(hdf5_mutex()) {
    // Files are read alone: nothing is left to write at exit, when those that are damaged cannot be
    // closed, of which it would complain.
    static const herr_t at_exit = H5dont_atexit();
    static_cast<void>(at_exit);
    H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Hdf5Section() { H5Eset_auto2(H5E_DEFAULT, print_, data_); }
  Hdf5Section(const Hdf5Section&) = delete;
  Hdf5Section& operator=(const Hdf5Section&) = delete;

 private:
  std::scoped_lock<std::mutex> lock_;
  H5E_auto2_t print_ = nullptr;
  void* data_ = nullptr;
};

/// Closed within a section.
class Hdf5Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Hdf5Handle() = default;
  Hdf5Handle(hid_t id, Close close) : id_(id), close_(close) {}
  Hdf5Handle(Hdf5Handle&& other) noexcept
      : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  Hdf5Handle(const Hdf5Handle&) = delete;
  Hdf5Handle& operator=(const Hdf5Handle&) = delete;
  ~Hdf5Handle() { reset(); }

  [[nodiscard]] hid_t id() const noexcept { return id_; }
  [[nodiscard]] bool is_open() const noexcept { return id_ >= 0; }
  void reset() noexcept {
    if (is_open()) close_(std::exchange(id_, H5I_INVALID_HID));
  }

 private:
  hid_t id_ = H5I_INVALID_HID;
  Close close_ = nullptr;
};

/// The innermost reason of the last call that failed.
inline std::string hdf5_reason() {
  std::string reason = "libhdf5 gives no reason";
  const auto take = [](unsigned depth, const H5E_error2_t* error, void* text) -> herr_t {
    if (depth == 0 && error->desc != nullptr) *static_cast<std::string*>(text) = error->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take, &reason);
  return printable(reason);
}

}  // namespace cachebisect::stages
