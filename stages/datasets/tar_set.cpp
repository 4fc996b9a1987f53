#include "stages/datasets/tar_set.hpp"

#include <algorithm>
#include <functional>
#include <mutex>
#include <utility>

#include "stages/datasets/tar_paths.hpp"

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/number_format.hpp"
#include "cachebisect/base/parallel.hpp"
#include "cachebisect/base/shell_word.hpp"
#include "cachebisect/data/sample_place.hpp"

namespace cachebisect::stages {
namespace {

/// Says how far the scan is; called by several threads.
class ScanProgress {
 public:
  ScanProgress(std::string path, const OpenContext& context)
      : path_(std::move(path)), context_(&context) {}

  void add(std::uint64_t members) {
    constexpr std::uint64_t kBetweenReports = 16'384;
    context_->check_stop();
    const std::lock_guard lock(mutex_);
    const bool tell = (members_ + members) / kBetweenReports > members_ / kBetweenReports;
    members_ += members;
    if (tell) context_->report("indexing " + path_ + ": " + format_count(members_) + " members");
  }

 private:
  std::string path_;
  const OpenContext* context_;
  std::mutex mutex_;
  std::uint64_t members_ = 0;
};

/// Opens and indexes archives; called by several threads.
class TarOpener {
 public:
  TarOpener(const TarSetOptions& options, bool keep_open)
      : options_(&options), keep_open_(keep_open) {}

  [[nodiscard]] TarFile open(const std::string& path,
                             const std::function<void(std::uint64_t)>& on_members) {
    auto bytes = open_bytes(path, options_->store);
    const Packing packing = bytes->is_remote() ? Packing::none : packing_of(*bytes);
    if (packing != Packing::none) return open_packed(std::move(bytes), packing, on_members);
    TarIndex index = index_tar(*bytes, options_->members, on_members);
    return {std::move(bytes), std::move(index), keep_open_};
  }

 private:
  TarFile open_packed(std::unique_ptr<const ByteSource> file, Packing packing,
                      const std::function<void(std::uint64_t)>& on_members) {
    if (options_->most_unpacked == 0) refuse_packed(file->path(), packing_name(packing));
    const UnpackingLimit::Turn turn = unpacking_.wait();
    const auto content = unpack(file->path(), packing, options_->most_unpacked);
    TarIndex index = index_tar(*content, options_->members, on_members);
    return {std::move(file), packing, content->size(), std::move(index)};
  }

  [[noreturn]] static void refuse_packed(const std::string& path, const PackingName& packing) {
    throw Error(ErrorKind::data,
                path + ": is compressed with " + packing.name +
                    ", so its members cannot be read alone; give \"shuffle_buffer_mb\", in which "
                    "whole archives are shuffled, or unpack it once: " +
                    packing.command + " " + shell_word(path) + " > NEW.tar");
  }

  const TarSetOptions* options_;
  bool keep_open_;
  UnpackingLimit unpacking_;
};

}  // namespace

TarFile::TarFile(std::unique_ptr<const ByteSource> bytes, TarIndex index, bool keep_open)
    : file_(std::move(bytes), keep_open), bytes_(file_.size()), index_(std::move(index)) {}

TarFile::TarFile(std::unique_ptr<const ByteSource> packed, Packing packing, std::uint64_t bytes,
                 TarIndex index)
    : file_(std::move(packed), false), packing_(packing), bytes_(bytes), index_(std::move(index)) {}

void TarFile::read_whole(std::span<std::byte> whole) const {
  if (is_packed()) return unpack_into(path(), packing_, whole);
  read(0, whole);
}

TarSet::TarSet(const TarSetOptions& options, const OpenContext& context) : store_(options.store) {
  const std::vector<std::string> paths =
      store_ ? tar_object_paths(options.path, *store_, context) : tar_paths(options.path);
  TarOpener opener(options, paths.size() <= HeldFile::most_open());
  tars_.resize(paths.size());
  ScanProgress progress(shown_path(options.path), context);
  const auto scan = [&](std::uint64_t i) {
    tars_[i] = opener.open(paths[i], [&](std::uint64_t found) { progress.add(found); });
  };
  parallel_for(paths.size(), 1, context.stop, scan, store_ ? RemoteStore::kOpenAtOnce : 0);
  std::uint64_t samples = 0;
  std::uint64_t bytes = 0;
  for (const TarFile& tar : tars_) {
    ends_.push_back(samples += tar.index().samples.size());
    byte_ends_.push_back(bytes += tar.end());
    is_packed_ = is_packed_ || tar.is_packed();
  }
}

std::string TarSet::objects() const {
  std::string text;
  for (const TarFile& tar : tars_) text += tar.object();
  return text;
}

TarSet::Place TarSet::locate(std::uint64_t index) const {
  const auto [tar, sample] = place_of_sample(ends_, index);
  return {&tars_[tar], tar, sample, tar == 0 ? 0 : byte_ends_[tar - 1]};
}

void TarSet::read(std::uint64_t first_byte, std::span<std::byte> out) const {
  const auto at = std::ranges::upper_bound(byte_ends_, first_byte);
  for (auto tar = static_cast<std::size_t>(at - byte_ends_.begin()); !out.empty(); ++tar) {
    const std::uint64_t begin = tar == 0 ? 0 : byte_ends_[tar - 1];
    const std::size_t here = std::min<std::uint64_t>(out.size(), byte_ends_.at(tar) - first_byte);
    tars_[tar].read(first_byte - begin, out.first(here));
    first_byte += here;
    out = out.subspan(here);
  }
}

}  // namespace cachebisect::stages
