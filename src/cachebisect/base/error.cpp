#include "cachebisect/base/error.hpp"

#include <utility>

namespace cachebisect {

int exit_code(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::usage:
      return 2;
    case ErrorKind::data:
      return 3;
    case ErrorKind::device:
      return 4;
    case ErrorKind::gate:
      return 5;
    case ErrorKind::output:
      return 6;
    case ErrorKind::interrupted:
      return 130;
    case ErrorKind::internal:
      break;
  }
  return 1;
}

Error::Error(ErrorKind kind, const std::string& message)
    : std::runtime_error(message), kind_(kind) {}

Error::~Error() = default;

OutOfMemory::OutOfMemory(const std::string& message) : Error(ErrorKind::device, message) {}

OutOfMemory::~OutOfMemory() = default;

Error Error::with_context(std::string_view context) const {
  Error error(kind_, std::string(context) + ": " + what());
  error.details_ = details_;
  return error;
}

Error Error::with_details(std::vector<std::string> lines) const {
  Error error = *this;
  error.details_ = std::make_shared<const std::vector<std::string>>(std::move(lines));
  return error;
}

std::vector<std::string> Error::details() const {
  return details_ ? *details_ : std::vector<std::string>();
}

}  // namespace cachebisect
