#include "stages/datasets/object_folder.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "stages/datasets/image_folder.hpp"
#include "stages/datasets/natural_order.hpp"

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/number_format.hpp"
#include "cachebisect/base/parallel.hpp"
#include "cachebisect/base/printable.hpp"
#include "cachebisect/base/random.hpp"
#include "cachebisect/data/sample_place.hpp"

namespace cachebisect::stages {
namespace {

constexpr std::uint64_t kMostClasses = 1'000'000;
constexpr std::uint64_t kMostImages = 20'000'000;
constexpr std::uint64_t kMostImageTextBytes = std::uint64_t{4} << 30U;  // of all names and tags

[[noreturn]] void refuse_objects(const std::string& path, const std::string& what) {
  throw Error(ErrorKind::data, printable(path) + ": " + what);
}

/// The order of files and folders below a folder.
bool is_listed_before(std::string_view a, std::string_view b) {
  for (;;) {
    const std::size_t end_a = a.find('/');
    const std::size_t end_b = b.find('/');
    const bool is_file_a = end_a == std::string_view::npos;
    const bool is_file_b = end_b == std::string_view::npos;
    if (is_file_a && is_file_b) return natural_less(a, b);
    if (is_file_a != is_file_b) return is_file_a;
    const std::string_view folder_a = a.substr(0, end_a);
    const std::string_view folder_b = b.substr(0, end_b);
    if (folder_a != folder_b) return folder_a < folder_b;
    a.remove_prefix(end_a + 1);
    b.remove_prefix(end_b + 1);
  }
}

/// Whether a name, or that of a folder before it, begins with a dot.
bool is_hidden(std::string_view name) {
  return name.starts_with('.') || name.find("/.") != std::string_view::npos;
}

/// Lists classes; called by several threads.
class ObjectLister {
 public:
  ObjectLister(std::string root, std::span<const std::string> extensions, const RemoteStore& store,
               const OpenContext& context)
      : root_(std::move(root)), extensions_(extensions), store_(store), context_(context) {}

  [[nodiscard]] std::vector<ObjectClass> classes() const {
    const std::string begin = root_ + "/";
    std::vector<std::string> folders;
    bool has_images = false;
    store_.list({.path = begin, .has_folders = true, .most_keys = kMostClasses},
                [&](const BucketPage& page) {
                  context_.check_stop();
                  for (const std::string& folder : page.folders) take_folder(folder, folders);
                  has_images =
                      has_images || std::ranges::any_of(page.objects, [&](const auto& one) {
                        return has_extension(one.key, extensions_);
                      });
                });
    if (folders.empty()) {
      refuse_objects(root_, std::string("has ") + (has_images ? "images but " : "") +
                                "no class folders; give each class a folder with its images");
    }
    std::ranges::sort(folders);
    const auto twice = std::ranges::adjacent_find(folders);
    if (twice != folders.end()) refuse_objects(*twice, "the server lists it twice");
    return {folders.begin(), folders.end()};
  }

  void list(ObjectClass& out) {
    const std::string begin = out.folder() + "/";
    const std::size_t prefix = begin.size() - bucket().size();
    store_.list({.path = begin}, [&](const BucketPage& page) {
      const std::uint64_t before = out.text_bytes();
      for (const ListedObject& object : page.objects) {
        const std::string_view name = std::string_view(object.key).substr(prefix);
        // A key with a slash at its end stands for a folder.
        const bool is_image = !is_hidden(name) && has_extension(name, extensions_);
        if (is_image) out.add(name, object.bytes, object.tag);
      }
      add_progress(page.objects.size(), out.text_bytes() - before);
    });
    if (out.size() == 0) refuse_class(printable(out.folder()), extensions_);
    out.sort();
  }

 private:
  /// "s3://bucket/"
  [[nodiscard]] std::string bucket() const {
    constexpr std::size_t kSchemeBytes = 5;
    return root_.substr(0, root_.find('/', kSchemeBytes)) + "/";
  }

  void take_folder(const std::string& key, std::vector<std::string>& folders) const {
    std::string path = bucket() + key;
    path.pop_back();
    const std::string_view name = std::string_view(path).substr(root_.size() + 1);
    if (!name.empty() && !is_hidden(name)) folders.push_back(std::move(path));
  }

  void add_progress(std::uint64_t objects, std::uint64_t text_bytes) {
    context_.check_stop();
    const std::scoped_lock lock(mutex_);
    objects_ += objects;
    text_bytes_ += text_bytes;
    if (objects_ > kMostImages || text_bytes_ > kMostImageTextBytes) {
      refuse_objects(root_, "has more than " + format_count(kMostImages) +
                                " objects, or names that take more than 4 GiB");
    }
    context_.report("listing " + printable(root_) + ": " + format_count(objects_) + " objects");
  }

  std::string root_;
  std::span<const std::string> extensions_;
  const RemoteStore& store_;
  const OpenContext& context_;
  std::mutex mutex_;
  std::uint64_t objects_ = 0;
  std::uint64_t text_bytes_ = 0;
};

}  // namespace

void ObjectClass::add(std::string_view name, std::uint64_t bytes, std::string_view tag) {
  entries_.push_back({.at = text_.size(),
                      .bytes = bytes,
                      .name_bytes = static_cast<std::uint32_t>(name.size()),
                      .tag_bytes = static_cast<std::uint32_t>(tag.size())});
  text_.append(name).append(tag);
}

void ObjectClass::sort() {
  std::ranges::sort(entries_, [this](const Entry& a, const Entry& b) {
    return is_listed_before(name_of(a), name_of(b));
  });
  const auto twice = std::ranges::adjacent_find(
      entries_, {}, [this](const Entry& entry) { return name_of(entry); });
  if (twice != entries_.end()) {
    refuse_objects(folder_ + "/" + std::string(name_of(*twice)), "the server lists it twice");
  }
  entries_.shrink_to_fit();
  text_.shrink_to_fit();
}

std::string_view ObjectClass::name(std::uint64_t index) const { return name_of(entries_[index]); }

ObjectFacts ObjectClass::facts(std::uint64_t index) const {
  const Entry& entry = entries_[index];
  return {.bytes = entry.bytes, .tag = text_.substr(entry.at + entry.name_bytes, entry.tag_bytes)};
}

std::string ObjectClass::digest() const {
  std::uint64_t bytes = 0;
  for (const Entry& entry : entries_) bytes += entry.bytes;
  return folder_ + ' ' + std::to_string(size()) + ' ' + std::to_string(bytes) + ' ' +
         std::to_string(hash_name(text_)) + '\n';
}

ObjectFolder::ObjectFolder(const std::string& root, std::span<const std::string> extensions,
                           std::shared_ptr<const RemoteStore> store, const OpenContext& context)
    : store_(std::move(store)) {
  ObjectLister lister(root, extensions, *store_, context);
  classes_ = lister.classes();
  parallel_for(
      classes_.size(), 1, context.stop, [&](std::uint64_t i) { lister.list(classes_[i]); },
      RemoteStore::kOpenAtOnce);
  std::uint64_t images = 0;
  for (const ObjectClass& one : classes_) ends_.push_back(images += one.size());
}

ObjectFolder::Place ObjectFolder::locate(std::uint64_t index) const {
  const auto [number, image] = place_of_sample(ends_, index);
  return {&classes_[number], static_cast<std::uint32_t>(number), image};
}

std::unique_ptr<const ByteSource> ObjectFolder::open(const Place& place) const {
  return RemoteStore::open_listed(store_, place.path(), place.of->facts(place.number));
}

std::string ObjectFolder::objects() const {
  std::string text;
  for (const ObjectClass& one : classes_) text += one.digest();
  return text;
}

}  // namespace cachebisect::stages
