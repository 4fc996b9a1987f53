#include "cachebisect/shards/shard_set_writer.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/text_file.hpp"

namespace cachebisect::shards {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFacts = std::size_t{64} << 20U;
constexpr const char* kOtherFolder = "; name another folder with --out, or remove this one";

[[noreturn]] void refuse(const std::string& folder, const std::string& what) {
  throw Error(ErrorKind::usage, folder + ": " + what + kOtherFolder);
}

/// Makes the folder and those above it.
void make_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  std::error_code ignored;
  if (fs::is_directory(folder, ignored)) return;
  const std::string what =
      fs::exists(folder, ignored) ? "is no folder" : "cannot be made: " + errno_text(error.value());
  throw Error(ErrorKind::data, folder + ": " + what);
}

/// The first line in which two texts differ, as each has it.
std::string difference(const std::string& held, const std::string& wanted) {
  const auto [a, b] = std::mismatch(held.begin(), held.end(), wanted.begin(), wanted.end());
  const auto line = [](const std::string& text, std::string::const_iterator at) {
    const auto offset = static_cast<std::size_t>(at - text.begin());
    const std::size_t begin = offset == 0 ? std::string::npos : text.rfind('\n', offset - 1);
    const std::size_t first = begin == std::string::npos ? 0 : begin + 1;
    const std::string found = text.substr(first, text.find('\n', first) - first);
    return found.empty() ? std::string("nothing") : found;
  };
  return "holds samples of " + line(held, a) + ", and these are of " + line(wanted, b);
}

void check_same(const std::string& folder, const ShardSet& held, const ShardSet& wanted) {
  if (held.content != wanted.content) refuse(folder, difference(held.content, wanted.content));
  if (held.after != wanted.after) {
    refuse(folder,
           "holds samples after '" + held.after + "', and these are after '" + wanted.after + "'");
  }
  if (held.codec != wanted.codec) {
    refuse(folder, "holds samples stored with " + held.codec + ", not " + wanted.codec);
  }
  if (held.spec != wanted.spec || held.source_samples != wanted.source_samples)
    refuse(folder, "holds samples with other fields, or another number");
}

/// The facts of a shard of which every record is as it was written; empty of any other file.
std::optional<ShardFacts> facts_of(const std::string& folder, const std::string& name) {
  try {
    const ShardFile shard(folder + "/" + name);
    std::vector<std::byte> stored;
    for (std::uint64_t i = 0; i < shard.records(); ++i) {
      stored.resize(shard.entry(i).stored_bytes);
      shard.read(i, stored);
    }
    return ShardFacts{.file = name,
                      .samples = shard.records(),
                      .bytes = shard.file().size(),
                      .index_checksum = checksum_text(shard.index_checksum())};
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// Of a process that was killed, or of a disk that was full.
void remove_left_over(const std::string& file) {
  if (std::remove(file.c_str()) == 0 || errno == ENOENT) return;
  throw Error(ErrorKind::data, file + ": cannot be removed: " + errno_text(errno));
}

bool is_empty(const std::string& folder) {
  const auto is_ours = [](const fs::directory_entry& entry) {
    return entry.path().filename() == std::string(kUnfinishedName) + kPartialEnding;
  };
  return std::all_of(fs::directory_iterator(folder), fs::directory_iterator(), is_ours);
}

}  // namespace

ShardSetWriter::ShardSetWriter(std::string folder, ShardSet facts)
    : folder_(std::move(folder)), set_(std::move(facts)) {
  make_folder(folder_);
  lock();
  if (exists(path(kIndexName))) {
    ShardSet held = load_shard_set(folder_);
    check_same(folder_, held, set_);
    set_ = std::move(held);
    finished_ = true;
  } else if (exists(path(kUnfinishedName))) {
    resume(path(kUnfinishedName));
  } else if (!is_empty(folder_)) {
    refuse(folder_, "holds other files");
  } else {
    write_facts(kUnfinishedName);
  }
}

ShardSetWriter::~ShardSetWriter() = default;

void ShardSetWriter::lock() {
  lock_ = FileDescriptor(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock_.is_open()) {
    throw Error(ErrorKind::data, folder_ + ": cannot be opened: " + errno_text(errno));
  }
  // On a file system without locks, names alone keep every shard whole.
  if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    refuse(folder_, "another process writes it now");
  }
}

void ShardSetWriter::resume(const std::string& file) {
  ShardSet held = parse_shard_set(read_text_file(file, kMostFacts, "an unfinished data set"), file);
  check_same(folder_, held, set_);
  if (held.samples_per_shard == 0) refuse(folder_, "has shards without samples");
  held.shards.clear();
  set_ = std::move(held);
  while (next_sample() < set_.source_samples && take_whole_shard()) {
  }
}

bool ShardSetWriter::take_whole_shard() {
  const std::string name = shard_name(set_.shards.size());
  auto facts = facts_of(folder_, name);
  if (facts) {
    set_.shards.push_back(std::move(*facts));
  } else {
    remove_left_over(path(name));
  }
  return facts.has_value();
}

std::uint64_t ShardSetWriter::next_sample() const noexcept {
  return std::min(set_.source_samples, set_.shards.size() * set_.samples_per_shard);
}

std::uint64_t ShardSetWriter::end_of_shard() const noexcept {
  return std::min(set_.source_samples, (set_.shards.size() + 1) * set_.samples_per_shard);
}

void ShardSetWriter::append(std::span<const std::byte> stored, std::size_t record_bytes) {
  open_shard().append(stored, record_bytes);
}

ShardWriter& ShardSetWriter::open_shard() {
  if (shard_) return *shard_;
  const std::string file = path(shard_name(set_.shards.size()));
  remove_left_over(file + kPartialEnding);
  return shard_.emplace(file);
}

void ShardSetWriter::end_shard() {
  ShardWriter& shard = open_shard();
  const std::uint64_t checksum = shard.close();
  set_.shards.push_back({.file = shard_name(set_.shards.size()),
                         .samples = shard.records(),
                         .bytes = shard.bytes(),
                         .index_checksum = checksum_text(checksum)});
  shard_.reset();
}

void ShardSetWriter::finish() {
  write_facts(kIndexName);
  remove_left_over(path(kUnfinishedName));
  static_cast<void>(::fsync(lock_.get()));
  finished_ = true;
}

void ShardSetWriter::write_facts(const char* name) const {
  const std::string text = to_json(set_);
  const std::string temporary = path(name) + kPartialEnding;
  remove_left_over(temporary);
  try {
    NewFile file(temporary);
    file.append(std::as_bytes(std::span(text)));
    file.close();
  } catch (const Error&) {
    remove_left_over(temporary);
    throw;
  }
  if (std::rename(temporary.c_str(), path(name).c_str()) != 0) {
    throw Error(ErrorKind::data, path(name) + ": cannot be made: " + errno_text(errno));
  }
}

}  // namespace cachebisect::shards
