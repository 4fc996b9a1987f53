#include "stages/datasets/tar_paths.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "stages/datasets/natural_order.hpp"
#include "stages/datasets/object_paths.hpp"

#include "cachebisect/base/file.hpp"
#include "cachebisect/base/names.hpp"
#include "cachebisect/base/number_parse.hpp"
#include "cachebisect/base/shell_word.hpp"

namespace cachebisect::stages {
namespace {

constexpr std::size_t kMostArchives = 1'000'000;
constexpr std::size_t kMostPathBytes = std::size_t{128} << 20U;  // of all together
constexpr std::size_t kMostDigits = 18;

using Words = std::vector<std::string>;

/// "{0008..0011}" without its braces: numbers, with as many digits if one of them begins with 0.
std::optional<Words> number_range(std::string_view inside) {
  const std::size_t dots = inside.find("..");
  if (dots == std::string_view::npos) return std::nullopt;
  const std::string_view from = inside.substr(0, dots);
  const std::string_view to = inside.substr(dots + 2);
  if (std::max(from.size(), to.size()) > kMostDigits) return std::nullopt;
  const auto first = parse_number<std::uint64_t>(from);
  const auto last = parse_number<std::uint64_t>(to);
  if (!first || !last || *first > *last) return std::nullopt;
  const bool padded = from.starts_with('0') || to.starts_with('0');
  const std::size_t digits = padded ? std::max(from.size(), to.size()) : 0;
  Words words;
  for (std::uint64_t i = *first; i - *first <= *last - *first; ++i) {
    std::string word = std::to_string(i);
    word.insert(0, digits - std::min(digits, word.size()), '0');
    words.push_back(std::move(word));
    if (words.size() > kMostArchives) break;
  }
  return words;
}

std::optional<Words> word_list(std::string_view inside) {
  if (inside.find(',') == std::string_view::npos) return std::nullopt;
  Words words;
  for (std::size_t begin = 0; begin <= inside.size();) {
    const std::size_t end = std::min(inside.find(',', begin), inside.size());
    words.emplace_back(inside.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

/// What stands for the first pair of braces that is a list or a range; empty if there is none.
struct Braces {
  std::size_t begin;
  std::size_t end;
  Words words;
};

std::optional<Braces> find_braces(std::string_view pattern) {
  for (std::size_t open = pattern.find('{'); open != std::string_view::npos;
       open = pattern.find('{', open + 1)) {
    const std::size_t close = pattern.find('}', open);
    if (close == std::string_view::npos) break;
    const std::string_view inside = pattern.substr(open + 1, close - open - 1);
    auto words = number_range(inside);
    if (!words) words = word_list(inside);
    if (words) return Braces{open, close + 1, std::move(*words)};
  }
  return std::nullopt;
}

template <std::size_t N>
bool ends_with_any(std::string_view name, const std::array<std::string_view, N>& endings) {
  return std::ranges::any_of(endings, [&](std::string_view end) { return name.ends_with(end); });
}

/// Those that are read.
bool is_packed_tar(std::string_view name) {
  return ends_with_any<3>(name, {".tar.gz", ".tgz", ".tar.zst"});
}

bool is_other_tar(std::string_view name) {
  return ends_with_any<4>(name, {".tar.xz", ".tar.bz2", ".tar.lz4", ".tar.Z"});
}

Words tars_in(const std::string& folder) {
  Words tars;
  Words packed;
  std::string other;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    std::string name = at->path().filename().string();
    if (name.starts_with('.')) continue;
    if (is_other_tar(name)) other = name;
    if (name.ends_with(".tar")) {
      tars.push_back(std::move(name));
    } else if (is_packed_tar(name)) {
      packed.push_back(std::move(name));
    }
  }
  if (error) {
    throw Error(ErrorKind::data, folder + ": cannot be listed: " + errno_text(error.value()));
  }
  if (tars.empty()) tars = std::move(packed);
  if (tars.empty() && !other.empty()) {
    throw Error(ErrorKind::data, folder + ": has no archives that are read, but such as " + other +
                                     "; unpack them once, to NAME.tar");
  }
  if (tars.empty()) {
    throw Error(ErrorKind::data, folder + ": has no archives (*.tar, *.tar.gz, *.tgz, *.tar.zst)");
  }
  std::ranges::sort(tars, natural_less);
  for (std::string& tar : tars) tar.insert(0, folder + "/");
  return tars;
}

}  // namespace

std::vector<std::string> expand_pattern(const std::string& pattern) {
  Words done{""};
  std::string_view rest = pattern;
  for (auto braces = find_braces(rest); braces; braces = find_braces(rest)) {
    if (done.size() * braces->words.size() > kMostArchives) {
      throw Error(ErrorKind::usage,
                  pattern + ": names more than " + std::to_string(kMostArchives) + " archives");
    }
    if (done.size() * braces->words.size() > kMostPathBytes / pattern.size()) {
      throw Error(ErrorKind::usage,
                  quote(pattern) +
                      ": names archives whose paths alone take more than 128 MiB; "
                      "give a folder of fewer, or shorter paths");
    }
    Words longer;
    for (const std::string& begun : done) {
      for (const std::string& word : braces->words) {
        longer.emplace_back(begun).append(rest.substr(0, braces->begin)).append(word);
      }
    }
    done = std::move(longer);
    rest.remove_prefix(braces->end);
  }
  for (std::string& text : done) text += rest;
  return done;
}

std::vector<std::string> tar_paths(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return tars_in(path);
  if (exists(path)) return {path};
  Words paths = expand_pattern(path);
  if (paths.size() > 1 || paths.front() != path) return paths;
  throw Error(ErrorKind::data,
              path +
                  ": No such file or directory; give a tar archive, a folder of them, or a "
                  "pattern like train-{000..099}.tar");
}

std::vector<std::string> tar_object_paths(const std::string& path, const RemoteStore& store,
                                          const OpenContext& context) {
  constexpr DataFileKind kTars{
      .name = "tar",
      .names = "*.tar",
      .is_one = [](std::string_view name) { return name.ends_with(".tar"); },
      .pattern = "train-{000..099}.tar",
      .is_packed = is_packed_tar};
  return object_paths(path, kTars, store, context);
}

}  // namespace cachebisect::stages
