"""The guide to sweeps: its example, its tables of keys, and its files for clusters."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from careeval.cli.app import app
from careeval.sweep.description import (
    GradingTable,
    ScenariosTable,
    SweepTable,
    SystemTable,
    read_sweep,
)

GUIDES = Path(__file__).parents[2] / "docs" / "guides"
PAGE = (GUIDES / "sweeps.md").read_text(encoding="utf-8")


def test_example_is_a_sweep(tmp_path: Path) -> None:
    """The page's first block of TOML is read: two hosted models and one with a server."""
    match = re.search(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert match
    file = tmp_path / "models.toml"
    file.write_text(match[1], encoding="utf-8")
    sweep = read_sweep(file)
    assert [system.server is not None for system in sweep.systems] == [False, False, True]
    assert [system.gpus for system in sweep.systems] == [0, 0, 1]
    assert len(sweep.cells()) == 2 * (4 + 4 + 1)
    assert sweep.max_cost == 80


def test_every_key_is_explained_once() -> None:
    """The tables of the page have the keys of the file's tables, and no others."""
    part = PAGE.partition("### Every key")[2].partition("### Local models")[0]
    tables = [re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) for table in part.split("\n\n")]
    keys = [sorted(table) for table in tables if table]
    models = (SweepTable, ScenariosTable, SystemTable, GradingTable)
    own = {"systems", "gradings", "scenarios"}
    assert keys == [sorted({*model.model_fields} - own) for model in models]


def manifest() -> dict[str, Any]:
    """Return the job for Kubernetes."""
    read: dict[str, Any] = yaml.safe_load((GUIDES / "sweep-rayjob.yaml").read_text("utf-8"))
    return read


def test_manifest_gives_a_command_that_is_known() -> None:
    """The job runs a command of careeval, with options that it has."""
    program, *words = manifest()["spec"]["entrypoint"].split()
    assert program == "careeval"
    understood, *_ = app.parse_args(words, exit_on_error=False, print_error=False)
    assert understood.__module__ == "careeval.cli.sweep"


def test_every_pod_has_disk_keys_and_silence() -> None:
    """Head and workers share the disk, have the keys and send no statistics."""
    cluster = manifest()["spec"]["rayClusterSpec"]
    assert cluster["authOptions"] == {"mode": "token"}
    for group in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"]):
        pod = group["template"]["spec"]
        (container,) = pod["containers"]
        assert {"name": "shared", "mountPath": "/shared"} in container["volumeMounts"]
        claims = [volume.get("persistentVolumeClaim") for volume in pod["volumes"]]
        assert {"claimName": "careeval-shared"} in claims
        assert container["envFrom"] == [{"secretRef": {"name": "careeval-keys"}}]
        assert {"name": "RAY_USAGE_STATS_ENABLED", "value": "0"} in container["env"]


def test_version_of_ray_is_that_of_the_constraints() -> None:
    """Image, manifest and constraints name one version."""
    constraints = (GUIDES.parents[1] / "constraints.txt").read_text("utf-8")
    (version,) = re.findall(r"^ray==(\S+)$", constraints, re.MULTILINE)
    assert manifest()["spec"]["rayClusterSpec"]["rayVersion"] == version
    assert f"FROM rayproject/ray:{version}-py311" in PAGE


@pytest.mark.parametrize("option", ["--requeue", "--no-kill", "--signal=B:USR1@180"])
def test_job_for_slurm_resumes(option: str) -> None:
    """The script is one for bash, and has what a job that is preempted needs."""
    script = GUIDES / "sweep.sbatch"
    subprocess.run(["bash", "-n", str(script)], check=True)
    assert re.search(rf"^#SBATCH {option}( |$)", script.read_text("utf-8"), re.MULTILINE)
