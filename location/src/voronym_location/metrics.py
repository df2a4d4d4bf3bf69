"""Figures for Prometheus, in its text form: requests by route, and the epoch in force. No personal data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from voronym.core.formats import program_version

__all__ = ["Metrics"]

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0)
"""Upper ends of the histogram, in seconds."""


class Metrics:
    """Counts requests. Routes are our own templates, so no value of a request can become a label."""

    def __init__(self) -> None:
        self._answers: Counter[tuple[str, str, int]] = Counter()
        self._times: dict[str, list[int]] = {}
        self._sums: Counter[str] = Counter()

    def saw(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request by route and status, and its time."""
        self._answers[method, route, status] += 1
        slots = self._times.setdefault(route, [0] * (len(BOUNDS) + 1))
        slots[next((i for i, bound in enumerate(BOUNDS) if seconds <= bound), len(BOUNDS))] += 1
        self._sums[route] += seconds  # type: ignore[assignment]

    def text(self, in_force: dict[str, Any] | None, healthy: bool) -> str:
        """Return all figures as text."""
        return "\n".join(
            [*_build(), *self._requests(), *_epoch(in_force), *_gauge("up", "database answers", healthy), ""]
        )

    def _requests(self) -> Iterator[str]:
        yield "# HELP voronym_requests_total Answers by route and status."
        yield "# TYPE voronym_requests_total counter"
        for (method, route, status), count in sorted(self._answers.items()):
            yield f'voronym_requests_total{{method="{method}",route="{route}",status="{status}"}} {count}'
        yield "# HELP voronym_request_seconds Time to answer."
        yield "# TYPE voronym_request_seconds histogram"
        for route, slots in sorted(self._times.items()):
            total = 0
            for bound, count in zip((*BOUNDS, "+Inf"), slots, strict=True):
                total += count
                yield f'voronym_request_seconds_bucket{{route="{route}",le="{bound}"}} {total}'
            yield f'voronym_request_seconds_sum{{route="{route}"}} {self._sums[route]:.6f}'
            yield f'voronym_request_seconds_count{{route="{route}"}} {total}'


def _build() -> Iterator[str]:
    yield "# HELP voronym_build_info The version of voronym, as a label."
    yield "# TYPE voronym_build_info gauge"
    yield f'voronym_build_info{{version="{program_version()}"}} 1'


def _epoch(in_force: dict[str, Any] | None) -> Iterator[str]:
    for name, words in (
        ("epoch", "number of the epoch in force"),
        ("people", "people known to the epoch in force; absent if they are few"),
        ("served", "of these, people with a statement"),
        ("waiting", "of these, people who wait"),
        ("groups", "groups that live"),
        ("rms", "metres: root mean square distance from home to centroid"),
    ):
        value = (in_force or {}).get(name)
        if value is not None:
            yield from _gauge(name, words, value)


def _gauge(name: str, words: str, value: float) -> Iterator[str]:
    yield f"# HELP voronym_{name} {words[0].upper()}{words[1:]}."
    yield f"# TYPE voronym_{name} gauge"
    yield f"voronym_{name} {float(value):g}"
