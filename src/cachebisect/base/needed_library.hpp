// A library that this machine must have for what was asked for.
#pragma once

#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/shared_library.hpp"

namespace cachebisect {

/// Functions of a library that is opened when they are needed, and stays in memory.
class CACHEBISECT_INTERNAL_API NeededLibrary {
 public:
  /// `name`: in messages; `package`: Debian's. Throws Error(usage) that names both if the library
  /// cannot be opened.
  NeededLibrary(const std::string& file, std::string name, const std::string& package);

  /// Sets `function`, a pointer to a function, to that of a symbol. Throws Error(usage) if there is
  /// none.
  template <class Function>
  void load(Function& function, const char* symbol) const {
    function = library_.function<Function>(symbol);
    if (function == nullptr) refuse(symbol);
  }

 private:
  [[noreturn]] void refuse(const char* symbol) const;

  std::string name_;
  SharedLibrary library_;
};

}  // namespace cachebisect
