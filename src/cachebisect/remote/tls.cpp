#include "cachebisect/remote/tls.hpp"

#include "cachebisect/base/error.hpp"
#ifdef CACHEBISECT_WITH_TLS
#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "cachebisect/remote/tcp_socket.hpp"
#include "cachebisect/remote/tls_functions.hpp"
#include "cachebisect/remote/tls_socket.hpp"
#endif

namespace cachebisect {

TlsSession::~TlsSession() = default;
Tls::~Tls() = default;

#ifdef CACHEBISECT_WITH_TLS
namespace {

/// The first of the errors since they were cleared in this thread.
std::string tls_error_text(const TlsFunctions& tls) {
  std::array<char, 256> text{};
  tls.err_string(tls.err_first(), text.data(), text.size());
  const std::string whole = text.data();
  // "error:0A00010B:SSL routines::wrong version number"
  return whole.substr(whole.rfind(':') + 1);
}

[[noreturn]] void fail_in_openssl() {
  throw Error(ErrorKind::internal, "OpenSSL: " + tls_error_text(tls_functions()));
}

int refuse_passphrase(char* /*buffer*/, int /*bytes*/, int /*writing*/, void* /*data*/) {
  return -1;
}

struct FreeContext {
  void operator()(SSL_CTX* context) const noexcept { tls_functions().ctx_free(context); }
};
struct FreeSsl {
  void operator()(SSL* ssl) const noexcept { tls_functions().ssl_free(ssl); }
};

class OpenSslSession final : public TlsSession {
 public:
  /// `host`: as of Tls::begin().
  OpenSslSession(SSL_CTX* context, std::shared_ptr<BIO_METHOD> method, int socket,
                 const std::string& host)
      : tls_(tls_functions()),
        socket_{.descriptor = socket},
        method_(std::move(method)),
        ssl_(tls_.ssl_new(context)) {
    BIO* const bio = ssl_ ? tls_.bio_new(method_.get()) : nullptr;
    if (bio == nullptr) fail_in_openssl();
    tls_.bio_set_data(bio, &socket_);
    tls_.set_bio(ssl_.get(), bio, bio);  // It owns the BIO from here.
    if (host.empty()) {
      tls_.set_accept_state(ssl_.get());
    } else {
      expect(host);
      tls_.set_connect_state(ssl_.get());
    }
  }

  ssize_t read(char* buffer, std::size_t bytes) override {
    return attempt([&] { return tls_.read(ssl_.get(), buffer, at_once(bytes)); });
  }

  ssize_t write(const char* data, std::size_t bytes) override {
    if (tls_.is_init_finished(ssl_.get()) == 0) {
      errno = ENOTCONN;
      return -1;
    }
    const ssize_t sent = attempt([&] { return tls_.write(ssl_.get(), data, at_once(bytes)); });
    if (sent != 0) return sent;
    errno = EPIPE;
    return -1;
  }

  ssize_t handshake() override {
    return attempt([&] { return tls_.do_handshake(ssl_.get()); });
  }

  [[nodiscard]] const TlsFailure& failure() const noexcept override { return failure_; }

 private:
  static int at_once(std::size_t bytes) {
    return static_cast<int>(std::min(bytes, kTlsRecordBytes));
  }

  void expect(const std::string& host) {
    const int known = is_numeric(host) ? tls_.param_set_ip(tls_.get_param(ssl_.get()), host.c_str())
                                       : tls_.set_host(ssl_.get(), host.c_str());
    if (known != 1) {
      throw Error(ErrorKind::usage, "'" + host +
                                        "' cannot be the host of a certificate; connect to the "
                                        "name or number that --cert of `cachebisect run` is for");
    }
  }

  template <class Work>
  ssize_t attempt(const Work& work) {
    tls_.err_clear();
    socket_.error = 0;
    const int result = work();
    if (result > 0) return result;
    switch (tls_.get_error(ssl_.get(), result)) {
      case SSL_ERROR_WANT_READ:
      case SSL_ERROR_WANT_WRITE:
        errno = EAGAIN;
        return -1;
      case SSL_ERROR_ZERO_RETURN:
        return 0;
      case SSL_ERROR_SYSCALL:
        if (socket_.ended) return 0;
        errno = socket_.error != 0 ? socket_.error : EPROTO;
        return -1;
      default:
        return fail();
    }
  }

  ssize_t fail() {
    const long verified = tls_.verify_result(ssl_.get());
    const bool untrusted = verified != X509_V_OK;
    // A call after the one that has failed says less.
    if (failure_.text.empty()) {
      failure_ = {untrusted ? tls_.verify_text(verified) : tls_error_text(tls_), untrusted};
    }
    errno = EPROTO;
    return -1;
  }

  const TlsFunctions& tls_;
  TlsSocket socket_;
  std::shared_ptr<BIO_METHOD> method_;
  TlsFailure failure_;
  std::unique_ptr<SSL, FreeSsl> ssl_;  // last: it uses the others
};

class OpenSsl final : public Tls {
 public:
  OpenSsl()
      : tls_(tls_functions()), method_(socket_method()), context_(tls_.ctx_new(tls_.method())) {
    if (!context_ || tls_.ctx_ctrl(context_.get(), SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_3_VERSION,
                                   nullptr) != 1) {
      fail_in_openssl();
    }
    // Data is sent as far as the socket takes it, and given again from another place.
    tls_.ctx_ctrl(context_.get(), SSL_CTRL_MODE,
                  SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER, nullptr);
    // No session is resumed.
    tls_.set_num_tickets(context_.get(), 0);
    // OpenSSL would ask the terminal.
    tls_.set_passphrase(context_.get(), refuse_passphrase);
  }

  void identify(const std::string& certificate_file, const std::string& key_file) {
    check([&] { return tls_.use_certificate(context_.get(), certificate_file.c_str()); },
          "--cert " + certificate_file, "a PEM file with a certificate is needed");
    const std::string key = key_file.empty() ? certificate_file : key_file;
    const std::string place = key_file.empty() ? "the key in --cert " : "--key ";
    const std::string remedy = "a PEM file with the key of --cert " + certificate_file +
                               ", without a passphrase, is needed" +
                               (key_file.empty() ? " as --key" : "");
    check([&] { return tls_.use_key(context_.get(), key.c_str(), SSL_FILETYPE_PEM); }, place + key,
          remedy);
    check([&] { return tls_.check_key(context_.get()); }, place + key, remedy);
  }

  void trust(const std::string& file) {
    check([&] { return tls_.load_verify_file(context_.get(), file.c_str()); }, "--cert " + file,
          "a PEM file with the certificate of `cachebisect run`, or of what has signed it, is "
          "needed");
    // Each certificate of the file is trusted, also one that another has signed.
    tls_.param_set_flags(tls_.ctx_get_param(context_.get()), X509_V_FLAG_PARTIAL_CHAIN);
    tls_.set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
  }

  [[nodiscard]] std::unique_ptr<TlsSession> begin(int socket,
                                                  const std::string& host) const override {
    return std::make_unique<OpenSslSession>(context_.get(), method_, socket, host);
  }

 private:
  template <class Work>
  void check(const Work& work, const std::string& place, const std::string& remedy) const {
    tls_.err_clear();
    if (work() == 1) return;
    throw Error(ErrorKind::usage, place + ": " + tls_error_text(tls_) + "; " + remedy);
  }

  const TlsFunctions& tls_;
  std::shared_ptr<BIO_METHOD> method_;
  std::unique_ptr<SSL_CTX, FreeContext> context_;
};

}  // namespace

std::shared_ptr<const Tls> tls_of_engine(const std::string& certificate_file,
                                         const std::string& key_file) {
  auto tls = std::make_shared<OpenSsl>();
  tls->identify(certificate_file, key_file);
  return tls;
}

std::shared_ptr<const Tls> tls_of_relay(const std::string& certificate_file) {
  auto tls = std::make_shared<OpenSsl>();
  tls->trust(certificate_file);
  return tls;
}
#else
namespace {

[[noreturn]] void fail_without_tls() {
  throw Error(ErrorKind::usage,
              "--cert: this cachebisect was built without TLS, as that of the Python package is; "
              "install OpenSSL's headers (Debian's libssl-dev) and build it from its source, or "
              "carry the port through `ssh -L` without --cert");
}

}  // namespace

std::shared_ptr<const Tls> tls_of_engine(const std::string& /*certificate_file*/,
                                         const std::string& /*key_file*/) {
  fail_without_tls();
}

std::shared_ptr<const Tls> tls_of_relay(const std::string& /*certificate_file*/) {
  fail_without_tls();
}
#endif

}  // namespace cachebisect
