// read.parquet over a hostile file, where the build has Arrow.
#include "fuzz/sources.hpp"

using namespace cachebisect;
using namespace cachebisect::fuzz;

#ifdef CACHEBISECT_WITH_PARQUET
namespace {

constexpr std::uint64_t kMostParquetRows = 200;

/// Whether Arrow allocates where sanitizers and libFuzzer see it.
bool watch_arrow() { return setenv("ARROW_DEFAULT_MEMORY_POOL", "system", 1) == 0; }

void check_table(const std::string& path, std::uint64_t bytes, const std::string& image,
                 const std::string& label) {
  const auto source = opened("read.parquet", path,
                             {{"image", image}, {"label", label}, {"shuffle_buffer_mb", 4.0}});
  if (!source) return;
  require(source->size() > 0, "a table that was opened has rows");
  const Shape shape = source->infer()[0].shape;
  static_cast<void>(read_all(*source, kMostParquetRows, [&](const Sample& sample, std::uint64_t i) {
    require(!content(sample, "image").empty(), "a sample has a value");
    if (shape.is_static()) require(sample.field("image").view().shape == shape, "rows are alike");
    for (const FileRange& range : source->files(SampleIndex{i})) {
      require(range.offset <= bytes && range.bytes <= bytes - range.offset,
              "what is read lies in the file");
    }
  }));
}

}  // namespace
#endif

extern "C" int CACHEBISECT_FUZZ_ENTRY(parquet)(const std::uint8_t* data, std::size_t size) {
#ifdef CACHEBISECT_WITH_PARQUET
  static const bool watched = watch_arrow();
  require(watched, "the environment can be set");
  const std::string path = put_file("a.parquet", bytes_of(data, size));
  check_table(path, size, "image", "label");
  check_table(path, size, "image", "");
  check_table(path, size, "list", "");
#else
  static_cast<void>(data);
  static_cast<void>(size);
#endif
  return 0;
}
