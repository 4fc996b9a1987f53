"""Callables by which Python and its libraries open files and send requests."""

from __future__ import annotations

from typing import NamedTuple


class Call(NamedTuple):
    """A callable that is watched if its module is imported."""

    module: str
    callable: str
    """A function, or "Class.method"."""
    what: str
    """What a call of it means: one of the constants below."""

    @property
    def package(self) -> str:
        """The library that it belongs to."""
        return self.module.partition(".")[0]


OPEN, OS_OPEN, LIBRARY_OPEN, CONNECT, RECEIVE, CLIENT = (
    "open", "os.open", "library open", "connect", "receive", "client",
)  # fmt: skip
PUT_REQUEST, PUT_HEADER, SEND, GET_RESPONSE, CLOSE_RESPONSE = (
    "put request", "put header", "send", "get response", "close response",
)  # fmt: skip
"""Of http.client, in the order in which they are called for a request."""
HTTPX, CLOSE_HTTPX, AIOHTTP, OBJECT_STORE = "httpx", "close httpx", "aiohttp", "object store"

CALLS = (
    Call("io", "open", OPEN),
    Call("os", "open", OS_OPEN),
    Call("socket", "socket.connect", CONNECT),
    Call("socket", "socket.connect_ex", CONNECT),
    Call("socket", "socket.recv", RECEIVE),
    Call("socket", "socket.recv_into", RECEIVE),
    Call("ssl", "SSLSocket.read", RECEIVE),
    # urllib, requests, urllib3 and botocore send by it.
    Call("http.client", "HTTPConnection.putrequest", PUT_REQUEST),
    Call("http.client", "HTTPConnection.putheader", PUT_HEADER),
    Call("http.client", "HTTPConnection.endheaders", SEND),
    Call("http.client", "HTTPConnection.getresponse", GET_RESPONSE),
    Call("http.client", "HTTPResponse._close_conn", CLOSE_RESPONSE),
    Call("httpx", "HTTPTransport.handle_request", HTTPX),
    Call("httpx", "AsyncHTTPTransport.handle_async_request", HTTPX),
    Call("httpx", "Response.close", CLOSE_HTTPX),
    Call("httpx", "Response.aclose", CLOSE_HTTPX),
    # aiobotocore, s3fs, gcsfs and fsspec's file system for HTTP send by it.
    Call("aiohttp", "ClientSession._request", AIOHTTP),
    *(
        Call("obstore", f"{name}{kind}", OBJECT_STORE)
        for name in ("get", "get_range", "get_ranges", "head", "list_with_delimiter")
        for kind in ("", "_async")
    ),
    Call("urllib3", "PoolManager.__init__", CLIENT),
    Call("requests", "Session.__init__", CLIENT),
    Call("httpx", "Client.__init__", CLIENT),
    Call("httpx", "AsyncClient.__init__", CLIENT),
    Call("aiohttp", "ClientSession.__init__", CLIENT),
    Call("botocore.client", "ClientCreator.create_client", CLIENT),
    Call("aiobotocore.client", "AioClientCreator.create_client", CLIENT),
    Call("fsspec", "AbstractFileSystem.__init__", CLIENT),
    *(
        Call(module, name, LIBRARY_OPEN)
        for module, name in (
            ("h5py", "File.__init__"),
            ("lmdb", "open"),
            ("pyarrow", "memory_map"),
            ("pyarrow.parquet", "read_table"),
            ("pyarrow.parquet", "ParquetFile.__init__"),
            ("pyarrow.feather", "read_table"),
            ("cv2", "imread"),
            ("torchvision.io", "read_file"),
            ("torchcodec.decoders", "VideoDecoder.__init__"),
            ("torchcodec.decoders", "AudioDecoder.__init__"),
            ("decord", "VideoReader.__init__"),
            ("av", "open"),
            ("soundfile", "SoundFile.__init__"),
            ("safetensors", "safe_open"),
            ("safetensors.torch", "safe_open"),
            ("sqlite3", "connect"),
            ("polars", "read_parquet"),
            ("rasterio", "open"),
        )
    ),
)
"""One of these may call another: the watchers count what is opened or sent once. What is written
in C or Rust is not in here if Python cannot replace it, as the methods of pyarrow's file systems.
"""
