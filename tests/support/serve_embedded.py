"""A llama.cpp server of the embedded model: `python tests/support/serve_embedded.py PORT`."""

from __future__ import annotations

import os
import signal
import sys

from careeval.protocol.machine import embedded_model_path

# as of `careeval.protocol.gguf`: spinning threads work ten times as long beside other processes
os.environ.setdefault("GOMP_SPINCOUNT", "10000")

import xllamacpp

if __name__ == "__main__":
    params = xllamacpp.CommonParams()
    params.model.path = str(embedded_model_path())
    params.port = int(sys.argv[1])
    params.n_parallel, params.n_ctx = 2, 4096
    params.ui = False
    server = xllamacpp.Server(params)
    signal.pause()
