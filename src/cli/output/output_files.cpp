#include "output/output_files.hpp"

#include <algorithm>
#include <iostream>
#include <optional>

#include "cachebisect/base/current_error.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/base/printable.hpp"

namespace cachebisect::cli {
namespace {

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
// Clang 16 does not deduce it by itself.
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

[[noreturn]] void refuse_second(const std::string& path) {
  throw Error(ErrorKind::usage, "two different reports would be written to " + path +
                                    "; give one of them another name");
}

}  // namespace

void OutputFiles::open(const std::string& path) {
  OutputFile file(path);
  for (const Output& other : outputs_) {
    const auto same = Overloaded{[&](const OutputFile& o) { return o.same_file(file); },
                                 [&](const AppendFile& o) { return o.same_file(file); }};
    if (std::visit(same, other)) refuse_second(path);
  }
  outputs_.emplace_back(std::move(file));
}

void OutputFiles::open_to_append(const std::string& path) {
  AppendFile file(path);
  for (const Output& other : outputs_) {
    const auto* const replaced = std::get_if<OutputFile>(&other);
    if (replaced == nullptr || !file.same_file(*replaced)) continue;
    throw Error(ErrorKind::usage,
                "a report would replace the history " + path + "; give one of them another name");
  }
  outputs_.emplace_back(std::move(file));
}

void OutputFiles::commit(bool files, const Content& content, std::optional<Error>& first_error) {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const bool is_file = std::visit([](const auto& o) { return o.is_file(); }, outputs_[i]);
    if (is_file != files) continue;
    try {
      const std::string text = content(i);
      std::visit(Overloaded{[&](OutputFile& o) { o.commit(text); },
                            [&](AppendFile& o) { o.append(text); }},
                 outputs_[i]);
    } catch (...) {
      if (!first_error) first_error = current_error(ErrorKind::output);
    }
  }
}

std::string OutputFiles::names() const {
  std::string text;
  for (const Output& output : outputs_) {
    text += std::visit(
        Overloaded{[](const OutputFile& o) { return "written: " + printable(o.path()) + '\n'; },
                   [](const AppendFile& o) { return "added to: " + printable(o.path()) + '\n'; }},
        output);
  }
  return text;
}

void OutputFiles::write(const Content& content, const Answer& answer,
                        const std::function<void()>& before_streams) {
  std::optional<Error> first_error;
  commit(true, content, first_error);
  before_streams();
  std::cout << answer.text() << std::flush;
  commit(false, content, first_error);
  if (answer.lists_files && !first_error) std::cout << names() << std::flush;
  if (!std::cout) throw Error(ErrorKind::output, "standard output could not be written");
  if (first_error) throw Error(*first_error);
}

void OutputFiles::discard() const noexcept {
  for (const Output& output : outputs_) {
    if (const auto* const file = std::get_if<OutputFile>(&output)) file->discard();
  }
}

}  // namespace cachebisect::cli
