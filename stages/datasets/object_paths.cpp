#include "stages/datasets/object_paths.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "stages/datasets/natural_order.hpp"
#include "stages/datasets/tar_paths.hpp"

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/names.hpp"
#include "cachebisect/base/number_format.hpp"
#include "cachebisect/base/printable.hpp"

namespace cachebisect::stages {
namespace {

constexpr std::string_view kBucketScheme = "s3://";
constexpr std::size_t kMostObjectPaths = 1'000'000;
constexpr std::size_t kMostObjectPathBytes = std::size_t{128} << 20U;  // of all together

/// Both without a slash.
bool matches_name(std::string_view name, std::string_view pattern) noexcept {
  if (pattern.starts_with('*') && name.starts_with('.')) return false;
  std::size_t at = 0;
  std::size_t in_pattern = 0;
  std::size_t star = std::string_view::npos;  // the last one, which stands for what ends at `after`
  std::size_t after = 0;
  while (at < name.size()) {
    if (in_pattern < pattern.size() && pattern[in_pattern] == '*') {
      star = in_pattern++;
      after = at;
    } else if (in_pattern < pattern.size() && pattern[in_pattern] == name[at]) {
      ++in_pattern;
      ++at;
    } else if (star != std::string_view::npos) {
      in_pattern = star + 1;
      at = ++after;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', in_pattern) == std::string_view::npos;
}

/// What is before the first slash; it is removed from `path` with the slash.
std::string_view take_name(std::string_view& path) noexcept {
  const std::size_t end = std::min(path.find('/'), path.size());
  const std::string_view name = path.substr(0, end);
  path.remove_prefix(std::min(end + 1, path.size()));
  return name;
}

/// Adds the objects that lists give.
class ObjectFinder {
 public:
  ObjectFinder(const DataFileKind& kind, const RemoteStore& store, const OpenContext& context)
      : kind_(kind), store_(store), context_(context) {}

  void add_pattern(const std::string& pattern) {
    const std::size_t star = pattern.find('*');
    if (star < pattern.find('/', kBucketScheme.size())) {
      throw Error(ErrorKind::usage, printable(pattern) + ": the name of the bucket is no pattern");
    }
    const bool is_deep = pattern.find('/', star) != std::string::npos;
    const std::string begin = pattern.substr(0, star);
    const std::uint64_t keys = list(
        begin, is_deep, [&](const std::string& path) { return matches_pattern(path, pattern); });
    if (!found_.empty()) return add_found();
    throw Error(ErrorKind::data, printable(pattern) + ": no object has such a name; " +
                                     counted(keys, "object") + " and folders begin with " +
                                     quote(begin));
  }

  void add_folder(const std::string& folder) {
    std::string packed;
    list(folder, false, [&](const std::string& path) {
      const std::string_view name = std::string_view(path).substr(folder.size());
      if (kind_.is_packed != nullptr && kind_.is_packed(name)) packed = name;
      return !name.starts_with('.') && kind_.is_one(name);
    });
    if (!found_.empty()) return add_found();
    std::string what = std::string("has no ") + kind_.name + " files (" + kind_.names + ")";
    if (!packed.empty()) {
      what += ", but such as " + quote(packed) +
              ", which are compressed: objects are not unpacked, so store them unpacked";
    }
    throw Error(ErrorKind::data, printable(folder) + ": " + what);
  }

  void add(std::string path) {
    count(path);
    paths_.push_back(std::move(path));
  }

  [[nodiscard]] std::vector<std::string> take() { return std::move(paths_); }

 private:
  /// Finds what `takes` of what begins so; returns how many keys and folders do.
  template <class Takes>
  std::uint64_t list(const std::string& begin, bool is_deep, const Takes& takes) {
    const std::string bucket = begin.substr(0, begin.find('/', kBucketScheme.size())) + "/";
    std::uint64_t keys = 0;
    store_.list({.path = begin, .has_folders = !is_deep}, [&](const BucketPage& page) {
      keys += page.objects.size() + page.folders.size();
      for (const ListedObject& object : page.objects) {
        std::string path = bucket + object.key;
        // A key with a slash at its end stands for a folder.
        if (path.ends_with('/') || !takes(path)) continue;
        count(path);
        found_.push_back(std::move(path));
      }
      context_.check_stop();
      context_.report("listing " + printable(begin) + ": " + format_count(keys) + " objects");
    });
    return keys;
  }

  void count(const std::string& path) {
    bytes_ += path.size();
    if (++count_ <= kMostObjectPaths && bytes_ <= kMostObjectPathBytes) return;
    throw Error(ErrorKind::usage,
                printable(path) + ": is behind " + format_count(kMostObjectPaths) +
                    " others, or behind others whose paths take 128 MiB; name fewer objects");
  }

  void add_found() {
    std::ranges::sort(found_, natural_less);
    const auto twice = std::ranges::adjacent_find(found_);
    if (twice != found_.end()) {
      throw Error(ErrorKind::data, printable(*twice) + ": the server lists it twice");
    }
    std::ranges::move(found_, std::back_inserter(paths_));
    found_.clear();
  }

  const DataFileKind& kind_;
  const RemoteStore& store_;
  const OpenContext& context_;
  std::vector<std::string> found_;  ///< by the list that is read
  std::vector<std::string> paths_;
  std::size_t count_ = 0;  ///< of both
  std::size_t bytes_ = 0;
};

}  // namespace

bool matches_pattern(std::string_view path, std::string_view pattern) noexcept {
  while (!path.empty() && !pattern.empty()) {
    const bool ends = path.find('/') == std::string_view::npos;
    if (ends != (pattern.find('/') == std::string_view::npos)) return false;
    if (!matches_name(take_name(path), take_name(pattern))) return false;
  }
  return path.empty() == pattern.empty();
}

std::vector<std::string> object_paths(const std::string& path, const DataFileKind& kind,
                                      const RemoteStore& store, const OpenContext& context) {
  const bool is_bucket = path.starts_with(kBucketScheme);
  if (!is_bucket) {
    if (!path.ends_with('/')) return expand_pattern(path);
    throw Error(ErrorKind::usage,
                shown_path(path) +
                    ": folders of http:// and https:// are not listed, only those of "
                    "S3 (s3://); name the " +
                    kind.name + " files by a pattern like " + kind.pattern);
  }
  ObjectFinder finder(kind, store, context);
  for (std::string& one : expand_pattern(path)) {
    if (one.find('*') != std::string::npos) {
      finder.add_pattern(one);
    } else if (one.ends_with('/')) {
      finder.add_folder(one);
    } else {
      finder.add(std::move(one));
    }
  }
  return finder.take();
}

}  // namespace cachebisect::stages
