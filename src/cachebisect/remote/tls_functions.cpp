#ifdef CACHEBISECT_WITH_TLS
#include "cachebisect/remote/tls_functions.hpp"

#include <string>

#include "cachebisect/base/error.hpp"

namespace cachebisect {
namespace {

template <class Function>
void load_tls(const SharedLibrary& library, Function& function, const char* name) {
  function = library.function<Function>(name);
  if (function == nullptr) throw Error(ErrorKind::usage, std::string("OpenSSL has no ") + name);
}

std::unique_ptr<const TlsFunctions> open_tls() {
  auto tls = std::make_unique<TlsFunctions>();
  for (const SharedLibrary* library : {&tls->crypto, &tls->ssl}) {
    if (library->is_open()) continue;
    throw Error(ErrorKind::usage, "OpenSSL cannot be opened: " + library->error() +
                                      "; install it (Debian's libssl3)");
  }
  load_tls(tls->crypto, tls->bio_new, "BIO_new");
  load_tls(tls->crypto, tls->bio_get_new_index, "BIO_get_new_index");
  load_tls(tls->crypto, tls->bio_meth_new, "BIO_meth_new");
  load_tls(tls->crypto, tls->bio_meth_free, "BIO_meth_free");
  load_tls(tls->crypto, tls->bio_meth_set_read, "BIO_meth_set_read");
  load_tls(tls->crypto, tls->bio_meth_set_write, "BIO_meth_set_write");
  load_tls(tls->crypto, tls->bio_meth_set_ctrl, "BIO_meth_set_ctrl");
  load_tls(tls->crypto, tls->bio_set_data, "BIO_set_data");
  load_tls(tls->crypto, tls->bio_get_data, "BIO_get_data");
  load_tls(tls->crypto, tls->bio_set_flags, "BIO_set_flags");
  load_tls(tls->crypto, tls->bio_clear_flags, "BIO_clear_flags");
  load_tls(tls->crypto, tls->err_clear, "ERR_clear_error");
  load_tls(tls->crypto, tls->err_first, "ERR_peek_error");
  load_tls(tls->crypto, tls->err_string, "ERR_error_string_n");
  load_tls(tls->crypto, tls->verify_text, "X509_verify_cert_error_string");
  load_tls(tls->crypto, tls->param_set_ip, "X509_VERIFY_PARAM_set1_ip_asc");
  load_tls(tls->crypto, tls->param_set_flags, "X509_VERIFY_PARAM_set_flags");
  load_tls(tls->ssl, tls->method, "TLS_method");
  load_tls(tls->ssl, tls->ctx_new, "SSL_CTX_new");
  load_tls(tls->ssl, tls->ctx_free, "SSL_CTX_free");
  load_tls(tls->ssl, tls->ctx_ctrl, "SSL_CTX_ctrl");
  load_tls(tls->ssl, tls->ctx_get_param, "SSL_CTX_get0_param");
  load_tls(tls->ssl, tls->set_num_tickets, "SSL_CTX_set_num_tickets");
  load_tls(tls->ssl, tls->set_passphrase, "SSL_CTX_set_default_passwd_cb");
  load_tls(tls->ssl, tls->use_certificate, "SSL_CTX_use_certificate_chain_file");
  load_tls(tls->ssl, tls->use_key, "SSL_CTX_use_PrivateKey_file");
  load_tls(tls->ssl, tls->check_key, "SSL_CTX_check_private_key");
  load_tls(tls->ssl, tls->load_verify_file, "SSL_CTX_load_verify_file");
  load_tls(tls->ssl, tls->set_verify, "SSL_CTX_set_verify");
  load_tls(tls->ssl, tls->ssl_new, "SSL_new");
  load_tls(tls->ssl, tls->ssl_free, "SSL_free");
  load_tls(tls->ssl, tls->set_bio, "SSL_set_bio");
  load_tls(tls->ssl, tls->set_host, "SSL_set1_host");
  load_tls(tls->ssl, tls->get_param, "SSL_get0_param");
  load_tls(tls->ssl, tls->set_accept_state, "SSL_set_accept_state");
  load_tls(tls->ssl, tls->set_connect_state, "SSL_set_connect_state");
  load_tls(tls->ssl, tls->do_handshake, "SSL_do_handshake");
  load_tls(tls->ssl, tls->is_init_finished, "SSL_is_init_finished");
  load_tls(tls->ssl, tls->read, "SSL_read");
  load_tls(tls->ssl, tls->write, "SSL_write");
  load_tls(tls->ssl, tls->get_error, "SSL_get_error");
  load_tls(tls->ssl, tls->verify_result, "SSL_get_verify_result");
  return tls;
}

}  // namespace

const TlsFunctions& tls_functions() {
  static const std::unique_ptr<const TlsFunctions> tls = open_tls();
  return *tls;
}

}  // namespace cachebisect
#endif
