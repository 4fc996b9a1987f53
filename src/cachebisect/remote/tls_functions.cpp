#ifdef CACHEBISECT_WITH_TLS
#include "cachebisect/remote/tls_functions.hpp"

namespace cachebisect {
namespace {

std::unique_ptr<const TlsFunctions> open_tls() {
  auto tls = std::make_unique<TlsFunctions>();
  const NeededLibrary& crypto = tls->crypto;
  const NeededLibrary& ssl = tls->ssl;
  crypto.load(tls->bio_new, "BIO_new");
  crypto.load(tls->bio_get_new_index, "BIO_get_new_index");
  crypto.load(tls->bio_meth_new, "BIO_meth_new");
  crypto.load(tls->bio_meth_free, "BIO_meth_free");
  crypto.load(tls->bio_meth_set_read, "BIO_meth_set_read");
  crypto.load(tls->bio_meth_set_write, "BIO_meth_set_write");
  crypto.load(tls->bio_meth_set_ctrl, "BIO_meth_set_ctrl");
  crypto.load(tls->bio_set_data, "BIO_set_data");
  crypto.load(tls->bio_get_data, "BIO_get_data");
  crypto.load(tls->bio_set_flags, "BIO_set_flags");
  crypto.load(tls->bio_clear_flags, "BIO_clear_flags");
  crypto.load(tls->err_clear, "ERR_clear_error");
  crypto.load(tls->err_first, "ERR_peek_error");
  crypto.load(tls->err_string, "ERR_error_string_n");
  crypto.load(tls->verify_text, "X509_verify_cert_error_string");
  crypto.load(tls->param_set_ip, "X509_VERIFY_PARAM_set1_ip_asc");
  crypto.load(tls->param_set_flags, "X509_VERIFY_PARAM_set_flags");
  ssl.load(tls->method, "TLS_method");
  ssl.load(tls->ctx_new, "SSL_CTX_new");
  ssl.load(tls->ctx_free, "SSL_CTX_free");
  ssl.load(tls->ctx_ctrl, "SSL_CTX_ctrl");
  ssl.load(tls->ctx_get_param, "SSL_CTX_get0_param");
  ssl.load(tls->set_num_tickets, "SSL_CTX_set_num_tickets");
  ssl.load(tls->set_passphrase, "SSL_CTX_set_default_passwd_cb");
  ssl.load(tls->use_certificate, "SSL_CTX_use_certificate_chain_file");
  ssl.load(tls->use_key, "SSL_CTX_use_PrivateKey_file");
  ssl.load(tls->check_key, "SSL_CTX_check_private_key");
  ssl.load(tls->load_verify_file, "SSL_CTX_load_verify_file");
  ssl.load(tls->set_verify, "SSL_CTX_set_verify");
  ssl.load(tls->ssl_new, "SSL_new");
  ssl.load(tls->ssl_free, "SSL_free");
  ssl.load(tls->set_bio, "SSL_set_bio");
  ssl.load(tls->set_host, "SSL_set1_host");
  ssl.load(tls->get_param, "SSL_get0_param");
  ssl.load(tls->set_accept_state, "SSL_set_accept_state");
  ssl.load(tls->set_connect_state, "SSL_set_connect_state");
  ssl.load(tls->do_handshake, "SSL_do_handshake");
  ssl.load(tls->is_init_finished, "SSL_is_init_finished");
  ssl.load(tls->read, "SSL_read");
  ssl.load(tls->write, "SSL_write");
  ssl.load(tls->get_error, "SSL_get_error");
  ssl.load(tls->verify_result, "SSL_get_verify_result");
  return tls;
}

}  // namespace

const TlsFunctions& tls_functions() {
  static const std::unique_ptr<const TlsFunctions> tls = open_tls();
  return *tls;
}

}  // namespace cachebisect
#endif
