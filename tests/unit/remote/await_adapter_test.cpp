// Which of the processes that connect is measured, and what is said if none is.
#include "cachebisect/remote/await_adapter.hpp"

#include <array>
#include <filesystem>
#include <functional>
#include <future>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "support/attached.hpp"
#include "support/errors.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cachebisect/base/private_folder.hpp"
#include "cachebisect/simulate/simulated_replayer.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

SimulatedChain short_chain() {
  SimulatedChain chain;
  chain.stages = {{.name = "read", .category = Category::read, .seconds = 1e-3}};
  return chain;
}

/// An adapter in a thread of its own that never finds a loader.
class LoaderlessProcess {
 public:
  explicit LoaderlessProcess(const std::string& path, const FaultPlan& plan = {},
                             std::function<void(const std::string& type)> on_request = {})
      : adapter_(nullptr, connect_to(path), plan) {
    adapter_.on_request = std::move(on_request);
    thread_ = std::jthread([this] { adapter_.serve(); });
  }
  const FakeAdapter& ended() {
    thread_.join();
    return adapter_;
  }

 private:
  FakeAdapter adapter_;
  std::jthread thread_;
};

}  // namespace

TEST_CASE("the socket is for its user alone, and is gone afterwards") {
  std::string path;
  {
    const PrivateFolder folder;
    path = folder.path();
    const SocketListener listener(path + "/socket");
    struct stat of_folder {};
    struct stat of_socket {};
    REQUIRE(stat(path.c_str(), &of_folder) == 0);
    REQUIRE(stat(listener.path().c_str(), &of_socket) == 0);
    CHECK((of_folder.st_mode & 0777U) == 0700U);
    CHECK((of_socket.st_mode & 0077U) == 0U);
    CHECK(has(usage_error([&] { SocketListener(listener.path()); }), "exists already"));
  }
  CHECK_FALSE(std::filesystem::exists(path));
  CHECK(has(usage_error([&] { SocketListener(std::string(200, 'x')); }), "1 to 107 bytes"));
  CHECK(has(usage_error([&] { SocketListener("/nonexistent/socket"); }), "/nonexistent/socket"));
}

TEST_CASE("a listener that was closed early leaves the path to others") {
  const PrivateFolder folder;
  SocketListener first(folder.path() + "/socket");
  const FileDescriptor waiting = connect_to(first.path());
  first.close();
  char byte = 0;
  CHECK(recv(waiting.get(), &byte, 1, 0) <= 0);
  CHECK_FALSE(first.accept().is_open());
  const SocketListener second(first.path());
  first.close();
  CHECK(std::filesystem::exists(second.path()));
}

TEST_CASE("a process that never connects, or never says hello, is a usage error with the remedy") {
  const PrivateFolder folder;
  const SocketListener listener(folder.path() + "/socket");
  const auto message = [&] {
    return usage_error([&] { await_adapter(listener, {.hello_seconds = 0.05}, {}); });
  };
  CHECK(has(message(), "cachebisect.bisect(loader, step)"));
  const FileDescriptor connected = connect_to(listener.path());
  CHECK(has(message(), "although one has connected"));
}

TEST_CASE("another version of the protocol is a usage error that names both") {
  SimulatedReplayer replayer(short_chain());
  ServedReplayer served(replayer, {}, [](FakeAdapter& adapter) { adapter.protocol = 7; });
  const std::string message = usage_error([&] { served.attach(); });
  CHECK(has(message, "version 7"));
  CHECK(has(message, "version 1"));
}

TEST_CASE("a rank whose others find no loader is a usage error that counts them") {
  SimulatedReplayer replayer(short_chain());
  ServedReplayer served(replayer, {}, [](FakeAdapter& adapter) { adapter.world = 4; });
  const std::string message = usage_error([&] { served.attach({.answer = 0.05}); });
  CHECK(has(message, "only 1 of 4 ranks"));
  CHECK(has(message, "--answer-timeout"));
}

TEST_CASE("the first process that has a loader is measured, and the others go on") {
  SimulatedReplayer replayer(short_chain());
  const PrivateFolder folder;
  const SocketListener listener(folder.path() + "/socket");
  std::promise<void> described;
  LoaderlessProcess helper(listener.path(), {}, [&](const std::string& type) {
    if (type == "describe") described.set_value();
  });
  const std::jthread training([&] {
    // The helper is waiting for a loader by then.
    described.get_future().wait();
    FakeAdapter(&replayer, connect_to(listener.path())).serve();
  });
  AwaitResult found = await_adapter(listener, {}, {});
  REQUIRE(found.adapters.size() == 1);
  CHECK(found.adapters.front().description.chain.stages.front().name == "read");
  CHECK(helper.ended().finish.at("then") == "continue");
  found.adapters.clear();
}

TEST_CASE("a process that cannot be measured is told how the session ends") {
  for (const bool exit : {true, false}) {
    SimulatedReplayer replayer(short_chain());
    const PrivateFolder folder;
    const SocketListener listener(folder.path() + "/socket");
    FakeAdapter process(&replayer, connect_to(listener.path()),
                        {.fault = Fault::error, .type = "describe"});
    std::jthread serving([&] { process.serve(); });
    bool told = false;
    const AwaitOptions options{.exit_after_error = exit, .on_refusal = [&] { told = true; }};
    CHECK_THROWS_AS(await_adapter(listener, options, {}), Error);
    serving.join();
    CHECK(told);
    CHECK(process.finish.at("then") == (exit ? "exit" : "continue"));
    CHECK(process.finish.at("exit_code") == 3);
  }
}

TEST_CASE("processes that all end without a loader give no adapter, but their names") {
  const PrivateFolder folder;
  const SocketListener listener(folder.path() + "/socket");
  LoaderlessProcess first(listener.path(), {.fault = Fault::closed, .type = "describe"});
  LoaderlessProcess second(listener.path(), {.fault = Fault::closed, .type = "describe"});
  const AwaitResult found = await_adapter(listener, {}, {});
  CHECK(found.adapters.empty());
  CHECK(has(names_of(found.seen), "fake"));
}

TEST_CASE("the end of the command ends the wait for a process that has no loader") {
  const PrivateFolder folder;
  const SocketListener listener(folder.path() + "/socket");
  LoaderlessProcess process(listener.path());
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  const FileDescriptor reading(ends[0]);
  FileDescriptor writing(ends[1]);
  const std::jthread command([&] { static_cast<void>(writing.close()); });
  const AwaitResult found = await_adapter(listener, {.command_ended = reading.get()}, {});
  CHECK(found.adapters.empty());
}

TEST_CASE("a stop ends the wait") {
  const PrivateFolder folder;
  const SocketListener listener(folder.path() + "/socket");
  std::stop_source stop;
  const std::jthread user([&] { stop.request_stop(); });
  CHECK_FALSE(
      error_message([&] { await_adapter(listener, {}, stop.get_token()); }, ErrorKind::interrupted)
          .empty());
}

TEST_CASE("the names of processes tell programs and versions") {
  AdapterHello script;
  script.program = "train.py";
  script.torch = "2.11.0";
  AdapterHello other;
  other.process = 12;
  CHECK(names_of({script, other}) == "train.py (torch 2.11.0), process 12");
}
