// A hostile tar archive: its members, and the samples that read.webdataset makes of them.
#include "fuzz/sources.hpp"
#include "stages/datasets/tar_reader.hpp"

#include "cachebisect/objects/byte_source.hpp"

using namespace cachebisect;
using namespace cachebisect::fuzz;

namespace {

/// Members lie in the file, one after the other.
void check_members(const std::string& path) {
  const auto file = open_file(path);
  takes({ErrorKind::data}, [&] {
    stages::TarReader reader(*file);
    std::uint64_t end = 0;
    while (const auto member = reader.next()) {
      require(member->offset >= end + stages::kTarBlockBytes, "a header lies between two members");
      require(member->offset <= file->size() && member->bytes <= file->size() - member->offset,
              "a member lies in its archive");
      require(member->name.find('\0') == std::string::npos, "a name is a file name");
      end = member->offset + member->bytes;
    }
  });
}

void check_samples(std::span<const std::byte> archive, const std::string& path,
                   const std::string& label, double buffer_mb) {
  const auto source =
      opened("read.webdataset", path, {{"label", label}, {"shuffle_buffer_mb", buffer_mb}});
  if (!source) return;
  require(source->size() > 0, "an archive that was opened has samples");
  read_all(*source, 1000, [&](const Sample& sample, std::uint64_t i) {
    const auto image = content(sample, "image");
    require(!image.empty(), "an image has bytes");
    require(
        std::search(archive.begin(), archive.end(), image.begin(), image.end()) != archive.end(),
        "an image is bytes of the archive");
    for (const FileRange& range : source->files(SampleIndex{i})) {
      require(range.offset <= archive.size() && range.bytes <= archive.size() - range.offset,
              "what is read lies in the archive");
    }
  });
}

}  // namespace

extern "C" int CACHEBISECT_FUZZ_ENTRY(tar)(const std::uint8_t* data, std::size_t size) {
  const auto archive = bytes_of(data, size);
  const std::string path = put_file("set.tar", archive);
  check_members(path);
  check_samples(archive, path, "cls", 0);
  check_samples(archive, path, "json:label", 1);
  check_samples(archive, path, "", 0);
  return 0;
}
