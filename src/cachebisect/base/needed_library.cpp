#include "cachebisect/base/needed_library.hpp"

#include <utility>

#include "cachebisect/base/error.hpp"

namespace cachebisect {

NeededLibrary::NeededLibrary(const std::string& file, std::string name, const std::string& package)
    : name_(std::move(name)), library_(file, SharedLibrary::Unload::never) {
  if (library_.is_open()) return;
  throw Error(ErrorKind::usage, name_ + " cannot be opened: " + library_.error() +
                                    "; install it (Debian's " + package + ")");
}

void NeededLibrary::refuse(const char* symbol) const {
  throw Error(ErrorKind::usage, name_ + " has no " + symbol);
}

}  // namespace cachebisect
