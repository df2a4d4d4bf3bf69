"""Data sets that do not fit the memory, or the machine.

One plan for every engine. A map of the room, in the order in which data walk through it:

- `source`: which files, and the fixed parts into which they are read;
- `statistics` and `exact`: pass 1, what is known of each column, summed without rounding;
- `coding`: keys as numbers, by figures of the whole data set;
- `cuts`: leaves of neighbours, cut again for every round;
- `spill`: the shuffle, through files in the work folder;
- `grouping`: what is done in a leaf;
- `texts`: how the files of a release are written, as Parquet or as text, and read back;
- `counting`: k and models, counted in the written files;
- `tasks`, `writing` and `job`: all of this as tasks that any worker can do, alone or again;
- `folders`: where the work is done, and where a release waits for its name;
- `engine`: leads a job through its stages, from files to a release or to nothing;
- `runners`: who does the tasks: this machine, Dask, Spark;
- `door`: the way from files to a release.
"""
