// synthetic.memory: streams bytes through memory, past the caches.
#include <algorithm>
#include <cstring>
#include <vector>

#include "stages/kernels/target_clones.hpp"
#include "stages/support/synthetic.hpp"

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

// Larger than any last-level cache that one process can expect.
constexpr std::size_t kPool = std::size_t{128} << 20;

CACHEBISECT_CLONES std::uint64_t sum_words(const std::uint64_t* words, std::size_t count) noexcept {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += words[i];
  return sum;
}

class Memory final : public SampleStage {
 public:
  explicit Memory(const Params& params)
      : words_((static_cast<std::size_t>(params.integer("bytes")) + 7) / sizeof(std::uint64_t)) {}

  SampleSpec infer(const SampleSpec& input) override { return input; }

  // Written once, so that no page is the kernel's shared page of zeros.
  void open() override { pool_.assign(kPool / sizeof(std::uint64_t), 1); }

  void process(const Sample&, Sample&, const SampleContext& context) const override {
    if (pool_.empty()) throw Error(ErrorKind::internal, "synthetic.memory ran before open()");
    // Consecutive samples read consecutive pieces: a piece is read again only after the whole pool.
    std::size_t at = static_cast<std::size_t>(context.index().value * words_ % pool_.size());
    std::uint64_t sum = 0;
    for (std::size_t left = words_; left > 0;) {
      const std::size_t piece = std::min(left, pool_.size() - at);
      sum += sum_words(pool_.data() + at, piece);
      left -= piece;
      at = 0;
    }
    // Uses the sum, or the compiler would remove the loop.
    asm volatile("" : : "r"(sum));
  }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> pool_;
};

}  // namespace

void register_synthetic_memory(Registry& registry) {
  registry.add({.type = "synthetic.memory",
                .doc = "Reads `bytes` bytes per sample from memory, past the caches",
                .kind = StageKind::sample,
                .params = {bytes_param("bytes that each sample reads from memory", 1 << 20)},
                .example = R"({"bytes": 65536})",
                .make = [](const Params& params) { return std::make_unique<Memory>(params); }});
}

}  // namespace cachebisect::stages
