"""Generalisation: coarser values that are true, such as "30–39", "080**", "Undergraduate".

Below the tables:

``hierarchy``  a tree of categories above the values of a column: the one meaning of the word
``spans``      ranges as texts, and their two ends

Above them:

``sets``       the values that a published text stands for
``forms``      ranges however a file writes numbers and dates
``grid``       bins of a line: even widths, the calendar, ranks
``tally``      how many people are behind values
``atoms``      what the ends of ranges may be, so that no end is the value of fewer than k people
``cuts``       ranges between given cuts
``columns``    a key as a line, a tree or a set; the range of a group in it, its text and its penalty
``ladder``     the same generalisation for all records, level by level
``publish``    from groups to the table of what they publish
``rows``       ranges of values with noise, row by row
``keys``       the space of keys "ranges", in which searches keep the penalty low
"""
