// Writes a data set once, at a stage, and the pipeline that reads it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "cachebisect/prepare/places.hpp"

namespace cachebisect::prepare {

struct Options {
  std::string folder;             ///< made if it is missing
  std::string after;              ///< name of a stage; empty: the one that gains most
  std::string codec;              ///< empty: the one that gains most, or "none"
  std::uint64_t shard_bytes = 0;  ///< 0: 128 MiB, and more for a set of more than 512 such shards
  bool random_too = false;  ///< stages may draw random numbers: each sample is one draw forever
  bool dry_run = false;     ///< measures, writes nothing
  std::stop_token stop{};
  std::function<void(const std::string&)> progress{};
};

/// What was written.
struct Written {
  std::string after;
  std::string codec;
  std::uint64_t samples = 0;
  std::uint64_t left_out = 0;  ///< damaged samples, which their stage skips
  std::uint64_t shards = 0;
  std::uint64_t bytes = 0;
  std::uint64_t resumed = 0;  ///< samples of the source that an earlier run had written
  double seconds = 0;
  std::string pipeline;  ///< path of the pipeline file; empty for a pipeline without one
};

struct Result {
  std::string name;  ///< of the pipeline
  std::string folder;
  Places places;
  std::optional<Choice> choice;    ///< empty: nothing gains
  std::optional<Written> written;  ///< empty: a dry run, or nothing gains
  double free_bytes = 0;           ///< of the disk, before
};

/// Writes the samples behind a stage as shards, and `pipeline.json`, which reads them and runs the
/// stages behind it. A run that ended early is gone on with. Uses all cores. Of a pipeline that a
/// program built, parameters of stages are not known: after a change, name another folder. Throws
/// Error(usage) if there is no such stage, or it draws random numbers, or the folder holds anything
/// else; Error(data) naming what cannot be read or written, with what was written left whole;
/// Error(interrupted).
[[nodiscard]] CACHEBISECT_INTERNAL_API Result prepare(const Pipeline& pipeline,
                                                      const Options& options);

}  // namespace cachebisect::prepare
