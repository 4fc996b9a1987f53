// How a source that reads runs of samples at once says when it reads one.
#pragma once

#include <cstdint>
#include <functional>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// What a SourceStage may be in addition.
class CACHEBISECT_INTERNAL_API RunReader {
 public:
  using Listener = std::function<void(std::uint64_t bytes)>;

  virtual ~RunReader();
  /// From now on the thread that reads a run calls `listener` before, with the bytes of the run;
  /// what it throws ends the read. False, and nothing is called, if samples are read one by one.
  /// Valid after open(), and not while samples are read.
  virtual bool listen(Listener listener) = 0;
};

}  // namespace cachebisect
