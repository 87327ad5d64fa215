"""The store keeps every change once and in order, through every fault that a disk has."""

from __future__ import annotations

import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import monotonic

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from careeval.core.rating import Rater, Role
from careeval.errors import ReviewError
from careeval.people import database
from careeval.people.forms import FormChange, FormId
from careeval.people.store import Store

RATER = Rater("r01", Role.occupational_therapist)
OTHER = Rater("r02", Role.roboticist)
TASK = "1/dressing-001@1"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A store with two raters."""
    store = Store.create(tmp_path / "study.db", "study", "{}")
    store.add_rater(RATER)
    store.add_rater(OTHER)
    yield store
    store.close()


def _values(store: Store, rater: str = "r01") -> dict[str, str]:
    return {name: answer.value for name, answer in store.answers(rater, TASK).items()}


def test_worked_example(store: Store) -> None:
    """The last change of a field stands, one taken back is gone, and all of them are kept."""
    store.save("r01", TASK, {"realism": "4", "comment": "so"}, FormId("a", 0, 0), place=3)
    saved = store.save("r01", TASK, {"realism": "5", "comment": None}, FormId("a", 1, 2))
    assert _values(store) == {"realism": "5"}
    assert saved.changed == ("realism", "comment")
    assert [(e.field, e.value, e.place) for e in store.events()] == [
        ("realism", "4", 3), ("comment", "so", 3), ("realism", "5", None), ("comment", None, None)
    ]  # fmt: skip


@pytest.mark.parametrize("came_before", [True, False])
def test_a_form_that_a_later_one_overtook(store: Store, came_before: bool) -> None:
    """A form that arrives after a later one of its page changes nothing, be it again or late."""
    first = FormId("a", 1, 0)
    if came_before:
        store.save("r01", TASK, {"realism": "4"}, first)
    store.save("r01", TASK, {"realism": "2"}, FormId("a", 2, 0))
    before = store.events()
    assert store.save("r01", TASK, {"realism": "4"}, first).replayed
    assert _values(store) == {"realism": "2"}
    assert store.events() == before


def test_a_page_without_scripts_sent_twice(store: Store) -> None:
    """The same form with other answers, as after Back, is no replay: the answers change."""
    store.save("r01", TASK, {"realism": "2"}, FormId("a", 0, 0))
    saved = store.save("r01", TASK, {"realism": "3"}, FormId("a", 0, 0))
    assert (saved.replayed, saved.overwritten) == (False, {})
    assert _values(store) == {"realism": "3"}


def test_two_windows(store: Store) -> None:
    """The later window wins its field, keeps the other's where it left one alone, and is told."""
    store.save("r01", TASK, {"realism": "1", "validity": "1"}, FormId("before", 0, 0))
    store.save("r01", TASK, {"realism": "4", "validity": "4"}, FormId("one", 0, 2))
    saved = store.save("r01", TASK, {"realism": "5", "validity": "1"}, FormId("two", 0, 2))
    assert _values(store) == {"realism": "5", "validity": "4"}
    assert saved.overwritten == {"realism": "4"}
    assert saved.kept == {"validity": "4"}
    once_more = store.save("r01", TASK, {"realism": "3"}, FormId("two", 1, 2))
    assert (once_more.overwritten, once_more.kept) == ({}, {"validity": "4"})


@given(st.data())
@settings(max_examples=40)
def test_windows_lose_nothing(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Whatever windows do, a field has the last value that somebody really changed it to."""
    store = Store.create(tmp_path_factory.mktemp("windows") / "study.db", "study", "{}")
    store.add_rater(RATER)
    store.add_rater(OTHER)
    expected: dict[str, str | None] = {}
    shown: dict[str, dict[str, str | None]] = {"a": {}, "b": {}}
    seen, showing = {"a": 0, "b": 0}, {"a": 0, "b": 0}
    for number in range(data.draw(st.integers(1, 12))):
        window = data.draw(st.sampled_from("ab"))
        if data.draw(st.booleans()):  # it is loaded again
            shown[window], seen[window] = dict(_values(store)), store.newest("r01", TASK)
            showing[window] += 1
        form = dict(shown[window])  # a question without an answer is in no form
        for field in data.draw(st.sets(st.sampled_from("xy"))):
            form[field] = data.draw(st.sampled_from("123"))
        expected |= {f: v for f, v in form.items() if v != shown[window].get(f)}
        store.save("r02", TASK, {"x": str(number)}, FormId(f"other{number}", 0, 0))
        page = f"{window}{showing[window]}"
        saved = store.save("r01", TASK, form, FormId(page, number, seen[window]))
        assert _values(store) == expected
        shown[window] = form
        stale = {f for f, v in expected.items() if form.get(f) != v}
        assert stale <= set(saved.kept)  # whatever a window shows that does not stand, it is told
    store.close()


def _changes(*values: str) -> list[FormChange]:
    """One rater's realism on as many tasks, t0, t1 …; nothing was seen of them."""
    return [
        FormChange("r01", f"t{n}", {"realism": value}, FormId(f"p{n}", 0, 0))
        for n, value in enumerate(values)
    ]


def test_several_forms_at_once(store: Store) -> None:
    """Each of them is kept as it would be alone, and what became of each comes back in order."""
    store.save("r01", "t1", {"realism": "4"}, FormId("other", 0, 0))
    first, second = store.save_all(_changes("3", "5"))
    assert {task: work["realism"].value for task, work in store.work("r01").items()} == {
        "t0": "3",
        "t1": "5",
    }
    assert (first.overwritten, second.overwritten) == ({}, {"realism": "4"})


def test_work_read_task_by_task(store: Store) -> None:
    """It says the same, of what stands alone: what was taken back is not in it."""
    store.save_all(_changes("3", "5"))
    store.save("r01", "t1", {"realism": None}, FormId("later", 0, 2))
    by_task = store.work_by_task("r01")
    assert by_task == store.work("r01")
    assert list(by_task) == ["t0"]
    assert "t1" not in by_task
    assert store.work_by_task("r02") == {}


def test_what_others_changed_stops_all(store: Store) -> None:
    """If nothing may be overwritten, one form that would do so stops all."""
    store.save("r01", "t1", {"realism": "4"}, FormId("other", 0, 0))
    with pytest.raises(ReviewError, match="while the file was read"):
        store.save_all(_changes("3", "5"), overwrite=False)
    assert [event.value for event in store.events()] == ["4"]
    assert store.save_all(_changes("3", "4"), overwrite=False)[1].overwritten == {}


@given(tasks=st.integers(1, 4), fails_at=st.integers(1, 4))
@settings(max_examples=12)
def test_all_or_nothing(
    tmp_path_factory: pytest.TempPathFactory, tasks: int, fails_at: int
) -> None:
    """A crash between two of several forms leaves none of them, and none is lost without one."""
    path = tmp_path_factory.mktemp("crash") / "study.db"
    whole = Store.create(path, "study", "{}")
    whole.add_rater(RATER)
    left = iter(range(1, fails_at))

    def fake_failing_clock() -> datetime:
        if next(left, None) is None:
            raise RuntimeError("made up")
        return datetime(2026, 1, 2, tzinfo=UTC)

    failing = Store(whole._database, now=fake_failing_clock)
    if crashes := fails_at <= tasks:
        with pytest.raises(RuntimeError, match="made up"):
            failing.save_all(_changes(*"12345"[:tasks]))
    else:
        failing.save_all(_changes(*"12345"[:tasks]))
    whole.close()
    again = Store.open(path)
    assert len(again.work("r01")) == (0 if crashes else tasks)
    again.close()


def test_a_clock_set_back_reorders_nothing(store: Store) -> None:
    """The later change stands though its clock says that it is the earlier one."""
    clock = iter(datetime(2026, 1, 2, tzinfo=UTC) - timedelta(days=n) for n in range(9))
    late = Store(store._database, now=lambda: next(clock))
    late.save("r01", TASK, {"realism": "1"}, FormId("a", 0, 0))
    late.save("r01", TASK, {"realism": "2"}, FormId("a", 1, 0))
    events = store.events()
    assert events[0].at > events[1].at
    assert _values(store) == {"realism": "2"}


def test_nobody_sees_another(store: Store) -> None:
    """One rater's answers are in no other rater's work."""
    store.save("r01", TASK, {"realism": "4"}, FormId("a", 0, 0))
    assert store.work("r02") == {}
    assert store.newest("r02", TASK) == 0
    assert set(store.work("r01")) == {TASK}


def test_links(store: Store) -> None:
    """A token opens sessions again and again, and none once it is replaced or revoked."""
    token = store.replace_token("r01")
    assert store.link(token[:-1]) is None
    first, second = store.start_session("r01"), store.start_session("r01")
    link = store.session(first)
    assert link is not None
    assert (link.rater, link.revoked) == (RATER, False)
    newer = store.replace_token("r01")
    assert store.session(first) is store.session(second) is store.link(token) is None
    third = store.start_session("r01")
    store.revoke("r01")
    session = store.session(third)
    assert session is not None
    assert session.revoked
    link = store.link(newer)
    assert link is not None
    assert link.revoked
    assert store.revoked_ids() == {"r01"}
    with pytest.raises(ReviewError, match="switched off"):
        store.save("r01", TASK, {"realism": "4"}, FormId("a", 0, 0))
    with pytest.raises(ReviewError, match="no rater 'r09'"):
        store.revoke("r09")


def test_no_secret_is_stored(store: Store) -> None:
    """Neither a token nor a cookie's secret stands in the file, and only its owner may read it."""
    token = store.replace_token("r01")
    secret = store.start_session("r01")
    store.close()
    content = store.path.read_bytes()
    assert token.encode() not in content
    assert secret.encode() not in content
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600


@pytest.mark.parametrize("name", ["Jane Doe", "jane@example.org", "", "r" * 17])
def test_a_rater_has_no_name(store: Store, name: str) -> None:
    """Nobody gets in under what might be a name or an address."""
    with pytest.raises(ReviewError, match="is not 1 to 16 lower-case letters"):
        store.add_rater(Rater(name, Role.other))


WORDS = "words that somebody takes back"


def _found(store: Store) -> bool:
    """Tell whether the words are in the file, or in those that SQLite keeps beside it."""
    return any(WORDS.encode() in file.read_bytes() for file in store.path.parent.iterdir())


def test_withdrawing_deletes(store: Store) -> None:
    """A withdrawal leaves no byte of what was answered, and a count."""
    session = store.start_session("r01")
    store.save("r01", TASK, {"comment": WORDS}, FormId("a", 0, 0))
    store.save("r02", TASK, {"realism": "3"}, FormId("b", 0, 0))
    assert store.withdraw("r01")
    assert [event.rater for event in store.events()] == ["r02"]
    assert store.session(session) is None
    assert (store.withdrawals(), store.raters()) == (1, (OTHER,))
    assert not _found(store)


@contextmanager
def reader(store: Store) -> Iterator[None]:
    """Another program reads the file for as long as the block runs."""
    other = sqlite3.connect(store.path)
    other.execute("BEGIN")
    other.execute("SELECT * FROM events").fetchone()
    yield
    other.close()


def test_withdrawing_while_another_program_reads(store: Store) -> None:
    """It does not wait, and says that words are left; the first save once that ends erases them."""
    store.save("r01", TASK, {"comment": WORDS}, FormId("a", 0, 0))
    with reader(store):
        begun = monotonic()
        assert not store.withdraw("r01")
        assert monotonic() - begun < database.BUSY_SECONDS / 2
        assert store.events() == ()
        store.save("r02", TASK, {"realism": "3"}, FormId("b", 0, 0))
        assert not store.erase()
        assert _found(store)
    store.save("r02", TASK, {"realism": "4"}, FormId("b", 1, 0))
    assert not _found(store)
    assert store.erase()


def test_a_restart_still_erases(store: Store) -> None:
    """Leftovers of a withdrawal are erased by whatever opens the file next, in any process."""
    store.save("r01", TASK, {"comment": WORDS}, FormId("a", 0, 0))
    keeps = sqlite3.connect(store.path)  # with it open, no close empties the log
    keeps.execute("SELECT * FROM events").fetchone()
    with reader(store):
        store.withdraw("r01")
        store.close()
        assert _found(store)
    again = Store.open(store.path)
    assert not _found(store)
    again.close()
    keeps.close()


def test_pages_tell_nothing_of_how_busy_others_are(store: Store) -> None:
    """A page carries the same however much others save, and on other tasks too."""
    store.save("r01", TASK, {"realism": "4"}, FormId("a", 0, 0))
    before = store.newest("r01", TASK)
    for n in range(5):
        store.save("r02", TASK, {"realism": str(n)}, FormId("b", n, 0))
        store.save("r01", "another", {"realism": str(n)}, FormId("c", n, 0))
    assert store.newest("r01", TASK) == before == 1
    saved = store.save("r01", TASK, {"realism": "5"}, FormId("a", 1, 0))
    assert saved.seen == store.newest("r01", TASK) == 2


def test_a_secret_is_drawn_once(tmp_path: Path) -> None:
    """A file gets its secret when asked; it stays, and no other has it."""
    found = []
    for name in ("a.db", "b.db"):
        Store.create(tmp_path / name, "study", "{}").close()
        for _ in range(2):
            store = Store.open(tmp_path / name)
            found.append(store.secret("answers"))
            assert store.secret("another") != found[-1]
            store.close()
    assert found[0] == found[1] != found[2] == found[3]
    assert {len(secret) for secret in found} == {32}


def test_closed_work_is_closed(store: Store) -> None:
    """Once closed nothing is saved, and after reopening it is."""
    store.set_closed(True)
    with pytest.raises(ReviewError, match="closed"):
        store.save("r01", TASK, {"realism": "4"}, FormId("a", 0, 0))
    assert (store.closed, store.events()) == (True, ())
    store.set_closed(False)
    store.save("r01", TASK, {"realism": "4"}, FormId("a", 0, 0))
    assert _values(store) == {"realism": "4"}


def test_events_are_never_changed(store: Store) -> None:
    """The file itself refuses to change an event."""
    store.save("r01", TASK, {"realism": "4"}, FormId("a", 0, 0))
    with pytest.raises(sqlite3.IntegrityError, match="never changed"), store._database.write() as w:
        w.execute("UPDATE events SET value = '5'")


def test_threads_take_turns(store: Store) -> None:
    """Saves from many threads are all kept, each once."""

    def work(k: int) -> None:
        for n in range(10):
            store.save("r01", f"t{k}", {f"f{n}": str(n)}, FormId(f"p{k}", n, 0))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(store.events()) == 80
    assert all(len(store.answers("r01", f"t{k}")) == 10 for k in range(8))


# Faults


def test_a_full_disk(store: Store) -> None:
    """A save on a full disk says so, and everything that was saved before stays."""
    store.save("r01", TASK, {"comment": "first"}, FormId("a", 0, 0))
    (pages,) = store._database.rows("PRAGMA page_count")[0]
    execute = store._database._connection.execute
    execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(ReviewError, match="disk is full"):
        store.save("r01", TASK, {"comment": "x" * 100_000}, FormId("a", 1, 0))
    assert _values(store) == {"comment": "first"}
    execute("PRAGMA max_page_count = 100000")
    assert store.save("r01", TASK, {"comment": "x" * 100_000}, FormId("a", 1, 0)).changed


def test_a_locked_store(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """While another program holds the file a save says so, and succeeds when that lets go."""
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.05)
    other = sqlite3.connect(store.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(ReviewError, match="locked"):
        store.save("r01", TASK, {"realism": "4"}, FormId("a", 0, 0))
    assert _values(store) == {}
    other.execute("ROLLBACK")
    other.close()
    assert store.save("r01", TASK, {"realism": "4"}, FormId("a", 0, 0)).changed == ("realism",)


def test_a_damaged_store(store: Store) -> None:
    """A file with bytes overwritten is not opened, and left as it is."""
    for n in range(200):
        store.save("r01", TASK, {"comment": f"{n} " * 200}, FormId("a", n, 0))
    store.close()
    content = bytearray(store.path.read_bytes())
    content[8192:40960] = os.urandom(32768)
    store.path.write_bytes(content)
    with pytest.raises(ReviewError, match="damaged"):
        Store.open(store.path)
    assert store.path.read_bytes() == content


def test_a_foreign_file(tmp_path: Path) -> None:
    """Another program's database, a text and nothing at all are told from a store."""
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE t (x)")
    other.close()
    before = path.read_bytes()
    with pytest.raises(ReviewError, match="is not a careeval study or audit file"):
        Store.open(path)
    assert path.read_bytes() == before
    path.write_text("not a database, but long enough to be taken for one " * 30)
    with pytest.raises(ReviewError, match="is not a careeval study or audit file"):
        Store.open(path)
    with pytest.raises(ReviewError, match="does not exist"):
        Store.open(tmp_path / "nothing.db")


def test_a_store_is_not_overwritten(store: Store, tmp_path: Path) -> None:
    """Neither a new study nor a backup takes the place of a file."""
    with pytest.raises(ReviewError, match="exists already"):
        Store.create(store.path, "study", "{}")
    with pytest.raises(ReviewError, match="exists already"):
        store.back_up(store.path)
    with pytest.raises(ReviewError, match="cannot be written"):
        Store.create(tmp_path / "no" / "folder.db", "study", "{}")


def test_a_newer_store(store: Store) -> None:
    """A file of a newer careeval is not opened, and says which to upgrade."""
    store.close()
    with sqlite3.connect(store.path) as later:
        later.execute(f"PRAGMA user_version = {database.VERSION + 1}")
    later.close()
    with pytest.raises(ReviewError, match="newer careeval") as error:
        Store.open(store.path)
    assert error.value.hint == "upgrade careeval"


def test_a_backup_is_whole(store: Store, tmp_path: Path) -> None:
    """A copy made while the store is open has everything that was saved."""
    store.save("r01", TASK, {"realism": "4"}, FormId("a", 0, 0))
    store.back_up(tmp_path / "copy.db")
    copy = Store.open(tmp_path / "copy.db")
    assert copy.events() == store.events()
    copy.close()


def test_a_backup_that_cannot_be_written(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error of a copy without room says so, and no part of the copy is left."""
    connect = sqlite3.connect

    def fake_small_disk(path: Path) -> sqlite3.Connection:
        made = connect(path)
        made.execute("PRAGMA max_page_count = 2")
        return made

    monkeypatch.setattr(sqlite3, "connect", fake_small_disk)
    copy = tmp_path / "copy.db"
    with pytest.raises(ReviewError, match=r"copy\.db: the disk is full"):
        store.back_up(copy)
    monkeypatch.undo()
    assert not copy.exists()


def test_a_backup_while_others_save(store: Store, tmp_path: Path) -> None:
    """A copy made between saves of another program has all that had been saved, and opens."""
    writer = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(store.path)], stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    for n in range(3):
        saved = {f"t{int(writer.stdout.readline())}" for _ in range(5)}
        store.back_up(tmp_path / f"{n}.db")
        copy = Store.open(tmp_path / f"{n}.db")
        assert saved <= set(copy.work("r01"))
        copy.close()
    writer.kill()
    writer.stdout.close()
    writer.wait()


KILLED = """
import sys
from pathlib import Path
from careeval.people.forms import FormId
from careeval.people.store import Store
store = Store.open(Path(sys.argv[1]))
n = 0
while True:
    store.save("r01", f"t{n}", {"realism": "4"}, FormId(f"p{n}", 0, 0))
    print(n, flush=True)
    n += 1
"""


def test_killed_while_saving(store: Store) -> None:
    """After kill -9 in the midst of saves, every save that had returned is there."""
    store.close()
    child = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(store.path)], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    acknowledged = [int(child.stdout.readline()) for _ in range(50)]
    child.send_signal(signal.SIGKILL)
    acknowledged += [int(line) for line in child.stdout.read().split()]
    child.stdout.close()
    child.wait()
    again = Store.open(store.path)
    tasks = set(again.work("r01"))
    again.close()
    assert {f"t{n}" for n in acknowledged} <= tasks
    assert len(tasks) <= len(acknowledged) + 1


def test_words_for_every_fault() -> None:
    """Each fault that is put into words says what to do."""
    assert all(message and hint for message, hint in database._EXPLANATIONS.values())
