#include "stages/datasets/held_bytes.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>

#include "cachebisect/base/machine.hpp"
#include "cachebisect/base/number_format.hpp"

namespace cachebisect::stages {
namespace {

void require_room(const InputFile& file) {
  const double available = available_memory().available_bytes;
  const auto bytes = static_cast<double>(file.size());
  if (available == 0 || bytes <= available) return;
  throw Error(ErrorKind::usage, file.path() + ": has " + format_bytes(bytes) + ", and " +
                                    format_bytes(available) +
                                    " of memory are available; leave out \"in_memory\"");
}

}  // namespace

HugePageBuffer read_whole(const InputFile& file, const OpenContext& context) {
  constexpr std::size_t kPiece = std::size_t{16} << 20;
  require_room(file);
  HugePageBuffer held(file.size());
  const std::span<std::byte> all = held.bytes();
  for (std::size_t done = 0; done < all.size(); done += kPiece) {
    context.check_stop();
    file.read(done, all.subspan(done, std::min(kPiece, all.size() - done)));
  }
  return held;
}

ParamSpec in_memory_param() {
  return {.name = "in_memory",
          .type = ParamType::boolean,
          .doc =
              "read all files when the pipeline opens, and hold them in memory, as torchvision's "
              "data set does; else each sample is read from its file",
          .default_value = false};
}

}  // namespace cachebisect::stages
