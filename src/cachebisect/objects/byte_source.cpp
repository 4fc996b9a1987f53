#include "cachebisect/objects/byte_source.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/file.hpp"
#include "cachebisect/http/shown_url.hpp"
#include "cachebisect/objects/remote_store.hpp"

namespace cachebisect {
namespace {

class LocalBytes final : public ByteSource {
 public:
  explicit LocalBytes(InputFile file)
      : ByteSource(file.path(), file.size()), file_(std::move(file)) {}

  [[nodiscard]] bool is_remote() const noexcept override { return false; }
  void read(std::uint64_t offset, std::span<std::byte> first,
            std::span<std::byte> second) const override {
    if (second.empty()) return file_.read(offset, first);
    file_.read(offset, first, second);
  }

 private:
  InputFile file_;
};

}  // namespace

ByteSource::~ByteSource() = default;

std::string object_line(const ByteSource& source) {
  if (!source.is_remote()) return "";
  return source.path() + ' ' + std::to_string(source.size()) + ' ' + source.tag() + '\n';
}

bool is_remote_path(std::string_view path) noexcept {
  constexpr std::array<std::string_view, 3> kSchemes{"http://", "https://", "s3://"};
  return std::ranges::any_of(kSchemes,
                             [&](std::string_view scheme) { return path.starts_with(scheme); });
}

std::string shown_path(const std::string& path) {
  return is_remote_path(path) ? shown_url(path) : path;
}

std::unique_ptr<const ByteSource> open_file(const std::string& path) {
  return std::make_unique<const LocalBytes>(InputFile(path));
}

std::unique_ptr<const ByteSource> open_bytes(const std::string& path,
                                             const std::shared_ptr<const RemoteStore>& store) {
  if (!is_remote_path(path)) return open_file(path);
  if (!store) throw Error(ErrorKind::internal, path + ": there is no store of objects");
  return RemoteStore::open(store, path);
}

}  // namespace cachebisect
