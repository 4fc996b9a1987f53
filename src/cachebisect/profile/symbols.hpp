// Names of the functions of this process, by address.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "cachebisect/base/export.hpp"

namespace cachebisect::profile {

/// Reads the symbol tables of the loaded files, so that functions that are not exported have names
/// too. Functions that the compiler inlined have none. Not thread safe.
class CACHEBISECT_INTERNAL_API Symbols {
 public:
  Symbols();
  ~Symbols();
  Symbols(const Symbols&) = delete;
  Symbols& operator=(const Symbols&) = delete;

  /// "stages::Crop::process", without arguments; "libc.so.6 (no symbol)" in stripped code. An
  /// address that is a caller's points behind its call: `is_caller` looks before it.
  [[nodiscard]] const std::string& name_at(const void* address, bool is_caller);

 private:
  struct Module;
  [[nodiscard]] std::string find(const void* address);
  const Module& module_of(const void* base, const char* file);

  std::map<const void*, std::unique_ptr<Module>> modules_;  ///< by load address
  std::map<const void*, std::string> names_;                ///< by address
};

/// "a::B::f" of "a::B::f(int, std::vector<int> const&) const"; template arguments are left out.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string without_arguments(const std::string& signature);

}  // namespace cachebisect::profile
