// Sources over hostile files: what they give must be whole.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fuzz/fuzz_target.hpp"
#include "support/stage_maker.hpp"

namespace cachebisect::fuzz {

/// A source that was opened; null if it refuses its files.
inline std::unique_ptr<SourceStage> opened(const std::string& type, const std::string& path,
                                           const std::vector<test::NamedValue>& values = {}) {
  std::unique_ptr<SourceStage> source;
  const bool taken = takes({ErrorKind::data}, [&] {
    source = test::make_source(type, path, values);
    source->open();
  });
  return taken ? std::move(source) : nullptr;
}

/// Calls `check(sample, index)` for each sample that can be read, up to `most`; returns how many.
template <class Check>
std::uint64_t read_all(const SourceStage& source, std::uint64_t most, const Check& check) {
  std::uint64_t good = 0;
  for (std::uint64_t i = 0; i < std::min(source.size(), most); ++i) {
    Sample sample;
    const bool taken = takes({ErrorKind::data}, [&] { sample = test::read_sample(source, i); });
    if (taken) check(sample, i);
    good += taken ? 1 : 0;
  }
  return good;
}

/// The bytes of a dense field.
inline std::span<const std::byte> content(const Sample& sample, const char* field) {
  const Field& found = sample.field(field);
  return {found.view().data, found.byte_size()};
}

}  // namespace cachebisect::fuzz
