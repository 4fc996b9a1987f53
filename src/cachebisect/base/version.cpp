#include "cachebisect/base/version.hpp"

namespace cachebisect {

const char* version() noexcept { return CACHEBISECT_VERSION; }

const char* git_revision() noexcept { return CACHEBISECT_GIT; }

}  // namespace cachebisect
