#include "cachebisect/bisect/report/report.hpp"

namespace cachebisect {

const char* to_string(EditKind kind) noexcept {
  switch (kind) {
    case EditKind::set:
      return "set";
    case EditKind::insert:
      return "insert";
    case EditKind::remove:
      return "remove";
  }
  return "unknown";
}

}  // namespace cachebisect
