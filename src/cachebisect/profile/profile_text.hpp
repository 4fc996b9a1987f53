// A profile as text for a terminal.
#pragma once

#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/format/text_options.hpp"
#include "cachebisect/profile/profile.hpp"

namespace cachebisect::profile {

/// Which operators and functions are shown, the first of this order.
struct CallView {
  CallOrder order = CallOrder::self;
  std::size_t top = 15;
};

[[nodiscard]] CACHEBISECT_INTERNAL_API std::string to_text(const Profile& profile,
                                                           const TextOptions& options = {},
                                                           const CallView& calls = {});

}  // namespace cachebisect::profile
