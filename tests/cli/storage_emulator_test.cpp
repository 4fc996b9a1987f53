#include <csignal>
#include <filesystem>
#include <string>

#include "support/command.hpp"
#include "support/files.hpp"
#include "support/http_socket.hpp"
#include "support/lacking.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

using namespace cachebisect::test;

namespace {

bool lacks_emulator() {
#ifdef CACHEBISECT_WITH_HTTP_SERVER
  return false;
#else
  skip("cpp-httplib (libcpp-httplib-dev)");
  return true;
#endif
}

}  // namespace

TEST_CASE("storage-emulator says where it listens, serves until Ctrl-C, and says what it served") {
  if (lacks_emulator()) return;
  const TemporaryFolder data;
  data.write("x", std::string("content"));
  HttpReply reply;
  const auto result = run_tool(
      {"storage-emulator", "--data", data.path(), "--latency-ms", "0", "--latency-p99-ms", "0"}, "",
      [&](pid_t child, const std::string& err) {
        const std::string out = (std::filesystem::path(err).parent_path() / "out").string();
        await_text(out, [](const std::string& text) { return text.ends_with("\n"); });
        const std::string url = read_file(out);
        CHECK(url.starts_with("http://127.0.0.1:"));
        reply = HttpSocket(std::stoi(url.substr(url.rfind(':') + 1))).get("/x");
        kill(child, SIGINT);
      });
  CHECK(reply.body == "content");
  CHECK(result.exit_code == 130);
  CHECK(has(result.out, "1 request, 7 B sent, 0 throttled (503), at most 1 at once"));
}

TEST_CASE("storage-emulator refuses what it cannot serve") {
  const TemporaryFolder data;
  const auto missing = run_tool({"storage-emulator"});
  CHECK(missing.exit_code == 2);
  CHECK(has(missing.err, "--data"));
  if (lacks_emulator()) {
    const auto lacking = run_tool({"storage-emulator", "--data", data.path()});
    CHECK(lacking.exit_code == 2);
    CHECK(has(lacking.err, "libcpp-httplib-dev"));
    return;
  }
  const auto refused = [&](const std::string& option, const std::string& value) {
    const auto result = run_tool({"storage-emulator", "--data", data.path(), option, value});
    CHECK(result.exit_code == 2);
    return result.err;
  };
  const auto none = run_tool({"storage-emulator", "--data", data.path("none")});
  CHECK(none.exit_code == 2);
  CHECK(has(none.err, "none"));
  CHECK(has(refused("--port", "70000"), "--port"));
  CHECK(has(refused("--latency-ms", "-1"), "latency"));
  CHECK(has(refused("--latency-p99-ms", "1"), "99th percentile"));
  CHECK(has(refused("--address", "192.0.2.1"), "192.0.2.1"));
}
