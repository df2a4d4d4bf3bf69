"""An example or two for every verb, as its help shows them."""

from __future__ import annotations

from collections.abc import Mapping

EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "": (
        "voronym demo",
        "voronym inspect patients.csv",
        "voronym anonymize patients.csv -o release.csv --key age,sex,zip --confidential diagnosis "
        "--identifier name -k 5",
    ),
    "demo": ("voronym demo --folder demo --records 200",),
    "anonymize": (
        "voronym anonymize patients.csv -o release.csv --key age,sex,zip --confidential diagnosis "
        "--drop-undeclared -k 5 --report report.html",
        "voronym anonymize patients.csv -o close.csv --key age,zip --confidential diagnosis "
        "--drop-undeclared --model t-closeness=0.4 --save-recipe recipe.toml",
        "voronym anonymize june.csv -o june-release.csv --recipe recipe.toml --ledger releases.ledger",
    ),
    "measure": (
        "voronym measure release.csv --key age,sex,zip --confidential diagnosis",
        "voronym measure release.csv --recipe recipe.toml --original patients.csv -k 5",
    ),
    "attack": ("voronym attack release.csv --key age,sex,zip --original patients.csv",),
    "compare": (
        "voronym compare patients.csv --key age,sex,zip -k 3,5,10 --report compare.html",
        "voronym compare patients.csv --key age,zip --method mdav,icsm -k 5 -k 20",
    ),
    "inspect": ("voronym inspect patients.csv",),
    "import": ("voronym import arx clinic.deid",),
    "import arx": ("voronym import arx clinic.deid -o clinic --data", "voronym import arx age-hierarchy.csv"),
    "ledger": ("voronym ledger show releases.ledger",),
    "ledger new": ("voronym ledger new releases.ledger",),
    "ledger show": ("voronym ledger show releases.ledger",),
    "ledger check": ("voronym ledger check releases.ledger",),
    "ledger forget": ("voronym ledger forget releases.ledger --people gone.csv",),
    "methods": ("voronym methods", "voronym methods mdav"),
    "page": ("voronym page", "voronym page patients.csv"),
    "papers": ("voronym papers t-closeness --report page.html",),
    "design": ("voronym design homes.csv -o districts.json --place lat,lon --cells 16 --map districts.svg",),
    "assign": ("voronym assign newcomers.csv districts.json -o with-cells.csv --place lat,lon",),
    "allocate": ("voronym allocate patients.csv hospitals.csv -o plan.csv --place lat,lon --capacity beds",),
    "doctor": ("voronym doctor",),
    "plan": (
        "voronym plan visits/ --key age,zip --confidential diagnosis --drop-undeclared -k 10 --memory 8GB",
    ),
    "location demo": ("voronym location demo", "voronym location demo --once --json"),
    "location simulate": ("voronym location simulate --people 2000 -k 10 --epochs 24",),
}
"""By what is typed after the program's name."""
