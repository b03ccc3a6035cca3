"""Redaction: secrets taken out of JSON values and of texts (docs/rules.md, Redaction).

`trees` goes through a value, by the names of keys (`names`, `vocabulary`); `texts` through a string, where secrets are known by a shape
of their own (`shapes`), by their place (`places`), or by the name they are assigned to (`assignments`, judged by `values`).
"""

from cmsmcp.governance.redaction.trees import MARK, PAIR_NAMES, PAIR_VALUES, redact

__all__ = ["MARK", "PAIR_NAMES", "PAIR_VALUES", "redact"]
