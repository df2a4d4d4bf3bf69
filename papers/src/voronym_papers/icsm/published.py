"""The figures of Mortazavi and Jalili 2015, typed in from its tables."""

from __future__ import annotations

REFERENCE = (
    "R. Mortazavi, S. Jalili: A novel local search method for microaggregation, "
    "The ISC International Journal of Information Security 7 (2015)"
)
# Table 1: records and columns.
TABLE_1 = {"tarragona": (834, 13), "census": (1080, 13), "eia": (4092, 11), "synthetic": (10_000, 10)}
# Table 2: data set, k -> MDAV, ICSM (percent), iterations, gain (percent), seconds of ICSM.
TABLE_2: dict[tuple[str, int], tuple[float, float, int, float, float]] = {
    ("tarragona", 3): (16.93, 14.81, 174, 12.5, 1),
    ("tarragona", 5): (22.46, 20.69, 238, 7.9, 1),
    ("tarragona", 10): (33.19, 30.7, 127, 7.5, 1),
    ("census", 3): (5.69, 4.85, 203, 14.8, 2),
    ("census", 5): (9.09, 7.78, 205, 14.4, 2),
    ("census", 10): (14.16, 11.93, 210, 15.7, 3),
    ("eia", 3): (0.48, 0.36, 29, 25.0, 6),
    ("eia", 5): (1.67, 0.78, 39, 53.3, 8),
    ("eia", 10): (3.84, 2.24, 142, 41.7, 26),
}
# Table 2, averages over 25 data sets: MDAV, ICSM, gain; all in less than a second.
TABLE_2_SIMULATED: dict[tuple[str, int], tuple[float, float, float]] = {
    ("sim-1", 3): (32.68, 27.95, 14.5),
    ("sim-1", 5): (48.65, 42.87, 11.9),
    ("sim-1", 10): (67.52, 63.92, 5.3),
    ("sim-2", 3): (14.32, 12.44, 13.1),
    ("sim-2", 5): (23.56, 20.13, 14.6),
    ("sim-2", 10): (37.18, 31.91, 14.2),
    ("sim-3", 3): (15.51, 12.65, 18.5),
    ("sim-3", 5): (23.96, 20.31, 15.3),
    ("sim-3", 10): (37.73, 32.61, 13.6),
}
# Table 2, the synthetic data set: k -> MDAV, and by rounds: ICSM, gain, seconds.
TABLE_2_SYNTHETIC: dict[int, tuple[float, dict[int, tuple[float, float, float]]]] = {
    3: (6.74, {20: (6.55, 2.8, 15), 400: (6.17, 8.5, 338)}),
    5: (10.3, {20: (10.14, 1.6, 13), 400: (9.02, 12.4, 332)}),
    10: (14.94, {20: (14.78, 1.1, 12), 400: (12.72, 14.9, 300)}),
}
# Table 4: data set, k -> ICSM, best of 1600 perturbed starts; LS, best of 4000.
TABLE_4: dict[tuple[str, int], tuple[float, float]] = {
    ("tarragona", 3): (14.54, 14.68),
    ("tarragona", 4): (17.18, 17.23),
    ("tarragona", 5): (20.25, 20.3),
    ("tarragona", 10): (30.34, 30.23),
    ("census", 3): (4.75, 4.85),
    ("census", 4): (6.21, 6.66),
    ("census", 5): (7.5, 7.86),
    ("census", 10): (11.74, 11.94),
    ("eia", 3): (0.35, 0.45),
    ("eia", 4): (0.49, 0.58),
    ("eia", 5): (0.74, 1.2),
    ("eia", 10): (1.95, 2.45),
}
RESTARTS = 1600
SETS = 25
# Figure 5 is drawn without numbers: the text says that ICSM is the best in all of its cases.
FIGURE_5 = ("mdav", "gsms-t2", "mu-approx", "mst", "npn-mhm", "mdav-mhm", "md-mhm", "tfrp-2", "fdm", "icsm")
# Section 4, example 1: what replacing 6 by 3 in {5, 6, 7} adds to the squares.
EXAMPLE_1 = 6.0
