#include "stages/datasets/chunk_files.hpp"

#include <algorithm>
#include <cerrno>

#include <unistd.h>

namespace cachebisect::stages {
namespace {

/// An object is known by about a kilobyte.
constexpr std::size_t kMostKnown = 16'384;

ChunkFile chunk_file(const std::shared_ptr<const ByteSource>& object,
                     std::span<const std::byte> head) {
  return {.path = object->path(),
          .bytes = object->size(),
          .file = {},
          .object = object,
          .head = head.first(std::min<std::uint64_t>(head.size(), object->size()))};
}

}  // namespace

void ChunkFile::read(std::uint64_t offset, std::span<std::byte> out) const {
  if (!object) return read_exactly(file.get(), path.c_str(), offset, out);
  const std::size_t begin =
      offset < head_at ? head.size() : std::min<std::uint64_t>(offset - head_at, head.size());
  const auto there = head.subspan(begin, std::min(head.size() - begin, out.size()));
  std::ranges::copy(there, out.begin());
  object->read(offset + there.size(), out.subspan(there.size()));
}

std::optional<ChunkFile> ChunkFiles::open(const std::string& path) const {
  if (store_) {
    const Wanted wanted{.path = path};
    return std::move(open_objects({&wanted, 1}).front());
  }
  if (::access(path.c_str(), F_OK) != 0 && errno == ENOENT) return std::nullopt;
  ChunkFile file{.path = path};
  file.file = open_regular(path.c_str(), file.bytes);
  return file;
}

std::vector<std::optional<ChunkFile>> ChunkFiles::open(std::span<const Wanted> wanted) const {
  if (store_) return open_objects(wanted);
  std::vector<std::optional<ChunkFile>> files;
  for (const Wanted& one : wanted) files.push_back(open(one.path));
  return files;
}

std::vector<std::optional<ChunkFile>> ChunkFiles::open_objects(
    std::span<const Wanted> wanted) const {
  std::vector<WantedObject> asked;
  std::vector<std::size_t> place(wanted.size());  // in `asked`, from 1 on; 0: known to be missing
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::optional<Object> object = known(wanted[i].path);
    if (object && !*object) continue;
    asked.push_back({wanted[i].path, wanted[i].head, object.value_or(nullptr)});
    place[i] = asked.size();
  }
  RemoteStore::find(store_, asked);
  std::vector<std::optional<ChunkFile>> files(wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (place[i] == 0) continue;
    const Object& object = asked[place[i] - 1].object;
    remember(wanted[i].path, object);
    if (object) files[i] = chunk_file(object, wanted[i].head);
  }
  return files;
}

std::optional<ChunkFiles::Object> ChunkFiles::known(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(path);
  return found == known_.end() ? std::nullopt : std::optional(found->second);
}

void ChunkFiles::remember(const std::string& path, const Object& object) const {
  const std::lock_guard lock(mutex_);
  if (known_.size() >= kMostKnown) known_.erase(known_.begin());
  known_.emplace(path, object);
}

}  // namespace cachebisect::stages
