"""The sight test: one call by which a run finds out whether a model sees pictures at all.

Some servers drop the picture of a request and answer the words alone. Without this test, a run with
pictures would end as a result of a system that saw none.
"""

from __future__ import annotations

import re
import struct
import zlib
from base64 import b64encode

from inspect_ai.model import ChatMessage, ChatMessageUser, ContentImage, ContentText

SIZE = 128
"""Width and height of the test picture, in pixels."""

COLOURS = {
    "yellow": (250, 210, 30),
    "blue": (30, 70, 210),
    "red": (210, 30, 40),
    "green": (30, 150, 60),
}
"""The colours of its four squares: above left and right, then below left and right."""

REQUEST = (
    "The picture has four squares. Name their colours in this order: above left, above right, below"
    " left, below right. Reply with four of the words blue, green, red, yellow, and nothing else."
)


def sight_request() -> list[ChatMessage]:
    """Return the message that asks for the colours of the test picture."""
    picture = "data:image/png;base64," + b64encode(_png()).decode()
    return [ChatMessageUser(content=[ContentText(text=REQUEST), ContentImage(image=picture)])]


def sees(reply: str) -> bool:
    """Tell whether a reply ends with the four colours in their order; by chance, 1 in 24 does."""
    named = re.findall("|".join(COLOURS), reply.lower())
    return named[-len(COLOURS) :] == [*COLOURS]


def _png() -> bytes:
    above, below = (
        b"\0" + b"".join(bytes(colour) * (SIZE // 2) for colour in row)
        for row in ([*COLOURS.values()][:2], [*COLOURS.values()][2:])
    )
    header = struct.pack(">IIBBBBB", SIZE, SIZE, 8, 2, 0, 0, 0)
    pixels = zlib.compress(above * (SIZE // 2) + below * (SIZE // 2))
    chunks = (b"IHDR", header), (b"IDAT", pixels), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )
