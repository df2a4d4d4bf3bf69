"""The stages of the method, called with options by name."""

from voronym import records
from voronym.records import RecordsOptions


def clusters(space, ctx=None, **options):
    return records.clusters(space, RecordsOptions(**options), ctx)


def blend(space, found, ctx=None, **options):
    return records.blend(space, found, RecordsOptions(**options), ctx)


def shuffle(space, codes, found, columns, ctx=None, **options):
    return records.shuffle(space, codes, found, columns, RecordsOptions(**options), ctx)
