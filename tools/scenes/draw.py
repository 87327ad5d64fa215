"""Draw the pictures of worlds from descriptions: `draw.py FILE… [--draft] [--out DIR]`."""

from __future__ import annotations

import argparse
import io
import json
import re
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import studio
import yaml
from drape import draped
from PIL import Image, ImageDraw
from shapes import Array, Mesh, turning
from things import make

SIZE, DRAFT = (1024, 768), (512, 384)
MOST_BYTES = 60_000
INSET = 0.38
FIELDS = ("id", "mirror", "room", "people", "things", "cameras", "deciding", "otherwise")
CORNERS = ("top-left", "top-right", "bottom-left", "bottom-right")
EXPOSURE = {"day": 0.2, "dim": 0.0, "against": 0.0}


def merged(base: Any, change: Any) -> Any:
    """Merge a change onto a description: mappings merge, all else replaces.

    A mapping onto a list of things changes the members of those names.
    """
    if isinstance(base, Mapping) and isinstance(change, Mapping):
        return {**base, **{k: merged(base[k], v) if k in base else v for k, v in change.items()}}
    if isinstance(base, list) and isinstance(change, Mapping):
        names = [m.get("name", m.get("thing", "person")) for m in base]
        for name in change:
            if name not in names:
                raise ValueError(f"otherwise: {name!r} is not one of {', '.join(names)}")
        return [merged(m, change.get(n, {})) for n, m in zip(names, base, strict=True)]
    return change


def _check(what: str, given: Iterable[str], allowed: Sequence[str]) -> None:
    for name in given:
        if name not in allowed:
            raise ValueError(f"{what}: {name!r} is not one of {', '.join(allowed)}")


def _made(kind: Any, given: Mapping[str, Any], what: str) -> Any:
    """Make a frozen dataclass of a mapping, refusing what it does not have."""
    if is_dataclass(kind):
        _check(what, given, [f.name for f in fields(kind)])
    return kind(**{k: tuple(v) if isinstance(v, list) else v for k, v in given.items()})


def _people(given: Sequence[Mapping[str, Any]]) -> list[tuple[str, Any]]:
    """Pose the people; each with the prefix of its meshes' names."""
    if not given:
        return []
    import body

    done = []
    for one in given:
        _check("people", one, ("name", "person", "pose"))
        pose = dict(one.get("pose", {}))
        for part in ("hands", "feet"):
            if part in pose:
                pose[part] = {
                    _side(part, side): _made(body.Reach, reach, f"{part} {side}")
                    for side, reach in pose[part].items()
                }
        person = _made(body.Person, one.get("person", {}), "person")
        posed = person.posed(_made(body.Pose, pose, "pose"))
        done.append((one["name"] + "-" if "name" in one else "", posed))
    return done


def _side(what: str, side: str) -> str:
    _check(what, [side], ("left", "right"))
    return side


def _point(at: Any, people: Sequence[tuple[str, Any]], what: str) -> Array:
    """Give a place: three numbers, or a joint of a person and how far from it."""
    if isinstance(at, Mapping):
        _check(f"{what}: at", at, ("joint", "person", "plus"))
        found = [p for n, p in people if at.get("person") in (None, n.rstrip("-"))]
        if not found:
            raise ValueError(f"{what}: at: no person {at.get('person')!r}")
        return np.asarray(found[0].joint(at["joint"]), float) + np.asarray(
            at.get("plus", (0, 0, 0)), float
        )
    return np.asarray(at, float)


def meshes_of(drawing: Mapping[str, Any]) -> list[Mesh]:
    """Make all the meshes of a drawing, in the room's coordinates."""
    people = _people(drawing.get("people") or [])
    done: list[Mesh] = []
    for prefix, posed in people:
        for m in posed.meshes:
            done.append(
                Mesh(
                    prefix + m.name,
                    np.asarray(m.vertices, float),
                    m.faces,
                    tuple(m.colour)[:3],
                    m.material,
                    bool(m.smooth),
                    getattr(m, "colours", None),
                    getattr(m, "normals", None),
                )
            )
    for one in drawing.get("things") or []:
        one = dict(one)
        if "thing" not in one:
            raise ValueError(f"things: no field 'thing' in {one}")
        kind = one.pop("thing")
        name = one.pop("name", kind)
        at = _point(one.pop("at", (0, 0, 0)), people, name)
        turns = one.pop("turn", 0.0)
        tip, lean = one.pop("tip", 0.0), one.pop("lean", 0.0)
        size = one.pop("size", 1.0)
        if "points" in one:
            one["points"] = [_point(p, people, name) for p in one["points"]]
        turn = turning("z", turns) @ turning("y", tip) @ turning("x", lean)
        made = make(kind, one)
        if kind == "blanket" and one.get("state") == "over":
            done += draped([replace(m, name=name) for m in made], turn, at, done)
            continue
        for m in made:
            full = name if m.name == "" else f"{name}-{m.name}"
            done.append(replace(m, name=full, vertices=size * m.vertices @ turn.T + at))
    return done


def reflected(meshes: Iterable[Mesh]) -> list[Mesh]:
    """Swap left and right of meshes; their names stay."""
    flip = np.array([1, -1, 1])
    return [
        replace(
            m,
            vertices=m.vertices * flip,
            faces=[tuple(f)[::-1] for f in m.faces],
            normals=None if m.normals is None else m.normals * flip,
        )
        for m in meshes
    ]


def _cameras(drawing: Mapping[str, Any], mirror: bool) -> list[studio.Camera]:
    given = drawing.get("cameras") or {}
    if not 1 <= len(given) <= 2:
        raise ValueError("cameras: 1 or 2 are wanted")
    done = []
    for name, one in given.items():
        camera = _made(studio.Camera, one, f"camera {name}")
        _check(f"camera {name}: corner", [camera.corner], CORNERS)
        if mirror:
            camera = replace(
                camera,
                at=tuple(np.multiply(camera.at, (1, -1, 1)).tolist()),
                to=tuple(np.multiply(camera.to, (1, -1, 1)).tolist()),
            )
        done.append(camera)
    return done


def _frame(size: tuple[int, int], corner: str) -> tuple[int, int, int, int]:
    """Give where the inset lies in the picture: left, top, width, height."""
    w, h = round(size[0] * INSET), round(size[1] * INSET)
    edge = size[0] // 128
    x = edge if "left" in corner else size[0] - w - edge
    y = edge if "top" in corner else size[1] - h - edge
    return x, y, w, h


def _shots(cameras: Sequence[studio.Camera], size: tuple[int, int], scratch: Path) -> Image.Image:
    """Render the cameras, the second as an inset of the first."""
    studio.aim(cameras[0])
    picture = studio.shot(size, scratch)
    for camera in cameras[1:]:
        x, y, w, h = _frame(size, camera.corner)
        studio.aim(camera)
        picture.paste(studio.shot((w, h), scratch), (x, y))
    return picture


def _bordered(picture: Image.Image, cameras: Sequence[studio.Camera]) -> Image.Image:
    for camera in cameras[1:]:
        x, y, w, h = _frame(picture.size, camera.corner)
        ImageDraw.Draw(picture).rectangle((x - 3, y - 3, x + w + 2, y + h + 2), None, "white", 3)
    return picture


def _webp(picture: Image.Image) -> tuple[bytes, int]:
    """Pack a picture, in the best quality of at most the allowed bytes."""
    for quality in range(92, 9, -4):
        store = io.BytesIO()
        picture.save(store, "WEBP", quality=quality, method=6)
        if store.tell() <= MOST_BYTES:
            return store.getvalue(), quality
    raise ValueError("the picture does not fit into its bytes")


def _boxes(seen: Any, cameras: Sequence[studio.Camera]) -> list[list[int]]:
    """Give the box round the deciding pixels, in the picture and in the inset."""
    height, width = seen.shape
    areas = [_frame((width, height), c.corner) for c in cameras[1:]]
    main = seen.copy()
    for x, y, w, h in areas:
        main[y : y + h, x : x + w] = False
    done = []
    for part, (x0, y0) in [(main, (0, 0))] + [
        (seen[y : y + h, x : x + w], (x, y)) for x, y, w, h in areas
    ]:
        ys, xs = np.nonzero(part)
        if len(xs):
            done.append(
                [int(xs.min()) + x0, int(ys.min()) + y0, int(xs.max()) + x0, int(ys.max()) + y0]
            )
    return done


def draw(
    drawing: Mapping[str, Any], target: Path, size: tuple[int, int], samples: int
) -> dict[str, Any]:
    """Draw one picture and count what it shows."""
    began = time.time()
    mirror = bool(drawing.get("mirror", False))
    room = _made(studio.Room, drawing.get("room") or {}, "room")
    cameras = _cameras(drawing, mirror)
    meshes = meshes_of(drawing)
    if mirror:
        meshes = reflected(meshes)
    studio.start(size, samples, EXPOSURE[room.light])
    objects = [studio.put(m) for m in meshes]
    studio.build_room(room, mirror)
    wanted = drawing.get("deciding") or []
    decides = [any(m.name == n or m.name.startswith(n + "-") for n in wanted) for m in meshes]
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder) / "shot.png"
        picture = _bordered(_shots(cameras, size, scratch), cameras)
        studio.count_pass(objects)
        seen = studio.numbers(_shots(cameras, size, scratch))
        part = np.isin(seen, [i + 1 for i, d in enumerate(decides) if d])
        for o, d in zip(objects, decides, strict=True):
            o.hide_render = not d
        whole = studio.numbers(_shots(cameras, size, scratch)) > 0
    data, quality = _webp(picture)
    target.write_bytes(data)
    count = np.bincount(seen.ravel(), minlength=len(meshes) + 1)[1:] / seen.size
    shares: dict[str, float] = {}
    for m, c in zip(meshes, count, strict=True):
        shares[m.name] = round(shares.get(m.name, 0.0) + float(c), 5)
    return {
        "draft": size == DRAFT,
        "seconds": round(time.time() - began, 1),
        "bytes": len(data),
        "quality": quality,
        "deciding_share": round(float(part.mean()), 5),
        "deciding_unhidden": round(float(part.sum() / max(whole.sum(), 1)), 3),
        "distance": round(cameras[0].distance, 2),
        "boxes": _boxes(part, cameras),
        "shares": {k: v for k, v in shares.items() if v},
    }


def _differing(one: Path, two: Path, boxes: Sequence[Sequence[int]]) -> float:
    """Give the share of pixels that differ outside the boxes."""
    with Image.open(one) as a, Image.open(two) as b:
        gap = np.abs(np.asarray(a.convert("RGB")).astype(int) - np.asarray(b.convert("RGB")))
    far = gap.max(-1) > 24
    edge = far.shape[1] // 64
    for x0, y0, x1, y1 in boxes:
        far[max(y0 - edge, 0) : y1 + edge + 1, max(x0 - edge, 0) : x1 + edge + 1] = False
    return round(float(far.mean()), 5)


def _numbered(value: Any) -> Any:
    """Make numbers of words such as -.7, which YAML does not take for numbers."""
    if isinstance(value, Mapping):
        words = {True: "on", False: "off"}  # which is how YAML reads these words
        return {words[k] if isinstance(k, bool) else k: _numbered(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_numbered(v) for v in value]
    if isinstance(value, str) and re.fullmatch(r"[-+]?[0-9]*\.?[0-9]+", value):
        return float(value)
    return value


def _read(path: Path) -> dict[str, Any]:
    drawing = yaml.safe_load(path.read_text(encoding="utf-8"))
    _check("drawing", drawing, FIELDS)
    if "id" not in drawing:
        raise ValueError("drawing: no field 'id'")
    return dict(_numbered({k: v for k, v in drawing.items() if k != "id"}), id=str(drawing["id"]))


def _known(drawings: Sequence[Mapping[str, Any]]) -> None:
    """Refuse a deciding part that is in neither variant."""
    names = {m.name for d in drawings for m in meshes_of(d)}
    for d in drawings:
        for wanted in d.get("deciding") or []:
            if not any(n == wanted or n.startswith(wanted + "-") for n in names):
                raise ValueError(f"deciding: {wanted!r} is not one of {', '.join(sorted(names))}")


def _noted(path: Path, new: Mapping[str, Any]) -> dict[str, Any]:
    """Add entries to the list of pictures, at once, so that a stopped run goes on from there."""
    written = json.loads(path.read_text()) if path.exists() else {}
    written |= new
    path.write_text(json.dumps(written, indent=1, sort_keys=True) + "\n")
    return dict(written)


def draw_file(path: Path, out: Path, draft: bool) -> None:
    """Draw both variants of a file, unless they are there and newer."""
    base = _read(path)
    other = base.pop("otherwise", None)
    variants = [(base["id"], base)]
    if other is not None:
        variants.append((f"{base['id']}-seen", merged(base, other)))
    for _, drawing in variants:
        _check("drawing", drawing, FIELDS)
    _known([d for _, d in variants])
    size, samples = (DRAFT, 8) if draft else (SIZE, 32)
    list_path = out / "pictures.json"
    written = json.loads(list_path.read_text()) if list_path.exists() else {}
    drawn = False
    for name, drawing in variants:
        target = out / f"{name}.webp"
        if target.exists() and name in written and target.stat().st_mtime > path.stat().st_mtime:
            with Image.open(target) as there:
                if there.size == size:
                    continue
        written = _noted(list_path, {name: draw(drawing, target, size, samples)})
        drawn = True
        kept = {k: v for k, v in written[name].items() if k != "shares"}
        sys.stdout.write(f"{target} {kept}\n")
        sys.stdout.flush()
    names = [n for n, _ in variants]
    if drawn and len(names) == 2 and all((out / f"{n}.webp").exists() for n in names):
        boxes = [b for n in names for b in written[n]["boxes"]]
        gap = _differing(*(out / f"{n}.webp" for n in names), boxes)
        _noted(list_path, {n: {**written[n], "differs_outside": gap} for n in names})


def main() -> int:
    """Draw the files that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--draft", action="store_true", help="512×384, 8 samples")
    parser.add_argument("--out", type=Path, help="where to write; else beside each file")
    given = parser.parse_args()
    wrong = 0
    for path in given.files:
        out = given.out or path.parent
        out.mkdir(parents=True, exist_ok=True)
        try:
            draw_file(path, out, given.draft)
        except (ValueError, TypeError) as problem:
            sys.stderr.write(f"{path}: {problem}\n")
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
