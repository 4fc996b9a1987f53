#include "cachebisect/pipeline/plain_copy.hpp"

#include <string>

#include "cachebisect/protocol/settings.hpp"

namespace cachebisect {

PlainCopy::PlainCopy(const CopyOptions& options) : options_(options) {
  if (!settings::kCopyPrefetch.allows(options.prefetch)) {
    throw Error(ErrorKind::usage, "prefetch of the copy is " + std::to_string(options.prefetch) +
                                      "; it is 0 (no copy stream) to " +
                                      std::to_string(settings::kCopyPrefetch.max) + " batches");
  }
}

}  // namespace cachebisect
