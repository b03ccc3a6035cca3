"""The configuration files that are shipped fit the program and each other (docs/operations.md)."""

from __future__ import annotations

import re
import runpy
import shutil
from pathlib import Path

import yaml

from cmsmcp.settings import load_settings

ROOT = Path(__file__).resolve().parents[2]


def test_the_container_overlay_trusts_the_proxy_of_its_own_network(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "cmsmcp/site_template", tmp_path / "site")
    settings = load_settings(tmp_path / "site", overlays=[ROOT / "docker/site.container.yaml"])
    compose = yaml.safe_load((ROOT / "docker/compose.yaml").read_text())
    assert list(settings.door.trusted_proxies) == [compose["networks"]["default"]["ipam"]["config"][0]["subnet"]]


def test_compose_names_the_files_and_passwords_that_exist() -> None:
    compose = yaml.safe_load((ROOT / "docker/compose.yaml").read_text())["services"]
    assert set(compose) == {"proxy", "server", "redis"}
    for service in compose.values():
        for mount in service["volumes"]:
            source = mount.split(":")[0]
            assert not source.startswith(".") or (ROOT / "docker" / source).exists(), source
    users = (ROOT / "config/users.acl").read_text()
    assert set(re.findall(r">(\w+)", users)) == {"APP_PASSWORD", "DASHBOARD_PASSWORD"} == set(compose["redis"]["environment"])
    assert all(f"s/{name}/$${name}/" in compose["redis"]["command"][2] for name in compose["redis"]["environment"])
    assert all(line.startswith("user ") for line in users.splitlines()), "Redis takes no comments there"
    assert "set $cmsmcp server:8080;" in (ROOT / "docker/nginx.conf").read_text() and "0.0.0.0:8080" in compose["server"]["command"]
    assert {service["restart"] for service in compose.values()} == {"unless-stopped"}, "what ends, or the machine, comes back"
    assert all(compose[name]["healthcheck"]["start_period"] for name in ("server", "redis"))


def test_the_user_of_the_documentation_is_the_one_shipped() -> None:
    (dashboard,) = [line for line in (ROOT / "config/users.acl").read_text().splitlines() if line.startswith("user dashboard")]
    assert dashboard.replace("DASHBOARD_PASSWORD", "PASSWORD") in (ROOT / "docs/audit.md").read_text()


def test_plain_gunicorn_gets_the_values_and_hooks_of_serve() -> None:
    shipped = runpy.run_path(str(ROOT / "config/gunicorn.conf.py"))
    assert shipped["worker_class"] == "gevent" and shipped["control_socket_disable"] is True
    assert {"when_ready", "post_fork", "post_worker_init", "pre_request"} <= set(shipped)
