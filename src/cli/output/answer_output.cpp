#include "output/answer_output.hpp"

#include <iostream>
#include <optional>

#include "cachebisect/base/error.hpp"

namespace cachebisect::cli {

void write_answer(std::string_view answer, const SideFile& file,
                  const std::function<void()>& before_streams) {
  std::optional<Error> failure;
  const auto commit = [&](bool files) {
    if (file.output == nullptr || file.output->is_file() != files) return;
    try {
      file.output->commit(file.content);
    } catch (const Error& error) {
      failure = error;
    }
  };
  commit(true);
  before_streams();
  std::cout << answer << std::flush;
  commit(false);
  if (!std::cout) throw Error(ErrorKind::output, "standard output could not be written");
  if (failure) throw Error(*failure);
}

}  // namespace cachebisect::cli
