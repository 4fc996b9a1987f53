// What a peer sends over the socket becomes its lines, in their order, and nothing else. The first
// byte says how much is sent at once.
#include <array>

#include "fuzz/fuzz_target.hpp"
#include <sys/socket.h>

#include "cachebisect/remote/message_channel.hpp"

using namespace cachebisect;
using namespace cachebisect::fuzz;

namespace {

struct Ends {
  FileDescriptor ours;
  FileDescriptor peer;
};

Ends connected() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) throw std::bad_alloc();
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

}  // namespace

extern "C" int CACHEBISECT_FUZZ_ENTRY(channel)(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kMostSent = 32'768;
  if (size < 2) return 0;
  const std::size_t piece = std::size_t{data[0]} + 1;
  const std::string_view all = text_of(data + 1, std::min(size - 1, kMostSent));
  Ends ends = connected();
  MessageChannel channel(std::move(ends.ours));
  std::string received;
  takes({ErrorKind::internal}, [&] {
    for (std::size_t at = 0; at < all.size(); at += piece) {
      const std::string_view part = all.substr(at, piece);
      const ssize_t sent = ::send(ends.peer.get(), part.data(), part.size(), MSG_NOSIGNAL);
      require(std::cmp_equal(sent, part.size()), "the socket takes what is sent");
      require(channel.read_available(), "the connection is open");
      while (const auto line = channel.next()) {
        require(line->find('\n') == std::string::npos, "a message is one line");
        received += *line + '\n';
      }
    }
  });
  require(channel.has_partial_message() == !all.ends_with('\n'), "the last line is known to end");
  require(received + channel.take_rest() == all, "what was sent is received");
  return 0;
}
