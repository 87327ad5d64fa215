"""Faults of the disk, and of what a person types; each row names its test."""

from __future__ import annotations

from faults.rows import Row, Who

FOLDERS = "tests/faults/test_run_folders.py"
CONNECTIONS = "tests/faults/test_connections.py"

DISK = (
    Row(
        "disk-full",
        Who.disk,
        "Is full in the middle of a run.",
        "The run ends and says so; with room again, resuming goes on, and no answer that was kept "
        "is asked for again.",
        f"{FOLDERS}::test_a_full_disk",
    ),
    Row(
        "no-folder-can-be-made",
        Who.disk,
        "Has a file where the run's folder should be.",
        "The command names the place, and ends before anything is asked.",
        f"{FOLDERS}::test_a_folder_that_cannot_be_made",
    ),
    Row(
        "cannot-be-written",
        Who.disk,
        "Can be read, and not written.",
        "A run that is there is read all the same.",
        "tests/protocol/test_tables.py::test_a_cache_that_cannot_be_written",
    ),
    Row(
        "log-cut-off",
        Who.disk,
        "Holds a log that is cut off, damaged, or of another task.",
        "It is left out with a note that names it, and the others count.",
        "tests/protocol/test_tables.py::test_a_log_that_cannot_be_used",
    ),
    Row(
        "nothing-readable",
        Who.disk,
        "Holds nothing but such logs.",
        "The command names them, and ends.",
        "tests/protocol/test_tables.py::test_a_log_that_cannot_be_used",
    ),
    Row(
        "resume-beside-a-damaged-log",
        Who.disk,
        "Cuts off a complete run's log.",
        "Resuming asks for what is lost, into a log of its own.",
        f"{FOLDERS}::test_resuming_beside_a_log_that_is_cut_off",
    ),
    Row(
        "resume-beside-a-foreign-log",
        Who.disk,
        "Holds a log of another task in a run's folder.",
        "Resuming goes on beside it, and leaves it as it is.",
        f"{FOLDERS}::test_resuming_beside_a_foreign_log",
    ),
    Row(
        "killed-before-the-first-sample",
        Who.disk,
        "Holds the log of a run that was killed before its first answer.",
        "Every response is missing, with a note of how to go on.",
        "tests/protocol/test_tables.py::test_a_log_that_holds_its_beginning_alone",
    ),
)

COMMAND = (
    Row(
        "unknown-provider",
        Who.command,
        "Names a model that no provider has, or a provider without its key.",
        "The command says which, and ends before anything is asked.",
        "tests/protocol/test_evaluate.py::test_a_run_that_cannot_begin",
    ),
    Row(
        "no-network",
        Who.command,
        "Names a server that nobody answers at.",
        "The run ends after five attempts, with the address and the reason; resuming asks again.",
        f"{CONNECTIONS}::test_a_server_that_is_not_there",
    ),
    Row(
        "folder-in-use",
        Who.command,
        "Begins a run in a folder that holds one.",
        "The command says how to finish that one, and changes nothing.",
        "tests/protocol/test_evaluate.py::test_a_used_folder_is_refused",
    ),
    Row(
        "bank-changed",
        Who.command,
        "Resumes a run with scenarios that have changed since.",
        "The command refuses, and names both versions.",
        "tests/protocol/test_evaluate.py::test_a_bank_that_changed_is_not_resumed",
    ),
    Row(
        "prompts-changed",
        Who.command,
        "Resumes a run with prompts that have changed since.",
        "The command refuses, and names both versions.",
        "tests/protocol/test_evaluate.py::test_prompts_that_changed_are_not_resumed",
    ),
    Row(
        "two-banks",
        Who.command,
        "Reads runs over two versions of a bank together.",
        "Each keeps its own version in the tables, and no comparison mixes them.",
        f"{FOLDERS}::test_runs_over_two_versions_of_a_bank",
    ),
    Row(
        "mistyped",
        Who.command,
        "Is mistyped.",
        "The command says what was found and what was expected, without a traceback.",
        "tests/cli/test_cli.py::test_mistakes_get_a_word_and_no_traceback",
    ),
    Row(
        "key-repeated",
        Who.command,
        "Sets a key that the server repeats in its error message.",
        "The key is in no file, no table, no page and no message.",
        f"{CONNECTIONS}::test_the_key_is_nowhere",
    ),
)
