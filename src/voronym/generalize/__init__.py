"""Generalisation: coarser values that are true, such as "30–39", "080**", "Undergraduate".

Modules that tables import:

``hierarchy``  a tree of categories above the values of a column
``spans``      ranges as texts, and their two ends

Modules that import tables:

``sets``       the values that a published text stands for
``forms``      ranges in any format of numbers and dates
``grid``       bins of a line: even widths, the calendar, ranks
``tally``      the number of people behind each value
``atoms``      possible ends of ranges: no end is the value of fewer than k people
``cuts``       ranges between given cuts
``columns``    a key as a line, a tree or a set; the range of a group in it, its text and its penalty
``ladder``     the same generalisation for all records, level by level
``publish``    from groups to the published table
``rows``       ranges of values with noise, row by row
``keys``       the space of keys "ranges", in which searches keep the penalty low
"""
