"""What a plugin's Go code does, from its files. `_test.go`, vendored code and repositories are left aside, as in Foundry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from cmsmcp.core.deadline import Deadline
from cmsmcp.site.folder import Folder
from cmsmcp.site.manifest import Diagnostic, diagnostic
from cmsmcp.site.model import ERROR, WARNING
from cmsmcp.site.paths import PathFault, read_bounded
from cmsmcp.site.plugins.gocode import MAX_SECONDS, GoFile, Unreadable, Use, read_go
from cmsmcp.site.plugins.gorules import HOOKS, SHELLS, import_rule, rules_for, text_rules
from cmsmcp.site.plugins.shapes import Finding

SKIPPED = frozenset({".git", "node_modules", "vendor"})
DIRECT = "direct"
HEURISTIC = "heuristic"
MAX_FILE = 256 * 1024
MAX_GO_FILES = 300
MAX_FINDINGS = 300
MAX_EVIDENCE = 120


@dataclass(frozen=True, slots=True)
class CodeReport:
    """`findings` sorted by category, path, evidence, each evidence once for a file. `has_code` is False without a Go file."""

    findings: tuple[Finding, ...]
    faults: tuple[Diagnostic, ...]
    has_code: bool


def analyse(root: Path, folder: Folder, deadline: Deadline) -> CodeReport:
    files = [path for path in folder.files if path.endswith(".go") and not path.endswith("_test.go")]
    found: dict[tuple[str, str, str], Finding] = {}
    faults: list[Diagnostic] = []
    for path in files[:MAX_GO_FILES]:
        deadline.check()
        try:
            code = read_go(read_bounded(root, path, MAX_FILE), min(MAX_SECONDS, deadline.remaining()))
        except (PathFault, Unreadable) as fault:
            deadline.check()
            faults.append(diagnostic(ERROR, path, None, f"the code was not looked into: {fault.message}"))
            continue
        if code.broken_line is not None:
            message = "the Go code has a syntax error about here; findings may be incomplete"
            faults.append(diagnostic(WARNING, path, code.broken_line, message))
        for finding in _findings(code, path):
            key = (finding["category"], path, finding["evidence"])
            if key not in found or (found[key]["evidence_type"] == HEURISTIC and finding["evidence_type"] == DIRECT):
                found[key] = finding
    if len(files) > MAX_GO_FILES or folder.truncated:
        faults.append(diagnostic(ERROR, folder.path, None, f"the plugin has more Go files than are looked into ({MAX_GO_FILES})"))
    if len(found) > MAX_FINDINGS:
        faults.append(diagnostic(ERROR, folder.path, None, f"{len(found) - MAX_FINDINGS} more findings are not listed"))
    return CodeReport(tuple(found[key] for key in sorted(found)[:MAX_FINDINGS]), tuple(faults), bool(files))


def _findings(code: GoFile, path: str) -> Iterator[Finding]:
    seen: set[tuple[str, str]] = set()
    for use in code.uses:
        for finding in _of_use(use, path):
            seen.add((use.package, finding["category"]))
            yield finding
    for one in code.imports:
        rule = import_rule(one.path)
        if rule is not None and (one.path, rule[0]) not in seen:
            kind = DIRECT if one.path == "C" else HEURISTIC  # cgo is the import itself
            yield _finding(rule[0], f"import {one.path}", kind, (path, one.line), rule[1])
    for name, line in code.methods:
        if name in HOOKS:
            category, message = HOOKS[name]
            yield _finding(category, name, DIRECT, (path, line), message)
    for text, line in code.strings:
        for category, message in text_rules(text):
            yield _finding(category, _shown(text), HEURISTIC, (path, line), message)


def _of_use(use: Use, path: str) -> Iterator[Finding]:
    evidence = f"{use.package}.{use.name}"
    for rule in rules_for(use.package):
        if rule.names.fullmatch(use.name):
            yield _finding(rule.category, evidence, DIRECT if use.called else HEURISTIC, (path, use.line), rule.message)
            break
    shell = next((text for text in use.texts if _program(text) in SHELLS), None) if use.package == "os/exec" else None
    if shell is not None:
        yield _finding("process.shell", f"{evidence}({_shown(shell)})", DIRECT, (path, use.line), "runs a shell")


def _program(text: str) -> str:
    return PurePosixPath(text.replace("\\", "/")).name.lower().removesuffix(".exe")


def _finding(category: str, evidence: str, kind: str, place: tuple[str, int], message: str) -> Finding:
    path, line = place
    return {"category": category, "evidence": evidence, "evidence_type": kind, "path": path, "line": line, "message": message}


def _shown(text: str) -> str:
    short = text if len(text) <= MAX_EVIDENCE else text[: MAX_EVIDENCE - 1] + "…"
    return "".join(char if char.isprintable() else "�" for char in short)
