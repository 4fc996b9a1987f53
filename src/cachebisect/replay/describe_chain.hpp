// The chain as reports show it.
#pragma once

#include <span>

#include "cachebisect/protocol/chain_description.hpp"
#include "cachebisect/replay/trainer.hpp"

namespace cachebisect {

/// `item_bytes`: bytes of one sample by boundary; empty before the caches are filled.
ChainDescription describe_chain(const Trainer& trainer, std::span<const double> item_bytes);

}  // namespace cachebisect
