#include "cachebisect/objects/byte_cache.hpp"

namespace cachebisect {

ByteCache::~ByteCache() = default;

}  // namespace cachebisect
