// libFuzzer's own mutations, and values of JSON: chance alone would mostly give what is no JSON.
#include <cstring>

#include "fuzz/mutate.hpp"

using namespace cachebisect;

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  RandomStream random({.seed = seed});
  if (random.below(4) > 0) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto changed = fuzz::mutated_json(text, random);
    if (changed && changed->size() <= most) {
      std::memcpy(data, changed->data(), changed->size());
      return changed->size();
    }
  }
  return LLVMFuzzerMutate(data, size, most);
}
