#include "cachebisect/replay/cache/content_hash.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace cachebisect {
namespace {

std::uint64_t extend(std::uint64_t hash, const ConstTensorView& view) {
  return XXH3_64bits_withSeed(view.data, view.byte_size(), hash);
}

}  // namespace

std::uint64_t content_hash(const Sample& sample) {
  std::uint64_t hash = 0;
  for (const Sample::NamedField& named : sample.fields()) hash = extend(hash, named.field.view());
  return hash;
}

std::uint64_t content_hash(const Batch& batch) {
  std::uint64_t hash = 0;
  for (const BatchField& field : batch.fields) hash = extend(hash, field.tensor);
  return hash;
}

}  // namespace cachebisect
