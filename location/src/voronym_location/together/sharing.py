"""Sums over devices: by a trusted party, or by two servers that see random halves of every message.

A message states the cell of a device and its position: a 1 at the cell's place and 0 elsewhere, the offset
from the cell's centre in bits, and the offset again at the cell's place. All numbers are split into halves
modulo a prime. Before adding a message, the servers check its form by random linear combinations, drawn after
the halves have arrived. Masks that the device chose and split hide the opened values. A device that invents
its masks is also detected, because it cannot adapt them to combinations drawn later.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from voronym.errors import InputError
from voronym_location.population import Ints

PRIME = 2**31 - 1
"""Shares are numbers modulo this: a product of two fits into 64 bits. A lie passes with probability 2 /
PRIME.
"""
BITS = 12
"""Bits of an offset along each axis; larger distances from the centre are clipped."""
HALF = 1 << (BITS - 1)
"""The offset of a device at the centre, so that no offset is negative."""
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Lie:
    """A dishonest message: added to the messages of some rows before they are split.

    Parameters
    ----------
    row : int
        Number of the device.
    votes : int
        Number of people that it claims to be.
    shift : int
        Units added to its offset, beyond the range of its bits.
    masks : int
        Number added to the squares of its masks, to pass the check.
    """

    row: int
    votes: int = 1
    shift: int = 0
    masks: int = 0


class Sums(Protocol):
    """Adds up messages over devices."""

    def total(self, cell: Ints, offset: Ints, m: int, here: Flags) -> tuple[Ints, Ints, Flags]:
        """Return counts of the cells (m,), sums of offsets (m, 2), and which messages were counted."""
        ...


class Plain:
    """A trusted party: it sees everything."""

    def total(self, cell: Ints, offset: Ints, m: int, here: Flags) -> tuple[Ints, Ints, Flags]:
        """Return counts of the cells, sums of offsets, and which messages were counted."""
        own = cell[here]
        counts = np.bincount(own, minlength=m)
        sums = np.zeros((m, 2), np.int64)
        np.add.at(sums, own, offset[here])
        return counts, sums, here.copy()


class TwoServers:
    """Simulate two servers that do not collude; arrays named ``first`` and ``second`` belong to one each.

    Parameters
    ----------
    noise : float
        Standard deviation of the noise that each server adds to its counts before publishing; sums of offsets
        get `HALF` times as much. 0 means exact sums.
    lies : sequence of Lie
        Devices that do not follow the protocol.
    seed : int, optional
        Seed of all draws, for tests; by default the system's generator.
    """

    def __init__(self, noise: float = 0.0, lies: tuple[Lie, ...] = (), seed: int | None = None) -> None:
        entropy = int.from_bytes(os.urandom(16)) if seed is None else seed
        self.noise, self.lies, self.rng = noise, lies, np.random.default_rng(entropy)
        self.rounds, self.words, self.opened = 0, 0, np.empty(0, np.int64)

    def total(self, cell: Ints, offset: Ints, m: int, here: Flags) -> tuple[Ints, Ints, Flags]:
        """Return counts of the cells, sums of offsets, and which messages were counted."""
        n = len(cell)
        if n * (1 << BITS) >= PRIME // 2:
            raise InputError(f"{n:,} devices are too many for sums modulo {PRIME:,}: use several pairs")
        first, second = self._split(self._message(cell, offset, m))
        self.rounds += 1
        self.words += 2 * first.shape[1]
        counted = here.copy()  # a message is not counted if only one half arrived
        counted[here] = self._honest(first[here], second[here], m)
        halves = [(part[counted, : 3 * m] % PRIME).sum(axis=0) % PRIME for part in (first, second)]
        if self.noise:
            scale = np.repeat([self.noise, self.noise * HALF], [m, 2 * m])
            halves = [(part + np.rint(self.rng.normal(0, scale)).astype(np.int64)) % PRIME for part in halves]
        whole = (halves[0] + halves[1]) % PRIME
        whole = np.where(whole > PRIME // 2, whole - PRIME, whole)
        return whole[:m], whole[m:].reshape(2, m).T.copy(), counted

    def _message(self, cell: Ints, offset: Ints, m: int) -> Ints:
        """Return the unsplit messages: one-hot cell, offsets at the cell, bits, masks."""
        n, rows = len(cell), np.arange(len(cell))
        hot = np.zeros((n, m), np.int64)
        hot[rows, cell] = 1
        where = np.zeros((n, 2, m), np.int64)
        where[rows, :, cell] = offset
        bits = (offset[:, :, None] >> np.arange(BITS)) & 1
        blocks = 1 + 2 * BITS
        mask = self.rng.integers(PRIME, size=(n, blocks))
        pairs = self.rng.integers(PRIME, size=(n, 2, 2))
        squares = mask * mask % PRIME
        for lie in self.lies:
            hot[lie.row, cell[lie.row]] = lie.votes
            where[lie.row, :, cell[lie.row]] = (offset[lie.row] + lie.shift) * lie.votes
            bits[lie.row, :, -1] += lie.shift // HALF
            squares[lie.row] = (squares[lie.row] + lie.masks) % PRIME
        products = pairs[:, :, 0] * pairs[:, :, 1] % PRIME
        parts = (hot, where, bits, mask, squares, pairs, products)
        return np.concatenate([part.reshape(n, -1) for part in parts], axis=1) % PRIME

    def _split(self, message: Ints) -> tuple[Ints, Ints]:
        first = self.rng.integers(PRIME, size=message.shape)
        return first, (message - first) % PRIME

    def _honest(self, first: Ints, second: Ints, m: int) -> Flags:
        """Return which messages have the required form, without learning more.

        For a block v with random r: <r, v> squared equals <r squared, v> only if one entry is 1 and
        all others are 0, since the products of different entries of r must vanish. An offset x at the
        place of the cell: <r, w> equals x times <r, v> only if w is x there and 0 elsewhere.
        """
        blocks = 1 + 2 * BITS
        r = self.rng.integers(1, PRIME, size=m)  # drawn by both, when all halves are there
        s = self.rng.integers(1, PRIME, size=(2, 2 * BITS))
        ends = np.cumsum([0, m, 2 * m, 2 * BITS, blocks, blocks, 4, 2])
        views = [[part[:, a:b] for a, b in pairwise(ends.tolist())] for part in (first, second)]
        # Each server computes this from its own halves; constants belong to the first.
        linear, quadratic, ones = [], [], []
        for number, (hot, _, bits, *_) in enumerate(views):
            own = int(number == 0)
            other = (own - bits) % PRIME  # a bit and its complement are a block of two
            linear.append(
                np.column_stack([_dot(hot, r), (bits * s[0] % PRIME + other * s[1] % PRIME) % PRIME])
            )
            quadratic.append(
                np.column_stack(
                    [
                        _dot(hot, r * r % PRIME),
                        (bits * (s[0] * s[0] % PRIME) % PRIME + other * (s[1] * s[1] % PRIME) % PRIME),
                    ]
                )
                % PRIME
            )
            ones.append((hot.sum(axis=1) - own) % PRIME)
        good = (ones[0] + ones[1]) % PRIME == 0
        shown = sum(lin - view[3] for lin, view in zip(linear, views, strict=True)) % PRIME  # is opened
        square = shown * shown % PRIME
        for lin, quad, view in zip(linear, quadratic, views, strict=True):
            del lin
            square = (square + 2 * shown % PRIME * view[3] % PRIME + view[4] - quad) % PRIME
        good &= np.all(square == 0, axis=1)
        powers = (1 << np.arange(BITS)) % PRIME
        for axis in range(2):
            x = [_dot(view[2].reshape(-1, 2, BITS)[:, axis], powers) for view in views]
            pair = [view[5].reshape(-1, 2, 2)[:, axis] for view in views]
            d = sum(value - p[:, 0] for value, p in zip(x, pair, strict=True)) % PRIME  # is opened
            e = sum(lin[:, 0] - p[:, 1] for lin, p in zip(linear, pair, strict=True)) % PRIME  # is opened
            left = d * e % PRIME
            for view, p in zip(views, pair, strict=True):
                product = (e * p[:, 0] % PRIME + d * p[:, 1] % PRIME + view[6][:, axis]) % PRIME
                place = _dot(view[1].reshape(-1, 2, m)[:, axis], r)
                left = (left + product - place) % PRIME
            good &= left == 0
        self.opened = np.column_stack([shown, d, e])  # of the last round, for tests
        return np.asarray(good)


def _dot(left: Ints, right: Ints) -> Ints:
    """Return products with a vector, modulo the prime."""
    return np.asarray((left * right % PRIME).sum(axis=1) % PRIME)
