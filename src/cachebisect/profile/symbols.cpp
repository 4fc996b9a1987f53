#include "cachebisect/profile/symbols.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>

namespace cachebisect::profile {
namespace {

namespace fs = std::filesystem;

struct Symbol {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string name;  ///< mangled
};

/// Reads parts of a file; what is beyond its end reads as nothing.
class FileParts {
 public:
  explicit FileParts(const std::string& path) : file_(path, std::ios::binary) {}

  [[nodiscard]] std::string bytes(std::uint64_t offset, std::uint64_t size) {
    constexpr std::uint64_t kMost = 256U << 20U;
    if (!file_ || size > kMost) return {};
    std::string all(size, '\0');
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(offset));
    file_.read(all.data(), static_cast<std::streamsize>(size));
    if (file_.gcount() != static_cast<std::streamsize>(size)) return {};
    return all;
  }
  template <class T>
  [[nodiscard]] std::vector<T> items(std::uint64_t offset, std::uint64_t size) {
    const std::string raw = bytes(offset, size - size % sizeof(T));
    std::vector<T> all(raw.size() / sizeof(T));
    if (!all.empty()) std::memcpy(all.data(), raw.data(), raw.size());
    return all;
  }

 private:
  std::ifstream file_;
};

/// The functions of the symbol table .symtab, sorted; none in a stripped file.
std::vector<Symbol> functions_of(const std::string& path) {
  FileParts file(path);
  const auto head = file.items<ElfW(Ehdr)>(0, sizeof(ElfW(Ehdr)));
  if (head.empty() || std::memcmp(head[0].e_ident, ELFMAG, SELFMAG) != 0) return {};
  const auto sections =
      file.items<ElfW(Shdr)>(head[0].e_shoff, std::uint64_t{head[0].e_shnum} * sizeof(ElfW(Shdr)));
  std::vector<Symbol> functions;
  for (const auto& section : sections) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
    const auto& texts = sections[section.sh_link];
    const std::string names = file.bytes(texts.sh_offset, texts.sh_size);
    for (const auto& symbol : file.items<ElfW(Sym)>(section.sh_offset, section.sh_size)) {
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_name >= names.size()) continue;
      functions.push_back(
          {symbol.st_value, symbol.st_value + symbol.st_size, names.c_str() + symbol.st_name});
    }
  }
  std::sort(functions.begin(), functions.end(),
            [](const Symbol& a, const Symbol& b) { return a.begin < b.begin; });
  return functions;
}

std::string readable(const char* mangled) {
  int status = 0;
  char* const text = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
  const std::string name = status == 0 && text != nullptr ? text : mangled;
  std::free(text);  // NOLINT(cppcoreguidelines-no-malloc): the interface of __cxa_demangle
  return without_arguments(name);
}

}  // namespace

struct Symbols::Module {
  std::uint64_t base = 0;  ///< what is added to the file's addresses
  std::vector<Symbol> functions;

  [[nodiscard]] const Symbol* at(const void* address) const {
    const std::uint64_t place = reinterpret_cast<std::uintptr_t>(address) - base;
    const auto next = std::upper_bound(
        functions.begin(), functions.end(), place,
        [](std::uint64_t where, const Symbol& symbol) { return where < symbol.begin; });
    if (next == functions.begin()) return nullptr;
    const Symbol& found = *std::prev(next);
    return place < found.end ? &found : nullptr;
  }
};

Symbols::Symbols() = default;
Symbols::~Symbols() = default;

const Symbols::Module& Symbols::module_of(const void* base, const char* file) {
  std::unique_ptr<Module>& place = modules_[base];
  if (place) return *place;
  place = std::make_unique<Module>();
  std::error_code ignored;
  // The executable itself is known by how it was called.
  const std::string path = fs::exists(file, ignored) ? file : "/proc/self/exe";
  place->functions = functions_of(path);
  // Addresses in a file that is not position-independent are those in memory.
  const bool absolute = !place->functions.empty() &&
                        place->functions.back().begin >= reinterpret_cast<std::uintptr_t>(base);
  place->base = absolute ? 0 : reinterpret_cast<std::uintptr_t>(base);
  return *place;
}

std::string Symbols::find(const void* address) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return "(no symbol)";
  if (const Symbol* const symbol = module_of(info.dli_fbase, info.dli_fname).at(address)) {
    return readable(symbol->name.c_str());
  }
  // What dladdr() names may be any exported function before the address.
  if (info.dli_sname != nullptr && modules_[info.dli_fbase]->functions.empty()) {
    return readable(info.dli_sname);
  }
  return fs::path(info.dli_fname).filename().string() + " (no symbol)";
}

const std::string& Symbols::name_at(const void* address, bool is_caller) {
  const void* const place = is_caller ? static_cast<const char*>(address) - 1 : address;
  const auto [entry, is_new] = names_.try_emplace(place);
  if (is_new) entry->second = find(place);
  return entry->second;
}

std::string without_arguments(const std::string& signature) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  constexpr std::string_view kOwn = "cachebisect::";
  std::string text;
  int depth = 0;
  for (std::size_t i = 0; i < signature.size(); ++i) {
    const std::string_view rest = std::string_view(signature).substr(i);
    if (depth == 0 && rest.starts_with(kAnonymous)) {
      i += kAnonymous.size() - 1;
    } else if (depth == 0 && rest.starts_with("operator")) {
      return text + std::string(rest.substr(0, rest.find('(', sizeof("operator()") - 2)));
    } else if (signature[i] == '<') {
      ++depth;
    } else if (signature[i] == '>') {
      --depth;
    } else if (depth == 0 && signature[i] == '(') {
      break;
    } else if (depth == 0) {
      text += signature[i];
    }
  }
  // Instances of templates begin with their result.
  const std::size_t result = text.rfind(' ');
  if (result != std::string::npos) text.erase(0, result + 1);
  if (text.starts_with(kOwn)) text.erase(0, kOwn.size());
  return text;
}

}  // namespace cachebisect::profile
