"""The runbook, alert rules, the Grafana dashboard and the files for systemd, containers and Kubernetes."""

import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from prometheus_client import CollectorRegistry

from pgsb.cli import main
from pgsb.daemon.counts import Counts
from pgsb.observe.metrics.collector import BrokerCollector
from pgsb.security.keys import ServiceKeys
from pgsb.security.problems import KeyProblem
from support import Connection, Database

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
RUNBOOK = (ROOT / "docs" / "runbook.md").read_text(encoding="utf-8")

pytestmark = pytest.mark.one_postgres

_FINDINGS_TEST = (Path(__file__).parent / "test_findings.py").read_text(encoding="utf-8")
# Of test_findings.py: each of these numbers has a test that makes its fault.
CAUSED = {int(number) for number in re.findall(r"^    (\d{3}): \(", _FINDINGS_TEST, re.MULTILINE)} | {
    int(number)
    for line in re.findall(r"elsewhere \|?= \{(.*)\}", _FINDINGS_TEST)
    for number in line.split(",")
}


def test_every_entry_names_findings_that_a_test_causes(connect: Callable[..., Connection]) -> None:
    named = {
        int(number)
        for part in re.findall(r"\[([^\]]*\d{3}[^\]]*)\]", RUNBOOK)
        for number in re.findall(r"\d{3}", part)
    }
    assert named <= CAUSED
    rows = connect().execute(
        "SELECT number FROM ssb_internal.finding_kinds()"
        " WHERE number < 600 AND severity <> 'info' AND number <> 106"
    )
    assert {number for (number,) in rows.fetchall()} <= named


def _anchors() -> set[str]:
    return {
        re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-")
        for title in re.findall(r"^## (.*)$", RUNBOOK, re.MULTILINE)
    }


def _metric_names(database: Database) -> set[str]:
    registry = CollectorRegistry()
    collector = BrokerCollector(database.dsn, Counts())
    registry.register(collector)
    try:
        return {sample.name for family in registry.collect() for sample in family.samples}
    finally:
        collector.close()


def test_alerts_ask_for_metrics_that_there_are_and_lead_into_the_runbook(
    database: Database, connect: Callable[..., Connection]
) -> None:
    sql = connect()
    sql.execute("SELECT ssb.create_queue('dbo.q'), ssb.create_service('//s', 'dbo.q', '{DEFAULT}')")
    sql.execute("SELECT ssb.create_route('Away', 'tcp://far:4022', service_name => '//Far')")
    sql.execute("SELECT ssb.send(ssb.begin_dialog('//s', '//Far'), body => 'x'::bytea)")
    known = _metric_names(database)
    rules = yaml.safe_load((DEPLOY / "prometheus" / "alerts.yaml").read_text())["groups"][0]["rules"]
    assert len(rules) >= 8
    for rule in rules:
        assert set(re.findall(r"\bpgsb_\w+", rule["expr"])) <= known, rule["alert"]
        page, _, anchor = rule["annotations"]["runbook"].partition("#")
        assert page == "docs/runbook.md" and anchor in _anchors(), rule["alert"]
    panels = json.loads((DEPLOY / "grafana" / "dashboard.json").read_text())["panels"]
    asked = {
        name
        for panel in panels
        for target in panel["targets"]
        for name in re.findall(r"\bpgsb_\w+", target["expr"])
    }
    assert len(panels) > 10
    assert asked <= known


def _expressions() -> list[tuple[str, str]]:
    """What rules and panels ask, by their names."""
    rules = yaml.safe_load((DEPLOY / "prometheus" / "alerts.yaml").read_text())["groups"][0]["rules"]
    panels = json.loads((DEPLOY / "grafana" / "dashboard.json").read_text())["panels"]
    return [(rule["alert"], rule["expr"]) for rule in rules] + [
        (panel["title"], target["expr"]) for panel in panels for target in panel["targets"]
    ]


@pytest.mark.parametrize(("name", "expression"), _expressions())
def test_one_database_does_not_hide_another_and_two_daemons_do_not_count_twice(
    name: str, expression: str
) -> None:
    """A job is one database; both of its daemons tell of the same queues (deploy/prometheus/alerts.yaml)."""
    for labels in re.findall(r"\bby \((.*?)\)", expression):
        assert labels.split(", ")[0] == "job", name
    for inner in re.findall(r"\bsum\((\w+)", expression):
        assert inner == "max", name
    if name.startswith("ServiceBroker"):
        assert not re.search(r"\b(?:sum|max|min|avg|count)\(", expression), name


def test_every_rule_has_a_broken_system_that_it_tells_of() -> None:
    """promtool runs them in scripts/check_deploy, and below where there is one."""
    tests = yaml.safe_load((DEPLOY / "prometheus" / "alerts_test.yaml").read_text())["tests"]
    told = {one["alertname"] for test in tests for one in test["alert_rule_test"] if one["exp_alerts"]}
    rules = yaml.safe_load((DEPLOY / "prometheus" / "alerts.yaml").read_text())["groups"][0]["rules"]
    assert told == {rule["alert"] for rule in rules}


@pytest.mark.skipif(shutil.which("promtool") is None, reason="Prometheus' promtool is not installed")
def test_rules_tell_of_broken_systems() -> None:
    for command in (["check", "rules", "alerts.yaml"], ["test", "rules", "alerts_test.yaml"]):
        told = subprocess.run(
            ["promtool", *command], cwd=DEPLOY / "prometheus", capture_output=True, text=True, check=False
        )
        assert told.returncode == 0, told.stdout + told.stderr


def test_the_grafana_dashboard_has_what_grafana_reads() -> None:
    dashboard = json.loads((DEPLOY / "grafana" / "dashboard.json").read_text())
    assert dashboard["uid"] == "pgsb" and dashboard["schemaVersion"] >= 36
    ids = [panel["id"] for panel in dashboard["panels"]]
    assert len(ids) == len(set(ids))
    taken: set[tuple[int, int]] = set()
    for panel in dashboard["panels"]:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert place["x"] + place["w"] <= 24 and not cells & taken, panel["title"]
        taken |= cells
        assert panel["type"] in {"timeseries", "stat", "bargauge"}


def _command_lines() -> list[tuple[str, list[str]]]:
    found = []
    for unit in DEPLOY.glob("*.service"):
        (line,) = re.findall(r"^ExecStart=\S+/pgsb (.*)$", unit.read_text(), re.MULTILINE)
        found.append((unit.name, shlex.split(line)))
    docker = (DEPLOY / "Dockerfile").read_text()
    found.append(("Dockerfile", json.loads(re.findall(r"^CMD (\[.*\])$", docker, re.MULTILINE)[-1])))
    for name, service in yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"].items():
        if "command" in service:
            found.append((f"compose {name}", service["command"]))
    for file in (DEPLOY / "kubernetes").glob("*.yaml"):
        for document in yaml.safe_load_all(file.read_text()):
            for container in document["spec"].get("template", {}).get("spec", {}).get("containers", []):
                found.append((file.name, container["args"]))
    return found


@pytest.mark.parametrize(("where", "words"), _command_lines())
def test_every_command_line_is_one_of_ours(where: str, words: list[str]) -> None:
    command = main.commands.get_command(click.Context(main.commands), words[0])
    assert command is not None, where
    # Files that are not here are the only thing that may be wrong.
    options = words[1:]
    for name in ("--token-file", "--programs"):
        if name in options:
            del options[options.index(name) : options.index(name) + 2]
    command.make_context(words[0], options)


def test_probes_and_graces_fit(database: Database) -> None:
    (deployment,) = yaml.safe_load_all((DEPLOY / "kubernetes" / "daemon.yaml").read_text())
    pod = deployment["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    grace = float(container["args"][container["args"].index("--grace") + 1])
    assert pod["terminationGracePeriodSeconds"] > grace
    paths: dict[str, Any] = {
        name: container[name]["httpGet"]["path"] for name in ("livenessProbe", "readinessProbe")
    }
    assert paths == {"livenessProbe": "/healthz", "readinessProbe": "/readyz"}
    (install,) = yaml.safe_load_all((DEPLOY / "kubernetes" / "install.yaml").read_text())
    assert install["kind"] == "Job" and install["spec"]["ttlSecondsAfterFinished"] > 0
    unit = (DEPLOY / "pgsb.service").read_text()
    (stop,) = re.findall(r"^TimeoutStopSec=(\d+)$", unit, re.MULTILINE)
    (unit_grace,) = re.findall(r"--grace (\d+)", unit)
    assert int(stop) > int(unit_grace)


def test_the_daemon_finds_the_service_master_key(tmp_path: Path) -> None:
    """Where a unit hides homes, and where Kubernetes mounts files that belong to root and to a group."""
    unit = (DEPLOY / "pgsb.service").read_text()
    (folder,) = re.findall(r"^Environment=PGSB_KEYS=(/\S+)$", unit, re.MULTILINE)
    assert "ProtectHome=yes" in unit
    assert Path(folder).parts[1] not in ("home", "root", "run")
    (deployment,) = yaml.safe_load_all((DEPLOY / "kubernetes" / "daemon.yaml").read_text())
    pod = deployment["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    (mount,), (volume,), (variable,) = container["volumeMounts"], pod["volumes"], container["env"]
    assert volume["name"] == mount["name"] and volume["secret"]["defaultMode"] == 0o440
    assert pod["securityContext"]["fsGroup"] == pod["securityContext"]["runAsUser"]
    assert variable["name"] == "PGSB_KEY_COMMAND" and mount["mountPath"] in variable["value"]
    key_id, key = ServiceKeys(tmp_path).make()
    (tmp_path / f"{key_id}.key").chmod(0o440)
    with pytest.raises(KeyProblem, match="can be read by others"):
        ServiceKeys(tmp_path).read(key_id)
    command = variable["value"].replace(mount["mountPath"], str(tmp_path))
    assert ServiceKeys(tmp_path / "none", command).read(key_id) == key
