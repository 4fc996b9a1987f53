// A shared library opened at run time.
#pragma once

#include <string>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// Opens a library with all its symbols bound (RTLD_NOW) and none of them visible to others
/// (RTLD_LOCAL), and closes it.
class CACHEBISECT_INTERNAL_API SharedLibrary {
 public:
  enum class Unload {
    on_close,
    never,  ///< keeps it in memory (RTLD_NODELETE), for code that does not survive unloading
  };

  /// `file`: a path, or a name for the loader to look up. Check is_open().
  explicit SharedLibrary(const std::string& file, Unload unload = Unload::on_close);
  SharedLibrary(const SharedLibrary&) = delete;
  SharedLibrary& operator=(const SharedLibrary&) = delete;
  ~SharedLibrary();

  [[nodiscard]] bool is_open() const noexcept { return handle_ != nullptr; }
  /// Why it could not be opened, in the loader's words; empty if it is open.
  [[nodiscard]] const std::string& error() const noexcept { return error_; }
  /// A function by its symbol; null if there is none. `Function` is a pointer to a function. The
  /// library must be open.
  template <class Function>
  [[nodiscard]] Function function(const char* symbol) const noexcept {
    return reinterpret_cast<Function>(address(symbol));
  }

 private:
  [[nodiscard]] void* address(const char* symbol) const noexcept;

  void* handle_;
  std::string error_;
};

}  // namespace cachebisect
