// The images of a folder in a bucket of S3, by class: name, size and tag of each, as lists give
// them, in few bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/objects/remote_store.hpp"
#include "cachebisect/pipeline/open_context.hpp"

namespace cachebisect::stages {

/// The images of a class. One costs its name, its tag and 24 bytes.
class CACHEBISECT_INTERNAL_API ObjectClass {
 public:
  /// `folder` is its address, without a slash at its end.
  explicit ObjectClass(std::string folder) : folder_(std::move(folder)) {}

  void add(std::string_view name, std::uint64_t bytes, std::string_view tag);
  /// As list_image_folder() sorts files: those of a folder in natural order, before the folders in
  /// it, by name. Throws Error(data) if there is a name twice.
  void sort();

  [[nodiscard]] const std::string& folder() const noexcept { return folder_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return entries_.size(); }
  /// What names and tags take.
  [[nodiscard]] std::uint64_t text_bytes() const noexcept { return text_.size(); }
  /// Valid as long as this.
  [[nodiscard]] std::string_view name(std::uint64_t index) const;
  [[nodiscard]] ObjectFacts facts(std::uint64_t index) const;
  /// A line that changes when names, tags or the sum of sizes do.
  [[nodiscard]] std::string digest() const;

 private:
  struct Entry {
    std::uint64_t at;  ///< of its name and tag in `text_`
    std::uint64_t bytes;
    std::uint32_t name_bytes;
    std::uint32_t tag_bytes;
  };
  [[nodiscard]] std::string_view name_of(const Entry& entry) const {
    return std::string_view(text_).substr(entry.at, entry.name_bytes);
  }

  std::string folder_;
  std::string text_;
  std::vector<Entry> entries_;
};

/// Thread safe.
class CACHEBISECT_INTERNAL_API ObjectFolder {
 public:
  struct Place {
    const ObjectClass* of = nullptr;
    std::uint32_t label = 0;
    std::uint64_t number = 0;  ///< in its class

    [[nodiscard]] std::string_view name() const { return of->name(number); }
    [[nodiscard]] std::string path() const { return of->folder() + "/" + std::string(name()); }
  };

  /// Lists the images under `root`, "s3://bucket/folder", by the rules of list_image_folder():
  /// first its classes, then these, several at once. Throws as that does, and as
  /// RemoteStore::list().
  ObjectFolder(const std::string& root, std::span<const std::string> extensions,
               std::shared_ptr<const RemoteStore> store, const OpenContext& context);

  [[nodiscard]] const std::shared_ptr<const RemoteStore>& store() const noexcept { return store_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return ends_.back(); }
  /// Throws Error(internal) if there is no such image.
  [[nodiscard]] Place locate(std::uint64_t index) const;
  /// As the list says that it is; nothing is asked.
  [[nodiscard]] std::unique_ptr<const ByteSource> open(const Place& place) const;
  /// The classes, one per line.
  [[nodiscard]] std::string objects() const;

 private:
  std::shared_ptr<const RemoteStore> store_;
  std::vector<ObjectClass> classes_;
  std::vector<std::uint64_t> ends_;  ///< images up to the end of each class
};

}  // namespace cachebisect::stages
