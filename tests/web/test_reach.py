"""Every declared choice has a field on the page, or a reason why not: the table is in docs/page.md."""

from __future__ import annotations

import html
import re
from pathlib import Path

from voronym import datasets
from voronym.request.command import ROLES
from voronym.request.wording import DECLARED
from voronym.web import screens
from voronym.web.bench import Bench, Wishes
from voronym.web.desk import Table
from voronym.web.forms import ALLOWED, FURTHER, OF_COLUMN
from voronym.web.journal import Journal
from voronym.web.settings import Settings

PAGE = Path(__file__).parents[2] / "docs" / "page.md"
BEGIN, END = "<!-- options: begin -->", "<!-- options: end -->"
MACHINE = "the release does not depend on it"
NOT = {
    "address": MACHINE,
    "workers": MACHINE,
    "memory": "`voronym page --memory` sets it for all tables",
    "work": MACHINE,
    "resume": MACHINE,
    "log": MACHINE,
    "log_level": MACHINE,
    "prometheus": MACHINE,
    "engine": MACHINE,
    "like": "set the method and the way of publishing instead",
}
"""Why a choice has no field."""
PLACES = {
    **dict.fromkeys(ROLES.values(), ("Columns", "role-0")),
    "kinds": ("Columns", "kind-0"),
    "orders": ("Columns", "order-0"),
    "locations": ("Columns", "latitude"),
    **{name: ("Columns", name) for name in ("person", "household", "pseudonyms")},
    **{choice: ("Columns", f"{what}-0") for what, choice in ALLOWED.items()},
    **{name: ("Columns, at each column", f"{name}-0") for name in OF_COLUMN},
    **{name: ("Protection", name) for name in ("k", "policy", "models", "intruder")},
    **{name: ("Protection, rules", name) for name in ("steps", "weights", "suppress")},
    "strata": ("Protection, rules", "stratum-2"),
    "ledger": ("Protection, releases every month", "ledger"),
    **{name: ("Protection, method", name) for name in ("method", "time_limit", "seed", "device")},
    **{name: ("Protection, all other options", f"further-{name}") for name in FURTHER},
    **{name: ("Protection, files that choices need", f"further-{name}") for name in ("population", "facts")},
}


def table_of(folder: Path) -> Table:
    """Return a table as the page has it, without a worker."""
    datasets.hospital(40, seed=0).write_csv(folder / "people.csv")
    about = Bench().open(Wishes(lambda _: None), path=str(folder / "people.csv"), reading={}, limits=None)
    made = Table.__new__(Table)
    given = {
        "id": "t",
        "about": about,
        "label": "people.csv",
        "runs": [],
        "reading": {},
        "judging": False,
        "book": None,
        "given": folder / "given",
        "notes": {},
    }
    (folder / "given").mkdir()
    vars(made).update(**given, path=folder / "people.csv", _process=None)
    made.journal = Journal(Settings.of_plain(about["settings"]))
    return made


def lines() -> str:
    """Return the table for the documentation."""
    head = "| Option | Where | or why not |\n|---|---|---|\n"
    rows = (
        f"| `{DECLARED[name].flag}` | {PLACES[name][0] if name in PLACES else ''} | {NOT.get(name, '')} |"
        for name in DECLARED
    )
    return head + "\n".join(rows)


def test_every_choice_has_a_field_or_a_reason(tmp_path: Path) -> None:
    assert not set(PLACES) & set(NOT)
    assert set(PLACES) | set(NOT) == set(DECLARED)
    table = table_of(tmp_path)
    shown = "".join(bytes(screen(table).body).decode() for screen in (screens.roles, screens.protect))
    both = bytes(screens.bench(table).body).decode()
    for name, (_, field) in PLACES.items():
        assert f'name="{field}"' in shown, name
        assert f'name="{field}"' in both, name


def test_the_documentation_has_the_table() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert BEGIN in text
    assert text.partition(BEGIN)[2].partition(END)[0].strip() == lines(), (
        "run: python -c 'from web.test_reach import record; record()' in tests/"
    )


def record() -> None:
    """Write the table into the documentation."""
    text = PAGE.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEGIN)
    PAGE.write_text(f"{head}{BEGIN}\n\n{lines()}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")


def test_fields_are_made_from_declarations(tmp_path: Path) -> None:
    shown = bytes(screens.protect(table_of(tmp_path)).body).decode()
    for name in FURTHER:
        field = re.search(rf'name="further-{name}".*?class="help">(.*?)</span>', shown, re.S)
        assert field is not None, name
        assert html.unescape(field[1]) == DECLARED[name].text
