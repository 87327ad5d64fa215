"""A llama.cpp server of the embedded model: `python tests/support/serve_embedded.py PORT`."""

from __future__ import annotations

import signal
import sys

import xllamacpp

from careeval.protocol.embedded_model import embedded_model_path

if __name__ == "__main__":
    params = xllamacpp.CommonParams()
    params.model.path = str(embedded_model_path())
    params.port = int(sys.argv[1])
    params.n_parallel, params.n_ctx = 2, 4096
    params.ui = False
    server = xllamacpp.Server(params)
    signal.pause()
