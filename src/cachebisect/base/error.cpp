#include "cachebisect/base/error.hpp"

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

Error Error::with_context(std::string_view context) const {
  return {kind_, std::string(context) + ": " + what()};
}

}  // namespace cachebisect
