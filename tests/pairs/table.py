"""The documentation's table of combinations: what is refused, where, and why. The tests of all pairs make it.

Record it again, after all pairs were tried (some minutes), with ``python -m pairs.table`` from ``tests``; the
number of processes may follow. In shards: ``python -m pairs.table try 3/8 FILE`` tries every eighth
combination from the third on, the triples, too, and ``python -m pairs.table record FILES`` writes the table.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from pairs.cases import CASES, tuples
from pairs.run import DEFECT, LEAF, REFUSED, WORKS, outcome

PAGE = Path(__file__).parents[2] / "docs" / "combinations.md"
BEGIN, END = "<!-- begin: made by the test of all pairs -->", "<!-- end -->"
ROW = re.compile(r"^\| (`[\w-]+` with .*?) \| (\S.*?) \| (\S.*?) \|$", re.MULTILINE)
Outcomes = dict[tuple[str, ...], tuple[str, str]]


def text(memory: Outcomes, parts: Outcomes) -> str:
    """Return the table: the share of pairs that work, and a line for each reason with its pairs."""
    lines = []
    for where, outcomes in (("in memory", memory), ("over several leaves", parts)):
        works = sum(state == WORKS for state, _ in outcomes.values())
        lines.append(
            f"- {where}: {works:,} of {len(outcomes):,} pairs work ({100 * works / len(outcomes):.1f} %)"
        )
    reasons: dict[tuple[str, ...], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for where, outcomes in (("in memory", memory), ("over leaves", parts)):
        for names, (state, reason) in outcomes.items():
            if state == REFUSED:
                reasons[names][_plain(reason)].append(where)
    return "\n".join([*lines, "", *_grouped(reasons)])


def _grouped(reasons: Mapping[tuple[str, ...], Mapping[str, Sequence[str]]]) -> list[str]:
    """Return a row for each reason and place, with its pairs: `dp` with `seed`, `mixed`; `k` with ..."""
    rows: dict[tuple[str, str], list[tuple[str, ...]]] = defaultdict(list)
    for names in sorted(reasons):
        for reason, places in reasons[names].items():
            rows[" and ".join(places), reason].append(names)
    lines = ["| pairs | refused | reason |", "|---|---|---|"]
    for (places, reason), pairs in sorted(rows.items(), key=lambda row: (-len(row[1]), row[0])):
        lines.append(f"| {_listed(pairs)} | {places} | {reason} |")
    return lines


def _listed(pairs: Sequence[tuple[str, ...]]) -> str:
    """Return pairs as few lists, the name that is in most of them first."""
    left, out = list(pairs), []
    while left:
        count = Counter(name for names in left for name in names)
        lead = min(count, key=lambda name: (-count[name], name))
        others = sorted({name for names in left if lead in names for name in names} - {lead})
        out.append(f"`{lead}` with {', '.join(f'`{name}`' for name in others)}")
        left = [names for names in left if lead not in names]
    return "; ".join(out)


def _plain(reason: str) -> str:
    """Return a reason without what differs from pair to pair: folders, names, choices, long lists."""
    reason = re.sub(r"/\S*/", "", reason).replace("|", "/").replace("\n", " ").strip()
    reason = re.sub(r"(part|method|step) '[^']*'", r"\1 …", reason)
    reason = re.sub(r"^[\d,]+ people have the same \w+ as", "people have the same values as", reason)
    reason = re.sub(r"does not use [\w, ]+:", "does not use this:", reason)
    reason = re.sub(r"one of (\w[\w-]*), (\w[\w-]*)(, \w[\w-]*)+", r"one of \1, \2, …", reason)
    return re.sub(r"Leave out [\w-]+(=[\w.,=-]+|(, [\w-]+)+)", "Leave these out", reason)


def refused() -> dict[str, set[tuple[str, str]]]:
    """Return the pairs that the page calls refused, by where, each in both orders."""
    out: dict[str, set[tuple[str, str]]] = {"in memory": set(), "over leaves": set()}
    for pairs, places, _ in ROW.findall(PAGE.read_text(encoding="utf-8")):
        for group in pairs.split("; "):
            first, *others = re.findall(r"`([\w-]+)`", group)
            for place in places.split(" and "):
                out[place] |= {pair for other in others for pair in ((first, other), (other, first))}
    return out


def _try(job: tuple[tuple[str, ...], int | None]) -> tuple[tuple[str, ...], int | None, tuple[str, str]]:
    return *job, outcome(job[0], leaf=job[1])


TRIPLES = random.Random(26).sample(tuples(3), 300)
"""Combinations of three, which are tried in memory."""


def jobs() -> list[tuple[tuple[str, ...], int | None]]:
    """Return every choice alone and all pairs, in memory and over leaves; then the triples, in memory."""
    some = [*((name,) for name in CASES), *tuples(2)]
    return [
        *((names, leaf) for names in some for leaf in (None, LEAF)),
        *((names, None) for names in TRIPLES),
    ]


def tried(
    todo: Sequence[tuple[tuple[str, ...], int | None]], processes: int
) -> Iterator[tuple[tuple[str, ...], int | None, tuple[str, str]]]:
    """Try combinations in some processes; say on standard error which end as a defect."""
    # A process that is forked where Polars has threads waits for ever: these start from nothing.
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        for names, leaf, result in pool.map(_try, todo, chunksize=4):
            if result[0] == DEFECT:
                where = "in memory" if leaf is None else "over leaves"
                sys.stderr.write(f"{' + '.join(names)}, {where}: {result[1]}\n")
            yield names, leaf, result


def pairs_of(
    results: Iterable[tuple[tuple[str, ...], int | None, tuple[str, str]]],
) -> tuple[Outcomes, Outcomes]:
    """Return the outcomes of pairs, in memory and over leaves."""
    out: dict[int | None, Outcomes] = {None: {}, LEAF: {}}
    for names, leaf, result in results:
        if len(names) == 2:
            out[leaf][names] = result
    return out[None], out[LEAF]


def all_outcomes(processes: int = 2) -> tuple[Outcomes, Outcomes]:
    """Try every choice alone and all pairs, in memory and over leaves; return the pairs' outcomes."""
    return pairs_of(tried([job for job in jobs() if len(job[0]) < 3], processes))


def record(memory: Outcomes, parts: Outcomes) -> None:
    """Write the table into its page."""
    page = PAGE.read_text(encoding="utf-8")
    head, tail = page.split(BEGIN)[0], page.split(END)[1]
    PAGE.write_text(f"{head}{BEGIN}\n{text(memory, parts)}\n{END}{tail}", encoding="utf-8")


def main(words: list[str]) -> None:
    """Try combinations, or record what shards of them found."""
    if words[:1] == ["try"]:
        shard, of = map(int, words[1].split("/"))
        answer = list(tried(jobs()[shard - 1 :: of], int(words[3]) if len(words) > 3 else 1))
        Path(words[2]).write_text(json.dumps(answer), encoding="utf-8")
    elif words[:1] == ["record"]:
        lines = [line for file in words[1:] for line in json.loads(Path(file).read_text(encoding="utf-8"))]
        made = [(tuple(names), leaf, tuple(result)) for names, leaf, result in lines]
        place = {job: at for at, job in enumerate(jobs())}
        made.sort(key=lambda line: place[line[:2]])
        states = [result[0] for names, _, result in made if len(names) == 3]
        sys.stdout.write(f"triples: {', '.join(f'{states.count(state)} {state}' for state in set(states))}\n")
        record(*pairs_of(made))
    else:
        record(*all_outcomes(int(words[0]) if words else 2))


if __name__ == "__main__":
    main(sys.argv[1:])
