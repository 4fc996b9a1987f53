// Where in the caches the blocks of each arm begin.
#pragma once

#include <cstdint>
#include <map>

#include "cachebisect/base/export.hpp"
#include "cachebisect/protocol/arm.hpp"

namespace cachebisect {

/// Arms begin with batch 0 of caches that are filled for the first time. Each block goes on where
/// the last one stopped, so that it serves other samples, until all were served. Then the arm
/// begins anew at a random place: if its blocks were as long as what is cached, the same batches
/// would always be among the untimed ones. Not thread safe.
class CACHEBISECT_INTERNAL_API CachePlaces {
 public:
  /// The first batch of a block of `arm`, of `cached` ones.
  std::uint64_t begin(const Arm& arm, std::uint64_t cached);
  /// The caches are filled for the first time, or with another number of samples.
  void clear() noexcept { places_.clear(); }
  /// The caches hold samples that no arm has served: all arms begin anew.
  void freshen() noexcept;
  /// The block has loaded so many batches.
  void end(const Arm& arm, std::uint64_t batches);

 private:
  struct Place {
    std::uint64_t next = 0;
    std::uint64_t left = 0;   ///< until another place is drawn
    std::uint64_t drawn = 0;  ///< places so far; arms with as many draw the same ones
  };
  std::map<Arm, Place> places_;
};

}  // namespace cachebisect
