// The files and streams that a command writes at its end, and its answer on standard output.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "output/append_file.hpp"
#include "output/output_file.hpp"

#include "cachebisect/base/error.hpp"

namespace cachebisect::cli {

/// What a command says on standard output.
struct Answer {
  std::function<std::string()> text;
  /// Whether the names of the files follow, once all of them are there.
  bool lists_files = false;
};

/// Opened before anything is measured. See OutputSet.
class OutputFiles {
 public:
  /// The content of the output of this number.
  using Content = std::function<std::string(std::size_t)>;

  /// Throws Error(output), and Error(usage) if another one goes to the same file.
  void open(const std::string& path);
  /// The same for a file that is added to.
  void open_to_append(const std::string& path);

  void write(const Content& content, const Answer& answer,
             const std::function<void()>& before_streams);
  /// See OutputFile::discard(). Any thread.
  void discard() const noexcept;

 private:
  using Output = std::variant<OutputFile, AppendFile>;

  void commit(bool files, const Content& content, std::optional<Error>& first_error);
  [[nodiscard]] std::string names() const;

  std::vector<Output> outputs_;
};

/// The outputs of a result, each with the function that makes its content of it.
template <class Result>
class OutputSet {
 public:
  using Producer = std::function<std::string(const Result&)>;

  /// Opens it now. Throws Error(output), and Error(usage) if another one goes to the same file.
  void add(const std::string& path, Producer producer) {
    files_.open(path);
    producers_.push_back(std::move(producer));
  }
  /// The same for a file that is added to.
  void add_to(const std::string& path, Producer producer) {
    files_.open_to_append(path);
    producers_.push_back(std::move(producer));
  }
  /// Regular files first, because standard output and other streams may block; `before_streams` is
  /// called between the two. Throws Error(output) after trying all.
  void write(const Result& result, const Answer& answer,
             const std::function<void()>& before_streams) {
    files_.write([&](std::size_t i) { return producers_[i](result); }, answer, before_streams);
  }
  /// See OutputFile::discard(). Any thread.
  void discard() const noexcept { files_.discard(); }

 private:
  OutputFiles files_;
  std::vector<Producer> producers_;
};

}  // namespace cachebisect::cli
