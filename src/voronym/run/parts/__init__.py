"""Data sets that do not fit the memory, or the machine.

All engines follow one plan. The modules, in the order in which data pass through them:

- `source`: the files of the data set, and the fixed parts in which they are read;
- `learn`: the first pass, statistics of each column, summed without rounding (`voronym.table.summaries`);
- `coding`: keys as numbers, by figures of the whole data set;
- `cuts`: leaves of neighbours, cut again in every round;
- `spill`: the shuffle, through files in the work folder;
- `grouping`: the work in a leaf;
- `texts`: the files of a release, written and read back, as Parquet or as text;
- `counting`: k and models, counted in the written files;
- `pieces`, `leaves`, `writing` and `job`: all of this as tasks that any worker can do or repeat;
- `folders`: the work folder, and the folder of the unfinished release;
- `engine`: runs all stages of a job, from files to a release; if it fails, it leaves nothing;
- `runners`: the workers: this machine, Dask, Spark;
- `door`: the entry point, from files to a release.
"""
