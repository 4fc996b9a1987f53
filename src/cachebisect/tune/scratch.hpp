// What trials write: subfolders of a folder that the user named, and nothing else there.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/pipeline/pipeline.hpp"
#include "cachebisect/pipeline/pipeline_spec.hpp"
#include "cachebisect/pipeline/registry.hpp"
#include "cachebisect/tune/scratch_folder.hpp"
#include "cachebisect/tune/tune.hpp"

namespace cachebisect::tune {

/// A folder has the name of what it is of, with a digest of the stages that made it: another run
/// goes on with it. Not thread safe.
class CACHEBISECT_INTERNAL_API Scratch {
 public:
  struct Tools {
    std::stop_token stop{};
    std::function<void(const std::string&)> progress{};
  };

  /// Keeps a reference to the registry. Throws Error(usage) if there can be no such folder, or if
  /// it cannot be written to.
  Scratch(const std::string& folder, const Registry& registry, Tools tools);

  /// Writes what the trial needs, and sets its folder and its edits of `best`, which then use it.
  /// `samples_per_second`: of `best`. True if memory holds all of it. Throws Error(data) if there
  /// is no room, or if the disk is too slow for a gain; what prepare() throws, with whole shards
  /// left; Error(interrupted).
  bool make(Trial& trial, const PipelineSpec& best, double samples_per_second);
  /// Removes the folder of a trial, unless it was there before this object. False if it stays.
  bool remove(const Trial& trial) const;

 private:
  bool make_cache(Trial& trial, const PipelineSpec& best, double samples_per_second);
  bool make_data_set(Trial& trial, const PipelineSpec& best, double samples_per_second);
  /// Without caches. Throws Error(usage) if the folder lies in its data set.
  [[nodiscard]] Pipeline opened(const PipelineSpec& best) const;
  /// Notes whether it is there already.
  std::string subfolder(const char* kind, const PipelineSpec& best, std::size_t stages);

  ScratchFolder folder_;
  const Registry& registry_;
  Tools tools_;
};

}  // namespace cachebisect::tune
