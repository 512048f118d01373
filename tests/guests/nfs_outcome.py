# SPDX-License-Identifier: GPL-3.0-or-later
"""The result of a case: whether it is the expected one, and its row in the table."""

from __future__ import annotations

from typing import Any

from nfs_cases import Case

STATUS_OF = {"pass": 0, "fail": 2}


def _is_late_without_lock(step: dict[str, Any]) -> bool:
    """Whether a step was broken only by late writes to the file that the host had not locked."""
    figures = step["figures"]
    late = (step["step"], step["cause"], figures.get("log")) == ("cut_off", "late_write_landed", "unlocked")
    return late and figures["late_sectors"] == 0


class Outcome:
    """The result of a case."""

    def __init__(self, case: Case, status: int, record: dict[str, Any]) -> None:
        self.case, self.status = case, status
        self.verdict = record.get("verdict", "none")
        pairs = (record.get("locks") or {}).get("pairs") or []
        self.steps = pairs[0]["steps"] if pairs else []
        self.wrong_settings = {each["id"] for each in record.get("settings") or [] if each["verdict"] == "fail"}

    def figures(self, name: str, figure: str) -> list[Any]:
        return [step["figures"][figure] for step in self.steps if step["step"] == name and figure in step["figures"]]

    def seconds(self, name: str, figure: str) -> str:
        return ", ".join(f"{value / 1e9:.1f}" for value in self.figures(name, figure))

    @property
    def not_kept(self) -> list[dict[str, Any]]:
        return [step for step in self.steps if step["outcome"] not in ("kept", "not_covered")]

    @property
    def found(self) -> str:
        """The outcome and the cause of the first step that was not kept."""
        for step in self.not_kept:
            if step["step"] == "settings":
                return f"refused: {', '.join(sorted(self.wrong_settings)) or step['cause']}"
            return f"{step['outcome']}: {step['step']}, {step['cause']}"
        return ""

    def complaint(self) -> str:
        """Return how the result differs from the expected one, or an empty text if it does not."""
        case = self.case
        wanted = "pass" if case.is_honest and not case.is_cut else "fail"
        if (self.verdict, self.status) != (wanted, STATUS_OF[wanted]):
            return f"the verdict is {self.verdict} with status {self.status}, expected: {wanted}"
        if case.is_honest:
            uncovered = [step["step"] for step in self.steps if step["outcome"] == "not_covered" and case.is_cut]
            broken = [step["step"] for step in self.not_kept if not _is_late_without_lock(step)]
            return f"not covered: {', '.join(uncovered)}; not kept: {', '.join(broken)}" if uncovered or broken else ""
        if case.refused:
            return "" if self.found == f"refused: {case.refused}" else f"{self.found}, expected: {case.refused}"
        broken = {step["step"] for step in self.not_kept if step["outcome"] == "broken"}
        return "" if broken & set(case.convicted) else f"no step of {', '.join(case.convicted)} is broken"

    def row(self) -> list[str]:
        case = self.case
        kept = [
            f"{kept:,} of {made:,}"
            for kept, made in zip(
                self.figures("concurrent_updates", "updates_kept"),
                self.figures("concurrent_updates", "updates_made"),
                strict=True,
            )
        ]
        return [
            case.server,
            case.version,
            ", ".join(filter(None, (case.setting, case.fail_over))) or "-",
            " ".join(filter(None, (self.verdict, f"({self.found})" if self.found else ""))),
            self.seconds("host_lost", "takeover_ns"),
            self.seconds("cut_off", "takeover_ns"),
            ", ".join(str(number) for number in self.figures("cut_off", "late_sectors")),
            *(kept or [""]),
            self.seconds("server_failover", "write_pause_max_ns"),
            self.seconds("server_failover", "verification_max_ns"),
        ]


HEADER = (
    "server", "NFS", "setting", "verdict", "host lost: taken over after (s)", "cut off: taken over after (s)",
    "late sectors", "updates kept", "failover: longest pause of writes (s)", "failover: longest verification (s)",
)  # fmt: skip
