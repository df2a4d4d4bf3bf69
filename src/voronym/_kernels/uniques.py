"""Groups of records that agree in one column more: the loop behind the search for minimal uniques."""

from __future__ import annotations

from voronym._kernels import kernel

EMPTY = -1


@kernel
def regroup(rows, labels, size, codes, levels, groups, slots, table, number, out, sizes):
    """Divide groups by one more column; return the new number of groups.

    ``rows[:size]`` are the records and ``labels[:size]`` their groups, below ``groups``; ``codes`` has the
    column, below ``levels``, for every record of the table. ``table`` and ``number`` have room for ``slots``,
    a power of two of at least twice ``size``. ``out[:size]`` becomes the new groups, ``sizes`` how many
    records each has.
    """
    for slot in range(slots):
        table[slot] = EMPTY
    direct = groups * levels <= slots  # then every pair has a slot of its own
    made = 0
    for i in range(size):
        key = labels[i] * levels + codes[rows[i]]
        slot = key
        if not direct:
            slot = (key ^ (key >> 15)) * 2654435761
            slot = (slot ^ (slot >> 29)) & (slots - 1)
            while table[slot] != EMPTY and table[slot] != key:
                slot = (slot + 1) & (slots - 1)
        if table[slot] == EMPTY:
            table[slot] = key
            number[slot] = made
            sizes[made] = 0
            made += 1
        out[i] = number[slot]
        sizes[out[i]] += 1
    return made


@kernel
def part(rows, groups, size, sizes, alone, left, label):
    """Separate unique records from the others; return the number of unique ones."""
    single, kept = 0, 0
    for i in range(size):
        if sizes[groups[i]] == 1:
            alone[single] = rows[i]
            single += 1
        else:
            left[kept] = rows[i]
            label[kept] = groups[i]
            kept += 1
    return single
