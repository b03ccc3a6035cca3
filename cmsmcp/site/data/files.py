"""The two files of `data/` that are read, `navigation` and `redirects`. `data/admin` never is."""

from __future__ import annotations

from cmsmcp.site.model import ERROR, Diagnostic, SiteConfig
from cmsmcp.site.paths import ABSENT, PathFault, read_bounded
from cmsmcp.site.yaml.loader import Node, YamlFault, load

MAX_BYTES = 4 * 1024 * 1024
MAX_NODES = 100_000
EXTENSIONS = (".yaml", ".yml", ".json")


def read_data(config: SiteConfig, name: str) -> tuple[Node | None, list[Diagnostic]]:
    """The node in `data/<name>.yaml` (else .yml, .json, which is YAML too).

    None when it is absent, or when it cannot be read (then with an error).
    """
    for extension in EXTENSIONS:
        path = f"{config.data_dir}/{name}{extension}"
        try:
            source = read_bounded(config.root, path, MAX_BYTES).decode("utf-8-sig")
            return load(source.replace("\r\n", "\n"), path, max_nodes=MAX_NODES), []
        except PathFault as fault:
            if fault.reason == ABSENT:
                continue
            return None, [Diagnostic(ERROR, name, path, fault.message)]
        except UnicodeDecodeError:
            return None, [Diagnostic(ERROR, name, path, "the file is not UTF-8; save it as UTF-8")]
        except YamlFault as fault:
            return None, [Diagnostic(ERROR, name, path, each.message, each.line) for each in fault.all]
    return None, []
