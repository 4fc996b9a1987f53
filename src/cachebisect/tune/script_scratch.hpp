// What trials on the loader of a script write: the adapter writes it, in a folder that is named
// here, and removed here if the change does not gain.
#pragma once

#include <stop_token>
#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/protocol/chain_description.hpp"
#include "cachebisect/tune/scratch_folder.hpp"
#include "cachebisect/tune/tune.hpp"

namespace cachebisect::tune {

/// A folder has the name of the stage, with a digest of the stages before it: another run goes on
/// with it, and the adapter refuses what is of other code. Not thread safe.
class CACHEBISECT_INTERNAL_API ScriptScratch {
 public:
  /// Throws Error(usage) if there can be no such folder, or if it cannot be written to.
  explicit ScriptScratch(const std::string& folder) : folder_(folder) {}

  /// Names the folder of a trial, and sets its edits and lines of code, which then use it. Nothing
  /// is written yet. `samples_per_second`: of the best version so far. Throws Error(data) if there
  /// is no room, or if the disk is too slow for a gain; Error(output), Error(interrupted).
  void make(Trial& trial, const ChainDescription& chain, double samples_per_second,
            const std::stop_token& stop);
  /// Removes the folder of a trial, unless it was there before this object. False if it stays.
  [[nodiscard]] bool remove(const Trial& trial) const;

 private:
  ScratchFolder folder_;
};

}  // namespace cachebisect::tune
