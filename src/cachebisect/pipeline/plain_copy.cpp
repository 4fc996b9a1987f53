#include "cachebisect/pipeline/plain_copy.hpp"

#include <string>

namespace cachebisect {

PlainCopy::PlainCopy(const CopyOptions& options) : options_(options) {
  constexpr int kMaxPrefetch = 3;
  if (options.prefetch < 0 || options.prefetch > kMaxPrefetch) {
    throw Error(ErrorKind::usage, "prefetch of the copy is " + std::to_string(options.prefetch) +
                                      "; it is 0 (no copy stream) to " +
                                      std::to_string(kMaxPrefetch) + " batches");
  }
}

}  // namespace cachebisect
