// Samples that are kept until the end, each in one piece of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "cachebisect/data/huge_page_buffer.hpp"
#include "cachebisect/data/memory.hpp"
#include "cachebisect/data/sample.hpp"

namespace cachebisect::stages {

/// Where the fields of a sample lie in its memory; shared by all samples with the same shapes.
struct KeptLayout {
  struct Member {
    std::string name;
    TensorView view;  ///< dense, of no data
    std::size_t offset = 0;
    friend bool operator==(const Member& a, const Member& b) noexcept {
      return a.name == b.name && a.view.dtype == b.view.dtype && a.view.shape == b.view.shape;
    }
  };
  std::vector<Member> members;
  std::size_t bytes = 0;  ///< of a sample, with what is in front of its fields

  friend bool operator==(const KeptLayout& a, const KeptLayout& b) noexcept {
    return a.members == b.members;
  }
};

/// Stands in front of the bytes of its fields.
struct KeptSample {
  SampleIndex index;
  SampleOrigin origin;
  const KeptLayout* layout = nullptr;

  /// Makes `out` a view of this sample.
  void show(Sample& out) const;
};

/// Owns kept samples. Small ones lie side by side in huge pages. Not thread safe.
class KeptSamples {
 public:
  /// Room for a sample.
  struct Place {
    std::byte* data = nullptr;
    const KeptLayout* layout = nullptr;
  };

  /// Takes what it needs out of `bytes_left`: a whole page where it begins one. None if too few are
  /// left.
  [[nodiscard]] std::optional<Place> reserve(const Sample& sample, std::uint64_t& bytes_left);

 private:
  struct HashLayout {
    std::size_t operator()(const KeptLayout& layout) const noexcept;
  };

  [[nodiscard]] const KeptLayout* layout_of(const Sample& sample, std::uint64_t& bytes_left);
  [[nodiscard]] std::byte* take(std::size_t bytes, std::uint64_t& bytes_left);
  [[nodiscard]] bool take_page(std::uint64_t& bytes_left);

  std::shared_ptr<MemoryResource> resource_ = host_memory();
  std::unordered_set<KeptLayout, HashLayout> layouts_;
  const KeptLayout* last_layout_ = nullptr;
  std::vector<HugePageBuffer> pages_;
  std::vector<Buffer> pieces_;  // each with one sample
  std::span<std::byte> page_;   // what is left of the last one
};

/// Copies the sample into a place that was reserved for it or for one with its shapes.
const KeptSample* pack(const Sample& sample, const KeptSamples::Place& place);

}  // namespace cachebisect::stages
