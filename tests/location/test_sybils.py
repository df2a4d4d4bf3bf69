"""Made-up neighbours: mailboxes around one home. How many real addresses are left beside the victim."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from location.town_hall import quick_token, service
from voronym_location import Population, Settings, Standing, forming, plan
from voronym_location.directory import Entry
from voronym_location.forming import young_limit

K = 10
VICTIM = (48.0, 11.0)


def real_neighbours(seed: int, mailboxes: int, early: int, *, young: int = 14, epochs: int = 8) -> int:
    """Return the fewest real addresses, the victim's among them, that shared its group at any epoch.

    300 people live around; somebody makes up mailboxes at addresses around the victim, `early` epochs before
    the victim moves in there, and lets them wait.
    """
    rng = np.random.default_rng(seed)
    real = np.array(VICTIM) + rng.normal(0, 0.02, (300, 2))
    false = np.array(VICTIM) + rng.normal(0, 0.0005, (mailboxes, 2))
    homes = np.concatenate([real, false, [VICTIM]])
    made_up = np.arange(len(homes))
    made_up = (made_up >= 300) & (made_up < 300 + mailboxes)
    victim = len(homes) - 1
    arrival = np.where(made_up, 2, 1)
    arrival[victim] = 2 + early
    settings = Settings(k=K, budget=1.0, young=young)
    standing = Standing.empty()
    group, since = np.full(len(homes), -1), np.ones(len(homes), np.int64)
    fewest = 300
    for now in range(1, epochs + 1):
        here = np.flatnonzero(arrival <= now)
        fresh = (arrival[here] > 1) & (now - arrival[here] < young)
        counts = (arrival[here] == 1) | (now > arrival[here])  # the service's age of one epoch
        people = Population.of(
            here, *homes[here].T, group=group[here], since=since[here], household=here, counts=counts,
            young=fresh,
        )  # fmt: skip
        epoch = plan(people, standing, settings)
        group[here], since[here], standing = epoch.group, epoch.since, epoch.standing
        if group[victim] >= 0:
            beside = here[epoch.group == group[victim]]
            fewest = min(fewest, int((~made_up[beside]).sum()))
    return fewest


@pytest.mark.parametrize("mailboxes", [12, 40])
def test_made_up_neighbours_are_a_third_of_k_at_most(mailboxes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    least = K - young_limit(K)
    assert min(real_neighbours(seed, mailboxes, early=3) for seed in range(3)) >= least
    monkeypatch.setattr(forming, "young_limit", lambda k: k)  # the guard taken out
    monkeypatch.setattr(forming.Crowd, "seeds", property(lambda crowd: crowd.people.counts))
    assert min(real_neighbours(seed, mailboxes, early=3) for seed in range(3)) < least


def test_patience_is_not_hindered() -> None:
    """What is left: mailboxes that wait as long as `young` says are neighbours like all others."""
    assert real_neighbours(0, 40, early=6, young=3, epochs=9) < K - young_limit(K)


@pytest.mark.parametrize("mailboxes", [12, 40])
def test_the_service_limits_made_up_neighbours_in_each_group(tmp_path: Path, mailboxes: int) -> None:
    """The same through accounts and the database, counted from what is stored."""
    rng = np.random.default_rng(7)
    places = np.array(VICTIM) + rng.normal(0, 0.01, (120, 2))
    around = np.array(VICTIM) + rng.normal(0, 0.0008, (mailboxes, 2))
    real = [Entry(f"street {row}", *place.tolist(), f"p{row}@x.org") for row, place in enumerate(places)]
    with service(tmp_path, epochs={"young": 14, "budget": 1.0}) as server:
        server.import_directory(real)
        server.import_directory(
            [Entry(f"corner {row}", *place.tolist(), None) for row, place in enumerate(around)]
        )
        server.run_epoch()
        with server.store.write() as connection:  # accounts as sign-up makes them, past the mail
            connection.exec_driver_sql(
                "insert into account (email, vouched, operator, created, verified) values "
                + ", ".join(f"('s{row}@x.org', false, false, 0, 0)" for row in range(mailboxes))
            )
        for row in range(mailboxes):
            server.submit_address(quick_token(server, f"s{row}@x.org"), f"corner {row}")
        served = 0
        for _ in range(4):
            server.run_epoch()
            with server.store.read() as connection:
                rows = connection.exec_driver_sql(
                    "select m.cohort, a.vouched from member m join account a on a.id = m.person "
                    "where m.epoch = (select max(number) from epoch) and m.cohort >= 0"
                ).all()
            real_ones: dict[int, int] = {}
            for cohort, vouched in rows:
                real_ones[cohort] = real_ones.get(cohort, 0) + bool(vouched)
            served += sum(not vouched for _, vouched in rows)
            assert min(real_ones.values()) >= K - young_limit(K)
        assert served  # they are served beside others, and hide nobody
