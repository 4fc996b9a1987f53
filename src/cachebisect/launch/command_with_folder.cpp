#include "cachebisect/launch/command_with_folder.hpp"

#include <csignal>

#include "cachebisect/base/error.hpp"
#include "cachebisect/launch/await_child.hpp"

namespace cachebisect {

/// The process of a run, which abandon() kills as long as this exists.
class CommandWithFolder::Child {
 public:
  Child(CommandWithFolder& run, const ChildOptions& options) : run_(run) {
    const std::scoped_lock lock(run.mutex_);
    run.check_wanted();
    process_.emplace(options);
    run.child_ = &*process_;
  }
  /// Without the lock where it waits for the process: that may take long.
  ~Child() {
    process_->send_signal(SIGKILL);
    const std::scoped_lock lock(run_.mutex_);
    run_.child_ = nullptr;
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  [[nodiscard]] ChildProcess& process() noexcept { return *process_; }

 private:
  CommandWithFolder& run_;
  std::optional<ChildProcess> process_;
};

void CommandWithFolder::check_wanted() const {
  if (abandoned_) throw Error(ErrorKind::interrupted, "stopped");
}

const std::string& CommandWithFolder::folder() {
  const std::scoped_lock lock(mutex_);
  check_wanted();
  if (!folder_) folder_.emplace();
  return folder_->path();
}

std::optional<ChildStatus> CommandWithFolder::run(const ChildOptions& options,
                                                  const std::stop_token& stop) {
  Child child(*this, options);
  return await_child(child.process(), stop);
}

void CommandWithFolder::abandon() noexcept {
  const std::scoped_lock lock(mutex_);
  abandoned_ = true;
  if (child_ != nullptr) child_->send_signal(SIGKILL);
  if (folder_) folder_->remove();
}

}  // namespace cachebisect
