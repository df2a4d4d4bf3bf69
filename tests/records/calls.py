"""The stages of the method, called with options by name."""

from voronym import records
from voronym.records import RecordsOptions


def clusters(space, ctx=None, **options):
    return records.clusters(space, RecordsOptions(**options), ctx)


def blend(space, result, ctx=None, **options):
    return records.blend(space, result, RecordsOptions(**options), ctx)


def shuffle(space, codes, result, columns, ctx=None, **options):
    return records.shuffle(space, codes, result, columns, RecordsOptions(**options), ctx)
