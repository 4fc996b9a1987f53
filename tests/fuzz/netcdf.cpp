// read.netcdf over a hostile file of the classic formats.
#include "fuzz/sources.hpp"

using namespace cachebisect;
using namespace cachebisect::fuzz;

namespace {

constexpr std::uint64_t kMostNetcdfSamples = 200;

void check_variable(const std::string& path, std::uint64_t bytes, const std::string& name) {
  const auto source = opened("read.netcdf", path, {{"variable", name}});
  if (!source) return;
  require(source->size() > 0, "a variable that was opened has samples");
  const std::uint64_t most = std::min(source->size(), kMostNetcdfSamples);
  const std::uint64_t good = read_all(*source, most, [&](const Sample&, std::uint64_t i) {
    for (const FileRange& range : source->files(SampleIndex{i})) {
      require(range.offset <= bytes && range.bytes <= bytes - range.offset,
              "what is read lies in the file");
    }
  });
  require(good == most, "each sample of a variable that was opened can be read");
}

}  // namespace

extern "C" int CACHEBISECT_FUZZ_ENTRY(netcdf)(const std::uint8_t* data, std::size_t size) {
  // NetCDF-4 is for libhdf5's own fuzzers.
  if (!text_of(data, size).starts_with("CDF")) return 0;
  const std::string path = put_file("a.nc", bytes_of(data, size));
  for (const char* name : {"a", "b", "packed"}) check_variable(path, size, name);
  return 0;
}
