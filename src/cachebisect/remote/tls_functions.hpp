// The functions of OpenSSL, opened when they are needed. Sources that are built with
// CACHEBISECT_WITH_TLS alone include this.
#pragma once

#include <memory>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "cachebisect/base/needed_library.hpp"

namespace cachebisect {

struct TlsFunctions {
  NeededLibrary crypto{"libcrypto.so.3", "OpenSSL", "libssl3"};
  NeededLibrary ssl{"libssl.so.3", "OpenSSL", "libssl3"};
  decltype(&BIO_new) bio_new = nullptr;
  decltype(&BIO_get_new_index) bio_get_new_index = nullptr;
  decltype(&BIO_meth_new) bio_meth_new = nullptr;
  decltype(&BIO_meth_free) bio_meth_free = nullptr;
  decltype(&BIO_meth_set_read) bio_meth_set_read = nullptr;
  decltype(&BIO_meth_set_write) bio_meth_set_write = nullptr;
  decltype(&BIO_meth_set_ctrl) bio_meth_set_ctrl = nullptr;
  decltype(&BIO_set_data) bio_set_data = nullptr;
  decltype(&BIO_get_data) bio_get_data = nullptr;
  decltype(&BIO_set_flags) bio_set_flags = nullptr;
  decltype(&BIO_clear_flags) bio_clear_flags = nullptr;
  decltype(&ERR_clear_error) err_clear = nullptr;
  decltype(&ERR_peek_error) err_first = nullptr;
  decltype(&ERR_error_string_n) err_string = nullptr;
  decltype(&X509_verify_cert_error_string) verify_text = nullptr;
  decltype(&X509_VERIFY_PARAM_set1_ip_asc) param_set_ip = nullptr;
  decltype(&X509_VERIFY_PARAM_set_flags) param_set_flags = nullptr;
  decltype(&TLS_method) method = nullptr;
  decltype(&SSL_CTX_new) ctx_new = nullptr;
  decltype(&SSL_CTX_free) ctx_free = nullptr;
  decltype(&SSL_CTX_ctrl) ctx_ctrl = nullptr;
  decltype(&SSL_CTX_get0_param) ctx_get_param = nullptr;
  decltype(&SSL_CTX_set_num_tickets) set_num_tickets = nullptr;
  decltype(&SSL_CTX_set_default_passwd_cb) set_passphrase = nullptr;
  decltype(&SSL_CTX_use_certificate_chain_file) use_certificate = nullptr;
  decltype(&SSL_CTX_use_PrivateKey_file) use_key = nullptr;
  decltype(&SSL_CTX_check_private_key) check_key = nullptr;
  decltype(&SSL_CTX_load_verify_file) load_verify_file = nullptr;
  decltype(&SSL_CTX_set_verify) set_verify = nullptr;
  decltype(&SSL_new) ssl_new = nullptr;
  decltype(&SSL_free) ssl_free = nullptr;
  decltype(&SSL_set_bio) set_bio = nullptr;
  decltype(&SSL_set1_host) set_host = nullptr;
  decltype(&SSL_get0_param) get_param = nullptr;
  decltype(&SSL_set_accept_state) set_accept_state = nullptr;
  decltype(&SSL_set_connect_state) set_connect_state = nullptr;
  decltype(&SSL_do_handshake) do_handshake = nullptr;
  decltype(&SSL_is_init_finished) is_init_finished = nullptr;
  decltype(&SSL_read) read = nullptr;
  decltype(&SSL_write) write = nullptr;
  decltype(&SSL_get_error) get_error = nullptr;
  decltype(&SSL_get_verify_result) verify_result = nullptr;
};

/// Opened once; it stays in memory. Throws Error(usage) that says what the machine lacks.
[[nodiscard]] const TlsFunctions& tls_functions();

}  // namespace cachebisect
